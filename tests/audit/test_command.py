"""``hyperacuity audit``: from folders to findings, figures and trials; and ``study risk`` from answers to a risk."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.audit.risk import (
    Answer,
    majority_wins,
    preference,
    risk,
    simulate_answers,
    trials_needed,
    worths_by_strength,
    write_answers,
)
from hyperacuity.audit.strength import strengths
from hyperacuity.audit.trials import Segment, Trial, read_trials, write_trials
from hyperacuity.cli import app
from hyperacuity.data import read_boundary_truths, write_edges, write_soft
from hyperacuity.data.scenes import make_scene, write_scene
from hyperacuity.detect import detector

NAMES = ("scene-0001", "scene-0002")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Two small scenes, and two systems on them."""
    folder = tmp_path_factory.mktemp("world")
    for seed, name in enumerate(NAMES, 1):
        scene = make_scene(seed, size=(150, 100), leaves=8)
        write_scene(folder, scene)
        for system in ("canny", "sobel"):
            place = folder / "maps" / system
            place.mkdir(parents=True, exist_ok=True)
            write_soft(place / f"{name}.png", detector(system)(scene.image).thin, bits=16)
    return folder


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def audit(world, *words):
    return call("audit", world / "groundTruth", "--partial", 2, "--thresholds", 9, *words)


def both(world):
    return ["--system", f"canny={world / 'maps/canny'}", "--system", f"sobel={world / 'maps/sobel'}"]


def drawn(folder, strip, names=("a", "b")):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        write_edges(folder / f"{name}.png", np.array(strip, bool))


