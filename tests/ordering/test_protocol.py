"""Tallies and scores: what is counted of an image, how a data set, a sweep and people are scored, what cannot be said."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hyperacuity.errors import InputError, UsageError
from hyperacuity.ordering import (
    OrderingTally,
    Protocol,
    Sides,
    collect,
    collect_sweep,
    compare_neighbours,
    compare_regions,
    contours,
    match_contours,
    ordering,
    resampled_scores,
    tally,
    tally_humans,
)

nan = math.nan
TRUTH = ordering(np.kron([[3, 1, 2], [1, 1, 4]], np.ones((6, 6))))
ROUGH = ordering(np.roll(np.kron([[3, 1, 2], [2, 1, 4]], np.ones((6, 6))), 1, axis=1))
SIDES = Sides(np.array([[nan, nan, 1, -1, nan, nan]] * 6, np.float32), np.array([[0, 0, 0, 1, 1, 1]] * 6, np.int32))


def test_a_tally_holds_what_the_functions_count():
    found = tally(ROUGH, [TRUTH])
    local = match_contours(contours(ROUGH), contours(TRUTH)).outcomes()
    assert found.contours.tolist() == [
        *(float(n) for n in (local.consistent, local.inconsistent, local.false, local.missed)),
        *(float(n) for n in (local.consistent, local.inconsistent)),
    ]
    pairs = compare_regions(ROUGH, TRUTH)
    assert found.pairs.tolist() == [float(pairs.consistent), float(pairs.inconsistent), pairs.false, pairs.missed, 0]
    assert np.array_equal(found.questions, compare_neighbours(ROUGH, TRUTH, TRUTH.labels).sums())
    assert found.measured.tolist() == [1, 1, 1]


def test_a_tally_survives_packing_and_adds():
    one = tally(ROUGH, [TRUTH])
    assert OrderingTally.unpack(one.pack(), one.protocol) == one
    both = one + tally(TRUTH, [TRUTH])
    assert both.measured.tolist() == [2, 2, 2]


@settings(max_examples=25, deadline=None)
@given(arrays(np.float32, (9, 10), elements=st.integers(0, 3)), arrays(np.float32, (9, 10), elements=st.integers(0, 3)))
def test_one_annotator_ties_the_index_to_the_accuracy(said, truth):
    score = collect({"a": tally(ordering(said), [ordering(truth)])}, resamples=0)
    for found in (score.ldc, score.gdc):
        if found.best.fmax > 0:
            assert found.best.ori == pytest.approx(max(0.0, 2 * found.best.fg - 1), abs=1e-9)


class TestAnnotators:
    def test_questions_and_pairs_are_summed(self):
        one, two = tally(ROUGH, [TRUTH]), tally(ROUGH, [TRUTH, TRUTH])
        assert np.array_equal(two.questions, 2 * one.questions)
        assert np.array_equal(two.pairs, 2 * one.pairs)

    def test_detections_count_once_for_precision_and_truths_each_for_recall(self):
        one, two = tally(ROUGH, [TRUTH]), tally(ROUGH, [TRUTH, TRUTH])
        assert np.array_equal(two.contours[:3], one.contours[:3])
        assert np.array_equal(two.contours[3:], 2 * one.contours[3:])

    def test_the_best_annotator_alone(self):
        best = tally(ROUGH, [ordering(-TRUTH.order + 5), ROUGH], Protocol(annotators="best"))
        assert best.pairs.tolist() == tally(ROUGH, [ROUGH]).pairs.tolist()
        assert best.contours.tolist() == tally(ROUGH, [ROUGH]).contours.tolist()


class TestRegions:
    def test_questions_are_asked_on_the_given_regions(self):
        halves = np.repeat([[0] * 9 + [1] * 9], 12, axis=0).astype(np.int32)
        found = tally(ROUGH, [TRUTH], regions=[halves])
        assert found.questions[1, 0] == 1
        assert found.questions[1, 1] == 12
        assert np.array_equal(found.contours, tally(ROUGH, [TRUTH]).contours)

    def test_predictions_can_be_brought_onto_the_regions(self):
        noise = np.random.default_rng(1).random(TRUTH.order.shape) * 0.1
        dense = ordering(TRUTH.order + noise.astype(np.float32))
        found = tally(dense, [TRUTH], regions=[TRUTH.labels], on_regions=True)
        assert found.contours[2] == 0
        assert found.pairs[2] == 0
        assert tally(dense, [TRUTH]).pairs[2] > 0

    def test_labelled_contours_cannot_be_brought_onto_regions(self):
        with pytest.raises(InputError, match="only an order map"):
            tally(SIDES, [SIDES], regions=[SIDES.labels], on_regions=True)


class TestUnknown:
    def test_labelled_contours_of_unknown_regions_have_no_pairs_of_all_regions(self):
        alone = Sides(SIDES.sides)
        score = collect({"a": tally(SIDES, [alone], regions=[SIDES.labels])})
        assert score.gdc is None
        assert "order neighbours only" in score.reasons["gdc"]
        assert (score.ldc.best.fmax, score.ldc.best.fmin, score.accuracy["racc"]) == (1, 1, 1)
        assert "foremost" in score.reasons["bacc50"]

    def test_labelled_contours_of_known_regions_have_the_pairs_of_their_whole_order(self):
        score = collect({"a": tally(SIDES, [SIDES])})
        assert (score.gdc.best.fmax, score.gdc.best.fmin) == (1, 1)
        assert [score.accuracy[name] for name in ("racc", "bacc", "bacc50", "bacc25")] == [1, 1, 1, 1]

    def test_nobody_said_that_regions_of_one_layer_are_level(self):
        # A is in front of B, which lies between A and C; C is in front of B too: A and C were never compared.
        labels = np.repeat([[0, 0, 0, 1, 1, 1, 2, 2, 2]], 5, axis=0).astype(np.int32)
        marks = np.repeat([[np.nan, np.nan, 1, -1, np.nan, -1, 1, np.nan, np.nan]], 5, axis=0).astype(np.float32)
        said = ordering(np.choose(labels, [9, 1, 5]).astype(np.float32))
        assert tally(said, [Sides(marks, labels)]).pairs.tolist() == [2, 0, 0, 0, 0]
        level = ordering(np.choose(labels, [9, 1, 9]).astype(np.float32))
        assert tally(said, [level]).pairs.tolist() == [2, 1, 0, 0, 0], "an order map says so"

    def test_without_regions_there_are_no_questions(self):
        score = collect({"a": tally(TRUTH, [Sides(np.tile(SIDES.sides, (2, 3)))])})
        assert math.isnan(score.accuracy["bacc"])
        assert "no regions" in score.reasons["bacc"]

    def test_a_truth_of_one_region_asks_nothing(self):
        flat = ordering(np.ones((5, 5)))
        score = collect({"a": tally(flat, [flat])})
        assert score.ldc.best.index == -1
        assert set(score.reasons) == {"ldc", "gdc", "racc", "bacc", "bacc50", "bacc25"}

    def test_detections_on_void_ground_are_not_false(self):
        truth = ordering(np.where(np.arange(18) < 9, np.nan, TRUTH.order).astype(np.float32))
        said = ordering(np.where(np.arange(18) < 9, np.arange(18) // 3, TRUTH.order).astype(np.float32))
        assert tally(said, [truth]).contours[2] <= 12  # at most the border of the unknown

    def test_no_truth_and_no_tally_are_refused(self):
        with pytest.raises(InputError, match="no truth to compare with"):
            tally(TRUTH, [])
        with pytest.raises(UsageError, match="no image was evaluated"):
            collect({})

    def test_sizes_must_agree(self):
        with pytest.raises(InputError, match="same size"):
            tally(TRUTH, [SIDES])


class TestTies:
    TIED = ordering(np.ones((6, 6)), np.array([[0, 0, 0, 1, 1, 1]] * 6))
    STEP = ordering([[2, 2, 2, 1, 1, 1]] * 6)

    def test_a_tie_is_inconsistent_or_not_there(self):
        assert tally(self.TIED, [self.STEP]).contours[:4].tolist() == [0, 6, 0, 0]
        assert tally(self.TIED, [self.STEP], Protocol(tie="ignore")).contours[:4].tolist() == [0, 0, 0, 6]

    def test_a_tie_in_the_truth_is_consistent_or_left_out(self):
        assert tally(self.STEP, [self.TIED]).contours[:4].tolist() == [6, 0, 0, 0]
        assert tally(self.STEP, [self.TIED], Protocol(truth_tie="exclude")).contours[:4].tolist() == [0, 0, 0, 0]

    def test_a_tied_answer_is_worth_what_the_protocol_says(self):
        for tie, expected in (("wrong", 0.0), ("half", 0.5), ("skip", nan)):
            protocol = Protocol(question_tie=tie)
            score = collect({"a": tally(self.TIED, [self.STEP], protocol)})
            assert score.accuracy["racc"] == pytest.approx(expected, nan_ok=True)


class TestCollect:
    def test_counts_are_pooled_or_images_averaged(self):
        small = ordering([[2, 2, 1, 1]] * 2)
        good, bad = (small, [small]), (ordering(-TRUTH.order), [TRUTH])
        tallies, averaged = (
            {"good": tally(*good, protocol), "bad": tally(*bad, protocol)}
            for protocol in (Protocol(), Protocol(aggregate="mean"))
        )
        pooled, mean = collect(tallies), collect(averaged)
        assert mean.accuracy["bacc"] == 0.5
        assert mean.ldc.best.fg == 0.5
        length = tallies["bad"].questions[1, 1]
        assert pooled.accuracy["bacc"] == pytest.approx(2 / (2 + length))
        assert pooled.ldc.best.fg == pytest.approx(2 / (2 + contours(TRUTH).count))

    def test_a_sweep_takes_the_value_of_best_detection(self):
        shifted = ordering(np.roll(TRUTH.order, 5, axis=0))
        sweep = {"far": {"a": tally(shifted, [TRUTH])}, "negated": {"a": tally(ordering(-TRUTH.order), [TRUTH])}}
        score = collect_sweep(sweep)
        assert (score.parameters[score.chosen], score.ldc.best.index) == ("negated", 1)
        assert (score.ldc.best.fmax, score.ldc.best.fmin, score.accuracy["racc"]) == (1, 0, 0)
        assert score.accuracies["racc"].shape == (2,)
        assert score.ldc.outcomes.f(1).shape == (2,)

    def test_images_missing_at_some_value_are_left_out(self):
        one = tally(TRUTH, [TRUTH])
        assert collect_sweep({"1": {"a": one, "b": one}, "2": {"b": one}}).images == 1

    def test_intervals_hold_the_score_and_shrink_to_it_when_images_agree(self):
        tallies = {str(n): tally(ROUGH, [TRUTH]) for n in range(3)}
        score = collect(tallies)
        for name in ("fmax", "fmin", "ori", "fg"):
            assert score.ldc.intervals[name] == pytest.approx([getattr(score.ldc.best, name)] * 2)
        assert score.intervals["bacc"] == pytest.approx([score.accuracy["bacc"]] * 2)
        tallies["other"] = tally(TRUTH, [TRUTH])
        wider = collect(tallies)
        low, high = wider.ldc.intervals["fmin"]
        assert low < wider.ldc.best.fmin < high
        averaged = {name: replace(one, protocol=Protocol(aggregate="mean")) for name, one in tallies.items()}
        low, high = collect(averaged).ldc.intervals["fmin"]
        assert low < high


@pytest.mark.parametrize("aggregate", ["pooled", "mean"])
def test_resampled_scores_are_those_of_the_drawn_images(aggregate):
    protocol = Protocol(aggregate=aggregate)
    flat = ordering(np.ones((12, 18)))
    tallies = [tally(said, [TRUTH], protocol) for said in (ROUGH, TRUTH, ordering(-TRUTH.order), flat)]
    weights = np.array([[1, 1, 1, 1], [0, 2, 0, 2], [3, 0, 1, 0], [0, 0, 0, 4]])
    found = resampled_scores(tallies, weights)
    for n, row in enumerate(weights):
        drawn = {f"{i} {k}": tallies[i] for i in range(4) for k in range(row[i])}
        score = collect(drawn, resamples=0)
        for which, part in (("ldc", score.ldc), ("gdc", score.gdc)):
            for name in ("fmax", "fmin", "ori", "fg"):
                expected = getattr(part.best, name)
                assert found[f"{which}-{name}"][n] == pytest.approx(expected, nan_ok=True), (which, name, row)
        for name, expected in score.accuracy.items():
            assert found[name][n] == pytest.approx(expected, nan_ok=True)


class TestPeople:
    def test_people_who_agree_are_perfect(self):
        score = collect({"a": tally_humans([TRUTH, TRUTH, TRUTH])})
        assert (score.ldc.best.fmin, score.gdc.best.fmin, score.accuracy["bacc25"]) == (1, 1, 1)

    def test_each_is_judged_by_the_other(self):
        both = tally_humans([TRUTH, ROUGH])
        expected = tally(TRUTH, [ROUGH]) + tally(ROUGH, [TRUTH])
        assert np.array_equal(both.contours, expected.contours)
        assert np.array_equal(both.questions, expected.questions)

    def test_one_person_says_nothing_about_people(self):
        assert tally_humans([TRUTH]).measured.tolist() == [0, 0, 0]


class TestProtocol:
    def test_every_option_shows_in_the_signature(self):
        changes = {
            "radius": 4.0,
            "radius_share": 0.0075,
            "angle": 20.0,
            "window": 9,
            "cost": "distance+angle",
            "tie": "ignore",
            "truth_tie": "exclude",
            "annotators": "sum",
            "equal_pairs": "exclude",
            "missed_pairs": "literal",
            "same_depth": 0.0,
            "question_tie": "half",
            "cut": "floor",
            "length": "both-pixels",
            "adjacency": 8,
            "middle": "low",
            "reach": 2,
            "aggregate": "mean",
            "reading": (("truth", "inverted"),),
        }
        assert set(changes) == {option.name for option in fields(Protocol)}
        signatures = {Protocol(**{name: value}).signature for name, value in changes.items()}
        assert len(signatures | {Protocol().signature}) == len(changes) + 1

    def test_the_radius_may_be_a_share_of_the_diagonal(self):
        assert Protocol(radius_share=0.01).radius_px((300, 400)) == 5

    @pytest.mark.parametrize(
        ("option", "value"), [("cost", "no"), ("window", 4), ("radius", -1.0), ("reach", -1), ("angle", nan)]
    )
    def test_what_makes_no_sense_is_refused(self, option, value):
        with pytest.raises(UsageError, match=option):
            Protocol(**{option: value})


def test_a_tally_says_why_contours_are_inconsistent_and_a_score_adds_it_up():
    one = tally(ROUGH, [TRUTH])
    assert one.inconsistent.sum() == one.contours[-1]
    why = collect({"a": one, "b": one}, resamples=0).ldc.inconsistency
    assert [why.rough[0], why.wrong_side[0], why.undirected[0]] == (2 * one.inconsistent).tolist()
    assert why.matched[0] == 2 * one.contours[-2:].sum()


def test_a_tally_that_did_not_count_reasons_scores_the_same():
    one = tally(ROUGH, [TRUTH])
    known = {name: array for name, array in one.arrays.items() if name != "inconsistent"}
    old = OrderingTally(**known, protocol=one.protocol)
    before, after = (collect({"a": given}, resamples=0) for given in (old, one))
    assert before.ldc.best == after.ldc.best
    assert np.isnan(before.ldc.inconsistency.rough).all()
