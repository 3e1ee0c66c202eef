"""What is evaluated: a cell of the grid, the job that evaluates it, and what a failure looks like."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from hyperacuity.tally import Tally

T = TypeVar("T", bound=Tally)
T_co = TypeVar("T_co", bound=Tally, covariant=True)


@dataclass(frozen=True)
class Cell:
    """One system on one image, and the files it takes: all that a tally may depend on besides the job."""

    system: str
    image: str
    prediction: Path
    truths: tuple[Path, ...]
    extras: tuple[Path, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file of the cell."""
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
