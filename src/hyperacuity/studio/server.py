"""Start a page on an address, say where it is, and stop it cleanly."""

from __future__ import annotations

import ipaddress
import logging
import re
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import uvicorn

from hyperacuity.errors import UsageError, option
from hyperacuity.studio.app import make_app
from hyperacuity.studio.browser import opened_in_browser
from hyperacuity.studio.connections import ImpatientProtocol
from hyperacuity.studio.security import LOOPBACK, origin_of
from hyperacuity.studio.state import State, insert
from hyperacuity.studio.web import Page, log


@dataclass(frozen=True)
class Address:
    """Address of a studio: its base without a slash at its end, the token that it asks for, if it does, and its port."""

    base: str
    token: str | None = None
    port: int = 0

    @property
    def front(self) -> str:
        """The address to open."""
        return self.at("/")

    def at(self, path: str) -> str:
        """The address of a page of the studio, token included."""
        return self.base + path + (f"?token={self.token}" if self.token else "")


def is_loopback(host: str) -> bool:
    """True if only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def reachable_name(host: str) -> str:
    """Name of a host in an address: one that stands for all addresses of this machine gives way to a real one.

    >>> reachable_name("127.0.0.1"), reachable_name("::1")
    ('127.0.0.1', '[::1]')
    """
    try:
        if ipaddress.ip_address(host).is_unspecified:
            # No packet is sent: the system only says from which address it would be.
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                probe.connect(("192.0.2.1", 9))
                host = str(probe.getsockname()[0])
    except ValueError:
        return host
    except OSError:
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def choose_token(host: str, token: str | None, *, always: bool = False) -> str | None:
    """The token that a studio on this host asks for: the one given, a new one, or none on loopback unless ``always``."""
    if token is not None and not re.fullmatch(r"[A-Za-z0-9._~-]{16,200}", token):
        raise UsageError(
            "`token=`: expected at least 16 characters (letters, digits, . _ ~ -), so that nobody can guess it"
        )
    if token is None and (always or not is_loopback(host)):
        return secrets.token_urlsafe(24)
    return token


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on the address; port 0 takes a free one."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = addresses[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise UsageError(f"{option('host', host)}: there is no such address ({error.strerror})") from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(256)
    except OSError as error:
        listening.close()
        raise UsageError(f"cannot listen on {host}, port {port}: {error.strerror}") from error
    return listening


def public_address(url: str) -> str:
    """The address under which a proxy serves a studio, without the slash at its end.

    >>> public_address("https://studio.example.org/"), public_address("HTTPS://Example.org:443/edges/")
    ('https://studio.example.org', 'https://example.org/edges')
    """
    try:
        origin, parts = origin_of(url), urlsplit(url)
    except ValueError:
        origin, parts = "", urlsplit("")
    path = parts.path.rstrip("/")
    plain = re.fullmatch(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*", path) and not (parts.query or parts.fragment)
    if parts.scheme not in ("http", "https") or not plain:
        raise UsageError(
            f"{option('public_url', url)}: expected an address such as https://studio.example.org or "
            "https://example.org/studio, its path of letters, digits and . _ ~ - only"
        )
    return origin + path


def last_address(state: State, page: str) -> Address | None:
    """The address at which a page was served last; None if it never was."""
    query = "SELECT base, token, port FROM studio_addresses WHERE page = ?"
    row = state.read_now(lambda file: file.execute(query, (page,)).fetchone())
    return None if row is None else Address(*row)


def store_address(state: State, page: str, address: Address) -> None:
    """Store where a page is served: links that people saved stay good when the studio is started again."""
    row = (page, address.base, address.port, address.token)
    state.write_now(lambda file: insert(file, "studio_addresses", *row, conflict="REPLACE"))


def last_or_free(host: str, port: int, last: Address | None) -> int:
    """The port that is asked for, or else (0) that of the last time if it is free, or else 0: any."""
    if port == 0 and last is not None:
        try:
            listen(host, last.port).close()
        except UsageError:
            log.warning("port %s, which earlier links name, is taken: they need another port now", last.port)
        else:
            return last.port
    return port


@contextmanager
def prepared(
    page: Page, *, host: str = "127.0.0.1", port: int = 0, token: str | None = None, public: str | None = None
) -> Iterator[tuple[uvicorn.Server, socket.socket, Address]]:
    """A server that is ready to run, its socket and its address.

    ``token`` must be given for a host that is not loopback, and for one that a proxy serves under the address ``public``.
    """
    if token is None and (public is not None or not is_loopback(host)):
        raise UsageError(f"{option('host', host)} can be reached from other machines: it needs a token")
    public = None if public is None else public_address(public)
    names = [urlsplit(public).hostname or ""] if public else []
    hosts = (*LOOPBACK, reachable_name(host), *names) if is_loopback(host) else None
    with listen(host, port) as listening:
        open_port = listening.getsockname()[1]
        address = Address(public or f"http://{reachable_name(host)}:{open_port}", token, open_port)
        config = uvicorn.Config(
            make_app(page, token=token, hosts=hosts, public=public),
            http=ImpatientProtocol,
            proxy_headers=False,  # what a proxy serves under is said by --public-url, and by nothing that visitors send
            log_config=None,
            access_log=False,  # addresses hold tokens
            server_header=False,
            timeout_graceful_shutdown=3,
            ws="none",
        )
        logging.getLogger("uvicorn").setLevel(logging.ERROR)
        yield uvicorn.Server(config), listening, address


def serve(
    page: Page,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    public: str | None = None,
    browser: bool = True,
    announce: Callable[[Address], None],
) -> None:
    """Serve a page until Ctrl-C. ``announce`` is called with the address as soon as it can be opened."""
    with prepared(page, host=host, port=port, token=token, public=public) as (server, listening, address):
        announce(address)
        shown = opened_in_browser(address.front) if browser else nullcontext()  # the socket listens already
        with shown, suppress(KeyboardInterrupt):  # the server has closed by itself; it only passes the signal on
            server.run(sockets=[listening])
