"""Evaluate systems × images: the driver and its progress bar.

The driver hands out cells, takes their results and is the only one that writes to the store; who evaluates the cells, threads
or a cluster, is the business of an :class:`~hyperacuity.run.work.Executor`. A few cells per worker are on their way at any
time, so that memory does not grow with the grid. Nothing in the result depends on the number of workers, on where they are or
on which cell ends first.
"""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import Generic

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from hyperacuity.errors import InputError, UsageError
from hyperacuity.run.code import code_version
from hyperacuity.run.jobs import Cell, Failure, Job, T, job_as_dict, with_meaning
from hyperacuity.run.store import BATCH_SECONDS, Spool, Store, given_twice, nothing_to_evaluate
from hyperacuity.run.work import Ending, Executor, Threads, WorkItem, WorkResult
from hyperacuity.tally import Tally

TRIES = 3
PAUSE = 1.0
"""Seconds before a second try, twice as many before a third: time for a file server or for memory to recover."""

MOST_NOTES = 1000
"""Most second tries of which a run keeps the reasons."""


@dataclass(frozen=True)
class Filled:
    """Counts of the cells that were computed and reused, and the failures; the store or spool has the tallies."""

    computed: int
    reused: int
    failures: list[Failure]


@dataclass(frozen=True)
class Outcome(Filled, Generic[T]):
    """Counts, failures and tallies. Systems, images and failures stand in the order of the cells, whichever ended first."""

    tallies: dict[str, dict[str, T]]


def run_grid(
    job: Job[T],
    cells: Iterable[Cell],
    *,
    store: Store | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    progress: bool = True,
) -> Outcome[T]:
    """Evaluate every cell, or take its tally from the store when its inputs, protocol and code are unchanged.

    A cell that raises becomes a :class:`Failure`; the others continue. On Ctrl-C the cells being evaluated are finished and
    kept, then ``KeyboardInterrupt`` is raised. ``UsageError``: no cells, the same cell twice, a store that cannot be written
    to, a cluster that cannot be reached.

    Parameters
    ----------
    job
        How a cell becomes a tally.
    cells
        The grid, in any order.
    store
        Where tallies are kept and found (:func:`~hyperacuity.run.open_store`). Without one, everything is computed.
    workers
        Number of threads; by default as many as there are processors.
    cluster
        Where to evaluate instead of in threads: the address of a Dask scheduler (``tcp://…``), or ``local:4`` for four
        processes on this machine.
    progress
        Whether to show progress on standard error.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from hyperacuity.tally import BaseProtocol, Counts, Tally
    >>> @dataclass(frozen=True)
    ... class Plain(BaseProtocol):
    ...     task = "lines"
    ...     def parts(self):
    ...         return {}
    >>> @dataclass(frozen=True, eq=False)
    ... class Lines(Tally):
    ...     lines: Counts
    >>> class CountLines:
    ...     protocol, tally_type = Plain(), Lines
    ...     def evaluate(self, cell: Cell) -> Lines:
    ...         return Lines(np.array(len(cell.prediction.read_text().splitlines())), protocol=self.protocol)
    >>> cells = [Cell("this module", name, Path(__file__).with_name(name), ()) for name in ("grid.py", "nowhere.py")]
    >>> outcome = run_grid(CountLines(), cells, progress=False)
    >>> int(outcome.tallies["this module"]["grid.py"].lines) > 100
    True
    >>> [(failure.image, failure.reason.split(":")[0]) for failure in outcome.failures]
    [('nowhere.py', 'FileNotFoundError')]
    """
    grid = cells if isinstance(cells, Sequence) else list(cells)
    _refuse_twins(grid)
    spool = Spool()
    filled = fill_grid(job, grid, store=store, spool=spool, workers=workers, cluster=cluster, progress=progress)
    systems = dict.fromkeys(cell.system for cell in grid)
    found = {system: spool.tallies(system, job.tally_type, job.protocol) for system in systems}
    return Outcome(**vars(filled), tallies=found)


