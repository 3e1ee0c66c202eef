"""What a grid costs besides its cells: time and memory from 10² to 10⁵ cells, by threads, processes and Dask.

    python benchmarks/scale.py --chart        # all points, and the chart: some ten minutes on two idle cores
    python benchmarks/scale.py --only real    # efficiency alone: six minutes
    python benchmarks/scale.py --only empty --cells 1000000 --means dask

*Empty* cells cost next to nothing to evaluate (a prediction of some bytes, a truth shared by ten systems; the tally is as large
as a boundary tally), so their time is the driver's, the store's and the messenger's. *Real* cells are the boundary benchmark on
scenes; they tell how much of two cores is put to use. Every point is measured in a process of its own. The machine's load stands
beside the numbers: they mean little when others are at work on it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import psutil

from hyperacuity.run import Cell, fill_grid, open_store
from hyperacuity.run.fingerprint import Digests
from hyperacuity.run.work import Threads, evaluate
from hyperacuity.tally import BaseProtocol, Counts, Tally

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
USUAL = 100_000
MEANS = ("threads", "processes", "dask")
WORKERS = (1, 2)
TIMES = (10, 25, 50, 75, 99)
"""When the memory of a run is told, in percent of its time."""
SCENES = 48
TURNS = 5
HERE = Path(__file__).parent
CHART = HERE.parent / "docs" / "images" / "scale"

Row = dict[str, Any]


@dataclass(frozen=True)
class EmptyProtocol(BaseProtocol):
    """Nothing to agree on."""

    task: ClassVar[str] = "empty"

    def parts(self) -> dict[str, object]:
        return {}


@dataclass(frozen=True, eq=False)
class EmptyTally(Tally):
    """As many numbers as a boundary tally of 99 thresholds has, and as hard to compress."""

    counts: Counts


NUMBERS = np.random.default_rng(1).integers(0, 4000, 5 * 99)


@dataclass(frozen=True)
class EmptyJob:
    """Reads its files and counts nothing."""

    protocol: EmptyProtocol = EmptyProtocol()
    tally_type: type[EmptyTally] = EmptyTally

    def evaluate(self, cell: Cell) -> EmptyTally:
        numbers = NUMBERS + sum(len(path.read_bytes()) for path in cell.files)
        return EmptyTally(numbers, protocol=self.protocol)


class Processes(Threads):
    """The executor that is not in the package: a pool of processes on this machine, for comparison."""

    def __init__(self, job: Any, workers: int) -> None:
        super().__init__(job, workers)
        self._pool = ProcessPoolExecutor(workers)

    def __exit__(self, *error: Any) -> None:
        self._pool.shutdown(cancel_futures=True)

    def give(self, task: Any) -> None:
        future = self._pool.submit(_evaluate, self._job, task)
        future.add_done_callback(lambda done: self._ended.put(done.exception() or done.result()))


_digests = Digests()


def _evaluate(job: Any, task: Any) -> Any:
    return evaluate(job, task, _digests)


def empty_cells(folder: Path, count: int) -> Iterator[Cell]:
    """Ten systems with predictions of their own, on the same truths."""
    for number in range(count):
        image, system = divmod(number, 10)
        prediction = folder / "maps" / f"{number % 1000:03}" / f"{number}.txt"
        yield Cell(f"system {system}", f"{image:06}", prediction, (folder / "truths" / f"{image % 1000}.txt",))


def make_files(folder: Path, count: int) -> None:
    """The files of :func:`empty_cells`."""
    (folder / "truths").mkdir(parents=True)
    for image in range(1000):
        (folder / "truths" / f"{image}.txt").write_text(f"truth {image}")
    for number, cell in enumerate(empty_cells(folder, count)):
        if number < 1000:
            cell.prediction.parent.mkdir(parents=True, exist_ok=True)
        cell.prediction.write_text(f"prediction {number}")


def make_scenes(folder: Path) -> None:
    """Soft maps of a detector on scenes, and their truths."""
    from hyperacuity.data import write_soft, write_truths
    from hyperacuity.data.scenes import make_scene
    from hyperacuity.detect import canny

    (folder / "maps").mkdir(parents=True)
    (folder / "truths").mkdir()
    for seed in range(SCENES):
        scene = make_scene(seed)
        write_soft(folder / "maps" / f"{seed}.png", canny(scene.image).soft)
        people = scene.annotators
        write_truths(
            folder / "truths" / f"{seed}.mat", [one.labels + 1 for one in people], [one.boundaries for one in people]
        )


@contextmanager
def executing(means: str, workers: int) -> Iterator[Row]:
    """The keywords that make ``fill_grid`` work by these means; a cluster is up and waiting before anything is measured."""
    from hyperacuity.run import grid

    if means == "threads":
        yield {"workers": workers}
    elif means == "processes":
        plain = grid._executor
        grid._executor = lambda job, workers, cluster: Processes(job, workers)
        yield {"workers": workers}
        grid._executor = plain
    else:
        from hyperacuity.run.cluster import local_cluster

        with local_cluster(workers) as cluster:
            yield {"cluster": cluster.scheduler_address}


def empty_point(means: str, workers: int, count: int, files: str) -> Row:
    """Fill a grid of empty cells; seconds, the driver's own CPU seconds, its memory, and the size of the store.

    On Dask the scheduler is part of this process, and of these numbers.
    """
    with tempfile.TemporaryDirectory() as folder, executing(means, workers) as how:
        with open_store(Path(folder) / "warm") as store:
            fill_grid(EmptyJob(), empty_cells(Path(files), 100), store=store, progress=False, **how)
        with open_store(Path(folder) / "run") as store, watching_memory() as memory:
            wall, cpu = time.perf_counter(), time.process_time()
            filled = fill_grid(EmptyJob(), empty_cells(Path(files), count), store=store, progress=False, **how)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        assert filled.computed == count
        bytes_kept = (Path(folder) / "run" / "run.sqlite").stat().st_size
    kept = {"driver_mb": _peak_mb(), "store_bytes_per_cell": bytes_kept / count}
    return {"wall_s": wall, "driver_cpu_s": cpu, **kept, "memory_mb": [memory[len(memory) * at // 100] for at in TIMES]}


@contextmanager
def watching_memory() -> Iterator[list[float]]:
    """The resident memory of this process in MB, every quarter of a second."""
    seen: list[float] = []
    ended, process = threading.Event(), psutil.Process()

    def watch() -> None:
        while not ended.wait(0.25 if seen else 0):
            seen.append(process.memory_info().rss / 2**20)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        ended.set()
        watcher.join()


def real_point(means: str, count: int, files: str) -> Row:
    """Seconds for boundary cells on scenes, everything compiled and warm: (wall, CPU) of every turn, by who did it.

    In each turn the same cells are done by a plain loop, without grid, store or hash, by one worker and by two. They take turns
    since machines get slower and faster by the minute: only what was measured side by side can be compared.
    """
    from hyperacuity.boundary.task import TASK
    from hyperacuity.kinds.contours import ContourKind
    from hyperacuity.run.jobs import job_for

    root, job = Path(files), job_for(TASK, TASK.protocol(), ContourKind())
    cells = [
        Cell("canny", str(seed), root / "maps" / f"{seed}.png", (root / "truths" / f"{seed}.mat",))
        for seed in range(count)
    ]
    turns: dict[str, list[tuple[float, float]]] = {"loop": [], "1": [], "2": []}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        hows = [(workers, stack.enter_context(executing(means, workers))) for workers in WORKERS]
        for turn in range(TURNS + 1):
            with timing(turns["loop"]):
                for cell in cells:
                    job.evaluate(cell)
            for workers, how in hows:
                with open_store(folder / f"{turn}-{workers}") as store, timing(turns[str(workers)]):
                    assert not fill_grid(job, cells, store=store, progress=False, **how).failures
    return {"turns": {who: rows[1:] for who, rows in turns.items()}}  # the first was to warm up


@contextmanager
def timing(turns: list[tuple[float, float]]) -> Iterator[None]:
    """Add the seconds that pass, and the CPU seconds that this process and its children use."""

    def used() -> float:
        mine = psutil.Process()
        times = [process.cpu_times() for process in (mine, *mine.children(recursive=True))]
        ended = times[0].children_user + times[0].children_system
        return sum(part.user + part.system for part in times) + ended

    wall, cpu = time.perf_counter(), used()
    yield
    turns.append((time.perf_counter() - wall, used() - cpu))


POINTS = {"empty": empty_point, "real": real_point}


def measure(kind: str, means: str, count: int, files: Path, **more: int) -> Row:
    """One point in a process of its own, with the machine's load before and after."""
    call = {"kind": kind, "means": means, "count": count, "files": str(files), **more}
    load = os.getloadavg()[0]
    command = [sys.executable, "-c", "import scale; scale.answer()", json.dumps(call)]
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=HERE, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    row = {"kind": kind, "means": means, "cells": count, **more, **json.loads(done.stdout.splitlines()[-1])}
    return row | {"load": [round(load, 1), round(os.getloadavg()[0], 1)]}


