"""Mask scores as people and programs read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from hyperacuity.evaluation.export import Column
from hyperacuity.evaluation.tables import closing, count, interval, new_table, number, paired
from hyperacuity.masks import MaskCounts, MaskScore
from hyperacuity.masks.scores import NAMES

if TYPE_CHECKING:
    from hyperacuity.evaluation.result import Result

COLUMNS = (
    Column("f", "F", note="DAVIS: contour pixels within the tolerance of the other contour"),
    Column("one_to_one", "F one to one", note="Within the same tolerance, a partner for each contour pixel"),
    Column("boundary_iou", "Boundary IoU", note="Of the bands along the inside of both outlines"),
    Column("j", "J", note="Region IoU"),
    Column("jf", "J&F", note="Mean of J and F, by which DAVIS ranks"),
)


TITLES = {"f": "F", "one_to_one": "F one to one", "boundary_iou": "Boundary IoU", "j": "J", "jf": "J&F"}

MOST_LABELS = 40
"""How many labels the table shows; ``--json`` has them all."""


def summary(result: Result) -> dict[str, Any]:
    """The result for JSON."""
    scores: Mapping[str, MaskScore] = result.scores
    systems = {name: _system(score) for name, score in scores.items()}
    return {"signature": str(result.signature), "images": len(result.images), "systems": systems, **paired(result)}


def _system(score: MaskScore) -> dict[str, Any]:
    found: dict[str, Any] = {name: {"mean": score.mean[name], "ci": score.interval[name]} for name in NAMES}
    found |= {"images": len(score.images), "objects": score.objects, "missed": score.missed, "extra": score.extra}
    found["pooled"] = {**_pooled(score.pooled), "pixels": vars(score.pooled)}
    if score.labels:
        found["labels"] = {label: {"images": one.images, **one.mean} for label, one in score.labels.items()}
    found["per_image"] = {
        image: dict(zip(NAMES, row.tolist(), strict=True))
        for image, row in zip(score.images, score.values, strict=True)
    }
    return found


def _pooled(counts: MaskCounts) -> dict[str, float]:
    """The scores of all pixels together, as if they were one object's."""
    return {name: getattr(counts, name) for name in ("f", "one_to_one", "boundary_iou", "j")}


def numbers(score: MaskScore) -> dict[str, float]:
    """What a row of a table says of a system besides its criteria."""
    return {"objects": score.objects, "missed": score.missed, "extra": score.extra}


def show(result: Result, console: Console) -> None:
    """The result as a table, the best system first; by label, each label too."""
    scores: Mapping[str, MaskScore] = result.scores
    ranked = sorted(scores.items(), key=lambda item: -item[1].mean["f"])
    first, *others = NAMES
    table = new_table(
        "system", right=("images", "objects", TITLES[first], "95 % interval", *(TITLES[name] for name in others))
    )
    for name, score in ranked:
        sizes = (count(result, name, len(score.images)), str(score.objects))
        values = (number(score.mean[other]) for other in others)
        table.add_row(escape(name), *sizes, number(score.mean[first]), interval(score.interval[first]), *values)
    console.print(table)
    for name, score in ranked:
        if score.labels:
            _show_labels(name, score, console)
    closing(result, console, *(_strays(name, score) for name, score in ranked))


def _show_labels(name: str, score: MaskScore, console: Console) -> None:
    table = new_table(f"{escape(name)}, label", right=("images", *(TITLES[one] for one in NAMES)))
    for label, one in list(score.labels.items())[:MOST_LABELS]:
        table.add_row(str(label), str(one.images), *(number(one.mean[name]) for name in NAMES))
    console.print()
    console.print(table)
    if (more := len(score.labels) - MOST_LABELS) > 0:
        console.print(f"and {more} more labels; --json lists them all")


def _strays(name: str, score: MaskScore) -> str:
    """How many objects have no partner; nothing where all have one."""
    parts = [f"{score.missed} missed"] if score.missed else []
    parts += [f"{score.extra} that the truth lacks"] if score.extra else []
    return f"{name}: of {score.objects} objects, {' and '.join(parts)}" if parts else ""
