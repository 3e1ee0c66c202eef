"""Occlusion boundaries as a task."""

from collections.abc import Iterable
from typing import Any

from hyperacuity.ordering.directed_contours import contours
from hyperacuity.ordering.occlusion import (
    OCCLUSION_PROTOCOLS,
    OcclusionProtocol,
    OcclusionTally,
    occlusion_map,
    tally_occlusion,
    tally_occlusion_humans,
)
from hyperacuity.ordering.occlusion_columns import COLUMNS
from hyperacuity.ordering.occlusion_scores import (
    OcclusionScore,
    collect_occlusion,
    collect_occlusion_humans,
    occlusion_criteria,
)
from hyperacuity.ordering.orderings import ordering
from hyperacuity.tally import Example, Task


def _examples(scene: Any) -> Iterable[Example]:
    truth = ordering(scene.order)
    outline = contours(truth)
    yield occlusion_map(outline.pixels, outline.angle), truth, {"nms": "none"}


TASK: Task[OcclusionProtocol, OcclusionTally, OcclusionScore] = Task(
    "occlusion",
    "Occlusion boundaries",
    OcclusionProtocol,
    OcclusionTally,
    tally_occlusion,
    collect_occlusion,
    occlusion_criteria,
    kind="occlusion",
    people=tally_occlusion_humans,
    collect_people=collect_occlusion_humans,
    protocols=OCCLUSION_PROTOCOLS,
    references=("wang2016",),
    protocol_references={"doobnet": ("wang2018",)},
    examples=_examples,
    columns=COLUMNS,
)
