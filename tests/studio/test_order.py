"""The page for ordering, asked without a browser: what it keeps, refuses and writes."""

from __future__ import annotations

import csv
import gzip
import json
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import read_labels, read_order
from hyperacuity.data.scenes import make_scene, write_scene
from hyperacuity.errors import UsageError
from hyperacuity.ordering import Sides, ordering
from hyperacuity.ordering.orderings import consecutive
from hyperacuity.studio import people
from hyperacuity.studio.items import item_id
from hyperacuity.studio.order.files import folder_name
from hyperacuity.studio.order.page import LAYOUT, Order
from hyperacuity.studio.order.regions import _anchors, find_material, load_picture, regions_at
from hyperacuity.studio.order.shelf import Shelf
from hyperacuity.studio.state import State

SQUARES = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3]], np.uint8).repeat(8, 0).repeat(8, 1)
"""Four rectangles: 0 beside 1, 2 below 0, 3 below 1."""

TAB = "a-tab-of-the-tests"


@pytest.fixture
def world(tmp_path):
    """A picture, its segmentation, and a folder to write to."""
    for folder in ("images", "labels", "out"):
        (tmp_path / folder).mkdir()
    Image.fromarray(SQUARES * 60).save(tmp_path / "images" / "squares.png")
    Image.fromarray(SQUARES).save(tmp_path / "labels" / "squares.png")
    return tmp_path


@pytest.fixture
def open_page(world, client_of):
    """``open_page(name)``: a client of someone of that name, on a new server over the same file."""
    states = []

    def start(person="Ada", *, hierarchy=False, **options):
        state = State(world / "studio.sqlite", [LAYOUT, people.LAYOUT])
        states.append(state)
        material = find_material(world / "images", None if hierarchy else world / "labels", **options)
        client = client_of(Order(material, state, world / "out").page)
        if person:
            client.post("/people", json={"name": person})
        return client

    yield start
    for state in states:
        state.close()


def act(client, sequence, name="squares", *, tab=TAB, **action):
    body = {"tab": tab, "sequence": sequence, "action": action}
    return client.post(f"/items/{item_id(name)}/actions", json=body)


def do(client, *actions):
    """Several actions from where the sheet stands; the last answer."""
    told = sheet_of(client)
    for action in actions:
        response = act(client, told["version"] + 1, **action)
        assert response.status_code == 200, response.text
        told = response.json()
    return told


def sheet_of(client, name="squares"):
    response = client.get(f"/items/{item_id(name)}/sheet")
    assert response.status_code == 200, response.text
    return response.json()


def place(region, at, tie=False):
    return {"kind": "place", "region": region, "at": at, "tie": tie}


def relate(a, b, relation="front"):
    return {"kind": "relate", "a": a, "b": b, "relation": relation}


