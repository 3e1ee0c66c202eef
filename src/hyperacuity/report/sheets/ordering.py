"""Depth order in a report: figure/ground accuracy and over-random indices, with the charts of their papers."""

from __future__ import annotations

from hyperacuity.ordering import Protocol, collect
from hyperacuity.report import charts_ordering
from hyperacuity.report.gather import Grid
from hyperacuity.report.sheet import Column, Each, Figure, Sheet
from hyperacuity.report.sheets.judged import Judged, judge, judged_sheet

COLUMNS = (
    Column("racc", "R-ACC", note="Pairs of neighbouring regions in the right order"),
    Column("bacc", "B-ACC", note="The same, weighted by the length of their border"),
    Column("bacc50", "B-ACC-50", note="Of the foremost half of the regions"),
    Column("bacc25", "B-ACC-25", note="Of the foremost quarter of the regions"),
    Column("ldc-ori", "LDC ORI", note="Over-random index of contours (local depth consistency)"),
    Column("gdc-ori", "GDC ORI", note="Over-random index of pairs of regions (global depth consistency)"),
)


def sheet(grid: Grid, each: Each) -> Sheet:
    """The depth-order part of a report."""
    judged = judge(grid, COLUMNS)
    return judged_sheet(grid, judged, title="Depth order", figures=_figures(grid, judged) if judged.lines else ())


def _figures(grid: Grid, judged: Judged) -> tuple[Figure, ...]:
    protocol = Protocol(**grid.options["protocol"])
    scores = {line.system: collect(judged.tallies[line.system], protocol) for line in judged.lines}
    return (
        Figure(
            "prc",
            "Precision, recall and order",
            "Precision over recall of contours; each segment runs from all detections to those in the right order.",
            lambda hover: charts_ordering.prc_chart(scores),
            fluid=False,
        ),
        Figure(
            "accuracy",
            "Figure/ground accuracy",
            "R-ACC, B-ACC, B-ACC-50 and B-ACC-25 of every system with 95 % intervals.",
            lambda hover: charts_ordering.accuracy_chart(scores),
            fluid=False,
        ),
    )
