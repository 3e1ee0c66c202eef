"""Scores while a network learns: feed predictions and truths as they come, ask for the score when you like."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Self

from hyperacuity.errors import UsageError
from hyperacuity.evaluation.arrays import samples
from hyperacuity.evaluation.protocols import agreed
from hyperacuity.tally import BaseProtocol, Signature, Tally, protocol_of
from hyperacuity.tasks import task as find_task

WAITING = 64
"""Images that may wait for a thread before ``update`` does."""


class Evaluator:
    """Judges predictions one by one, or batch by batch.

    Parameters
    ----------
    task
        The benchmark: ``"boundary"``, ``"edges"``, ``"regions"``, ``"ordering"``, ``"disparity"`` …
    protocol
        A protocol, the name of one (``"nyud"``), or options by name; by default the benchmark's own.
    workers
        With a number, ``update`` returns at once and images are counted in that many threads; ``score`` waits for them.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.zeros((32, 32), bool)
    >>> truth[16] = True
    >>> judge = Evaluator("boundary", thresholds=9)
    >>> judge.update(truth * 0.8, truth)
    >>> judge.score().ods.f
    1.0
    >>> judge.signature
    boundary|tol:0.0075diag|nms:none|thin:guo-hall|thr:9|precision:any|v:1
    """

    def __init__(self, task: str, protocol: Any = None, *, workers: int | None = None, **changes: Any) -> None:
        self.task = find_task(task)
        self.protocol = agreed(self.task, protocol, changes)
        self.workers = workers
        self._tallies: dict[str, Tally] = {}
        self._waiting: dict[str, Future[Tally]] = {}
        self._pool: ThreadPoolExecutor | None = None

    def update(self, prediction: Any, truths: Any, *, name: str | None = None, **extras: Any) -> None:
        """Count one image, or a batch of them.

        ``prediction`` is H×W, 1×H×W, N×1×H×W or N×H×W, of numpy, PyTorch or anything like it; ``truths`` is one map per image, or
        a list of annotators' maps per image. ``name`` is what a single image is called; by default images are numbered.
        ``extras`` go to the benchmark's ``tally`` (``masks=`` of disparity, ``regions=`` of ordering).
        """
        stacks = self.task.prediction == "segmentations" or getattr(self.protocol, "thresholds", None) == "levels"
        for one, people in samples(prediction, truths, stacks=stacks):
            key = self._key(name)
            named = {"image": key} if self.task.by_name else {}
            self._count(key, partial(self.task.tally, one, people, self.protocol, **extras, **named))

    def _key(self, name: str | None) -> str:
        taken = self._tallies.keys() | self._waiting.keys()
        if name is None:
            return next(key for key in (str(n) for n in itertools.count(len(taken) + 1)) if key not in taken)
        if name in taken:
            raise UsageError(f"the image {name} was judged already: give each image a name of its own, or none")
        return name

    def _count(self, key: str, work: Callable[[], Tally]) -> None:
        if self.workers is None:
            self._tallies[key] = work()
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.workers)
        if len(self._waiting) >= WAITING + self.workers:
            self._take(next(iter(self._waiting)))
        self._waiting[key] = self._pool.submit(work)

    def _take(self, key: str) -> None:
        waiting = self._waiting.pop(key)
        self._tallies[key] = waiting.result()

    @property
    def tallies(self) -> dict[str, Tally]:
        """The tallies by image, in the order of the updates. An image that could not be counted raises its ``InputError``."""
        for key in list(self._waiting):
            self._take(key)
        return self._tallies

    @property
    def signature(self) -> Signature:
        """The protocol as it stands beside every score: that of the tallies, once there are any."""
        made: BaseProtocol = self._made()
        return made.signature

    def score(self, *, resamples: int = 1000, seed: int = 0) -> Any:
        """The score of all that was judged so far. ``resamples=0`` leaves the intervals out, which saves a little time."""
        return self.task.collect(self.tallies, resamples=resamples, seed=seed)

    def reset(self) -> None:
        """Forget everything that was judged."""
        for waiting in self._waiting.values():
            waiting.cancel()
        self._waiting, self._tallies = {}, {}

    def merge(self, other: Evaluator) -> Self:
        """Take over what another evaluator of the same protocol judged: another rank's or worker's share. Returns itself.

        Images are renamed where both have the name and they were numbered; ``UsageError`` for another protocol.
        """
        if other.task.name != self.task.name or other.protocol != self.protocol:
            apart = "; ".join(self.protocol.signature.differences(other.protocol.signature))
            raise UsageError(f"evaluators of different protocols cannot be merged: {apart}")
        for name, tally in other.tallies.items():
            self._tallies[self._key(None if name.isdigit() else name)] = tally
        return self

    def __getstate__(self) -> dict[str, Any]:
        """All that travels to another process: what was judged, finished first, and how."""
        tallies = {name: tally.pack() for name, tally in self.tallies.items()}
        about = {"task": self.task.name, "protocol": self.protocol, "made": self._made(), "workers": self.workers}
        return about | {"tallies": tallies}

    def _made(self) -> Any:
        """The protocol of the tallies, which may say more than the one asked for (that regions were derived)."""
        return protocol_of(self.tallies.values(), self.task.protocol) if self.tallies else self.protocol

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.task, self.protocol, self.workers = find_task(state["task"]), state["protocol"], state["workers"]
        unpack, made = self.task.tally_type.unpack, state["made"]
        self._tallies = {name: unpack(data, made) for name, data in state["tallies"].items()}
        self._waiting, self._pool = {}, None