class TestOrdering:
    def test_places_become_layers_and_the_nearest_is_the_highest(self, open_page):
        told = do(open_page(), place(2, 1), place(0, 2), place(1, 2, tie=True))
        assert told["layer"] == [1, 1, 2, None]
        assert told["coverage"] == {"regions": 3 / 4, "boundary": (16 + 16) / (16 + 16 + 16 + 8), "pairs": 3 / 6}

    def test_pairs_become_layers_and_what_follows_counts_as_known(self, open_page):
        told = do(open_page(), relate(0, 1), relate(1, 3))
        assert told["layer"] == [3, 2, None, 1]
        assert told["coverage"]["pairs"] == 3 / 6

    def test_separate_groups_are_told(self, open_page):
        assert do(open_page(), relate(0, 1), relate(2, 3))["groups"] == 2

    def test_a_contradiction_is_told_at_once_in_words(self, open_page):
        told = do(open_page(), place(0, 1), place(1, 2), relate(1, 0))
        assert told["tangled"] == [0, 1]
        assert told["contradiction"]["words"] == (
            "region 2 was drawn in front of region 1, but region 1 (place 1) is before region 2 (place 2)"
        )
        assert do(open_page(), {"kind": "undo"})["contradiction"] is None

    def test_undo_and_redo_without_end(self, open_page):
        client = open_page()
        assert do(client, *[relate(0, 1), relate(0, 1, "same")] * 50)["undo"] == 100
        told = do(client, *[{"kind": "undo"}] * 100)
        assert (told["undo"], told["redo"], told["pairs"]) == (0, 100, [])
        assert act(client, 201, kind="undo").status_code == 422
        told = do(open_page(), *[{"kind": "redo"}] * 99)
        assert told["pairs"] == [[0, 1, 1]]

    def test_something_new_takes_the_place_of_what_was_undone(self, open_page):
        told = do(open_page(), place(0, 1), {"kind": "undo"}, place(1, 1))
        assert (told["redo"], told["places"]) == (0, [[1, 1]])

    @pytest.mark.parametrize(
        "action",
        [place(4, 1), relate(0, 4), relate(1, 1), {"kind": "cut", "cut": 1, "anew": False}, {"kind": "redo"}],
    )
    def test_what_does_not_fit_is_refused(self, open_page, action):
        client = open_page()
        assert act(client, 1, **action).status_code == 422
        assert sheet_of(client)["version"] == 0

    def test_what_changes_nothing_leaves_no_step_to_undo(self, open_page):
        client = open_page()
        do(client, place(0, 1))
        told = do(client, place(0, 1, tie=True), {"kind": "take", "region": 3}, relate(1, 2, "none"))
        assert (told["version"], told["undo"]) == (1, 1)


class TestKeeping:
    def test_everything_is_there_after_a_restart(self, open_page):
        before = do(open_page(), place(2, 1), relate(0, 1), {"kind": "undo"})
        after = sheet_of(open_page())
        assert {name: after[name] for name in before} == before

    def test_an_action_sent_twice_counts_once(self, open_page):
        client = open_page()
        first = act(client, 1, **place(0, 1))
        again = act(client, 1, **place(0, 1))
        assert (again.status_code, again.json()) == (200, first.json())

    def test_another_tab_cannot_write_over_this_one(self, open_page):
        client, other = open_page(), open_page()
        assert act(client, 1, **place(0, 1)).status_code == 200
        for sequence, action in ((1, place(1, 1)), (1, place(0, 1)), (3, place(1, 2))):
            refused = act(other, sequence, tab="another-tab", **action)
            assert refused.status_code == 409
            assert "another tab" in refused.json()["error"]
        assert sheet_of(client)["places"] == [[0, 1]]
        assert act(other, 2, tab="another-tab", **place(1, 2)).status_code == 200
        assert act(client, 2, **place(3, 2)).status_code == 409

    def test_everyone_has_a_sheet_of_their_own(self, open_page):
        do(open_page("Ada"), place(0, 1))
        assert sheet_of(open_page("Bea"))["places"] == []

    def test_other_regions_than_before_are_refused(self, world, open_page):
        do(open_page(), place(0, 1))
        Image.fromarray(SQUARES.T.copy().T[::-1]).save(world / "labels" / "squares.png")
        refused = open_page().get(f"/items/{item_id('squares')}/sheet")
        assert refused.status_code == 409
        assert "squares: its regions are not those" in refused.json()["error"]

    def test_someone_without_a_name_can_do_nothing(self, open_page):
        client = open_page(None)
        assert "Who are you?" in client.get(f"/items/{item_id('squares')}").text
        assert act(client, 1, **place(0, 1)).status_code == 401


