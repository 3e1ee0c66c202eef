"""A studio below a path of somebody else's host: behind a proxy that takes the path off, or leaves it there."""

from __future__ import annotations

import http.client
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from hyperacuity.data import read_image, write_png
from hyperacuity.studio import actions, people
from hyperacuity.studio.app import make_app
from hyperacuity.studio.choose.page import ChoosePage
from hyperacuity.studio.choose.plan import SCHEMA as CHOOSE
from hyperacuity.studio.choose.plan import Design
from hyperacuity.studio.choose.trials import load_study
from hyperacuity.studio.items import item_id, items_of
from hyperacuity.studio.label.map import find_candidates
from hyperacuity.studio.label.page import LabelPage
from hyperacuity.studio.order.page import OrderPage
from hyperacuity.studio.order.regions import find_inputs
from hyperacuity.studio.server import Address, prepared
from hyperacuity.studio.state import State

ROOT = "/deep/edges"
PUBLIC = f"https://example.org{ROOT}"
TOKEN = "a-token-nobody-guesses"  # noqa: S105 (of a test)


@pytest.fixture
def labels(tmp_path):
    step = np.zeros((40, 60), np.uint8)
    step[:, 30:] = 200
    (tmp_path / "photos").mkdir()
    for name in ("one", "two"):
        write_png(tmp_path / "photos" / f"{name}.png", step)
    with State(tmp_path / "labels.sqlite", [people.SCHEMA, actions.SCHEMA]) as state:
        yield LabelPage(items_of(sorted((tmp_path / "photos").iterdir())), state, tmp_path / "out")


@pytest.mark.parametrize("stripped", [True, False])
def test_addresses_start_with_the_path_and_cookies_are_for_it_alone(labels, stripped):
    from starlette.testclient import TestClient

    client = TestClient(make_app(labels.page, token=TOKEN, hosts=None, public=PUBLIC), base_url="https://example.org")
    below = "" if stripped else ROOT
    entered = client.get(f"{below}/?token={TOKEN}")
    assert f'content="0;url={ROOT}/"' in entered.text
    cookie = entered.headers["set-cookie"]
    assert f"Path={ROOT};" in cookie
    assert "; secure" in cookie.lower()
    name, _, value = cookie.partition(";")[0].partition("=")
    client.headers["cookie"] = f"{name}={value}"  # the client knows the path without its proxy
    answer = client.post(f"{below}/people", json={"name": "Ada"}, headers={"origin": "https://example.org"})
    assert answer.status_code == 200
    assert f"Path={ROOT};" in answer.headers["set-cookie"]
    elsewhere = client.post(f"{below}/people", json={"name": "Bea"}, headers={"origin": "https://example.com"})
    assert elsewhere.status_code == 403
    assert client.get(f"{below}/static/studio.js").status_code == 200
    assert labels.overview.supervisor.link(Address(PUBLIC)).startswith(f"{PUBLIC}/supervise/")


def test_a_path_that_only_begins_alike_is_not_taken_off(labels):
    from starlette.testclient import TestClient

    client = TestClient(make_app(labels.page, hosts=None, public=PUBLIC), base_url="https://example.org")
    assert client.get(f"{ROOT}x/").status_code == 404
    assert client.get(ROOT).status_code == 200


def test_an_address_with_a_slash_at_its_end_is_the_page_below_the_path(labels):
    from starlette.testclient import TestClient

    client = TestClient(make_app(labels.page, hosts=None, public=PUBLIC), base_url="https://example.org")
    client.get(labels.overview.supervisor.link(Address("")))
    client.headers["cookie"] = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    for path in ("/overview/", f"{ROOT}/overview/", f"{ROOT}/overview"):
        shown = client.get(path, headers={"host": "127.0.0.1:8123"}, follow_redirects=False)
        assert shown.status_code == 200, "a redirect would lead to the proxy's own address, or lose the path"
        assert f'href="{ROOT}/overview"' in shown.text


@dataclass
class Upstream:
    """Where a proxy passes requests on to: the studio starts after it, since it has to know the proxy's address.

    A proxy that is ``kept`` to the path leaves it in the requests; one with a ``certificate`` (a PEM file) speaks TLS.
    """

    kept: bool = False
    certificate: Path | None = None
    port: int = 0


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> Path:
    """A certificate that nobody has signed but its owner, with its key."""
    openssl = shutil.which("openssl") or pytest.skip("needs openssl, which makes the certificate")
    pem = tmp_path_factory.mktemp("tls") / "studio.pem"
    made = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        [openssl, "req", *made, *names, "-keyout", pem, "-out", f"{pem}.crt"], check=True, capture_output=True
    )
    pem.write_bytes(pem.read_bytes() + Path(f"{pem}.crt").read_bytes())
    return pem


