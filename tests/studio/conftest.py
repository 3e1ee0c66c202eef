"""Fixtures of the studio's tests: a page in process, on a port, and in a browser."""

from __future__ import annotations

import asyncio
import dataclasses
import io
import threading
import time
import warnings
import zlib
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

pytest.importorskip("starlette", reason='needs the studio: pip install ".[studio]"')
pytest.importorskip("uvicorn", reason='needs the studio: pip install ".[studio]"')

from hyperacuity.audit.trials import Segment, Trial, write_trials
from hyperacuity.data import write_png
from hyperacuity.data.scenes import make_scene
from hyperacuity.studio import actions, people
from hyperacuity.studio.app import make_app
from hyperacuity.studio.choose.page import ChoosePage
from hyperacuity.studio.choose.plan import SCHEMA as CHOOSE
from hyperacuity.studio.choose.plan import Design
from hyperacuity.studio.choose.trials import load_study
from hyperacuity.studio.items import item_id, items_of
from hyperacuity.studio.label.map import Action
from hyperacuity.studio.label.page import LabelPage
from hyperacuity.studio.order.page import OrderPage
from hyperacuity.studio.order.regions import find_inputs
from hyperacuity.studio.security import LOOPBACK
from hyperacuity.studio.server import Address, prepared
from hyperacuity.studio.state import State
from hyperacuity.studio.web import Page

from .choosing import TOKEN
from .labelling import HEIGHT, WIDTH, Annotator, replay


@pytest.fixture
def client_of() -> Iterator[Callable[..., Any]]:
    """``client_of(page, token=…)``: a client that talks to the page without a network. Errors of the server are answers too."""
    pytest.importorskip("httpx", reason="needs the package httpx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the name of the package that it talks with
        from starlette.testclient import TestClient

    with ExitStack() as opened:

        def make(
            page: Page, *, token: str | None = None, hosts: tuple[str, ...] | None = LOOPBACK, **options: Any
        ) -> Any:
            app = make_app(page, token=token, hosts=hosts)
            client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False, **options)
            return opened.enter_context(client)

        yield make


def enter(client: Any, state: State, name: str) -> None:
    """Let someone in: a newcomer by their name, someone who has been here by their own link."""
    known = {one.name: one for one in people.People(state, "any").everybody()}
    if name in known:
        assert client.get(f"/me/{known[name].key}").status_code == 200
    else:
        assert client.post("/people", json={"name": name}).status_code == 200


@pytest.fixture(scope="session")
def let_in() -> Callable[[Any, State, str], None]:
    """``let_in(client, state, name)``: from now on the client is someone of that name, a newcomer or not."""
    return enter


@pytest.fixture(scope="session")
def run_async() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """``run_async(coroutine)``: its result. In a thread of its own, since the browser's driver has a loop in this one."""

    def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, coroutine).result()

    return run


@pytest.fixture
def live() -> Iterator[Callable[..., Address]]:
    """``live(page, token=…)``: the page on a free port of loopback until the test ends; returns its address."""
    with ExitStack() as running:

        def start(page: Page, *, token: str | None = None) -> Address:
            server, listening, address = running.enter_context(prepared(page, token=token))
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
            thread.start()

            def stop() -> None:
                server.should_exit = True
                thread.join()

            running.callback(stop)
            while not server.started and thread.is_alive():
                time.sleep(0.01)
            assert server.started
            return address

        yield start


@pytest.fixture
def visit(new_tab) -> Callable[..., Any]:
    """``visit(address)``: a new tab, in a context of its own (another person), on that address.

    When the test ends, no page may have complained, nor asked anything of another server. Answers that a test provokes are
    named in ``expected`` (a part of the message).
    """
    # Chromium's own words where a test fills a field before the page has focused it: no fault of the page's.
    harmless = ("willReadFrequently", "Autofocus processing was blocked")

    def go(address: str, *, expected: tuple[str, ...] = (), **options: Any) -> Any:
        tab = new_tab(allowed="/".join(address.split("/")[:3]), harmless=(*harmless, *expected), **options)
        tab.goto(address)
        return tab

    return go


@pytest.fixture(scope="session")
def finish_label() -> Callable[..., Any]:
    """``finish_label(client, candidates, item, *runs)``: whoever the client is adds runs of pixels to an image, and is done."""

    def finish(client: Any, candidates: Any, item: str, *runs: tuple[int, int], anyway: bool = True) -> Any:
        sent = [
            {"number": n, "key": f"key-{n:06}", "kind": "add", "runs": list(run), "seconds": 2.0}
            for n, run in enumerate(runs, start=1)
        ]
        if sent:
            assert client.post(f"/image/{item}/entries", json={"entries": sent}).status_code == 200
        body = {"number": len(sent) + 1, "key": "key-of-done", "seconds": 1.0, "anyway": anyway}
        drawn = replay(candidates, [Action("add", tuple(run)) for run in runs])[0]
        return client.post(f"/image/{item}/done", json={**body, "checksum": zlib.crc32(drawn.tobytes())})

    return finish


@pytest.fixture(scope="session")
def squares() -> NDArray[np.uint8]:
    """Labels of four rectangles: 0 beside 1, 2 below 0, 3 below 1."""
    return np.array([[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3]], np.uint8).repeat(8, 0).repeat(8, 1)


@pytest.fixture
def world(tmp_path, squares) -> Path:
    """A picture of the squares, their segmentation, and a folder to write orders to."""
    for folder in ("images", "labels", "out"):
        (tmp_path / folder).mkdir()
    Image.fromarray(squares * 60).save(tmp_path / "images" / "squares.png")
    Image.fromarray(squares).save(tmp_path / "labels" / "squares.png")
    return tmp_path


