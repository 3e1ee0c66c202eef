"""Executors: the seam between the driver and its workers, and the workers that are threads of this process."""

from __future__ import annotations

import queue
import threading
from contextlib import suppress
from typing import Any, Protocol, Self

from hyperacuity.errors import UsageError
from hyperacuity.machine import processors
from hyperacuity.run.fingerprint import Digests
from hyperacuity.run.job import Job
from hyperacuity.run.work import WorkItem, WorkResult, evaluate
from hyperacuity.tally import Tally


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
