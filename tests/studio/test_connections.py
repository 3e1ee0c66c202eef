"""Visitors who send half a request, or nothing, and a studio behind an HTTPS proxy."""

from __future__ import annotations

import contextlib
import shutil
import socket
import stat
import time

import pytest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hyperacuity.errors import UsageError
from hyperacuity.studio import connections
from hyperacuity.studio.app import make_app
from hyperacuity.studio.people import SCHEMA, People
from hyperacuity.studio.security import LOOPBACK
from hyperacuity.studio.server import prepared, public_address
from hyperacuity.studio.state import State, insert
from hyperacuity.studio.web import Page

PUBLIC = "https://studio.example.org"
TOKEN = "a-token-nobody-guesses"  # noqa: S105 (of a test)


async def hello(request):
    return JSONResponse({"scheme": request.url.scheme, "sent": len(await request.body())})


PAGE = Page("Hello", [Route("/", hello, methods=["GET", "POST"])])


def ask(address, text=b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"):
    host, port = address.base.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as line:
        line.sendall(text)
        return b"".join(iter(lambda: line.recv(4096), b""))


def half(address):
    host, port = address.base.removeprefix("http://").split(":")
    line = socket.create_connection((host, int(port)), timeout=10)
    line.sendall(b"GET / HTTP/1.1\r\nHost: 127.0")
    return line


def test_a_request_that_never_ends_is_given_up(live, monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.3)
    address = live(PAGE)
    for line in (half(address), socket.create_connection(("127.0.0.1", address.port), timeout=10)):
        with line:
            began = time.monotonic()
            with contextlib.suppress(ConnectionResetError):
                assert line.recv(10) == b""
            assert time.monotonic() - began < 5
    assert b"200 OK" in ask(address)


def test_a_slow_answer_is_not_given_up(live, monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.2)

    async def slow(request):
        import asyncio

        await asyncio.sleep(0.6)
        return JSONResponse({"slow": True})

    assert b'{"slow":true}' in ask(live(Page("Slow", [Route("/", slow)])))


def test_three_hundred_half_requests_lock_nobody_out(live, monkeypatch):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 50)
    address = live(PAGE)
    with contextlib.ExitStack() as opened:
        for _ in range(300):
            opened.enter_context(half(address))
        began = time.monotonic()
        assert b"200 OK" in ask(address)
        assert time.monotonic() - began < 5


def test_a_visitor_who_takes_nothing_of_an_answer_is_given_up(live, monkeypatch):
    """More than the system's own buffers hold. One who reads slowly gets everything."""
    monkeypatch.setattr(connections, "ANSWER_SECONDS", 0.25)
    size = 16 << 20

    async def large(request):
        return Response(bytes(size))

    address = live(Page("Large", [Route("/", large)]))
    taken = {}
    for pause in (1.5, 0.02):
        with socket.socket() as line:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
            line.settimeout(10)
            line.connect(("127.0.0.1", address.port))
            line.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            time.sleep(pause)
            taken[pause] = 0
            with contextlib.suppress(ConnectionResetError):
                while found := len(line.recv(1 << 20)):
                    taken[pause] += found
                    time.sleep(0.0005)
    assert taken[1.5] < size < taken[0.02]


def test_answered_visitors_who_stay_give_way_to_others(live, monkeypatch):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 10)
    address = live(PAGE)
    with contextlib.ExitStack() as opened:
        for _ in range(10):
            line = opened.enter_context(socket.create_connection(("127.0.0.1", address.port), timeout=10))
            line.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert line.recv(4096)
        assert b"200 OK" in ask(address)


def test_the_proxy_of_the_docs_works(client_of_public):
    """As nginx sends it on: the public host name, the public origin, and what the browser says of the page."""
    client = client_of_public()
    sent = {"Host": "studio.example.org", "Origin": PUBLIC, "Sec-Fetch-Site": "same-origin"}
    assert client.get("/", params={"token": TOKEN}, headers=sent).status_code == 200
    client.cookies.set(next(iter(client.cookies)), TOKEN)
    answer = client.post("/", headers=sent, content=b"x")
    assert (answer.status_code, answer.json()["scheme"]) == (200, "https")
    kept = client.post("/", headers={**sent, "Host": "127.0.0.1:1234"}, content=b"x")
    assert kept.status_code == 200, "a proxy that does not pass the name on"
    for strange in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert client.post("/", headers={**sent, **strange}, content=b"x").status_code in (400, 403)


@pytest.fixture
def client_of_public():
    pytest.importorskip("httpx", reason="needs the package httpx")
    from starlette.testclient import TestClient

    def make():
        app = make_app(PAGE, token=TOKEN, hosts=(*LOOPBACK, "studio.example.org"), public=PUBLIC)
        return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)

    return make


def test_cookies_behind_https_are_secure(tmp_path, client_of_public):
    from starlette.testclient import TestClient

    client = client_of_public()
    assert "; secure" in client.get("/", params={"token": TOKEN}).headers["set-cookie"].lower()
    with State(tmp_path / "studio.sqlite", [SCHEMA]) as state:
        page = Page("People", People(state, "test").routes)
        for name, public, expected in (("Ada", PUBLIC, True), ("Bea", None, False)):
            app = make_app(page, hosts=LOOPBACK, public=public)
            answer = TestClient(app, base_url="http://127.0.0.1").post("/people", json={"name": name})
            assert ("; secure" in answer.headers["set-cookie"].lower()) == expected


@pytest.mark.parametrize(
    "url",
    ["studio.example.org", "ftp://x.org", "https://", "https://x.org/a b", "https://x.org/../a", "https://x.org/?a=1"],
)
def test_a_public_address_that_is_none_is_refused(url):
    with pytest.raises(UsageError, match=r"expected an address such as https://studio\.example\.org"):
        public_address(url)


def test_a_studio_behind_a_proxy_needs_a_token():
    with pytest.raises(UsageError, match="needs a token"), prepared(PAGE, public=PUBLIC):
        pass
    with prepared(PAGE, public=PUBLIC, token=TOKEN) as (_, listening, address):
        assert address.front == f"{PUBLIC}/?token={TOKEN}"
        assert address.port == listening.getsockname()[1]


def test_what_people_did_is_for_nobody_else_to_read(tmp_path):
    path = tmp_path / "studio.sqlite"
    with State(path, [SCHEMA]) as state:
        state.write_now(lambda file: insert(file, "people", "1", "Ada", "now"))
        assert {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()} == {0o600}
        killed = shutil.copytree(tmp_path, tmp_path / "killed")
    left = [one for one in killed.iterdir() if one.is_file()]
    for one in left:  # as an earlier version left them
        one.chmod(0o644)
    assert {one.name for one in left} == {"studio.sqlite", "studio.sqlite-wal", "studio.sqlite-shm"}
    with State(killed / "studio.sqlite", [SCHEMA]):
        assert {stat.S_IMODE(one.stat().st_mode) for one in left} == {0o600}
