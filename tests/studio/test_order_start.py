"""Starting from the network's order: what is suggested, what a person made of it, and that nothing becomes theirs by itself."""

from __future__ import annotations

import csv
import json
import sys
import threading
from contextlib import ExitStack
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import read_order
from hyperacuity.data.scenes import make_scene
from hyperacuity.detect.net import network
from hyperacuity.detect.net.sight import LEVEL
from hyperacuity.ordering.orderings import consecutive
from hyperacuity.studio import actions, people
from hyperacuity.studio.items import item_id
from hyperacuity.studio.order import regions as order_regions
from hyperacuity.studio.order.history import Snapshot
from hyperacuity.studio.order.page import OrderPage
from hyperacuity.studio.order.regions import find_inputs, load_image, regions_at, seen_order
from hyperacuity.studio.order.relations import Statements, arrange
from hyperacuity.studio.order.suggestions import answers, open_suggestions, preview
from hyperacuity.studio.state import State

DONE = {"kind": "done", "anyway": True}


def relate(a, b, relation="front"):
    return {"kind": "relate", "a": a, "b": b, "relation": relation}


def place(region, at):
    return {"kind": "place", "region": region, "at": at, "tie": False}


@pytest.fixture
def seen(monkeypatch, squares):
    """The network sees the squares: 3 in front of 2 in front of 1, and 0 behind all; of 0 and 1 it is least sure."""
    depth = np.array([0, 0.1, 1, 3], np.float32)[squares]
    monkeypatch.setattr(order_regions, "seen_order", lambda pixels: (None, depth))


@pytest.fixture
def start(world, client_of, orderer, seen, let_in):
    """``start(name)``: someone at the page that starts from the network's order, on a new server over the same file."""
    with ExitStack() as opened:

        def go(person="Ada"):
            state = opened.enter_context(State(world / "studio.sqlite", [actions.SCHEMA, people.SCHEMA]))
            client = client_of(
                OrderPage(find_inputs(world / "images", world / "labels", net=True), state, world / "out").page
            )
            let_in(client, state, person)
            return orderer(client)

        yield go


def provenance(world):
    return json.loads((world / "out/provenance/Ada/squares.json").read_text())


class TestSuggestions:
    def test_neighbours_are_suggested_the_longest_boundary_first(self, start):
        told = start().sheet()["suggestion"]
        assert told["waiting"] == [[1, 0], [2, 0], [3, 1], [3, 2]]  # boundaries of 16, 16, 16 and 8
        assert (told["total"], told["open"], told["kept"]) == (4, 4, 0)
        assert told["layer"] == [1, 2, 2, 3]

    def test_they_are_nobodys_until_confirmed(self, start, world):
        ada = start()
        sheet = ada.sheet()
        assert (sheet["layer"], sheet["pairs"], sheet["coverage"]["pairs"]) == ([None] * 4, [], 0)
        refused = ada.act(1, **DONE)
        assert refused.status_code == 422
        assert "no two regions are ordered yet" in refused.json()["error"]
        assert not (world / "out/order").exists()

    def test_what_contradicts_the_person_is_left_out(self, start):
        told = start().do(relate(0, 1), relate(1, 3))["suggestion"]
        assert told["waiting"] == [[3, 2]]
        assert (told["changed"], told["contradicted"], told["open"], told["total"]) == (2, 1, 1, 4)

    def test_what_follows_from_a_persons_list_is_answered(self, start):
        told = start().do(place(3, 1), place(2, 2), place(0, 3))["suggestion"]
        assert (told["kept"], told["waiting"]) == (2, [[1, 0], [3, 1]])

    def test_other_servers_know_nothing_of_suggestions(self, open_page):
        assert open_page().sheet()["suggestion"] is None

    @settings(max_examples=80, deadline=None)
    @given(st.data())
    def test_as_many_as_fit_are_open_and_none_closes_a_circle(self, data):
        count = data.draw(st.integers(2, 7))
        pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
        depth = data.draw(st.permutations(range(count)))
        chosen = data.draw(st.lists(st.sampled_from(pairs), unique=True))
        suggested = {(a, b): 1 if depth[a] > depth[b] else -1 for a, b in chosen}
        said = {
            pair: data.draw(st.sampled_from([-1, 0, 1]))
            for pair in data.draw(st.lists(st.sampled_from(pairs), max_size=4))
        }
        placed = data.draw(st.permutations(range(count)))[: data.draw(st.integers(0, 3))]
        positions = {region: position for position, region in enumerate(placed, 1)}
        dismissed = frozenset(data.draw(st.lists(st.sampled_from(pairs), max_size=2)))
        current = Snapshot(0, Statements(positions, said), dismissed=dismissed)
        found = arrange(current.statements, count)
        if found.tangled:
            return
        waiting = open_suggestions(suggested, current, found)

        def circle(more):
            """Whether anything is in front of itself, by networkx."""
            graph = nx.DiGraph()
            strict = []
            for (a, b), relation in [*said.items(), *more.items()]:
                near, far = (b, a) if relation < 0 else (a, b)
                graph.add_edge(near, far)
                if relation == 0:
                    graph.add_edge(far, near)
                else:
                    strict.append((near, far))
            listed = sorted(positions, key=positions.get)
            for near, far in pairwise(listed):
                graph.add_edge(near, far)
                strict.append((near, far))
            return any(nx.has_path(graph, far, near) for near, far in strict)

        assert not circle(waiting)
        assert not preview(current.statements, waiting, count).tangled
        for pair, relation in suggested.items():
            if pair not in waiting and pair not in dismissed and found.relation(*pair) is None:
                assert circle({**waiting, pair: relation})
        told = answers(suggested, current, found)
        assert told.kept + told.changed + told.dismissed + told.contradicted + told.open == told.total
        assert min(vars(told).values()) >= 0


