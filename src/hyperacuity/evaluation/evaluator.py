"""Scores while a network learns: feed predictions and truths as they come, ask for the score when you like."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

from hyperacuity.errors import InputError, UsageError
from hyperacuity.kinds import Given, kind_of
from hyperacuity.run.jobs import agreed
from hyperacuity.tally import Signature, Tally, protocol_of
from hyperacuity.tasks import task as find_task

WAITING = 64
"""Images that may wait for a thread before ``update`` does."""


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
        self._waiting: dict[str, Future[Tally]] = {}
        self._pool: ThreadPoolExecutor | None = None

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
        keys = self._keys(name, len(batch))
        if self.workers is None:
            places = [""] if len(batch) == 1 else [f"image {n} of {len(batch)}: " for n in range(1, len(batch) + 1)]
            counted = []
            for key, sample, place in zip(keys, batch, places, strict=True):
                try:
                    counted.append(self._tally(key, sample))
                except InputError as error:
                    raise InputError(f"{place}{error}") from error
            for key, tally in zip(keys, counted, strict=True):
                self._add(key, tally)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="hyperacuity-image")
        for key, sample in zip(keys, batch, strict=True):
            if len(self._waiting) >= WAITING + self.workers:
                self._take(next(iter(self._waiting)))
            # The caller may overwrite the arrays with the next batch before a thread gets to them.
            self._waiting[key] = self._pool.submit(self._tally, key, copy.deepcopy(sample))

    def _keys(self, name: str | Sequence[str] | None, count: int) -> list[str]:
        """The names of the images of an update."""
        if name is None:
            numbered = (f"#{n}" for n in itertools.count(len(self._tallies) + len(self._waiting) + 1))
            return list(itertools.islice(itertools.filterfalse(self._is_taken, numbered), count))
        names = [name] if isinstance(name, str) else [str(one) for one in name]
        if len(names) != count:
            raise UsageError(f"there are {count} images but {len(names)} names: expected one for each")
        taken = [one for n, one in enumerate(names) if self._is_taken(one) or one in names[:n]]
        if taken:
            raise UsageError(f"the image {taken[0]} was judged already: give each image a name of its own, or none")
        return names

    def _is_taken(self, name: str) -> bool:
        return name in self._tallies or name in self._waiting

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
        for waiting in self._waiting.values():
            waiting.cancel()
        self._waiting, self._tallies = {}, {}

    def merge(self, other: Evaluator) -> Self:
        """Add what another evaluator of the same protocol judged: another rank's or worker's share. Returns itself.

        Images without a name are numbered on; one that both have by name counts once (:meth:`add`).
        """
        if other.task.name != self.task.name or other.protocol != self.protocol:
            apart = "; ".join(self.protocol.signature.differences(other.protocol.signature))
            raise UsageError(f"evaluators of different protocols cannot be merged: {apart}")
        for name, tally in other.tallies.items():
            self.add(tally, name=None if re.fullmatch(r"#\d+", name) else name)
        return self

    def add(self, tally: Tally, *, name: str | None = None) -> None:
        """Add an image that was counted elsewhere.

        One that was judged already counts once, as where ranks share the last images of an epoch to have equally many;
        ``UsageError`` where the counts differ, or the protocols.
        """
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
        return about | {"made": self._made(tallies), "tallies": packed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.task, self.protocol, self.workers = find_task(state["task"]), state["protocol"], state["workers"]
        unpack, made = self.task.tally_type.unpack, state["made"]
        self._tallies = {name: unpack(data, made) for name, data in state["tallies"].items()}
        self._waiting, self._pool = {}, None

    def _made(self, tallies: dict[str, Tally]) -> Any:
        """The protocol of the tallies, which may say more than the one asked for (that regions were derived)."""
        return protocol_of(tallies.values(), self.task.protocol) if tallies else self.protocol
