"""Benchmarks: all that is to be known of one, and their registry, one line each. Nothing else keeps a list of them.

A benchmark is loaded when it is first asked for. One of another package joins by an entry point, so that every process knows
it, or for the time being by :func:`register`.

>>> task("boundary").title
'Boundaries'
>>> task("chess")
Traceback (most recent call last):
hyperacuity.errors.UsageError: there is no benchmark 'chess'; there are boundary, edges, ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np

from hyperacuity.errors import UsageError
from hyperacuity.tally import P, Scores, Signature, T, Weights

if TYPE_CHECKING:
    from hyperacuity.columns import Columns

S = TypeVar("S")
Vector = Literal["concat", "mean"]


@dataclass(frozen=True)
class Criteria:
    """The numbers a task is judged by under one protocol, and in which sense.

    ``rescore(tallies, weights)`` gives the scores of one system, resamples × criteria, when each image counts as often as a row
    of ``weights`` says: on the data set (all ones), on each image alone, on every resample. ``usual`` are the criteria to
    compare by when none are named, and ``vector`` is whether each image is a component of its own.
    """

    names: tuple[str, ...]
    senses: tuple[str, ...]
    rescore: Callable[[Sequence[Any], Weights], Scores]
    usual: tuple[str, ...]
    vector: Vector = "mean"

    def overall(self, tallies: Sequence[Any]) -> Scores:
        """The scores of one system on the data set."""
        scores: Scores = self.rescore(tallies, np.ones((1, len(tallies)), np.int64))[0]
        return scores

    def alone(self, tallies: Sequence[Any]) -> Scores:
        """The scores of one system on each image alone, images × criteria."""
        parts = [tallies[start : start + 500] for start in range(0, len(tallies), 500)]
        return np.concatenate([self.rescore(part, np.eye(len(part), dtype=np.int64)) for part in parts])

    def resampled(self, tallies: Sequence[Any], blocks: Iterable[Weights]) -> Scores:
        """The scores of one system on resampled data sets, whose weights come in blocks; resamples × criteria."""
        return np.concatenate([self.rescore(tallies, block) for block in blocks])


Example = tuple[Any, Any, Mapping[str, Any]]
"""A prediction, its truths, and options of :func:`hyperacuity.evaluate`."""


@dataclass(frozen=True)
class Task(Generic[P, T, S]):
    """All that the rest of the house needs to know of a benchmark. :func:`task` finds one by its name.

    Parameters
    ----------
    name, title
        Name in signatures and of the command, and title on pages.
    protocol, tally_type
        Its types; ``protocol()`` has the defaults.
    tally
        ``(prediction, truths, protocol, **extras) -> tally`` of one image. Arrays in, numbers out, no files.
    collect
        ``({image: tally}, *, resamples, seed) -> score`` of a data set.
    criteria
        The numbers it is judged by, under a protocol.
    kind
        The kind of its data (:mod:`hyperacuity.kinds`): its name, or a value of a :class:`~hyperacuity.kinds.Kind` of your own.
    people, collect_people
        ``(truths, protocol) -> tally`` of each annotator against the others, and their score, where it is not ``collect``'s.
    protocols
        Protocols that have a name.
    by_name
        Whether ``tally`` takes the image's name (``image=``), because something is drawn at random for each.
    collect_sweep
        ``({value: {image: tally}}) -> score`` of one system at several values of a parameter, where that can be said.
    chance
        ``(criterion, {image: tally}) -> number``: the score that guessing reaches; NaN where that is not known.
    references, protocol_references
        Papers to cite: keys of the package's list or BibTeX entries, or a function of a signature; more for named protocols.
    examples
        ``(scene) -> [(prediction, truths, options)]``: small inputs made of a scene; to score them compiles all kernels.
    columns
        Columns of its tables, or a function of the protocol that gives them; by default its criteria.
    """

    name: str
    title: str
    protocol: type[P]
    tally_type: type[T]
    tally: Callable[..., T]
    collect: Callable[..., S]
    criteria: Callable[[P], Criteria]
    kind: Any = "contours"
    people: Callable[[Sequence[Any], P], T] | None = None
    collect_people: Callable[[Sequence[T]], Any] | None = None
    protocols: Mapping[str, P] = field(default_factory=dict)
    by_name: bool = False
    collect_sweep: Callable[[Mapping[str, Mapping[str, T]]], S] | None = None
    chance: Callable[[str, Mapping[str, T]], float] | None = None
    references: Sequence[str] | Callable[[Signature], Iterable[str]] = ()
    protocol_references: Mapping[str, Sequence[str]] = field(default_factory=dict)
    examples: Callable[[Any], Iterable[Example]] | None = None
    columns: Columns | Callable[[P], Columns] | None = None


BUILT_IN = {
    "boundary": "hyperacuity.boundary.task",
    "edges": "hyperacuity.edges.task",
    "semantic": "hyperacuity.semantic.task",
    "regions": "hyperacuity.regions.task",
    "ordering": "hyperacuity.ordering.task",
    "occlusion": "hyperacuity.ordering.occlusion_task",
    "whdr": "hyperacuity.ordering.whdr.task",
    "dbe": "hyperacuity.ordering.dbe.task",
    "disparity": "hyperacuity.disparity.task",
    "masks": "hyperacuity.masks.task",
    "views": "hyperacuity.disparity.views_task",
    "audit": "hyperacuity.audit.task",
    "strength": "hyperacuity.audit.strength_task",
}
"""The module of each benchmark; its ``TASK`` is what the name stands for."""

ENTRY_POINTS = "hyperacuity.tasks"
"""The group in which installed packages offer theirs: ``exact = "exact:TASK"``."""

_joined: dict[str, Task[Any, Any, Any]] = {}


def task(name: str) -> Task[Any, Any, Any]:
    """The benchmark of this name. ``UsageError`` when there is none."""
    if name in _joined:
        return _joined[name]
    if name in BUILT_IN:
        found: Task[Any, Any, Any] = import_module(BUILT_IN[name]).TASK
        return found
    if name not in (offered := _offered()):
        raise UsageError(f"there is no benchmark {name!r}; there are {', '.join(names())}")
    register(offered[name].load())
    return _joined[name]


def names() -> list[str]:
    """The names of all benchmarks."""
    return list(dict.fromkeys((*BUILT_IN, *_joined, *_offered())))


def register(task: Task[Any, Any, Any]) -> None:
    """Add a benchmark of your own, which this process then knows by name. One of the same name is replaced."""
    if task.name in BUILT_IN:
        raise UsageError(f"the name {task.name} belongs to a benchmark of this package: choose another")
    _joined[task.name] = task


def _offered() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}