class TestAnswers:
    def test_only_what_was_confirmed_is_written(self, start, world, squares):
        sheet = start().do(relate(3, 1), DONE)
        assert (sheet["written"], sheet["suggestion"]["open"]) == ("yes", 3)
        order = read_order(world / "out/order/Ada/squares.npy")
        assert np.isnan(order[np.isin(squares, (0, 2))]).all()
        told = provenance(world)["start"]
        assert (told["suggested"], told["kept"], told["kept_together"], told["open"]) == (4, 1, 0, 3)

    def test_the_files_say_what_became_of_every_suggestion(self, start, world):
        ada = start()
        ada.do(relate(3, 1), relate(0, 2), relate(0, 3, "same"), {"kind": "undo"})
        rest = ada.sheet()["suggestion"]["waiting"]
        assert rest == [[1, 0], [3, 2]]
        ada.do({"kind": "accept", "pairs": rest}, DONE)
        told = provenance(world)
        assert told["start"] == {
            "from": "net",
            "setting": "best",
            "network_sha256": network.card()["sha256"],
            "level": LEVEL,
            "suggested": 4,
            "kept": 3,
            "kept_together": 2,
            "changed": 1,
            "dismissed": 0,
            "added": 0,
            "contradicted": 0,
            "open": 0,
        }
        with (world / "out/pairs/Ada/squares.csv").open() as file:
            sources = {(row["a"], row["b"]): (row["relation"], row["source"]) for row in csv.DictReader(file)}
        assert sources == {
            ("1", "2"): ("b in front", "accepted"),
            ("1", "3"): ("a in front", "drawn"),
            ("2", "4"): ("b in front", "confirmed"),
            ("3", "4"): ("b in front", "accepted"),
        }

    def test_accepting_the_rest_is_one_step_that_is_kept_once_and_undone(self, start):
        ada = start()
        rest = ada.sheet()["suggestion"]["waiting"]
        first = ada.act(1, kind="accept", pairs=rest)
        assert (first.status_code, first.json()["suggestion"]["open"]) == (200, 0)
        assert ada.act(1, kind="accept", pairs=rest).json() == first.json()
        assert first.json()["layer"] == [1, 2, 2, 3]
        assert start().do({"kind": "undo"})["suggestion"]["open"] == 4

    def test_one_that_nobody_can_tell_is_asked_no_more(self, start):
        ada = start()
        told = ada.do({"kind": "dismiss", "a": 1, "b": 0})["suggestion"]
        assert (told["dismissed"], [1, 0] in told["waiting"]) == (1, False)
        assert ada.do(relate(0, 1))["suggestion"]["dismissed"] == 0, "it can still be said"
        assert ada.do({"kind": "undo"}, {"kind": "undo"})["suggestion"]["open"] == 4

    def test_what_was_accepted_can_be_changed(self, start, world):
        ada = start()
        told = ada.do({"kind": "accept", "pairs": [[3, 1], [3, 2]]}, relate(2, 3), DONE)["suggestion"]
        assert (told["kept"], told["together"], told["changed"]) == (1, 1, 1)

    @pytest.mark.parametrize("pairs", [[], [[0]], [[0, 4]], [[-1, 0]], [[0, 0]], [[0, True]], ["01"], None, [[0, 1.0]]])
    def test_what_is_no_pair_is_refused(self, start, pairs):
        ada = start()
        assert ada.act(1, kind="accept", pairs=pairs).status_code in (400, 422)
        assert ada.sheet()["version"] == 0


