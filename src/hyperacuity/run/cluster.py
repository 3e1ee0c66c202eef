"""Workers on other machines, or in other processes of this one: the same grid on Dask distributed (extra ``cluster``).

The driver submits small tasks, two per worker thread at a time, and submits the next as results come in, so that neither it
nor Dask's scheduler ever holds the grid. A task is one cell or, where cells are so quick that handing them around would cost as
much as evaluating them, a handful that take two seconds together (fewer towards the end, so that all workers end at once).
Workers read the cells' files themselves and send back packed tallies; only the driver writes to the store.

A task whose worker is lost is given to another one by the scheduler. When that has happened a few times, the scheduler gives up
on everything those workers were doing. One cell among them may be to blame, so each is tried once more with nothing else on its
way; if its worker dies again, it was this one, and it has failed.

Between its own nodes Dask uses pickle: whoever can talk to the scheduler can run code on the workers. Our own clusters
(``local:4``) therefore talk TLS with certificates made for the purpose, which never leave the memory of their processes: other
users of the machine reach the port and are turned away. Somebody else's cluster must be trusted as a whole (or protected by TLS,
``tls://…``). Nothing that is pickled is ever read from a file or a store.
"""

from __future__ import annotations

import asyncio
import logging
import math
import queue
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from typing import Any, Self

from hyperacuity.data.files import DataWarning, collect_warnings
from hyperacuity.errors import UsageError, not_installed, option
from hyperacuity.machine import MEMORY_VARIABLE, allowed_memory
from hyperacuity.run.code import code_elsewhere
from hyperacuity.run.fingerprint import Digests
from hyperacuity.run.jobs import Failure, Job
from hyperacuity.run.work import WorkItem, WorkResult, evaluate, pack_tasks, unpack_tasks
from hyperacuity.tally import Tally

CONNECT_SECONDS = 10
NO_WORKER_SECONDS = 60
"""Longest time that a cluster may be without any worker before the run ends."""

SCHEDULER_SECONDS = 30
"""Longest time that a scheduler may take to answer; one that stands still does not close its connections."""

STOP_SECONDS = 30
"""Longest time that workers may take, after Ctrl-C, over the cells that they have in hand."""

_LOOK_SECONDS = 1.0
_TASK_SECONDS = 2.0
_SHORT_SECONDS = 0.05
_MOST_CELLS = 50

_DEAF = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""First statement of our own workers: Ctrl-C in a terminal reaches them too, but they are to finish their cells."""

_LEAN = {
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 128 << 20,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 32 << 20,
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "250ms",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
}
"""Settings of our own clusters; Dask's defaults cost a fifth of the processors where driver and workers share them.

