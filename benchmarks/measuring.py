"""How things are measured here: CPU time, the best of several calls and their spread, and the machine it was on."""

from __future__ import annotations

import hashlib
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

Work = Callable[[], Any]

ENOUGH = 5.0
"""Seconds after which a call is not repeated once more."""

LIBRARIES = ("numpy", "scipy", "numba", "scikit-image", "opencv-python-headless", "pyEdgeEval", "moocore")


@dataclass(frozen=True)
class Timing:
    """CPU seconds of the fastest call; how far the median lies above it, as a fraction; and the last result."""

    best: float
    spread: float
    result: Any


@dataclass(frozen=True)
class Case:
    """One thing to measure: ours, named peers that do the same or part of it, and whether results agree (ours, peer's)."""

    what: str
    ours: Work
    peers: Mapping[str, Work] = field(default_factory=dict)
    agree: Callable[[Any, Any], bool] | None = None


def timed(work: Work, repeats: int) -> Timing:
    """Time several calls of the whole process, threads and all. A first call, which may compile, is the caller's business."""
    times: list[float] = []
    result = None
    while len(times) < repeats and sum(times) < ENOUGH:
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    best = min(times)
    return Timing(best, (statistics.median(times) - best) / best if best else 0.0, result)


def cpu_seconds(work: Work, *, repeats: int) -> float:
    """CPU seconds of the fastest of several calls."""
    return timed(work, repeats).best


def cpu_ms(work: Work, *, repeats: int = 5) -> float:
    """The same in milliseconds."""
    return 1e3 * cpu_seconds(work, repeats=repeats)


def calibration(repeats: int = 5) -> Timing:
    """A fixed piece of work that has nothing to do with this package: a stable sort of half a million numbers.

    A time divided by this one can be compared between machines, roughly, and between a quiet and a busy hour of one machine.
    """
    numbers = np.random.default_rng(0).random(500_000)
    return timed(lambda: np.sort(numbers, kind="stable"), repeats)


def machine() -> dict[str, Any]:
    """What a reader has to know of the machine."""
    libraries = {}
    for name in LIBRARIES:
        try:
            libraries[name] = version(name)
        except PackageNotFoundError:
            libraries[name] = "not installed"
    found = {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "memory_gb": round(_memory_bytes() / 1e9),
        "system": platform.system(),
        "python": platform.python_version(),
        "libraries": libraries,
    }
    return {**found, "fingerprint": hashlib.blake2b(repr(found).encode(), digest_size=4).hexdigest()}


def load() -> float | None:
    """How many processes want a core, over the last minute; None where the system does not say."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def commit() -> str:
    """The commit of the working tree, with a + where files differ from it."""
    here = Path(__file__).parent
    name = subprocess.run(["git", "rev-parse", "--short=9", "HEAD"], cwd=here, capture_output=True, text=True)
    if name.returncode:
        return "unknown"
    changed = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=no", "../src"], cwd=here, capture_output=True, text=True
    )
    return name.stdout.strip() + ("+" if changed.stdout.strip() else "")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _memory_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0