class TestNetwork:
    @pytest.fixture(autouse=True)
    def onnxruntime(self):
        pytest.importorskip("onnxruntime", reason='needs the network: pip install ".[see]"')

    @pytest.fixture
    def photos(self, tmp_path):
        folder = tmp_path / "photos"
        folder.mkdir()
        Image.fromarray(make_scene(3, size=(160, 120), leaves=8).image).save(folder / "leaves.png")
        return folder

    @pytest.mark.parametrize("level", [0.1, 0.3])
    def test_regions_and_order_are_the_networks(self, photos, level):
        inputs = find_inputs(photos, None, net=True, level=level)
        image = load_image(inputs, inputs.items[item_id("leaves")])
        tree, order = seen_order(image.pixels)
        regions = regions_at(image, image.first)
        assert np.array_equal(regions.labels, consecutive(tree.at(level)))
        for region in range(regions.count):
            assert regions.depths[region] == pytest.approx(np.median(order[regions.labels == region]))

    def test_a_large_photograph_is_seen_smaller(self, photos):
        pixels = np.asarray(Image.open(photos / "leaves.png"))
        tree, order = seen_order(pixels, max_pixels=5000)
        assert tree.labels.shape == order.shape == pixels.shape[:2]

    def test_without_onnxruntime_it_says_what_to_install(self, photos, tmp_path, monkeypatch):
        network._session.cache_clear()
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
        call = ["studio", "order", str(photos), "--out", str(tmp_path / "out"), "--no-browser", "--start", "net"]
        done = CliRunner().invoke(app, call)
        assert done.exit_code == 2
        assert "needs onnxruntime: pip install" in done.stderr

    @pytest.mark.parametrize("more", [[], ["--start", "net", "--segmentation", "."]])
    def test_a_level_is_for_the_networks_regions(self, photos, tmp_path, more):
        done = CliRunner().invoke(
            app, ["studio", "order", str(photos), "--out", str(tmp_path), "--level", "0.3", *more]
        )
        assert done.exit_code == 2
        assert "--level is for the regions of --start net, without --segmentation" in done.stderr

    def test_help_names_the_level_that_it_starts_with(self):
        wide = {"COLUMNS": "200", "TERMINAL_WIDTH": "200"}
        shown = CliRunner().invoke(app, ["studio", "order", "--help"], env=wide).output
        assert f"[default: ({LEVEL})]" in shown

    def test_the_command_starts_from_the_network(self, photos, tmp_path, monkeypatch):
        served = []
        monkeypatch.setattr("hyperacuity.studio.server.serve", lambda page, **more: served.append(page))
        call = ["studio", "order", str(photos), "--out", str(tmp_path / "out"), "--start", "net", "--level", "0.3"]
        result = CliRunner().invoke(app, call)
        assert result.exit_code == 0, result.output
        assert served[0].title == "Order regions by depth"


