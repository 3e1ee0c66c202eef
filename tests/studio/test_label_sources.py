"""Candidates from several sources: the gradient, the network, maps of one's own; and where every accepted pixel comes from."""

from __future__ import annotations

import json
import sys
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.responses import HTMLResponse
from starlette.routing import Route
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import read_edges, read_image, write_png
from hyperacuity.data.scenes import make_scene
from hyperacuity.detect.net import network
from hyperacuity.errors import UsageError
from hyperacuity.kernels.thinning import thin
from hyperacuity.studio import actions, people
from hyperacuity.studio.items import item_id, items_of
from hyperacuity.studio.label.map import TOP, Action, EdgeCandidates, find_candidates, replay_sources
from hyperacuity.studio.label.page import LabelPage
from hyperacuity.studio.label.sources import NET_START, CandidateSource, gradient_source, net_source, sources_of
from hyperacuity.studio.state import State
from hyperacuity.studio.web import Page

WIDTH, HEIGHT = 96, 64
ONE, TWO = item_id("one"), item_id("two")


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    for seed, name in enumerate(("one", "two"), 1):
        write_png(folder / f"{name}.png", make_scene(seed, size=(WIDTH, HEIGHT), leaves=6).image)
    return folder


@pytest.fixture
def state(tmp_path):
    with State(tmp_path / "studio.sqlite", [people.SCHEMA, actions.SCHEMA]) as opened:
        yield opened


def columns(*at, start=100):
    """Candidates along columns, the first the strongest."""
    level = np.zeros((HEIGHT, WIDTH), np.uint16)
    for rank, column in enumerate(at, 1):
        level[:, column] = 1000 // rank
    return EdgeCandidates(level, level > 0, start)


STRIPES = CandidateSource("stripes-1", "stripes", "Stripes", {"detector": "stripes"}, lambda item: columns(10, 30, 50))


@pytest.fixture
def offer(photos, state, tmp_path):
    """``offer(source, …)``: the page with these sources, on the same file each time."""
    return lambda *sources: LabelPage(items_of(sorted(photos.iterdir())), state, tmp_path / "out", sources)


@pytest.fixture
def join(client_of, state, let_in):
    """``join(page)``: Ada at a page, for the first time or again."""

    def go(page):
        client = client_of(page)
        let_in(client, state, "Ada")
        return Annotator(client)

    return go


class Annotator:
    """Someone with a browser, less the browser."""

    def __init__(self, client):
        self.client = client
        self.number = self.log().get("entries", 0)

    def log(self):
        return self.client.get(f"/image/{ONE}/log").json()

    def send(self, kind, **more):
        entry = {"number": self.number + 1, "key": f"key-{self.number:06}", "kind": kind, "seconds": 1.0, **more}
        answer = self.client.post(f"/image/{ONE}/entries", json={"entries": [entry]})
        self.number += answer.status_code == 200
        return answer.status_code

    def done(self, edges):
        body = {"number": self.number + 1, "key": "key-of-done", "seconds": 0, "checksum": zlib.crc32(edges.tobytes())}
        body["anyway"] = True
        return self.client.post(f"/image/{ONE}/done", json=body)


