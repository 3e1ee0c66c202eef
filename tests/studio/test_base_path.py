"""A studio below a path of somebody else's host: behind a proxy that takes the path off, or leaves it there."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from hyperacuity.data import write_png
from hyperacuity.studio import people
from hyperacuity.studio.app import make_app
from hyperacuity.studio.choose.page import ChoosePage
from hyperacuity.studio.choose.plan import SCHEMA as CHOOSE
from hyperacuity.studio.choose.plan import Design
from hyperacuity.studio.choose.trials import load_study
from hyperacuity.studio.items import item_id, items_of
from hyperacuity.studio.label import store as label_store
from hyperacuity.studio.label.page import LabelPage
from hyperacuity.studio.order import store as order_store
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
    with State(tmp_path / "labels.sqlite", [people.SCHEMA, label_store.SCHEMA]) as state:
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


@dataclass
class Upstream:
    """Where a proxy passes requests on to: the studio starts after it, since it has to know the proxy's address."""

    port: int = 0


@contextmanager
def proxy(upstream: Upstream) -> Iterator[str]:
    """A proxy on a free port that serves a studio below a path, which it takes off; its address with the path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.path.startswith(f"{ROOT}/"):
                self.send_error(404)
                return
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            passed = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
            forward = http.client.HTTPConnection("127.0.0.1", upstream.port)
            forward.request(self.command, self.path.removeprefix(ROOT), body, passed)
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

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}{ROOT}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def behind():
    """``behind(page)``: the page's address behind the proxy, and the studio's own. What the proxy does not know is an error."""
    with ExitStack() as running:

        def start(page):
            upstream = Upstream()
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
def test_ordering_works_below_a_path(world, behind, visit):
    with State(world / "orders.sqlite", [people.SCHEMA, order_store.SCHEMA]) as state:
        address = behind(OrderPage(find_inputs(world / "images", world / "labels"), state, world / "out").page)
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