By default workers return memory to the system after every array (a ``MALLOC_TRIM_THRESHOLD_`` of 64 KB; 15 % of a cell's time is
spent on having it back), look a hundred times a second at what they are doing, and every event loop wakes fifty times a second.
Variables that are set already stay as they are.
"""


@lru_cache(maxsize=4)
def _digests_for(run: str) -> Digests:
    """Digests that this worker process has taken for a run: truths are read once for all systems."""
    return Digests()


def connect(job: Job[Tally], address: str) -> Cluster:
    """The cluster at the address of its scheduler (``tcp://host:port``), or made here and now (``local:4``, four processes).

    ``UsageError``: Dask is not installed, the address is not one, or nobody answers there.
    """
    try:
        dask: Any = import_module("distributed")  # untyped
    except ImportError as error:
        raise not_installed(f"{option('cluster', address)} needs Dask", "cluster") from error
    # What is lost is reported in our own words, and no traceback before; asyncio has Dask's, of tasks that nobody waits for.
    for name in ("distributed", "distributed.client", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    kind, _, rest = address.partition(":")
    if kind == "local":
        if rest and not (rest.isdecimal() and int(rest[:9]) > 0):
            raise UsageError(f"{option('cluster', address)}: expected a number of processes, such as local:4")
        own = local_cluster(int(rest) if rest else None)
        return Cluster(job, address, dask.Client(own, set_as_default=False), own)
    if not rest.startswith("//"):
        raise UsageError(
            f"{option('cluster', address)}: expected a scheduler's address, such as tcp://host:8786, or local:4"
        )
    try:
        client = dask.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError, ImportError) as error:
        raise UsageError(
            f"{option('cluster', address)}: no Dask scheduler answers there ({error}); start one with: dask scheduler"
        ) from error
    return Cluster(job, address, client, None)


def local_cluster(workers: int | None = None) -> Any:
    """A ``distributed.LocalCluster`` of processes with one thread each, by default as many as there are processors.

    Only holders of its certificates, which are made here and now, can talk to it. The memory that this process may use is shared
    between them.
    """
    settings: Any = import_module("dask.config")
    dask: Any = import_module("distributed")
    security: Any = import_module("distributed.security")
    try:
        private = {"security": security.Security.temporary(), "protocol": "tls://"}
    except ImportError as error:
        raise not_installed("a cluster of processes here needs cryptography, to keep others out,", "cluster") from error
    quiet = {"dashboard_address": "127.0.0.1:0", "worker_dashboard_address": None, "silence_logs": logging.CRITICAL}
    count = workers or int(import_module("dask.system").CPU_COUNT)
    shared = {MEMORY_VARIABLE: f"{allowed_memory() / count / 2**30:.6f}"}
    with settings.set(_LEAN):
        return dask.LocalCluster(n_workers=count, threads_per_worker=1, preload=[_DEAF], env=shared, **private, **quiet)


class Cluster:
    """An :class:`~hyperacuity.run.work.Executor` whose workers are those of a Dask cluster. Made by :func:`connect`."""

    def __init__(self, job: Job[Tally], address: str, client: Any, own: Any) -> None:
        self._address = address
        self._client = client
        self._own = own
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._lost: queue.SimpleQueue[tuple[int, str]] = queue.SimpleQueue()
        self._reported: set[tuple[int, str]] = set()
        self._news: list[tuple[int, str]] = []
        self._open: list[WorkItem] = []
        self._suspects: list[WorkItem] = []
        self._given: dict[int, tuple[Any, list[WorkItem], bool]] = {}
        self._number = 0
        self._cell_seconds = math.inf
        self._handful = 1
        self._job = job
        self._code = code_elsewhere(job)
        self._name = f"hyperacuity-{client.id}"
        self._looked_at, self._threads = 0.0, 0
        self._seen_at = time.monotonic()
        self._stopped_at = math.inf
        with self._in_touch():
            self.workers = self._look()
            client.subscribe_topic("all", self._hear)
        if not self.workers:
            logging.getLogger(__name__).info("%s has no workers yet; waiting for them", address)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self._given.clear()
        if self._client.status == "running":
            self._client.unsubscribe_topic("all")
        with suppress(TimeoutError):  # of a scheduler that stands still
            self._client.close(timeout=CONNECT_SECONDS)
        if self._own is not None:
            self._own.close()

    def room(self, left: int) -> int:
        """Two tasks per thread of the workers there are now: one in work and one ready.

        Tasks hold fewer cells towards the end, but are not made shorter than a moment.
        """
        with self._in_touch():
            threads = max(1, self._look())
        seconds = max(self._cell_seconds, 1e-6)
        fewest = max(left // (4 * threads), int(_SHORT_SECONDS / seconds))
        self._handful = max(1, min(_MOST_CELLS, int(_TASK_SECONDS / seconds), fewest))
        return 2 * threads * self._handful

    def give(self, task: WorkItem) -> None:
        """Submit the cell, or wait for a few more that go with it."""
        self._open.append(task)
        if len(self._open) >= self._handful:
            self._submit(self._open)
            self._open = []

    def take(self, seconds: float) -> list[WorkResult]:
        """Results as they come. A cell whose workers died again and again has failed; a lost scheduler ends the run.

        So does a minute without any worker, and, after Ctrl-C, half a minute without a result.
        """
        with self._in_touch():
            self._look()
        if self._open:
            self._submit(self._open)
            self._open = []
        if self._suspects and not self._given:
            self._submit([self._suspects.pop()], suspect=True)
        ended: list[Any] = []
        try:
            while True:
                ended.append(self._ended.get(timeout=0 if ended else seconds))
        except queue.Empty:
            pass
        if ended and self._stopped_at < math.inf:
            self._stopped_at = time.monotonic()  # they are still ending what they have
        elif time.monotonic() - self._stopped_at > STOP_SECONDS:
            raise KeyboardInterrupt
        results: list[WorkResult] = []
        failed = [future for future in ended if future.status in ("error", "cancelled")]
        with self._in_touch():
            done = [future for future in ended if future.status == "finished"]
            answers = self._gathered(done)
        for answer in answers:
            self._given.pop(answer.number)
            self._cell_seconds = answer.seconds / len(answer.results)
            results += answer.results
            for sentence in answer.doubts:
                warnings.warn(sentence, DataWarning, stacklevel=2)
        for future in failed:
            _, tasks, suspect = self._given.pop(future.key[1])
            results += self._failed(future, tasks, suspect)
        for future in ended:
            if future.key[1] in self._given:
                # Its worker died with the result before anybody fetched it: the scheduler has it computed again.
                future.add_done_callback(self._ended.put)
        return results

    def forget(self) -> int:
        """Drop what waits for workers, if there are none.

        Where there are some, nothing is dropped, since a scheduler cannot tell which of the few cells on their way have started.
        """
        self._stopped_at = time.monotonic()
        with self._in_touch():
            if self._look():
                return 0
        dropped = len(self._open) + len(self._suspects) + sum(len(tasks) for _, tasks, _ in self._given.values())
        self._open, self._suspects = [], []
        self._given.clear()
        return dropped

    def news(self) -> list[tuple[int, str]]:
        """The cells that lost workers were evaluating."""
        while not self._lost.empty():
            number, worker = self._lost.get()
            if number in self._given:
                self._report_lost(number, worker, self._given[number][1])
        news, self._news = self._news, []
        return news

    def _report_lost(self, number: int, worker: str, tasks: list[WorkItem]) -> None:
        """Report a worker that was lost with these cells; once, though an event and a failed task may both say so."""
        if (number, worker) not in self._reported:
            self._reported.add((number, worker))
            self._news += [(task.position, f"the worker {worker} was lost") for task in tasks]

    def _submit(self, tasks: list[WorkItem], *, suspect: bool = False) -> None:
        self._number += 1
        key = (self._name, self._number)
        # As bytes: Dask's logs of recent messages keep a thousand of them per worker.
        data = pack_tasks(tasks)
        with self._in_touch():
            # The job, a few hundred bytes, goes along each time: held by workers once for all, it would be lost with them.
            given = (self._job, data, self._code, self._name, self._number)
            future = self._client.submit(_evaluate_here, *given, key=key, pure=False)
        self._given[self._number] = (future, tasks, suspect)
        future.add_done_callback(self._ended.put)

    def _look(self) -> int:
        """Number of threads that the workers have; looked up now and then, since workers come and go."""
        if time.monotonic() - self._looked_at > _LOOK_SECONDS:
            self._threads = sum(self._answer(self._client.scheduler.ncores).values())
            self._looked_at = time.monotonic()
            self._give_up_on_absent_workers()
        return self._threads

    def _answer(self, ask: Any, *given: Any, **options: Any) -> Any:
        """Answer of the scheduler; ``TimeoutError`` if it does not come."""
        return self._client.sync(partial(ask, *given, **options), callback_timeout=SCHEDULER_SECONDS)

    def _gathered(self, done: list[Any]) -> list[_Answer]:
        """The results of tasks; none where they do not come in time (who has them may have died): they are asked for again."""
        answers: list[_Answer] = []
        if done:
            with suppress(TimeoutError):  # if it is the scheduler that stands still, the next look at it says so
                answers = self._answer(self._client.gather, done, errors="skip", asynchronous=True)
        return answers

    def _give_up_on_absent_workers(self) -> None:
        if self._threads:
            self._seen_at = self._looked_at
        elif self._looked_at - self._seen_at > NO_WORKER_SECONDS:
            raise UsageError(
                f"{option('cluster', self._address)}: had no worker for {NO_WORKER_SECONDS:g} s; finished work is saved. "
                f"Start workers with: dask worker {self._address}"
            )

    def _hear(self, event: tuple[float, Any]) -> None:
        """Called by the client's own thread for all that happens on the cluster."""
        message = event[1]
        if isinstance(message, dict) and message.get("action") == "remove-worker":
            for key in message.get("processing-tasks", ()):
                if isinstance(key, tuple) and key[0] == self._name:
                    self._lost.put((key[1], str(message.get("worker"))))

    @contextmanager
    def _in_touch(self) -> Iterator[None]:
        """Say in a sentence that the scheduler does not answer any more."""
        try:
            yield
        except (OSError, TimeoutError, asyncio.CancelledError, CancelledError) as error:
            raise self._is_lost() from error

    def _is_lost(self) -> UsageError:
        return UsageError(f"{option('cluster', self._address)}: the scheduler was lost; finished work is saved")

    def _failed(self, future: Any, tasks: list[WorkItem], suspect: bool) -> list[WorkResult]:
        """Deal with a task without a result: its cells are tried one by one, or a cell has failed, or the run ends."""
        from distributed import KilledWorker

        error = future.exception() if future.status == "error" else None
        if isinstance(error, KilledWorker):
            if not suspect:
                self._report_lost(future.key[1], str(error.last_worker.address), tasks)
                self._suspects += tasks
                return []
            cell = tasks[0].cell
            reason = (
                f"each of the {error.allowed_failures + 1} workers that started it died (out of memory, or killed), "
                f"the last was {error.last_worker.address}"
            )
            return [WorkResult(tasks[0].position, "failed", failure=Failure(cell.system, cell.image, reason))]
        if isinstance(error, UsageError):
            raise error
        if error is None:
            raise self._is_lost()
        raise UsageError(
            f"{option('cluster', self._address)}: a worker cannot evaluate cells ({type(error).__name__}: {error}); "
            "it needs the same environment as this program"
        ) from error


@dataclass(frozen=True)
class _Answer:
    """Answer of a worker: results, the doubts about the files, and the time it took."""

    number: int
    results: list[WorkResult]
    doubts: list[str]
    seconds: float


def _evaluate_here(job: Job[Tally], packed: bytes, code: str, run: str, number: int) -> _Answer:
    """A few cells, on a worker; the task's number comes back with them."""
    found = code_elsewhere(job)
    if found != code:
        raise UsageError(f"a worker has other code ({found}) than this program ({code}): install the same version")
    started = time.perf_counter()
    with collect_warnings() as doubts:
        results = [evaluate(job, task, _digests_for(run)) for task in unpack_tasks(packed)]
    return _Answer(number, results, doubts, time.perf_counter() - started)
