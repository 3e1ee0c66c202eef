"""Workers: one cell from its files to its tally, in a thread here or in a process on another machine.

A worker knows nothing of the store. The driver hands it a :class:`WorkItem` with what the store knows about the cell, and gets a
:class:`WorkResult` that says what to keep.
:class:`Executor` is the seam between the two, :class:`Threads` the one of this process.
"""

from __future__ import annotations

import errno
import json
import queue
import threading
import traceback
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, Self

from hyperacuity.data.remote import LocalCopies, is_remote
from hyperacuity.errors import InputError, UsageError
from hyperacuity.machine import processors
from hyperacuity.run.fingerprint import Digests, Recorded, refuse_changed
from hyperacuity.run.jobs import Cell, Failure, Job, cell_from_text, files_as_text
from hyperacuity.tally import Tally

Ending = Literal["computed", "reused", "failed"]

_PASSING = {
    getattr(errno, name)
    for name in ("EIO", "ESTALE", "EAGAIN", "ETIMEDOUT", "ENETDOWN", "ENETUNREACH", "EHOSTUNREACH", "EREMOTEIO")
    if hasattr(errno, name)
}
"""Errors of a file server in a bad moment."""


@dataclass(frozen=True)
class WorkItem:
    """A cell to evaluate. ``kept`` are the inputs for which the store holds a tally, ``recorded`` the digests it has of files.

    ``keyed`` is false when there is no store: then nothing is hashed.
    """

    position: int
    cell: Cell
    keyed: bool = False
    kept: frozenset[bytes] = frozenset()
    recorded: Mapping[str, Recorded] = field(default_factory=dict)


def pack_tasks(tasks: Sequence[WorkItem]) -> bytes:
    """Tasks as a few hundred bytes each, with full paths: what travels, and what logs on the way keep of it, stays small.

    >>> from pathlib import Path
    >>> [task] = unpack_tasks(pack_tasks([WorkItem(7, Cell("canny", "church", Path("/maps/church.png"), ()), True)]))
    >>> task.position, task.cell.prediction.name, task.keyed
    (7, 'church.png', True)
    """
    rows = [
        (
            task.position,
            task.cell.system,
            task.cell.image,
            files_as_text(task.cell),
            task.keyed,
            [inputs.hex() for inputs in task.kept],
            {path: (seen, digest.hex()) for path, (seen, digest) in task.recorded.items()},
        )
        for task in tasks
    ]
    return zlib.compress(json.dumps(rows).encode())


def unpack_tasks(data: bytes) -> list[WorkItem]:
    """The inverse of :func:`pack_tasks`."""
    return [
        WorkItem(
            position,
            cell_from_text(system, image, files),
            keyed,
            frozenset(bytes.fromhex(inputs) for inputs in kept),
            {path: (seen, bytes.fromhex(digest)) for path, (seen, digest) in recorded.items()},
        )
        for position, system, image, files, keyed, kept, recorded in json.loads(zlib.decompress(data))
    ]


@dataclass(frozen=True)
class WorkResult:
    """Result of a cell: a packed tally (if reused, the inputs under which the store has it), or a failure.

    ``read`` are the digests of files that had to be read, as (path, stamp, digest). ``passing`` marks a failure that another
    try may cure.
    """

    position: int
    ending: Ending
    inputs: bytes = b""
    packed: bytes = b""
    read: tuple[tuple[str, str, bytes], ...] = ()
    failure: Failure | None = None
    passing: bool = False


def evaluate(job: Job[Tally], task: WorkItem, digests: Digests) -> WorkResult:
    """Evaluate one cell. Whatever goes wrong here costs this cell only, and is part of the result."""
    with LocalCopies() as copies:
        read: list[tuple[str, str, bytes]] = []
        try:
            return _evaluate(job, task, digests, copies, read)
        except Exception as error:
            reason, detail = str(error), ""
            if not isinstance(error, InputError):
                reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
                detail = traceback.format_exc()
            failure = Failure(task.cell.system, task.cell.image, copies.restore_names(reason), detail)
            return WorkResult(task.position, "failed", read=tuple(read), failure=failure, passing=_is_passing(error))


def _evaluate(
    job: Job[Tally], task: WorkItem, digests: Digests, copies: LocalCopies, read: list[tuple[str, str, bytes]]
) -> WorkResult:
    cell = task.cell
    if not task.keyed:
        return WorkResult(task.position, "computed", packed=_packed(job, cell, copies))
    inputs, stamps = digests.of_cell(cell, task.recorded, copies, read)
    digests.note_picture(cell, task.recorded, copies, read)
    if inputs in task.kept:
        return WorkResult(task.position, "reused", inputs, read=tuple(read))
    packed = _packed(job, cell, copies)
    refuse_changed(cell.files, stamps)
    return WorkResult(task.position, "computed", inputs, packed, tuple(read))


