"""What a finished order leaves behind, and what is not written."""

from __future__ import annotations

import csv
import json
import shutil

import numpy as np
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import read_labels, read_order
from hyperacuity.ordering import Sides, ordering
from hyperacuity.studio import actions, people
from hyperacuity.studio.state import Schema, State

FINISH = {"kind": "done", "anyway": True}


def place(region, at, tie=False):
    return {"kind": "place", "region": region, "at": at, "tie": tie}


def relate(a, b, relation="front"):
    return {"kind": "relate", "a": a, "b": b, "relation": relation}


def test_done_writes_an_order_and_owners_that_the_benchmark_reads(world, open_page, squares):
    open_page().do(relate(0, 1), relate(1, 3), relate(0, 2, "same"), FINISH)
    order = read_order(world / "out/order/Ada/squares.npy")
    assert np.array_equal(order, np.array([3, 2, 3, 1])[squares])
    assert read_labels(world / "out/labels/Ada/squares.npy").tolist() == (squares + 1).tolist()
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


def test_what_is_not_known_is_nan(world, open_page, squares):
    open_page().do(place(0, 1), place(1, 2), FINISH)
    order = read_order(world / "out/order/Ada/squares.npy")
    assert np.isnan(order[squares >= 2]).all()
    assert (order[squares == 0] > order[squares == 1]).all()


def test_a_contradiction_is_kept_but_not_written(world, open_page):
    client = open_page()
    client.do(relate(0, 1), relate(1, 3), relate(3, 0))
    refused = client.act(4, **FINISH)
    assert refused.status_code == 422
    assert "contradicts itself: region 1 was drawn in front of region 2" in refused.json()["error"]
    assert not list((world / "out").rglob("*squares*"))
    assert open_page().sheet()["contradiction"] is not None
    told = client.do(relate(3, 0, "none"), FINISH)
    assert told["written"] == "yes"
    assert client.do(place(2, 1))["written"] == "changed"
    assert read_order(world / "out/order/Ada/squares.npy")[0, 0] == 3


def test_nothing_ordered_is_not_written(world, open_page):
    client = open_page()
    assert client.act(1, kind="done").status_code == 422
    client.do(place(0, 1))
    assert client.act(2, kind="done").status_code == 422


def test_what_is_missing_is_named_and_left_out_only_on_purpose(world, open_page):
    client = open_page()
    told = client.do(relate(0, 1), relate(0, 2))
    assert told["missing"] == ["1 of 4 regions has no order"]
    refused = client.act(3, kind="done")
    assert refused.status_code == 422
    assert "not complete: 1 of 4 regions has no order" in refused.json()["error"]
    assert client.sheet()["written"] == "no"
    told = client.do(relate(2, 3), FINISH)
    assert told["missing"] == ["1 pair of neighbours has no order"], "region 2 beside region 4"
    assert (told["written"], told["complete"]) == ("yes", False)
    told = json.loads((world / "out/provenance/Ada/squares.json").read_text())
    assert told["complete"] is False
    assert told["missing"] == {"regions": [], "groups_apart": 0, "neighbours": [[2, 4]]}
    assert "done, incomplete: 4 of 4 regions" in client.client.get("/").text
    told = client.do(relate(1, 3), {"kind": "done"})
    assert (told["missing"], told["complete"]) == ([], True)
    assert json.loads((world / "out/provenance/Ada/squares.json").read_text())["complete"] is True


def test_groups_with_nothing_between_them_are_missing_something(open_page):
    told = open_page().do(relate(0, 1), relate(2, 3))
    assert told["missing"] == ["2 groups of regions are not ordered against each other"]


def test_a_file_of_the_first_version_opens_and_says_what_is_incomplete(tmp_path):
    tables = (
        "CREATE TABLE order_sheets (person, item, source, version, ordered, regions, tangled, written)",
        "CREATE TABLE order_log (person, item, version, tab, action, made)",
    )
    path = tmp_path / "studio.sqlite"
    with State(path, [Schema("order", 1, tables)]) as state:
        rows = [("ada", item, "digest", 2, ordered, 4, 0, 2) for item, ordered in (("all", 4), ("some", 3))]
        state.write_now(lambda file: file.executemany("INSERT INTO order_sheets VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows))
    with State(path, [people.SCHEMA, actions.SCHEMA]) as state:
        known = state.read_now(lambda file: actions.summaries(file, "order", "ada"))
    assert {item: (one.state, one.complete) for item, one in known.items()} == {
        "all": ("done", True),
        "some": ("done", False),
    }


def test_a_folder_that_cannot_be_written_is_told_and_nothing_is_called_done(world, open_page):
    client = open_page()
    client.do(relate(0, 1))
    shutil.rmtree(world / "out")
    (world / "out").write_text("in the way")
    refused = client.act(2, **FINISH)
    assert refused.status_code == 422
    assert "cannot be written" in refused.json()["error"]
    assert str(world) not in refused.text
    assert client.sheet()["written"] == "no"


def test_ties_only_have_no_owner_and_take_earlier_owners_away(world, open_page, squares):
    open_page().do(relate(0, 1), FINISH, relate(0, 1, "same"), FINISH)
    assert not (world / "out/ownership/Ada/squares.npy").exists()
    assert np.unique(read_order(world / "out/order/Ada/squares.npy")[squares < 2]).tolist() == [1]


def test_annotators_are_folders_whatever_they_are_called(world, open_page):
    names = ["Zoë", "../../etc", "a/b", "CON", ".", "é" * 80]
    for name in names:
        open_page(name).do(relate(0, 1), FINISH)
    folders = [path.name for path in (world / "out/order").iterdir()]
    assert sorted(folders) == sorted(["Zoë", "______etc", "a_b", "CON_", "_", "é" * 60])


def test_two_people_are_two_annotators_of_one_truth(world, open_page):
    for name, relation in (("Ada", "front"), ("Bea", "front")):
        open_page(name).do(relate(0, 1, relation), FINISH)
    result = CliRunner().invoke(app, ["ordering", f"{world}/out/order/Ada", f"{world}/out/order", "--human", "--json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["systems"]["Ada"]["gdc"]["fmin"] == 1
    assert told["human"]["gdc"]["fmin"] == 1


def test_pauses_count_for_a_minute_at_most(tmp_path):
    times = [f"2020-01-01T{time}+00:00" for time in ("10:00:00.000", "10:00:02.500", "11:00:00.000", "10:59:59.000")]
    action = {"kind": "clear"}
    entries = [actions.Entry(number, "a-tab", action, None, made) for number, made in enumerate(times, start=1)]
    key = actions.Key("order", "ada", "item")
    with State(tmp_path / "studio.sqlite", [people.SCHEMA, actions.SCHEMA]) as state:
        state.write_now(lambda file: actions.append(file, key, "digest", entries))
        kept = state.read_now(lambda file: actions.read_entries(file, key))
    assert [one.seconds for one in kept] == [0, 2.5, 60, 0]
