"""A page's work for the overview: who worked on what, how two versions compare, and how they are settled."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.studio import actions
from hyperacuity.studio.actions import WorkVersion
from hyperacuity.studio.items import Item
from hyperacuity.studio.outputs import Outputs
from hyperacuity.studio.overview.agreement import Confusion

T = TypeVar("T")

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


class Work(ABC, Generic[T]):
    """A page's work on images. ``version_of(item, person, number)`` is a person's work after an entry of their log.

    Methods other than :meth:`versions` may take a while, and are called outside of the server's loop. ``photograph`` is where
    an image's photograph is served; ``about`` says what the ``measures`` mean.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    photograph: ClassVar[str]
    measures: ClassVar[Measures]
    about: ClassVar[str]

    def __init__(self, items: Mapping[str, Item], version_of: Callable[[str, str, int], T], out: Path) -> None:
        self.items = items
        self._version_of = version_of
        self._out = out

    def photo(self, item: str) -> str:
        """The address of a photograph."""
        return self.photograph.format(item=item)

    def versions(self, file: sqlite3.Connection) -> list[WorkVersion]:
        """Everything that was started."""
        return actions.versions(file, self.name)

    def compare(self, item: str, versions: Sequence[WorkVersion]) -> dict[tuple[int, int], Confusion]:
        """Confusion matrices of finished versions, by the two indices. Versions that do not compare are left out."""
        work = self._load(item, *versions)
        matrices = {(i, j): self._confusion(work[i], work[j]) for i, j in combinations(range(len(work)), 2)}
        return {pair: matrix for pair, matrix in matrices.items() if matrix is not None}

    def _load(self, item: str, *versions: WorkVersion) -> list[T]:
        return [self._version_of(item, one.person, one.number) for one in versions]

    @abstractmethod
    def _confusion(self, one: T, other: T) -> Confusion | None:
        """The confusion matrix of two finished versions; None if they do not compare."""

    @abstractmethod
    def note(self, item: str, versions: Sequence[WorkVersion]) -> str:
        """A remark on how far finished versions agree; may be empty."""

    @abstractmethod
    def side_by_side(self, item: str, a: WorkVersion, b: WorkVersion) -> SideBySide:
        """Two finished versions, and the places in which they differ."""

    @abstractmethod
    def settle(
        self, item: str, a: WorkVersion, b: WorkVersion, choices: Sequence[str], facts: Mapping[str, Any]
    ) -> Outputs:
        """The files of a third version, put together from two by a choice for each difference. ``Refused`` if that cannot be."""
