"""Evaluate systems × images by threads.

Kernels and file reading release the interpreter lock, so threads keep all processors busy without copying anything between
processes, and one cell loads while another computes. The main thread hands out cells and is the only one that writes to the
store. At most two cells per worker are on their way at any time: memory does not grow with the size of the grid, apart from
the tallies themselves. Nothing in the result depends on the number of workers or on which cell ends first.
"""

from __future__ import annotations

import os
import queue
import signal
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Generic

from hyperacuity.errors import InputError, UsageError
from hyperacuity.run.fingerprint import Digests, code_version, refuse_changed
from hyperacuity.run.job import Cell, Failure, Job, T, job_as_told
from hyperacuity.run.progress import Ending, watching
from hyperacuity.run.schema import StoreError
from hyperacuity.run.store import BATCH_SECONDS, Key, Store


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """What came of a grid. Systems, images and failures stand in the order of the cells, whichever ended first."""

    tallies: dict[str, dict[str, T]]
    failures: list[Failure]
    reused: int
    computed: int


@dataclass(frozen=True)
class _Result(Generic[T]):
    """How one cell ended: a tally, or a failure. ``packed`` is empty for a tally that the store holds already."""

    position: int
    ending: Ending
    tally: T | None = None
    key: Key | None = None
    packed: bytes = b""
    failure: Failure | None = None


class _Results(Generic[T]):
    """What has come so far, by position in the grid."""

    def __init__(self, count: int) -> None:
        self._tallies: list[T | None] = [None] * count
        self._failures: dict[int, Failure] = {}
        self._endings: Counter[Ending] = Counter()

    def take(self, result: _Result[T]) -> None:
        self._tallies[result.position] = result.tally
        self._endings[result.ending] += 1
        if result.failure is not None:
            self._failures[result.position] = result.failure

    def outcome(self, grid: Sequence[Cell]) -> Outcome[T]:
        tallies: dict[str, dict[str, T]] = {cell.system: {} for cell in grid}
        for cell, tally in zip(grid, self._tallies, strict=True):
            if tally is not None:
                tallies[cell.system][cell.image] = tally
        failures = [self._failures[position] for position in sorted(self._failures)]
        return Outcome(tallies, failures, reused=self._endings["reused"], computed=self._endings["computed"])


