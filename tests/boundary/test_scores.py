"""Scores follow Berkeley's rules, worked by hand here, and agree with the numbers Berkeley published."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperacuity.boundary import (
    BoundaryTally,
    Protocol,
    Suppression,
    collect,
    collect_humans,
    compare_systems,
    protocol,
    write_berkeley,
)
from hyperacuity.boundary.scores import average_precision, best_point, recall_at_half_precision
from hyperacuity.errors import UsageError

TWO = Protocol(thresholds=(0.25, 0.75))
NINE = Protocol(thresholds=9)


def counts(truth_matched, truth, detected_matched, detected, shown=None, protocol=TWO):
    """A tally from plain lists."""
    shown = detected if shown is None else shown
    lists = (truth_matched, truth, detected_matched, detected, shown, detected)
    return BoundaryTally(*(np.array(values) for values in lists), protocol=protocol)


class TestOds:
    def test_is_the_best_f_between_two_thresholds(self):
        # R from 1 to 0, P from 0 to 1: F = 2RP is greatest half way, where the 100 blends come closest: 49/99 or 50/99.
        point = best_point(np.array([0.0, 1.0]), np.array([1.0, 0.0]), np.array([0.0, 1.0]))
        assert point.threshold == pytest.approx(49 / 99)
        assert point.f == pytest.approx(2 * (49 / 99) * (50 / 99))

    def test_takes_the_first_of_equals(self):
        point = best_point(np.array([0.1, 0.5, 0.9]), np.ones(3), np.ones(3))
        assert (point.threshold, point.f) == (0.1, 1.0)

    def test_sums_counts_over_images_before_it_divides(self):
        score = collect({"a": counts([1, 1], [1, 1], [1, 1], [1, 1]), "b": counts([0, 0], [9, 9], [0, 0], [1, 1])})
        assert (score.ods.recall, score.ods.precision) == (0.1, 0.5)
        assert score.ods.f == pytest.approx(2 * 0.1 * 0.5 / 0.6)


class TestOis:
    def test_takes_each_image_at_its_own_best_threshold_on_the_grid(self):
        one = counts([8, 2], [10, 10], [8, 2], [10, 2])  # F .8 and .333
        other = counts([5, 5], [10, 10], [5, 5], [50, 5])  # F .167 and .667
        score = collect({"one": one, "other": other})
        assert (score.ois.recall, score.ois.precision) == (13 / 20, 13 / 15)
        assert np.isnan(score.ois.threshold)

    def test_takes_the_first_of_equal_thresholds(self):
        same = counts([4, 2], [8, 4], [4, 2], [8, 4])
        assert collect({"x": same}).ois.recall == 0.5


class TestAveragePrecision:
    def test_of_a_straight_line(self):
        # Precision 1 − R/2 from recall 0 to 1, at 101 points: Σ (1 − i/200) · 0.01.
        assert average_precision(np.array([0.0, 1.0]), np.array([1.0, 0.5])) == pytest.approx(0.7575)

    def test_counts_nothing_outside_the_recalls_that_occur(self):
        assert average_precision(np.array([0.4, 0.6]), np.array([1.0, 1.0])) == pytest.approx(0.21)

    def test_needs_two_recalls(self):
        assert average_precision(np.array([0.4, 0.4]), np.array([1.0, 0.5])) == 0.0


class TestR50:
    def test_is_the_recall_where_precision_is_one_half(self):
        assert recall_at_half_precision(np.array([0.9, 0.5]), np.array([0.25, 0.75])) == pytest.approx(0.7)

    def test_is_unknown_when_precision_never_passes_one_half(self):
        assert np.isnan(recall_at_half_precision(np.array([0.9, 0.5]), np.array([0.6, 0.75])))


class TestEmpty:
    def test_nothing_detected_scores_zero(self):
        score = collect({"x": counts([0, 0], [9, 9], [0, 0], [0, 0])})
        assert (score.ods.f, score.ois.f, score.ap) == (0.0, 0.0, 0.0)

    def test_no_images_is_a_wrong_call(self):
        with pytest.raises(UsageError, match="no image was evaluated"):
            collect({})

    def test_no_people_have_no_score(self):
        assert np.isnan(collect_humans([]).point.f)


class TestPrecisionWithoutBonus:
    def test_mean_divides_pairs_by_what_was_shown_to_every_annotator(self):
        for precision, expected in (("mean", 6 / 15), ("any", 3 / 5)):
            protocol = Protocol(thresholds=(0.5,), precision=precision)
            score = collect({"x": counts([6], [7], [3], [5], [15], protocol)})
            assert score.curve.precision[0] == expected


def data_set(seed, images=40, better=0):
    rng = np.random.default_rng(seed)
    tallies = {}
    for number in range(images):
        truth = int(rng.integers(100, 1000))
        recall = np.sort(rng.uniform(0.2, 0.9, 9))[::-1]
        matched = np.minimum(truth, np.rint(truth * recall).astype(int) + better)
        detected = matched + np.sort(rng.integers(10, truth, 9))[::-1]
        tallies[f"{number}"] = counts(matched, np.full(9, truth), matched, detected, protocol=NINE)
    return tallies


class TestIntervals:
    def test_hold_the_score_and_are_the_same_every_time(self):
        one, again = collect(data_set(1)), collect(data_set(1))
        assert one.ods.interval == again.ods.interval
        assert one.ods.interval[0] < one.ods.f < one.ods.interval[1]
        assert one.ois.interval[0] < one.ois.f < one.ois.interval[1]

    def test_of_one_image_is_a_point(self):
        score = collect(data_set(2, images=1))
        assert score.ods.interval == pytest.approx((score.ods.f, score.ods.f))

    @given(st.integers(0, 1000))
    @settings(max_examples=20, deadline=None)
    def test_the_quick_search_between_thresholds_finds_the_maximum(self, seed):
        tallies = list(data_set(seed, images=3).values())
        from hyperacuity.boundary.scores import _best_f, recall_precision

        r, p = (np.stack(rows) for rows in zip(*(recall_precision(tally) for tally in tallies), strict=True))
        full = [best_point(NINE.levels, *recall_precision(tally)).f for tally in tallies]
        np.testing.assert_allclose(_best_f(r, p), full, atol=1e-12)


class TestPairedComparison:
    def test_a_system_that_is_always_better_is_significantly_better(self):
        result = compare_systems(data_set(3, better=40), data_set(3))["ods"]
        assert result.difference > 0
        assert result.low > 0
        assert result.p_value < 0.01

    def test_a_system_against_itself_shows_no_difference(self):
        result = compare_systems(data_set(4), data_set(4))["ods"]
        assert (result.difference, result.p_value) == (0.0, 1.0)

    def test_nothing_in_common_is_a_wrong_call(self):
        with pytest.raises(UsageError, match="no image in common"):
            compare_systems({"a": data_set(5)["0"]}, {"b": data_set(5)["0"]})


class TestProtocol:
    @pytest.mark.parametrize(
        ("name", "signature"),
        [
            ("bsds", "boundary|tol:0.0075diag|nms:none|thin:guo-hall|thr:99|precision:any|v:1"),
            ("nyud", "boundary|tol:0.011diag|nms:none|thin:guo-hall|thr:99|precision:any|v:1"),
            ("crisp", "boundary|tol:0.0075diag|nms:none|thin:none|thr:99|precision:any|v:1"),
            ("biped", "boundary|tol:0.0075diag|nms:structured-s1-r1|thin:guo-hall|thr:99|precision:any|v:1"),
            ("pascal-context", "boundary|tol:0.0075diag|nms:none|thin:guo-hall|thr:99|precision:any|v:1"),
            ("nyud-multitask", "boundary|tol:0.011diag|nms:none|thin:guo-hall|thr:99|precision:any|v:1"),
            ("multicue-edge", "boundary|tol:0.0075diag|nms:structured-s0-r2|thin:guo-hall|thr:99|precision:any|v:1"),
            (
                "multicue-boundary",
                "boundary|tol:0.0075diag|nms:structured-s0-r2|thin:guo-hall|thr:99|precision:any|v:1",
            ),
        ],
    )
    def test_named_protocols_print_what_they_are(self, name, signature):
        assert str(protocol(name).signature) == signature

    def test_berkeleys_thresholds_are_hundredths(self):
        np.testing.assert_allclose(Protocol().levels, np.arange(1, 100) / 100, atol=1e-15)

    @pytest.mark.parametrize(
        "changes",
        [
            {"tolerance": 4.3},
            {"tolerance": -1},
            {"thresholds": 0},
            {"thresholds": (0.5, 0.2)},
            {"thresholds": "some"},
            {"precision": "median"},
            {"thresholds": "levels", "nms": Suppression()},
        ],
    )
    def test_invalid_options_are_refused(self, changes):
        with pytest.raises(UsageError):
            Protocol(**changes)

    def test_an_unknown_name_lists_the_known_ones(self):
        with pytest.raises(UsageError, match="bsds, nyud, crisp, biped"):
            protocol("bsds5000")


def test_berkeleys_files_have_their_columns(tmp_path):
    write_berkeley(collect(data_set(6, images=3)), tmp_path)
    assert np.loadtxt(tmp_path / "eval_bdry.txt").shape == (8,)
    assert np.loadtxt(tmp_path / "eval_bdry_thr.txt").shape == (9, 4)
    per_image = np.loadtxt(tmp_path / "eval_bdry_img.txt")
    assert per_image.shape == (3, 5)
    assert per_image[:, 0].tolist() == [1, 2, 3]


class TestAgainstBerkeley:
    """Their matcher is seeded from the clock; on their own self-test two runs differ by 1e-4 in ODS and 1e-3 per image."""

    @pytest.mark.parametrize(
        ("test", "folder", "options"),
        [
            ("test_1", "ucm2", ["--thresholds", "5"]),
            ("test_2", "png", ["--thresholds", "5"]),
            ("test_3", "segs", ["--segmentations"]),
            ("test_4", "segs", ["--segmentations"]),
        ],
    )
    def test_their_self_test(self, shared_data, tmp_path, test, folder, options):
        from typer.testing import CliRunner

        from hyperacuity.cli import app

        bench = shared_data / "bsds-bench"
        call = ["boundary", str(bench / folder), str(bench / "groundTruth"), "--berkeley", str(tmp_path), *options]
        assert CliRunner().invoke(app, call).exit_code == 0
        for name, f_columns in (("eval_bdry.txt", [3, 6]), ("eval_bdry_thr.txt", [3]), ("eval_bdry_img.txt", [4])):
            ours, theirs = np.loadtxt(tmp_path / name, ndmin=2), np.loadtxt(bench / test / name, ndmin=2)
            np.testing.assert_allclose(ours[:, f_columns], theirs[:, f_columns], atol=0.002, err_msg=name)
        ours, theirs = np.loadtxt(tmp_path / "eval_bdry_img.txt"), np.loadtxt(bench / test / "eval_bdry_img.txt")
        np.testing.assert_allclose(ours[:, 1], theirs[:, 1], atol=1e-6)

    def test_their_test_set(self, shared_data, tmp_path):
        from typer.testing import CliRunner

        from hyperacuity.cli import app

        ucm, truth = shared_data / "bsds500/ucm2/test", shared_data / "bsds500/groundTruth/test"
        runner = CliRunner()
        done = runner.invoke(app, ["boundary", str(ucm), str(truth), "--json", "--berkeley", str(tmp_path)])
        assert done.exit_code == 0
        summary = json.loads(done.stdout)
        (system,) = summary["systems"].values()
        assert summary["images"] == 200
        assert system["ods"]["f"] == pytest.approx(0.726253, abs=0.0002)
        assert system["ods"]["threshold"] == pytest.approx(0.132121, abs=1e-6)
        assert system["ois"]["f"] == pytest.approx(0.759505, abs=0.0004)
        assert system["ap"] == pytest.approx(0.726626, abs=0.001)
        theirs = np.loadtxt(shared_data / "bsds500/ucm2/test_eval/eval_bdry_thr.txt")
        np.testing.assert_allclose(system["curve"]["f"], theirs[:, 3], atol=0.001)
        np.testing.assert_allclose(np.loadtxt(tmp_path / "eval_bdry_thr.txt")[:, 3], theirs[:, 3], atol=0.001)
