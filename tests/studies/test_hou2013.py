"""``hyperacuity study hou2013`` on a small world laid out as BSDS500 is, and without any data."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.audit import strengths
from hyperacuity.cli import app
from hyperacuity.data import read_boundary_truths
from hyperacuity.errors import UsageError
from hyperacuity.studies import hou2013 as study_module
from hyperacuity.studies.ledger import entries
from hyperacuity.studies.ledger.hou2013 import CLAIMS
from hyperacuity.studies.ledger.page import measured

TEST, NEW = "BSDS300 test", "new 200"


def run(*words):
    return CliRunner().invoke(app, ["study", "hou2013", "--observers", "sf1,pb", "--json", *map(str, words)])


@pytest.fixture(scope="module")
def told(bsds, tmp_path_factory):
    """What the study says in a folder, twice, and the folder."""
    folder = tmp_path_factory.mktemp("hou2013")
    words = ["--data", bsds, "--out", folder, "--with", "pb,sobel"]
    first, second = run(*words), run(*words, "--no-figures")
    assert first.exit_code == second.exit_code == 0, first.stderr + second.stderr
    return first, second, folder


@pytest.fixture(scope="module")
def found(told):
    return json.loads(told[0].stdout)


@pytest.fixture(scope="module")
def rows(found):
    return {row["quantity"]: row for row in found["table"]}


def test_a_second_run_takes_it_up(told):
    first, second, _ = told
    assert "computed" in first.stderr
    assert "computed" not in second.stderr
    timeless = [{k: v for k, v in json.loads(one.stdout).items() if k not in ("seconds", "ledger")} for one in told[:2]]
    assert timeless[0] == timeless[1]


def test_every_part_of_the_work_is_timed(found):
    seconds = found["seconds"]
    assert {"labels", f"benchmarks, {TEST}", f"forced choice, {NEW}", "retraining pb", "figures"} <= set(seconds)
    assert all(one["clock"] >= 0 and one["processor"] >= 0 for one in seconds.values())


def test_the_paper_stands_beside_what_is_found_on_both_sets(told, found, rows):
    orphans = rows["orphan share of boundaries, %"]
    assert orphans["paper"] == {TEST: 31.39, NEW: 30.58}
    assert rows["images"]["here"] == {TEST: 1, NEW: 1}
    assert rows["sobel: F, all labels"]["paper"] == {}
    for part in (TEST, NEW):
        assert 0.05 < rows["sobel: F, consensus labels"]["here"][part] < rows["sobel: F, all labels"]["here"][part]
    assert rows["pb: F, all labels"]["paper"] == {TEST: 0.65}, "the paper's images"
    differences = [
        rows[f"{name}: F, {labels} labels"]["here"][NEW] - rows[f"{name}: F, {labels} labels"]["here"][TEST]
        for name in ("sobel", "pb")
        for labels in ("all", "consensus")
    ]
    mean, deviation = rows["F less that on BSDS300 test: mean"], rows["… deviation"]
    assert (mean["paper"], deviation["paper"]) == ({NEW: 0.028}, {NEW: 0.0058})
    assert mean["here"][NEW] == pytest.approx(np.mean(differences))
    assert deviation["here"][NEW] == pytest.approx(np.std(differences, ddof=1))
    for part in (TEST, NEW):
        ends = [(one["all"]["precision"], one["consensus"]["precision"]) for one in found[part]["systems"].values()]
        drop = rows["precision lost from all to consensus labels, %"]
        assert drop["paper"] == {TEST: 28.7}
        assert drop["here"][part] == pytest.approx(100 * sum((first - last) / first for first, last in ends) / 2)
    with (told[2] / "hou2013.csv").open() as file:
        table = list(csv.DictReader(file))
    assert len(table) == len(rows)
    assert list(table[0]) == ["quantity", f"paper: {TEST}", TEST, f"paper: {NEW}", NEW, "note"]


def test_labels_are_told_by_half_and_as_a_whole(bsds, found):
    """The shares of the whole are those of both halves' boundaries together."""
    labels = {row["part"]: row for row in found["labels"]}
    assert list(labels) == ["BSDS300 train", TEST, "BSDS300", NEW]
    alone, every = 0.0, 0.0
    for part in ("train", "val"):
        (file,) = (bsds / "groundTruth" / part).iterdir()
        for drawn in strengths(read_boundary_truths([file])).drawn_by:
            counts = drawn[drawn > 0]
            alone, every = alone + (counts == 1).sum(), every + (1 / counts).sum()
    assert labels["BSDS300"]["orphan"] == pytest.approx(100 * alone / every)
    assert labels["BSDS300"]["paper: orphan"] == 29.40
    assert labels[TEST]["paper: orphan"] == 31.39


def test_simulated_people_choose_and_no_system_judges_itself(told, found):
    assert {row["observer"] for row in found["risk"]} == {"sf1", "pb"}
    assert {row["noise"] for row in found["risk"]} == {0.05, 0.1, 0.2}
    judged = {row["system"] for row in found["risk"] if row["observer"] == "pb"}
    assert judged == {"sobel", "mean"}
    assert all(0 <= row["risk"] <= 1 for row in found["risk"])
    assert (told[2] / "trials" / "new-200" / "key.csv").exists()


def test_pb_is_learned_from_both_kinds_of_labels_and_tested_on_both(told, found):
    (retrained,) = found["retrained"]
    assert (retrained["train"], retrained["test"]) == (1, 1)
    assert set(retrained["learned from"]) == {"all", "consensus"}
    assert all(0 < one["consensus"] < 1 for one in retrained["learned from"].values())
    assert sorted(path.name for path in (told[2] / "pb").glob("*.json")) == ["pb-all-1.json", "pb-consensus-1.json"]