@contextmanager
def proxy(upstream: Upstream) -> Iterator[str]:
    """A proxy on a free port that serves a studio below a path; its address with the path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.path.startswith(f"{ROOT}/"):
                self.send_error(404)
                return
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            passed = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
            forward = http.client.HTTPConnection("127.0.0.1", upstream.port)
            path = self.path if upstream.kept else self.path.removeprefix(ROOT)
            forward.request(self.command, path, body, passed)
            answer = forward.getresponse()
            content = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("content-length", "transfer-encoding", "connection", "date"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_DELETE = do_GET  # noqa: N815 (their names)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    class Roomy(ThreadingHTTPServer):
        request_queue_size = 128  # a browser opens many connections at once

    with Roomy(("127.0.0.1", 0), Handler) as server:
        if upstream.certificate:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(upstream.certificate)
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http{'s' if upstream.certificate else ''}://127.0.0.1:{server.server_address[1]}{ROOT}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def behind():
    """``behind(page, kept=…)``: the page's address behind a proxy. What the proxy does not know is an error."""
    with ExitStack() as running:

        def start(page, **how):
            upstream = Upstream(**how)
            public = running.enter_context(proxy(upstream))
            server, listening, address = running.enter_context(prepared(page, token=TOKEN, public=public))
            upstream.port = address.port
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
            thread.start()

            def stop():
                server.should_exit = True
                thread.join()

            running.callback(stop)
            return address

        yield start


@pytest.mark.browser
def test_labelling_works_below_a_path(labels, behind, visit):
    address = behind(labels.page)
    tab = visit(address.front)
    tab.wait_for_load_state("networkidle")  # the form's script has come through the proxy, too
    tab.fill("#name", "Ada")
    tab.click("button[type=submit]")
    tab.click("a:text-is('Start')")
    tab.wait_for_selector("#stage[data-ready]")
    assert tab.url == f"{address.base}/image/{item_id('one')}"
    tab.keyboard.press("a")
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.press("Enter")
    tab.keyboard.press("d")
    tab.wait_for_selector("#finished[open]")
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"{address.base}/image/{item_id('two')}")
    tab.goto(labels.overview.supervisor.link(address))
    tab.wait_for_url(f"{address.base}/overview")
    assert "1 person, 2 images: 1 of 2 done" in tab.inner_text("main")


@pytest.mark.browser
def test_versions_are_compared_below_a_path_by_tls(labels, behind, visit, certificate, client_of, finish_label):
    step = read_image(labels.overview._work.items[item_id("one")].path)
    for person, runs in (("Ada", [(5, 9)]), ("Bea", [(5, 9), (30 * 60 + 40, 12)])):
        client = client_of(labels.page)
        client.post("/people", json={"name": person})
        assert finish_label(client, find_candidates(step), item_id("one"), *runs).status_code == 200
    address = behind(labels.page, certificate=certificate)
    assert address.base.startswith("https:")
    tab = visit(labels.overview.supervisor.link(address), ignore_https_errors=True)
    tab.wait_for_url(f"{address.base}/overview")
    assert all(cookie["secure"] for cookie in tab.context.cookies())
    tab.click("text=Compare")
    tab.wait_for_selector("body[data-ready]")
    assert tab.url == f"{address.base}/overview/{item_id('one')}"
    tab.keyboard.press("b")
    tab.keyboard.press("d")
    tab.wait_for_selector("text=Written: 0 from Ada, 1 from Bea.")


@pytest.mark.browser
def test_ordering_works_below_a_path_that_the_proxy_keeps(world, behind, visit):
    with State(world / "orders.sqlite", [people.SCHEMA, actions.SCHEMA]) as state:
        page = OrderPage(find_inputs(world / "images", world / "labels"), state, world / "out").page
        address = behind(page, kept=True)
        tab = visit(address.front)
        tab.fill("#name", "Ada")
        tab.click("button[type=submit]")
        tab.click("a:text-is('Start')")
        tab.wait_for_selector('body[data-version="0"]')
        tab.keyboard.press("n")
        tab.keyboard.press("Enter")
        tab.wait_for_selector('body[data-version="1"]')


@pytest.mark.browser
def test_choosing_works_below_a_path(make_trials, behind, visit):
    folder = make_trials(4)
    with State(folder / "studio.sqlite", [CHOOSE]) as state:
        study = load_study(folder / "trials", folder / "photos", keep=1 << 20)
        page = ChoosePage(study, state, Design(practice=0), fixation=0.01)
        (token,) = page.ensure_invitations(1)
        address = behind(page.page)
        tab = visit(f"{address.base}/take/{token}")
        tab.click("#begin")
        tab.wait_for_selector("#trial[data-position]")
        tab.keyboard.press("ArrowLeft")
        tab.wait_for_selector("#trial[data-position='1']")
        experimenter = visit(address.front)
        experimenter.wait_for_selector(f"text={address.base}/take/{token}")
