"""Depth order in a report: figure/ground accuracy and over-random indices, with the charts of their papers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from hyperacuity.maps import OrderMap
from hyperacuity.ordering import Ordering, OrderingScore, Partition, match_image, partition
from hyperacuity.ordering.task import chance_note
from hyperacuity.report.charts import ordering as charts_ordering
from hyperacuity.report.pictures import layers
from hyperacuity.report.pictures.ordering import matching_picture, order_layer
from hyperacuity.report.pictures.slider import Budget
from hyperacuity.report.sheets.engine import Judged, TaskSheet, findings
from hyperacuity.report.sheets.sheet import Figure
from hyperacuity.report.sheets.viewer import PHOTO, Layer, Shared, Viewer
from hyperacuity.run import Cell

MOST_REGIONS = 2000
"""Order maps with more regions than this are dense; as contours they mean little."""


def _findings(judged: Judged) -> list[str]:
    """Sentences on the leader, and on people."""
    sentences, people = findings(judged), judged.people
    reached = math.nan if people is None else people.accuracy["racc"]
    if not math.isnan(reached):
        gap = reached - judged.lines[0].number("racc")
        side = f"{gap:.3f} above" if gap > 0 else f"{-gap:.3f} below"
        sentences.append(f"People, compared with each other, reach R-ACC {reached:.3f}: {side} the best system.")
    return sentences


def _notes(judged: Judged) -> list[str]:
    return [f"C{chance_note(judged.scores)[1:]}."]


def _figures(judged: Judged) -> Iterator[Figure]:
    scores, people = judged.scores, judged.people
    yield prc_figure(scores, people)
    yield Figure(
        "accuracy",
        "Figure/ground accuracy",
        "R-ACC, B-ACC, B-ACC-50 and B-ACC-25 of every system with 95 % intervals.",
        lambda hover: charts_ordering.accuracy_chart(scores, human=people),
    )


def prc_figure(scores: Mapping[str, OrderingScore], people: OrderingScore | None = None) -> Figure:
    """Precision and recall of contours, whatever their order and in the right one."""
    return Figure(
        "prc",
        "Precision, recall and order",
        "Precision over recall of contours; each segment runs from all detections to those in the right order.",
        lambda hover: charts_ordering.prc_chart(scores, human=people),
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

    def shared(self, cell: Cell) -> Shared:
        """The first annotator's order; of labelled contours, the sides."""
        truth = self.reader.truths(cell)[0]
        order = _order(truth)
        return Shared(order.shape, {"truth": order_layer(order)}, truth)

    def of_system(self, system: str, cell: Cell, truth: Ordering, budget: Budget) -> dict[str, Any]:
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


SHEET = TaskSheet(OrderViewer, _figures, _findings, _notes, lambda scores: [prc_figure(scores)])
