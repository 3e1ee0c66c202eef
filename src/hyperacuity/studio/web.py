"""What every page is built with: templates, files to serve, answers and refusals; and how a page becomes an application."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import mimetypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import jinja2
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from hyperacuity import __version__
from hyperacuity.errors import InputError
from hyperacuity.studio.security import TOO_LARGE, Guard
from hyperacuity.studio.state import StateError

log = logging.getLogger("hyperacuity.studio")


@dataclass(frozen=True)
class Page:
    """One of the studio's pages: its name and title, its routes, and which of them need no token.

    ``guests`` are beginnings of paths, such as ``"/take/"``, whose handlers decide by themselves who may come in. A body of more
    than ``largest_body`` bytes is refused.
    """

    name: str
    title: str
    routes: Sequence[BaseRoute]
    guests: tuple[str, ...] = ()
    largest_body: int = 1 << 20


class Refused(HTTPException):
    """A request that is not carried out: a status and one sentence for the person who sent it."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(status, sentence)


def make_app(page: Page, *, token: str | None = None, hosts: Sequence[str] | None = None) -> ASGIApp:
    """The application that serves a page.

    ``token`` is asked of everyone but guests. ``hosts`` are the names that the server answers to (None: any).
    """
    app = Starlette(
        routes=[*page.routes, Route("/static/{name:path}", _static)],
        exception_handlers={
            HTTPException: _refuse,
            InputError: _unreadable,
            StateError: _unwritable,
            ClientDisconnect: _gone,
            Exception: _broken,
        },
    )
    guests = ("/static/", *page.guests)
    return Guard(app, token=token, hosts=hosts, guests=guests, largest_body=page.largest_body)


def render(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A page from a template in ``studio/pages``; values are escaped."""
    text = _templates().get_template(template).render(version=__version__, path=request.url.path, **values)
    return HTMLResponse(text, status_code=status)


def answer(values: Mapping[str, Any] | Sequence[Any], *, status: int = 200) -> JSONResponse:
    """An answer for a page's script."""
    return JSONResponse(values, status_code=status)


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
    loader = jinja2.PackageLoader("hyperacuity.studio", "pages")
    return jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)


@cache
def _assets() -> dict[str, tuple[bytes, str, str]]:
    """Scripts and styles by name, with type and tag: read once, so that no name from a browser ever becomes a path."""
    found: dict[str, tuple[bytes, str, str]] = {}

    def gather(folder: Traversable, before: str) -> None:
        for file in folder.iterdir():
            if file.is_dir():
                gather(file, f"{before}{file.name}/")
            elif file.name.endswith((".css", ".js", ".svg")):
                content = file.read_bytes()
                kind = "text/javascript" if file.name.endswith(".js") else mimetypes.guess_type(file.name)[0]
                tag = f'"{hashlib.blake2s(content, digest_size=8).hexdigest()}"'
                found[before + file.name] = (content, kind or "application/octet-stream", tag)

    gather(resources.files("hyperacuity.studio") / "pages", "")
    return found


async def _static(request: Request) -> Response:
    asset = _assets().get(request.path_params["name"])
    if asset is None:
        raise Refused(404, "there is no such file")
    content, kind, tag = asset
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)


def _refusal(request: Request, status: int, sentence: str) -> Response:
    """A sentence: as a page for someone who opened an address, as JSON for a script."""
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        return render(request, "refusal.html.j2", status=status, sentence=sentence)
    return answer({"error": sentence}, status=status)


_SENTENCES = {
    404: "there is no such page",
    405: "this address does not take that kind of request",
    413: TOO_LARGE,
}


async def _refuse(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    sentence = (
        error.detail if isinstance(error, Refused) else _SENTENCES.get(error.status_code, "the request is not valid")
    )
    response = _refusal(request, error.status_code, sentence)
    response.headers.update(error.headers or {})
    return response


async def _unreadable(request: Request, error: Exception) -> Response:
    """A page should name the item that fails; this is what is said where it did not. Paths stay in the terminal."""
    log.warning("%s", error)
    return _refusal(request, 422, "a file that this needs cannot be read; the terminal of the server says which")


async def _gone(request: Request, error: Exception) -> Response:
    return answer({"error": "the request broke off"}, status=400)  # which nobody hears


async def _unwritable(request: Request, error: Exception) -> Response:
    log.error("%s", error)
    return _refusal(request, 503, "this could not be saved; please tell the person who runs the server, then try again")


async def _broken(request: Request, error: Exception) -> Response:
    log.error("%s %s", request.method, request.url.path, exc_info=error)
    return _refusal(request, 500, "something went wrong on the server; its terminal says more")
