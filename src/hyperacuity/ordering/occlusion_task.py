"""Occlusion boundaries as a task, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hyperacuity.boundary.task import curve_dict, point_dict
from hyperacuity.columns import Column, Columns, Scored
from hyperacuity.ordering.directed_contours import contours
from hyperacuity.ordering.occlusion import (
    OCCLUSION_PROTOCOLS,
    OcclusionProtocol,
    OcclusionTally,
    occlusion_map,
    tally_occlusion,
    tally_occlusion_humans,
)
from hyperacuity.ordering.occlusion_scores import (
    HumanOcclusion,
    OcclusionScore,
    collect_occlusion,
    collect_occlusion_humans,
    occlusion_criteria,
)
from hyperacuity.ordering.orderings import ordering
from hyperacuity.tasks import Example, Task


def as_dict(score: OcclusionScore, system: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A system's scores, its curves and those of its images."""
    curve = score.boundary.curve
    return {
        "images": len(score.images),
        "opr": curve_dict(score.opr),
        "aor": {
            "at_ods": score.aor,
            "ci": list(score.aor_interval),
            "curve": {"threshold": curve.threshold, "recall": curve.recall, "accuracy": score.accuracy},
        },
        "boundary": curve_dict(score.boundary),
        "per_image": {image: point_dict(one) for image, one in zip(score.images, score.opr.per_image, strict=True)},
    }


def people_values(people: HumanOcclusion) -> dict[str, float]:
    """Human scores by column: one point instead of a curve; empty where no image has two annotators."""
    return {"opr-ods": people.point.f, "aor": people.aor, "images": people.images} if people.images else {}


def people_dict(people: HumanOcclusion) -> dict[str, Any]:
    """Human scores for JSON."""
    return {"images": people.images, **point_dict(people.point, threshold=False), "aor": people.aor}


def facts(scored: Scored) -> Iterator[str]:
    """Say what OPR and AOR count."""
    counted = "right pairs" if scored.protocol.recall == "right" else "all matched pairs"
    yield f"OPR: recall counts {counted}; AOR: share of matched pixels with the right side in front"


COLUMNS = Columns(
    (
        Column(
            "opr-ods",
            "OPR ODS",
            note="Best F of pairs with the right side in front, at one threshold for all images",
            value=lambda score: score.opr.ods.f,
            interval=lambda score: score.opr.ods.interval,
        ),
        Column(
            "opr-ois",
            "OPR OIS",
            note="The same with the best threshold for each image",
            value=lambda score: score.opr.ois.f,
            head="OIS",
        ),
        Column(
            "opr-ap",
            "OPR AP",
            note="Average precision: area under precision over recall",
            value=lambda score: score.opr.ap,
            head="AP",
        ),
        Column(
            "aor",
            "AOR",
            note="Share of matched pixels with the right side in front, at the threshold of OPR ODS",
            value=lambda score: score.aor,
            interval=lambda score: score.aor_interval,
        ),
        Column(
            "ods",
            "boundary ODS",
            "",
            note="Best F of boundaries, whichever side is in front",
            value=lambda score: score.boundary.ods.f,
        ),
    ),
    (
        Column("threshold", "threshold", "", 2, value=lambda score: score.opr.ods.threshold),
        Column("ap", "AP", "", value=lambda score: score.boundary.ap),
    ),
    ("images", "opr-ods", "threshold", "opr-ois", "opr-ap", "aor", "ods", "ap"),
    as_dict=as_dict,
    people=people_values,
    people_dict=people_dict,
    facts=facts,
)


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
