"""A task's job: read the files of a cell as its kind of data, tally them under the protocol that the caller means."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from hyperacuity.errors import InputError, UsageError
from hyperacuity.kinds import Cell, Kind, kind_of
from hyperacuity.run.gather import Grid
from hyperacuity.tally import BaseProtocol, Task


@dataclass(frozen=True)
class TaskJob:
    """One prediction and its truths, read and tallied. The signature says how they were read."""

    task: Task[Any, Any, Any]
    protocol: BaseProtocol
    kind: Kind

    @property
    def tally_type(self) -> type[Any]:
        """The class of what :meth:`evaluate` returns."""
        return self.task.tally_type

    @property
    def sources(self) -> tuple[str, ...]:
        """The modules whose code makes the tally."""
        made_by = (type(self), type(self.kind), self.task.tally, self.task.tally_type, self.task.protocol)
        return tuple(part.__module__ for part in made_by)

    def meaning(self, cell: Cell) -> tuple[str, ...]:
        """Facts on a cell's files that neither they nor the signature tell."""
        return self.kind.meaning(cell)

    def evaluate(self, cell: Cell) -> Any:
        """Tally one cell."""
        given, own = self.kind.read(cell, self.protocol), self.protocol.for_system(cell.system)
        name = {"image": cell.image} if self.task.by_name else {}
        tally = self.task.tally(given.prediction, given.truths, own, **given.extras, **name)
        return replace(tally, protocol=self.protocol)

    def people(self, cell: Cell) -> Any:
        """The tally of a cell's annotators, each held against the others; None where there is none or only one can be read."""
        try:
            drawn = self.kind.truths(cell) if self.task.people is not None else ()
        except InputError:
            return None  # has failed its own cell
        return self.task.people(drawn, self.protocol) if self.task.people is not None and len(drawn) > 1 else None

    def collect_people(self, tallies: Mapping[str, Any]) -> Any:
        """The score of annotators from their tallies by image, of which some may be None; None where nothing can be said."""
        found = {image: tally for image, tally in tallies.items() if tally is not None}
        if self.task.collect_people is not None:
            return self.task.collect_people(list(found.values()))
        return self.task.collect(found) if found else None

    def as_dict(self) -> dict[str, Any]:
        """A description that a run keeps, for those who read the run later."""
        return {"protocol": self.protocol.to_dict(), "reader": self.kind.to_dict()}


def job_for(task: Task[Any, Any, Any], protocol: BaseProtocol, kind: Kind | None = None) -> TaskJob:
    """The job of a task, whose protocol says how files are read; with the options of ``kind``, or by default."""
    kind = kind or kind_of(task)
    return TaskJob(task, protocol.read_as(**kind.reading()), kind)


def job_of(grid: Grid) -> TaskJob:
    """The job that a run recorded: the same protocol and kind, which reads as it did."""
    return TaskJob(grid.task, grid.protocol, kind_of(grid.task).from_dict(grid.options.get("reader", {})))


def agreed(task: Task[Any, Any, Any], given: Any = None, changes: Mapping[str, Any] | None = None) -> Any:
    """The protocol of a task: ``given`` (a protocol, a name of one, or options) with ``changes``.

    >>> from hyperacuity.tasks import task
    >>> agreed(task("boundary"), "nyud", {"thresholds": 19}).signature
    boundary|tol:0.011diag|nms:none|thin:guo-hall|thr:19|precision:any|v:1
    >>> agreed(task("edges"), None, {"thresold": 5})
    Traceback (most recent call last):
    hyperacuity.errors.UsageError: edges has no option 'thresold'; there are names, thresholds, thin, norm
    """
    options = dict(changes or {})
    if isinstance(given, BaseProtocol):
        if not isinstance(given, task.protocol):
            raise UsageError(f"the protocol is one of {given.task}, expected one of {task.name}")
        start = given
    elif isinstance(given, str):
        if given not in task.protocols:
            known = ", ".join(task.protocols) or "none with a name"
            raise UsageError(f"there is no protocol {given!r}; there are {known}")
        start = task.protocols[given]
    else:
        start, options = task.protocol(), dict(given or {}) | options
    names = [part.name for part in fields(task.protocol) if part.name != "reading"]
    for name in options:
        if name not in names:
            raise UsageError(f"{task.name} has no option {name!r}; there are {', '.join(names)}")
    lists = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    return replace(start, **lists)


def sort_options(task: Task[Any, Any, Any], options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split options into those of how files are found and read, and those of the protocol; None counts as not given."""
    given = {name: value for name, value in options.items() if value is not None}
    kind = kind_of(task)
    parameters = inspect.signature(kind.find).parameters.values()
    finding = {one.name for one in parameters if one.kind is one.KEYWORD_ONLY}
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        finding |= {part.name for part in fields(kind)}
    agreeing = {part.name for part in fields(task.protocol)} - {"reading"} - finding
    for name in given:
        if name not in finding | agreeing:
            known = ", ".join(sorted(finding | agreeing))
            raise UsageError(f"{task.name} has no option {name!r}; there are {known}")
    found = {name: given.pop(name) for name in list(given) if name in finding}
    return found, given