class TestReplay:
    @settings(max_examples=60, deadline=None)
    @given(st.data())
    def test_pixel_by_pixel_it_is_what_the_rules_say(self, data):
        """Against the rules carried out for one pixel at a time."""
        rng = np.random.default_rng(data.draw(st.integers(0, 99)))
        sources = {name: rng.integers(0, 4, (3, 5)).astype(np.uint16) for name in "abc"}
        candidates = {name: EdgeCandidates(level, level > 0, 2) for name, level in sources.items()}
        kinds = st.sampled_from(["add", "path", "keep", "erase", "chain", "lasso", "threshold", "source"])
        actions = []
        for kind in data.draw(st.lists(kinds, max_size=12)):
            if kind == "threshold":
                actions.append(Action(kind, threshold=data.draw(st.integers(1, 4))))
            elif kind == "source":
                actions.append(Action(kind, sources=(data.draw(st.sampled_from("abc")),)))
            else:
                start = data.draw(st.integers(0, 14))
                actions.append(Action(kind, (start, data.draw(st.integers(1, 15 - start)))))
        found = replay_sources(candidates, actions)
        counts = dict.fromkeys(["a", "b", "c", "drawn"], 0)
        for pixel in range(15):
            source, threshold, word = "a", dict.fromkeys("abc", 2), None
            for action in actions:
                here = action.runs and action.runs[0] <= pixel < sum(action.runs)
                if action.kind == "threshold":
                    threshold[source] = action.threshold
                elif action.kind == "source":
                    (source,) = action.sources
                elif here and action.kind in ("erase", "chain", "lasso"):
                    word = "none"
                elif here and action.kind in ("add", "path"):
                    word = "drawn"
                elif here and action.kind == "keep" and word in (None, "none"):
                    level = sources[source].flat[pixel]
                    word = source if word is None and level and level >= threshold[source] else "drawn"
            level = sources[source].flat[pixel]
            where = (source if level and level >= threshold[source] else "none") if word is None else word
            assert found.edges.flat[pixel] == (where != "none")
            if where != "none":
                counts[where] += 1
        assert found.accepted(found.edges) == counts

    def test_each_source_has_a_threshold_of_its_own_and_what_was_drawn_stays(self):
        candidates = {"a": columns(10, 30), "b": columns(20, 40)}
        actions = [Action("threshold", threshold=600), Action("add", (5, 1)), Action("source", sources=("b",))]
        found = replay_sources(candidates, actions)
        assert np.flatnonzero(found.edges[0]).tolist() == [5, 20, 40]
        back = replay_sources(candidates, [*actions, Action("source", sources=("a",))])
        assert np.flatnonzero(back.edges[0]).tolist() == [5, 10]


class TestNetwork:
    @pytest.fixture(autouse=True)
    def onnxruntime(self):
        pytest.importorskip("onnxruntime", reason='needs the network: pip install ".[see]"')

    def test_candidates_are_the_suppressed_boundaries_with_their_own_strength(self, photos):
        item = items_of([photos / "one.png"])[ONE]
        found = net_source(moved=False).find(item)
        seen = network.net(read_image(item.path), setting="best")
        assert np.array_equal(found.survives, (seen.thin > 0) & (seen.strength > 0))
        assert np.abs(found.level / TOP - seen.strength)[found.survives].max() <= 0.5 / TOP + 1e-7
        assert found.start == round(NET_START * TOP)
        assert found.above(found.start).any()

    def test_its_id_changes_with_the_network(self, monkeypatch):
        before = net_source().id
        monkeypatch.setattr("hyperacuity.studio.label.sources.card", lambda: {"sha256": "f" * 64})
        assert net_source().id not in (before, "net")

    def test_labels_made_with_it_can_be_continued_without_offering_it(self, offer, join):
        net = net_source()
        ada = join(offer(gradient_source(), net).page)
        for kind, sources in (("offer", ["gradient", net.id]), ("source", [net.id])):
            assert ada.send(kind, sources=sources) == 200
        again = join(offer().page)
        assert again.log()["sources"] == [{"id": "gradient", "title": "Gradient"}, {"id": net.id, "title": "Network"}]
        assert again.client.get(f"/image/{ONE}/candidates/{net.id}").status_code == 200

    def test_without_onnxruntime_it_says_what_to_install(self, photos, tmp_path, monkeypatch):
        network._session.cache_clear()
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
        call = ["studio", "label", str(photos), "--out", str(tmp_path / "out"), "--no-browser"]
        done = CliRunner().invoke(app, [*call, "--candidates", "net"])
        assert done.exit_code == 2
        assert "needs onnxruntime: pip install" in done.stderr
        assert not (tmp_path / "out").exists()
        monkeypatch.setattr("hyperacuity.studio.server.serve", lambda page, **more: None)
        assert CliRunner().invoke(app, call).exit_code == 0, "the gradient needs none of it"


