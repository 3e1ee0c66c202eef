"""Occlusion boundaries as a task."""

from hyperacuity.ordering.occlusion import (
    OCCLUSION_PROTOCOLS,
    OcclusionProtocol,
    OcclusionTally,
    tally_occlusion,
    tally_occlusion_humans,
)
from hyperacuity.ordering.occlusion_scores import (
    OcclusionScore,
    collect_occlusion,
    collect_occlusion_humans,
    occlusion_criteria,
)
from hyperacuity.tally import Task

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
)
