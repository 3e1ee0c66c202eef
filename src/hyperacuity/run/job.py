"""What is evaluated: a cell of the grid, the job that evaluates it, and what a failure looks like."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from hyperacuity.data.remote import absolute
from hyperacuity.tally import Tally

T = TypeVar("T", bound=Tally)
T_co = TypeVar("T_co", bound=Tally, covariant=True)


@dataclass(frozen=True)
class Cell:
    """One system on one image, and the files it takes: all that a tally may depend on besides the job.

    ``picture`` is the photograph that a report shows; the tally does not depend on it.
    """

    system: str
    image: str
    prediction: Path
    truths: tuple[Path, ...]
    extras: tuple[Path, ...] = ()
    picture: Path | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that the tally depends on."""
        return (self.prediction, *self.truths, *self.extras)


class Job(Protocol[T_co]):
    """How a cell becomes a tally: read the files, call the task. A frozen dataclass with these three members will do.

    ``evaluate`` runs in several threads at once, so it must not change shared state. It raises
    :class:`~hyperacuity.errors.InputError` for a file that cannot be right.
    """

    @property
    def signature(self) -> str:
        """The protocol as one line; cells with equal signatures and inputs have equal tallies."""

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


def files_as_text(cell: Cell) -> str:
    """The files of a cell as a store keeps them: one line of JSON with full paths, by role."""
    return json.dumps(
        {
            "prediction": _full(cell.prediction),
            "truths": [_full(path) for path in cell.truths],
            "extras": [_full(path) for path in cell.extras],
            "picture": None if cell.picture is None else _full(cell.picture),
        }
    )


def cell_from_text(system: str, image: str, text: str) -> Cell:
    """The inverse of :func:`files_as_text`."""
    files = json.loads(text)
    return Cell(
        system,
        image,
        Path(files["prediction"]),
        tuple(Path(path) for path in files["truths"]),
        tuple(Path(path) for path in files["extras"]),
        None if files["picture"] is None else Path(files["picture"]),
    )


def job_as_told(job: object) -> dict[str, Any]:
    """How a job was set up: its fields that JSON can say, protocols among them. A job that is no dataclass says nothing."""
    if not is_dataclass(job):
        return {}
    told: dict[str, Any] = {}
    for part in fields(job):
        value = getattr(job, part.name)
        if is_dataclass(value) and not isinstance(value, type):
            told[part.name] = asdict(value)
        elif value is None or isinstance(value, str | bool | int | float):
            told[part.name] = value
    return told


def _full(path: Path) -> str:
    return str(absolute(path))
