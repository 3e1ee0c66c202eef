r"""Scores as text to paste into papers, pages and other programs: LaTeX (booktabs), Markdown, CSV.

A :class:`ScoreTable` says what there is to print; where it comes from (a result, a comparison, cards) is not asked here. The
signature stands in the caption, in CSV in a column.

>>> table = ScoreTable(
...     (Column("ods", "ODS"), Column("error", "error", better="min", digits=1, unit="%")),
...     (ScoreRow("a_b", {"ods": 0.7, "error": 3}, {"ods": (0.6, 0.75)}), ScoreRow("c", {"ods": 0.5, "error": 9})),
...     caption="Two systems.",
...     signature="boundary|tol:1|v:1",
... )
>>> print(markdown_table(table))
| system | ODS ↑ | error, % ↓ | 95 % interval |
|---|--:|--:|--:|
| a\_b | **0.700** | **3.0** | 0.600 – 0.750 |
| c | 0.500 | 9.0 | – |
<BLANKLINE>
Two systems.
<BLANKLINE>
`boundary|tol:1|v:1`
<BLANKLINE>
>>> print(csv_table(table))
system,ods,ods_low,ods_high,error,signature
a_b,0.7,0.6,0.75,3,boundary|tol:1|v:1
c,0.5,,,9,boundary|tol:1|v:1
<BLANKLINE>
"""

from __future__ import annotations

import csv
import io
import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from hyperacuity.console import printable

Kind = Literal["csv", "latex", "markdown"]
KINDS: tuple[Kind, ...] = ("csv", "latex", "markdown")

MOST_COLUMNS = 8
"""A table with more scores than this has a line per score and a column per system in LaTeX and Markdown."""

NOTHING = "–"

_Mark = Callable[[str], str]

_GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "theta", "kappa", "mu", "pi", "rho", "sigma", "tau", "phi", "chi"),
    *("psi", "omega", "Gamma", "Delta", "Theta", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"),
)


def _greek(name: str) -> str:
    return unicodedata.lookup(f"GREEK {'CAPITAL' if name[0].isupper() else 'SMALL'} LETTER {name}")


_LATEX = {
    "\\": r"\textbackslash{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "≠": r"$\neq$",
    "−": "$-$",
    "±": r"$\pm$",
    "·": r"$\cdot$",
    **{_greek(name): f"$\\{name}$" for name in _GREEK},
    **{letter: f"$^{{{digit}}}$" for digit, letter in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
}


@dataclass(frozen=True)
class Column:
    """A score of a table. ``better`` is ``"max"``, ``"min"``, or empty for a number that is neither good nor bad."""

    key: str
    title: str
    better: str = "max"
    digits: int = 3
    note: str = ""
    unit: str = ""

    @property
    def heading(self) -> str:
        """The title with the unit and an arrow that points to where scores are better.

        >>> Column("bad", "bad(1)", "min", unit="%").heading
        'bad(1), % ↓'
        """
        unit = f", {self.unit}" if self.unit else ""
        return self.title + unit + {"max": " ↑", "min": " ↓"}.get(self.better, "")

    def number(self, value: float) -> str:
        """The value with the column's decimals; a dash for what does not exist."""
        return NOTHING if math.isnan(value) else f"{value:.{self.digits}f}"

    def as_text(self, value: float) -> str:
        """The same with its unit."""
        return NOTHING if math.isnan(value) else self.number(value) + (f" {self.unit}" if self.unit else "")


@dataclass(frozen=True)
class ScoreRow:
    """A system's numbers by the columns' keys, 95 % intervals of some, and the p-value of the best system against it.

    What is missing or NaN is printed as a dash, in CSV as nothing. The row of ``people`` is never the best.
    """

    system: str
    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    p: float | None = None
    people: bool = False

    def value(self, key: str) -> float:
        """The number in a column; NaN where there is none."""
        return self.values.get(key, math.nan)

    def interval(self, key: str) -> tuple[float, float]:
        """The ends of its interval; NaN where there is none."""
        return self.intervals.get(key, (math.nan, math.nan))


@dataclass(frozen=True)
class ScoreTable:
    """What is printed: a row per system, the best first, and a column per score, the one that counts most first.

    Parameters
    ----------
    columns, rows
        Scores and systems.
    caption
        Sentences that say what the table shows.
    signature
        The protocol as a line.
    label
        What LaTeX refers to the table by; by default ``tab:`` and the task of the signature.
    more
        Columns that are in CSV only.
    tests
        How many tests the p-values are corrected for (Holm); None for a table without p-values.
    unsure
        Keys of columns whose best value may be the best by chance; none of them is bold.
    """

    columns: tuple[Column, ...]
    rows: tuple[ScoreRow, ...]
    caption: str = ""
    signature: str = ""
    label: str = ""
    more: tuple[Column, ...] = ()
    tests: int | None = None
    unsure: frozenset[str] = frozenset()

    @property
    def main(self) -> Column:
        """The score by which systems are ranked."""
        return self.columns[0]

    @cached_property
    def best(self) -> Mapping[str, float]:
        """The best value of each column in which two systems or more have one, people aside; of those that may be bold."""
        found = {}
        for column in self.columns:
            values = [row.value(column.key) for row in self.rows if not row.people]
            known = [value for value in values if not math.isnan(value)]
            if column.better and column.key not in self.unsure and len(known) > 1:
                found[column.key] = max(known) if column.better == "max" else min(known)
        return found

    def bold(self, row: ScoreRow, column: Column) -> bool:
        """Whether a value stands out: it is the best of its column, or equals it as printed."""
        if row.people or column.key not in self.best:
            return False
        return column.number(row.value(column.key)) == column.number(self.best[column.key])


def exported(table: ScoreTable, kind: Kind) -> str:
    """The table as one of :data:`KINDS`."""
    return {"csv": csv_table, "latex": latex_table, "markdown": markdown_table}[kind](table)


def csv_table(table: ScoreTable) -> str:
    """One row per system with all numbers in full precision, the ends of intervals in columns of their own.

    Values that do not exist are empty. ``p`` is there where systems were tested, and the signature is the last column.
    """
    columns = list({column.key: column for column in (*table.columns, *table.more)})
    with_ends = {key for row in table.rows for key in row.intervals}
    heads = [head for key in columns for head in ([key, f"{key}_low", f"{key}_high"] if key in with_ends else [key])]
    tested = table.tests is not None
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["system", *heads, *(["p"] if tested else []), "signature"])
    for row in table.rows:
        numbers = [
            number
            for key in columns
            for number in ((row.value(key), *row.interval(key)) if key in with_ends else (row.value(key),))
        ]
        p = [math.nan if row.p is None else row.p] if tested else []
        writer.writerow([row.system, *map(_exact, [*numbers, *p]), table.signature])
    return text.getvalue()