@pytest.mark.browser
class TestPage:
    @pytest.fixture
    def sit(self, world, live, visit, seen):
        with ExitStack() as opened:

            def go(**options):
                state = opened.enter_context(State(world / "studio.sqlite", [actions.SCHEMA, people.SCHEMA]))
                inputs = find_inputs(world / "images", world / "labels", net=True)
                address = live(OrderPage(inputs, state, world / "out").page)
                tab = visit(f"{address.base}/items/{item_id('squares')}", **options)
                tab.fill("#name", "Ada")
                tab.click("button:text-is('Start')")
                return tab

            yield go

    @staticmethod
    def ready(tab, version=0):
        tab.wait_for_selector(f'body[data-version="{version}"]')

    def test_keys_answer_one_question_after_another(self, sit, world, serious):
        tab = sit()
        self.ready(tab)
        assert tab.inner_text("#suggestion-head") == "Suggested by the network: check it"
        assert tab.inner_text("#suggestion-words") == "Is region 2 in front of region 1?"
        assert tab.inner_text("#suggestion-counts") == "4 of 4 open."
        assert tab.locator("#done").is_disabled()
        assert serious(tab) == []
        tab.keyboard.press("s")
        assert tab.inner_text("#suggestion-words") == "Is region 3 in front of region 1?"
        tab.keyboard.press("y")
        self.ready(tab, 1)
        assert "Region 3 is in front of region 1. Is region 4 in front of region 2?" in tab.inner_text("#said")
        tab.keyboard.press("w")
        self.ready(tab, 2)
        tab.keyboard.press("e")
        self.ready(tab, 3)
        assert tab.inner_text("#suggestion-head") == "Suggested by the network: checked", "the one skipped follows"
        assert tab.inner_text("#suggestion-counts") == "0 of 4 open; 2 kept, 2 changed."
        assert serious(tab) == []

    def test_buttons_will_do_and_the_rest_is_accepted_on_purpose(self, sit, world, serious):
        tab = sit()
        self.ready(tab)
        asked = set()
        for _ in range(4):
            asked.add(tab.inner_text("#suggestion-words"))
            tab.click("#answer-skip")
        assert len(asked) == 4
        assert tab.inner_text("#suggestion-words") == "Is region 2 in front of region 1?", "they come round again"
        tab.click("#answer-swap")
        self.ready(tab, 1)
        assert tab.inner_text("#written") == "writes only what you confirmed"
        tab.click("#answer-no")
        self.ready(tab, 2)
        tab.click("#done")
        tab.click("#finish-anyway")
        self.ready(tab, 3)
        assert provenance(world)["start"]["open"] == 2
        tab.click("text=Accept the rest (2)")
        self.ready(tab, 4)
        assert tab.locator("#accept-rest").is_hidden()
        assert "2 suggestions are accepted. No suggestion is open." in tab.inner_text("#said")
        tab.click("#done")
        self.ready(tab, 5)
        told = provenance(world)["start"]
        assert (told["kept_together"], told["changed"], told["dismissed"], told["open"]) == (2, 1, 1, 0)
        tab.click("#undo")
        self.ready(tab, 6)
        assert tab.locator("#accept-rest").is_visible()

    def test_a_narrow_window_has_room_for_it(self, sit, serious):
        tab = sit(width=390, height=844, has_touch=True)
        self.ready(tab)
        tab.tap("#answer-yes")
        self.ready(tab, 1)
        tab.tap("#answer-same")
        self.ready(tab, 2)
        assert "is at the same depth as" in tab.inner_text("#said")
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert serious(tab) == []
        tab.keyboard.press("?")
        assert "the suggestion is right" in tab.inner_text("#help")
        assert serious(tab) == []

    def test_the_page_says_that_the_network_is_looking(self, sit, monkeypatch, squares, serious):
        go = threading.Event()

        def slowly(pixels):
            assert go.wait(60)
            return None, squares.astype(np.float32)

        monkeypatch.setattr(order_regions, "seen_order", slowly)
        try:
            tab = sit()
            tab.wait_for_selector("#looking progress")
            assert "The network is looking at the photograph" in tab.inner_text("#looking")
            assert serious(tab) == []
        finally:
            go.set()
        self.ready(tab)
        assert tab.locator("#looking").count() == 0
