"""Depth boundary errors as a task."""

from hyperacuity.ordering.dbe.benchmark import (
    DepthEdgeProtocol,
    DepthEdgeScore,
    DepthEdgeTally,
    collect_depth_edges,
    depth_edge_criteria,
    tally_depth_edges,
)
from hyperacuity.ordering.dbe.columns import COLUMNS
from hyperacuity.tally import Task

TASK: Task[DepthEdgeProtocol, DepthEdgeTally, DepthEdgeScore] = Task(
    DepthEdgeProtocol.task,
    "Depth boundaries",
    DepthEdgeProtocol,
    DepthEdgeTally,
    tally_depth_edges,
    collect_depth_edges,
    depth_edge_criteria,
    kind="depth edges",
    references=("koch2018",),
    examples=lambda scene: [(scene.order, scene.boundaries, {})],
    columns=COLUMNS,
)