def test_json_has_the_promised_shape(world):
    done = audit(world, *both(world), "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert {"images", "annotators", "share_of_boundaries", "share_of_pixels", "by_strength", "systems"} <= found.keys()
    assert found["images"] == 2
    assert found["annotators"] == {"fewest": 5, "most": 5, "maps": 10}
    assert 0 < found["share_of_boundaries"]["orphan"] < 1
    assert sum(one["boundaries"] for one in found["by_strength"].values()) == pytest.approx(1)
    assert list(found["systems"]) == ["canny", "sobel"]
    canny = found["systems"]["canny"]
    assert list(canny["by_strength"]) == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert canny["by_strength"]["0"] == canny["all"]
    assert canny["by_strength"]["1"] == canny["consensus"]
    assert {kind: len(one["repeats"]) for kind, one in canny["partial"].items()} == {
        "halfplane": 2,
        "window": 2,
        "random": 2,
    }
    assert canny["precision_bonus"]["precision_any"] > canny["precision_bonus"]["precision_mean"]
    assert set(canny["rank"]) == set(found["rankings"])


def test_labels_alone_can_be_audited_and_findings_come_first(world):
    done = audit(world)
    assert done.exit_code == 0
    first = done.stdout.splitlines()[0]
    assert first.startswith("• ")
    assert "% of the boundaries were drawn by one person only" in first
    assert "strength|tol:0.0075diag|v:1" in done.stdout


def test_findings_name_what_each_system_loses(world):
    text = audit(world, *both(world)).stdout
    assert "canny: F is 0." in text
    assert "on an arbitrary part of the same size" in text
    assert "is worth 0." in text
    assert "rank correlation" in text


def test_all_labels_give_the_score_of_the_benchmark(world):
    audited = json.loads(audit(world, *both(world), "--json").stdout)["systems"]["sobel"]["all"]
    benchmark = call("boundary", world / "maps/sobel", world / "groundTruth", "--thresholds", 9, "--json")
    assert audited == json.loads(benchmark.stdout)["systems"]["sobel"]["ods"]


def test_a_run_is_resumed_where_it_stopped(world, tmp_path):
    first = audit(world, *both(world), "--run", tmp_path, "--json")
    second = audit(world, *both(world), "--run", tmp_path, "--json", "--workers", 1)
    assert first.stdout == second.stdout
    assert "4 reused" in second.stderr


def test_figures_are_drawn_for_labels_and_systems(world, tmp_path):
    done = audit(world, *both(world), "--figures", tmp_path, "--images", world / "images")
    assert done.exit_code == 0, done.stderr
    written = {path.name for path in tmp_path.iterdir()}
    charts = ("labels", "agreement", "strength", "curves", "optimal", "output")
    assert {f"{name}.{suffix}" for name in charts for suffix in ("svg", "png")} <= written
    assert {f"strength-{name}.png" for name in NAMES} <= written


class TestTruths:
    def test_a_sub_folder_for_each_annotator(self, tmp_path):
        drawn(tmp_path / "ann", [[1, 1, 0, 0]])
        drawn(tmp_path / "bob", [[1, 0, 0, 0]])
        found = json.loads(call("audit", tmp_path, "--json").stdout)
        assert (found["images"], found["annotators"]["most"]) == (2, 2)
        assert found["share_of_boundaries"]["orphan"] == 0.5
        assert found["by_image"] == {name: {"orphan": 0.5, "consensus": 0.5} for name in ("a", "b")}
        assert found["agreement"]["matrix"] == [[1, 0.5], [1, 1]]

    def test_numbered_annotators_are_recognised_by_the_names_of_photographs(self, tmp_path):
        drawn(tmp_path / "truth", [[1, 1, 0, 0]], ("a_1", "b_1"))
        drawn(tmp_path / "truth", [[1, 0, 0, 0]], ("a_2", "b_2"))
        drawn(tmp_path / "photos", [[1, 1, 1, 1]])
        alone = json.loads(call("audit", tmp_path / "truth", "--json").stdout)
        assert (alone["images"], alone["annotators"]["most"]) == (4, 1)
        assert alone["share_of_boundaries"]["orphan"] is None
        paired = json.loads(call("audit", tmp_path / "truth", "--images", tmp_path / "photos", "--json").stdout)
        assert (paired["images"], paired["annotators"]["most"]) == (2, 2)

    def test_one_annotator_each_says_nothing_about_agreement(self, tmp_path):
        drawn(tmp_path / "truth", [[1, 1, 0, 0]])
        assert "nothing can be said about agreement" in call("audit", tmp_path / "truth").stdout

    def test_a_bad_file_fails_its_own_image(self, world, tmp_path):
        drawn(tmp_path / "truth", [[1, 1, 0, 0]])
        (tmp_path / "truth" / "c.png").write_bytes(b"no picture")
        done = call("audit", tmp_path / "truth", "--json")
        assert done.exit_code == 1
        found = json.loads(done.stdout)
        assert found["images"] == 2
        assert found["failed"][0]["image"] == "c"

    @pytest.mark.parametrize(
        "words",
        [
            ["nowhere"],
            ["{world}/groundTruth", "--system", "a={world}/nowhere"],
            ["{world}/groundTruth", "--split", "test"],
            ["{world}/groundTruth/scene-0001.mat"],
            ["{empty}"],
            ["{world}/groundTruth", "--tolerance", "7"],
        ],
    )
    def test_a_wrong_call_is_told_in_one_line_with_status_two(self, world, tmp_path, words):
        done = call("audit", *(word.format(world=world, empty=tmp_path) for word in words))
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1


class TestExperiment:
    def test_from_trials_over_simulated_answers_to_a_risk(self, world, tmp_path):
        done = audit(world, *both(world), "--trials", tmp_path, "--seed", 3)
        assert done.exit_code == 0
        trials = read_trials(tmp_path)
        assert len({(one.image, one.system, one.mode) for one in trials}) == len(trials) > 4
        write_answers(tmp_path / "answers.csv", simulate_answers(trials, {one.trial: (0.0, 1.0) for one in trials}))
        told = call("study", "risk", tmp_path, "--json")
        assert told.exit_code == 0, told.stderr
        found = json.loads(told.stdout)
        assert found["hard"]["mean"]["risk"] == 0
        assert found["hard"]["mean"]["trials"] == sum(one.mode == "hard" for one in trials)
        assert set(found["hard"]["systems"]) <= {"canny", "sobel"}

    def test_observers_who_see_strength_decide_as_bradley_and_terrys_rule_says(self, world, tmp_path):
        assert audit(world, *both(world), "--trials", tmp_path, "--seed", 3).exit_code == 0
        trials = read_trials(tmp_path)
        people = {name: strengths(read_boundary_truths([world / "groundTruth" / f"{name}.mat"])) for name in NAMES}
        worths = worths_by_strength(trials, people)
        found = [risk(trials, simulate_answers(trials, worths, seed=seed)).mean for seed in range(60)]
        for mode in ("hard", "easy"):
            chances = {}
            for one in trials:
                if one.mode == mode:
                    chances.setdefault(one.system, []).append(float(majority_wins(preference(*worths[one.trial]))))
            expected = np.mean([np.mean(of) for of in chances.values()])
            assert np.mean([mean[mode].risk for mean in found]) == pytest.approx(expected, abs=0.08)

    def test_people_are_simulated_who_look_at_the_photographs(self, world, tmp_path):
        assert audit(world, *both(world), "--trials", tmp_path, "--seed", 3).exit_code == 0
        words = ["study", "risk", tmp_path, "--observer", "sf1", "--images", world / "images", "--json"]
        first, again, blurred = call(*words), call(*words), call(*words, "--noise", 50, "--lapse", 0, "--people", 1)
        assert first.exit_code == 0, first.stderr
        assert first.stdout == again.stdout
        found = json.loads(first.stdout)
        assert found["subjects"] == 5
        assert "observer:sf1|noise:0.1|lapse:0.02|people:5|seed:0" in found["signature"]
        assert 0 < found["hard"]["mean"]["risk"] < 1, "what nobody drew is not weaker by definition"
        assert (tmp_path / "answers-sf1.csv").exists()
        assert json.loads(blurred.stdout)["subjects"] == 1

    def test_the_same_seed_gives_the_same_trials(self, world, tmp_path):
        for name, workers in (("one", 1), ("two", 4)):
            audit(world, *both(world), "--trials", tmp_path / name, "--seed", 3, "--workers", workers)
        for table in ("trials.csv", "key.csv", "skipped.csv"):
            assert (tmp_path / "one" / table).read_bytes() == (tmp_path / "two" / table).read_bytes()

    @pytest.fixture
    def answered(self, tmp_path):
        """Twenty trials of two systems in either mode; false alarms win a half of the hard ones and none of the easy ones."""
        piece = Segment((0, 0), ((0, 0),))
        trials = [
            Trial(f"image {n}", system, mode, piece, piece, "first", f"{mode}-{system}-{n}")
            for mode in ("hard", "easy")
            for system in ("canny", "sobel")
            for n in range(10)
        ]
        won = {one.trial: one.mode == "hard" and int(one.trial[-1]) < 5 for one in trials}
        write_trials(tmp_path, trials)
        write_answers(
            tmp_path / "answers.csv",
            [
                Answer(who, name, "first" if alarm else "second")
                for name, alarm in won.items()
                for who in ("eva", "max", "ida")
            ],
        )
        return tmp_path

    def test_a_chart_shows_each_mode_by_itself(self, answered):
        done = call("study", "risk", answered, "--figures", answered / "figures")
        assert done.exit_code == 0, done.stderr
        marks = re.findall(r"<path[^>]*>", (answered / "figures" / "risk.svg").read_text())
        bars = [re.search(r"wins: ([\d.]+)", mark) for mark in marks if 'aria-roledescription="bar"' in mark]
        assert [bar[1] for bar in bars] == [
            "0.5",
            "0.5",
            "0.5",
            "0",
            "0",
            "0",
        ]  # canny, sobel and their mean, hard and easy
        assert (answered / "figures" / "risk.png").stat().st_size > 5000

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["--observer", "sf1"], "give --images"),
            (["--observer", "sf1", "--images", "{world}/images", "--answers", "a.csv"], "no --answers"),
            (["--observer", "canny", "--images", "{world}/images"], "would judge itself"),
            (["--observer", "sf1", "--images", "{world}/images"], "holds no photograph image 0"),
            (["--observer", "sf1", "--images", "{world}/images", "--noise", "0"], "noise above 0"),
            (["--observer", "nobody", "--images", "{world}/images"], "nobody"),
        ],
    )
    def test_people_who_cannot_look_are_a_wrong_call(self, answered, world, words, says):
        done = call("study", "risk", answered, *(word.format(world=world) for word in words))
        assert done.exit_code == 2
        assert says in done.stderr

    def test_the_number_of_trials_for_an_interval_is_told(self, answered):
        told = json.loads(call("study", "risk", answered, "--within", 0.05, "--json").stdout)
        assert told["needed"]["hard"] == trials_needed(0.05) == 381
        assert told["needed"]["easy"] == trials_needed(0.05, share=0)
        assert "± 0.05 takes: hard 381" in call("study", "risk", answered, "--within", 0.05).stdout
        assert call("study", "risk", answered, "--within", 1.5).exit_code == 2

    def test_a_table_without_answers_says_nothing(self, answered):
        write_answers(answered / "answers.csv", [])
        done = call("study", "risk", answered, "--figures", answered / "figures")
        assert done.exit_code == 1
        assert "holds no answer" in done.stderr

    def test_a_folder_without_trials_is_refused(self, tmp_path):
        done = call("study", "risk", tmp_path)
        assert done.exit_code == 1
        assert "key.csv" in done.stderr
