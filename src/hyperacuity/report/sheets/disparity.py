"""Disparity in a report: bad pixels and errors by region, and the maps in colours of depth."""

from __future__ import annotations

from typing import Any

from hyperacuity.report.pictures.disparity import depth_layer, error_layer
from hyperacuity.report.pictures.slider import Budget, text_size
from hyperacuity.report.sheets.engine import TaskSheet
from hyperacuity.report.sheets.viewer import PHOTO, Layer, Shared, Viewer
from hyperacuity.run import Cell


class DisparityViewer(Viewer):
    """Maps in colours of depth, and where they are wrong."""

    layers = (
        Layer("errors", "Errors", "White is right, dark is 4 px or more; vermilion: no estimate; grey: truth unknown"),
        Layer("prediction", "Estimate", "Warm is near, cool is far, grey is unknown; each map has its own range"),
        Layer("truth", "Truth", "Warm is near, cool is far, grey is unknown"),
        PHOTO,
    )

    def shared(self, cell: Cell) -> Shared:
        """The true map."""
        (truth,) = self.reader.truths(cell)
        return Shared(truth.shape, {"truth": depth_layer(truth, unit="px")}, truth)

    def of_system(self, system: str, cell: Cell, truth: Any, budget: Budget) -> dict[str, Any]:
        """A system's map and its errors."""
        estimate = self.reader.prediction(cell, self.protocol)
        room = budget.share()
        prediction = depth_layer(estimate, unit="px", room=room // 2)
        return {
            "prediction": prediction,
            "errors": error_layer(truth, estimate, room=room - text_size(prediction)),
            "numbers": self.judged.number(system, cell.image),
        }


SHEET = TaskSheet(DisparityViewer)
