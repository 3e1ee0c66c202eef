"""Sessions of a label, an order and a choose page, through requests alone: acted once, and read by any version of the studio.

Run as a program (``python sessions.py FOLDER``), it writes what ``earlier/`` holds: the state files as SQL, and all that the
pages said and wrote. What is there was written by the last version in which labels and orders had tables of their own.
"""

from __future__ import annotations

import csv
import json
import sqlite3
import sys
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from starlette.testclient import TestClient

from hyperacuity.audit.trials import Segment, Trial, write_trials
from hyperacuity.data import read_edges, read_image, write_png
from hyperacuity.studio import actions, people
from hyperacuity.studio.app import make_app
from hyperacuity.studio.choose import plan
from hyperacuity.studio.choose.page import ChoosePage
from hyperacuity.studio.choose.session import AskedFact, Session
from hyperacuity.studio.choose.trials import load_study
from hyperacuity.studio.items import item_id, items_of
from hyperacuity.studio.label.map import Action, find_candidates, replay_sources
from hyperacuity.studio.label.page import LabelPage
from hyperacuity.studio.label.sources import sources_of
from hyperacuity.studio.order.page import OrderPage
from hyperacuity.studio.order.regions import find_inputs
from hyperacuity.studio.state import State

ONE, TWO = item_id("one"), item_id("two")
SESSION = Session("We keep your answers.", (AskedFact("Vision", ("normal", "corrected")),), "own")
WIDTH, HEIGHT = 60, 40


