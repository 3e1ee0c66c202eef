"""Passes over planes give what numpy's whole-array operations do, to the bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hyperacuity.kernels.planes import SHORT, STRETCH, add_fourth_roots, interpolate, nearest, strongest, weighted_sums

FEW = st.sampled_from([np.float32(value) for value in (0, 0.5, 1, 2)])


@settings(deadline=None)
@given(arrays(np.float32, st.tuples(*[st.integers(1, 5)] * 3), elements=FEW))
def test_the_strongest_is_the_first_largest(values):
    which, largest = strongest(values)
    np.testing.assert_array_equal(which, values.argmax(axis=0))
    np.testing.assert_array_equal(largest, values.max(axis=0))


@settings(deadline=None)
@given(arrays(np.float32, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=FEW), st.integers(1, 40), st.data())
def test_the_nearest_is_the_first_of_equals(points, size, data):
    values = data.draw(arrays(np.float32, (points.shape[1], size), elements=FEW))
    squares = ((points[:, :, None] - values) ** 2).sum(axis=1)  # exact, in halves
    np.testing.assert_array_equal(nearest(points, values), squares.argmin(axis=0))


def test_the_nearest_of_as_many_points_as_a_byte_can_number():
    rng = np.random.default_rng(0)
    points, values = rng.random((256, 3)).astype(np.float32), rng.random((3, 2 * SHORT + 77)).astype(np.float32)
    found = nearest(points, values)
    distances = ((points.astype(np.float64)[:, :, None] - values) ** 2).sum(axis=1)
    assert found.max() > 250
    np.testing.assert_allclose(np.take_along_axis(distances, found[None], axis=0)[0], distances.min(axis=0), atol=1e-6)


def test_weighted_sums_are_a_product_with_a_matrix():
    rng = np.random.default_rng(3)
    weights, values = rng.random((4, 5)).astype(np.float32), rng.random((5, SHORT + 3)).astype(np.float32)
    np.testing.assert_allclose(weighted_sums(weights, values), weights.astype(np.float64) @ values, rtol=1e-6)
    in_order = np.zeros_like(values[0])
    for weight, row in zip(weights[1], values, strict=True):
        in_order += weight * row
    np.testing.assert_array_equal(weighted_sums(weights, values)[1], in_order)


def test_fourth_roots_are_added_to_each_total_by_its_weight():
    rng = np.random.default_rng(1)
    values, weights = rng.random(2 * STRETCH + 5).astype(np.float32), np.float32([2, -0.3])
    totals = rng.random((2, values.size)).astype(np.float32)
    expected = totals + weights[:, None] * np.sqrt(np.sqrt(values))
    add_fourth_roots(values, weights, totals)
    np.testing.assert_array_equal(totals, expected)


def test_interpolation_is_linear_in_both_directions():
    rng = np.random.default_rng(2)
    values = rng.random((3, 4, 5)).astype(np.float32)
    at_y, at_x = np.array([0, 0.25, 1.5, 2.75, 3]), np.array([0, 1.125, 2.5, 3.875, 4, 4])
    rows, columns = at_y.astype(np.int64), at_x.astype(np.int64)
    result = np.empty((3, 5, 6), np.float32)
    weights = [(at - whole).astype(np.float32) for at, whole in ((at_y, rows), (at_x, columns))]
    interpolate(values, rows, weights[0], columns, weights[1], np.empty(5, np.float32), result)
    for plane, found in zip(values, result, strict=True):
        down = np.stack([np.interp(at_y, np.arange(4), column) for column in plane.T], axis=1)
        expected = np.stack([np.interp(at_x, np.arange(5), row) for row in down])
        np.testing.assert_allclose(found, expected, rtol=1e-6)
