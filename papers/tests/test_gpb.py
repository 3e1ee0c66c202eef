"""``hyperacuity study gpb`` on a small world laid out as BSDS500 is."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import rankdata
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity_papers.hou2013.gpb import rank_correlation


def test_the_systems_are_scored_as_the_benchmark_does_and_maps_are_reused(bsds, tmp_path):
    words = ["study", "gpb", "--data", str(bsds), "--out", str(tmp_path), "--timed", "0", "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["system"] for one in found["systems"]] == ["pb", "gpb", "gpb-ucm"]
    assert found["correlation"] is None, "the authors' files are not there"
    for one in found["systems"]:
        words = ["boundary", str(tmp_path / "maps" / one["system"]), str(bsds / "groundTruth" / "test"), "--json"]
        judged = json.loads(CliRunner().invoke(app, words).stdout)["systems"][one["system"]]
        assert one["ods"] == pytest.approx(judged["ods"]["f"], abs=1e-4)
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "maps").rglob("*.png")}
    again = CliRunner().invoke(app, ["study", "gpb", "--data", str(bsds), "--out", str(tmp_path), "--timed", "0"])
    assert again.exit_code == 0, again.stderr
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "maps").rglob("*.png")} == written


def test_rank_correlation_is_that_of_ranks():
    rng = np.random.default_rng(0)
    one, other = rng.random((2, 6, 7)).astype(np.float32).round(1)
    expected = np.corrcoef(rankdata(one), rankdata(other))[0, 1]
    assert rank_correlation(one, other) == pytest.approx(expected)
    assert np.isnan(rank_correlation(one, np.zeros_like(one)))


def test_lines_a_pixel_apart_are_alike_within_a_reach():
    one, other = np.zeros((2, 9, 30), np.float32)
    one[:, 10], other[:, 11] = 1, 1
    assert rank_correlation(one, other) < 0
    assert rank_correlation(one, other, reach=4) > 0.8
