"""Kernels on small and awkward maps: compiled, they give what their source gives as plain Python, which checks every index."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

PROGRAM = Path(__file__).parents[2] / "fuzz/fuzz_kernels.py"


def results(path: Path, rounds: int, **environment: str) -> dict[str, np.ndarray]:
    call = [sys.executable, str(PROGRAM), str(path), "--rounds", str(rounds)]
    subprocess.run(call, env={**os.environ, **environment}, check=True)
    with np.load(path, allow_pickle=False) as found:
        return dict(found)


def test_compiled_kernels_equal_their_source_as_plain_python(tmp_path, many):
    rounds = many(1, 3)
    compiled = results(tmp_path / "compiled.npz", rounds)
    plain = results(tmp_path / "plain.npz", rounds, NUMBA_DISABLE_JIT="1")
    assert len(compiled) > 500 * rounds
    assert compiled.keys() == plain.keys()
    for name, value in compiled.items():
        if value.dtype.kind == "f":
            np.testing.assert_allclose(plain[name], value, rtol=1e-3, atol=1e-4, err_msg=name)
        else:
            np.testing.assert_array_equal(plain[name], value, err_msg=name)