class TestMaps:
    def test_a_folder_of_soft_maps_is_a_source(self, photos, tmp_path, offer, join):
        folder = tmp_path / "mine"
        folder.mkdir()
        soft = np.zeros((HEIGHT, WIDTH), np.float32)
        soft[:, 20] = np.linspace(0.3, 0.9, HEIGHT)
        np.save(folder / "one.npy", soft)
        (source,) = sources_of([str(folder)])
        ada = join(offer(gradient_source(), source).page)
        assert [one["title"] for one in ada.log()["sources"]] == ["Gradient", "mine"]
        found = source.find(items_of([photos / "one.png"])[ONE])
        assert np.argwhere(found.survives)[:, 1].tolist() == [20] * int(found.survives.sum())
        assert found.survives.sum() >= HEIGHT - 2  # the outermost rows fade to nothing
        missing = ada.client.get(f"/image/{TWO}/candidates/{source.id}")
        assert (missing.status_code, missing.json()["error"]) == (422, "two: has no map in mine")
        np.save(folder / "two.npy", soft[1:])
        (source,) = sources_of([str(folder)])
        ada = join(offer(source).page)
        wrong = ada.client.get(f"/image/{TWO}/candidates/{source.id}")
        assert wrong.status_code == 422
        assert "the map in mine" in wrong.json()["error"]
        assert str(tmp_path) not in wrong.json()["error"]

    def test_what_is_no_source_is_refused(self, tmp_path):
        with pytest.raises(UsageError, match="candidates='prewitt'`: expected gradient, a detector"):
            sources_of(["prewitt"])
        for folder in ("a/maps", "b/maps"):
            (tmp_path / folder).mkdir(parents=True)
            np.save(tmp_path / folder / "one.npy", np.zeros((2, 2)))
        with pytest.raises(UsageError, match="two folders are called maps"):
            sources_of([str(tmp_path / "a/maps"), str(tmp_path / "b/maps")])


class TestProvenance:
    def test_it_says_what_was_offered_and_where_the_edges_come_from(self, offer, photos, join, tmp_path):
        ada = join(offer(gradient_source(), STRIPES).page)
        assert [one["id"] for one in ada.log()["sources"]] == ["gradient", "stripes-1"]
        assert ada.log()["offered"] == []
        gradient = find_candidates(read_image(photos / "one.png"))
        shown = gradient.above(gradient.start)
        shown[:, :55] = shown[:, 68:] = False  # away from the stripes and from what is drawn
        row, column = np.argwhere(shown)[0].tolist()
        assert ada.send("offer", sources=["gradient", "stripes-1"]) == 200
        assert ada.send("keep", runs=[row * WIDTH + column, 1]) == 200
        assert ada.send("source", sources=["stripes-1"]) == 200
        assert ada.send("threshold", threshold=400) == 200
        assert ada.send("add", runs=[40 * WIDTH + 70, 5]) == 200
        assert ada.log()["state"] == "started"
        drawn = np.zeros((HEIGHT, WIDTH), bool)
        drawn[:, [10, 30]] = drawn[row, column] = drawn[40, 70:75] = True  # the third stripe is too weak
        done = ada.done(drawn)
        assert done.status_code == 200, done.text
        assert np.array_equal(read_edges(tmp_path / "out/edges/Ada/one.png"), thin(drawn))
        facts = json.loads((tmp_path / "out/provenance/Ada/one.json").read_text(encoding="utf-8"))
        told = facts["candidates"]
        assert (told["offered"], told["at_the_end"]) == (["gradient", "stripes"], "stripes")
        assert told["accepted"] == {"gradient": 1, "stripes": 2 * HEIGHT, "drawn": 5}
        assert sum(told["accepted"].values()) == facts["counts"]["edges"]
        assert told["settings"]["gradient"]["detector"] == "masks"
        assert facts["settings"] == {"detector": "stripes"}
        assert facts["actions"][1]["source"] == "stripes"
        assert done.json()["accepted"] == {"from the gradient": 1, "from Stripes": 2 * HEIGHT, "drawn": 5}

    def test_of_the_gradient_alone_it_says_so_too(self, offer, photos, join, tmp_path):
        ada = join(offer().page)
        assert "sources" not in ada.log()
        gradient = find_candidates(read_image(photos / "one.png"))
        done = ada.done(gradient.above(gradient.start))
        assert "accepted" not in done.json()
        facts = json.loads((tmp_path / "out/provenance/Ada/one.json").read_text(encoding="utf-8"))
        assert facts["candidates"]["offered"] == ["gradient"]
        assert facts["candidates"]["accepted"] == {"gradient": facts["counts"]["edges"], "drawn": 0}

    def test_another_source_may_be_the_only_one_and_the_first(self, offer, join):
        ada = join(offer(STRIPES).page)
        assert ada.send("offer", sources=["stripes-1"]) == 200
        shown = np.zeros((HEIGHT, WIDTH), bool)
        shown[:, [10, 30, 50]] = True
        assert ada.done(shown).json()["accepted"] == {"from Stripes": 3 * HEIGHT, "drawn": 0}


