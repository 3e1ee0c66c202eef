"""Pairs of points in a report: rates of disagreement, and the pairs of each image, right and wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hyperacuity.data import read_image
from hyperacuity.maps import OrderMap
from hyperacuity.ordering import PairScore, PointPairs, answers
from hyperacuity.report.pictures import layers
from hyperacuity.report.pictures.colours import UNKNOWN, plain
from hyperacuity.report.pictures.depth import enlargement, pairs_picture
from hyperacuity.report.pictures.disparity import depth_layer, depth_picture
from hyperacuity.report.pictures.slider import Budget
from hyperacuity.report.sheets.engine import Judged, TaskSheet
from hyperacuity.report.sheets.viewer import PHOTO, Layer, Shared, Viewer
from hyperacuity.run import Cell


def _notes(judged: Judged) -> list[str]:
    """Remarks on the pairs that each system was asked, and those it left without an answer."""
    scores: Mapping[str, PairScore] = judged.scores
    asked = {name: f"{sum(score.pairs[:2])} pairs of {len(score.images)} images" for name, score in scores.items()}
    silent = [
        f"{name} gives no answer for {score.pairs[2]} pairs; these count as wrong."
        for name, score in scores.items()
        if score.pairs[2]
    ]
    if len(set(asked.values())) == 1:
        return [f"Each system was asked {next(iter(asked.values()))}.", *silent]
    return [*(f"Asked of {name}: {text}." for name, text in asked.items()), *silent]


class PairViewer(Viewer):
    """Pairs of points on the photograph, or on the map where there is none."""

    layers = (
        Layer(
            "pairs",
            "Pairs",
            "Green: answered as people did; vermilion: answered differently. The point that people found nearer is "
            "filled; of equal ones both are open",
        ),
        Layer("prediction", "Prediction", "Warm is near, cool is far, grey is unknown"),
        PHOTO,
    )

    def shared(self, cell: Cell) -> Shared:
        """The pairs; the size is that of the photograph or the map."""
        truths: list[PointPairs] = self.reader.truths(cell)
        if cell.picture is not None:
            ground = np.asarray(layers.as_picture(read_image(cell.picture)).convert("RGB"))
            return Shared(_enlarged(ground.shape), {}, (truths, ground))
        shape = _shape(self.reader.prediction(cell, self.protocol), truths)
        return Shared(_enlarged(shape), {}, (truths, None))

    def of_system(self, system: str, cell: Cell, truth: Any, budget: Budget) -> dict[str, Any]:
        """A system's answers, and its map if it has one."""
        truths, ground = truth
        given = self.reader.prediction(cell, self.protocol)
        made: dict[str, Any] = {"numbers": self.judged.number(system, cell.image)}
        if isinstance(given, PointPairs):
            made["without"] = {"prediction": "the system answers pairs of points, it has no map"}
        else:
            made["prediction"] = depth_layer(given, room=budget.share() // 2)
        if ground is None:
            answered = isinstance(given, PointPairs)
            ground = plain(_shape(given, truths), UNKNOWN) if answered else depth_picture(given)
        said = answers(given, truths[0], self.protocol)
        return made | {"pairs": layers.photograph(pairs_picture(ground, truths[0], said))}


def _enlarged(shape: Sequence[int]) -> list[int]:
    """The size at which pairs are drawn."""
    return [enlargement(shape) * length for length in shape[:2]]


def _shape(given: OrderMap | PointPairs, truths: list[PointPairs]) -> tuple[int, ...]:
    """Shape of a map; for answers the size that was judged, or one that holds all points."""
    if not isinstance(given, PointPairs):
        return given.shape
    if truths[0].size is not None:
        return truths[0].size[::-1]
    return tuple((np.vstack([truths[0].first, truths[0].second]).max(axis=0) + 1).tolist())


# Without equal pairs, as in DIW, a rate of these has no value.
SHEET = TaskSheet(PairViewer, notes=_notes, hide_empty=True)
