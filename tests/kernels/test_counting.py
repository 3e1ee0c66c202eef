"""The number of pairs alone, against the matching with prices, and against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from hyperacuity.kernels.counting import sweep_counts
from hyperacuity.kernels.pairs import reach
from hyperacuity.kernels.sweep import sweep
from hyperacuity.kernels.thinning import thin

LEVELS = np.array([0.2, 0.4, 0.6, 0.8])


def maps(seed, density):
    rng = np.random.default_rng(seed)
    soft = np.round(rng.random((18, 70)), 1).astype(np.float32)
    return soft, rng.random((18, 70)) < density, rng.random((18, 70)) < 0.3


@given(
    st.integers(0, 10**6),
    st.sampled_from([0.02, 0.2, 0.6]),
    st.sampled_from([0.0, 1.0, 2.3, 5.0, 11.0, 40.0]),
    st.booleans(),
)
@settings(deadline=None, max_examples=40)
def test_it_counts_the_pairs_of_the_matching_with_prices(seed, density, tolerance, thinned):
    soft, truth, _ = maps(seed, density)
    expected = sweep(soft, [truth], LEVELS, reach(tolerance), thin=thinned, checked=True)
    matched, detected, _ = sweep_counts(soft, truth, LEVELS, reach(tolerance), thin=thinned)
    assert np.array_equal(matched, expected.matched[0])
    assert np.array_equal(detected, expected.detected)


@pytest.mark.parametrize("thinned", [True, False])
def test_pixels_left_out_take_part_in_thinning_and_not_in_pairs(thinned):
    soft, truth, without = maps(7, 0.3)
    matched, detected, _ = sweep_counts(soft, truth, LEVELS, reach(2.3), thin=thinned, without=without)
    y, x = np.divmod(np.arange(soft.size), soft.shape[1])
    for t, level in enumerate(LEVELS):
        kept = soft >= np.float32(level)
        kept = (thin(kept) if thinned else kept) & ~without
        d, g = np.flatnonzero(kept), np.flatnonzero(truth)
        near = (y[d][:, None] - y[g]) ** 2 + (x[d][:, None] - x[g]) ** 2 <= 2.3**2
        assert detected[t] == d.size
        assert matched[t] == np.count_nonzero(maximum_bipartite_matching(csr_array(near)) >= 0)


def test_nothing_to_find_and_nothing_found_give_no_pairs():
    soft, truth, _ = maps(1, 0.2)
    for one, other in ((soft, np.zeros_like(truth)), (np.zeros_like(soft), truth)):
        matched, detected, _ = sweep_counts(one, other, LEVELS, reach(3), thin=True)
        assert not matched.any()
        assert detected.any() == one.any()