class Orderer:
    """Someone who orders the squares through a client."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def get(self, path: str, *, item: str = "squares") -> Any:
        return self.client.get(f"/items/{item_id(item)}{path}")

    def act(self, sequence: int, *, tab: str = "a-tab-of-the-tests", **action: Any) -> Any:
        body = {"tab": tab, "sequence": sequence, "action": action}
        return self.client.post(f"/items/{item_id('squares')}/actions", json=body)

    def do(self, *actions: dict[str, Any]) -> dict[str, Any]:
        """Several actions from where the sheet stands; the last answer."""
        sheet = self.sheet()
        for action in actions:
            response = self.act(sheet["version"] + 1, **action)
            assert response.status_code == 200, response.text
            sheet = response.json()
        return sheet

    def sheet(self) -> dict[str, Any]:
        response = self.get("/sheet")
        assert response.status_code == 200, response.text
        return response.json()


@pytest.fixture(scope="session")
def orderer() -> type[Orderer]:
    """``orderer(client)``: someone who orders the squares through a client."""
    return Orderer


@pytest.fixture
def open_page(world, client_of) -> Iterator[Callable[..., Orderer]]:
    """``open_page(name)``: someone of that name at the page for ordering, on a new server over the same file."""
    with ExitStack() as opened:

        def start(person: str | None = "Ada", *, hierarchy: bool = False) -> Orderer:
            state = opened.enter_context(State(world / "studio.sqlite", [actions.SCHEMA, people.SCHEMA]))
            inputs = find_inputs(world / "images", None if hierarchy else world / "labels")
            client = client_of(OrderPage(inputs, state, world / "out").page)
            if person:
                enter(client, state, person)
            return Orderer(client)

        yield start


@cache
def photograph(number: int) -> bytes:
    """A file: grey, with a bright field to the right of an edge that nobody overlooks, and a flat left half."""
    rng = np.random.default_rng(number)
    picture = np.full((120, 200, 3), 90.0) + rng.normal(size=(120, 200, 1))
    picture[:, 140 + number % 5 :] = 220
    file = io.BytesIO()
    Image.fromarray(picture.clip(0, 255).astype(np.uint8)).save(file, "PNG")
    return file.getvalue()


def segment(row: int, column: int) -> Segment:
    return Segment((row, column), tuple((row, column + step) for step in range(-4, 5)))


@pytest.fixture
def make_trials(tmp_path) -> Callable[..., Path]:
    """``make_trials(count)``: a folder with ``photos`` and a table ``trials`` of the forced choice, a photograph per trial.

    The systems ``canny`` and ``sobel`` take turns, and so do the modes. ``flipped`` turns every key round.
    """

    def make(count: int = 24, *, flipped: bool = False, folder: Path = tmp_path / "study") -> Path:
        (folder / "photos").mkdir(parents=True)
        (folder / "trials").mkdir()
        trials = []
        for number in range(count):
            name = f"holiday-{number:03d}"
            (folder / "photos" / f"{name}.png").write_bytes(photograph(number))
            first, second = segment(20 + number, 20 + number), segment(100 - number, 75 - number)
            key = "first" if (number // 3 % 2 == 0) != flipped else "second"
            mode = "hard" if number % 4 < 2 else "easy"
            trials.append(Trial(name, ("canny", "sobel")[number % 2], mode, first, second, key, f"{number + 1:02d}"))
        write_trials(folder / "trials", trials)
        return folder

    return make


@pytest.fixture(scope="module")
def studies():
    """What trials and photographs that are made anew for each test have been found to hold: always the same."""
    return {}


@pytest.fixture
def experiment(make_trials, client_of, studies):
    """``experiment(count, **design)``: (folder, experimenter's client, participants' client, a function that invites)."""
    states = []

    def study_of(folder, keep):
        return load_study(folder / "trials", folder / "photos", keep=keep)

    def new_study(count, keep):
        folder = make_trials(count)
        if (count, keep) not in studies:
            studies[count, keep] = study_of(folder, keep)
        known = studies[count, keep]
        photographs = {name: folder / "photos" / path.name for name, path in known.photographs.items()}
        return folder, dataclasses.replace(known, photographs=photographs)

    def make(count=24, *, break_every=50, folder=None, keep=1 << 20, **design):
        folder, study = (folder, study_of(folder, keep)) if folder else new_study(count, keep)
        state = State(folder / "trials" / "studio.sqlite", [CHOOSE])
        states.append(state)
        choose = ChoosePage(study, state, Design(**design), break_every=break_every)
        experimenter = client_of(choose.page, token=TOKEN)
        experimenter.get(f"/?token={TOKEN}")

        def invite(count=1):
            return experimenter.post("/invitations", json={"count": count}).json()["links"]

        return folder, experimenter, client_of(choose.page, token=TOKEN), invite

    yield make
    for state in states:
        state.close()


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    for seed, name in enumerate(("one", "two"), 1):
        write_png(folder / f"{name}.png", make_scene(seed, size=(WIDTH, HEIGHT), leaves=6).image)
    (folder / "torn.png").write_bytes(b"\x89PNG\r\n\x1a\nnot any more")
    return folder


@pytest.fixture
def state(tmp_path):
    with State(tmp_path / "studio.sqlite", [people.SCHEMA, actions.SCHEMA]) as opened:
        yield opened


@pytest.fixture
def labels(photos, state, tmp_path):
    return LabelPage(items_of(sorted(photos.iterdir())), state, tmp_path / "out")


@pytest.fixture
def ada(labels, client_of):
    return Annotator(client_of(labels.page), "Ada")
