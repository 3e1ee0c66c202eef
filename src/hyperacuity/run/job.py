"""Jobs, which evaluate the cells of a grid, and their failures."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from hyperacuity.data.remote import absolute
from hyperacuity.errors import InputError
from hyperacuity.kinds.base import Cell
from hyperacuity.tally import BaseProtocol, Tally

__all__ = ["Cell", "Failure", "Job", "T", "cell_from_text", "files_as_text", "job_as_dict", "with_meaning"]

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
