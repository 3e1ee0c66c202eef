"""Kernels compiled in two halves, and kept."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np

from hyperacuity.boundary import tally
from hyperacuity.kernels.ahead import compile_matching, compile_preparing, is_compiled
from hyperacuity.kernels.compiling import Kernel

LOADED = """
import sys
from hyperacuity.kernels.ahead import compile_matching
compile_matching()
print(*(name for name in ("numba.np.arraymath", "scipy.linalg") if name in sys.modules))
"""


def variants():
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("hyperacuity.kernels.")]
    kernels = [value for module in modules for value in vars(module).values() if isinstance(value, Kernel)]
    return sum(len(kernel.signatures) for kernel in kernels)


def test_after_both_halves_nothing_of_a_sweep_is_left_to_compile():
    compile_preparing()
    compile_matching()
    before = variants()
    soft = np.tile(np.linspace(0, 1, 20, dtype=np.float32), (9, 1))
    tally(soft, [soft > 0.5, soft > 0.9])
    assert variants() == before


def test_kept_kernels_are_loaded_without_what_compiling_takes():
    compile_matching()
    assert is_compiled()
    done = subprocess.run([sys.executable, "-c", LOADED], env=os.environ, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
