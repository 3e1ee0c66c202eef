"""Where compiled kernels lie, and a head start for those that are compiled first. Imports nothing that takes time.

On a machine that has no kernels yet, a command spends its first second with importing libraries on one processor. Meanwhile
another one can compile: :func:`head_start` begins with that before anything else is loaded.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from pathlib import Path

HALF = "hyperacuity.kernels.ahead"
"""The module that, when run, compiles one half of what a sweep over thresholds needs."""

_running: list[subprocess.Popen[bytes]] = []


def cache_base() -> Path:
    """Where all compiled kernels are kept: under ``NUMBA_CACHE_DIR`` if that is set, else in the user's cache folder."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen) / "kernels"
    import platformdirs

    return Path(platformdirs.user_cache_dir("hyperacuity", appauthor=False)) / "kernels"


def processors() -> int:
    """Processors this process may use: fewer than the machine has, in a container or under ``taskset``."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def head_start() -> None:
    """Let another process compile its half of a sweep, where there never was one and there is a processor to spare."""
    if processors() > 1 and not any(cache_base().glob("sweep-*")):
        start_half()


def start_half() -> subprocess.Popen[bytes]:
    """The process that compiles one half, which may be running already. It ends with this one at the latest."""
    if not _running:
        call = [sys.executable, "-m", HALF]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(call, stdin=quiet, stdout=quiet, stderr=quiet)  # noqa: S603
        atexit.register(_end, process)
        _running.append(process)
    return _running[0]


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        process.wait()
