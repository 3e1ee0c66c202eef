"""The guard between browsers and every page: who may come in, from where, and what the browser may do.

Every studio asks for a token, once, on loopback too, where other users of the machine can reach it; from then on a cookie that
is never sent along from other sites stands for it. (Only pages made in a program may go without.) A studio on loopback answers to
loopback names only, so that no other site can reach it by letting its own name point here. Changes are refused when they come
from a page of another origin. No page may load or run anything that is not ours.

Starlette checks host names, limits the size of requests, compresses and serves files. It knows neither tokens nor origins (its
CORS middleware lets other origins in rather than keeping them out), and its own middleware does not see the answers to
unexpected errors: that is what :class:`Guard` adds.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from urllib.parse import quote, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hyperacuity.studio.web import ROOT, refusal, render, root_of

TOKEN, PUBLIC = "studio.token", "studio.public"
"""Keys of a request's scope: the token, once it was given, and the address under which a proxy serves the studio."""

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """Checks every request before a page sees it, and adds the headers that restrict the browser to every response.

    ``guests`` are beginnings of paths that need no token; ``hosts`` are the names that the server answers to (None: any).
    ``public`` is the address under which a proxy serves the studio: its pages may send changes too, and its scheme is the one
    that visitors see, so that cookies behind HTTPS never travel without it.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: str | None,
        hosts: Sequence[str] | None,
        guests: Sequence[str],
        public: str | None = None,
    ) -> None:
        self._app = app
        self._public = public
        self._root = urlsplit(public).path if public else ""
        self._checked = TrustedHostMiddleware(self._check, ["*"] if hosts is None else hosts, www_redirect=False)
        self._token = token
        self._guests = ("/static/", *guests)
        self._cookie = cookie_name("studio", (token or "").encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or say why not."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        if self._public is not None:
            scope["scheme"], scope[ROOT] = urlsplit(self._public).scheme, self._root
            if f"{scope['path']}/".startswith(f"{self._root}/"):  # some proxies take the path off, others do not
                scope["path"] = scope["path"].removeprefix(self._root) or "/"
        started = False

        async def send_restricted(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("Cache-Control", "no-cache" if "etag" in headers else "no-store")
            await send(message)

        try:
            await self._checked(scope, receive, send_restricted)
        except Exception:
            if not started:  # otherwise the application has answered and logged it
                raise

    async def _check(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        open_to_all = self._token is None or scope["path"].startswith(self._guests)
        if not _same_origin(request, self._public):
            await refusal(request, 403, "changes are taken from the studio's own pages only")(scope, receive, send)
        elif open_to_all or self._is_token(request.cookies.get(self._cookie)):
            scope[PUBLIC], scope[TOKEN] = self._public, None if open_to_all else self._token
            # Here and not by Starlette, whose redirect knows neither the path nor the host that a visitor sees.
            scope["path"] = scope["path"].rstrip("/") or "/"
            await self._app(scope, receive, send)
        else:
            await self._ask_for_token(request)(scope, receive, send)

    def _is_token(self, given: str | None) -> bool:
        return hmac.compare_digest((self._token or "").encode(), (given or "").encode(errors="replace"))

    def _ask_for_token(self, request: Request) -> Response:
        """Take the token from the address, once; then lead to the same address without it."""
        if request.method != "GET" or not self._is_token(request.query_params.get("token")):
            return refusal(request, 403, "this studio asks for its token: open the address that its terminal shows")
        path = "/" + quote(request.scope["path"].lstrip("/\\"))  # "//elsewhere" would lead there
        query = request.url.remove_query_params("token").query
        return enter(request, "Welcome", f"{path}?{query}" if query else path, self._cookie, self._token or "")


def cookie_name(prefix: str, mark: bytes) -> str:
    """The name of a cookie. Cookies know no ports: a mark keeps the studios of one machine apart."""
    return f"{prefix}-{hashlib.sha256(mark).hexdigest()[:12]}"


def enter(
    request: Request, title: str, target: str, cookie: str, value: str, *, max_age: int | None = None
) -> Response:
    """A page that sets a cookie and leads to an address.

    A redirect that began on another site would be followed without the strict cookie.
    """
    response = render(request, "enter.html.j2", title=title, target=target)
    set_cookie(request, response, cookie, value, max_age=max_age)
    return response


def set_cookie(request: Request, response: Response, name: str, value: str, *, max_age: int | None = None) -> None:
    """Set a cookie for the studio alone: not for scripts, other sites or other paths, and behind HTTPS never without it."""
    secure, path = request.url.scheme == "https", root_of(request) or "/"
    response.set_cookie(name, value, max_age=max_age, path=path, httponly=True, samesite="strict", secure=secure)


def origin_of(url: str) -> str:
    """The origin of an address, spelled as browsers spell it. ``ValueError`` for what has none.

    >>> origin_of("HTTPS://Studio.Example.org:443/Edges"), origin_of("http://[2001:DB8::1]:8080")
    ('https://studio.example.org', 'http://[2001:db8::1]:8080')
    """
    parts = urlsplit(url)
    host = parts.hostname
    if not host or parts.username is not None:
        raise ValueError(f"{url} has no origin")
    name = f"[{host}]" if ":" in host else host if host.isascii() else host.encode("idna").decode()
    usual = parts.port in (None, {"http": 80, "https": 443}.get(parts.scheme))
    return f"{parts.scheme}://{name}" if usual else f"{parts.scheme}://{name}:{parts.port}"


def _same_origin(request: Request, public: str | None = None) -> bool:
    """True for a request that changes nothing, or comes from one of our pages as far as the browser says where from."""
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return True
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = request.headers.get("origin")
    if origin is None:
        return True
    try:
        asked = f"{urlsplit(origin).scheme}://{request.headers.get('host', '')}"
        return origin in {origin_of(url) for url in (public, asked) if url is not None}
    except ValueError:
        return False
