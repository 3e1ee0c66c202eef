"""The leaderboard as text to paste: CSV, LaTeX (booktabs) or Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from hyperacuity.evaluation.export import Column, Kind, ScoreRow, ScoreTable, exported
from hyperacuity.report.sheets.sheet import Line, Sheet

_MORE = (Column("rank", "rank", ""), Column("pareto", "Pareto-optimal", ""), Column("images", "images", "", 0))


def table(sheet: Sheet, kind: Kind) -> str:
    """The leaderboard of a sheet. The best score is bold only where it is significantly better than every other.

    CSV has full precision and the interval's ends in columns of their own; the other two round as the page does. The signature
    stands in the caption (in CSV, in a column).
    """
    return exported(score_table(sheet), kind)


def tables(sheets: Sequence[Sheet], kind: Kind) -> str:
    """The leaderboards of all sheets, one after the other."""
    return "\n".join(table(sheet, kind) for sheet in sheets if sheet.lines)


def score_table(sheet: Sheet) -> ScoreTable:
    """The leaderboard of a sheet as a table to export."""
    alone = any(line.alone for line in sheet.lines)
    tested = [line.verdict.tests for line in sheet.lines if line.verdict is not None]
    return ScoreTable(
        sheet.columns,
        tuple(_row(line, sheet.main) for line in sheet.lines),
        f"{sheet.title}.",
        str(sheet.grid.signature),
        more=_MORE,
        tests=max(tested, default=1),
        unsure=frozenset(column.key for column in sheet.columns if not (alone and column is sheet.main)),
    )


def _row(line: Line, main: Column) -> ScoreRow:
    standing = {"rank": line.rank, "pareto": int(line.optimal), "images": line.images}
    p = None if line.verdict is None else line.verdict.p
    return ScoreRow(line.system, {**line.values, **standing}, {main.key: line.interval}, p)
