"""Scores while a network learns: feed predictions and truths as they come, ask for the score when you like.

The contract of an :class:`Evaluator`:

- Several threads may call ``update``, ``add`` and ``merge`` at once; every image counts.
- Each evaluator is merged once: neither with itself, nor with one whose unnamed images it has already (``UsageError``).
- Ranks that share images, as samplers do which pad the last batch, give names: an image that both have by name counts once.
  Without names, an image whose arrays both ranks have judged is refused (``UsageError``).
- A process that forks waits for the images that are being counted; parent and child go on with an evaluator of their own each.
"""

from __future__ import annotations

import copy
import itertools
import os
import re
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, Self
from weakref import WeakSet

from hyperacuity.cards import digest_of
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kinds import Given, kind_of
from hyperacuity.run.jobs import agreed
from hyperacuity.tally import Signature, Tally, protocol_of
from hyperacuity.tasks import task as find_task

WAITING = 64
"""Images that may wait for a thread before ``update`` does."""

GIVE_NAMES = "give images names (`name=`) where samplers pad, and they count once"


class Evaluator:
    """Judges predictions one by one, or batch by batch.

    Parameters
    ----------
    task
        The benchmark: ``"boundary"``, ``"edges"``, ``"regions"``, ``"masks"``, ``"ordering"``, ``"disparity"`` …
    protocol
        A protocol, the name of one (``"nyud"``), or a mapping of options; by default the benchmark's own.
    workers
        With a number, ``update`` returns at once and images are counted in that many threads; ``score`` waits for them.
    changes
        Options of the protocol by name.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.zeros((32, 32), bool)
    >>> truth[16] = True
    >>> judge = Evaluator("boundary", thresholds=9)
    >>> judge.update(truth * 0.8, truth)
    >>> judge.score().ods.f, judge.numbers()["ods"]
    (1.0, 1.0)
    >>> judge.signature
    boundary|tol:0.0075diag|nms:none|thin:guo-hall|thr:9|precision:any|v:1
    """

    def __init__(self, task: str, protocol: Any = None, *, workers: int | None = None, **changes: Any) -> None:
        self.task = find_task(task)
        self.protocol = agreed(self.task, protocol, changes)
        if workers is not None and workers < 1:
            raise UsageError(f"cannot count with {workers} workers: expected at least one, or None")
        self.workers = workers
        self._tallies: dict[str, Tally] = {}
        self.digests: dict[str, str] = {}
        """Of the arrays of images without a name, by which two ranks notice that they share one."""
        self._start()

    def _start(self) -> None:
        """Make what no other process shares: the lock, the threads, the images in their hands."""
        self._lock = threading.RLock()
        self._taken: set[str] = set()
        """Names of images that are being counted."""
        self._waiting: dict[str, Future[Tally]] = {}
        self._pool: ThreadPoolExecutor | None = None
        _alive.add(self)

    def update(self, prediction: Any, truths: Any, *, name: str | Sequence[str] | None = None, **extras: Any) -> None:
        """Count one image, or a batch of them.

        ``prediction`` is H×W, 1×H×W, N×1×H×W or N×H×W, of numpy, PyTorch or anything like it; ``truths`` is one map per image, or
        a list of annotators' maps per image (:mod:`hyperacuity.kinds.arrays` has all that is accepted). ``name`` is what the
        image is called, of a batch a list of names; by default images are numbered (``#1``). ``extras`` go to the benchmark's
        ``tally`` (``masks=`` of disparity, ``regions=`` of ordering).

        What cannot be right raises ``InputError``, and nothing of the batch is counted; with workers, where only the values are
        wrong, the first call that needs the count raises it, with the image's name.
        """
        batch = kind_of(self.task).from_arrays(prediction, truths, extras, self.protocol)
        keys = self._reserved(name, len(batch))
        try:
            self._count(keys, batch, named=name is not None)
        finally:
            with self._lock:
                self._taken.difference_update(keys)

    def _count(self, keys: list[str], batch: list[Given], *, named: bool) -> None:
        """Count images, or have them counted by threads."""
        digests = {} if named else {key: found for key, one in zip(keys, batch, strict=True) if (found := _digest(one))}
        if self.workers is None:
            places = [""] if len(batch) == 1 else [f"image {n} of {len(batch)}: " for n in range(1, len(batch) + 1)]
            counted = []
            for key, sample, place in zip(keys, batch, places, strict=True):
                try:
                    counted.append(self._tally(key, sample))
                except InputError as error:
                    raise InputError(f"{place}{error}") from error
            with self._lock:
                for key, tally in zip(keys, counted, strict=True):
                    self._add(key, tally)
                self.digests |= digests
            return
        for key, sample in zip(keys, batch, strict=True):
            # The caller may overwrite the arrays with the next batch before a thread gets to them.
            copied = copy.deepcopy(sample)
            with self._lock:
                if self._pool is None:
                    self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="hyperacuity-image")
                if len(self._waiting) >= WAITING + self.workers:
                    self._take(next(iter(self._waiting)))
                self._waiting[key] = self._pool.submit(self._tally, key, copied)
        with self._lock:
            self.digests |= digests

    def _reserved(self, name: str | Sequence[str] | None, count: int) -> list[str]:
        """The names of the images of an update, which no other update gets meanwhile."""
        with self._lock:
            keys = self._keys(name, count)
            self._taken.update(keys)
            return keys

    def _keys(self, name: str | Sequence[str] | None, count: int) -> list[str]:
        """The names of the images of an update."""
        if name is None:
            seen = len({*self._tallies, *self._waiting, *self._taken})
            numbered = (f"#{n}" for n in itertools.count(seen + 1))
            return list(itertools.islice(itertools.filterfalse(self._is_taken, numbered), count))
        names = [name] if isinstance(name, str) else [str(one) for one in name]
        if len(names) != count:
            raise UsageError(f"there are {count} images but {len(names)} names: expected one for each")
        taken = [one for n, one in enumerate(names) if self._is_taken(one) or one in names[:n]]
        if taken:
            raise UsageError(f"the image {taken[0]} was judged already: give each image a name of its own, or none")
        return names

    def _is_taken(self, name: str) -> bool:
        return name in self._tallies or name in self._waiting or name in self._taken

    def _tally(self, key: str, sample: Given) -> Tally:
        named = {"image": key} if self.task.by_name else {}
        made: Tally = self.task.tally(sample.prediction, sample.truths, self.protocol, **sample.extras, **named)
        return made

    def _add(self, key: str, tally: Tally) -> None:
        first = next(iter(self._tallies.values()), tally)
        protocol_of((first, tally), self.task.protocol)  # refuses a mixture where it begins
        self._tallies[key] = tally

    def _take(self, key: str) -> None:
        try:
            self._add(key, self._waiting[key].result())
        except InputError as error:
            self._failed(key, error)
        del self._waiting[key]

    def _failed(self, key: str, error: InputError) -> None:
        """An image could not be counted. It keeps waiting, and so its error comes again, until reset."""
        raise InputError(f"image {key}: {error}") from error

    @property
    def tallies(self) -> dict[str, Tally]:
        """The tallies by image, in the order of the updates. An image that could not be counted raises its ``InputError``."""
        with self._lock:
            for key in list(self._waiting):
                self._take(key)
            return dict(self._tallies)

    @property
    def signature(self) -> Signature:
        """The protocol as it stands beside every score: that of the tallies, once there are any."""
        signature: Signature = self._made(self.tallies).signature
        return signature

    def score(self, *, resamples: int = 1000, seed: int = 0) -> Any:
        """The score of all that was judged so far. ``resamples=0`` leaves the intervals out, which saves time."""
        return self.task.collect(self.tallies, resamples=resamples, seed=seed)

    def numbers(self) -> dict[str, float]:
        """The numbers that the benchmark compares systems by, by name, without intervals: what a training log wants."""
        tallies = list(self.tallies.values())
        judged = self.task.criteria(protocol_of(tallies, self.task.protocol))
        values = judged.overall(tallies)
        found = dict(zip(judged.names, values.tolist(), strict=True))
        return {name: found[name] for name in judged.usual}

    def __call__(self, prediction: Any, truths: Any, **extras: Any) -> dict[str, float]:
        """The numbers of these images alone, given as to :meth:`update`; what was judged before stays as it is."""
        alone = type(self)(self.task.name, self.protocol, workers=self.workers)
        alone.update(prediction, truths, **extras)
        return alone.numbers()

    def reset(self) -> None:
        """Forget everything that was judged."""
        with self._lock:
            for waiting in self._waiting.values():
                waiting.cancel()
            self._waiting, self._tallies, self.digests = {}, {}, {}

    def merge(self, other: Evaluator) -> Self:
        """Add what another evaluator of the same protocol judged: another rank's or worker's share. Returns itself.

        Images without a name are numbered on; one that both have by name counts once (:meth:`add`). ``UsageError`` for
        an evaluator itself, and where both have judged the same arrays without a name.
        """
        if other is self:
            raise UsageError("an evaluator cannot be merged with itself: its images would count twice")
        if other.task.name != self.task.name or other.protocol != self.protocol:
            apart = "; ".join(self.protocol.signature.differences(other.protocol.signature))
            raise UsageError(f"evaluators of different protocols cannot be merged: {apart}")
        tallies, digests = other.tallies, dict(other.digests)
        with self._lock:
            mine = {digest: name for name, digest in self.digests.items()}
            for name, digest in digests.items():
                if digest in mine:
                    raise UsageError(
                        f"image {mine[digest]} here and image {name} there have the same arrays and would count twice: "
                        f"{GIVE_NAMES}"
                    )
            for name, tally in tallies.items():
                if re.fullmatch(r"#\d+", name) is None:
                    self.add(tally, name=name)
                else:
                    (key,) = self._keys(None, 1)
                    self._add(key, tally)
                    self.digests |= {key: digests[name]} if name in digests else {}
        return self

    def add(self, tally: Tally, *, name: str | None = None) -> None:
        """Add an image that was counted elsewhere.

        One that was judged already counts once, as where ranks share the last images of an epoch to have equally many;
        ``UsageError`` where the counts differ, or the protocols.
        """
        with self._lock:
            if name in self._waiting:
                self._take(name)
            if name is None or name not in self._tallies:
                self._add(self._keys(name, 1)[0], tally)
            elif self._tallies[name] != tally:
                raise UsageError(f"the image {name} was judged twice, with different counts: give each its own name")

    def __getstate__(self) -> dict[str, Any]:
        """All that travels to another process: what was judged, finished first, and how."""
        tallies = self.tallies
        packed = {name: tally.pack() for name, tally in tallies.items()}
        about = {"task": self.task.name, "protocol": self.protocol, "workers": self.workers}
        return about | {"made": self._made(tallies), "tallies": packed, "digests": dict(self.digests)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.task, self.protocol, self.workers = find_task(state["task"]), state["protocol"], state["workers"]
        unpack, made = self.task.tally_type.unpack, state["made"]
        self._tallies = {name: unpack(data, made) for name, data in state["tallies"].items()}
        self.digests = dict(state.get("digests", {}))
        self._start()

    def _made(self, tallies: dict[str, Tally]) -> Any:
        """The protocol of the tallies, which may say more than the one asked for (that regions were derived)."""
        return protocol_of(tallies.values(), self.task.protocol) if tallies else self.protocol

    def _before_fork(self) -> None:
        """Wait for the images that threads are counting, whom a child would not have."""
        self._lock.acquire()
        for key in list(self._waiting):
            with suppress(Exception):  # which comes again, in parent and child, when the count is asked for
                self._add(key, self._waiting[key].result())
                del self._waiting[key]

    def _after_fork(self) -> None:
        """Make a child's own lock and threads; images that could not be counted keep their errors."""
        waiting = self._waiting
        self._start()
        self._waiting = waiting


def _digest(sample: Given) -> str:
    """A digest of an image's arrays; empty where they are made when they are asked for."""
    try:
        return digest_of([sample.prediction, sample.truths, sample.extras])
    except TypeError:
        return ""


_alive: WeakSet[Evaluator] = WeakSet()
"""The evaluators of this process."""

_held: list[Evaluator] = []
"""Those that wait for a fork to be over."""


def _before_fork() -> None:
    _held[:] = sorted(_alive, key=id)
    for one in _held:
        one._before_fork()


def _after_fork(child: bool) -> None:
    for one in _held:
        if child:
            one._after_fork()
        else:
            one._lock.release()
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=partial(_after_fork, False), after_in_child=partial(_after_fork, True)
    )
