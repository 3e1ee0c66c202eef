"""What holds for any two edge maps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hyperacuity.edges import PAPER, Pair, confusion, evaluate, measure, measures

SIDES = st.integers(1, 9)
PAIRS = st.tuples(SIDES, SIDES).flatmap(lambda shape: st.tuples(arrays(bool, shape), arrays(bool, shape)))
MANY = settings(deadline=None, max_examples=60)

SYMMETRIC = "pm, chi2, f_alpha, sfom, mfom, hausdorff, hausdorff(percent=20), f2d6, sk(k=1), sk(k=2), baddeley"
BOUNDED = "pm, phi, chi2, f_alpha, fom, fom_e, f_pinho, sfom, mfom, dp"


@MANY
@given(PAIRS)
def test_scores_are_never_negative_and_zero_for_the_truth_itself(maps: tuple[np.ndarray, np.ndarray]) -> None:
    truth, detected = maps
    assert all(score >= -1e-15 or math.isnan(score) for score in evaluate(truth, detected).values())
    assert set(evaluate(truth, truth).values()) == {0.0}


@MANY
@given(PAIRS)
def test_swapping_the_maps_changes_no_symmetric_measure(maps: tuple[np.ndarray, np.ndarray]) -> None:
    truth, detected = maps
    assert evaluate(truth, detected, SYMMETRIC) == pytest.approx(evaluate(detected, truth, SYMMETRIC), abs=1e-12)


@MANY
@given(PAIRS)
def test_normalised_measures_stay_within_zero_and_one(maps: tuple[np.ndarray, np.ndarray]) -> None:
    assert all(-1e-12 <= score <= 1 + 1e-12 for score in evaluate(*maps, BOUNDED).values())


@MANY
@given(PAIRS)
def test_measures_turn_with_the_image(maps: tuple[np.ndarray, np.ndarray]) -> None:
    truth, detected = maps
    turned = evaluate(np.rot90(truth), np.rot90(detected))
    assert evaluate(truth, detected) == pytest.approx(turned, abs=1e-12, nan_ok=True)


@MANY
@given(PAIRS)
def test_without_false_detections_fom_is_the_share_that_is_missed(maps: tuple[np.ndarray, np.ndarray]) -> None:
    truth, kept = maps[0], maps[0] & maps[1]
    assume(truth.any())
    assert measure("fom")(truth, kept) == pytest.approx(1 - kept.sum() / truth.sum())
    assert evaluate(truth, kept, "fom_e, yasnoff, dk, theta, gamma") == dict.fromkeys(
        ["fom_e", "yasnoff", "dk(k=2)", "theta(k=2)", "gamma"], 0
    )


@MANY
@given(PAIRS)
def test_chi2_is_one_minus_the_squared_matthews_correlation(maps: tuple[np.ndarray, np.ndarray]) -> None:
    tp, fp, fn, tn = confusion(*maps)
    margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    assume(margins > 0)
    assert measure("chi2")(*maps) == pytest.approx(1 - (tp * tn - fp * fn) ** 2 / margins, abs=1e-12)


@MANY
@given(PAIRS)
def test_f_and_jaccard_say_the_same(maps: tuple[np.ndarray, np.ndarray]) -> None:
    jaccard = measure("pm")(*maps)
    assert measure("f_alpha")(*maps) == pytest.approx(jaccard / (2 - jaccard), abs=1e-12)


@MANY
@given(PAIRS)
def test_distance_measures_keep_their_order(maps: tuple[np.ndarray, np.ndarray]) -> None:
    """The mean of both directions is at most the larger mean, which is at most the largest distance; powers grow with k."""
    scores = evaluate(*maps, "sk(k=1,denominator=sum), f2d6, hausdorff, sk(k=1), sk(k=3), baddeley(k=1), baddeley(k=3)")
    assert scores["sk(k=1,denominator=sum)"] <= scores["f2d6"] + 1e-12
    assert scores["f2d6"] <= scores["hausdorff"] + 1e-12
    assert scores["baddeley(k=1)"] <= scores["baddeley(k=3)"] + 1e-9
    assert scores["hausdorff"] >= measure("hausdorff(percent=10)")(*maps)
    if (
        maps[0].any() and maps[1].any()
    ):  # Δ^k compares distance maps, which nowhere differ more than the Hausdorff distance
        assert scores["baddeley(k=3)"] <= scores["hausdorff"] + 1e-9


@MANY
@given(PAIRS)
def test_measures_that_see_one_kind_of_error_ignore_the_other(maps: tuple[np.ndarray, np.ndarray]) -> None:
    truth, more = maps[0], maps[0] | maps[1]
    for m in measures(PAPER):
        if m.penalises == "missed":
            assert m(truth, more) == 0
        elif m.penalises == "false" and truth.any():
            assert m(more, truth) == 0


@MANY
@given(PAIRS)
def test_measures_that_share_a_comparison_give_what_they_give_alone(maps: tuple[np.ndarray, np.ndarray]) -> None:
    pair = Pair(*maps)
    for m in measures(PAPER):
        alone = m(*maps)
        assert m(pair, pair) == alone or math.isnan(alone)
