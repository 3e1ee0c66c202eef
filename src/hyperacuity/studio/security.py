"""What stands between a browser and every page: who may come in, from where, with how much, and what the browser may do.

A studio on loopback answers to loopback names only, so that no other site can reach it by letting its own name point here. A
studio on any other address asks for a token, once; from then on a cookie that is never sent along from other sites stands for
it. Changes are refused when they come from a page of another origin. No page may load or run anything that is not ours.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from html import escape
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "worker-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)

TOO_LARGE = "this is more than the studio takes at once"

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


def same(secret: str, given: str) -> bool:
    """Whether two secrets are equal, told in a time that does not depend on where they differ."""
    return hmac.compare_digest(secret.encode(), given.encode(errors="replace"))


class Guard:
    """Checks every request before a page sees it, and adds the headers that restrain the browser to every response."""

    def __init__(
        self, app: ASGIApp, *, token: str | None, hosts: Sequence[str] | None, guests: Sequence[str], largest_body: int
    ) -> None:
        self._app = app
        self._token = token
        self._hosts = None if hosts is None else frozenset(hosts)
        self._guests = tuple(guests)
        self._largest = largest_body
        # Cookies know no ports: a name of its own keeps the studios of one machine apart.
        self._cookie = "studio-" + hashlib.sha256((token or "").encode()).hexdigest()[:12]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or say why not."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        started = False

        async def send_restrained(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                restrained = MutableHeaders(scope=message)
                restrained.update(HEADERS)
                restrained.setdefault("Cache-Control", "no-store")
            await send(message)

        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _say(headers, send_restrained, *refusal)
            return
        if self._token is not None and not self._is_guest(scope["path"]) and not self._has_cookie(headers):
            await self._ask_for_token(scope, headers, send_restrained)
            return
        left = self._largest

        async def receive_bounded() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413)
            return message

        try:
            await self._app(scope, receive_bounded, send_restrained)
        except Exception:
            if not started:  # else the application has answered and written it down by itself
                raise

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        host = _host(headers.get("host", ""))
        if self._hosts is not None and host not in self._hosts:
            return 421, "this studio does not answer to that name"
        if scope["method"] not in ("GET", "HEAD", "OPTIONS"):
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return 403, "changes are taken from the studio's own pages only"
            origin = headers.get("origin")
            if origin is not None and _netloc(origin) != headers.get("host", ""):
                return 403, "changes are taken from the studio's own pages only"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > self._largest:
            return 413, TOO_LARGE
        return None

    def _is_guest(self, path: str) -> bool:
        return path.startswith(self._guests)

    def _has_cookie(self, headers: Headers) -> bool:
        return same(self._token or "", cookie_parser(headers.get("cookie", "")).get(self._cookie, ""))

    async def _ask_for_token(self, scope: Scope, headers: Headers, send: Send) -> None:
        """Take the token from the address, once; then lead to the same address without it."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = dict(query).get("token")
        if given is None or scope["method"] != "GET" or not same(self._token or "", given):
            await _say(headers, send, 403, "this studio asks for its token: open the address that its terminal shows")
            return
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        # By a page and not by a redirect: one that began on another site would be followed without the strict cookie.
        path = "/" + scope["path"].lstrip("/")  # "//elsewhere" would lead there
        target = escape(path + (f"?{rest}" if rest else ""), quote=True)
        onward = f'<meta http-equiv="refresh" content="0;url={target}">'
        body = _html("Welcome", f'<a href="{target}">Enter the studio</a>', onward)
        cookie = f"{self._cookie}={given}; HttpOnly; SameSite=Strict; Path=/"
        if scope.get("scheme") == "https":
            cookie += "; Secure"
        pairs = [(b"content-type", b"text/html; charset=utf-8"), (b"set-cookie", cookie.encode("latin-1"))]
        await send({"type": "http.response.start", "status": 200, "headers": pairs})
        await send({"type": "http.response.body", "body": body})


def _netloc(origin: str) -> str | None:
    """The host and port of an origin; None for what is none."""
    try:
        return urlsplit(origin).netloc or None
    except ValueError:
        return None


def _host(header: str) -> str:
    """The name in a Host header, without the port.

    >>> _host("localhost:8000"), _host("[::1]:80"), _host("127.0.0.1")
    ('localhost', '::1', '127.0.0.1')
    """
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


async def _say(asked: Headers, send: Send, status: int, sentence: str) -> None:
    """A sentence, as a page for someone who opened an address, as JSON for a script."""
    kind = b"application/json"
    body = json.dumps({"error": sentence}).encode()
    if "text/html" in asked.get("accept", ""):
        kind, body = b"text/html; charset=utf-8", _html("Not here", f"<p>{escape(sentence.capitalize())}.</p>")
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _html(title: str, content: str, head: str = "") -> bytes:
    style = '<link rel="icon" href="/static/mark.svg"><link rel="stylesheet" href="/static/studio.css">'
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>{style}{head}'
        f'<body><main class="narrow">{content}</main></body></html>'
    ).encode()
