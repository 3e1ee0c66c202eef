"""Semantic boundaries as a task, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from hyperacuity.boundary.task import curve_dict, point_dict
from hyperacuity.columns import Column, Columns, Scored, TextTable, fixed
from hyperacuity.semantic.protocols import PROTOCOLS, Protocol
from hyperacuity.semantic.scores import ClassScore, SemanticScore, collect, criteria
from hyperacuity.semantic.tallies import SemanticTally, tally
from hyperacuity.tasks import Task


def _mean(name: str, title: str, note: str, *, interval: bool = True) -> Column:
    ends = (lambda score: getattr(score.mean, f"{name}_interval")) if interval else False
    return Column(name, title, note=note, value=lambda score: getattr(score.mean, name), interval=ends)


def as_dict(score: SemanticScore, system: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A system's classes by name, and the means over them."""
    mean = score.mean
    return {
        "images": len(score.images),
        "classes": {name: _class_dict(one) for name, one in score.classes.items()},
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


def _class_dict(score: ClassScore) -> dict[str, Any]:
    return {
        "images": len(score.images),
        "missing": score.missing,
        **curve_dict(score),
        "interpolated_ap": score.interpolated_ap,
        "per_image": {image: point_dict(one) for image, one in zip(score.images, score.per_image, strict=True)},
    }


def numbers(score: SemanticScore, system: str) -> dict[str, float | str]:
    """The scores of each class."""
    return {
        key: value
        for name, one in score.classes.items()
        for key, value in ((f"ods of {name}", one.ods.f), (f"ap of {name}", one.ap))
    }


def tables(scored: Scored) -> Iterator[TextTable]:
    """The classes that any system has a score of: all numbers of one system, ODS of several."""
    scores: Mapping[str, SemanticScore] = scored.scores
    if len(scores) > 1:
        names = dict.fromkeys(name for score in scores.values() for name in score.classes)
        rows = [
            (
                name,
                *(
                    fixed(score.classes[name].ods.f if name in score.classes else float("nan"))
                    for score in scores.values()
                ),
            )
            for name in names
        ]
        yield TextTable(("ODS by class",), tuple(scores), rows)
        return
    (score,) = scores.values()
    at_best = ("ODS", "threshold", "recall", "precision")
    rows = [
        (
            *(name, str(len(one.images))),
            *(fixed(one.ods.f), fixed(one.ods.threshold, 3), fixed(one.ods.recall), fixed(one.ods.precision)),
            *(fixed(one.ois.f), fixed(one.ap)),
        )
        for name, one in score.classes.items()
    ]
    yield TextTable(("class",), ("images", *at_best, "OIS", "AP"), rows)


def notes(scored: Scored) -> Iterator[str]:
    """Classes that are not in the means and why, and missing maps; each sentence once, without its full stop."""
    sentences: dict[str, list[str]] = {}
    for system, score in scored.scores.items():
        for sentence in gaps_of(score):
            sentences.setdefault(sentence, []).append(system)
    for sentence, systems in sentences.items():
        yield sentence if len(systems) == len(scored.scores) else f"{', '.join(systems)}: {sentence}"


def gaps_of(score: SemanticScore) -> Iterator[str]:
    """Say what a score leaves out, a sentence each, without its full stop."""
    total = len(score.classes) + len(score.without_maps) + len(score.without_truth)
    if left_out := score.without_maps:
        classes = "1 class" if len(left_out) == 1 else f"{len(left_out)} classes"
        yield f"no map of {classes} of the truth, left out of the means: {', '.join(left_out)}"
    if absent := score.without_truth:
        occur = "1 class occurs" if len(absent) == 1 else f"{len(absent)} classes occur"
        yield f"{occur} in no image, left out of the means: {', '.join(absent)}"
    for one in score.classes.values():
        if one.missing:
            images = f"{one.missing} image{'' if one.missing == 1 else 's'}"
            yield f"{one.name}: no map of {images}, where nothing counts as detected"
    if score.protocol.absent == "count" and score.mean.ois < score.mean.ods:
        yield (
            "OIS is below ODS because an image without a class has no best threshold: as in SEAL's program, all that is detected "
            "there at the lowest one counts as false"
        )
    if score.classes and not any(one.curve.f.any() for one in score.classes.values()):
        yield (
            f"none of the {total} classes is detected at any threshold; if maps hold only 0 and 1, their value range is 1"
        )


COLUMNS = Columns(
    (
        _mean("ods", "mean ODS", "Mean over classes of the best F at one threshold for all images"),
        _mean("ois", "mean OIS", "Mean over classes of F with the best threshold for each image"),
        _mean("ap", "mean AP", "Mean over classes of the area under precision over recall", interval=False),
        Column(
            "classes",
            "classes",
            "",
            0,
            "Classes with maps and with truth, over which means are",
            value=lambda score: len(score.classes),
        ),
    ),
    (Column("interpolated ap", "interpolated ap", "", value=lambda score: score.mean.interpolated_ap),),
    ("classes", "ods", "ois", "ap"),
    numbers=numbers,
    as_dict=as_dict,
    notes=notes,
    tables=tables,
)


TASK: Task[Protocol, SemanticTally, SemanticScore] = Task(
    "semantic",
    "Semantic boundaries",
    Protocol,
    SemanticTally,
    tally,
    collect,
    criteria,
    kind="class maps",
    protocols=PROTOCOLS,
    references=("hariharan2011",),
    protocol_references={
        "sbd-thin": ("yu2017", "yu2018"),
        "sbd-raw": ("yu2017", "yu2018"),
        "cityscapes-thin": ("yu2017", "yu2018", "cordts2016"),
        "cityscapes-raw": ("yu2017", "yu2018", "cordts2016"),
    },
    examples=lambda scene: [(np.stack([scene.soft, scene.soft[::-1]]), scene.labels % 2 + 1, {"classes": ("a", "b")})],
    columns=COLUMNS,
)