class TestLog:
    def test_an_offer_is_no_step_to_undo(self, offer, join):
        ada = join(offer(gradient_source(), STRIPES).page)
        ada.send("offer", sources=["gradient", "stripes-1"])
        assert ada.send("undo") == 409
        ada.send("source", sources=["stripes-1"])
        assert ada.send("undo") == 200
        log = ada.log()
        assert (log["actions"], log["undone"][0]["sources"]) == ([], ["stripes-1"])
        assert log["offered"] == ["gradient", "stripes-1"]

    def test_labels_begun_with_the_gradient_can_go_on_with_more(self, offer, join):
        join(offer().page).send("add", runs=[5, 1])
        log = join(offer(STRIPES).page).log()
        assert [one["id"] for one in log["sources"]] == ["gradient", "stripes-1"]
        assert log["offered"] == ["gradient"]

    def test_labels_of_candidates_that_are_not_at_hand_are_refused_by_name(self, offer, join):
        ada = join(offer(STRIPES).page)
        ada.send("offer", sources=["stripes-1"])
        refused = join(offer().page).client.get(f"/image/{ONE}/log")
        assert refused.status_code == 409
        assert "candidates that this studio does not have (stripes-1)" in refused.json()["error"]

    @pytest.mark.parametrize("sources", [None, [], ["nowhere"], [3], ["gradient", "gradient"], "gradient", [["a"]]])
    @pytest.mark.parametrize("kind", ["source", "offer"])
    def test_what_is_no_source_is_refused(self, offer, join, kind, sources):
        ada = join(offer(STRIPES).page)
        assert ada.send(kind, sources=sources) == 400
        assert ada.client.get(f"/image/{ONE}/candidates/nowhere").status_code == 404


class Slow:
    """A source that takes as long as the test wants."""

    def __init__(self):
        self.go, self.calls = threading.Event(), 0

    def source(self):
        def find(item):
            self.calls += 1
            assert self.go.wait(60)
            return columns(10, 30)

        return replace(STRIPES, find=find)


@pytest.fixture
def slow():
    made = Slow()
    yield made
    made.go.set()


def test_while_a_network_looks_the_server_answers_everyone_else(offer, live, slow):
    httpx = pytest.importorskip("httpx", reason="needs the package httpx")
    address = live(offer(gradient_source(), slow.source()).page)
    path = f"/image/{ONE}/candidates/stripes-1"
    with httpx.Client(base_url=address.base, timeout=30) as client, ThreadPoolExecutor(40) as pool:
        client.post("/people", json={"name": "Ada"})
        waiting = [pool.submit(httpx.get, f"{address.base}{path}", timeout=60) for _ in range(40)]
        for asked in ("", "/photo", "/thumb", "/log", "/gradient"):
            assert client.get(f"/image/{ONE}{asked}").status_code == 200
        assert not any(one.done() for one in waiting)
        slow.go.set()
        assert {one.result().status_code for one in waiting} == {200}
    assert slow.calls <= 2, "once for each image, the next one ahead of time"


