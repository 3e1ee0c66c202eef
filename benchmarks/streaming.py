"""How much memory a table takes: many systems, many images, one system's tallies at a time.

Run as ``python benchmarks/streaming.py``; each line is a process of its own, which fills a spool with made-up tallies of 99
thresholds (every count different, so that nothing is easy to compress) and prints the table of the boundary benchmark.
"""

from __future__ import annotations

import io
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
from rich.console import Console

from hyperacuity.boundary import Protocol
from hyperacuity.boundary.tallies import BoundaryTally
from hyperacuity.boundary.task import TASK
from hyperacuity.evaluation.jobs import job_for
from hyperacuity.evaluation.readers.contours import ContourReader
from hyperacuity.evaluation.result import Result
from hyperacuity.run import Cell, Spool

SIZES = ((5, 200), (5, 2_000), (50, 2_000), (5, 20_000), (2, 100_000))
THRESHOLDS = 99


def peak() -> float:
    """The most memory that this process ever had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def made_up(random: np.random.Generator, protocol: Protocol) -> BoundaryTally:
    detected = np.sort(random.integers(100, 50_000, THRESHOLDS))[::-1]
    truth = np.full(THRESHOLDS, random.integers(1_000, 5_000))
    matched = np.minimum(truth, (detected * random.uniform(0.3, 0.9)).astype(np.int64))
    return BoundaryTally(
        matched, truth, np.minimum(matched, detected), detected, detected * 5, detected, protocol=protocol
    )


def measure(systems: int, images: int) -> None:
    protocol = Protocol()
    job = job_for(TASK, protocol, ContourReader())
    names, random, spool, start = [f"system {n}" for n in range(systems)], np.random.default_rng(1), Spool(), peak()
    for position in range(systems * images):
        cell = Cell(names[position // images], f"{position % images:06}", Path("map.png"), ())
        spool.add(cell, position, made_up(random, protocol).pack())
    filled = peak()
    result = Result(
        job, {name: {"": name} for name in names}, lambda name: spool.tallies(name, BoundaryTally, job.protocol)
    )
    result.table(Console(file=io.StringIO(), width=200))
    whole = systems * images * THRESHOLDS * 5 * 8 / 2**20
    print(
        f"| {systems} × {images:,} | {whole:,.0f} MB | {start:,.0f} MB | {filled:,.0f} MB | {peak():,.0f} MB |",
        flush=True,
    )


def main() -> None:
    if len(sys.argv) == 3:
        measure(*map(int, sys.argv[1:]))
        return
    print(
        "| systems × images | tallies | at the start | after filling | after the table |\n|---|---:|---:|---:|---:|",
        flush=True,
    )
    for systems, images in SIZES:
        subprocess.run([sys.executable, __file__, str(systems), str(images)], check=True)


if __name__ == "__main__":
    main()
