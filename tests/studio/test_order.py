"""The page for ordering, asked without a browser: what it says, keeps and refuses."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from hyperacuity.studio import actions, people
from hyperacuity.studio.items import item_id
from hyperacuity.studio.order.page import OrderPage
from hyperacuity.studio.order.regions import find_inputs
from hyperacuity.studio.state import State


def place(region, at, tie=False):
    return {"kind": "place", "region": region, "at": at, "tie": tie}


def relate(a, b, relation="front"):
    return {"kind": "relate", "a": a, "b": b, "relation": relation}


class TestOrdering:
    def test_places_become_layers_and_the_nearest_is_the_highest(self, open_page):
        told = open_page().do(place(2, 1), place(0, 2), place(1, 2, tie=True))
        assert told["layer"] == [1, 1, 2, None]
        assert told["coverage"] == {"regions": 3 / 4, "boundary": (16 + 16) / (16 + 16 + 16 + 8), "pairs": 3 / 6}

    def test_pairs_become_layers_and_what_follows_counts_as_known(self, open_page):
        told = open_page().do(relate(0, 1), relate(1, 3))
        assert told["layer"] == [3, 2, None, 1]
        assert told["coverage"]["pairs"] == 3 / 6

    def test_separate_groups_are_told(self, open_page):
        assert open_page().do(relate(0, 1), relate(2, 3))["groups"] == 2

    def test_a_contradiction_is_told_at_once_in_words(self, open_page):
        told = open_page().do(place(0, 1), place(1, 2), relate(1, 0))
        assert told["tangled"] == [0, 1]
        assert told["contradiction"]["words"] == (
            "region 2 was drawn in front of region 1, but region 1 (position 1) is before region 2 (position 2)"
        )
        assert open_page().do({"kind": "undo"})["contradiction"] is None

    def test_undo_and_redo_without_end(self, open_page):
        client = open_page()
        assert client.do(*[relate(0, 1), relate(0, 1, "same")] * 50)["undo"] == 100
        told = client.do(*[{"kind": "undo"}] * 100)
        assert (told["undo"], told["redo"], told["pairs"]) == (0, 100, [])
        assert client.act(201, kind="undo").status_code == 422
        told = open_page().do(*[{"kind": "redo"}] * 99)
        assert told["pairs"] == [[0, 1, 1]]

    def test_something_new_takes_the_place_of_what_was_undone(self, open_page):
        told = open_page().do(place(0, 1), {"kind": "undo"}, place(1, 1))
        assert (told["redo"], told["positions"]) == (0, [[1, 1]])

    @pytest.mark.parametrize(
        "action",
        [place(4, 1), relate(0, 4), relate(1, 1), {"kind": "level", "level": 1, "start_over": False}, {"kind": "redo"}],
    )
    def test_what_does_not_fit_is_refused(self, open_page, action):
        client = open_page()
        assert client.act(1, **action).status_code == 422
        assert client.sheet()["version"] == 0

    def test_what_changes_nothing_leaves_no_step_to_undo(self, open_page):
        client = open_page()
        client.do(place(0, 1))
        told = client.do(place(0, 1, tie=True), {"kind": "remove", "region": 3}, relate(1, 2, "none"))
        assert (told["version"], told["undo"]) == (1, 1)


class TestKeeping:
    def test_everything_is_there_after_a_restart(self, open_page):
        before = open_page().do(place(2, 1), relate(0, 1), {"kind": "undo"})
        after = open_page().sheet()
        assert {name: after[name] for name in before} == before

    def test_an_action_sent_twice_counts_once(self, open_page):
        client = open_page()
        first = client.act(1, **place(0, 1))
        again = client.act(1, **place(0, 1))
        assert (again.status_code, again.json()) == (200, first.json())

    def test_another_tab_cannot_write_over_this_one(self, open_page):
        client, other = open_page(), open_page()
        assert client.act(1, **place(0, 1)).status_code == 200
        for sequence, action in ((1, place(1, 1)), (1, place(0, 1)), (3, place(1, 2))):
            refused = other.act(sequence, tab="another-tab", **action)
            assert refused.status_code == 409
            assert "another tab" in refused.json()["error"]
        assert client.sheet()["positions"] == [[0, 1]]
        assert other.act(2, tab="another-tab", **place(1, 2)).status_code == 200
        assert client.act(2, **place(3, 2)).status_code == 409

    def test_everyone_has_a_sheet_of_their_own(self, open_page):
        open_page("Ada").do(place(0, 1))
        assert open_page("Bea").sheet()["positions"] == []

    def test_other_regions_than_before_are_refused(self, world, open_page, squares):
        open_page().do(place(0, 1))
        Image.fromarray(squares[::-1].copy()).save(world / "labels" / "squares.png")
        refused = open_page().get("/sheet")
        assert refused.status_code == 409
        assert "squares: its regions are not those" in refused.json()["error"]

    def test_someone_without_a_name_can_do_nothing(self, open_page):
        client = open_page(None)
        assert "Who are you?" in client.get("").text
        assert client.act(1, **place(0, 1)).status_code == 401


def test_of_many_tabs_at_once_one_wins(world, live, orderer):
    httpx = pytest.importorskip("httpx", reason="needs the package httpx")
    with State(world / "studio.sqlite", [actions.SCHEMA, people.SCHEMA]) as state:
        address = live(OrderPage(find_inputs(world / "images", world / "labels"), state, world / "out").page)
        with httpx.Client(base_url=address.base) as connection:
            client = orderer(connection)
            connection.post("/people", json={"name": "Ada"})
            with ThreadPoolExecutor(8) as pool:
                answers = list(pool.map(lambda n: client.act(1, tab=f"tab-number-{n}", **place(n % 4, 1)), range(8)))
            assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7
            assert len(client.sheet()["positions"]) == 1


def test_a_server_killed_in_the_middle_has_kept_every_answer(world, orderer):
    httpx = pytest.importorskip("httpx", reason="needs the package httpx")
    call = ["studio", "order", "images", "--segmentation", "labels", "--out", "out", "--no-browser"]

    def start():
        command = [sys.executable, "-c", "from hyperacuity.cli import main; main()", *call]
        process = subprocess.Popen(command, cwd=world, stderr=subprocess.PIPE, text=True)
        found = re.search(r"(http://[0-9.:]+/)(\?token=\S+)", process.stderr.readline())
        assert found is not None
        client = httpx.Client(base_url=found[1])
        assert client.get("/").status_code == 403, "other users of the machine do not have the token"
        assert client.get(f"/{found[2]}").status_code == 200
        return process, client

    acknowledged, own_link = 0, None
    for _ in range(2):
        process, client = start()
        try:
            if own_link is None:
                assert client.post("/people", json={"name": "Ada"}).status_code == 200
                own_link = re.search(r'value="(http:[^"]+/me/[^"]+)"', client.get("/").text)[1]
            else:  # the same port and token as before: links that were kept stay good
                assert client.post("/people", json={"name": "Ada"}).status_code == 403
                assert client.get(own_link).status_code == 200
            ada = orderer(client)
            assert ada.sheet()["version"] == acknowledged
            ada.do(*[relate(0, 1), relate(0, 1, "same")] * 5)
            acknowledged += 10
        finally:
            process.kill()
            process.wait()
            process.stderr.close()
            client.close()


words = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 9), st.floats(), st.text(max_size=6), st.lists(st.integers(), max_size=2)
)
anything = st.dictionaries(
    st.sampled_from(["region", "at", "tie", "a", "b", "relation", "level", "start_over"]), words
).flatmap(
    lambda parts: st.sampled_from(["place", "remove", "relate", "level", "clear", "undo", "redo", "done", "no"]).map(
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
        st.one_of(st.just("one-of-many-tabs"), words), st.one_of(st.integers(-1, 4), words), st.one_of(anything, sensible, words),
    )),
)  # fmt: skip
def test_no_request_breaks_the_server(shared_client, method, item, rest, body):
    path = quote(f"/items/{item}{rest}", errors="replace")
    response = shared_client.client.request(method, path, content=body, headers={"content-type": "application/json"})
    assert response.status_code < 500


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(sensible, max_size=12))
def test_whatever_is_done_the_sheet_stays_whole(shared_client, steps):
    told = shared_client.sheet()
    for step in steps:
        response = shared_client.act(told["version"] + 1, **step)
        assert response.status_code in (200, 422)
        if response.status_code == 200:
            told = response.json()
            assert (told["contradiction"] is None) == (told["tangled"] == [])
            known = {region for pair in told["pairs"] for region in pair[:2]} | {
                region for region, _ in told["positions"]
            }
            assert {region for region, layer in enumerate(told["layer"]) if layer is not None} == known
            for near, far, relation in told["pairs"]:
                if not told["tangled"]:
                    assert (told["layer"][near] > told["layer"][far]) == (relation == 1)


@pytest.fixture
def shared_client(open_page):
    return open_page()
