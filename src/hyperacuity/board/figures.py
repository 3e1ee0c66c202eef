"""The charts of a leaderboard: curves where the task has them, and what any task has, of the best systems."""

from __future__ import annotations

from hyperacuity.board.leaderboards import Leaderboard
from hyperacuity.report.sheets import sheet_of
from hyperacuity.report.sheets.engine import criteria_figures
from hyperacuity.report.sheets.sheet import Figure

MOST_CURVES = 8
"""Systems up to which curves can be told apart: the best ones are drawn."""


def figures_of(board: Leaderboard) -> list[Figure]:
    """The charts of the best systems."""
    best = board.contenders[:MOST_CURVES]
    tallies = {one.label: one.card.tallies for one in best}
    found: list[Figure] = []
    if draw := sheet_of(board.signature.task).curves:
        found += draw({label: board.task.collect(dict(of), resamples=0) for label, of in tallies.items()})
    return [*found, *criteria_figures(board.columns, [one.line for one in best], tallies)]
