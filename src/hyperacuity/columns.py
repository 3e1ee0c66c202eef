"""Columns of tables: what a task shows of its scores, whatever a table is printed as.

A task declares its columns once (``Task.columns``). The terminal, LaTeX, Markdown, CSV, JSON, reports and boards show them;
a task that declares none is shown by its criteria.

>>> ods = Column("ods", "ODS", value=lambda score: score["f"], note="Best F at one threshold for all images")
>>> ods.heading, ods.number(0.51234)
('ODS ↑', '0.512')
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

NOTHING = "–"

Value = float | str
"""A cell of a table: most are numbers; NaN is for what does not exist."""

Ends = tuple[float, float]
"""The two ends of an interval."""


def fixed(value: float, digits: int = 4) -> str:
    """Fixed decimals, so that columns align; a dash for what does not exist.

    >>> fixed(0.5), fixed(float("nan"))
    ('0.5000', '–')
    """
    return NOTHING if math.isnan(value) else f"{value:.{digits}f}"


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    key, title
        Name in CSV and JSON, and heading.
    better
        ``"max"`` or ``"min"``; empty for what is neither good nor bad.
    digits
        Decimals; a terminal prints one more of a fraction, or ``screen_digits``.
    note, unit
        Explanation, and unit of the numbers.
    value
        Takes the value from a score; by default it is the criterion of this name.
    interval
        Takes the ends of the 95 % interval from a score; True to draw it from resamples of the images. A terminal shows it.
    head
        Heading on a terminal; by default the title and the unit.
    """

    key: str
    title: str
    better: str = "max"
    digits: int = 3
    note: str = ""
    unit: str = ""
    value: Callable[[Any], Value] | None = field(default=None, compare=False)
    interval: Callable[[Any], Any] | bool = field(default=False, compare=False)
    head: str = ""
    screen_digits: int | None = None

    @property
    def heading(self) -> str:
        """The title with the unit and an arrow that points to where scores are better.

        >>> Column("bad", "bad(1)", "min", unit="%").heading
        'bad(1), % ↓'
        """
        unit = f", {self.unit}" if self.unit else ""
        return self.title + unit + {"max": " ↑", "min": " ↓"}.get(self.better, "")

    @property
    def screen_heading(self) -> str:
        """Heading on a terminal, without an arrow."""
        return self.head or f"{self.title} {self.unit}".rstrip()

    def number(self, value: Value) -> str:
        """Format a value with the column's decimals; a dash for what does not exist."""
        return value if isinstance(value, str) else fixed(value, self.digits)

    def as_text(self, value: Value) -> str:
        """Format a value with its unit."""
        text = self.number(value)
        return f"{text} {self.unit}" if self.unit and text != NOTHING else text

    def on_screen(self, value: Value) -> str:
        """Format a value for a terminal, which has room for one more decimal."""
        more = self.digits + 1 if self.digits else 0
        digits = more if self.screen_digits is None else self.screen_digits
        return value if isinstance(value, str) else fixed(value, digits)


@dataclass(frozen=True)
class Lines:
    """Terminal table with several lines for each system, or with ``by_line`` several systems for each line.

    ``rows`` gives the columns' keys of each line in the order of ``heads``; an empty key leaves a cell empty. With ``by_line``
    the best system of each line, by its first column, is marked.
    """

    label: str
    heads: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]
    by_line: bool = False


@dataclass(frozen=True)
class TextTable:
    """Table of texts: headings aligned left, then right, and lines; ``below`` is printed under it."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    below: str = ""


@dataclass(frozen=True)
class Scored:
    """Scores of all systems under one protocol: the input of notes and further tables.

    ``first_truth`` reads the first truth, None where none can be read.
    """

    protocol: Any
    scores: Mapping[str, Any]
    people: Any = None
    first_truth: Callable[[], Any] = lambda: None


def no_lines(scored: Scored) -> Iterable[Any]:
    """Return nothing: the default of what a task may add to a table."""
    return ()


@dataclass(frozen=True)
class Columns:
    """All that a task shows of its scores.

    Parameters
    ----------
    scores
        Columns of every table, the one that ranks systems first.
    more
        Columns of terminals and CSV only.
    screen
        Columns of a terminal in their order, by key: those of ``scores`` and ``more``, ``images``, and with several systems
        ``behind`` and ``p``, the distance to the best system and its test. By default the images, then ``scores``.
    numbers
        ``(score, system)``: further values of a score, such as those of each class, for columns without a function and for CSV.
    across
        Further numbers of each system that depend on the others, from their tallies by image.
    as_dict
        ``(score, system, values) -> dict`` for JSON; by default the criteria.
    people, people_dict
        Values of human scores by column, and the same for JSON.
    notes, facts, tables
        Warnings, closing lines and further tables (:class:`TextTable`), made of all scores (:class:`Scored`).
    constants
        What JSON says besides, whatever the scores.
    counted
        What an image is called in the line that counts them.
    """

    scores: tuple[Column, ...]
    more: tuple[Column, ...] = ()
    screen: tuple[str, ...] | Lines = ()
    numbers: Callable[[Any, str], Mapping[str, Value]] | None = None
    across: Callable[[Mapping[str, Mapping[str, Any]]], Mapping[str, Mapping[str, float]]] | None = None
    as_dict: Callable[[Any, str, Mapping[str, Value]], Mapping[str, Any]] | None = None
    people: Callable[[Any], Mapping[str, float]] | None = None
    people_dict: Callable[[Any], Mapping[str, Any] | None] | None = None
    notes: Callable[[Scored], Iterable[str]] = no_lines
    facts: Callable[[Scored], Iterable[str]] = no_lines
    tables: Callable[[Scored], Iterable[TextTable]] = no_lines
    constants: Mapping[str, Any] = field(default_factory=dict)
    counted: str = "images"

    @property
    def every(self) -> dict[str, Column]:
        """All columns by key."""
        return {column.key: column for column in (*self.scores, *self.more)}
