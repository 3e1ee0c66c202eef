"""Boundary scores as people and programs read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from hyperacuity.boundary import BoundaryScore, tolerance_in_pixels
from hyperacuity.boundary.human import HumanScore
from hyperacuity.compare.verdict import LEVEL, Verdict
from hyperacuity.errors import InputError
from hyperacuity.evaluation.export import Column
from hyperacuity.evaluation.suppression import order_note, thick_warnings
from hyperacuity.evaluation.tables import count, interval, new_table, number, paired
from hyperacuity.maps import size_of

if TYPE_CHECKING:
    from hyperacuity.evaluation.result import Result

COLUMNS = (
    Column("ods", "ODS", note="Best F at one threshold for all images"),
    Column("ois", "OIS", note="F with the best threshold for each image"),
    Column("ap", "AP", note="Average precision: area under precision over recall"),
    Column("r50", "R50", note="Recall at a precision of one half", better=""),
    Column("threshold", "threshold", note="The threshold of ODS", better="", digits=2),
)


FEW_IMAGES = 10


def summary(result: Result) -> dict[str, Any]:
    """The result for JSON."""
    scores: Mapping[str, BoundaryScore] = result.scores
    found: dict[str, Any] = {
        "signature": str(result.signature),
        "images": len(result.images),
        "systems": {name: _system(name, score) for name, score in scores.items()},
    }
    found |= paired(result) | {"notes": result.notes}
    if result.human:
        people = result.people
        own = people.point
        found["human"] = {"images": people.images, "recall": own.recall, "precision": own.precision, "f": own.f}
    return found


def _system(name: str, score: BoundaryScore) -> dict[str, Any]:
    ois = score.ois
    return {
        "images": len(score.images),
        "ods": point(score.ods) | {"ci": score.ods.interval},
        "ois": {"recall": ois.recall, "precision": ois.precision, "f": ois.f, "ci": ois.interval},
        "ap": score.ap,
        "r50": score.r50,
        "thickness": score.thickness,
        "nms": str(score.protocol.for_system(name).nms or "none"),
        "curve": point(score.curve),
        "per_image": {image: point(own) for image, own in zip(score.images, score.per_image, strict=True)},
    }


def point(of: Any) -> dict[str, Any]:
    """A point of a curve, or the curve."""
    return {"threshold": of.threshold, "recall": of.recall, "precision": of.precision, "f": of.f}


def numbers(score: BoundaryScore) -> dict[str, float]:
    """What a row of a table says of a system."""
    ods = score.ods
    best = {"ods": ods.f, "ois": score.ois.f, "ap": score.ap, "r50": score.r50, "threshold": ods.threshold}
    return best | {"recall": ods.recall, "precision": ods.precision}


def people_numbers(people: HumanScore) -> dict[str, float]:
    """The same of people, who have one point instead of a curve; nothing where no image has two annotators."""
    own = people.point
    at = {"ods": own.f, "recall": own.recall, "precision": own.precision, "images": people.images}
    return at if people.images else {}


def show(result: Result, console: Console) -> None:
    """The result as a table, the best system first."""
    scores: Mapping[str, BoundaryScore] = result.scores
    tests = result.verdicts["ods"]
    versus = ("behind the best", "p (Holm)" if len(tests) > 1 else "p") if len(scores) > 1 else ()
    mixed = bool(result.protocol.nms_of)  # type: ignore[attr-defined]  # it is a boundary protocol
    numbers = ("images", "ODS", "95 % interval", "threshold", "OIS", "95 % interval", "AP", "R50")
    table = new_table("system", right=(*(["nms"] if mixed else []), *numbers, *versus))
    ranked = sorted(scores.items(), key=lambda item: -item[1].ods.f)
    for name, score in ranked:
        ods, ois = score.ods, score.ois
        nms = [str(score.protocol.for_system(name).nms or "none")] if mixed else []
        images, area = count(result, name, len(score.images)), (number(score.ap), number(score.r50))
        at_best = (
            number(ods.f),
            interval(ods.interval),
            number(ods.threshold, 3),
            number(ois.f),
            interval(ois.interval),
        )
        table.add_row(escape(name), *nms, images, *at_best, *area, *_behind(ranked[0][0], name, tests))
    if result.human and result.people.images:
        table.add_row("people", *([""] if mixed else []), str(result.people.images), number(result.people.point.f))
    console.print(table)
    if tests:
        many = f", with Holm's correction for {len(tests)} tests" if len(tests) > 1 else ""
        console.print(
            f"\np: paired bootstrap of ODS over the images{many}; at {LEVEL} or above, the difference may be due to chance"
        )
    if min(len(score.images) for score in scores.values()) < FEW_IMAGES:
        console.print(f"\nfewer than {FEW_IMAGES} images: intervals and p-values say little")
    for note in result.notes:
        console.print(f"\n{note}", markup=False)
    console.print(f"\n{_tolerance(result)}\n{result.signature}", markup=False)


def notes(result: Result) -> list[str]:
    """What a reader of the scores has to know: maps that look thick, and whether the order of systems depends on that."""
    return [*thick_warnings(result.scores, result.cards), *filter(None, [order_note(result)])]


def _behind(best: str, name: str, tests: Sequence[Verdict]) -> list[str]:
    """How far a system's ODS is behind the best one's, and the p-value of that."""
    found = next((test for test in tests if {test.first, test.second} == {best, name}), None)
    return [] if found is None else [number(abs(found.difference)), number(found.p, 3)]


def _tolerance(result: Result) -> str:
    """The tolerance as a fraction and, for the size of the first image, in pixels."""
    tolerance = result.job.protocol.tolerance  # type: ignore[attr-defined]  # it is a boundary protocol
    note = f"tolerance {tolerance:g} of the diagonal"
    try:
        first = result.job.kind.truths(next(iter(result.inputs or ())))[0]
    except (InputError, StopIteration):
        return note
    return f"{note} = {tolerance_in_pixels(first.shape, tolerance):.2f} px at {size_of(first)}"