def fill_grid(
    job: Job[Tally],
    cells: Iterable[Cell],
    *,
    store: Store | None = None,
    spool: Spool | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    progress: bool = True,
) -> Filled:
    """Do what :func:`run_grid` does, but leave the tallies in the store, or else in a spool: for grids larger than memory.

    ``cells`` may be a generator (with a spool: something that knows its length, too). Neither cells nor tallies are held: memory
    is the same for a thousand cells and a million. Read the results a system at a time, with
    :func:`~hyperacuity.run.open_run` or from the spool.
    """
    endings: Counter[Ending] = Counter()
    failures: dict[int, Failure] = {}
    again, status = _SecondTries(), "interrupted"
    with _ctrl_c_noted() as stop, _executor(job, workers, cluster) as executor:
        source, total = _offers(job, cells, store, executor.workers)
        try:
            with watching(job.protocol.task, total, shown=progress) as tick:
                for ended in _work_off(source, total, executor, again, stop):
                    if ended is not None:
                        cell, result = ended
                        endings[result.ending] += 1
                        tick(result.ending)
                        if result.failure is not None:
                            failures[result.position] = result.failure
                        elif spool is not None:
                            spool.add(cell, result.position, result.packed)
                        if store is not None:
                            _write(store, cell, result)
                    if store is not None:
                        store.flush_if_due()
            status = "finished"
        finally:
            if store is not None:
                store.end(status, again.notes)
    return Filled(endings["computed"], endings["reused"], [failures[p] for p in sorted(failures)])


def _executor(job: Job[Tally], workers: int | None, cluster: str | None) -> Executor:
    if cluster is None:
        return Threads(job, workers)
    if workers is not None:
        raise UsageError("workers are threads of this process, and a cluster has its own: give one or the other")
    from hyperacuity.run.cluster import connect

    return connect(job, cluster)


_Offer = tuple[WorkItem, dict[bytes, bytes]]
"""A task, and the packed tallies that the worker may choose from by saying that its inputs are the same."""


def _offers(job: Job[Tally], cells: Iterable[Cell], store: Store | None, workers: int) -> tuple[Iterator[_Offer], int]:
    """The tasks of a grid, and how many there are; with a store, a run is begun there."""
    if store is None:
        grid = cells if isinstance(cells, Sized) else list(cells)
        if not len(grid):
            raise nothing_to_evaluate()
        return ((WorkItem(position, cell), {}) for position, cell in enumerate(grid)), len(grid)
    signature, code = str(job.protocol.signature), code_version(job)
    told = (with_meaning(job, cell) for cell in cells)
    listed = list(told) if isinstance(cells, Sequence) else None
    total = store.begin(signature, code, told if listed is None else listed, workers=workers, job=job_as_dict(job))
    return _known_tasks(job, store, listed), total


def _known_tasks(job: Job[Tally], store: Store, grid: Sequence[Cell] | None) -> Iterator[_Offer]:
    for position, waiting, packed in store.to_do(job.protocol.for_system):
        # Cells from a list keep their paths as given, so that messages name files as the caller does.
        cell = waiting if grid is None else grid[position]
        kept = {inputs: data for inputs, data in packed.items() if _is_sound(job, data)}
        yield WorkItem(position, cell, True, frozenset(kept), store.recorded(cell.named_files)), kept


def _is_sound(job: Job[Tally], data: bytes) -> bool:
    """False for a damaged tally, which is computed again and overwritten."""
    try:
        job.tally_type.unpack(data, job.protocol)
    except InputError:
        return False
    return True


def _write(store: Store, cell: Cell, result: WorkResult) -> None:
    if result.failure is not None:
        store.fail(result.failure)
    elif result.ending == "reused":
        store.keep(cell, result.inputs, result.packed)
    else:
        store.add(cell, result.inputs, result.packed)
    store.remember(result.read)


class _SecondTries:
    """Cells that failed for a reason that may pass, until they are due again; and notes of them for the run's history."""

    def __init__(self) -> None:
        self.notes: list[dict[str, str]] = []
        self._tries: Counter[int] = Counter()
        self._due: dict[int, float] = {}

    def __len__(self) -> int:
        return len(self._due)

    def note(self, cell: Cell, reason: str) -> None:
        """A cell is started again for this reason."""
        if len(self.notes) < MOST_NOTES:
            self.notes.append({"system": cell.system, "image": cell.image, "reason": reason})

    def wanted(self, position: int) -> bool:
        """Return True if a cell that failed shall be tried again; then it waits here."""
        self._tries[position] += 1
        if self._tries[position] >= TRIES:
            return False
        self._due[position] = time.monotonic() + PAUSE * self._tries[position]
        return True

    def counted(self, result: WorkResult) -> WorkResult:
        """The last result of a cell; a failure says how often it was tried."""
        tries = self._tries.pop(result.position, 1)
        if result.failure is None or tries == 1:
            return result
        reason = f"{result.failure.reason} (tried {tries} times)"
        return replace(result, failure=replace(result.failure, reason=reason))

    def due(self) -> list[int]:
        """The cells whose pause is over."""
        ready = [position for position, when in self._due.items() if when <= time.monotonic()]
        for position in ready:
            del self._due[position]
        return ready


