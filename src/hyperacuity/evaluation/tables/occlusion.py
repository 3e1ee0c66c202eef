"""Scores of occlusion boundaries as people and programs read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from hyperacuity.boundary import BoundaryScore
from hyperacuity.evaluation.export import Column
from hyperacuity.evaluation.tables import closing, count, interval, new_table, number, paired
from hyperacuity.evaluation.tables.boundary import point
from hyperacuity.ordering import HumanOcclusion, OcclusionScore

if TYPE_CHECKING:
    from hyperacuity.evaluation.result import Result

COLUMNS = (
    Column("opr-ods", "OPR ODS", note="Best F of pairs with the right side in front, at one threshold for all images"),
    Column("opr-ois", "OPR OIS", note="The same with the best threshold for each image"),
    Column("opr-ap", "OPR AP", note="Average precision: area under precision over recall"),
    Column("aor", "AOR", note="Share of matched pixels with the right side in front, at the threshold of OPR ODS"),
    Column("ods", "boundary ODS", note="Best F of boundaries, whichever side is in front", better=""),
)


HEADINGS = (
    "images",
    "OPR ODS",
    "95 % interval",
    "threshold",
    "OIS",
    "AP",
    "AOR",
    "95 % interval",
    "boundary ODS",
    "AP",
)


def summary(result: Result) -> dict[str, Any]:
    """The result for JSON."""
    scores: Mapping[str, OcclusionScore] = result.scores
    found: dict[str, Any] = {
        "signature": str(result.signature),
        "images": len(result.images),
        "systems": {name: _system(score) for name, score in scores.items()},
        **paired(result),
    }
    if result.human:
        people: HumanOcclusion = result.people
        own = people.point
        at = {"recall": own.recall, "precision": own.precision, "f": own.f, "aor": people.aor}
        found["human"] = {"images": people.images, **at}
    return found


def _system(score: OcclusionScore) -> dict[str, Any]:
    curve = score.boundary.curve
    return {
        "images": len(score.images),
        "opr": _curves(score.opr),
        "aor": {
            "at_ods": score.aor,
            "ci": list(score.aor_interval),
            "curve": {"threshold": curve.threshold, "recall": curve.recall, "accuracy": score.accuracy},
        },
        "boundary": _curves(score.boundary),
        "per_image": {image: point(own) for image, own in zip(score.images, score.opr.per_image, strict=True)},
    }


def _curves(score: BoundaryScore) -> dict[str, Any]:
    ois = score.ois
    return {
        "ods": point(score.ods) | {"ci": score.ods.interval},
        "ois": {"recall": ois.recall, "precision": ois.precision, "f": ois.f, "ci": ois.interval},
        "ap": score.ap,
        "curve": point(score.curve),
    }


def numbers(score: OcclusionScore) -> dict[str, float]:
    """What a row of a table says of a system besides its criteria."""
    return {"threshold": score.opr.ods.threshold, "ap": score.boundary.ap}


def people_numbers(people: HumanOcclusion) -> dict[str, float]:
    """The same of people, who have one point instead of a curve; nothing where no image has two annotators."""
    at = {"opr-ods": people.point.f, "aor": people.aor, "images": people.images}
    return at if people.images else {}


def show(result: Result, console: Console) -> None:
    """The result as a table, the best system first."""
    scores: Mapping[str, OcclusionScore] = result.scores
    table = new_table("system", right=HEADINGS)
    for name, score in sorted(scores.items(), key=lambda item: -item[1].opr.ods.f):
        ods = score.opr.ods
        table.add_row(
            escape(name),
            count(result, name, len(score.images)),
            *(number(ods.f), interval(ods.interval), number(ods.threshold, 3), number(score.opr.ois.f)),
            *(number(score.opr.ap), number(score.aor), interval(score.aor_interval)),
            *(number(score.boundary.ods.f), number(score.boundary.ap)),
        )
    if result.human and result.people.images:
        people = result.people
        table.add_row("people", str(people.images), number(people.point.f), "", "", "", "", number(people.aor))
    console.print(table)
    counted = "right pairs" if result.protocol.recall == "right" else "whatever was found"  # type: ignore[attr-defined]
    closing(result, console, f"OPR: recall counts {counted}; AOR: share of matched pixels with the right side in front")
