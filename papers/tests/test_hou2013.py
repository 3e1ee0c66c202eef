"""``hyperacuity study hou2013`` on a small world laid out as BSDS500 is, and without any data."""

from __future__ import annotations

import csv
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.audit import AuditProtocol, AuditTally, collect_audit, strengths
from hyperacuity.boundary import Protocol
from hyperacuity.cli import app
from hyperacuity.data import read_boundary_truths
from hyperacuity.data.datasets.bsds import segmenters
from hyperacuity.errors import UsageError
from hyperacuity_papers.common.claims import NotRunError, entries, read_claims
from hyperacuity_papers.common.page import measured
from hyperacuity_papers.hou2013 import study as study_module
from hyperacuity_papers.hou2013.checks import consensus_grows, consensus_slope, no_better, score_of
from hyperacuity_papers.hou2013.checks_labels import people
from hyperacuity_papers.hou2013.control import consensus_over_partial
from hyperacuity_papers.hou2013.label_agreement import refinement_error

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
    assert len(ledger) == len(read_claims("hou2013").claims) > 60
    without = {(row["where"], row["theirs"]) for row in ledger if not row["ours"]}
    strangers = {
        ("Table 1", "0.65"),
        ("Table 1", "0.66"),
        ("Table 1", "0.67"),
        ("Table 1", "0.71"),
        ("Table 1", "0.45"),
    }
    gpb = {("Table 1", "0.70")}  # not among the systems of this run
    assert without == {("Section 1.1", "28"), ("Section 2", "71.43 %"), ("Section 3", "5 s"), *strangers, *gpb}
    assert all(row["because"] for row in ledger if row["verdict"] != "holds")
    few = next(row for row in ledger if row["says"] == "orphan labels of BSDS300")
    assert (few["verdict"], few["because"]) == ("not comparable", "of 2 of the 300 images")


def test_answers_are_counted_and_no_system_judges_itself(told, found):
    """Through sf1 all trials are judged, through pb those of sobel, by five people each."""
    with (told[2] / "trials" / "bsds300-test" / "trials.csv").open() as file:
        systems = [row["system"] for row in csv.DictReader(file)]
    row = next(row for row in found["ledger"] if row["theirs"] == "8000")
    given = f"{5 * len(systems)} through sf1, {5 * systems.count('sobel')} through pb"
    assert row["ours"].endswith(given)
    assert 0 < systems.count("sobel") < len(systems)


def made_audit(gain, images=40):
    """Counts at one threshold: of an image's 1000 labels a system finds so many, and ``gain`` more of those of consensus."""
    protocol = AuditProtocol(Protocol(thresholds=(0.5,)), strengths=(0, 1), repeats=1)
    hits = np.random.default_rng(0).integers(200, 800, images)
    tallies = {}
    for image, count in enumerate(hits.tolist()):
        found = np.array([[count + gain * (kind == "strength" and which == 1)] for kind, which in protocol.truths])
        all_of = np.full_like(found, 1000)
        output = np.zeros((20, 3), np.int64)
        output[2], output[19] = (0, 700, 100), (0, 1, 0)
        output[10] = (0, 300, 300)
        counts = (found, all_of, found, all_of, all_of, all_of, output)
        tallies[str(image)] = AuditTally(*counts, protocol=protocol)
    return tallies


def study_of(tmp_path, tallies):
    study = study_module.Hou2013(tmp_path, AuditProtocol(), study_module.Observer(0.1, 0.02), ("made",), {})
    study.audits[TEST] = {"made": collect_audit(tallies)}
    study.stronger[TEST] = {"made": consensus_over_partial(tallies)}
    return study


@pytest.mark.parametrize(("gain", "verdict"), [(10, "fails"), (0, "holds"), (-10, "holds")])
def test_a_hundredth_more_on_every_image_is_better_however_much_images_differ(tmp_path, gain, verdict):
    """F of the images lies between 0.2 and 0.8, so an interval of F alone is ten times as wide as the difference."""
    study = study_of(tmp_path, made_audit(gain))
    low, high = study.audits[TEST]["made"].consensus.ods.interval
    assert high - low > 0.08
    found = no_better(study)
    assert found.verdict == verdict
    assert f"made {gain / 1000:+.3f}" in found.ours