class TestCrowds:
    def test_of_many_tabs_at_once_one_wins(self, world, live):
        httpx = pytest.importorskip("httpx", reason="needs the package httpx")
        with State(world / "studio.sqlite", [LAYOUT, people.LAYOUT]) as state:
            address = live(Order(find_material(world / "images", world / "labels"), state, world / "out").page)
            with httpx.Client(base_url=address.base) as client:
                client.post("/people", json={"name": "Ada"})
                with ThreadPoolExecutor(8) as pool:
                    answers = list(
                        pool.map(lambda n: act(client, 1, tab=f"tab-number-{n}", **place(n % 4, 1)), range(8))
                    )
                assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7
                assert len(sheet_of(client)["places"]) == 1

    def test_what_many_ask_for_is_made_once(self):
        shelf, made = Shelf(), []

        def make():
            made.append(1)
            time.sleep(0.05)
            return "regions"

        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(lambda _: shelf.get("key", make, len), range(8))) == {"regions"}
        assert len(made) == 1

    def test_what_cannot_be_made_is_tried_again(self):
        shelf = Shelf()
        with pytest.raises(ZeroDivisionError):
            shelf.get("key", lambda: 1 // 0, abs)
        assert shelf.get("key", lambda: 3, abs) == 3


class TestFiles:
    def test_done_writes_an_order_and_owners_that_the_benchmark_reads(self, world, open_page):
        do(open_page(), relate(0, 1), relate(1, 3), relate(0, 2, "same"), {"kind": "done"})
        order = read_order(world / "out/order/Ada/squares.npy")
        assert np.array_equal(order, np.array([3, 2, 3, 1])[SQUARES])
        assert read_labels(world / "out/labels/Ada/squares.npy").tolist() == (SQUARES + 1).tolist()
        sides = ordering(read_order(world / "out/ownership/Ada/squares.npy"))
        assert isinstance(sides, Sides)
        assert (sides.sides[0, 15], sides.sides[0, 16]) == (1, -1)
        with (world / "out/pairs/Ada/squares.csv").open() as file:
            rows = list(csv.reader(file))
        assert rows == [
            ["a", "b", "relation", "boundary", "source"],
            ["1", "2", "a in front", "16", "drawn"],
            ["1", "3", "same", "16", "drawn"],
            ["2", "4", "a in front", "16", "drawn"],
            ["3", "4", "a in front", "8", "implied"],
        ]
        told = json.loads((world / "out/provenance/Ada/squares.json").read_text())
        assert told["annotator"] == "Ada"
        assert (told["regions"], told["ordered"], told["layers"], told["actions"]) == (4, 4, 3, 4)
        assert told["groups"] == [[1, 2, 3, 4]]
        assert told["segmentation"] == ["squares.png"]
        assert not list((world / "out").rglob("*.part"))

    def test_what_is_not_known_is_nan(self, world, open_page):
        do(open_page(), place(0, 1), place(1, 2), {"kind": "done"})
        order = read_order(world / "out/order/Ada/squares.npy")
        assert np.isnan(order[SQUARES >= 2]).all()
        assert (order[SQUARES == 0] > order[SQUARES == 1]).all()

    def test_a_contradiction_is_kept_but_not_written(self, world, open_page):
        client = open_page()
        do(client, relate(0, 1), relate(1, 3), relate(3, 0))
        refused = act(client, 4, kind="done")
        assert refused.status_code == 422
        assert "contradicts itself: region 1 was drawn in front of region 2" in refused.json()["error"]
        assert not list((world / "out").rglob("*squares*"))
        assert sheet_of(open_page())["contradiction"] is not None
        told = do(client, relate(3, 0, "none"), {"kind": "done"})
        assert told["written"] == "yes"
        assert do(client, place(2, 1))["written"] == "changed"
        assert read_order(world / "out/order/Ada/squares.npy")[0, 0] == 3

    def test_nothing_ordered_is_not_written(self, world, open_page):
        client = open_page()
        assert act(client, 1, kind="done").status_code == 422
        do(client, place(0, 1))
        assert act(client, 2, kind="done").status_code == 422

    def test_a_folder_that_cannot_be_written_is_told_and_nothing_is_called_done(self, world, open_page):
        client = open_page()
        do(client, relate(0, 1))
        shutil.rmtree(world / "out")
        (world / "out").write_text("in the way")
        refused = act(client, 2, kind="done")
        assert refused.status_code == 422
        assert "cannot be written" in refused.json()["error"]
        assert str(world) not in refused.text
        assert sheet_of(client)["written"] == "no"

    def test_ties_only_have_no_owner_and_take_earlier_owners_away(self, world, open_page):
        do(open_page(), relate(0, 1), {"kind": "done"}, relate(0, 1, "same"), {"kind": "done"})
        assert not (world / "out/ownership/Ada/squares.npy").exists()
        assert np.unique(read_order(world / "out/order/Ada/squares.npy")[SQUARES < 2]).tolist() == [1]

    def test_annotators_are_folders_whatever_they_are_called(self, world, open_page):
        names = ["Zoë", "../../etc", "a/b", "CON", ".", "é" * 80]
        for name in names:
            do(open_page(name), relate(0, 1), {"kind": "done"})
        folders = [path.name for path in (world / "out/order").iterdir()]
        assert len(folders) == len(set(map(folder_name, names))) == len(names)
        assert "Zoë" in folders

    def test_two_people_are_two_annotators_of_one_truth(self, world, open_page):
        for name, relation in (("Ada", "front"), ("Bea", "front")):
            do(open_page(name), relate(0, 1, relation), {"kind": "done"})
        result = CliRunner().invoke(
            app, ["ordering", f"{world}/out/order/Ada", f"{world}/out/order", "--human", "--json"]
        )
        assert result.exit_code == 0, result.output
        told = json.loads(result.stdout)
        assert told["systems"]["Ada"]["gdc"]["fmin"] == 1
        assert told["human"]["gdc"]["fmin"] == 1


class TestRegions:
    def test_the_page_is_told_what_the_segmentation_says(self, open_page):
        client = open_page()
        told = client.get(f"/items/{item_id('squares')}/regions/0").json()
        assert (told["width"], told["height"], told["areas"]) == (32, 24, [256, 256, 128, 128])
        assert told["pairs"] == [[0, 1, 16], [0, 2, 16], [1, 3, 16], [2, 3, 8]]
        assert [SQUARES[row, column] for row, column in told["anchors"]] == [0, 1, 2, 3]
        labels = client.get(f"/items/{item_id('squares')}/labels/0").content
        assert np.array_equal(np.frombuffer(labels, "<u2").reshape(24, 32), SQUARES)

    def test_void_pixels_are_in_no_region(self, world, open_page):
        (world / "labels" / "squares.png").unlink()
        np.save(world / "labels" / "squares.npy", np.where(SQUARES == 3, -1, SQUARES.astype(np.int32)))
        client = open_page()
        assert np.frombuffer(client.get(f"/items/{item_id('squares')}/labels/0").content, "<u2")[-1] == 65535
        do(client, relate(0, 1), {"kind": "done"})
        assert np.isnan(read_order(world / "out/order/Ada/squares.npy")[-1, -1])

    def test_without_segmentations_there_are_levels_to_choose(self, world, open_page):
        scene = make_scene(1, size=(96, 64), leaves=6, annotators=1)
        Image.fromarray(scene.image).save(world / "images" / "squares.png")
        client = open_page(hierarchy=True)
        sheet = sheet_of(client)
        levels, counts = zip(*sheet["cuts"], strict=True)
        assert list(levels) == sorted(levels, reverse=True)
        assert list(counts) == sorted(counts)
        assert counts[sheet["cut"]] <= 16
        for cut in (0, len(counts) - 1):
            told = client.get(f"/items/{item_id('squares')}/regions/{cut}").json()
            assert len(told["areas"]) == counts[cut]
        told = do(client, {"kind": "cut", "cut": 3, "anew": False}, relate(0, 1))
        refused = act(client, 3, kind="cut", cut=2, anew=False)
        assert refused.status_code == 422
        assert "begins anew" in refused.json()["error"]
        assert do(client, {"kind": "cut", "cut": 2, "anew": True})["pairs"] == []
        told = do(client, {"kind": "undo"}, {"kind": "done"})
        assert (told["cut"], told["pairs"]) == (3, [[0, 1, 1]])
        kept = json.loads((world / "out/provenance/Ada/squares.json").read_text())
        assert (kept["segmentation"], kept["level"]) == ("hierarchy", levels[3])
        picture = load_picture(find_material(world / "images", None), find_item(world))
        written = read_labels(world / "out/labels/Ada/squares.npy")
        assert np.array_equal(written - 1, regions_at(picture, 3).labels)

    def test_a_hierarchy_can_be_given_too(self, world, open_page):
        from hyperacuity.data import write_mat
        from hyperacuity.regions import hierarchy

        strength = np.zeros((24, 32))
        strength[:, 16], strength[16, :] = 0.8, 0.4
        (world / "labels" / "squares.png").unlink()
        write_mat(world / "labels" / "squares.mat", ucm2=hierarchy(strength).ucm2())
        assert sheet_of(open_page())["cuts"][0][1] == 2

    def test_a_picture_of_one_tone_is_one_region(self, world, open_page):
        Image.fromarray(np.full((40, 40), 90, np.uint8)).save(world / "images" / "squares.png")
        client = open_page(hierarchy=True)
        assert sheet_of(client)["cuts"] == [[1.0, 1]]
        assert do(client, place(0, 1))["coverage"] == {"regions": 1, "boundary": 1, "pairs": 1}


@given(
    labels=arrays(np.int32, st.tuples(st.integers(1, 12), st.integers(1, 12)), elements=st.integers(-1, 5)),
    most=st.sampled_from([4, 20, 1000]),
)
@settings(max_examples=80, deadline=None)
def test_the_anchor_of_a_region_lies_in_it(labels, most):
    labels = consecutive(labels)
    count = int(labels.max()) + 1
    if count:
        assert labels[tuple(_anchors(labels, count, most=most).T)].tolist() == list(range(count))


def find_item(world):
    return next(iter(find_material(world / "images", None).items.values()))


class TestBadFiles:
    def test_what_is_broken_fails_by_name_and_the_rest_goes_on(self, world, open_page):
        (world / "images" / "broken.png").write_bytes(b"no picture")
        shutil.copy(world / "labels" / "squares.png", world / "labels" / "broken.png")
        shutil.copy(world / "images" / "squares.png", world / "images" / "small.png")
        Image.fromarray(SQUARES[:5]).save(world / "labels" / "small.png")
        shutil.copy(world / "images" / "squares.png", world / "images" / "alone.png")
        client = open_page()
        text = client.get("/").text
        assert text.count("Cannot be used") == 3
        assert str(world) not in text
        assert "has no segmentation" in client.get(f"/items/{item_id('alone')}/sheet").json()["error"]
        refused = client.get(f"/items/{item_id('small')}/sheet")
        assert refused.status_code == 422
        assert "32×5" in refused.json()["error"]
        assert "32×24" in refused.json()["error"]
        assert str(world) not in refused.text
        assert sheet_of(client)["version"] == 0

    def test_an_image_that_breaks_later_is_named(self, world, open_page):
        client = open_page()
        (world / "images" / "squares.png").write_bytes(b"gone")
        refused = client.get(f"/items/{item_id('squares')}/sheet")
        assert refused.status_code == 422
        assert refused.json()["error"].startswith("squares: ")

    def test_too_many_regions_are_not_for_hands(self, world, open_page):
        (world / "labels" / "squares.png").unlink()
        np.save(world / "labels" / "squares.npy", np.arange(24 * 32 * 4).reshape(48, 64).astype(np.int32))
        Image.fromarray(np.zeros((48, 64), np.uint8)).save(world / "images" / "squares.png")
        with pytest.raises(UsageError, match="has 3072 regions, expected at most 1000"):
            open_page()

    def test_the_segmentation_that_is_asked_for_must_exist(self, world):
        with pytest.raises(UsageError, match="number 2 was asked for"):
            find_material(world / "images", world / "labels", annotator=2)

    def test_a_wrong_call_says_so(self, world):
        result = CliRunner().invoke(app, ["studio", "order", f"{world}/nowhere", "--out", f"{world}/out"])
        assert result.exit_code == 2
        assert "there is no folder" in result.stderr


def test_a_server_killed_in_the_middle_has_kept_every_answer(world):
    httpx = pytest.importorskip("httpx", reason="needs the package httpx")
    call = ["studio", "order", "images", "--segmentation", "labels", "--out", "out", "--no-browser"]

    def start():
        command = [sys.executable, "-c", "from hyperacuity.cli import main; main()", *call]
        process = subprocess.Popen(command, cwd=world, stderr=subprocess.PIPE, text=True)
        found = re.search(r"http://[0-9.:]+/", process.stderr.readline())
        assert found is not None
        return process, httpx.Client(base_url=found[0])

    acknowledged = 0
    for _ in range(2):
        process, client = start()
        try:
            assert client.post("/people", json={"name": "Ada"}).status_code == 200
            told = sheet_of(client)
            assert told["version"] == acknowledged
            do(client, *[relate(0, 1), relate(0, 1, "same")] * 5)
            acknowledged += 10
        finally:
            process.kill()
            process.wait()
            process.stderr.close()
            client.close()


words = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 9), st.floats(), st.text(max_size=6), st.lists(st.integers(), max_size=2)
)
actions = st.dictionaries(st.sampled_from(["region", "at", "tie", "a", "b", "relation", "cut", "anew"]), words).flatmap(
    lambda parts: st.sampled_from(["place", "take", "relate", "cut", "clear", "undo", "redo", "done", "no"]).map(
        lambda kind: {"kind": kind, **parts}
    )
)
sensible = st.one_of(
    st.builds(place, st.integers(0, 4), st.integers(1, 5), st.booleans()),
    st.builds(relate, st.integers(0, 4), st.integers(0, 4), st.sampled_from(["front", "same", "none"])),
    st.sampled_from([{"kind": kind} for kind in ("undo", "redo", "clear", "done")]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD"]),
    item=st.one_of(st.just(item_id("squares")), st.text(max_size=8)),
    rest=st.one_of(
        st.sampled_from(["", "/sheet", "/photograph", "/thumbnail", "/actions", "/regions/0", "/labels/0"]),
        st.builds("/{}/{}".format, st.sampled_from(["regions", "labels"]), st.text(max_size=8)),
    ),
    body=st.one_of(st.binary(max_size=40), st.builds(
        lambda *values: json.dumps(dict(zip(("tab", "sequence", "action"), values, strict=True))).encode(),
        st.one_of(st.just(TAB), words), st.one_of(st.integers(-1, 4), words), st.one_of(actions, sensible, words),
    )),
)  # fmt: skip
def test_no_request_breaks_the_server(shared_client, method, item, rest, body):
    path = quote(f"/items/{item}{rest}", errors="replace")
    response = shared_client.request(method, path, content=body, headers={"content-type": "application/json"})
    assert response.status_code < 500


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(sensible, max_size=12))
def test_whatever_is_done_the_sheet_stays_whole(shared_client, steps):
    told = sheet_of(shared_client)
    for step in steps:
        response = act(shared_client, told["version"] + 1, **step)
        assert response.status_code in (200, 422)
        if response.status_code == 200:
            told = response.json()
            assert (told["contradiction"] is None) == (told["tangled"] == [])
            known = {region for pair in told["pairs"] for region in pair[:2]} | {region for region, _ in told["places"]}
            assert {region for region, layer in enumerate(told["layer"]) if layer is not None} == known
            for near, far, relation in told["pairs"]:
                if not told["tangled"]:
                    assert (told["layer"][near] > told["layer"][far]) == (relation == 1)


@pytest.fixture
def shared_client(open_page):
    return open_page()


def test_labels_are_packed(open_page):
    response = open_page().get(f"/items/{item_id('squares')}/labels/0")
    assert response.headers["content-encoding"] == "gzip"
    assert len(gzip.compress(response.content, 1)) < 32 * 24


def test_a_scene_folder_can_be_ordered_as_it_is(tmp_path):
    write_scene(tmp_path, make_scene(3, size=(96, 64), leaves=6, annotators=2))
    for folder, number in (("labels", 1), ("groundTruth", 2)):
        material = find_material(tmp_path / "images", tmp_path / folder, annotator=number)
        assert (len(material.items), material.failed) == (1, {})
