"""Depth boundary errors as a task, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hyperacuity.columns import Column, Columns, Scored
from hyperacuity.ordering.dbe.benchmark import (
    MEASURES,
    DepthEdgeProtocol,
    DepthEdgeScore,
    DepthEdgeTally,
    collect_depth_edges,
    depth_edge_criteria,
    tally_depth_edges,
)
from hyperacuity.tasks import Task


def _distance(n: int, note: str) -> Column:
    return Column(
        MEASURES[n],
        MEASURES[n],
        "min",
        2,
        note,
        "px",
        value=lambda score: float(score.mean[n]),
        interval=lambda score: score.interval[n],
    )


def as_dict(score: DepthEdgeScore, system: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A system's means with intervals, and the errors of its images."""

    def named(values: Any) -> dict[str, Any]:
        return dict(zip(MEASURES, values.tolist(), strict=True))

    per_image = {image: named(of) for image, of in zip(score.images, score.values, strict=True)}
    return {
        "images": len(score.images),
        **named(score.mean),
        "intervals": named(score.interval),
        "per_image": per_image,
    }


def facts(scored: Scored) -> Iterator[str]:
    """Say how to read the distances."""
    yield f"mean over images, in pixels; lower is better, {scored.protocol.reach:g} is the worst"


COLUMNS = Columns(
    (
        _distance(0, "Mean distance of the predicted edges that are near a true one"),
        _distance(1, "Mean distance of all edges, either way, cut off"),
    ),
    screen=("images", *MEASURES),
    as_dict=as_dict,
    facts=facts,
)


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
