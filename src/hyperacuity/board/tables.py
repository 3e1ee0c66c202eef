"""A leaderboard as a table to paste into a paper or to read with a program."""

from __future__ import annotations

from hyperacuity.board.leaderboards import Leaderboard
from hyperacuity.evaluation.export import ScoreRow, ScoreTable
from hyperacuity.evaluation.score_tables import caption_of


def table_of(board: Leaderboard) -> ScoreTable:
    """The systems of a leaderboard with scores, intervals and p-values, the best first; the signature is in the caption.

    A value is bold where it is the best by the main score, and significantly better than every other.
    """
    rows = tuple(
        ScoreRow(
            one.label,
            {**one.line.values, "images": one.line.images},
            one.scoring.intervals,
            None if one.line.verdict is None else one.line.verdict.p,
        )
        for one in board.contenders
    )
    tests = [one.line.verdict for one in board.contenders if one.line.verdict is not None]
    alone = bool(board.lines) and board.lines[0].alone
    return ScoreTable(
        board.columns,
        rows,
        caption_of(board.task, board.main, rows, tests),
        board.protocol,
        label=f"tab:{board.id}",
        tests=len(tests) or None,
        unsure=frozenset(column.key for column in board.columns if not (alone and column is board.main)),
    )
