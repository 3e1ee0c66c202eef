"""Sheets: the part of a report about one protocol, as values that tasks fill in and pages print.

A task makes a :class:`Sheet` from a :class:`~hyperacuity.run.gather.Grid`; see :mod:`hyperacuity.report.sheets`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from hyperacuity.columns import Column
from hyperacuity.evaluation.export import ScoreRow
from hyperacuity.report.sheets.viewer import Viewer
from hyperacuity.run.gather import Grid
from hyperacuity.run.jobs import job_of
from hyperacuity.tally import Signature

A = TypeVar("A")
B = TypeVar("B")

NAN = float("nan")
NOTHING = "No image could be evaluated."


class Each(Protocol):
    """Map a function over items, in threads."""

    def __call__(self, title: str, function: Callable[[A], B], items: Iterable[A]) -> list[B]:
        """The results in the order of the items; ``title`` names the work while it goes on."""


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
    lines: tuple[ScoreRow, ...]
    figures: tuple[Figure, ...] = ()
    findings: tuple[str, ...] = ()
    image_score: Column | None = None
    image_scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Per image and system the score by which images are sorted."""
    image_span: float = 1.0
    """End of the axis of the images' scores, which begins at 0."""
    viewer: Viewer | None = None
    notes: tuple[str, ...] = ()
    board: str = "Leaderboard"
    """Title of the table of systems."""
    people: float = NAN
    """Main score of people held against each other; NaN where it is not known."""
    chance: float = NAN
    """Main score of guessing; NaN where that depends on the image, or is not known."""

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
                    **{column.key: line.value(column.key) for column in self.columns},
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
    """Names of each sheet's files: the task's; a second protocol of the same task adds its number, ``boundary-2``."""
    seen: dict[str, int] = {"index": 1}  # the front page
    names = []
    for sheet in sheets:
        name = re.sub(r"[^\w.-]+", "-", sheet.grid.signature.task)
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return names


def protocol_differences(one: Signature, others: Sequence[Signature]) -> str:
    """Parts of a protocol in which others of the same title differ from it; empty where there are none."""
    known = dict(one.parts) | {"v": str(one.version)}
    theirs = [dict(other.parts) | {"v": str(other.version)} for other in others]
    differing = [key for key in known if any(other.get(key) != known[key] for other in theirs)]
    return ", ".join(f"{key} {known[key]}" for key in differing) or ("another protocol" if others else "")


def systems_of(sheets: Sequence[Sheet]) -> list[str]:
    """The systems of all sheets in the order in which runs first had them, so that a system keeps its place when others come."""
    return list(dict.fromkeys(system for sheet in sheets for system in sheet.grid.sources))


def people_of(grid: Grid, each: Each) -> Any:
    """The score of people against each other, on the images whose truths can still be read and have two annotators or more."""
    job = job_of(grid)
    cells = {cell.image: cell for cell in grid.cells()}
    return job.collect_people(dict(zip(cells, each("people", job.people, list(cells.values())), strict=True)))


def interval_text(column: Column, ends: tuple[float, float]) -> str:
    """An interval as it stands behind a score in a sentence; empty where there is none."""
    low, high = ends
    return "" if math.isnan(low) else f" (95 % interval {column.number(low)} to {column.as_text(high)})"


def optimal_sentence(lines: Sequence[ScoreRow]) -> str:
    """Say which of several systems are Pareto-optimal."""
    best = [line.system for line in lines if line.optimal]
    if len(best) == 1:
        return f"By every criterion shown, {best[0]} is as good as any other system or better."
    return f"{len(best)} of {len(lines)} systems are Pareto-optimal: no other is as good by every score."


def span_of(values: Iterable[float]) -> tuple[float, float]:
    """The ends of an axis that holds these values, NaN left out; from 0 to 1 without any."""
    known = [value for value in values if math.isfinite(value)]
    return (min(known), max(known)) if known else (0.0, 1.0)


def leader(lines: Sequence[ScoreRow], column: Column) -> str:
    """Say who leads, by how much, and whether that may be chance.

    >>> lines = [ScoreRow("a", {"ods": 0.7}, {"ods": (0.6, 0.8)}), ScoreRow("b", {"ods": 0.6})]
    >>> leader(lines, Column("ods", "ODS"))
    'a reaches ODS 0.700 (95 % interval 0.600 to 0.800), ahead of b by 0.100.'
    """
    first = lines[0]
    text = f"{first.system} reaches {column.title} {column.as_text(first.number(column.key))}"
    text += interval_text(column, first.ends(column.key))
    if len(lines) > 1:
        second = lines[1]
        gap = abs(first.number(column.key) - second.number(column.key))
        if gap and not float(column.number(gap)):
            text += f", less than {column.as_text(10.0**-column.digits)} ahead of {second.system}"
        else:
            text += f", ahead of {second.system} by {column.as_text(gap)}" if gap else f", level with {second.system}"
        text += f" ({second.verdict})" if second.verdict is not None and gap else ""
    return text + "."
