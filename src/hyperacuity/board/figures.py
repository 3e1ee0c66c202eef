"""The charts of a leaderboard: curves where the task has them, and what any task has, of the best systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hyperacuity.board.leaderboards import Leaderboard
from hyperacuity.compare.criteria import table_of
from hyperacuity.report.sheets.judged import Judged, criteria_figures
from hyperacuity.report.sheets.sheet import Figure

MOST_CURVES = 8
"""Systems up to which curves can be told apart: the best ones are drawn."""

Scores = Mapping[str, Any]


def figures_of(board: Leaderboard) -> list[Figure]:
    """The charts of the best systems."""
    best = board.contenders[:MOST_CURVES]
    tallies = {one.label: one.card.tallies for one in best}
    found: list[Figure] = []
    if draw := CURVES.get(board.signature.task):
        found += draw({label: board.task.collect(dict(of), resamples=0) for label, of in tallies.items()})
    lines = tuple(one.line for one in best)
    return [*found, *criteria_figures(Judged(board.columns, tallies, {}, lines, table_of(tallies)))]


def _boundary(scores: Scores) -> Iterator[Figure]:
    from hyperacuity.report.charts import boundary as charts

    best = next(iter(scores))
    yield Figure(
        "precision-recall",
        "Precision over recall",
        f"Precision–recall curves of {len(scores)} systems. {best} has the best point, F = {scores[best].ods.f:.3f}. "
        "The leaderboard holds the same numbers.",
        lambda hover: charts.precision_recall(scores, hover=hover),
        fluid=True,
    )
    yield Figure(
        "f-over-threshold",
        "F over the threshold",
        "F at every threshold for each system; the mark is the best one, ODS.",
        lambda hover: charts.f_over_threshold(scores, hover=hover),
        fluid=True,
    )


def _occlusion(scores: Scores) -> Iterator[Figure]:
    from hyperacuity.report.charts import boundary as charts

    right = {system: score.opr for system, score in scores.items()}
    yield Figure(
        "opr",
        "Orientation precision over recall",
        f"Precision over recall of pairs with the right side in front, {len(scores)} systems.",
        lambda hover: charts.precision_recall(right, hover=hover),
        fluid=True,
    )


def _ordering(scores: Scores) -> Iterator[Figure]:
    from hyperacuity.report.charts.ordering import prc_chart

    yield Figure(
        "prc",
        "Precision, recall and order",
        "Precision over recall of contours; each segment runs from all detections to those in the right order.",
        lambda hover: prc_chart(scores),
    )


def _semantic(scores: Scores) -> Iterator[Figure]:
    from hyperacuity.report.charts.semantic import class_curves_chart

    yield Figure(
        "classes",
        "Precision over recall, class by class",
        f"Precision–recall curves of {len(scores)} systems, a panel for each class.",
        lambda hover: class_curves_chart(scores, hover=hover),
    )


CURVES: Mapping[str, Callable[[Scores], Iterator[Figure]]] = {
    "boundary": _boundary,
    "occlusion": _occlusion,
    "ordering": _ordering,
    "semantic": _semantic,
}
"""The curves of the tasks that have them."""
