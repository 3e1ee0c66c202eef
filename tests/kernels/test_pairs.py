"""Costs of pairs take 32 bits where these hold them and 64 elsewhere, which changes no matching."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from hyperacuity.boundary import match


def sparse_maps(count: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    maps = np.zeros((2, 90, 90), np.bool_)
    for one in maps:
        one.flat[rng.choice(one.size, count, replace=False)] = True
    return maps


@pytest.mark.parametrize("tolerance", [40.0, 41.0, 150.0])  # 4000, 4100 and 15000 steps; 12 bits hold 4095
def test_far_pairs_are_matched_at_the_least_distance(tolerance):
    detected, truth = sparse_maps(30)
    found = match(detected, truth, tolerance_px=tolerance, checked=True)
    distance = np.linalg.norm(np.argwhere(detected)[:, None] - np.argwhere(truth)[None], axis=2)
    steps = np.where(distance <= tolerance, np.rint(100 * distance), 1e6)  # a pair too far costs more than all others
    chosen = steps[linear_sum_assignment(steps)]
    assert found.count == np.count_nonzero(chosen < 1e6)
    assert np.rint(100 * found.distances).sum() == chosen[chosen < 1e6].sum()


def test_costs_that_take_64_bits_choose_the_same_pairs():
    detected, truth = sparse_maps(2000)
    narrow = match(detected, truth, tolerance_px=5)
    wide = match(detected, truth, tolerance_px=5, pair_cost=lambda g, d: np.zeros(g.size), pair_cost_most=1e4)
    assert np.array_equal(narrow.detected, wide.detected)
    assert np.array_equal(narrow.truth, wide.truth)