def build(folder: Path) -> None:
    """The inputs: two photographs, soft maps and segmentations of them, and four trials of the forced choice."""
    for name, step in (("one", 30), ("two", 20)):
        picture, soft = np.zeros((HEIGHT, WIDTH), np.uint8), np.zeros((HEIGHT, WIDTH), np.uint8)
        picture[:, step:] = 200
        picture[25:, :] //= 2
        soft[:, step + 5] = 180
        labels = (np.arange(WIDTH) >= step).astype(np.uint8) + 2 * (np.arange(HEIGHT) >= 25).astype(np.uint8)[:, None]
        for kind, pixels in (("photos", picture), ("soft", soft), ("labels", labels.astype(np.uint8))):
            (folder / kind).mkdir(parents=True, exist_ok=True)
            write_png(folder / kind / f"{name}.png", pixels)
    trials = []
    for number in range(4):
        name, rng = f"holiday-{number}", np.random.default_rng(number)
        picture = np.full((120, 200, 3), 90.0) + rng.normal(size=(120, 200, 1))
        picture[:, 140 + number :] = 220
        (folder / "holidays").mkdir(exist_ok=True)
        write_png(folder / "holidays" / f"{name}.png", picture.clip(0, 255).astype(np.uint8))
        first, second = (
            Segment((row, row), tuple((row, row + step) for step in range(-4, 5))) for row in (20 + number, 90 - number)
        )
        key, mode = ("first", "second")[number % 2], ("hard", "easy")[number // 2]
        trials.append(Trial(name, ("canny", "sobel")[number % 2], mode, first, second, key, f"{number + 1:02d}"))
    (folder / "trials").mkdir()
    write_trials(folder / "trials", trials)


def client_of(page: Any) -> TestClient:
    return TestClient(make_app(page, hosts=None), base_url="http://127.0.0.1")


def ok(response: Any) -> Any:
    assert response.status_code == 200, response.text
    return response


@contextmanager
def label_page(folder: Path, out: str = "label-out") -> Iterator[tuple[State, LabelPage]]:
    with State(folder / "label.sqlite", [people.SCHEMA, actions.SCHEMA]) as state:
        sources = sources_of(["gradient", str(folder / "soft")])
        yield state, LabelPage(items_of(sorted((folder / "photos").iterdir())), state, folder / out, sources)


@contextmanager
def order_page(folder: Path, out: str = "order-out") -> Iterator[tuple[State, OrderPage]]:
    with State(folder / "order.sqlite", [people.SCHEMA, actions.SCHEMA]) as state:
        yield state, OrderPage(find_inputs(folder / "photos", folder / "labels"), state, folder / out)


@contextmanager
def choose_page(folder: Path) -> Iterator[tuple[State, ChoosePage]]:
    with State(folder / "choose.sqlite", [plan.SCHEMA]) as state:
        study = load_study(folder / "trials", folder / "holidays", keep=1 << 20)
        yield state, ChoosePage(study, state, plan.Design(seed=4, practice=1, check_every=2), session=SESSION)


def label(folder: Path) -> None:
    """Ada finishes one image and starts the other; Bea uses two sources, finishes, and goes on."""
    candidates = find_candidates(read_image(folder / "photos" / "one.png"))
    soft = sources_of([str(folder / "soft")])[0]
    with label_page(folder) as (_, page):
        ada, bea = client_of(page.page), client_of(page.page)
        send(ada, "Ada", ONE, *ADA)
        drawn = replay_sources({"gradient": candidates}, [Action("threshold", threshold=9000), Action("add", (100, 9))])
        done(ada, ONE, len(ADA) + 1, drawn.edges)
        send(ada, "Ada", TWO, {"kind": "add", "runs": [5, 5]})
        entries = [{**one, **({"sources": ["gradient", soft.id]} if one["kind"] == "offer" else {})} for one in BEA]
        entries = [{**one, **({"sources": [soft.id]} if one["kind"] == "source" else {})} for one in entries]
        send(bea, "Bea", ONE, *entries)
        found = soft.find(items_of([folder / "photos" / "one.png"])[ONE])
        actions = [Action("source", sources=(soft.id,)), Action("keep", (35, 1)), Action("lasso", (0, 30))]
        done(bea, ONE, len(BEA) + 1, replay_sources({"gradient": candidates, soft.id: found}, actions).edges)
        send(bea, "Bea", ONE, {"kind": "undo"}, {"kind": "add", "runs": [7, 2]}, first=len(BEA) + 2)
        flagged = ada.post(f"/image/{TWO}/flag", json={"note": "blurred", "skipped": True})
        assert flagged.status_code == 200
        decide(page, ONE)


ADA: tuple[dict[str, Any], ...] = (
    {"kind": "threshold", "threshold": 9000},
    {"kind": "add", "runs": [100, 9]},
    {"kind": "erase", "runs": [100, 2, 300, 4]},
    {"kind": "undo"},
)
BEA: tuple[dict[str, Any], ...] = (
    {"kind": "offer"},
    {"kind": "source"},
    {"kind": "keep", "runs": [35, 1]},
    {"kind": "undo"},
    {"kind": "redo"},
    {"kind": "lasso", "runs": [0, 30]},
)


def send(client: TestClient, name: str, item: str, *entries: dict[str, Any], first: int = 1) -> None:
    ok(client.post("/people", json={"name": name}))
    numbered = [
        {"number": number, "key": f"key-{item[:4]}-{number:04}", "seconds": 1.25, **entry}
        for number, entry in enumerate(entries, first)
    ]
    ok(client.post(f"/image/{item}/entries", json={"entries": numbered}))


def done(client: TestClient, item: str, number: int, drawn: Any) -> None:
    body = {"number": number, "key": "key-of-done", "seconds": 0.5, "anyway": True}
    ok(client.post(f"/image/{item}/done", json={**body, "checksum": zlib.crc32(drawn.tobytes())}))


def decide(page: Any, item: str) -> None:
    """The organiser takes the first version of the first difference, and the second of all others."""
    client = organiser(page)
    sides = ok(client.get(f"/overview/{item}/sides")).json()
    choices = ["a", *["b"] * (len(sides["differences"]) - 1)]
    ok(client.post(f"/overview/{item}/decision", json={"choices": choices, "note": "agreed"}))


def organiser(page: Any) -> TestClient:
    client = client_of(page.page)
    ok(client.get("/supervise/" + page.overview.supervisor._secret))
    return client


def order(folder: Path) -> None:
    """Ada places, draws, splits, merges, undoes and finishes; Bea disagrees with her, finishes and goes on."""
    with order_page(folder) as (_, page):
        ada, bea = client_of(page.page), client_of(page.page)
        act(ada, "Ada", ONE, *ORDERED, {"kind": "done", "anyway": True})
        act(ada, "Ada", TWO, {"kind": "place", "region": 1, "at": 1, "tie": False})
        act(ada, "Ada", TWO, *EDITED, first=2)
        act(bea, "Bea", ONE, *reversed(ORDERED[:2]), {"kind": "relate", "a": 3, "b": 1, "relation": "front"})
        act(bea, "Bea", ONE, {"kind": "done", "anyway": True}, {"kind": "undo"}, first=4)
        decide(page, ONE)


ORDERED: tuple[dict[str, Any], ...] = (
    {"kind": "place", "region": 2, "at": 1, "tie": False},
    {"kind": "place", "region": 0, "at": 2, "tie": False},
    {"kind": "relate", "a": 1, "b": 3, "relation": "front"},
    {"kind": "undo"},
    {"kind": "redo"},
    {"kind": "relate", "a": 0, "b": 1, "relation": "same"},
)
EDITED: tuple[dict[str, Any], ...] = (
    {"kind": "split", "region": 0, "line": [0, 12, 59, 12]},
    {"kind": "merge", "a": 0, "b": 4},
    {"kind": "undo"},
    {"kind": "relate", "a": 4, "b": 2, "relation": "front"},
)


def act(client: TestClient, name: str, item: str, *actions: dict[str, Any], first: int = 1) -> None:
    ok(client.post("/people", json={"name": name}))
    for sequence, action in enumerate(actions, first):
        ok(client.post(f"/items/{item}/actions", json={"tab": f"tab-{name}-x", "sequence": sequence, "action": action}))


def choose(folder: Path) -> None:
    """Two people are invited; one answers all, the other agrees and answers a little."""
    with choose_page(folder) as (_, page):
        client = client_of(page.page)
        for number, token in enumerate(page.ensure_invitations(2)):
            link = f"/take/{token}"
            ok(client.post(f"{link}/consent", json={"agreed": True}))
            ok(client.post(f"{link}/about", json={"answers": ["normal"]}))
            for step in range(100 if number == 0 else 2):
                question = ok(client.get(f"{link}/next")).json()["question"]
                if question is None:
                    break
                answer = {"position": question["position"], "side": ("left", "right")[step % 2], "away": step == 3}
                ok(client.post(f"{link}/answer", json={**answer, "seconds": 0.25 + step}))


def read_label(folder: Path, out: str = "label-out") -> dict[str, Any]:
    """All that a label page says and has written; what it has to write, it writes first."""
    with label_page(folder, out) as (state, page):
        assert page.write_missing() == []
        found: dict[str, Any] = {"overview": overview(page, ONE), "people": links(state)}
        for one in people.People(state, "any").everybody():
            client = client_of(page.page)
            ok(client.get(f"/me/{one.key}"))
            found[one.name] = {item: ok(client.get(f"/image/{item}/log")).json() for item in (ONE, TWO)}
            found[one.name]["list"] = [word in client.get("/").text for word in ("● done", "◐ started", "blurred")]
    edges = {path: read_edges(folder / out / path) for path in files(folder / out, "png")}
    found["edges"] = {path: zlib.crc32(one.tobytes()) for path, one in edges.items()}
    return found | {"facts": facts(folder / out)}


def read_order(folder: Path, out: str = "order-out") -> dict[str, Any]:
    """All that an order page says and has written."""
    with order_page(folder, out) as (state, page):
        assert page.write_missing() == []
        found: dict[str, Any] = {"overview": overview(page, ONE), "people": links(state)}
        for one in people.People(state, "any").everybody():
            client = client_of(page.page)
            ok(client.get(f"/me/{one.key}"))
            found[one.name] = {item: ok(client.get(f"/items/{item}/sheet")).json() for item in (ONE, TWO)}
    arrays = {path: np.load(folder / out / path) for path in files(folder / out, "npy")}
    found["arrays"] = {path: zlib.crc32(one.tobytes()) for path, one in arrays.items()}
    return found | {"facts": facts(folder / out)}


def read_choose(folder: Path) -> dict[str, Any]:
    """All that a choose page tells the experimenter and participants."""
    with choose_page(folder) as (state, page):
        client = client_of(page.page)
        found: dict[str, Any] = {"results": ok(client.get("/results")).json()}
        for name in ("answers", "everything", "data", "codebook"):
            found[name] = list(csv.reader(ok(client.get(f"/{name}.csv")).text.splitlines()))
        tokens = state.read_now(plan.tokens)
        return found | {"next": {token: ok(client.get(f"/take/{token}/next")).json() for token in tokens}}


def overview(page: Any, item: str) -> dict[str, Any]:
    """Everyone's work as the overview sees it, and the decision."""
    client = organiser(page)
    versions = page._state.read_now(page.overview._work.versions)
    return {"versions": [vars(one) for one in versions], "sides": ok(client.get(f"/overview/{item}/sides")).json()}


def links(state: State) -> list[list[str]]:
    return [[one.name, one.key] for one in people.People(state, "any").everybody()]


def files(out: Path, suffix: str) -> list[str]:
    return sorted(path.relative_to(out).as_posix() for path in out.rglob(f"*.{suffix}"))


def facts(out: Path) -> dict[str, Any]:
    """The provenance, but for the version that wrote it."""
    found = {path: json.loads((out / path).read_bytes()) for path in files(out, "json")}
    return {path: {k: v for k, v in one.items() if k not in ("made_by", "hyperacuity")} for path, one in found.items()}


READERS = {"label": read_label, "order": read_order, "choose": read_choose}


def dump(path: Path) -> str:
    """A state file as SQL."""
    with closing(sqlite3.connect(path)) as file:
        marks = [f"PRAGMA {name} = {file.execute(f'PRAGMA {name}').fetchone()[0]};" for name in MARKS]
        return "\n".join([*marks, *file.iterdump()]) + "\n"


MARKS = ("application_id", "user_version")


def main(folder: Path, earlier: Path) -> None:
    """Act, then store the state files and all that is read of them."""
    build(folder)
    for act_all in (label, order, choose):
        act_all(folder)
    for name, read in READERS.items():
        found = json.loads(json.dumps(read(folder)))
        (earlier / f"{name}.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        (earlier / f"{name}.sql").write_text(dump(folder / f"{name}.sqlite"), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(__file__).parent / "earlier")
