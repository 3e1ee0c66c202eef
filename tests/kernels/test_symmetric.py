"""Eigenvalues and eigenvectors beside numpy's, and of matrices on which methods stumble."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hyperacuity.kernels import symmetric
from hyperacuity.kernels.symmetric import product, symmetric_eigen


def solved(matrix):
    """What was found, once it is sure that they are eigenvectors, of length 1 and at right angles to each other."""
    values, vectors = symmetric_eigen(matrix)
    matrix, size = (matrix + matrix.T) / 2, max(1.0, float(np.abs(matrix).max(initial=0)) * len(matrix))
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(len(matrix)), atol=1e-12)
    np.testing.assert_allclose(vectors @ matrix, values[:, None] * vectors, atol=1e-13 * size)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix), atol=1e-13 * size)
    return values, vectors


@settings(deadline=None)
@given(st.integers(1, 7).flatmap(lambda n: arrays(np.float64, (n, n), elements=st.integers(-3, 3))))
def test_matrices_of_few_whole_numbers(matrix):
    solved(matrix)


@pytest.mark.parametrize("size", [2, 32, 120])
def test_matrices_of_chance(size):
    matrix = np.random.default_rng(size).normal(size=(size, size))
    solved(matrix)
    solved(matrix @ matrix.T)


def test_what_is_tridiagonal_diagonal_or_nothing_already():
    chain = np.diag(np.full(9, 2.0)) - np.diag(np.ones(8), 1) - np.diag(np.ones(8), -1)
    np.testing.assert_allclose(solved(chain)[0], 2 - 2 * np.cos(np.arange(1, 10) * np.pi / 10), atol=1e-14)
    assert solved(np.diag([3.0, 1.0, 2.0]))[0].tolist() == [1, 2, 3]
    assert solved(np.zeros((4, 4)))[0].tolist() == [0] * 4
    values, vectors = symmetric_eigen(np.zeros((0, 0)))
    assert values.shape == (0,)
    assert vectors.shape == (0, 0)


def test_scales_that_differ_by_ten_orders_of_magnitude():
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 20)))[0]
    known = np.logspace(-10, 0, 20)
    np.testing.assert_allclose(solved(turned * known @ turned.T)[0], known, atol=1e-15)


def test_what_does_not_settle_is_said(monkeypatch):
    monkeypatch.setattr(symmetric, "_rotate", lambda *given: False)
    with pytest.raises(ArithmeticError, match="of 3 rows do not settle"):
        symmetric_eigen(np.eye(3))


def test_a_product_is_numpys():
    rng = np.random.default_rng(1)
    left, right = rng.normal(size=(3, 5)), rng.normal(size=(5, 4))
    np.testing.assert_allclose(product(left, right), left @ right, rtol=1e-13)
    assert product(np.zeros((2, 0)), np.zeros((0, 3))).tolist() == [[0] * 3] * 2
