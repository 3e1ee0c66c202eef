"""Jobs, which turn the cells of a grid into tallies: anybody's, and a task's, which reads files as its kind of data."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from hyperacuity.data.remote import absolute
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kinds import Cell, Kind, kind_of
from hyperacuity.tally import BaseProtocol, Tally

if TYPE_CHECKING:
    from hyperacuity.run.gather import Grid
    from hyperacuity.tasks import Task

__all__ = [
    "Cell",
    "Failure",
    "Job",
    "T",
    "TaskJob",
    "agreed",
    "cell_from_text",
    "files_as_text",
    "job_as_dict",
    "job_for",
    "job_of",
    "sort_options",
    "with_meaning",
]

T = TypeVar("T", bound=Tally)
T_co = TypeVar("T_co", bound=Tally, covariant=True)


class Job(Protocol[T_co]):
    """Way from a cell to a tally: read the files, call the task. A frozen dataclass with these three members will do.

    ``evaluate`` runs in several threads at once, so it must not change shared state. It raises
    :class:`~hyperacuity.errors.InputError` for a file that cannot be right. A job may have ``sources``, the names of the modules
    whose code its tallies depend on; by default they are its own and that of the tally's class. It may also have
    ``meaning(cell)``, a tuple of words that say what the cell's files mean where neither their contents, roles and suffixes nor
    the signature tell, because a file's name or a table decides: a tally is reused where these are the same, too.
    """

    @property
    def protocol(self) -> BaseProtocol:
        """The protocol; cells with equal signatures and inputs have equal tallies."""

    @property
    def tally_type(self) -> type[T_co]:
        """The class of the tallies, which reads them back from a store."""

    def evaluate(self, cell: Cell) -> T_co:
        """The tally of one cell; depends on nothing but the cell's files and the protocol."""


@dataclass(frozen=True)
class Failure:
    """A cell without a tally, and one sentence that says why. ``detail`` is the traceback of an unforeseen error."""

    system: str
    image: str
    reason: str
    detail: str = field(default="", repr=False, compare=False)


def with_meaning(job: Any, cell: Cell) -> Cell:
    """The cell with what the job says of its meaning; a job without a word for it leaves it as it is."""
    return replace(cell, meaning=job.meaning(cell)) if hasattr(job, "meaning") else cell


def files_as_text(cell: Cell) -> str:
    """The files of a cell as a store keeps them: one line of JSON with full paths, by role."""
    files = {
        "prediction": str(absolute(cell.prediction)),
        "truths": [str(absolute(path)) for path in cell.truths],
        "extras": [[role, str(absolute(path))] for role, path in cell.extras],
        "picture": None if cell.picture is None else str(absolute(cell.picture)),
    }
    return json.dumps(files | ({"meaning": cell.meaning} if cell.meaning else {}))


def cell_from_text(system: str, image: str, text: str) -> Cell:
    """The inverse of :func:`files_as_text`. ``InputError`` for a line that was damaged."""
    try:
        files = json.loads(text)
        return Cell(
            system,
            image,
            Path(files["prediction"]),
            tuple(Path(path) for path in files["truths"]),
            tuple(("", Path(one)) if isinstance(one, str) else (one[0], Path(one[1])) for one in files["extras"]),
            None if files["picture"] is None else Path(files["picture"]),
            tuple(map(str, files.get("meaning", ()))),
        )
    except (ValueError, KeyError, TypeError, IndexError, RecursionError, AttributeError) as error:
        raise InputError(
            f"{system}: {image}: its list of files cannot be read: the run is damaged; see hyperacuity run salvage"
        ) from error


def job_as_dict(job: Any) -> dict[str, Any]:
    """Return the set-up of a job as JSON can say it: by its ``as_dict`` if it has one, else its protocol."""
    described: dict[str, Any] = job.as_dict() if hasattr(job, "as_dict") else {"protocol": job.protocol.to_dict()}
    return described


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
