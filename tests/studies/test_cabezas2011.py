"""The three scenarios of Cabezas & Trujillo (2011), on tables and as a study on made scenes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.compare import Table
from hyperacuity.data import read_table
from hyperacuity.errors import UsageError
from hyperacuity.studies.cabezas2011 import scenarios

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


def test_the_study_runs_on_made_scenes(tmp_path):
    call("scenes", tmp_path / "scenes", "--count", "2", "--size", "96x64", "--leaves", "6")
    words = (
        "study",
        "cabezas2011",
        "--data-set",
        tmp_path / "scenes",
        "--no-sgm",
        "--no-figures",
        "--out",
        tmp_path / "out",
    )
    result = call(*words, "--json")
    found = json.loads(result.stdout)
    assert [one["scenario"] for one in found["baselines"]] == ["dense", "semi-dense", "local, semi-dense"]
    dense, _, local = found["baselines"]
    assert len(dense["concat"]["criteria"]) == 2 * 3
    assert len(dense["mean"]["criteria"]) == 3
    assert sorted(local["concat"]["ranks"]) == sorted(dense["concat"]["ranks"])  # without sgm all systems are local
    assert found["server"] == []
    assert set(found["roc"]) == {"sad", "census"}
    assert min(one["gap"] for one in found["roc"].values()) < 1
    assert sum(one["share"] for one in found["roc"].values()) > 0, "someone reaches the boundary"
    for shares in (found["consistency"][name] for name in ("census(window=3)", "sad(window=5)")):
        assert 0 < shares[0] <= shares[1] <= shares[2] <= 1
    assert found["paper"] == {"dense": 16, "semi-dense": 13, "local, semi-dense": 7}
    lines = (tmp_path / "out" / "baselines-dense.csv").read_text().splitlines()
    assert lines[0] == "system,average rank,rank,in A*,group,in A* (mean),group (mean)"
    assert len(lines) == 1 + len(dense["concat"]["ranks"])
    assert "16 reused" in call(*words).stderr
    compared = json.loads(call("compare", tmp_path / "out" / "run", "--json").stdout)
    assert sorted(compared["optimal"]) == sorted(dense["concat"]["optimal"])
