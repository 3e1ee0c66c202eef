"""Turn a page into an application: its routes, the files it loads, and a sentence for whatever goes wrong."""

from __future__ import annotations

import logging
import mimetypes
from collections.abc import Awaitable, Callable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from hyperacuity.errors import InputError
from hyperacuity.studio.security import Guard
from hyperacuity.studio.state import StateError
from hyperacuity.studio.web import Page, Refused, log, refusal

Handler = Callable[[Request, Exception], Awaitable[Response]]


def make_app(
    page: Page, *, token: str | None = None, hosts: Sequence[str] | None = None, public: str | None = None
) -> ASGIApp:
    """The application that serves a page. ``token``, ``hosts`` and ``public`` are as in :class:`Guard`; guests need no token."""
    mimetypes.add_type("text/javascript", ".js")  # some systems call it plain text, which browsers do not run
    app = Starlette(
        routes=[*page.routes, Mount("/static", StaticFiles(packages=[("hyperacuity.studio", "static")]))],
        middleware=[Middleware(GZipMiddleware, minimum_size=1024, compresslevel=1)],
        exception_handlers={
            HTTPException: _refuse,
            # A page should name the item that fails; this is for where it did not. Paths stay in the terminal.
            InputError: _explain(422, "a file that this needs cannot be read; the terminal of the server says which"),
            StateError: _explain(503, "this could not be saved; tell the person who runs the server, then try again"),
            ClientDisconnect: _explain(400, "the request broke off"),  # which nobody hears
            Exception: _explain(500, "something went wrong on the server; its terminal says more", trace=True),
        },
        max_body_size=page.max_body,
    )
    app.router.redirect_slashes = False  # the guard knows better
    return Guard(app, token=token, hosts=hosts, guests=page.guests, public=public)


_SENTENCES = {
    404: "there is no such page",
    405: "this address does not take that kind of request",
    413: "this is more than the studio takes at once",
}


async def _refuse(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    sentence = _SENTENCES.get(error.status_code, "the request is not valid")
    response = refusal(request, error.status_code, error.detail if isinstance(error, Refused) else sentence)
    response.headers.update(error.headers or {})
    return response


def _explain(status: int, sentence: str, *, trace: bool = False) -> Handler:
    """A handler that logs an error for the person who runs the server and says no more than a sentence to the visitor."""

    async def handle(request: Request, error: Exception) -> Response:
        if trace:
            log.error("%s %s", request.method, request.url.path, exc_info=error)
        elif not isinstance(error, ClientDisconnect):
            log.log(logging.ERROR if status >= 500 else logging.WARNING, "%s", error)
        return refusal(request, status, sentence)

    return handle
