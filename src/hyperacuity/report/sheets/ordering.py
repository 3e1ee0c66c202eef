"""Depth order in a report: figure/ground accuracy and over-random indices, with the charts of their papers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperacuity.data import read_image, read_order
from hyperacuity.errors import InputError
from hyperacuity.maps import OrderMap
from hyperacuity.ordering import Partition, Protocol, collect, match_image, ordering
from hyperacuity.report.charts import ordering as charts_ordering
from hyperacuity.report.pictures import layers
from hyperacuity.report.pictures.ordering import matching_picture, order_picture
from hyperacuity.report.sheets.judged import Judged, judge, judged_sheet
from hyperacuity.report.sheets.sheet import NAN, Column, Each, Figure, Layer, Sheet, Viewer, picture_of
from hyperacuity.run import Cell
from hyperacuity.run.gather import Grid

COLUMNS = (
    Column("racc", "R-ACC", note="Pairs of neighbouring regions in the right order"),
    Column("bacc", "B-ACC", note="The same, weighted by the length of their border"),
    Column("bacc50", "B-ACC-50", note="Of the foremost half of the regions"),
    Column("bacc25", "B-ACC-25", note="Of the foremost quarter of the regions"),
    Column("ldc-ori", "LDC ORI", note="Over-random index of contours (local depth consistency)"),
    Column("gdc-ori", "GDC ORI", note="Over-random index of pairs of regions (global depth consistency)"),
)


LAYERS = (
    Layer(
        "match",
        "Contours",
        "Against the first annotator: green in the right order, yellow in the wrong one, orange false, blue missed",
    ),
    Layer("prediction", "Prediction", "Warm is near, cool is far"),
    Layer("truth", "Truth", "The first annotator's order: warm is near, cool is far"),
    Layer("photo", "Photograph"),
)

MOST_REGIONS = 2000
"""Order maps with more regions than this are dense; as contours they mean little."""


def sheet(grid: Grid, each: Each) -> Sheet:
    """The depth-order part of a report."""
    judged = judge(grid, COLUMNS)
    return judged_sheet(
        grid,
        judged,
        title="Depth order",
        figures=_figures(grid, judged) if judged.lines else (),
        viewer=Viewer(LAYERS, (), _look(judged, Protocol(**grid.options["protocol"]), grid.options.get("farther"))),
    )


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
            span=4,
        ),
        Figure(
            "accuracy",
            "Figure/ground accuracy",
            "R-ACC, B-ACC, B-ACC-50 and B-ACC-25 of every system with 95 % intervals.",
            lambda hover: charts_ordering.accuracy_chart(scores),
            fluid=False,
            span=8,
        ),
    )


def _look(judged: Judged, protocol: Protocol, farther: Any) -> Any:
    """Makes the pictures of one image. ``farther`` says which files count depth the other way round."""

    def read(path: Path, kind: str) -> OrderMap:
        return read_order(path, larger="farther" if farther in (kind, "both") else "nearer")

    def look(image: str, cells: Mapping[str, Cell]) -> dict[str, Any]:
        some = next(iter(cells.values()))
        truth = read(some.truths[0], "truth")
        shared: dict[str, Any] = {"truth": layers.picture_uri(order_picture(truth))}
        if (picture := picture_of(cells)) is not None:
            shared["photo"] = layers.photograph(read_image(picture))
        systems: list[dict[str, Any]] = []
        for line in judged.lines:
            try:
                found = read(cells[line.system].prediction, "pred")
                made: dict[str, Any] = {"prediction": layers.picture_uri(order_picture(found))}
                given = ordering(found)
                if not isinstance(given, Partition) or given.regions <= MOST_REGIONS:
                    matched = match_image(given, [ordering(truth)], protocol)[0]
                    made["match"] = layers.picture_uri(matching_picture(matched))
                main = judged.columns[0]
                made["numbers"] = {main.title: main.told(judged.image_scores.get(image, {}).get(line.system, NAN))}
                systems.append(made)
            except KeyError:
                systems.append({"missing": "this system was not run on this image"})
            except InputError as error:
                systems.append({"missing": str(error)})
        return {"size": [truth.shape[1], truth.shape[0]], "shared": shared, "systems": systems}

    return look
