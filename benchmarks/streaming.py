"""How much memory the commands take: many systems, many images, one system's tallies at a time.

Run as ``python benchmarks/streaming.py [SYSTEMS IMAGES]``. A run folder is filled with made-up tallies of 99 thresholds whose
counts all differ, so that nothing is easy to compress. The table of the boundary benchmark, ``hyperacuity compare --test
bootstrap`` and ``hyperacuity report --no-viewer`` are then made of it, each in a process of its own.
"""

from __future__ import annotations

import io
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console

from hyperacuity.boundary import Protocol
from hyperacuity.boundary.tallies import BoundaryTally
from hyperacuity.boundary.task import TASK
from hyperacuity.evaluation.comparison import compare_runs, show
from hyperacuity.evaluation.result import Result
from hyperacuity.kinds.contours import ContourKind
from hyperacuity.run import Cell, open_run, open_store
from hyperacuity.run.jobs import job_for

SIZES = ((5, 200), (5, 2_000), (50, 2_000), (5, 20_000), (2, 100_000))
THRESHOLDS = 99


def made_up(random: np.random.Generator, protocol: Protocol) -> BoundaryTally:
    detected = np.sort(random.integers(100, 50_000, THRESHOLDS))[::-1]
    truth = np.full(THRESHOLDS, random.integers(1_000, 5_000))
    matched = np.minimum(truth, (detected * random.uniform(0.3, 0.9)).astype(np.int64))
    return BoundaryTally(
        matched, truth, np.minimum(matched, detected), detected, detected * 5, detected, protocol=protocol
    )


def start(folder: Path, systems: int, images: int) -> None:
    from hyperacuity.report import pages  # noqa: F401  # all that the others load, and nothing done


def fill(folder: Path, systems: int, images: int) -> None:
    """A run as the boundary benchmark leaves it; nothing of its files exists."""
    job, random = job_for(TASK, Protocol(), ContourKind()), np.random.default_rng(1)

    def cells() -> Iterator[Cell]:
        for n in range(systems * images):
            image = f"{n % images:06}"
            yield Cell(f"system {n // images}", image, Path(f"{n}.png"), (Path(f"truth/{image}.png"),))

    with open_store(folder) as store:
        store.begin(str(job.protocol.signature), "made up", cells(), workers=1, job=job.as_dict())
        for cell in cells():
            store.add(cell, cell.image.encode(), made_up(random, job.protocol).pack())
            store.flush_if_due()
        store.end("finished")


def table(folder: Path, systems: int, images: int) -> None:
    job = job_for(TASK, Protocol(), ContourKind())
    signature = str(job.protocol.signature)
    with open_run(folder) as run:
        names = run.systems(signature)
        result = Result(
            job,
            {name: {"": name} for name in names},
            lambda name: run.tallies(signature, name, BoundaryTally, job.protocol),
        )
        result.table(Console(file=io.StringIO(), width=200))


def compare(folder: Path, systems: int, images: int) -> None:
    show(compare_runs([folder], test="bootstrap"), Console(file=io.StringIO(), width=200))


def report(folder: Path, systems: int, images: int) -> None:
    from hyperacuity.report.pages import write_report

    write_report([folder], folder / "report", viewer=False, progress=False)


STEPS = {"start": start, "fill": fill, "table": table, "compare": compare, "report": report}


def peak_of(step: str, folder: str, systems: int, images: int) -> float:
    """The most memory, in MB, of a process that does one thing."""
    words = [sys.executable, __file__, step, folder, str(systems), str(images)]
    return float(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    if len(sys.argv) == 5:
        with redirect_stdout(io.StringIO()):
            STEPS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        return
    sizes = [(int(sys.argv[1]), int(sys.argv[2]))] if len(sys.argv) == 3 else SIZES
    print(f"| systems × images | tallies | {' | '.join(STEPS)} |\n|---|{'---:|' * (len(STEPS) + 1)}", flush=True)
    for systems, images in sizes:
        whole = systems * images * THRESHOLDS * len(BoundaryTally.names()) * 8 / 2**20
        with TemporaryDirectory() as folder:
            peaks = " | ".join(f"{peak_of(step, folder, systems, images):,.0f} MB" for step in STEPS)
        print(f"| {systems} × {images:,} | {whole:,.0f} MB | {peaks} |", flush=True)


if __name__ == "__main__":
    main()
