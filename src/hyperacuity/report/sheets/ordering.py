"""Depth order in a report: figure/ground accuracy and over-random indices, with the charts of their papers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from hyperacuity.evaluation.tables.ordering import COLUMNS, chance
from hyperacuity.maps import OrderMap
from hyperacuity.ordering import Ordering, OrderingScore, Partition, collect, match_image, partition
from hyperacuity.report.charts import ordering as charts_ordering
from hyperacuity.report.pictures import layers
from hyperacuity.report.pictures.ordering import matching_picture, order_layer
from hyperacuity.report.pictures.slider import Budget
from hyperacuity.report.sheets.judged import Judged, judge, judged_sheet
from hyperacuity.report.sheets.sheet import NAN, Each, Figure, Sheet, people_of
from hyperacuity.report.sheets.viewer import PHOTO, Layer, Shared, Viewer
from hyperacuity.run import Cell
from hyperacuity.run.gather import Grid

MOST_REGIONS = 2000
"""Order maps with more regions than this are dense; as contours they mean little."""


def sheet(grid: Grid, each: Each) -> Sheet:
    """The depth-order part of a report."""
    judged = judge(grid, COLUMNS)
    scores = {system: collect(judged.tallies[system]) for system in judged.systems}
    people: OrderingScore | None = people_of(grid, each) if scores else None
    figures = _figures(scores, people) if scores else ()
    found = judged_sheet(grid, judged, figures=figures, viewer=OrderViewer(grid, judged))
    findings = (*found.findings, *_about_people(judged, people))
    found = replace(found, findings=findings, notes=(f"C{chance(scores)[1:]}.",))
    if found.main.key != "racc":
        return found
    return replace(found, people=NAN if people is None else people.accuracy["racc"])


def _about_people(judged: Judged, people: OrderingScore | None) -> list[str]:
    """How the best system stands to people held against each other."""
    if people is None or math.isnan(people.accuracy["racc"]):
        return []
    gap = people.accuracy["racc"] - judged.lines[0].values["racc"]
    side = f"{gap:.3f} above" if gap > 0 else f"{-gap:.3f} below"
    return [f"People, compared with each other, reach R-ACC {people.accuracy['racc']:.3f}: {side} the best system."]


def _figures(scores: Mapping[str, OrderingScore], people: OrderingScore | None) -> Iterator[Figure]:
    yield Figure(
        "prc",
        "Precision, recall and order",
        "Precision over recall of contours; each segment runs from all detections to those in the right order.",
        lambda hover: charts_ordering.prc_chart(scores, human=people),
    )
    yield Figure(
        "accuracy",
        "Figure/ground accuracy",
        "R-ACC, B-ACC, B-ACC-50 and B-ACC-25 of every system with 95 % intervals.",
        lambda hover: charts_ordering.accuracy_chart(scores, human=people),
    )


class OrderViewer(Viewer):
    """Orders in colours of depth, and their contours matched with the first annotator's."""

    layers = (
        Layer(
            "match",
            "Contours",
            "Against the first annotator: green in the right order, yellow in the wrong one, vermilion false alarms, blue misses",
        ),
        Layer("prediction", "Prediction", "Warm is near, cool is far"),
        Layer("truth", "Truth", "The first annotator's order: warm is near, cool is far"),
        PHOTO,
    )

    def __init__(self, grid: Grid, judged: Judged) -> None:
        super().__init__(grid, judged.systems)
        self.judged = judged

    def shared(self, cell: Cell) -> Shared:
        """The first annotator's order; of labelled contours, the sides."""
        truth = self.reader.truths(cell)[0]
        order = _order(truth)
        return Shared(order.shape, {"truth": order_layer(order)}, truth)

    def own(self, system: str, cell: Cell, truth: Ordering, budget: Budget) -> dict[str, Any]:
        """A system's order, and its contours as they were counted: where it was brought onto regions, those of the first."""
        given = self.reader.prediction(cell, self.protocol)
        made: dict[str, Any] = {
            "prediction": order_layer(_order(given), room=budget.share() // 2),
            "numbers": self.judged.number(system, cell.image),
        }
        if self.reader.transfer:
            given = partition(given.order, self.reader.regions(cell)[0], middle=self.protocol.middle)
        if isinstance(given, Partition) and given.regions > MOST_REGIONS:
            dense = f"a map of {given.regions} regions is dense: its contours are not drawn"
            return made | {"without": {"match": dense}}
        matched = match_image(given, [truth], self.protocol)[0]
        return made | {"match": layers.picture_uri(matching_picture(matched))}


def _order(given: Ordering) -> OrderMap:
    return given.order if isinstance(given, Partition) else given.sides


def curves(scores: Mapping[str, Any]) -> Iterator[Figure]:
    """The curves of a leaderboard."""
    from hyperacuity.report.charts.ordering import prc_chart

    yield Figure(
        "prc",
        "Precision, recall and order",
        "Precision over recall of contours; each segment runs from all detections to those in the right order.",
        lambda hover: prc_chart(scores),
    )
