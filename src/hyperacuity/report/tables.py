"""The leaderboard as text to paste: CSV, LaTeX (booktabs) or Markdown."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from typing import Literal

from hyperacuity.report.sheets.sheet import Column, Line, Sheet

Kind = Literal["csv", "latex", "markdown"]
KINDS: tuple[Kind, ...] = ("csv", "latex", "markdown")

_LATEX = {
    "\\": r"\textbackslash{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "–": "--",
}


def table(sheet: Sheet, kind: Kind) -> str:
    """The leaderboard of a sheet. The best score is bold only where it is significantly better than every other.

    CSV has full precision and the interval's ends in columns of their own; the other two round as the page does. The signature
    stands below (in CSV, in a column).
    """
    return {"csv": _csv, "latex": _latex, "markdown": _markdown}[kind](sheet)


def tables(sheets: Sequence[Sheet], kind: Kind) -> str:
    """The leaderboards of all sheets, one after the other."""
    return "\n".join(table(sheet, kind) for sheet in sheets if sheet.lines)


def _csv(sheet: Sheet) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    main = sheet.main.key
    keys = [column.key for column in sheet.columns]
    writer.writerow(["system", *keys, f"{main}_low", f"{main}_high", "p", "rank", "pareto", "images", "signature"])
    for line in sheet.lines:
        values = [line.values[key] for key in keys] + list(line.interval)
        p = "" if line.verdict is None else repr(line.verdict.p)
        rest = [p, line.rank, int(line.optimal), line.images, sheet.grid.signature]
        writer.writerow([line.system, *("" if math.isnan(value) else repr(float(value)) for value in values), *rest])
    return text.getvalue()


def _latex(sheet: Sheet) -> str:
    heads = ["system", *(_head(column) for column in sheet.columns), "95\\,\\% interval", _p_head(sheet)]
    lines = [
        r"\begin{tabular}{l" + "r" * len(sheet.columns) + "rr}",
        r"\toprule",
        " & ".join(_latex_text(head) if head != "95\\,\\% interval" else head for head in heads) + r" \\",
        r"\midrule",
    ]
    for line in sheet.lines:
        cells = [_latex_text(line.system)]
        for column in sheet.columns:
            text = _latex_text(_shown(line, column))
            cells.append(rf"\textbf{{{text}}}" if line.alone and column is sheet.main else text)
        cells += [_latex_text(_interval(line, sheet.main)), _latex_text(line.p)]
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", f"% {sheet.grid.signature}", ""]
    return "\n".join(lines)


def _markdown(sheet: Sheet) -> str:
    heads = ["system", *(_head(column) for column in sheet.columns), "95 % interval", _p_head(sheet)]
    rows = ["| " + " | ".join(heads) + " |", "|---" + "|--:" * (len(heads) - 1) + "|"]
    for line in sheet.lines:
        cells = [_markdown_text(line.system)]
        for column in sheet.columns:
            text = _shown(line, column)
            cells.append(f"**{text}**" if line.alone and column is sheet.main else text)
        rows.append("| " + " | ".join([*cells, _interval(line, sheet.main), line.p]) + " |")
    return "\n".join([*rows, "", f"`{sheet.grid.signature}`", ""])


def _p_head(sheet: Sheet) -> str:
    """The heading of p-values, which says that they are corrected."""
    tests = max((line.verdict.tests for line in sheet.lines if line.verdict is not None), default=1)
    return "p (Holm)" if tests > 1 else "p"


def _head(column: Column) -> str:
    unit = f", {column.unit}" if column.unit else ""
    return column.title + unit + {"max": " ↑", "min": " ↓"}.get(column.better, "")


def _shown(line: Line, column: Column) -> str:
    value = line.values[column.key]
    return "–" if math.isnan(value) else f"{value:.{column.digits}f}"


def _interval(line: Line, column: Column) -> str:
    low, high = line.interval
    return "–" if math.isnan(low) else f"{low:.{column.digits}f} – {high:.{column.digits}f}"


def _latex_text(text: str) -> str:
    """Text that LaTeX prints as it stands.

    >>> _latex_text("a_b & 50%")
    'a\\\\_b \\\\& 50\\\\%'
    """
    return "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()))


def _markdown_text(text: str) -> str:
    r"""Text that Markdown prints as it stands, in one cell of a table.

    >>> print(_markdown_text("a|b *c* <d>"))
    a\|b \*c\* &lt;d&gt;
    """
    one_line = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]()#+!|~])", r"\\\1", one_line)
