"""Predicted views in a report: the right picture drawn from the left one by each map, and where it differs from the real one."""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperacuity.disparity import forward
from hyperacuity.report.pictures import layers
from hyperacuity.report.pictures.disparity import difference_picture
from hyperacuity.report.pictures.slider import Budget
from hyperacuity.report.sheets.disparity import DisparityViewer
from hyperacuity.report.sheets.engine import TaskSheet
from hyperacuity.report.sheets.viewer import Layer, Shared
from hyperacuity.run import Cell


class ViewsViewer(DisparityViewer):
    """The right picture as each map draws it."""

    layers = (
        Layer(
            "errors",
            "Difference",
            "From the real right picture: white is none, dark is 64 grey levels or more, grey is not drawn",
        ),
        Layer("prediction", "Drawn", "The right picture, drawn from the left one by the map; grey is not drawn"),
        Layer("truth", "Right picture", "The real one"),
        Layer("photo", "Left picture"),
    )

    def shared(self, cell: Cell) -> Shared:
        """Both pictures."""
        left, right = self.reader.truths(cell)
        shown = {"photo": layers.photograph(left), "truth": layers.photograph(right)}
        return Shared(left.shape, shown, (left, right))

    def of_system(self, system: str, cell: Cell, truth: Any, budget: Budget) -> dict[str, Any]:
        """The drawn picture, and its difference from the real one."""
        left, right = truth
        drawn, where = forward(left, self.reader.prediction(cell, self.protocol))
        return {
            "prediction": layers.photograph(_on_grey(drawn, where, left.dtype)),
            "errors": layers.photograph(difference_picture(right, drawn, where)),
            "numbers": self.judged.number(system, cell.image),
        }


def _on_grey(drawn: Any, where: Any, kind: Any) -> Any:
    """A drawn picture in the type of the photographs, a middle grey where nothing was drawn."""
    middle = np.iinfo(kind).max * 2 // 3
    filled = np.where(where if drawn.ndim == 2 else where[..., None], drawn, middle)
    plain = filled[..., 0] if filled.ndim == 3 and filled.shape[2] == 1 else filled
    return np.clip(np.round(plain), 0, np.iinfo(kind).max).astype(kind)


SHEET = TaskSheet(ViewsViewer)
