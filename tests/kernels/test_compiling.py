"""Kernels of all sorts, called by Python and by each other."""

from __future__ import annotations

import numpy as np
import pytest

from hyperacuity.kernels import allocating_kernel, inlined_kernel, kernel


@kernel
def _double(values, at):
    values[at] *= 2
    return values[at]


@inlined_kernel
def _twice(values, at):
    _double(values, at)
    return _double(values, at)


@kernel
def _four_times_each(values):
    total = values[0] - values[0]
    for i in range(values.size):
        total += _twice(values, i)
    return total


@allocating_kernel
def _four_times(values):
    copied = np.empty_like(values)
    for i in range(values.size):
        copied[i] = values[i]
    return copied, _four_times_each(copied)


@kernel
def _refuse(value):
    if value < 0:
        raise ValueError("negative")
    return value


@kernel
def _pass_on(value):
    return _refuse(value) + 1


def test_a_function_does_the_same_whoever_calls_it():
    for dtype in (np.int64, np.float32):
        values = np.arange(5).astype(dtype)
        copied, total = _four_times(values)
        assert (copied == 4 * np.arange(5)).all()
        assert total == 40
        assert (values == np.arange(5)).all()
        assert _four_times_each(values) == 40
        assert _double(values, 1) == 8


@pytest.mark.parametrize("call", [_pass_on, _refuse])
def test_errors_arrive(call):
    with pytest.raises(ValueError, match="negative"):
        call(-1)