def run_grid(
    job: Job[T],
    cells: Iterable[Cell],
    *,
    store: Store | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> Outcome[T]:
    """Evaluate every cell, or take its tally from the store when its inputs, protocol and code are unchanged.

    A cell that raises becomes a :class:`Failure`; the others go on. On Ctrl-C the cells in hand are finished and kept, then
    ``KeyboardInterrupt`` goes on its way. ``UsageError``: no cells, the same cell twice, a store that cannot be written to.

    Parameters
    ----------
    job
        How a cell becomes a tally.
    cells
        The grid, in any order.
    store
        Where tallies are kept and found (:func:`~hyperacuity.run.open_store`). Without one, everything is computed.
    workers
        Number of threads; as many as there are processors unless told otherwise.
    progress
        Whether to show progress on standard error.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from hyperacuity.tally import Counts, Tally
    >>> @dataclass(frozen=True, eq=False)
    ... class Lines(Tally):
    ...     lines: Counts
    >>> class CountLines:
    ...     signature, tally_type = "lines|v:1", Lines
    ...     def evaluate(self, cell: Cell) -> Lines:
    ...         return Lines(np.array(len(cell.prediction.read_text().splitlines())))
    >>> cells = [Cell("this module", name, Path(__file__).with_name(name), ()) for name in ("grid.py", "nowhere.py")]
    >>> outcome = run_grid(CountLines(), cells, progress=False)
    >>> int(outcome.tallies["this module"]["grid.py"].lines) > 100
    True
    >>> [(failure.image, failure.reason.split(":")[0]) for failure in outcome.failures]
    [('nowhere.py', 'FileNotFoundError')]
    """
    grid = _distinct(cells)
    threads = _processors() if workers is None else workers
    if threads < 1:
        raise UsageError(f"cannot run with {threads} workers: expected at least one")
    results = _Results[T](len(grid))
    digests = Digests() if store is None else Digests(store.digest)
    code = "" if store is None else code_version(job)

    def work(position: int) -> _Result[T]:
        return _evaluate(job, grid[position], position, store, digests, code)

    if store is not None:
        store.begin(job.signature, code, grid, workers=threads, job=job_as_told(job))
    status = "interrupted"
    try:
        with watching(job.signature.partition("|")[0], len(grid), shown=progress) as tick:

            def take(result: _Result[T] | None) -> None:
                if result is not None:
                    results.take(result)
                    tick(result.ending)
                    if store is not None:
                        _keep(store, job.signature, result)
                if store is not None:
                    store.remember(digests.take_new())
                    store.flush_if_due()

            _work_off(work, len(grid), threads, take)
        status = "finished"
    finally:
        if store is not None:
            store.end(status)
    return results.outcome(grid)


def _work_off(
    work: Callable[[int], _Result[T]], count: int, threads: int, take: Callable[[_Result[T] | None], None]
) -> None:
    """Call ``work`` for each position in threads, and ``take`` in this one for each result as it comes.

    ``take(None)`` is called when nothing has come for a while. After Ctrl-C no cell is begun; those that run are taken, then
    ``KeyboardInterrupt`` is raised.
    """
    ended: queue.SimpleQueue[Future[_Result[T]]] = queue.SimpleQueue()
    with _ctrl_c_noted() as stop, ThreadPoolExecutor(threads, thread_name_prefix="hyperacuity-cell") as pool:
        given = taken = 0
        try:
            while taken < given or given < count:
                if stop.is_set():
                    pool.shutdown(wait=False, cancel_futures=True)
                    count = given
                while given < count and given - taken < 2 * threads:
                    pool.submit(work, given).add_done_callback(ended.put)
                    given += 1
                try:
                    future = ended.get(timeout=BATCH_SECONDS)
                except queue.Empty:
                    take(None)
                    continue
                taken += 1
                if not future.cancelled():
                    take(future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    if stop.is_set():
        raise KeyboardInterrupt


@contextmanager
def _ctrl_c_noted() -> Iterator[threading.Event]:
    """While the block runs, the first Ctrl-C sets a flag, so that it never tears a result in two; the second one raises.

    Signals reach the main thread only, and a program that handles them in its own way keeps doing so.
    """
    noted = threading.Event()
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield noted
        return

    def note(number: int, frame: FrameType | None) -> None:
        if noted.is_set():
            raise KeyboardInterrupt
        noted.set()

    signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _evaluate(job: Job[T], cell: Cell, position: int, store: Store | None, digests: Digests, code: str) -> _Result[T]:
    """One cell, in a worker's thread. Whatever goes wrong here costs this cell only."""
    try:
        if store is None:
            return _Result(position, "computed", _tally(job, cell))
        inputs, stamps = digests.of_cell(cell)
        key = Key(job.signature, cell.system, cell.image, inputs, code)
        if (kept := _reuse(job, store, key)) is not None:
            return _Result(position, "reused", kept, key)
        tally = _tally(job, cell)
        refuse_changed(cell.files, stamps)
        return _Result(position, "computed", tally, key, tally.pack())
    except StoreError:
        raise  # no cell can go on
    except InputError as error:
        failure = Failure(cell.system, cell.image, str(error))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        failure = Failure(cell.system, cell.image, reason, traceback.format_exc())
    return _Result(position, "failed", failure=failure)


def _tally(job: Job[T], cell: Cell) -> T:
    tally = job.evaluate(cell)
    if not isinstance(tally, job.tally_type):
        raise TypeError(f"the job returned {type(tally).__name__}, expected {job.tally_type.__name__}")
    return tally


def _reuse(job: Job[T], store: Store, key: Key) -> T | None:
    data = store.find(key)
    if data is None:
        return None
    try:
        return job.tally_type.unpack(data)
    except InputError:
        return None  # damaged in the store: computed again and overwritten


def _keep(store: Store, signature: str, result: _Result[T]) -> None:
    if result.failure is not None:
        store.fail(signature, result.failure)
    elif result.key is not None and result.packed:
        store.add(result.key, result.packed)
    elif result.key is not None:
        store.confirm(result.key)


def _distinct(cells: Iterable[Cell]) -> list[Cell]:
    grid = list(cells)
    if not grid:
        raise UsageError("there is nothing to evaluate: no system has an image")
    seen: set[tuple[str, str]] = set()
    for cell in grid:
        if (cell.system, cell.image) in seen:
            raise UsageError(f"the image {cell.image} of the system {cell.system} is given twice")
        seen.add((cell.system, cell.image))
    return grid


def _processors() -> int:
    """Processors this process may use: fewer than the machine has, in a container or under ``taskset``."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