def latex_table(table: ScoreTable) -> str:
    r"""A floating table with booktabs' rules (``\usepackage{booktabs}``), the signature in its caption, the best values bold."""
    heads, rows = _cells(table, lambda text: rf"\textbf{{{text}}}", _latex_text)
    caption = " ".join(part for part in (_latex_text(table.caption), _latex_code(table.signature)) if part)
    label = table.label or f"tab:{table.signature.partition('|')[0] or 'scores'}"
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\label{{{re.sub(r'[^A-Za-z0-9:._-]', '-', label)}}}",
        r"\begin{tabular}{l" + "r" * (len(heads) - 1) + "}",
        r"\toprule",
        " & ".join(heads) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


def markdown_table(table: ScoreTable) -> str:
    """A table, then the caption, then the signature on a line of its own; the best values are bold."""
    heads, rows = _cells(table, lambda text: f"**{text}**", _markdown_text)
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|--:" * (len(heads) - 1) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    below = [_markdown_text(table.caption), f"`{table.signature}`" if table.signature else ""]
    return "\n".join([*lines, *(line for part in below if part for line in ("", part)), ""])


def _cells(table: ScoreTable, bold: _Mark, escaped: _Mark) -> tuple[list[str], list[list[str]]]:
    """Headings and rows as they are printed, names first; a line per score where there are many."""
    wide = len(table.columns) > MOST_COLUMNS
    heads = [column.heading for column in table.columns]
    rows = [[_marked(table, row, column, bold, escaped) for column in table.columns] for row in table.rows]
    if wide:
        lines = [[escaped(head), *own] for head, own in zip(heads, zip(*rows, strict=True), strict=True)]
        return ["", *(escaped(row.system) for row in table.rows)], lines
    if any(table.main.key in row.intervals for row in table.rows):
        heads.append("95 % interval")
        for row, cells in zip(table.rows, rows, strict=True):
            cells.append(escaped(_interval(table.main, row.interval(table.main.key))))
    if table.tests is not None:
        heads.append("p (Holm)" if table.tests > 1 else "p")
        for row, cells in zip(table.rows, rows, strict=True):
            cells.append(escaped(NOTHING if row.p is None else f"{row.p:.3f}"))
    names = (escaped(row.system) for row in table.rows)
    return ["system", *map(escaped, heads)], [[name, *cells] for name, cells in zip(names, rows, strict=True)]


def _marked(table: ScoreTable, row: ScoreRow, column: Column, bold: _Mark, escaped: _Mark) -> str:
    text = escaped(column.number(row.value(column.key)))
    return bold(text) if table.bold(row, column) else text


def _interval(column: Column, ends: tuple[float, float]) -> str:
    low, high = ends
    return NOTHING if math.isnan(low) else f"{column.number(low)} – {column.number(high)}"


def _exact(value: float) -> str:
    """A number in full precision; nothing for what does not exist."""
    if isinstance(value, int):
        return str(value)
    return "" if math.isnan(value) else repr(float(value))


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def _latex_text(text: str) -> str:
    """Text that LaTeX prints as it stands.

    >>> _latex_text("a_b & 50% of Ψ²")
    'a\\\\_b \\\\& 50\\\\% of $\\\\Psi$$^{2}$'
    """
    return "".join(_LATEX.get(letter, letter) for letter in _one_line(text))


def _latex_code(text: str) -> str:
    """The same in letters of a typewriter; a line may be broken after each part of a signature."""
    written = _latex_text(text).replace(r"\textbar{}", r"\textbar\allowbreak{}").replace(",", r",\allowbreak{}")
    return rf"\texttt{{{written}}}" if text else ""


def _markdown_text(text: str) -> str:
    r"""Text that Markdown prints as it stands, in one cell of a table.

    >>> print(_markdown_text("a|b *c* <d>"))
    a\|b \*c\* &lt;d&gt;
    """
    one_line = _one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]#|~])", r"\\\1", one_line)
