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


class Package:
    """A copy of the package with two kernels more, one of which calls the other."""

    def __init__(self, place: Path) -> None:
        self.place = place
        source = Path(hyperacuity.kernels.__file__).parents[1]
        shutil.copytree(source, place / "hyperacuity", ignore=shutil.ignore_patterns("__pycache__"))
        (place / "hyperacuity/kernels/caller.py").write_text(CALLER)

    def prints(self, value: int, kept: Path) -> str:
        """What the caller makes of a callee's number, with compiled kernels in ``kept``."""
        (self.place / "hyperacuity/kernels/callee.py").write_text(CALLEE.format(value))
        environment = {**os.environ, "PYTHONPATH": str(self.place), "NUMBA_CACHE_DIR": str(kept)}
        call = [sys.executable, "-c", "import hyperacuity.kernels.caller"]
        return subprocess.run(call, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def test_a_changed_callee_is_compiled_into_its_caller_anew(tmp_path):
    package, kept = Package(tmp_path / "one"), tmp_path / "cache"
    assert [package.prints(value, kept) for value in (20, 21, 21)] == ["40", "42", "42"]
    assert len(list((kept / "kernels").glob("caller-*"))) == 2


def test_another_checkout_finds_the_same_kernels(tmp_path):
    kept = tmp_path / "cache"
    for place in ("one", "two"):
        assert Package(tmp_path / place).prints(20, kept) == "40"
    (folder,) = (kept / "kernels").glob("caller-*")
    assert len(list(folder.glob("*.nbc"))) == 1, "compiled once, though the files lie elsewhere"
    before = {file: file.stat().st_mtime_ns for file in folder.iterdir()}
    Package(tmp_path / "three").prints(20, kept)
    assert {file: file.stat().st_mtime_ns for file in folder.iterdir()} == before


def test_kernels_are_compiled_where_nothing_can_be_kept(tmp_path):
    (tmp_path / "cache").write_text("a file where a folder belongs")
    assert Package(tmp_path / "one").prints(20, tmp_path / "cache") == "40"
