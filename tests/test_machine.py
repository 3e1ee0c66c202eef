"""The folder of compiled kernels, and the number of processors."""

from __future__ import annotations

import os
import sys

import pytest

from hyperacuity import machine


def test_kernels_lie_in_numbas_folder_or_in_the_users(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert machine.cache_base() == tmp_path / "kernels"
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if sys.platform == "linux":
        assert machine.cache_base() == tmp_path / "cache" / "hyperacuity" / "kernels"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes cannot be bound to processors here")
def test_only_processors_count_that_this_process_may_use():
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert machine.processors() == 1
    finally:
        os.sched_setaffinity(0, allowed)
    assert machine.processors() == len(allowed)
