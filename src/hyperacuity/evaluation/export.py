r"""Tables of scores, and their printers: the terminal, LaTeX (booktabs), Markdown, CSV.

A :class:`ScoreTable` holds what there is to print, wherever it comes from (a result, a comparison, cards). The signature
stands in the caption, in CSV in a column.

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hyperacuity.columns import NOTHING, Column, Ends, Lines, TextTable, Value
from hyperacuity.compare.verdict import Verdict
from hyperacuity.console import printable

Kind = Literal["csv", "latex", "markdown"]
KINDS: tuple[Kind, ...] = ("csv", "latex", "markdown")

MOST_COLUMNS = 8
"""A table with more scores than this has a line per score and a column per system in LaTeX and Markdown."""

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


IMAGES = Column("images", "images", "", 0)

SYSTEM = (
    Column("rank", "rank", "", 0),
    Column("pareto", "Pareto-optimal", "", 0),
    IMAGES,
    Column("expected", "images of the truth", "", 0),
    Column("behind", "behind the best", ""),
    Column("p", "p", "", screen_digits=3),
)
"""Columns of every task: facts about a system next to its scores."""


@dataclass(frozen=True)
class ScoreRow:
    """A system's numbers by the columns' keys, and the 95 % intervals of some.

    What is missing or NaN is printed as a dash, in CSV as nothing. The row of ``people`` is never the best.

    Parameters
    ----------
    images, failed, expected
        Images with a score, images that failed, and images that the truth has, None if unknown.
    rank
        Place by the first column; equal scores share one.
    verdict, p
        Test of the best system against this one, and its corrected p-value; None for the best, and where nothing was tested.
    alone
        True for the best system if it is significantly better than every other one.
    optimal
        True if no other system is at least as good by every score and better by one.
    main
        Key of the column that ranks systems.
    """

    system: str
    values: Mapping[str, Value]
    intervals: Mapping[str, Ends] = field(default_factory=dict)
    p: float | None = None
    people: bool = False
    images: int = 0
    failed: int = 0
    expected: int | None = None
    rank: int = 0
    verdict: Verdict | None = None
    alone: bool = False
    optimal: bool = False
    main: str = ""

    def value(self, key: str) -> Value:
        """The value in a column; NaN where there is none."""
        return self.values.get(key, math.nan)

    def number(self, key: str) -> float:
        """The number in a column; NaN where there is none, or a text."""
        value = self.value(key)
        return math.nan if isinstance(value, str) else value

    def ends(self, key: str) -> Ends:
        """The ends of a number's interval; NaN where there is none."""
        return self.intervals.get(key, (math.nan, math.nan))

    @property
    def interval(self) -> Ends:
        """The ends of the main number's interval."""
        return self.ends(self.main)

    @property
    def coverage(self) -> str:
        """Number of images with a score; of how many, where that is not all: ``20 of 200``."""
        return str(self.images) if self.expected in (None, self.images) else f"{self.images} of {self.expected}"


@dataclass(frozen=True)
class ScoreTable:
    """Systems and their scores, for every printer: a row per system, the best first, and a column per score, the main one first.

    Parameters
    ----------
    columns, rows
        Scores and systems.
    caption
        Sentences that say what the table shows.
    signature
        The protocol as a line.
    label
        Name by which LaTeX refers to the table; by default ``tab:`` and the task of the signature.
    more
        Columns of CSV, and of a terminal that asks for them.
    tests
        Number of tests that the p-values are corrected for (Holm); None for a table without p-values.
    unsure
        Keys of columns whose best value may be the best by chance; none of them is bold.
    screen
        Columns of a terminal in their order, or its lines (:class:`hyperacuity.columns.Columns`).
    tables, notes, facts
        Printed below the table on a terminal: further tables, warnings, closing lines.
    """

    columns: tuple[Column, ...]
    rows: tuple[ScoreRow, ...]
    caption: str = ""
    signature: str = ""
    label: str = ""
    more: tuple[Column, ...] = ()
    tests: int | None = None
    unsure: frozenset[str] = frozenset()
    screen: tuple[str, ...] | Lines = ()
    tables: tuple[TextTable, ...] = ()
    notes: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()

    @property
    def main(self) -> Column:
        """The score by which systems are ranked."""
        return self.columns[0]

    @cached_property
    def best(self) -> Mapping[str, float]:
        """The best value of each column in which two systems or more have one, people aside; of those that may be bold."""
        found = {}
        for column in self.columns:
            values = [row.number(column.key) for row in self.rows if not row.people]
            known = [value for value in values if not math.isnan(value)]
            if column.better and column.key not in self.unsure and len(known) > 1:
                found[column.key] = max(known) if column.better == "max" else min(known)
        return found

    def bold(self, row: ScoreRow, column: Column) -> bool:
        """True if a value is the best of its column, or equals it as printed."""
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
            for number in ((row.value(key), *row.ends(key)) if key in with_ends else (row.value(key),))
        ]
        p: list[Value] = [math.nan if row.p is None else row.p] if tested else []
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
            cells.append(escaped(_interval(table.main, row.ends(table.main.key))))
    if table.tests is not None:
        heads.append(_p_heading(table))
        for row, cells in zip(table.rows, rows, strict=True):
            cells.append(escaped(NOTHING if row.p is None else f"{row.p:.3f}"))
    names = (escaped(row.system) for row in table.rows)
    return ["system", *map(escaped, heads)], [[name, *cells] for name, cells in zip(names, rows, strict=True)]


def _p_heading(table: ScoreTable) -> str:
    return "p (Holm)" if (table.tests or 0) > 1 else "p"


