"""Who evaluates the cells: the seam between the driver and its workers, and the workers that are threads of this process."""

from __future__ import annotations

import os
import queue
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, Self

from hyperacuity.errors import UsageError
from hyperacuity.run.fingerprint import Digests
from hyperacuity.run.job import Job
from hyperacuity.run.work import WorkItem, WorkResult, evaluate
from hyperacuity.tally import Tally


class Executor(Protocol):
    """Takes tasks, hands back results in any order, one for each task. The driver alone decides what is given when."""

    workers: int
    """How many cells it evaluates at a time when it starts; recorded with the run."""

    def room(self, left: int) -> int:
        """How many cells may be on their way now: enough that no worker waits, few enough that memory stays flat.

        ``left`` is how many there are still to give.
        """

    def give(self, task: WorkItem) -> None:
        """Evaluate this cell."""

    def take(self, seconds: float) -> list[WorkResult]:
        """What has ended since the last call; waits at most so long for the first."""

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
        self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="hyperacuity-cell")
        self._given: dict[int, Future[None]] = {}
        self._ended: queue.SimpleQueue[WorkResult | BaseException] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        self.forget()
        # After an error the results of running cells are not wanted, so they are not waited for.
        self._pool.shutdown(wait=kind is None)

    def room(self, left: int) -> int:
        """Two cells per thread: one in work and one ready."""
        return 2 * self.workers

    def give(self, task: WorkItem) -> None:
        """Queue the cell for the next free thread."""
        self._given[task.position] = self._pool.submit(self._work, task)

    def take(self, seconds: float) -> list[WorkResult]:
        """Results as they come; an error that is no cell's own is raised here."""
        results: list[WorkResult] = []
        try:
            while True:
                result = self._ended.get(timeout=0 if results else seconds)
                if isinstance(result, BaseException):
                    raise result
                del self._given[result.position]
                results.append(result)
        except queue.Empty:
            return results

    def forget(self) -> int:
        """Cells that wait in the queue are dropped."""
        dropped = [position for position, future in self._given.items() if future.cancel()]
        for position in dropped:
            del self._given[position]
        return len(dropped)

    def news(self) -> list[tuple[int, str]]:
        """A thread does not get lost."""
        return []

    def _work(self, task: WorkItem) -> None:
        try:
            self._ended.put(evaluate(self._job, task, self._digests))
        except BaseException as error:
            self._ended.put(error)


def processors() -> int:
    """Processors this process may use: fewer than the machine has, in a container or under ``taskset``."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
