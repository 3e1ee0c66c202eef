"""Kept machine code never answers for changed source."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import hyperacuity.kernels
from hyperacuity.kernels import _sources, cache_folder

CALLER = """
from hyperacuity.kernels import kernel
from hyperacuity.kernels.callee import number

@kernel
def twice():
    return 2 * number()

print(twice())
"""

CALLEE = """
from hyperacuity.kernels import kernel

@kernel
def number():
    return {}
"""


def test_a_modules_folder_depends_on_all_that_is_compiled_into_it():
    assert {"sweep", "assignment", "pairs", "bits", "thinning"} <= set(_sources("sweep", {}))
    assert "sweep" not in _sources("bits", {})
    assert cache_folder("hyperacuity.kernels.sweep") != cache_folder("hyperacuity.kernels.bits")


def test_a_changed_callee_is_compiled_into_its_caller_anew(tmp_path):
    package = tmp_path / "hyperacuity"
    shutil.copytree(
        Path(hyperacuity.kernels.__file__).parents[1], package, ignore=shutil.ignore_patterns("__pycache__")
    )
    (package / "kernels/caller.py").write_text(CALLER)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    printed = []
    for value in (20, 21, 21):
        (package / "kernels/callee.py").write_text(CALLEE.format(value))
        call = [sys.executable, "-c", "import hyperacuity.kernels.caller"]
        printed.append(subprocess.run(call, env=environment, capture_output=True, text=True, check=True).stdout.strip())
    assert printed == ["40", "42", "42"]
    assert len(list((tmp_path / "cache/kernels").glob("caller-*"))) == 2