def _marked(table: ScoreTable, row: ScoreRow, column: Column, bold: _Mark, escaped: _Mark) -> str:
    text = escaped(column.number(row.value(column.key)))
    return bold(text) if table.bold(row, column) else text


def print_table(table: ScoreTable, console: Console) -> None:
    """Print a table, and below it further tables, warnings, closing lines and the signature."""
    console.print(_lines(table, table.screen) if isinstance(table.screen, Lines) else _flat(table, table.screen))
    for more in table.tables:
        console.print()
        print_text_table(more, console)
    for note in table.notes:
        console.print(f"\n{note}", markup=False)
    console.print("\n" + "\n".join([*table.facts, table.signature]), markup=False)


def print_text_table(table: TextTable, console: Console) -> None:
    """Print a table of texts."""
    drawn = new_table(*table.left, right=table.right)
    for row in table.rows:
        drawn.add_row(*map(escape, row))
    console.print(drawn)
    if table.below:
        console.print(table.below, markup=False)


def new_table(*left: str, right: Iterable[str]) -> Table:
    """Make a table without lines; its columns are aligned left, then right."""
    table = Table(*map(escape, left), box=None, pad_edge=False)
    for heading in right:
        table.add_column(escape(heading), justify="right")
    return table


def _flat(table: ScoreTable, keys: Sequence[str]) -> Table:
    """Print one line per system; columns that no system has a value in are left out."""
    every = {column.key: column for column in (*SYSTEM, *table.more, *table.columns)}
    every["p"] = replace(every["p"], title=_p_heading(table))
    shown = [every[key] for key in keys if any(row.values.get(key, "") != "" for row in table.rows)]
    heads = [
        head for column in shown for head in (column.screen_heading, *(["95 % interval"] if column.interval else []))
    ]
    drawn = new_table("system", right=heads)
    for row in table.rows:
        cells = [
            cell
            for column in shown
            for cell in (_cell(row, column), *([_ends(row, column)] if column.interval else []))
        ]
        drawn.add_row(escape(row.system), *map(escape, cells))
    return drawn


def _lines(table: ScoreTable, lines: Lines) -> Table:
    """Print several lines per system, or several systems per line, of which the best is marked."""
    every = {column.key: column for column in (*table.more, *table.columns)}
    there = {key for row in table.rows for key in row.values}
    kept = [n for n in range(len(lines.heads)) if any(keys[n] in there for keys in lines.rows.values())]
    ends = any(every[keys[0]].interval for keys in lines.rows.values())
    first, *others = (lines.heads[n] for n in kept)
    drawn = new_table(*((lines.label, "system") if lines.by_line else ("system", lines.label)), right=[first])
    if lines.by_line:
        drawn.add_column("")
    for head in (*(["95 % interval"] if ends else []), *others):
        drawn.add_column(escape(head), justify="right")

    def cells(row: ScoreRow, keys: Sequence[str], *mark: str) -> Iterator[str]:
        for n in kept:
            yield _cell(row, every[keys[n]]) if keys[n] else ""
            if n == kept[0]:
                yield from (*mark, *([_ends(row, every[keys[n]])] if ends else []))

    if not lines.by_line:
        for row in table.rows:
            for n, (label, keys) in enumerate(lines.rows.items()):
                drawn.add_row("" if n else escape(row.system), escape(label), *map(escape, cells(row, keys)))
        return drawn
    for label, keys in lines.rows.items():
        values = [row.number(keys[0]) for row in table.rows]
        known = [value for value in values if not math.isnan(value)] if len(values) > 1 else []
        best = (max if every[keys[0]].better == "max" else min)(known, default=math.nan)
        for n, (row, value) in enumerate(zip(table.rows, values, strict=True)):
            texts = cells(row, keys, "*" if value == best else "")
            style = "bold" if value == best else None
            drawn.add_row("" if n else escape(label), escape(row.system), *map(escape, texts), style=style)
    return drawn


def _cell(row: ScoreRow, column: Column) -> str:
    """A cell of a terminal's table; what people have no value of is empty."""
    if column.key == IMAGES.key and not row.people:
        return row.coverage
    if column.key not in row.values:
        return "" if row.people or column.key in ("behind", "p") else NOTHING
    return column.on_screen(row.value(column.key))


def _ends(row: ScoreRow, column: Column) -> str:
    ends = row.ends(column.key)
    return "" if any(map(math.isnan, ends)) else " – ".join(map(column.number, ends))


def _interval(column: Column, ends: tuple[float, float]) -> str:
    low, high = ends
    return NOTHING if math.isnan(low) else f"{column.number(low)} – {column.number(high)}"


def _exact(value: Value) -> str:
    """A number in full precision; nothing for what does not exist."""
    if isinstance(value, int | str):
        return str(value)
    return "" if math.isnan(value) else repr(float(value))


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def _latex_text(text: str) -> str:
    """Escape text for LaTeX.

    >>> _latex_text("a_b & 50% of Ψ²")
    'a\\\\_b \\\\& 50\\\\% of $\\\\Psi$$^{2}$'
    """
    return "".join(_LATEX.get(letter, letter) for letter in _one_line(text))


def _latex_code(text: str) -> str:
    """Code in letters of a typewriter; a line may be broken after each part of a signature."""
    written = _latex_text(text).replace(r"\textbar{}", r"\textbar\allowbreak{}").replace(",", r",\allowbreak{}")
    return rf"\texttt{{{written}}}" if text else ""


def _markdown_text(text: str) -> str:
    r"""Escape text for a cell of a Markdown table.

    >>> print(_markdown_text("a|b *c* <d>"))
    a\|b \*c\* &lt;d&gt;
    """
    one_line = _one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]#|~])", r"\\\1", one_line)
