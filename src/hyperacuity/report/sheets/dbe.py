"""Depth boundary errors in a report, and how far each depth edge is off."""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperacuity.maps import EdgeMap
from hyperacuity.ordering import depth_edges
from hyperacuity.report.pictures import layers
from hyperacuity.report.pictures.depth import edge_distance_picture
from hyperacuity.report.pictures.disparity import depth_layer
from hyperacuity.report.pictures.slider import Budget
from hyperacuity.report.sheets.engine import TaskSheet
from hyperacuity.report.sheets.viewer import PHOTO, Layer, Shared, Viewer
from hyperacuity.run import Cell


class DepthEdgeViewer(Viewer):
    """Depth edges by how far they are from the true ones."""

    layers = (
        Layer(
            "edges",
            "Edges",
            "Predicted depth edges: green on a true one, over yellow to vermilion where distances are cut off; blue: true "
            "edges that no predicted one is near, grey: the others",
        ),
        Layer("prediction", "Depth", "Warm is near, cool is far, grey is unknown"),
        Layer("truth", "True edges", "Where depth steps"),
        PHOTO,
    )

    def shared(self, cell: Cell) -> Shared:
        """The true edges."""
        edges = np.logical_or.reduce(self.reader.truths(cell))
        return Shared(edges.shape, {"truth": layers.soft_picture(edges.astype(np.float32))}, edges)

    def of_system(self, system: str, cell: Cell, truth: EdgeMap, budget: Budget) -> dict[str, Any]:
        """A system's map, and its edges."""
        depth = self.reader.prediction(cell, self.protocol)
        edges = edge_distance_picture(depth_edges(depth, self.protocol), truth, self.protocol.reach)
        return {
            "edges": layers.picture_uri(edges),
            "prediction": depth_layer(depth, room=budget.share() // 2),
            "numbers": self.judged.number(system, cell.image),
        }


SHEET = TaskSheet(DepthEdgeViewer)
