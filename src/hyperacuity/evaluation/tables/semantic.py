"""Semantic boundary scores as people and programs read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from hyperacuity.evaluation.export import Column
from hyperacuity.evaluation.tables import closing, counts, interval, new_table, number, paired
from hyperacuity.evaluation.tables.boundary import point
from hyperacuity.kinds.cells import plural, some
from hyperacuity.semantic import ClassScore, SemanticScore

if TYPE_CHECKING:
    from hyperacuity.evaluation.result import Result

COLUMNS = (
    Column("ods", "mean ODS", note="Mean over classes of the best F at one threshold for all images"),
    Column("ois", "mean OIS", note="Mean over classes of F with the best threshold for each image"),
    Column("ap", "mean AP", note="Mean over classes of the area under precision over recall"),
    Column("classes", "classes", note="Classes with maps and with truth, over which means are", better="", digits=0),
)


def summary(result: Result) -> dict[str, Any]:
    """The result for JSON: each system's classes by name, and the means over them."""
    scores: Mapping[str, SemanticScore] = result.scores
    return {
        "signature": str(result.signature),
        "images": len(result.images),
        "systems": {name: _system(score) for name, score in scores.items()},
        **paired(result),
        "notes": result.notes,
    }


def _system(score: SemanticScore) -> dict[str, Any]:
    mean = score.mean
    return {
        "images": len(score.images),
        "classes": {name: _class(one) for name, one in score.classes.items()},
        "mean": {
            "ods": mean.ods,
            "ois": mean.ois,
            "ap": mean.ap,
            "interpolated_ap": mean.interpolated_ap,
            "ci": {"ods": mean.ods_interval, "ois": mean.ois_interval},
            "classes": len(score.classes),
        },
        "without_maps": score.without_maps,
        "without_truth": score.without_truth,
    }


def _class(score: ClassScore) -> dict[str, Any]:
    ois = score.ois
    return {
        "images": len(score.images),
        "missing": score.missing,
        "ods": point(score.ods) | {"ci": score.ods.interval},
        "ois": {"recall": ois.recall, "precision": ois.precision, "f": ois.f, "ci": ois.interval},
        "ap": score.ap,
        "interpolated_ap": score.interpolated_ap,
        "curve": point(score.curve),
        "per_image": {image: point(own) for image, own in zip(score.images, score.per_image, strict=True)},
    }


def numbers(score: SemanticScore) -> dict[str, float]:
    """What a row of a table says of a system: the means, then each class."""
    found: dict[str, float] = {"classes": len(score.classes), "interpolated ap": score.mean.interpolated_ap}
    for name, one in score.classes.items():
        found |= {f"ods of {name}": one.ods.f, f"ap of {name}": one.ap}
    return found


def show(result: Result, console: Console) -> None:
    """A table of systems, and one of their classes."""
    scores: dict[str, SemanticScore] = dict(sorted(result.scores.items(), key=lambda item: -item[1].mean.ods))
    numbers = ("classes", "mean ODS", "95 % interval", "mean OIS", "95 % interval", "mean AP")
    table = new_table("system", right=numbers)
    for name, score in scores.items():
        mean = score.mean
        table.add_row(
            escape(name),
            str(len(score.classes)),
            number(mean.ods),
            interval(mean.ods_interval),
            number(mean.ois),
            interval(mean.ois_interval),
            number(mean.ap),
        )
    console.print(table)
    console.print()
    console.print(_by_class(scores))
    closing(result, console, counts(result, {name: len(one.images) for name, one in scores.items()}), *result.notes)


def _by_class(scores: Mapping[str, SemanticScore]) -> Any:
    """The classes that any system has a score of: all numbers of one system, ODS of several."""
    names = dict.fromkeys(name for score in scores.values() for name in score.classes)
    if len(scores) > 1:
        table = new_table("ODS by class", right=[escape(system) for system in scores])
        for name in names:
            own = (score.classes.get(name) for score in scores.values())
            table.add_row(escape(name), *("–" if one is None else number(one.ods.f) for one in own))
        return table
    (score,) = scores.values()
    table = new_table("class", right=("images", "ODS", "threshold", "recall", "precision", "OIS", "AP"))
    for name, one in score.classes.items():
        ods = one.ods
        at_best = (number(ods.f), number(ods.threshold, 3), number(ods.recall), number(ods.precision))
        table.add_row(escape(name), str(len(one.images)), *at_best, number(one.ois.f), number(one.ap))
    return table


def notes(result: Result) -> list[str]:
    """Which classes are not in the means and why, and what was missing."""
    found: dict[str, list[str]] = {}
    for system, score in result.scores.items():
        for sentence in gaps_of(score):
            found.setdefault(sentence, []).append(system)
    several = len(result.scores) > 1
    return [f"{some(systems)}: {sentence}" if several else sentence for sentence, systems in found.items()]


def gaps_of(score: SemanticScore) -> Iterator[str]:
    """What a score leaves out, a sentence each, without its full stop."""
    total = len(score.classes) + len(score.without_maps) + len(score.without_truth)
    if score.without_maps:
        which = plural(len(score.without_maps), "class", "classes")
        yield f"no map of {which} of the truth, left out of the means: {', '.join(score.without_maps)}"
    if score.without_truth:
        which = plural(len(score.without_truth), "class occurs", "classes occur")
        yield f"{which} in no image, left out of the means: {', '.join(score.without_truth)}"
    for one in score.classes.values():
        if one.missing:
            yield f"{one.name}: no map of {plural(one.missing, 'image', 'images')}, where nothing counts as detected"
    if score.protocol.absent == "count" and score.mean.ois < score.mean.ods:
        yield (
            "OIS is below ODS because an image without a class has no best threshold: as in SEAL's program, all that is detected "
            "there at the lowest one counts as false"
        )
    if score.classes and not any(one.curve.f.any() for one in score.classes.values()):
        yield (
            f"nothing is found of any of the {total} classes at any threshold; if maps hold 0 and 1 only, use --value-range 1"
        )
