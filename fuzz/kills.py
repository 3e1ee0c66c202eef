"""``kill -9`` runs at random moments, again and again: ``python fuzz/kills.py --kills 30``.

A third of the kills hit a driver with threads, a third one with a cluster of processes of its own (``local:2``), and a third, by
turns, a driver and a worker of a Dask cluster that goes on. After each the store must be sound and hold at least what it held
before. A run that ends must have the tallies of one that nothing disturbed, byte for byte; then the next one starts over. Exit
status 1 if anything was lost or differs.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hyperacuity import tasks
from hyperacuity.kinds.contours import ContourKind
from hyperacuity.run import Cell, check_run, open_run, open_store, run_grid
from hyperacuity.run.code import code_version
from hyperacuity.run.jobs import job_for

SYSTEMS, IMAGES = 4, 30
SECONDS_TO_START = 15
MEANS = ("threads", "processes", "dask")

Bytes = dict[tuple[str, str], bytes]


class LossError(Exception):
    """Something was lost, or differs."""


def boundary_job() -> Any:
    """The boundary benchmark at five thresholds."""
    task = tasks.task("boundary")
    return job_for(task, task.protocol(thresholds=5), ContourKind())


def make_cells(place: Path) -> list[Cell]:
    """Noise for every system, and truths that they share."""
    rng = np.random.default_rng(3)
    for image in range(IMAGES):
        np.save(place / f"truth-{image}.npy", rng.random((40, 50)) < 0.05)
        for system in range(SYSTEMS):
            np.save(place / f"{system}-{image}.npy", rng.random((40, 50)).astype(np.float32))
    return [
        Cell(f"system {s}", str(i), place / f"{s}-{i}.npy", (place / f"truth-{i}.npy",))
        for s in range(SYSTEMS)
        for i in range(IMAGES)
    ]


def drive(folder: Path, cells: list[Cell], cluster: str | None) -> None:
    """One run into a folder; a cell that fails is a loss."""
    with open_store(folder) as store:
        workers = None if cluster else 2
        outcome = run_grid(boundary_job(), cells, store=store, workers=workers, cluster=cluster, progress=False)
    if outcome.failures:
        raise LossError(str(outcome.failures[:3]))


def start(folder: Path, cells: list[Cell], cluster: str | None) -> int:
    """A driver in a process of its own, which has everything loaded already."""
    driver = os.fork()
    if driver == 0:
        status = 1
        try:
            os.dup2(os.open(folder.with_suffix(".said"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            drive(folder, cells, cluster)
            status = 0
        except Exception as error:
            os.write(2, f"\n{type(error).__name__}: {error}".encode())
        finally:
            os._exit(status)
    return driver


def look(folder: Path, kept: int) -> int:
    """How many tallies there are, of a store that is sound."""
    if not (folder / "run.sqlite").exists():
        return kept
    health = check_run(folder)
    if any("stopped before it started" not in problem for problem in health.problems):
        raise LossError(str(health.problems))
    if health.tallies < kept:
        raise LossError(f"{health.tallies} tallies where there were {kept}")
    return health.tallies


def compare(folder: Path, expected: Bytes) -> None:
    """The finished run has the bytes of an undisturbed one."""
    with open_run(folder) as run:
        (signature,) = run.signatures()
        found = {(s, i): data for s in run.systems(signature) for i, data in run.packed(signature, s).items()}
    if found != expected:
        raise LossError(f"{len(found)} tallies, not those of an undisturbed run")


def attack(means: str, kills: int, place: Path, seed: int) -> tuple[int, int]:
    """So many kills; how many there were, and how many runs ended with the right bytes."""
    chance = random.Random(f"{means} {seed}")  # noqa: S311
    cells = make_cells(place)
    job = boundary_job()
    code_version(job)  # before forks, so that each driver has it
    outcome = run_grid(job, cells, workers=1, progress=False)
    expected = {(s, i): tally.pack() for s, images in outcome.tallies.items() for i, tally in images.items()}
    with _cluster(means) as (cluster, workers_of):
        for first in ("first", "second"):  # the second finds a cluster that has everything loaded
            longest = _time(place / first, cells, cluster)
            compare(place / first, expected)
        killed = ended = kept = 0
        while killed < kills:
            folder = place / f"run-{ended}"
            driver = start(folder, cells, cluster)
            time.sleep(chance.uniform(0, longest))
            victims = workers_of() if workers_of and killed % 2 else []  # where none is old enough, the driver
            if victims:
                os.kill(chance.choice(victims), signal.SIGKILL)
                killed += 1
            else:
                os.kill(driver, signal.SIGKILL)
            _, status = os.waitpid(driver, 0)
            killed += status == signal.SIGKILL
            if status not in (0, signal.SIGKILL):
                said = folder.with_suffix(".said").read_text(errors="replace").splitlines()
                raise LossError(f"a driver ended with status {status}: {said[-1:]}")
            kept = look(folder, kept)
            if status == 0:
                compare(folder, expected)
                ended, kept = ended + 1, 0
        folder = place / f"run-{ended}"
        drive(folder, cells, cluster)
        compare(folder, expected)
    return killed, ended + 3


def _time(folder: Path, cells: list[Cell], cluster: str | None) -> float:
    began = time.monotonic()
    driver = start(folder, cells, cluster)
    if os.waitpid(driver, 0)[1]:
        raise LossError("the first run did not end well")
    return time.monotonic() - began


@contextmanager
def _cluster(means: str) -> Iterator[tuple[str | None, Callable[[], list[int]] | None]]:
    """The address for ``--cluster``, and for a cluster that goes on a function that names its workers' processes."""
    if means != "dask":
        yield ("local:2" if means == "processes" else None), None
        return
    import psutil

    call = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:  # noqa: S603
        try:
            if server.stdout is None or not (address := server.stdout.readline().strip()):
                raise LossError("no cluster could be started")

            def workers() -> list[int]:
                family = psutil.Process(server.pid).children(recursive=True)
                # One that is still starting takes its keeper with it when it is killed, and then nobody starts another.
                old = [one for one in family if time.time() - one.create_time() > SECONDS_TO_START]
                return [one.pid for one in old if "spawn_main" in " ".join(one.cmdline())]

            yield address, workers
        finally:
            server.terminate()


def serve() -> None:
    """A scheduler with two workers, until it is told to end."""
    from distributed import LocalCluster

    size = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with LocalCluster(**size) as cluster:
        print(cluster.scheduler_address, flush=True)
        signal.pause()


def main() -> int:
    """Kill, and print a line for each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=30, help="how many in all (default 30)")
    parser.add_argument("--means", nargs="*", choices=MEANS, default=list(MEANS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return 0
    total = 0
    for number, means in enumerate(options.means):
        share = options.kills * (number + 1) // len(options.means) - options.kills * number // len(options.means)
        with tempfile.TemporaryDirectory() as name:
            try:
                killed, ended = attack(means, share, Path(name), options.seed)
            except LossError as error:
                print(f"{means}: {error}")
                return 1
        total += killed
        print(f"{means:10} {killed:>4} kills, {ended} runs ended with the bytes of an undisturbed one", flush=True)
    print(f"{total} kills, nothing lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
