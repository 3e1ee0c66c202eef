"""What a page of the report shows of one protocol, whatever the task: the values that tasks fill in and pages print.

A task makes a :class:`Sheet` from a :class:`~hyperacuity.run.gather.Grid`; see :mod:`hyperacuity.report.sheets`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyperacuity.compare import optimal
from hyperacuity.compare.significance import Pairwise, clusters, pairwise_of_samples
from hyperacuity.compare.table import Rescore
from hyperacuity.report.sheets.viewer import Viewer
from hyperacuity.resampling import Bootstrap, blocks_of
from hyperacuity.run.gather import Grid
from hyperacuity.tally import Scores

A = TypeVar("A")
B = TypeVar("B")

NAN = float("nan")
NOTHING = "No image could be evaluated."


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

    def as_text(self, value: float) -> str:
        """The value with its unit; a dash for what does not exist."""
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

    ``draw(hover)`` makes it; with ``hover``, it tells more where the pointer is, which paper has no use for. A ``fluid`` one may
    be made as wide as the page has room for it. ``span`` is how many twelfths of the page's width it takes, where there is room.
    """

    name: str
    title: str
    words: str
    draw: Callable[[bool], Any]
    fluid: bool = False
    span: int = 4


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

    def as_dict(self) -> dict[str, Any]:
        """The leaderboard and the findings, for JSON."""
        return {
            "task": self.grid.signature.task,
            "signature": str(self.grid.signature),
            "findings": self.findings,
            "failed": len(self.grid.failures),
            "systems": {
                line.system: {
                    **line.values,
                    "interval": line.interval,
                    "images": line.images,
                    "rank": line.rank,
                    "group": line.group or None,
                    "pareto": line.optimal,
                }
                for line in self.lines
            },
        }


def failed_images(grid: Grid, system: str) -> int:
    """On how many images a system failed."""
    return sum(failure.system == system for failure in grid.failures)


def ranked(columns: Sequence[Column], lines: Sequence[Line], tested: Pairwise | None = None) -> tuple[Line, ...]:
    """The lines in the order of the main score, with ranks, significance groups and Pareto membership filled in.

    ``tested`` holds the paired tests of the lines as given. Without it there are no groups (0), and none is alone.
    Equal scores share a rank. A system without a score is last.
    """
    if not lines:
        return ()
    main = columns[0]
    costs = (-1 if main.better == "max" else 1) * np.array([line.values.get(main.key, NAN) for line in lines])
    order = sorted(range(len(lines)), key=lambda n: (math.isnan(costs[n]), costs[n], n))
    better: NDArray[np.bool_] = np.zeros((len(lines), len(lines)), bool) if tested is None else tested.better()
    positions = np.empty(len(lines))
    positions[order] = np.arange(len(lines))
    groups = clusters(positions, better) if tested is not None else np.zeros(len(lines), np.int64)
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


def paired_tests(rescore: Callable[[str], Rescore], images: int, systems: Sequence[str]) -> Pairwise | None:
    """Paired bootstrap over images for all pairs of systems; None where there are fewer than two of either.

    ``rescore(system)`` is asked for a system at a time; it gives one number per resample, larger = better.
    """
    if len(systems) < 2 or images < 2:
        return None

    def scores(score: Rescore) -> Scores:
        weights = chain([np.ones((1, images), np.int64)], blocks_of(enough_weights(images, len(systems))))
        return np.concatenate([score(block) for block in weights])

    found = np.stack([scores(rescore(system)) for system in systems], axis=1)
    return pairwise_of_samples(found[1:], found[0][:, None] - found[0])


def enough_weights(images: int, systems: int) -> Bootstrap:
    """Bootstrap weights for testing all pairs of systems.

    R resamples give no p-value below 2 / (R + 1), and Holm's correction multiplies the least by the number of pairs: the more
    systems, the more resamples it takes for any difference to be significant at 5 %.

    >>> [enough_weights(5, systems).resamples for systems in (2, 5, 30)]
    [1000, 1000, 20010]
    """
    pairs = systems * (systems - 1) // 2
    return Bootstrap(images, max(1000, 46 * pairs))


def leader(lines: Sequence[Line], column: Column, tested: Pairwise | None, order: Sequence[str]) -> str:
    """Who leads, by how much, and whether that may be chance. ``order`` are the systems as they were tested.

    >>> lines = [Line("a", {"ods": 0.7}, (0.6, 0.8)), Line("b", {"ods": 0.6})]
    >>> leader(lines, Column("ods", "ODS"), None, "ab")
    'a reaches ODS 0.700 (95 % interval 0.600 to 0.800), ahead of b by 0.100.'
    """
    first = lines[0]
    low, high = first.interval
    text = f"{first.system} reaches {column.title} {column.as_text(first.values[column.key])}"
    text += f" (95 % interval {low:.{column.digits}f} to {column.as_text(high)})" if not math.isnan(low) else ""
    if len(lines) > 1:
        second = lines[1]
        gap = abs(first.values[column.key] - second.values[column.key])
        text += f", ahead of {second.system} by {column.as_text(gap)}" if gap else f", level with {second.system}"
        if tested is not None and gap:
            p = float(tested.corrected[order.index(first.system), order.index(second.system)])
            text += qualified(p, len(lines))
    return text + "."


def qualified(p: float, systems: int) -> str:
    """How a lead is qualified by its p-value, which is corrected for all pairs of systems (Holm).

    >>> qualified(0.004, 2), qualified(0.3, 3)
    (' (p = 0.004)', ', which may be chance (p = 0.30, corrected for 3 pairs)')
    """
    pairs = systems * (systems - 1) // 2
    corrected = f", corrected for {pairs} pairs" if pairs > 1 else ""
    return f" (p = {p:.3f}{corrected})" if p < 0.05 else f", which may be chance (p = {p:.2f}{corrected})"
