"""How the files of a cell become the arrays that a task takes: the one way, for the job, the report and people's scores alike.

A reader is a frozen value with the options that decide what a file means (which way round a truth is drawn, at what level a
hierarchy is cut). A run keeps it as a dictionary beside the protocol. Its code is part of what a stored tally depends on, and
so nothing else lives in this folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

from hyperacuity.errors import InputError

if TYPE_CHECKING:
    from hyperacuity.run.job import Cell


@dataclass(frozen=True)
class Given:
    """What a task's ``tally`` is called with, besides the protocol."""

    prediction: Any
    truths: list[Any]
    extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reader:
    """Base of every reader."""

    def reading(self) -> dict[str, object]:
        """What the signature has to say of how files were read, because it makes other arrays of the same files."""
        return {}

    def meaning(self, cell: Cell) -> tuple[str, ...]:
        """What decides how this cell's files are read besides their contents, roles and suffixes, and no signature prints.

        Names of files that say what they hold, a table of the data set, a check that was waived: a stored tally is reused where
        these are the same, too.
        """
        return ()

    def prediction(self, cell: Cell, protocol: Any) -> Any:
        """What the system made of an image."""
        raise NotImplementedError

    def truths(self, cell: Cell) -> list[Any]:
        """What each annotator said of an image."""
        raise NotImplementedError

    def annotators(self, cells: Iterable[Cell]) -> dict[str, int]:
        """How many annotators each image has, without reading what they drew; images of unreadable files are left out."""
        counts: dict[str, int] = {}
        for cell in cells:
            with suppress(InputError):  # which fails the image's own cell
                counts[cell.image] = self.annotators_of(cell)
        return counts

    def annotators_of(self, cell: Cell) -> int:
        """How many annotators one image has."""
        return len(cell.truths)

    def extras(self, cell: Cell, protocol: Any, given: Given) -> dict[str, Any]:
        """What else the tally depends on, by the name of its argument."""
        return {}

    def read(self, cell: Cell, protocol: Any) -> Given:
        """Everything of a cell."""
        given = Given(self.prediction(cell, protocol), self.truths(cell))
        return Given(given.prediction, given.truths, self.extras(cell, protocol, given))

    def to_dict(self) -> dict[str, Any]:
        """The options as JSON can say them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`to_dict`; options of another version are left out."""
        return cls(**{part.name: options[part.name] for part in fields(cls) if part.name in options})
