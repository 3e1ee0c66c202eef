"""The processors of this machine, and where compiled kernels lie. Imports nothing that takes time."""

from __future__ import annotations

import os
from pathlib import Path


def cache_base() -> Path:
    """Folder of all compiled kernels: under ``NUMBA_CACHE_DIR`` if that is set, else in the user's cache folder."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen) / "kernels"
    import platformdirs

    return Path(platformdirs.user_cache_dir("hyperacuity", appauthor=False)) / "kernels"


def processors() -> int:
    """Processors this process may use: fewer than the machine has, in a container or under ``taskset``."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
