"""The three scenarios of Cabezas & Trujillo (2011), on tables and as a study on made scenes."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.compare import Table
from hyperacuity.data import read_disparity, read_mask, read_table
from hyperacuity.detect.stereo import BUILT_IN, LOCAL, matcher
from hyperacuity.disparity import bad
from hyperacuity.errors import UsageError
from hyperacuity.kinds.disparity import stereo_samples
from hyperacuity.systems.maps import read_pair
from hyperacuity_papers.cabezas2011 import study as cabezas2011
from hyperacuity_papers.cabezas2011.stereo_scenarios import scenarios

REGIONS = ("nonocc", "all", "disc")


def call(*words, status=0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == status, result.stderr + str(result.exception)
    return result


def test_each_scenario_compares_its_own_systems_by_its_own_regions():
    values = np.array([[[1.0, 5, 3]], [[2, 4, 3]], [[3, 1, 4]], [[4, 6, 5]]])
    table = Table(("A", "B", "C", "D"), ("scene",), REGIONS, ("min",) * 3, values)
    dense, semi, local = scenarios(table, ["B", "C"])
    assert [one.name for one in (dense, semi, local)] == ["dense", "semi-dense", "local, semi-dense"]
    assert dense.mean.groups() == [["A", "B", "C"], ["D"]]
    assert semi.mean.groups() == [["A"], ["B"], ["C"], ["D"]]
    assert local.mean.groups() == [["B"], ["C"]]
    assert local.mean.average_rank.tolist() == [1, 2]  # ranks within the scenario


def test_without_local_systems_there_are_two_scenarios():
    table = Table.flat(["A", "B"], REGIONS, [[1, 2, 3], [4, 5, 6]])
    assert [one.name for one in scenarios(table, [])] == ["dense", "semi-dense"]


def test_the_regions_must_be_there():
    with pytest.raises(UsageError, match="there is no all, disc"):
        scenarios(Table.flat(["A"], ["nonocc"], [[1]]), [])


def test_maps_with_holes_are_left_out_of_the_dense_scenario_by_name():
    table = Table.flat(["A", "B", "C"], REGIONS, [[1, 1, 1], [2, 4, 3], [3, 2, 4]])
    dense, semi = scenarios(table, [], cover={"A": 0.66, "B": 1.0, "C": 1.0})
    assert dense.left_out == (("A", 0.66),)
    assert dense.optimal() == ["B", "C"]
    assert semi.optimal() == ["A"]
    assert [one.name for one in scenarios(table, [], cover=dict.fromkeys("ABC", 0.5))] == ["semi-dense"]


def test_semi_dense_lies_within_dense_on_the_servers_table(shared_data):
    found = read_table(shared_data / "middlebury-v2" / "server-table-10.csv")
    images = ("tsukuba", "venus", "teddy", "cones")
    values = np.stack([[found.column(f"{image}_{region}") for region in REGIONS] for image in images])
    table = Table(found.names, images, REGIONS, ("min",) * 3, values.transpose(2, 0, 1).copy())
    dense, semi, local = scenarios(table, ["SAD", "SSD", "BMS"])
    assert set(semi.concat.groups()[0]) <= set(dense.concat.groups()[0]) == {"GC+DP", "BM+DP (2 iterations)"}
    assert set(local.concat.groups()[0]) == {"SAD", "SSD", "BMS"}
    # SAD is nowhere dominated by the others, though it is worse than SSD and BMS on Cones
    assert local.mean.groups()[0] == ["SAD"]


def dense_of(found):
    return found["field"][0]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    call("scenes", folder / "scenes", "--count", "2", "--size", "96x64", "--leaves", "6")
    words = ("study", "cabezas2011", "--data-set", folder / "scenes", "--no-figures", "--out", folder / "out")
    return folder / "out", (*words, "--with", "census(check=1)"), call(*words, "--with", "census(check=1)", "--json")


def test_the_study_runs_on_made_scenes(study):
    folder, _, result = study
    found = json.loads(result.stdout)
    assert [one["scenario"] for one in found["field"]] == ["dense", "semi-dense", "local, semi-dense"]
    dense = dense_of(found)
    assert len(dense["concat"]["criteria"]) == 2 * 3
    assert len(dense["mean"]["criteria"]) == 3
    assert found["server"] is None
    assert min(one["gap"] for one in found["roc"].values()) < 1
    assert sum(one["share"] for one in found["roc"].values()) > 0, "someone reaches the boundary"
    for shares in (found["consistency"][name] for name in BUILT_IN):
        assert 0 < shares[0] <= shares[1] <= shares[2] <= 1
    lines = (folder / "field-dense.csv").read_text().splitlines()
    assert lines[0] == "system,average rank,rank,in A*,group,in A* (mean),group (mean)"
    assert len(lines) == 1 + len(dense["concat"]["ranks"])


def test_a_system_with_holes_is_named_and_takes_no_part_in_the_dense_scenario(study):
    found = json.loads(study[2].stdout)
    dense, semi, _ = found["field"]
    assert list(dense["left out"]) == ["census(check=1)"]
    assert 0 < dense["left out"]["census(check=1)"] < 1
    assert "census(check=1)" not in dense["concat"]["ranks"]
    assert "census(check=1)" in semi["concat"]["ranks"]
    row = next(row for row in found["systems"] if row["system"] == "census(check=1)")
    assert row["group"] == "has holes"


def test_techniques_are_compared_with_each_other_and_within(study):
    found = json.loads(study[2].stdout)
    assert set(found["inter"][0]["concat"]["ranks"]) == set(BUILT_IN)
    assert set(found["inter"][2]["concat"]["ranks"]) == set(LOCAL)
    assert set(found["filled"][0]["concat"]["ranks"]) == {f"{name}(fill=1)" for name in BUILT_IN}
    assert set(found["intra"]) == set(BUILT_IN)
    assert set(found["intra"]["bp"]["concat"]["ranks"]) == {"bp", "bp(fill=1)", "bp(smooth=1)", "bp(smooth=4)"}


def test_every_claim_has_a_row_and_what_was_not_run_says_why(study):
    rows = json.loads(study[2].stdout)["ledger"]
    assert [row["where"] for row in rows if row["where"].startswith("Eq.")] == [f"Eq. {n}" for n in range(1, 12)]
    assert {"Table 1", "Table 2", "Table 3", "Table 4", "Fig. 1"} <= {row["where"] for row in rows}
    not_run = [row for row in rows if row["verdict"] == "not run"]
    assert {row["because"] for row in not_run} == {"needs a table of the server (--table)"}
    assert sum(bool(row["ours"]) for row in rows) >= 0.9 * len(rows)
    drawn = next(row for row in rows if row["says"].startswith("prediction errors tell of the drawing"))
    assert re.match(r"drawn forward instead of inversely, \d+ of 28 pairs", drawn["ours"])
    clustered = next(row for row in rows if "greedy clustering" in row["says"])
    assert clustered["verdict"] == "holds", "the example is worked out by hand"
    order = next(row for row in rows if row["where"] == "Tables 1, 4")
    assert order["because"] == "other pairs than the paper's"
    equations = [row["verdict"] for row in rows if row["where"].startswith("Eq.") and row["where"] != "Eq. 11"]
    assert set(equations) == {"holds"}


def test_a_second_run_reuses_maps_and_tallies_and_keeps_the_times(study):
    folder, words, first = study
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.pfm")}
    again = call(*words, "--json")
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.pfm")} == before
    assert f"{2 * 35} reused" in again.stderr
    assert json.loads(again.stdout)["systems"] == json.loads(first.stdout)["systems"]


def test_a_server_table_is_read_and_a_wrong_one_refused_before_anything_is_matched(study, tmp_path):
    _, words, _ = study
    rows = ["algorithm,one_nonocc,one_all,one_disc,two_nonocc,two_all,two_disc"]
    rows += ["ADCensus,1,2,3,9,9,9", "RDP,2,3,4,1,1,1", "CostFilter,3,3,4,9,9,9"]
    (tmp_path / "server.csv").write_text("\n".join(rows) + "\n")
    found = json.loads(call(*words, "--table", tmp_path / "server.csv", "--json").stdout)
    one = next(one for one in found["server"]["memberships"] if (one["table"], one["reading"]) == ("Table 2", "concat"))
    assert (one["expected"], sorted(one["found"]), one["status"]) == (
        ["ADCensus", "RDP"],
        ["ADCensus", "RDP"],
        "consistent",
    )
    assert "mean vectors contradict Table 2" in found["server"]["verdict"]
    assert "the paper has concatenated vectors" in found["server"]["verdict"]
    (tmp_path / "server.csv").write_text("algorithm,bad\nSAD,3\n")
    result = call(*words, "--table", tmp_path / "server.csv", status=1)
    assert "has no column such as tsukuba_nonocc" in result.stderr


def test_the_figures_are_drawn(study):
    folder, words, _ = study
    pytest.importorskip("altair", reason="figures need the extra report")
    call(*(word for word in words if word != "--no-figures"))
    names = {path.name for path in folder.glob("*.png")}
    assert {
        "maps.png",
        "roc.png",
        "inter-dense-parallel.png",
        "filled-dense-dominance.png",
        "field-dense-ranks.png",
    } <= names


def test_the_run_can_be_compared(study):
    folder, _, result = study
    answer = call("compare", folder / "run", "--json")
    compared = json.loads(answer.stdout)
    assert answer.stderr.count("is not dense") == 1
    assert "census(check=1) is not dense: on one image" in answer.stderr
    semi_dense = {"census(check=1)"}
    assert set(compared["optimal"]) - semi_dense == set(dense_of(json.loads(result.stdout))["concat"]["optimal"])


def test_without_data_it_runs_on_scenes_and_says_what_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("HYPERACUITY_DATA", str(tmp_path / "nothing"))
    monkeypatch.setattr(cabezas2011, "SCENE_COUNT", 1)
    monkeypatch.setattr(cabezas2011, "SCENE_SIZE", (64, 64))
    monkeypatch.setattr(cabezas2011, "FIELD", {"sad": (), "sgm": ()})
    found = cabezas2011.cabezas2011(tmp_path / "out")
    assert found.data_set == "scenes"
    assert not found.on_middlebury
    assert "Middlebury's four pairs are not at hand" in found.notes[0]
    assert set(found.table.systems) == {"sad", "sad(fill=1)", "sgm", "sgm(fill=1)"}


def test_better_techniques_are_better_on_middlebury(shared_data):
    """What is known of these techniques, on the smallest pair: Tsukuba."""
    root = shared_data / "middlebury-v2"
    pair = next(one for name, one in stereo_samples(str(root)).items() if name == "tsukuba")
    left, right = read_pair(pair)
    truth = read_disparity(pair.truths[0], scale=16)
    mask = read_mask(root / "tsukuba" / "nonocc.png")
    systems = ("sad", "census", "cost-filter", "sgm", "bp")
    errors = {name: bad(truth, matcher(name)(left, right, 16), mask=mask) for name in systems}
    assert errors["cost-filter"] < errors["bp"] < errors["census"] < errors["sad"]
    assert errors["sgm"] < errors["census"]
    assert errors["cost-filter"] < 0.05
