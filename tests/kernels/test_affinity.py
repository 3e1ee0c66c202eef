"""Products with the matrix of affinities, beside numpy's with the whole matrix."""

from __future__ import annotations

import numpy as np
import pytest

from hyperacuity.kernels.affinity import (
    TOGETHER,
    contour_affinity,
    frames,
    like,
    mix,
    multiply,
    neighbour_offsets,
    normalise,
    planes,
    products,
)

RADIUS = 3


@pytest.fixture(params=[(9, 14), (6, 5), (1, 11)], ids=str)
def vectors(request):
    return np.random.default_rng(0).normal(size=(TOGETHER, *request.param)).astype(np.float32)


def whole(weights, offsets):
    height, width, _ = weights.shape
    matrix = np.zeros((height, width, height, width))
    for y, x, k in zip(*np.nonzero(weights), strict=True):
        matrix[y, x, y + offsets[k, 0], x + offsets[k, 1]] = weights[y, x, k]
    return matrix.reshape(height * width, -1)


def test_multiplying_is_that_of_the_whole_matrix(vectors):
    offsets, shape = neighbour_offsets(RADIUS), vectors.shape[1:]
    weights = contour_affinity(np.random.default_rng(1).random(shape).astype(np.float32), RADIUS, 0.3)
    degree = normalise(weights, offsets)
    matrix = whole(weights, offsets)
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_allclose(matrix @ np.sqrt(degree).ravel(), np.sqrt(degree).ravel(), rtol=1e-5)
    last = np.random.default_rng(2).normal(size=vectors.shape).astype(np.float32)
    result = like(frames(last, RADIUS))
    given = frames(vectors, RADIUS)
    multiply(weights, offsets, given, frames(last, RADIUS), np.float32(1.5), np.float32(0.2), result)
    flat = vectors.reshape(TOGETHER, -1).T.astype(np.float64)
    expected = 1.5 * (matrix @ flat - 0.2 * flat) - last.reshape(TOGETHER, -1).T
    found = planes(result[RADIUS:-RADIUS, RADIUS:-RADIUS]).reshape(TOGETHER, -1).T
    np.testing.assert_allclose(found, expected, atol=1e-5)
    result[RADIUS:-RADIUS, RADIUS:-RADIUS] = 0
    assert not result.any(), "margins stay empty"


def test_frames_are_planes_pixel_by_pixel_and_begin_with_a_line_of_the_cache(vectors):
    framed = frames(vectors, RADIUS)
    assert framed.ctypes.data % 64 == 0
    np.testing.assert_array_equal(planes(framed), np.pad(vectors, ((0, 0), (RADIUS, RADIUS), (RADIUS, RADIUS))))


def test_products_are_those_of_all_pairs(vectors):
    other = np.random.default_rng(3).normal(size=vectors.shape).astype(np.float32)
    expected = np.einsum("ayx,byx->ab", vectors.astype(np.float64), other.astype(np.float64))
    np.testing.assert_allclose(products(frames(vectors, 2), frames(other, 2), 2), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("times", [1, 2])
def test_a_mixture_is_a_product_of_matrices(vectors, times):
    vectors = np.concatenate([vectors, 2 * vectors])[: times * TOGETHER]
    turn = np.random.default_rng(4).normal(size=(len(vectors),) * 2).astype(np.float32)
    mixed = frames(vectors, 1)
    mix(mixed, turn)
    expected = np.einsum("ayx,ab->byx", vectors.astype(np.float64), turn.astype(np.float64))
    np.testing.assert_allclose(planes(mixed[1:-1, 1:-1]), expected, atol=2e-4)
