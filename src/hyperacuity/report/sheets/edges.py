"""Edge measures in a report: measures on the leaderboard, scores over thresholds, and edge maps that follow the threshold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hyperacuity.edges.benchmark import prepared
from hyperacuity.edges.names import measure
from hyperacuity.edges.thresholds import Best, edges_at
from hyperacuity.errors import InputError
from hyperacuity.maps import EdgeMap
from hyperacuity.report.charts import edges as charts_edges
from hyperacuity.report.pictures import layers
from hyperacuity.report.pictures.slider import Budget, with_slider
from hyperacuity.report.sheets.engine import MOST_COLUMNS, Judged, TaskSheet
from hyperacuity.report.sheets.sheet import Figure
from hyperacuity.report.sheets.viewer import PHOTO, Layer, Shared, Viewer, legend
from hyperacuity.run import Cell

MOST_PICTURED = 8
"""Systems up to which a sheet of small pictures can be read."""


def _figures(judged: Judged) -> Iterator[Figure]:
    scores, names = judged.scores, judged.grid.protocol.names
    several = len(names) > 1
    yield Figure(
        "score-over-threshold",
        "Scores over the threshold",
        f"The mean of {'each measure' if several else measure(names[0]).symbol} over images at every threshold, "
        "a curve for each system; lower is better.",
        lambda hover: charts_edges.mean_curves_chart(scores, columns=min(3, len(names))),
    )
    if several and len(scores) > 1:
        yield Figure(
            "sheet",
            "Detectors by measures",
            "The mean over images of the least score, a row for each system and a column for each measure; lower is better.",
            lambda hover: charts_edges.score_sheet_chart(scores),
        )
    typical = _typical(judged)
    drawn, best = EdgeViewer(judged).best_maps(typical) if typical and len(scores) <= MOST_PICTURED else (None, {})
    if drawn is not None:
        yield Figure(
            "best-maps",
            "The best edge map under each measure",
            f"The image {typical}: a row for each measure, a column for each system, with the threshold and the score.",
            lambda hover: charts_edges.best_maps_chart(typical, drawn, best),
        )


def _typical(judged: Judged) -> str:
    """The image that all systems have and on which their mean score is the median one; empty if there is none."""
    known = {
        image: sum(of.values())
        for image, of in judged.image_scores.items()
        if len(of) == len(judged.lines) and np.isfinite(list(of.values())).all()
    }
    return sorted(known, key=lambda image: (known[image], image))[(len(known) - 1) // 2] if known else ""


class EdgeViewer(Viewer):
    """Hits, false and missed pixels at every threshold."""

    layers = (
        Layer("match", "Edges", "Hits, false and missed pixels at the threshold"),
        Layer("prediction", "Prediction", "The map as the system gave it; dark is strong"),
        Layer("truth", "Truth", "What people drew; the darker, the more of them drew the pixel"),
        PHOTO,
    )
    legend = legend(
        "detected where somebody drew an edge", "detected where nobody drew one", "drawn by somebody, but not detected"
    )

    def shared(self, cell: Cell) -> Shared:
        """Lines that people drew; the truth is what anybody drew."""
        truths = self.reader.truths(cell)
        return Shared(truths[0].shape, {"truth": layers.drawn(truths, 0)}, np.logical_or.reduce(truths))

    def best_maps(self, image: str) -> tuple[EdgeMap | None, dict[str, dict[str, Best]]]:
        """Edges that anybody drew, and each system's best edge map under each measure; None if a file has moved."""
        best: dict[str, dict[str, Best]] = {}
        names, cells = self.protocol.names[:MOST_COLUMNS], self.grid.cells_of(image)
        try:
            drawn = np.logical_or.reduce(self.reader.truths(cells[self.systems[0]]))
            for system in self.systems:
                soft, _ = prepared(self.reader.prediction(cells[system], self.protocol), self.protocol)
                tally = self.grid.tally(system, image)
                best[system] = {
                    name: Best(float(score), float(at), (float(at), float(at)), edges_at(soft, float(at)))
                    for name, score, at in zip(names, tally.minimum, tally.threshold, strict=False)
                }
        except InputError:
            return None, {}
        return drawn, best

    def of_system(self, system: str, cell: Cell, truth: EdgeMap, budget: Budget) -> dict[str, Any]:
        """A system's map, and its edges at each threshold."""
        given = self.reader.prediction(cell, self.protocol)
        soft, levels = prepared(given, self.protocol)
        tally = self.grid.tally(system, cell.image)
        with np.errstate(invalid="ignore", divide="ignore"):
            scores = (tally.scores[0] / tally.counted[0])[: levels.size]
        best = int(np.argmin(np.abs(levels - tally.threshold[0])))
        edges = np.stack([edges_at(soft, level) for level in levels])
        return with_slider(
            {"prediction": layers.soft_picture(given, budget.share() // 2)},
            np.where(edges, np.where(truth, 1, 2), np.where(truth, 3, 0)).astype(np.uint8),
            levels,
            {measure(self.protocol.names[0]).symbol: [float(f"{score:.4g}") for score in scores]},
            curve=np.nan_to_num(scores[best] / np.maximum(scores, 1e-12)),
            best=best,
            budget=budget,
            best_for="this image",
        )


SHEET = TaskSheet(EdgeViewer, _figures)
