"""Eight numbers at a time: what is computed is what single numbers would give, rounding included."""

from __future__ import annotations

import numpy as np
import pytest

from hyperacuity.kernels import kernel
from hyperacuity.kernels.lanes import LANES, load, spread, store


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
