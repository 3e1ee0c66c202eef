"""What a page of the report shows of one protocol, whatever the task: the values that tasks fill in and pages print.

A task makes a :class:`Sheet` from a :class:`~hyperacuity.run.gather.Grid`; see :mod:`hyperacuity.report.sheets`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from hyperacuity.compare import optimal
from hyperacuity.compare.verdict import Verdict, verdicts
from hyperacuity.evaluation.export import Column as Column
from hyperacuity.report.sheets.viewer import Viewer
from hyperacuity.run.gather import Grid
from hyperacuity.run.jobs import job_of

A = TypeVar("A")
B = TypeVar("B")

NAN = float("nan")
NOTHING = "No image could be evaluated."


class Each(Protocol):
    """Map a function over items, in threads."""

    def __call__(self, title: str, function: Callable[[A], B], items: Iterable[A]) -> list[B]:
        """The results in the order of the items; ``title`` names the work while it goes on."""


@dataclass(frozen=True)
class Line:
    """A system on the leaderboard, with its scores by column, and the interval of the main one.

    ``expected`` is how many images the truth has, where the run knows. ``verdict`` is the test of the best system against it;
    None for the best itself, and where nothing was tested. ``alone``: the best, and significantly better than every other.
    ``optimal``: no other system is at least as good by every score and better by one.
    """

    system: str
    values: Mapping[str, float]
    interval: tuple[float, float] = (NAN, NAN)
    images: int = 0
    failed: int = 0
    expected: int | None = None
    rank: int = 0
    verdict: Verdict | None = None
    alone: bool = False
    optimal: bool = False

    @property
    def coverage(self) -> str:
        """On how many images there is a score, and of how many, where that is not all."""
        return str(self.images) if self.expected in (None, self.images) else f"{self.images} of {self.expected}"

    @property
    def p(self) -> str:
        """The corrected p-value of the best system against this one; a dash where there is none."""
        return "–" if self.verdict is None else f"{self.verdict.p:.3f}"


@dataclass(frozen=True)
class Figure:
    """A chart, with what it is called (also its file's name), a title, and words for those who cannot see it.

    ``draw(hover)`` makes it; with ``hover``, it tells more where the pointer is, which paper has no use for. A ``fluid`` one may
    be made as wide as the page has room for it.
    """

    name: str
    title: str
    words: str
    draw: Callable[[bool], Any]
    fluid: bool = False


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
    people: float = NAN
    """What people reach by the main score, held against each other; NaN where nobody knows."""
    chance: float = NAN
    """What guessing reaches by the main score; NaN where that depends on the image, or is not known."""

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
                    "expected": line.expected,
                    "rank": line.rank,
                    "p": None if line.verdict is None else line.verdict.p,
                    "pareto": line.optimal,
                }
                for line in self.lines
            },
        }


def file_names(sheets: Sequence[Sheet]) -> list[str]:
    """What each sheet's files are called: as its task; a second protocol of the same task adds its number, ``boundary-2``."""
    seen: dict[str, int] = {"index": 1}  # the front page
    names = []
    for sheet in sheets:
        name = re.sub(r"[^\w.-]+", "-", sheet.grid.signature.task)
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return names


def systems_of(sheets: Sequence[Sheet]) -> list[str]:
    """The systems of all sheets in the order in which runs first had them, so that a system keeps its place when others come."""
    return list(dict.fromkeys(system for sheet in sheets for system in sheet.grid.sources))


def people_of(grid: Grid, each: Each) -> Any:
    """The score of people against each other, on the images whose truths can still be read and have two annotators or more."""
    job = job_of(grid)
    cells = {cell.image: cell for cell in grid.cells()}
    return job.collect_people(dict(zip(cells, each("people", job.people, list(cells.values())), strict=True)))


def about_images(grid: Grid, system: str) -> dict[str, Any]:
    """What a line says of a system's images besides their number: how many failed, and how many there should be."""
    failed = sum(failure.system == system for failure in grid.failures)
    return {"failed": failed, "expected": grid.sources[system].expected}


def ranked(
    columns: Sequence[Column], lines: Sequence[Line], test: Callable[[list[str]], Sequence[Verdict]] = lambda _: ()
) -> tuple[Line, ...]:
    """The lines in the order of the main score, with ranks, p-values against the best and Pareto membership filled in.

    ``test`` gives the verdicts on systems, which it is told the best first. Equal scores share a rank. A system without a score
    is last.
    """
    if not lines:
        return ()
    main = columns[0]
    costs = (-1 if main.better == "max" else 1) * np.array([line.values.get(main.key, NAN) for line in lines])
    order = sorted(range(len(lines)), key=lambda n: (math.isnan(costs[n]), costs[n], n))
    tests = {verdict.second: verdict for verdict in test([lines[n].system for n in order])}
    judged = [column for column in columns if column.better]
    scores = np.array([[line.values.get(column.key, NAN) for column in judged] for line in lines])
    best = optimal(scores, senses=[column.better for column in judged])
    alone = 0 < len(tests) == len(lines) - 1 and all(verdict.significant for verdict in tests.values())
    return tuple(
        replace(
            lines[n],
            rank=1 + int(np.count_nonzero(costs < costs[n])) if not math.isnan(costs[n]) else len(lines),
            verdict=tests.get(lines[n].system),
            alone=alone and n == order[0],
            optimal=bool(best[n]),
        )
        for n in order
    )


def leaderboard(grid: Grid, columns: Sequence[Column], lines: Iterable[Line]) -> tuple[Line, ...]:
    """The lines :func:`ranked`, each system tested against the best by the main score, with what the grid says of its images."""
    main, tallies = columns[0].key, grid.tallies()

    def test(systems: list[str]) -> Sequence[Verdict]:
        return verdicts(systems, tallies.__getitem__, grid.task.criteria(grid.protocol), [main])[main]

    return ranked(columns, [replace(line, **about_images(grid, line.system)) for line in lines], test)


def leader(lines: Sequence[Line], column: Column) -> str:
    """Who leads, by how much, and whether that may be chance.

    >>> lines = [Line("a", {"ods": 0.7}, (0.6, 0.8)), Line("b", {"ods": 0.6})]
    >>> leader(lines, Column("ods", "ODS"))
    'a reaches ODS 0.700 (95 % interval 0.600 to 0.800), ahead of b by 0.100.'
    """
    first = lines[0]
    low, high = first.interval
    text = f"{first.system} reaches {column.title} {column.as_text(first.values[column.key])}"
    text += f" (95 % interval {low:.{column.digits}f} to {column.as_text(high)})" if not math.isnan(low) else ""
    if len(lines) > 1:
        second = lines[1]
        gap = abs(first.values[column.key] - second.values[column.key])
        if gap and not float(column.number(gap)):
            text += f", less than {column.as_text(10.0**-column.digits)} ahead of {second.system}"
        else:
            text += f", ahead of {second.system} by {column.as_text(gap)}" if gap else f", level with {second.system}"
        text += f" ({second.verdict})" if second.verdict is not None and gap else ""
    return text + "."
