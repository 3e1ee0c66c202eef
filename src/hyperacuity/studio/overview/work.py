"""Interface of a page's work for the overview: who worked on what, how two versions compare, and how they are settled."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.studio.actions import WorkVersion
from hyperacuity.studio.items import Item
from hyperacuity.studio.outputs import Outputs
from hyperacuity.studio.overview.agreement import Confusion

CHOICES = ("a", "b", "mark")
"""Decisions on a difference: take the first version, take the second, or mark it and take neither."""


Measures = Mapping[str, Callable[[ArrayLike], float]]
"""Measures of agreement by their names: functions of a confusion matrix."""


@dataclass(frozen=True)
class Difference:
    """One thing on which two versions differ: where (top, left, height, width), and what each says there."""

    box: tuple[int, int, int, int]
    a: str
    b: str


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Two versions: a picture of each (H×W×4) to be laid over the photograph, and where they differ."""

    pictures: tuple[NDArray[np.uint8], NDArray[np.uint8]]
    differences: Sequence[Difference]


class Work(Protocol):
    """A page's work. Methods other than :meth:`versions` may take a while, and are called outside of the server's loop.

    ``measures`` are the names of measures of agreement and what computes them from a confusion matrix; ``about`` says what they
    mean. ``photo`` is the address of an item's photograph.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    measures: ClassVar[Measures]
    about: ClassVar[str]

    @property
    def items(self) -> Mapping[str, Item]:
        """The images, by id."""

    def photo(self, item: str) -> str:
        """The address of a photograph."""

    def versions(self, file: sqlite3.Connection) -> list[WorkVersion]:
        """Everything that was started."""

    def compare(self, item: str, versions: Sequence[WorkVersion]) -> dict[tuple[int, int], Confusion]:
        """Confusion matrices of finished versions, by the two indices. Versions that do not compare are left out."""

    def note(self, item: str, versions: Sequence[WorkVersion]) -> str:
        """A remark on how far finished versions agree; may be empty."""

    def side_by_side(self, item: str, a: WorkVersion, b: WorkVersion) -> SideBySide:
        """Two finished versions."""

    def settle(
        self, item: str, a: WorkVersion, b: WorkVersion, choices: Sequence[str], facts: Mapping[str, Any]
    ) -> Outputs:
        """The files of a third version, made of the two by what was chosen for each difference. ``Refused`` if that cannot be."""
