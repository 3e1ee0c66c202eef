"""Functions that become machine code once, as part of what Python calls."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from hyperacuity.kernels import allocating_kernel, inlined_kernel, kernel

CALLED = """
import sys
import numpy as np
from hyperacuity.kernels.thinning import thin, thin_bits
thin(np.ones((9, 9), bool))
from hyperacuity.kernels import cache_base
print(*sorted(path.name.split("-")[0] for path in cache_base().rglob("*.nbi")))
"""


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
def test_errors_of_parts_arrive(call):
    with pytest.raises(ValueError, match="negative"):
        call(-1)


def test_only_what_python_calls_is_optimised_and_kept(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", CALLED], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["bits.pack", "bits.unpack", "thinning.thin_bits"]


def test_only_the_whole_has_machine_code():
    _four_times(np.zeros(2))
    (whole,), (part,) = (
        [found for types, found in side.overloads.items() if types[0].dtype.name == "float64"]
        for side in (_four_times, _four_times_each.part)
    )
    addresses = [one.library.get_pointer_to_function(one.fndesc.llvm_func_name) for one in (whole, part)]
    assert addresses[0] != 0
    assert addresses[1] == 0
