"""The matcher finds the optimum: other solvers agree on its cardinality and distance, and the certificate holds."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import maximum_bipartite_matching, min_weight_full_bipartite_matching

from hyperacuity.boundary import match, overlay, tolerance_in_pixels
from hyperacuity.errors import InputError, UsageError


def candidates(detected, truth, tolerance):
    """Squared distances of all pairs, and which are within the tolerance."""
    d, t = np.argwhere(detected), np.argwhere(truth)
    squares = ((d[:, None] - t[None]) ** 2).sum(axis=-1)
    return squares, squares <= tolerance * tolerance


def optimum_by_scipy(detected, truth, tolerance):
    """(pairs, hundredths of a pixel) of the best matching; a private outlier per pixel costs more than any matching."""
    squares, allowed = candidates(detected, truth, tolerance)
    n, m = squares.shape
    if not allowed.any():
        return 0, 0
    steps = np.rint(100 * np.sqrt(squares))
    outlier = float((steps.max() + 2) * (n + m + 1))
    costs = np.zeros((n + m, n + m))  # 0 is "no edge", so everything is raised by 1
    costs[:n, :m] = np.where(allowed, steps + 1, 0)
    costs[np.arange(n), m + np.arange(n)] = outlier
    costs[n + np.arange(m), np.arange(m)] = outlier
    costs[n:, m:] = allowed.T
    rows, columns = min_weight_full_bipartite_matching(sparse.csr_array(costs))
    real = (rows < n) & (columns < m)
    return int(real.sum()), int(steps[rows[real], columns[real]].sum())


def random_maps(seed, side=40):
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, side, 2)
    return rng.random(shape) < 0.5 * rng.random(), rng.random(shape) < 0.5 * rng.random(), 6 * rng.random()


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=80, deadline=None)
def test_count_and_distance_equal_scipys_optimum(seed):
    detected, truth, tolerance = random_maps(seed)
    found = match(detected, truth, tolerance_px=tolerance, checked=True)
    assert (found.count, int(np.rint(100 * found.distances).sum())) == optimum_by_scipy(detected, truth, tolerance)


def test_equals_the_optimum_of_networkx():
    rng = np.random.default_rng(11)
    detected, truth, tolerance = rng.random((14, 14)) < 0.2, rng.random((14, 14)) < 0.2, 2.5
    squares, allowed = candidates(detected, truth, tolerance)
    graph = nx.Graph()
    for i, j in np.argwhere(allowed):
        graph.add_edge(("d", i), ("t", j), weight=10**6 - round(100 * squares[i, j] ** 0.5))
    pairs = nx.max_weight_matching(graph, maxcardinality=True)
    found = match(detected, truth, tolerance_px=tolerance)
    assert found.count == len(pairs) > 10
    total = sum(10**6 - graph.edges[a, b]["weight"] for a, b in pairs)
    assert int(np.rint(100 * found.distances).sum()) == total


def test_one_more_pair_is_worth_any_distance():
    # A chain in which the second pair costs every other pair more than four pixels.
    detected = np.zeros((1, 40), dtype=bool)
    truth = np.zeros((1, 40), dtype=bool)
    detected[0, [0, 5, 10, 15, 20]] = True
    truth[0, [5, 10, 15, 20, 25]] = True
    assert match(detected, truth, tolerance_px=4).count == 4
    found = match(detected, truth, tolerance_px=5)
    assert (found.count, found.distance) == (5, 25.0)


@pytest.mark.parametrize(("tolerance", "expected"), [(4.99, 0), (5.0, 1), (5.01, 1)])
def test_the_tolerance_is_inclusive(tolerance, expected):
    detected = np.zeros((6, 6), dtype=bool)
    truth = detected.copy()
    detected[0, 0] = truth[3, 4] = True
    assert match(detected, truth, tolerance_px=tolerance).count == expected


def test_berkeleys_tolerance_for_their_image_size():
    assert tolerance_in_pixels((481, 321), 0.0075) == pytest.approx(4.3371, abs=5e-5)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_swapping_the_maps_keeps_count_and_distance(seed):
    detected, truth, tolerance = random_maps(seed)
    one, other = match(detected, truth, tolerance_px=tolerance), match(truth, detected, tolerance_px=tolerance)
    assert one.count == other.count
    assert np.rint(100 * one.distances).sum() == np.rint(100 * other.distances).sum()


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_partners_are_mutual_within_the_tolerance_and_used_once(seed):
    detected, truth, tolerance = random_maps(seed)
    found = match(detected, truth, tolerance_px=tolerance)
    assert len(set(found.detected.tolist())) == len(set(found.truth.tolist())) == found.count
    assert detected.flat[found.detected].all()
    assert truth.flat[found.truth].all()
    assert (found.distances <= tolerance + 1e-9).all()
    to_truth, to_detected = found.partner_of_detected, found.partner_of_truth
    assert (to_detected.flat[to_truth[to_truth >= 0]] == np.flatnonzero(to_truth >= 0)).all()


def test_a_map_matches_itself_at_no_distance():
    edges = np.random.default_rng(3).random((50, 60)) < 0.2
    found = match(edges, edges)
    assert (found.count, found.distance) == (int(edges.sum()), 0.0)


def test_empty_maps_give_no_pairs():
    nothing, something = np.zeros((5, 5)), np.eye(5)
    assert match(nothing, something).count == match(something, nothing).count == match(nothing, nothing).count == 0


def test_a_tolerance_of_tens_of_pixels_spans_several_words():
    rng = np.random.default_rng(8)
    detected, truth = rng.random((150, 260)) < 0.003, rng.random((150, 260)) < 0.003
    found = match(detected, truth, tolerance_px=75.5, checked=True)
    assert (found.count, int(np.rint(100 * found.distances).sum())) == optimum_by_scipy(detected, truth, 75.5)


def test_further_costs_decide_between_partners():
    detected = np.array([[1, 0, 0, 0, 0]])
    truth = np.array([[0, 1, 0, 1, 0]])
    near = match(detected, truth, tolerance_px=4)
    assert near.truth.tolist() == [1]

    def dislike_the_near_one(truths, detecteds):
        assert detecteds.tolist() == [0, 0]
        return np.where(truths == 1, 3.0, 0.0)

    far = match(detected, truth, tolerance_px=4, pair_cost=dislike_the_near_one, pair_cost_most=3)
    assert far.truth.tolist() == [3]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_with_further_costs_it_is_still_the_optimum(seed):
    detected, truth, tolerance = random_maps(seed, side=16)
    table = np.random.default_rng(seed).integers(0, 500, (detected.size, detected.size)) / 100

    found = match(
        detected, truth, tolerance_px=tolerance, pair_cost=lambda g, d: table[g, d], pair_cost_most=5, checked=True
    )
    squares, allowed = candidates(detected, truth, tolerance)
    d, t = np.flatnonzero(detected), np.flatnonzero(truth)
    costs = np.rint(100 * np.sqrt(squares)) + np.rint(100 * table[t][:, d].T)
    rows, columns = linear_sum_assignment(np.where(allowed, costs - 10**7, 0))
    kept = allowed[rows, columns]
    assert found.count == kept.sum()
    paid = np.rint(100 * found.distances) + np.rint(100 * table[found.truth, found.detected])
    assert paid.sum() == costs[rows[kept], columns[kept]].sum()


def test_further_costs_outside_their_range_are_refused():
    with pytest.raises(InputError, match="run from 0 to 9 pixels, expected 0 to 3"):
        match(np.eye(3), np.eye(3), tolerance_px=2, pair_cost=lambda g, d: np.where(g == d, 0, 9), pair_cost_most=3)


def test_the_overlay_tells_hits_false_alarms_and_misses_apart():
    detected = np.array([[1, 0, 0, 0, 0, 1]], dtype=bool)
    truth = np.array([[0, 1, 0, 1, 0, 0]], dtype=bool)
    found = match(detected, truth, tolerance_px=1)
    np.testing.assert_array_equal(overlay(detected, truth, found), [[1, 0, 0, 3, 0, 2]])


def test_different_sizes_are_refused_with_both_sizes():
    with pytest.raises(InputError, match="detected is 4×3 but truth is 5×3"):
        match(np.zeros((3, 4)), np.zeros((3, 5)))


def test_a_tolerance_that_makes_no_sense_is_refused():
    with pytest.raises(UsageError, match="-1 pixels"):
        match(np.eye(3), np.eye(3), tolerance_px=-1)


def test_equals_the_optimum_on_berkeleys_maps(shared_data):
    from hyperacuity.data import read_boundary_truths, read_soft
    from hyperacuity.kernels.thinning import thin

    soft = read_soft(shared_data / "bsds-bench/ucm2/2018.mat")
    truth = read_boundary_truths([shared_data / "bsds-bench/groundTruth/2018.mat"])[0]
    detected = thin(soft >= 0.1)
    tolerance = tolerance_in_pixels(soft.shape, 0.0075)
    found = match(detected, truth, checked=True)
    squares, allowed = candidates(detected, truth, tolerance)
    graph = sparse.csr_array(allowed.astype(np.int8))
    assert found.count == (maximum_bipartite_matching(graph) >= 0).sum() > 1000
    rows, columns = linear_sum_assignment(np.where(allowed, np.rint(100 * np.sqrt(squares)) - 10**7, 0))
    kept = allowed[rows, columns]
    assert np.rint(100 * found.distances).sum() == np.rint(100 * np.sqrt(squares[rows[kept], columns[kept]])).sum()
