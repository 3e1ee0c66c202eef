"""Files at ``http://`` and ``https://``, by the standard library: no server decides how much is read or how long that takes.

Content encoding, which makes much of little, is not asked for, and an answer that has any is refused. A request ends within
:data:`MAX_SECONDS`, with its redirects and the last byte of its answer, wherever it waits.
"""

from __future__ import annotations

import base64
import html
import io
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any
from urllib import request
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit

MAX_SECONDS = 300.0
"""Most seconds that fetching one file may take."""

MAX_LISTING = 1 << 24
"""Most bytes of a page that lists a folder."""

_SILENCE = 60.0
"""Seconds without a byte after which a server counts as gone."""


class WebFiles:
    """The methods of fsspec's file systems that :mod:`~hyperacuity.data.remote` needs, for the web."""

    def info(self, url: str) -> dict[str, Any]:
        """The server's description of a file, without its contents."""
        try:
            with _answer(url, "HEAD") as answer:
                headers = answer.headers
        except HTTPError:  # not every server knows HEAD
            with _answer(url, "GET") as answer:
                headers = answer.headers
        size, tag, modified = (headers.get(name) for name in ("Content-Length", "ETag", "Last-Modified"))
        kind = "directory" if headers.get_content_type() == "text/html" else "file"  # no map is a page
        return {"name": url, "type": kind, "size": size, "etag": tag, "lastmodified": modified}

    def isfile(self, url: str) -> bool:
        """True if the server has something other than a page at this URL."""
        try:
            return bool(self.info(url)["type"] == "file")
        except (FileNotFoundError, HTTPError):
            return False

    def isdir(self, url: str) -> bool:
        """True if the server lists something below this URL."""
        try:
            return bool(self.ls(url))
        except (FileNotFoundError, HTTPError):
            return False

    def ls(self, url: str, *, detail: bool = True) -> list[dict[str, str]]:
        """The files and folders directly below a URL to which the page there links."""
        with _answer(f"{url.rstrip('/')}/", "GET") as answer:
            base, is_page = answer.url, answer.headers.get_content_type() == "text/html"
            page = answer.read(MAX_LISTING + 1).decode("utf-8", "replace") if is_page else ""
        if len(page) > MAX_LISTING:
            raise OSError(f"its listing has more than {MAX_LISTING:,} bytes")
        links = re.findall(r"""<a\s[^<>]*?href\s*=\s*["']([^"'<>?#]+)""", page, re.IGNORECASE)
        below = dict.fromkeys(urljoin(base, html.unescape(link)) for link in links)
        return [
            {"name": unquote(link), "type": "directory" if link.endswith("/") else "file"}
            for link in below
            if link.startswith(base) and re.fullmatch("[^/]+/?", link.removeprefix(base))
        ]

    @contextmanager
    def open(self, url: str, mode: str = "rb") -> Iterator[_Body]:
        """A file's contents, to be read in pieces as they come."""
        with _answer(url, "GET") as answer:
            yield _Body(answer)


class _Body:
    """The contents in an answer, and their size if the server declares one. An answer that breaks off is an error."""

    def __init__(self, answer: HTTPResponse) -> None:
        self.size = answer.length
        self._answer, self._count = answer, 0

    def read(self, size: int) -> bytes:
        """At most so many bytes, as soon as there are any; none at the end."""
        data = self._answer.read1(size)
        self._count += len(data)
        if not data and self.size is not None and self._count < self.size:
            raise ConnectionError(f"only {self._count} of {self.size} bytes came")
        return data


@contextmanager
def _answer(url: str, method: str) -> Iterator[Any]:
    """A server's answer to a request; its connections are cut when the time is up."""
    connections: list[socket.socket] = []
    late = threading.Event()

    def cut() -> None:
        late.set()
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(MAX_SECONDS, cut)
    timer.daemon = True
    timer.start()
    try:
        with _open(url, method, connections) as answer:
            encoding = answer.headers.get("Content-Encoding", "identity")
            if encoding.lower() != "identity":
                raise OSError(f"is sent with content encoding {encoding}, expected none")
            yield answer
        if late.is_set():
            raise TimeoutError  # a connection that was cut can look like the end of an answer
    except HTTPError as error:
        error.close()
        if error.code in (404, 410):
            raise FileNotFoundError(url) from error
        raise
    except Exception as error:  # of http.client, sockets and TLS
        if late.is_set():
            raise OSError(f"took more than {MAX_SECONDS:g} seconds") from error
        if isinstance(error, URLError) and isinstance(error.reason, Exception):
            raise error.reason from error
        raise
    finally:
        timer.cancel()
        for connection in connections:
            connection.close()


def _open(url: str, method: str, connections: list[socket.socket]) -> Any:
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    path, query = (quote(re.sub("%(?![0-9A-Fa-f]{2})", "%25", text), "%/:=&?+,;@!$'()*~") for text in parts[2:4])
    asked = request.Request(urlunsplit((parts.scheme, host, path, query, "")), method=method)  # noqa: S310
    asked.add_header("Accept-Encoding", "identity")
    asked.add_header("User-Agent", "hyperacuity")
    if user:  # unredirected: it is for nobody else
        asked.add_unredirected_header("Authorization", f"Basic {base64.b64encode(unquote(user).encode()).decode()}")
    opener = request.OpenerDirector()
    opener.add_handler(request.ProxyHandler())
    opener.add_handler(request.UnknownHandler())
    opener.add_handler(request.HTTPDefaultErrorHandler())
    opener.add_handler(request.HTTPErrorProcessor())
    opener.add_handler(_Redirects())
    opener.add_handler(_Web(connections))
    return opener.open(asked, timeout=min(_SILENCE, MAX_SECONDS))


class _Redirects(request.HTTPRedirectHandler):
    """Redirects followed without reading what comes with them, which may be endless."""

    def http_error_302(self, req: Any, fp: Any, code: int, msg: str, headers: Any) -> Any:
        fp.close()
        return super().http_error_302(req, io.BytesIO(), code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


class _Web(request.AbstractHTTPHandler):
    """Connections that are noted, so that they can be cut."""

    http_request = https_request = request.AbstractHTTPHandler.do_request_

    def __init__(self, connections: list[socket.socket]) -> None:
        super().__init__()
        self._connections = connections

    def http_open(self, req: Any) -> Any:
        return self.do_open(partial(self._connection, _Connection), req)

    def https_open(self, req: Any) -> Any:
        return self.do_open(partial(self._connection, _SecureConnection), req)

    def _connection(self, kind: type[_Connection], host: str, **options: Any) -> _Connection:
        connection = kind(host, **options)
        connection.note = self._connections.append
        return connection


class _Connection(HTTPConnection):
    note: Callable[[socket.socket], None]

    def connect(self) -> None:
        super().connect()
        self.note(self.sock.dup())  # a second handle on the connection, which remains when TLS takes the first


class _SecureConnection(HTTPSConnection, _Connection):
    """First :class:`_Connection` connects, then TLS begins."""
