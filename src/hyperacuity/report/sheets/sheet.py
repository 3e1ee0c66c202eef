"""What a page of the report shows of one protocol, whatever the task: the values that tasks fill in and pages print.

A task makes a :class:`Sheet` from a :class:`~hyperacuity.run.gather.Grid`; see :mod:`hyperacuity.report.sheets.registry`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyperacuity.compare.significance import Pairwise, clusters
from hyperacuity.resampling import bootstrap_weights
from hyperacuity.run import Cell
from hyperacuity.run.gather import Grid

A = TypeVar("A")
B = TypeVar("B")

NAN = float("nan")


class Each(Protocol):
    """Map a function over items, in threads."""

    def __call__(self, title: str, function: Callable[[A], B], items: Iterable[A]) -> list[B]:
        """The results in the order of the items; ``title`` names the work while it goes on."""


@dataclass(frozen=True)
class Column:
    """A score on the leaderboard. ``better`` is ``"max"``, ``"min"``, or empty for a number that is neither good nor bad."""

    key: str
    title: str
    better: str = "max"
    digits: int = 3
    note: str = ""
    unit: str = ""

    def told(self, value: float) -> str:
        """The value as text, with its unit; a dash for what does not exist."""
        return "–" if math.isnan(value) else f"{value:.{self.digits}f}" + (f" {self.unit}" if self.unit else "")


@dataclass(frozen=True)
class Line:
    """A system on the leaderboard, with its scores by column, and the interval of the main one.

    ``group`` counts from 1: systems of one group cannot be told apart by the images at hand; it is 0 if that was not tested.
    ``alone``: first, and significantly better than every other. ``optimal``: no other system is at least as good by every score
    and better by one.
    """

    system: str
    values: Mapping[str, float]
    interval: tuple[float, float] = (NAN, NAN)
    images: int = 0
    failed: int = 0
    rank: int = 0
    group: int = 0
    alone: bool = False
    optimal: bool = False


@dataclass(frozen=True)
class Figure:
    """A chart, with what it is called (also its file's name), a title, and words for those who cannot see it.

    ``draw(hover)`` makes it; with ``hover``, it tells more where the pointer is, which paper has no use for.
    """

    name: str
    title: str
    words: str
    draw: Callable[[bool], Any]
    fluid: bool = True
    """Whether the chart may be made as wide as the page has room for it."""
    span: int = 4
    """How many twelfths of the width of a page it takes, where there is room."""


@dataclass(frozen=True)
class Layer:
    """Something the viewer can show of an image: the photograph, the truth, a prediction, a match."""

    key: str
    title: str
    note: str = ""


@dataclass(frozen=True)
class Viewer:
    """How images are looked at. ``look(image, cells)`` gives the pictures of one image as JSON can say them.

    ``cells`` are the image's cells by system. The result has ``size`` (width, height), ``shared`` (by layer) and ``systems`` (a
    list in the order of the leaderboard's systems, each a mapping by layer, or with ``missing`` and the reason). A layer is
    made by a function of :mod:`hyperacuity.report.pictures.layers`.
    """

    layers: tuple[Layer, ...]
    legend: tuple[tuple[str, str, str, str], ...]
    """Of the first layer's states: key, colour, word, and what it means."""
    look: Callable[[str, Mapping[str, Cell]], dict[str, Any]]


@dataclass(frozen=True)
class Sheet:
    """One protocol's part of a report."""

    title: str
    grid: Grid
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    figures: tuple[Figure, ...] = ()
    findings: tuple[str, ...] = ()
    image_score: Column | None = None
    image_scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Per image and system the score by which images are sorted."""
    image_span: float = 1.0
    """Where the axis of the images' scores ends; it begins at 0."""
    viewer: Viewer | None = None
    notes: tuple[str, ...] = ()
    board: str = "Leaderboard"
    """What the table of systems is called."""

    @property
    def main(self) -> Column:
        """The score by which systems are ranked."""
        return self.columns[0]


def ranked(
    columns: Sequence[Column],
    lines: Sequence[Line],
    tested: Pairwise | None = None,
) -> tuple[Line, ...]:
    """The lines in the order of the main score, with ranks, significance groups and Pareto membership filled in.

    ``tested`` holds the paired tests of the lines as given. Without it there are no groups (0), and none is alone.
    Equal scores share a rank. A system without a score is last.
    """
    from dataclasses import replace

    from hyperacuity.compare import optimal

    if not lines:
        return ()
    main = columns[0]
    costs = np.array([_cost(line.values.get(main.key, NAN), main) for line in lines])
    order = sorted(range(len(lines)), key=lambda n: (math.isnan(costs[n]), costs[n], n))
    better: NDArray[np.bool_] = np.zeros((len(lines), len(lines)), bool) if tested is None else tested.better()
    places = np.empty(len(lines))
    places[order] = np.arange(len(lines))
    groups = clusters(places, better) if tested is not None else np.zeros(len(lines), np.int64)
    judged = [column for column in columns if column.better]
    scores = np.array([[line.values.get(column.key, NAN) for column in judged] for line in lines])
    best = optimal(scores, senses=[column.better for column in judged])
    others = np.arange(len(lines))
    return tuple(
        replace(
            lines[n],
            rank=1 + int(np.count_nonzero(costs < costs[n])) if not math.isnan(costs[n]) else len(lines),
            group=int(groups[n]),
            alone=len(lines) > 1 and bool(better[n, others != n].all()),
            optimal=bool(best[n]),
        )
        for n in order
    )


def enough_weights(images: int, systems: int) -> list[NDArray[np.int64]]:
    """Bootstrap weights for testing all pairs of systems, in parts that fit in memory.

    R resamples give no p-value below 2 / (R + 1), and Holm's correction multiplies the least by the number of pairs: the more
    systems, the more resamples it takes for any difference to be significant at 5 %.

    >>> [sum(map(len, enough_weights(5, systems))) for systems in (2, 5, 30)]
    [1000, 1000, 20010]
    """
    pairs = systems * (systems - 1) // 2
    resamples = max(1000, 46 * pairs)
    return np.array_split(bootstrap_weights(images, resamples), -(-resamples // 4000))


def lead(first: Line, second: Line, column: Column) -> str:
    """How far the first system is ahead of the second.

    >>> lead(Line("a", {"ods": 0.7}), Line("b", {"ods": 0.6}), Column("ods", "ODS"))
    'ahead of b by 0.100'
    >>> lead(Line("a", {"ods": 0.7}), Line("b", {"ods": 0.7}), Column("ods", "ODS"))
    'level with b'
    """
    gap = abs(first.values[column.key] - second.values[column.key])
    return f"ahead of {second.system} by {column.told(gap)}" if gap else f"level with {second.system}"


def picture_of(cells: Mapping[str, Cell]) -> Path | None:
    """The photograph of an image: the first that any of its cells names."""
    return next((cell.picture for cell in cells.values() if cell.picture is not None), None)


def _cost(value: float, column: Column) -> float:
    return -value if column.better == "max" else value


def told_chance(p: float, systems: int) -> str:
    """How a lead is qualified by its p-value, which is corrected for all pairs of systems (Holm).

    >>> told_chance(0.004, 2), told_chance(0.3, 3)
    (' (p = 0.004)', ', which may be chance (p = 0.30, corrected for 3 pairs)')
    """
    pairs = systems * (systems - 1) // 2
    corrected = f", corrected for {pairs} pairs" if pairs > 1 else ""
    return f" (p = {p:.3f}{corrected})" if p < 0.05 else f", which may be chance (p = {p:.2f}{corrected})"
