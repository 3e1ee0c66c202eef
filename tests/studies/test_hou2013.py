"""``hyperacuity study hou2013`` on a small world laid out as BSDS500 is."""

from __future__ import annotations

import csv
import json

import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app


def test_the_paper_stands_beside_what_is_found_and_a_second_run_takes_it_up(bsds, tmp_path):
    words = [
        "study",
        "hou2013",
        "--data",
        str(bsds),
        "--out",
        str(tmp_path),
        "--with",
        "sobel,pb",
        "--no-figures",
        "--json",
    ]
    first, second = (CliRunner().invoke(app, words) for _ in range(2))
    assert first.exit_code == 0, first.stderr
    assert first.stdout == second.stdout
    assert "computed" not in second.stderr
    found = json.loads(first.stdout)
    rows, systems = {row["quantity"]: row for row in found["table"]}, found["new 200"]["systems"]
    orphans = rows["BSDS300: orphan share of boundaries, %"]
    assert orphans["paper"] == 29.40
    assert 0 < orphans["here"] < 100
    assert rows["BSDS300: images"]["here"] == 2
    of = "F on the 200 new images"
    assert rows[f"sobel: {of}, all labels"]["paper"] is None
    assert 0.05 < rows[f"sobel: {of}, consensus labels"]["here"] < rows[f"sobel: {of}, all labels"]["here"]
    assert rows["pb: F on BSDS300's test set, all labels"]["paper"] == 0.65
    assert rows[f"pb: {of}, all labels"]["paper"] is None, "the paper's F is on the other set"
    differences = [
        rows[f"{name}: {of}, {labels} labels"]["here"]
        - rows[f"{name}: F on BSDS300's test set, {labels} labels"]["here"]
        for name in ("sobel", "pb")
        for labels in ("all", "consensus")
    ]
    mean = rows["F on the 200 new images minus F on BSDS300's test set: mean"]
    assert (mean["paper"], mean["here"]) == (0.028, pytest.approx(sum(differences) / 4))
    drop = rows["drop of precision from all to consensus labels, 200 new images, %"]
    ends = [(one["all"]["precision"], one["consensus"]["precision"]) for one in systems.values()]
    assert drop["paper"] == 28.7
    assert drop["here"] == pytest.approx(100 * sum((first - last) / first for first, last in ends) / 2)
    assert rows["mean risk, hard"] == {
        "quantity": "mean risk, hard",
        "paper": 0.5017,
        "here": None,
        "note": "needs people: hyperacuity audit --trials, then hyperacuity study risk",
    }
    with (tmp_path / "hou2013.csv").open() as file:
        assert len(list(csv.reader(file))) == len(rows) + 1
    assert (tmp_path / "maps" / "new-200" / "sobel" / "scene-0003.png").exists()


def test_a_published_system_stands_beside_what_was_published_and_says_where(bsds, tmp_path):
    """The name is known from the paper; its maps here are those of another detector."""
    photos = bsds / "images" / "test"
    assert CliRunner().invoke(app, ["detect", str(photos), "--with", "canny", "--out", str(tmp_path)]).exit_code == 0
    words = ["study", "hou2013", "--data", str(bsds), "--out", str(tmp_path / "out"), "--with", "sobel"]
    done = CliRunner().invoke(app, [*words, "--system", f"SCG={tmp_path / 'canny'}", "--no-figures", "--json"])
    assert done.exit_code == 0, done.stderr
    rows = {row["quantity"]: row for row in json.loads(done.stdout)["table"]}
    assert rows["SCG: F on the 200 new images, all labels"]["paper"] == 0.71
    assert rows["SCG: F on the 200 new images, all labels"]["note"] == "on BSDS300's test set"


def test_without_the_data_it_is_a_wrong_call(tmp_path):
    done = CliRunner().invoke(app, ["study", "hou2013", "--data", str(tmp_path), "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "bsds300 is not in" in done.stderr