@pytest.mark.parametrize(
    "name",
    [
        "fig-1-labellers",
        "fig-2a-trial",
        "fig-2b-sets-bsds300-test",
        "fig-2c-orphans",
        "fig-3-risk-new-200-sf1",
        "fig-4-strength-bsds300-test",
        "fig-5-curves-new-200",
        "fig-5-labels",
        "fig-6-optimal-new-200",
        "fig-7-output-bsds300-test",
        "fig-8-retrained",
        "fig-9-old-and-new",
    ],
)
def test_every_figure_is_a_file(told, name):
    assert (told[2] / f"{name}.png").stat().st_size > 4000


def test_every_claim_has_a_row_and_all_but_those_about_people_a_number(found):
    ledger = found["ledger"]
    assert len(ledger) == len(CLAIMS) > 60
    without = {(row["where"], row["theirs"]) for row in ledger if not row["ours"]}
    assert without == {("Section 1.1", "28"), ("Section 3", "5 s")}
    assert all(row["because"] for row in ledger if row["verdict"] != "holds")
    few = next(row for row in ledger if row["says"] == "orphan labels of BSDS300")
    assert (few["verdict"], few["because"]) == ("not comparable", "of 2 of the 300 images")


def test_equations_hold(found):
    """Their values were worked out by hand from the paper's definitions."""
    by_hand = [row for row in found["ledger"] if "strip" in row["says"] or "harmonic" in row["says"]]
    assert len(by_hand) >= 8
    assert {row["verdict"] for row in by_hand} == {"holds"}


def test_a_published_system_stands_beside_what_was_published(bsds, tmp_path):
    """The name is known from the paper; its maps, of both sets, are those of another detector."""
    for part in ("val", "test"):
        words = ["detect", bsds / "images" / part, "--with", "canny", "--out", tmp_path]
        assert CliRunner().invoke(app, list(map(str, words))).exit_code == 0
    maps = ["--system", f"SCG={tmp_path / 'canny'}"]
    done = run("--data", bsds, "--out", tmp_path / "out", "--with", "sobel", *maps, "--no-figures", "--train", 1)
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    row = next(row for row in found["table"] if row["quantity"] == "SCG: F, all labels")
    assert row["paper"] == {TEST: 0.71}
    assert set(row["here"]) == {TEST, NEW}
    claim = next(row for row in found["ledger"] if row["says"] == "F of SCG on BSDS300's test set")
    assert claim["ours"].startswith(f"{row['here'][TEST]:.3f}")


def test_maps_of_other_images_are_a_wrong_call(bsds, tmp_path):
    assert CliRunner().invoke(app, ["scenes", str(tmp_path), "--count", "1", "--size", "64x64"]).exit_code == 0
    maps = ["--system", f"SCG={tmp_path / 'boundaries'}"]
    (tmp_path / "boundaries" / "scene-0001.png").rename(tmp_path / "boundaries" / "other.png")
    done = run("--data", bsds, "--out", tmp_path / "out", "--with", "sobel", *maps, "--no-figures")
    assert done.exit_code == 2
    assert "SCG: none of the maps has the name of an image" in done.stderr


def test_a_folder_without_the_data_is_a_wrong_call(tmp_path):
    done = run("--data", tmp_path, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "bsds300 is not in" in done.stderr


def test_without_the_new_images_it_runs_on_the_old_ones(bsds, tmp_path):
    for kind in ("images", "groundTruth"):
        (tmp_path / "BSDS500" / kind).mkdir(parents=True)
        for part in ("train", "val"):
            (tmp_path / "BSDS500" / kind / part).symlink_to(bsds / kind / part)
    done = run("--data", tmp_path, "--out", tmp_path / "out", "--with", "sobel", "--no-figures")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert (TEST in found, NEW in found) == (True, False)
    assert found["notes"] == ["new 200 was not found and is left out"]
    claims = {row["says"]: row for row in found["ledger"]}
    assert claims["orphan labels of the new images"]["because"] == "needs BSDS500"


def test_without_data_it_runs_on_scenes_and_says_what_it_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("HYPERACUITY_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr("hyperacuity.data.datasets.layouts.user_cache_path", lambda name: tmp_path / "no cache")
    monkeypatch.setattr(study_module, "N_SCENES", 2)
    study = study_module.hou2013(tmp_path / "out", detectors="sobel", observers="sf1", workers=1)
    assert list(study.audits) == ["scenes"]
    assert study.notes == ["BSDS500 was not found: run on scenes with simulated annotators"]
    assert len(study.labels["scenes"].images) == 2
    (tmp_path / "empty").mkdir()
    given = (tmp_path / "empty", tmp_path / "out", None)
    assert list(study_module._parts(*given, stand_in=True)) == ["scenes"]
    with pytest.raises(UsageError, match="bsds300"):
        study_module._parts(*given)
    rows = {(row.where, row.says): row for row in entries(CLAIMS, study)}
    assert rows["Section 5.2", "orphan labels of the new images"].because == "needs BSDS500"
    assert rows["Fig. 7", "output and strength correlate only weakly"].verdict == "not comparable"
    assert rows["Section 2", "F is the harmonic mean: precision 3/5 and recall 6/7 give 12/17"].verdict == "holds"
    assert measured(list(rows.values())) > 0.7
