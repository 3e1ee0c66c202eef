"""Sixteen numbers at a time: what is computed is what single numbers would give, rounding included."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from hyperacuity.kernels.lanes import LANES, load, spread, store

kernel = numba.njit  # not kept on disk, where a change of the lanes would not be noticed


@kernel
def polynomial(values, factors, result):
    """((x·f₀ + x)·f₁ − x)·f₂ … from the second number on: the lanes start anywhere."""
    x = load(values, 1)
    total = spread(np.float32(0))
    for k in range(factors.size):
        total = total * spread(factors[k]) + x if k % 2 else total * spread(factors[k]) - x
    store(result, 2, total)


@pytest.mark.parametrize("run", [polynomial, polynomial.py_func], ids=["compiled", "plain"])
def test_each_number_is_rounded_as_if_alone(run):
    rng = np.random.default_rng(7)
    values, factors = rng.normal(size=LANES + 3).astype(np.float32), rng.normal(size=9).astype(np.float32)
    result = np.zeros(LANES + 4, np.float32)
    run(values, factors, result)
    for lane in range(LANES):
        x, total = values[1 + lane], np.float32(0)
        for k, factor in enumerate(factors):
            total = np.float32(total * factor)
            total = np.float32(total + x) if k % 2 else np.float32(total - x)
        assert result[2 + lane] == total
    assert not result[:2].any()
    assert not result[2 + LANES :].any()


@kernel
def growing(counts, result):
    """x + x + … − 3 · x, with the numbers' own type throughout."""
    x = load(counts, 1)
    total = x
    for _ in range(4):
        total = total + x
    store(result, 1, total - x * spread(counts[0]))


@pytest.mark.parametrize("run", [growing, growing.py_func], ids=["compiled", "plain"])
@pytest.mark.parametrize("kind", [np.uint16, np.uint32, np.float64])
def test_counts_wrap_around_and_double_precision_is_kept(run, kind):
    counts = np.random.default_rng(8).integers(0, 2**16, LANES + 2).astype(kind)
    counts[0] = 3
    result = np.zeros(LANES + 2, kind)
    run(counts, result)
    expected = 2 * counts[1:-1].astype(np.uint64)
    np.testing.assert_array_equal(result[1:-1], expected % 2**16 if kind == np.uint16 else expected)
    assert result[0] == result[-1] == 0
