"""Building blocks of every page: templates, validated input, refusals."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import jinja2
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute

from hyperacuity import __version__

log = logging.getLogger("hyperacuity.studio")

ROOT = "studio.root"
"""Key of a request's scope: the path below which a proxy serves the studio, empty or such as ``/studio``."""


@dataclass(frozen=True)
class Page:
    """One of the studio's pages: its title, its routes, and which of them need no token.

    ``guests`` are beginnings of paths, such as ``"/take/"``, whose handlers decide by themselves who may come in. A body of more
    than ``max_body`` bytes is refused.
    """

    title: str
    routes: Sequence[BaseRoute]
    guests: tuple[str, ...] = ()
    max_body: int = 1 << 20


class Refused(HTTPException):
    """A request that is not carried out: a status and one sentence for the person who sent it."""


def render(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A page from a template in ``studio/templates``; values are escaped."""
    text = _templates().get_template(template).render(version=__version__, root=root_of(request), **values)
    return HTMLResponse(text, status_code=status)


def root_of(request: Request) -> str:
    """The path below which a proxy serves the studio: empty, or such as ``/studio``. Addresses in pages start with it."""
    root: str = request.scope.get(ROOT, "")
    return root


def refusal(request: Request, status: int, sentence: str) -> Response:
    """A sentence: as a page for someone who opened an address, as JSON for a script."""
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        return render(request, "refusal.html.j2", status=status, sentence=sentence)
    return JSONResponse({"error": sentence}, status)


async def read_json(request: Request) -> dict[str, Any]:
    """The object that a request carries; ``Refused`` for anything else."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, "expected JSON")
    try:
        value = json.loads(await request.body(), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Refused(400, "the request is not valid JSON") from error
    if not isinstance(value, dict):
        raise Refused(400, "expected a JSON object")
    return value


def field(
    values: Mapping[str, Any], name: str, kind: type[Any], *, low: float | None = None, high: float | None = None
) -> Any:
    """A value of an object, checked: its type (``bool`` is no number; an ``int`` will do for a ``float``) and its range.

    ``low`` and ``high`` bound a number, or the length of a text or list.

    >>> field({"row": 3}, "row", int, low=0, high=9)
    3
    """
    value = values.get(name)
    if kind is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
        value = float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise Refused(400, f"{name}: expected a value of another kind")
    if isinstance(value, float) and not math.isfinite(value):  # 1e999 is JSON
        raise Refused(400, f"{name}: out of range")
    size = len(value) if isinstance(value, str | list | dict) else value
    if (low is not None and size < low) or (high is not None and size > high):
        raise Refused(400, f"{name}: out of range")
    if isinstance(value, str) and not value.isprintable():  # lone surrogates and control characters
        raise Refused(400, f"{name}: has characters that cannot be shown")
    return value


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


@cache
def _templates() -> jinja2.Environment:
    loader = jinja2.PackageLoader("hyperacuity.studio", "templates")
    return jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