@pytest.mark.browser
class TestPage:
    @pytest.fixture
    def sit_down(self, live, visit):
        def go(page, **options):
            tab = visit(f"{live(page).base}/image/{ONE}", **{"width": 1100, "height": 750} | options)
            tab.fill("#name", "Ada")
            tab.keyboard.press("Enter")
            tab.wait_for_selector("#stage[data-ready]")
            return tab

        return go

    @staticmethod
    def at(tab, row, column):
        box = tab.locator("#stage").bounding_box()
        scale = min(box["width"] / WIDTH, box["height"] / HEIGHT) * 0.97
        left, top = box["x"] + (box["width"] - scale * WIDTH) / 2, box["y"] + (box["height"] - scale * HEIGHT) / 2
        return left + (column + 0.5) * scale, top + (row + 0.5) * scale

    def test_the_gradient_alone_offers_no_choice(self, offer, sit_down):
        tab = sit_down(offer().page)
        assert tab.locator("#source").is_hidden()
        assert tab.locator("[data-tool=keep].tool").is_hidden()
        tab.keyboard.press("s")
        assert tab.locator("#saved").text_content() == "All saved"

    def test_the_page_says_what_it_waits_for(self, offer, live, visit, slow):
        tab = visit(f"{live(offer(slow.source()).page).base}/image/{ONE}")
        tab.fill("#name", "Ada")
        tab.keyboard.press("Enter")
        tab.wait_for_selector("#source-busy:visible")
        assert tab.inner_text("#where") == "Finding candidates, which takes a few seconds …"
        slow.go.set()
        tab.wait_for_selector("#stage[data-ready]")
        assert tab.locator("#source").is_hidden()
        tab.wait_for_selector(f'#count-kept:text-is("{2 * HEIGHT}")')
        tab.keyboard.press("d")
        tab.click("#finish-anyway")
        tab.wait_for_selector("#finished[open]")
        assert "128 from Stripes, 0 drawn" in tab.inner_text("#finished-sources")

    def test_one_works_with_the_gradient_while_the_other_source_looks(self, offer, sit_down, slow, serious):
        tab = sit_down(offer(gradient_source(), slow.source()).page)
        assert tab.locator("#source-busy").is_visible()
        assert "Finding candidates (Stripes) …" in tab.inner_text("#source-note")
        assert tab.get_by_role("button", name="Stripes").is_disabled()
        assert serious(tab) == []
        tab.keyboard.press("a")
        tab.mouse.click(*self.at(tab, 5, 5))
        slow.go.set()
        tab.wait_for_selector("[data-source=stripes-1]:not([disabled])")
        assert tab.locator("#source-busy").is_hidden()
        tab.get_by_role("button", name="Stripes").click()
        assert tab.get_by_role("button", name="Stripes").first.get_attribute("aria-pressed") == "true"
        tab.wait_for_selector(f'#count-kept:text-is("{2 * HEIGHT}")')

    def test_kept_switched_and_done_the_files_say_where_edges_come_from(self, offer, sit_down, tmp_path, serious):
        other = replace(STRIPES, id="more-1", name="more", title="More", find=lambda item: columns(60, 80))
        tab = sit_down(offer(STRIPES, other).page)
        tab.wait_for_selector("[data-source=more-1]:not([disabled])")
        tab.keyboard.press("k")
        tab.mouse.click(*self.at(tab, 20, 30))
        tab.keyboard.press("s")
        tab.wait_for_selector("[data-source=more-1][aria-pressed=true]")
        tab.keyboard.press("a")
        tab.mouse.click(*self.at(tab, 20, 70))
        tab.wait_for_selector(f'#count-kept:text-is("{3 * HEIGHT}")')
        assert "more" in tab.inner_text("#where")
        assert serious(tab) == []
        tab.keyboard.press("?")
        assert "Candidates from the next source" in tab.inner_text("#help")
        tab.keyboard.press("Escape")
        tab.reload()
        tab.wait_for_selector("#stage[data-ready]")
        assert tab.get_by_role("button", name="More").first.get_attribute("aria-pressed") == "true"
        tab.keyboard.press("z")
        tab.keyboard.press("z")
        tab.wait_for_selector(f'#count-kept:text-is("{3 * HEIGHT}")')
        assert "stripes" in tab.inner_text("#where"), "both are undone, the source too"
        tab.keyboard.press("Shift+Z")
        tab.keyboard.press("Shift+Z")
        tab.keyboard.press("d")
        tab.wait_for_selector("#finished[open]")
        assert "64 from Stripes, 128 from More, 1 drawn" in tab.inner_text("#finished-sources")
        told = json.loads((tmp_path / "out/provenance/Ada/one.json").read_text(encoding="utf-8"))["candidates"]
        assert told["accepted"] == {"stripes": HEIGHT, "more": 2 * HEIGHT, "drawn": 1}
        edges = read_edges(tmp_path / "out/edges/Ada/one.png")
        assert np.flatnonzero(edges[20]).tolist() == [30, 60, 70, 80]

    def test_a_source_that_fails_says_why_and_the_other_goes_on(self, offer, sit_down, tmp_path):
        (tmp_path / "maps").mkdir()
        np.save(tmp_path / "maps/other.npy", np.zeros((4, 4)))
        tab = sit_down(offer(gradient_source(), *sources_of([str(tmp_path / "maps")])).page, expected=("422",))
        tab.get_by_text("one: has no map in maps").wait_for()
        assert tab.locator("#source-busy").is_hidden()
        tab.keyboard.press("s")
        assert "one: has no map in maps" in tab.inner_text("#said")

    def test_a_narrow_window_has_room_for_it(self, offer, sit_down, serious):
        tab = sit_down(offer(gradient_source(), STRIPES).page, width=390, height=844, has_touch=True)
        tab.wait_for_selector("[data-source=stripes-1]:not([disabled])")
        tab.get_by_role("button", name="Stripes").tap()
        tab.wait_for_selector(f'#count-kept:text-is("{3 * HEIGHT}")')
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert serious(tab) == []

    def test_both_sides_replay_to_the_same_map(self, live, visit):
        async def nothing(request):
            return HTMLResponse('<!doctype html><link rel="icon" href="data:,">')

        tab = visit(live(Page("Empty", [Route("/", nothing)])).front)
        rng = np.random.default_rng(5)
        for _ in range(8):
            levels = {name: rng.integers(0, 9, (7, 9)).astype(np.uint16) for name in "ab"}
            actions = []
            for kind in rng.choice(["add", "keep", "erase", "threshold", "source"], 14):
                start = int(rng.integers(0, 50))
                runs = (start, 1 + int(rng.integers(0, 12))) if kind in ("add", "keep", "erase") else ()
                threshold = int(rng.integers(1, 9)) if kind == "threshold" else None
                sources = (str(rng.choice(["a", "b"])),) if kind == "source" else ()
                actions.append(Action(str(kind), runs, threshold, sources))
            sent = {"actions": [vars(one) for one in actions], "a": levels["a"].ravel().tolist()}
            crcs = tab.evaluate(
                """async (given) => {
                  const { EdgeMap } = await import("/static/label/map.js");
                  const planes = (all) => (
                    { level: Uint16Array.from(all), survives: Uint8Array.from(all, (v) => +(v > 0)), start: 4 });
                  const map = new EdgeMap({ width: 9, height: 7, source: "a", ...planes(given.a) });
                  map.offer("b", planes(given.b));
                  for (const action of given.actions) map.act(action);
                  const all = map.checksum();
                  for (let i = 0; i < 6; i++) map.undo();
                  const some = map.checksum();
                  for (let i = 0; i < 6; i++) map.redo();
                  return [all, some, map.checksum()];
                }""",
                sent | {"b": levels["b"].ravel().tolist()},
            )
            candidates = {name: EdgeCandidates(level, level > 0, 4) for name, level in levels.items()}
            full, part = (replay_sources(candidates, some).edges for some in (actions, actions[:-6]))
            assert crcs == [zlib.crc32(one.tobytes()) for one in (full, part, full)]