def _packed(job: Job[Tally], cell: Cell, copies: LocalCopies) -> bytes:
    tally = job.evaluate(_here(cell, copies))
    if not isinstance(tally, job.tally_type):
        raise TypeError(f"the job returned {type(tally).__name__}, expected {job.tally_type.__name__}")
    return tally.pack()


def _here(cell: Cell, copies: LocalCopies) -> Cell:
    """The cell with its remote files fetched."""
    if not any(is_remote(path) for path in cell.files):
        return cell
    return replace(
        cell,
        prediction=copies.copy_of(cell.prediction),
        truths=tuple(copies.copy_of(path) for path in cell.truths),
        extras=tuple((role, copies.copy_of(path)) for role, path in cell.extras),
    )


def _is_passing(error: BaseException | None) -> bool:
    """True if the fault lies in the moment rather than in the file: memory, network, file server."""
    while error is not None:
        if isinstance(error, MemoryError | TimeoutError | ConnectionError):
            return True
        if isinstance(error, OSError) and error.errno in _PASSING:
            return True
        error = error.__cause__
    return False


class Executor(Protocol):
    """Takes tasks, hands back results in any order, one for each task. The driver alone decides what is given when."""

    workers: int
    """Number of cells that it evaluates at a time when it starts; recorded with the run."""

    def room(self, left: int) -> int:
        """Number of cells that may be on their way now: enough that no worker waits, few enough that memory stays flat.

        ``left`` is how many there are still to give.
        """

    def give(self, task: WorkItem) -> None:
        """Evaluate this cell."""

    def take(self, seconds: float) -> list[WorkResult]:
        """Return the results since the last call; wait at most so long for the first."""

    def forget(self) -> int:
        """Drop the cells that were given and have not started; how many there were."""

    def news(self) -> list[tuple[int, str]]:
        """(position, reason) of cells that had to be started again through no fault of theirs, since the last call."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: Any) -> None: ...


class Threads:
    """Threads of this process.

    Kernels and file reading release the interpreter lock, so threads keep all processors busy without copying anything
    between processes, and one cell loads while another computes.
    """

    def __init__(self, job: Job[Tally], workers: int | None = None) -> None:
        self.workers = processors() if workers is None else workers
        if self.workers < 1:
            raise UsageError(f"cannot run with {self.workers} workers: expected at least one")
        self._job = job
        self._digests = Digests()
        self._threads: list[threading.Thread] = []
        self._given: queue.SimpleQueue[WorkItem | None] = queue.SimpleQueue()
        self._ended: queue.SimpleQueue[WorkResult | BaseException] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        self.forget()
        for _ in self._threads:
            self._given.put(None)
        for thread in self._threads if kind is None else ():
            thread.join()  # after an error the results of running cells are not wanted, so they are not waited for

    def room(self, left: int) -> int:
        """Two cells per thread: one in work and one ready."""
        return 2 * self.workers

    def give(self, task: WorkItem) -> None:
        """Queue the cell for the next free thread; threads are started as they are needed."""
        self._given.put(task)
        if len(self._threads) < self.workers:
            thread = threading.Thread(target=self._work, name=f"hyperacuity-cell-{len(self._threads)}")
            try:
                thread.start()
            except RuntimeError as error:  # Python's word for a thread that gets no memory
                if not self._threads:
                    raise UsageError(f"cannot start a thread to work in: {error}") from error
            else:
                self._threads.append(thread)

    def take(self, seconds: float) -> list[WorkResult]:
        """Results as they come; an error that is no cell's own is raised here."""
        results: list[WorkResult] = []
        try:
            while True:
                result = self._ended.get(timeout=0 if results else seconds)
                if isinstance(result, BaseException):
                    raise result
                results.append(result)
        except queue.Empty:
            if not results and not all(thread.is_alive() for thread in self._threads):
                raise UsageError("a thread ended with a cell in hand, for lack of memory: start again") from None
            return results

    def forget(self) -> int:
        """Cells that wait in the queue are dropped."""
        dropped = 0
        with suppress(queue.Empty):
            while True:
                self._given.get_nowait()
                dropped += 1
        return dropped

    def news(self) -> list[tuple[int, str]]:
        """A thread does not get lost."""
        return []

    def _work(self) -> None:
        """Evaluate a cell after the other, until given None."""
        while True:
            try:
                task = self._given.get()
                if task is None:
                    return
                self._ended.put(evaluate(self._job, task, self._digests))
            except BaseException as error:
                self._ended.put(error)
