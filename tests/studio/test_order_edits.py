"""Regions merged and split by the person who orders them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from hyperacuity.data import read_labels, read_order
from hyperacuity.studio import actions, people
from hyperacuity.studio.items import item_id
from hyperacuity.studio.order.edits import RegionMerge, RegionSplit, edited, merged_number, merged_statements, parts_of
from hyperacuity.studio.order.page import OrderPage
from hyperacuity.studio.order.regions import find_inputs
from hyperacuity.studio.order.relations import Statements
from hyperacuity.studio.state import State

FINISH = {"kind": "done", "anyway": True}
MIDDLE = {"kind": "split", "region": 0, "line": [0, 8, 16, 8]}  # the first square, 16 by 16, in halves


def place(region, at):
    return {"kind": "place", "region": region, "at": at, "tie": False}


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 999),
    line=st.lists(st.integers(-5, 25), min_size=4, max_size=8).filter(lambda one: len(one) % 2 == 0),
)
def test_a_split_takes_pixels_of_one_region_only_and_numbers_stay_consecutive(seed, line):
    labels = ndimage.zoom(np.random.default_rng(seed).integers(0, 4, (5, 5)), 4, order=0)
    labels = np.unique(labels, return_inverse=True)[1].reshape(labels.shape).astype(np.int32)
    parts = parts_of(labels, 0, line)
    after = edited(labels, [RegionSplit(0, tuple(line))])
    assert np.array_equal(parts > 0, labels == 0)
    assert np.array_equal(after[labels != 0], labels[labels != 0])
    assert np.array_equal(np.unique(after), np.arange(labels.max() + parts.max()))
    sizes = np.bincount(parts[parts > 0])[1:]
    assert sizes[0] == sizes.max()


@given(a=st.integers(0, 5), b=st.integers(0, 5))
def test_a_merge_renames_regions_and_what_was_said_alike(a, b):
    labels = np.arange(6, dtype=np.int32).repeat(3)[None].repeat(2, 0)
    if a == b:
        return
    after = edited(labels, [RegionMerge(a, b)])
    assert [int(after[0, 3 * region]) for region in range(6)] == [
        merged_number(r, RegionMerge(a, b), 5) for r in range(6)
    ]
    assert np.array_equal(np.unique(after), np.arange(5))
    said = merged_statements(Statements(pairs={(0, 5): 1}), RegionMerge(a, b), 5)
    near, far = (merged_number(region, RegionMerge(a, b), 5) for region in (0, 5))
    expected = {} if near == far else {(min(near, far), max(near, far)): 1 if near < far else -1}
    assert said.pairs == expected


def test_merged_and_split_regions_are_ordered_written_and_undone(world, open_page, squares):
    client = open_page()
    told = client.do(place(0, 1), place(1, 2), {"kind": "merge", "a": 1, "b": 3})
    assert (told["edits"], len(told["layer"]), told["positions"]) == (1, 3, [[0, 1], [1, 2]])
    told = client.do(MIDDLE)
    assert len(told["layer"]) == 4
    facts = client.get(f"/regions/{told['shape']}").json()
    assert len(facts["areas"]) == 4
    assert sorted(facts["areas"]) == sorted([*facts["areas"][:1], 384, 128, 256 - facts["areas"][0]])
    told = client.do(place(3, 3), place(2, 4), {"kind": "done"})
    assert (told["written"], told["complete"]) == ("yes", True)
    labels = read_labels(world / "out/labels/Ada/squares.npy")
    assert np.array_equal(labels == 2, (squares == 1) | (squares == 3))
    assert set(np.unique(labels[squares == 0])) == {1, 4}
    order = read_order(world / "out/order/Ada/squares.npy")
    assert [float(order[labels == region][0]) for region in (1, 2, 4, 3)] == [4, 3, 2, 1]
    provenance = json.loads((world / "out/provenance/Ada/squares.json").read_text())
    assert provenance["edits"] == [{"merged": [2, 4]}, {"split": 1, "line": [0, 8, 16, 8]}]
    again = open_page()
    assert again.sheet()["shape"] == told["shape"], "it is replayed from the log"
    told = again.do(*[{"kind": "undo"}] * 4)
    assert (told["shape"], len(told["layer"])) == ("0", 4)


def test_what_cannot_be_merged_or_split_is_refused(open_page):
    client = open_page()
    for action, why in (
        ({"kind": "merge", "a": 0, "b": 3}, "only neighbours"),
        ({"kind": "merge", "a": 0, "b": 0}, "only neighbours"),
        ({"kind": "merge", "a": 0, "b": 9}, "no such region"),
        ({"kind": "split", "region": 0, "line": [2, 2, 6, 2]}, "does not divide"),
        ({"kind": "split", "region": 0, "line": [2, 2, 6]}, "line: "),
        ({"kind": "split", "region": 0, "line": [2, 2, 6, 10**9]}, "line: "),
        ({"kind": "split", "region": 0, "line": [2, 2, 6, "x"]}, "line: "),
    ):
        refused = client.act(1, **action)
        assert refused.status_code in (400, 422)
        assert why in refused.json()["error"]
    assert client.act(1, **MIDDLE).status_code == 200
    assert client.act(1, **MIDDLE).json()["version"] == 1, "sent twice, kept once"
    assert client.get("/regions/0.0123456789abcdef").status_code == 404


@pytest.mark.browser
def test_lines_drags_and_keys_change_regions(world, live, visit, serious):
    with State(world / "studio.sqlite", [actions.SCHEMA, people.SCHEMA]) as state:
        page = OrderPage(find_inputs(world / "images", world / "labels"), state, world / "out")
        tab = visit(f"{live(page.page).base}/items/{item_id('squares')}", width=1024, height=800)
        tab.fill("#name", "Ada")
        tab.click("button:text-is('Start')")
        tab.wait_for_selector('body[data-version="0"]')
        box = tab.locator("#stage").bounding_box()
        scale = min(box["width"] / 32, box["height"] / 24) * 0.985

        def at(x, y):
            return (
                box["x"] + (box["width"] - 32 * scale) / 2 + x * scale,
                box["y"] + (box["height"] - 24 * scale) / 2 + y * scale,
            )

        def drag(start, end):
            tab.mouse.move(*at(*start))
            tab.mouse.down()
            tab.mouse.move(*at(*end), steps=4)
            tab.mouse.up()

        tab.click("#tool-split")
        assert tab.inner_text("#hint").startswith("Draw a line through a region")
        drag((0.5, 8.5), (15.5, 8.5))
        tab.wait_for_selector('body[data-version="1"]')
        assert tab.inner_text("#share-regions") == "0 / 5"
        tab.click("#tool-merge")
        drag((24, 8), (24, 20))
        tab.wait_for_selector('body[data-version="2"]')
        assert tab.inner_text("#share-regions") == "0 / 4"
        tab.click("#tool-order")
        tab.locator("#stage").focus()
        for key in ("n", "n"):
            tab.keyboard.press(key)
        assert tab.inner_text("#spot").startswith("Region 2 ")
        for key in ("k", "ArrowRight", "ArrowLeft", "ArrowUp"):
            tab.keyboard.press(key)
        assert tab.inner_text("#hint").startswith("Split region 2 at 0°")
        assert serious(tab) == []
        tab.keyboard.press("Enter")
        tab.wait_for_selector('body[data-version="3"]')
        assert tab.inner_text("#share-regions") == "0 / 5"
        for key in ("n", "j"):
            tab.keyboard.press(key)
        assert tab.inner_text("#hint") == "Merge region 1 with …: go to a neighbour, then press Enter."
        for _ in range(3):  # to the one below, which was split off first; where the others end depends on the window
            tab.keyboard.press("n")
        assert tab.inner_text("#spot").startswith("Region 4 ")
        tab.keyboard.press("Enter")
        tab.wait_for_selector('body[data-version="4"]')
        assert tab.inner_text("#share-regions") == "0 / 4"
        for version in ("5", "6", "7", "8"):
            tab.keyboard.press("z")
            tab.wait_for_selector(f'body[data-version="{version}"]')
        assert tab.locator("#undo").is_disabled()
        assert tab.inner_text("#share-regions") == "0 / 4"
