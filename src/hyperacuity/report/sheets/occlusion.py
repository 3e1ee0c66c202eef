"""Occlusion boundaries in a report: OPR and AOR, their curves, and boundaries with the side that is in front."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from hyperacuity.boundary.scores import Point
from hyperacuity.ordering import (
    Contours,
    HumanOcclusion,
    OcclusionScore,
    match_occlusion,
    occlusion_overlays,
    owned_contours,
)
from hyperacuity.ordering.occlusion_scores import as_boundaries
from hyperacuity.report.charts import boundary as boundary_charts
from hyperacuity.report.charts.ordering import orientation_chart
from hyperacuity.report.pictures import layers
from hyperacuity.report.pictures.depth import owned_picture, sides_picture
from hyperacuity.report.pictures.slider import Budget, numbers_of, with_slider
from hyperacuity.report.sheets.engine import Judged, TaskSheet, findings
from hyperacuity.report.sheets.sheet import Figure
from hyperacuity.report.sheets.viewer import PHOTO, Layer, Shared, Viewer, legend
from hyperacuity.resampling import ratio
from hyperacuity.run import Cell


def _findings(judged: Judged) -> list[str]:
    """Sentences on the leader, on what the sides cost the best system, and on people."""
    sentences = findings(judged)
    name, score = next(iter(judged.scores.items()))
    if not math.isnan(score.aor):
        lost = score.boundary.ods.f - score.opr.ods.f
        sentences.append(
            f"Of what {name} finds at that threshold, {100 * score.aor:.1f} % has the right side in front; "
            f"if sides did not count, its F would be {lost:.3f} higher."
        )
    people: HumanOcclusion | None = judged.people
    if people is not None and people.images and not math.isnan(people.point.f):
        reached = f"F {people.point.f:.3f}, and AOR {people.aor:.3f}"
        sentences.append(f"People, compared with each other, reach {reached}.")
    return sentences


def _figures(judged: Judged) -> Iterator[Figure]:
    scores: Mapping[str, OcclusionScore] = judged.scores
    people: HumanOcclusion | None = judged.people
    yield opr_figure(scores, people.point if people is not None and people.images else None)
    yield Figure(
        "aor",
        "Right side over recall",
        "Share of matched pixels with the right side in front, over the recall of boundaries; the mark is at the best OPR.",
        lambda hover: orientation_chart(scores),
        fluid=True,
    )


def opr_figure(scores: Mapping[str, OcclusionScore], human: Point | None = None) -> Figure:
    """Precision over recall of pairs with the right side in front."""
    right = {system: score.opr for system, score in scores.items()}
    best = next(iter(scores))
    return Figure(
        "opr",
        "Orientation precision over recall",
        f"Precision over recall of pairs with the right side in front, {len(scores)} systems. {best} has the best point, "
        f"F = {right[best].ods.f:.3f}. The leaderboard holds the same numbers.",
        lambda hover: boundary_charts.precision_recall(right, human=human, hover=hover),
        fluid=True,
    )


class OcclusionViewer(Viewer):
    """Right and other pairs at every threshold, and sides in front at the best one."""

    layers = (
        Layer("match", "Match", "What OPR counts at the threshold"),
        Layer(
            "sides",
            "Sides",
            "Against the first annotator, at the system's best threshold; ticks point to the side that it has in front. "
            "Green: right; yellow: the wrong side is in front; vermilion: false; blue: missed",
        ),
        Layer("prediction", "Prediction", "The soft map as the system gave it; dark is strong"),
        Layer("truth", "Truth", "The first annotator's boundaries; ticks point to the side in front"),
        PHOTO,
    )
    legend = legend(
        "detected, with the right side in front by somebody's label",
        "detected, but matched with nothing, or with the wrong side in front",
        "an occlusion boundary that was not found with the right side in front",
        names=("right", "not right", "miss"),
    )
    note = "Numbers are of this image at the threshold shown; AOR is the share of matched pixels with the right side in front."

    def shared(self, cell: Cell) -> Shared:
        """The first annotator's boundaries, with their owners."""
        truths = [owned_contours(truth) for truth in self.reader.truths(cell)]
        return Shared(truths[0].pixels.shape, {"truth": layers.picture_uri(owned_picture(truths[0]))}, truths)

    def of_system(self, system: str, cell: Cell, truth: list[Contours], budget: Budget) -> dict[str, Any]:
        """A system's map, its sides at its best threshold, and what is right at each."""
        prediction, score = self.reader.prediction(cell, self.protocol), self.scores[system]
        best = int(np.argmax(score.opr.curve.f))
        level = float(score.opr.curve.threshold[best])
        sides = sides_picture(match_occlusion(prediction, truth[0], level, self.protocol))
        tally = self.grid.tally(system, cell.image)
        right = ratio(tally.detected_right, tally.detected_matched, empty=0.0)
        return with_slider(
            {
                "prediction": layers.soft_picture(prediction.soft, budget.share() // 2),
                "sides": layers.picture_uri(sides),
            },
            occlusion_overlays(prediction, truth, self.protocol),
            score.opr.curve.threshold,
            numbers_of(as_boundaries(tally), AOR=right),
            curve=score.opr.curve.f,
            best=best,
            budget=budget,
            digits=4,
        )


SHEET = TaskSheet(OcclusionViewer, _figures, _findings, curves=lambda scores: [opr_figure(scores)])
