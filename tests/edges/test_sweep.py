"""The minimum over thresholds: the same scores as threshold by threshold, and the best of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperacuity.edges import PAPER, edges_at, evaluate, measure, sweep
from hyperacuity.errors import InputError, UsageError

MORE = ("baddeley(k=1)", "baddeley(k=3,cap=4)", "theta(k=1,delta=3,clip=true)", "hausdorff(percent=10,tail=mean_top)")


@settings(deadline=None, max_examples=30)
@given(
    shape=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    seed=st.integers(0, 10**6),
    edges=st.sampled_from([0, 0.05, 1]),
    survivors=st.sampled_from([0, 0.01, 0.3]),
)
def test_a_sweep_gives_what_the_measures_give_threshold_by_threshold(
    shape: tuple[int, int], seed: int, edges: float, survivors: float
) -> None:
    random = np.random.default_rng(seed)
    truth = random.random(shape) < edges
    thin = np.where(random.random(shape) < survivors, random.random(shape), 0).astype(np.float32)
    swept = sweep(truth, thin, (*PAPER, *MORE), thresholds=11)
    for t, threshold in enumerate(swept.thresholds):
        expected = evaluate(truth, edges_at(thin, threshold), swept.names)
        found = dict(zip(swept.names, swept.scores[:, t], strict=True))
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)


def test_a_perfect_threshold_is_found_among_weaker_and_stronger_errors() -> None:
    truth = np.zeros((60, 80), bool)
    truth[30] = True
    noise = np.random.default_rng(0).random(truth.shape) < 0.2
    thin = np.where(truth, 0.5, noise * 0.3).astype(np.float32)
    swept = sweep(truth, thin)
    for name in PAPER:
        best = swept.best(name)
        assert best.score == pytest.approx(0, abs=1e-9)
        np.testing.assert_array_equal(best.edges, edges_at(thin, best.threshold))
        if measure(name).penalises == "both":
            assert (best.threshold, best.plateau[1]) == pytest.approx((0.31, 0.5))
            np.testing.assert_array_equal(best.edges, truth)


def test_of_equal_scores_the_smallest_threshold_is_taken() -> None:
    swept = sweep([[1, 0, 1]], [[0.4, 0, 0.4]], "pm", thresholds=11)
    assert swept.best("pm").plateau == pytest.approx((0, 0.4))
    assert swept.of("pm").tolist() == [0] * 5 + [1] * 6


def test_a_second_minimum_is_not_part_of_the_plateau() -> None:
    # one hit, a false pixel joins, then the second hit and another false pixel leave the share of errors as it was
    swept = sweep([[1, 0, 1, 0]], [[0.9, 0.5, 0.0, 0.0]], "pm", thresholds=[0.2, 0.7, 0.8, 1.0])
    assert swept.of("pm").tolist() == [2 / 3, 1 / 2, 1 / 2, 1]
    assert swept.best("pm").plateau == (0.7, 0.8)


def test_strengths_written_as_a_threshold_reach_it() -> None:
    levels = np.linspace(0, 1, 101)
    thin = levels[1:].astype(np.float32)[None]
    assert [int(edges_at(thin, level).sum()) for level in levels] == [100, *range(100, 0, -1)]


def test_zero_keeps_what_survived_suppression_and_nothing_else() -> None:
    swept = sweep([[1, 1, 0]], [[1, 0, 0.001]], "pm")
    assert (swept.hits[0], swept.false[0], swept.missed[0]) == (1, 1, 1)


def test_curves_without_tolerance_follow_from_the_counts() -> None:
    swept = sweep([[1, 1, 0, 0]], [[0.9, 0.2, 0.5, 0]], "pm", thresholds=[0.1, 0.3, 0.8, 1.0])
    assert swept.recall.tolist() == [1, 0.5, 0.5, 0]
    assert swept.precision.tolist()[:3] == [2 / 3, 1 / 2, 1]
    assert math.isnan(swept.precision[3])
    assert swept.false_rate.tolist() == [0.5, 0.5, 0, 0]


def test_an_empty_truth_leaves_measures_per_true_pixel_without_a_best() -> None:
    best = sweep(np.zeros((3, 3)), np.eye(3) / 2, "psi", thresholds=[0.1, 0.2]).best("psi")
    assert math.isnan(best.score)
    assert not best.edges.any()


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(InputError, match="soft map is 2×1 but truth is 3×1"):
        sweep([[1, 0, 0]], [[0.5, 0.5]])
    with pytest.raises(InputError, match="expected \\[0, 1\\]"):
        sweep([[1, 0]], [[2.0, 0.5]])
    for thresholds in (0, [0.5, 0.5], [0.9, 0.1], [-0.1], [1.5], []):
        with pytest.raises(UsageError, match="threshold"):
            sweep([[1, 0]], [[1, 0.5]], thresholds=thresholds)
    with pytest.raises(UsageError, match="was not swept"):
        sweep([[1, 0]], [[1, 0.5]], "psi").best("pm")