def test_the_share_of_consensus_grows_by_the_line_through_all_pixels(tmp_path):
    """One stray pixel at full output does not turn it: weighted least squares by hand over 800, 600 and 1 pixels."""
    study = study_of(tmp_path, made_audit(0))
    level, share, weight = np.array([0.125, 0.525, 0.975]), np.array([0.125, 0.5, 0.0]), np.array([800, 600, 1])
    by_hand = np.polyfit(level, share, 1, w=np.sqrt(weight))[0]
    assert by_hand > 0.9
    assert consensus_slope(study.audits[TEST]["made"]) == pytest.approx(by_hand)
    assert consensus_grows(study).verdict == "not comparable"


@pytest.mark.parametrize(("f", "verdict"), [(0.65, "holds"), (0.662, "fails"), (0.641, "holds")])
def test_a_score_near_the_papers_holds_and_one_that_a_wide_interval_excuses_does_not(tmp_path, f, verdict):
    study = study_of(tmp_path, made_audit(0))
    ods = SimpleNamespace(f=f, interval=(0.6, 0.7))
    study.audits[TEST]["pb"] = SimpleNamespace(all=SimpleNamespace(ods=ods))
    assert score_of(study, "pb", 0.65).verdict == verdict


def test_dense_labels_that_cross_sparse_ones_contradict_them():
    halves = np.repeat([[0, 1]], 4, axis=0).repeat(4, axis=1)
    quarters = halves + 2 * halves.T.repeat(2, axis=1)[:4]
    assert refinement_error(quarters, halves) == 0
    # rows 0 to 2 belong together: each region of 3 of 8 columns has half of its pixels in either half
    assert refinement_error(np.zeros((4, 8)), halves) == 0.5
    crossing = np.zeros((4, 8))
    crossing[:, 2:] = 1  # 8 pixels within the left half; of 24 pixels 8 in the left and 16 in the right one
    assert refinement_error(crossing, halves) == pytest.approx((24 - (8**2 + 16**2) / 24) / 32)


def test_what_people_drew_lies_on_edges_and_dense_labels_refine_sparse_ones(found):
    """Scenes are true by construction: their simulated annotators draw whole boundaries, or fewer."""
    rows = {row["says"]: row["ours"] for row in found["ledger"] if row["where"] == "Section 1.1"}
    near, chance = map(int, re.findall(r"(\d+) %", rows["each boundary seems to be aligned to some edge in the image"]))
    assert near > chance
    error, other = map(
        float, re.findall(r"([\d.]+) %", rows["dense labels refine sparse ones without contradicting them"])
    )
    assert error < other / 2


def test_people_are_counted_where_they_are_named(tmp_path):
    for person, image in (("1103", "187083"), ("1105", "103041"), ("1105", "135069")):
        (tmp_path / "seg" / person).mkdir(parents=True, exist_ok=True)
        (tmp_path / "seg" / person / f"{image}.seg").write_bytes(b"data")
    found = study_of(tmp_path, made_audit(0, images=2))
    with pytest.raises(NotRunError, match="bsds-fg"):
        people(found)
    found.segmenters.update(segmenters(tmp_path))
    assert people(found).ours == "2 of 28"
    assert "names who drew 3 of the 300 images" in people(found).because


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
    rows = {(row.where, row.says): row for row in entries(read_claims("hou2013").claims, study)}
    assert rows["Section 5.2", "orphan labels of the new images"].because == "needs BSDS500"
    assert rows["Fig. 7", "output and strength correlate only weakly"].verdict == "not comparable"
    assert rows["Section 2", "F is the harmonic mean: precision 3/5 and recall 6/7 give 12/17"].verdict == "holds"
    assert measured(list(rows.values())) > 0.6, "but for what needs BSDS500 or maps of the paper's systems"