def _work_off(
    source: Iterator[_Offer], left: int, executor: Executor, again: _SecondTries, stop: threading.Event
) -> Iterator[tuple[Cell, WorkResult] | None]:
    """Give the tasks to the executor, no more at a time than it has room for, and yield each result with its cell as it comes.

    None stands for nothing having come for a while. Once ``stop`` is set no cell is started; the results of those that run are
    yielded, then ``KeyboardInterrupt`` is raised.
    """
    offers: dict[int, _Offer] = {}  # what is on its way, and what waits for its next try
    more, away = True, 0
    while True:
        if stop.is_set() and (more or again):
            more, again = False, _SecondTries()
            away -= executor.forget()
        for position in again.due():
            executor.give(offers[position][0])
            away += 1
        while more and away < executor.room(left):
            offer = next(source, None)
            if offer is None:
                more = False
            else:
                left -= 1
                offers[offer[0].position] = offer
                executor.give(offer[0])
                away += 1
        if not (away or again):
            break
        results = executor.take(BATCH_SECONDS)
        away -= len(results)
        for position, reason in executor.news():
            if position in offers:
                again.note(offers[position][0].cell, reason)
        for result in results:
            position = result.position
            if result.failure is not None and result.passing and not stop.is_set() and again.wanted(position):
                again.note(offers[position][0].cell, result.failure.reason)
                continue
            task, kept = offers.pop(position)
            result = again.counted(result)
            yield task.cell, replace(result, packed=kept[result.inputs]) if result.ending == "reused" else result
        if not results:
            yield None
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


def _refuse_twins(grid: Sequence[Cell]) -> None:
    seen: set[tuple[str, str]] = set()
    for cell in grid:
        if (cell.system, cell.image) in seen:
            raise given_twice(cell)
        seen.add((cell.system, cell.image))


_QUIET_SECONDS = 2.0


@contextmanager
def watching(title: str, total: int, *, shown: bool) -> Iterator[Callable[[Ending], None]]:
    """Show progress on standard error until the block ends; call the value once per cell with how it ended.

    On a terminal: a bar that vanishes when done. Elsewhere (a log file): a line at each quarter, if it takes longer than
    two seconds. Either way, one last line with the counts. With ``shown=False``: nothing at all.
    """
    if not shown:
        yield lambda ending: None
        return
    console = Console(stderr=True, highlight=False)
    counts: Counter[str] = Counter()
    started = time.monotonic()

    def summary() -> str:
        parts = [f"{counts[ending]} {ending}" for ending in ("computed", "reused", "failed") if counts[ending]]
        seconds = time.monotonic() - started
        return f"{title}: {counts.total()} of {total} cells in {seconds:.1f} s ({', '.join(parts) or 'none'})"

    try:
        if console.is_terminal:
            name = TextColumn("{task.description}")
            columns = (name, BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
            failed = TextColumn("[red]{task.fields[failed]}")
            with Progress(*columns, failed, console=console, transient=True) as bar:
                task = bar.add_task(title, total=total, failed="")

                def tick(ending: Ending) -> None:
                    counts[ending] += 1
                    bar.update(task, advance=1, failed=f"{counts['failed']} failed" if counts["failed"] else "")

                yield tick
        else:

            def tick(ending: Ending) -> None:
                before = counts.total()
                counts[ending] += 1
                quarter = 4 * counts.total() // total
                if 4 * before // total < quarter < 4 and time.monotonic() - started > _QUIET_SECONDS:
                    console.print(summary(), markup=False, soft_wrap=True)

            yield tick
    finally:
        console.print(summary(), markup=False, soft_wrap=True)


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        if task.speed is None:
            return Text("")
        digits = 0 if task.speed >= 10 else 2
        return Text(f"{task.speed:.{digits}f} cells/s", style="progress.data.speed")