def answer() -> None:
    """Measure the point that the command line names, and print it."""
    call = json.loads(sys.argv[1])
    print(json.dumps(POINTS[call.pop("kind")](**call)))


def _peak_mb() -> float:
    """The greatest resident memory of this process so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def tell(row: Row) -> None:
    """One line for a grid of empty cells."""
    on_the_way = ", ".join(f"{mb:.0f}" for mb in row["memory_mb"])
    print(
        f"empty {row['means']:9} {row['workers']} workers {row['cells']:7} cells: "
        f"{1000 * row['wall_s'] / row['cells']:8.3f} ms/cell, {row['cells'] / row['wall_s']:8.1f} cells/s; "
        f"driver {1000 * row['driver_cpu_s'] / row['cells']:.3f} ms CPU/cell, "
        f"{row['driver_mb']:.0f} MB at most, {on_the_way} on the way, load {row['load'][0]} to {row['load'][1]}",
        flush=True,
    )


def tell_efficiency(row: Row) -> None:
    """By one means: a cell's time, and how much of two cores two workers put to use compared with one.

    The last number, how much of the CPU time is the plain loop's, tells what the grid adds.
    """
    loop, one, two = (np.array(row["turns"][who]) for who in ("loop", "1", "2"))
    shares = one[:, 0] / (2 * two[:, 0])
    each = [1000 * np.median(turns[:, 0]) / row["cells"] for turns in (loop, one, two)]
    print(
        f"real  {row['means']:9} {row['cells']} cells, {len(shares)} turns: loop {each[0]:.1f}, 1 worker {each[1]:.1f}, "
        f"2 workers {each[2]:.1f} ms/cell; efficiency {np.median(shares):.1%} ({shares.min():.1%} to {shares.max():.1%}); "
        f"of the CPU time {np.median(loop[:, 1] / two[:, 1]):.1%} is the loop's; load {row['load'][0]} to {row['load'][1]}",
        flush=True,
    )


def draw(rows: list[Row]) -> None:
    """The chart: time and memory against the number of cells."""
    import altair as alt

    from hyperacuity.report import theme

    theme.register()
    empty = [
        {
            "means": row["means"],
            "workers": f"{row['workers']}",
            "cells": row["cells"],
            "wall": 1000 * row["wall_s"] / row["cells"],
            "driver": 1000 * row["driver_cpu_s"] / row["cells"],
            "memory": row["driver_mb"],
        }
        for row in rows
        if row["kind"] == "empty"
    ]
    styles = theme.systems(MEANS)
    sizes = sorted({row["cells"] for row in empty})
    x = alt.X("cells:Q", title="cells", scale=alt.Scale(type="log"), axis=alt.Axis(values=sizes, format="~s"))
    colour = alt.Color(
        "means:N", title=None, scale=alt.Scale(domain=list(MEANS), range=[styles[name].colour for name in MEANS])
    )
    shape = alt.Shape(
        "means:N", title=None, scale=alt.Scale(domain=list(MEANS), range=[styles[name].marker for name in MEANS])
    )
    dash = alt.StrokeDash("workers:N", title="workers", scale=alt.Scale(domain=["1", "2"], range=[[2, 3], [1, 0]]))

    def panel(field: str, title: str, **scale: Any) -> Any:
        base = alt.Chart(alt.Data(values=empty)).encode(
            x=x, y=alt.Y(f"{field}:Q", title=title, scale=alt.Scale(**scale)), color=colour
        )
        lines = base.mark_line(strokeWidth=1.5).encode(strokeDash=dash)
        return (lines + base.mark_point(size=36, filled=True).encode(shape=shape)).properties(width=165, height=190)

    bar = alt.Chart(alt.Data(values=[{"y": 1, "x": sizes[-1], "text": "1 ms"}])).encode(y="y:Q")
    limit = bar.mark_rule(color=theme.FAINT, strokeDash=[3, 3]) + bar.mark_text(
        color=theme.FAINT, align="right", dy=-6, fontSize=9
    ).encode(x="x:Q", text="text:N")
    chart = alt.hconcat(
        panel("wall", "time, ms per cell", type="log"),
        panel("driver", "CPU of the driver, ms per cell", type="log") + limit,
        panel("memory", "memory of the driver, MB", zero=True),
    )
    for suffix in ("svg", "png"):
        theme.save(chart, CHART.with_suffix(f".{suffix}"))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cells", type=int, default=USUAL, help="the largest grid of empty cells, up to a million")
    parser.add_argument("--means", nargs="+", choices=MEANS, default=MEANS)
    parser.add_argument(
        "--workers", nargs="+", type=int, help="for empty cells: 1 and 2 by default; the largest grids by 2 only"
    )
    parser.add_argument("--only", choices=("empty", "real"), help="one kind of cells")
    parser.add_argument("--json", type=Path, help="write the rows here")
    parser.add_argument("--chart", action="store_true", help="draw docs/images/scale.svg and .png")
    options = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.only != "empty":
            make_scenes(folder / "scenes")
            for means in options.means:
                rows.append(measure("real", means, SCENES, folder / "scenes"))
                tell_efficiency(rows[-1])
        if options.only != "real":
            sizes = [size for size in SIZES if size <= options.cells]
            make_files(folder / "empty", max(sizes))
            for size in sizes:
                few = options.workers or (WORKERS if size < USUAL else WORKERS[-1:])
                for means in options.means:
                    for workers in few:
                        rows.append(measure("empty", means, size, folder / "empty", workers=workers))
                        tell(rows[-1])
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    if options.chart:
        draw(rows)


if __name__ == "__main__":
    main()
