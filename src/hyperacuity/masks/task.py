"""The mask measures as a task, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hyperacuity.columns import Column, Columns, Scored, TextTable, fixed
from hyperacuity.masks.protocols import PROTOCOLS, Protocol
from hyperacuity.masks.scores import NAMES, MaskScore, collect, criteria
from hyperacuity.masks.tallies import MaskTally, tally
from hyperacuity.tasks import Task

MOST_LABELS = 40
"""Labels that a terminal shows; JSON has them all."""


def _mean(name: str, title: str, note: str, *, interval: bool = False) -> Column:
    ends = (lambda score: score.interval[name]) if interval else False
    return Column(name, title, note=note, value=lambda score: score.mean[name], interval=ends)


SCORES = (
    _mean("f", "F", "DAVIS: contour pixels within the tolerance of the other contour", interval=True),
    _mean("one_to_one", "F one to one", "Within the same tolerance, a partner for each contour pixel"),
    _mean("boundary_iou", "Boundary IoU", "Of the bands along the inside of both outlines"),
    _mean("j", "J", "Region IoU"),
    _mean("jf", "J&F", "Mean of J and F, by which DAVIS ranks"),
)


def _count(name: str) -> Column:
    return Column(name, name, "", 0, value=lambda score: getattr(score, name))


def as_dict(score: MaskScore, system: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A system's means with intervals, objects, pooled pixels, labels and images."""
    pooled = {name: getattr(score.pooled, name) for name in ("f", "one_to_one", "boundary_iou", "j")}
    by_label = {label: {"images": one.images, **one.mean} for label, one in score.labels.items()}
    return {
        **{name: {"mean": score.mean[name], "ci": score.interval[name]} for name in NAMES},
        "images": len(score.images),
        "objects": score.objects,
        "missed": score.missed,
        "extra": score.extra,
        "pooled": {**pooled, "pixels": vars(score.pooled)},
        **({"labels": by_label} if by_label else {}),
        "per_image": {
            image: dict(zip(NAMES, row.tolist(), strict=True))
            for image, row in zip(score.images, score.values, strict=True)
        },
    }


def tables(scored: Scored) -> Iterator[TextTable]:
    """The labels of each system, where objects have labels."""
    for name, score in scored.scores.items():
        rows = [
            (str(label), str(one.images), *(fixed(one.mean[key]) for key in NAMES))
            for label, one in list(score.labels.items())[:MOST_LABELS]
        ]
        more = len(score.labels) - MOST_LABELS
        below = f"and {more} more labels, all of them in JSON" if more > 0 else ""
        if rows:
            yield TextTable((f"{name}, label",), ("images", *(column.title for column in SCORES)), rows, below)


def facts(scored: Scored) -> Iterator[str]:
    """Objects without a partner, of each system."""
    for name, score in scored.scores.items():
        parts = [f"{score.missed} missed"] if score.missed else []
        parts += [f"{score.extra} that the truth lacks"] if score.extra else []
        if parts:
            yield f"{name}: of {score.objects} objects, {' and '.join(parts)}"


COLUMNS = Columns(
    SCORES,
    (_count("objects"), _count("missed"), _count("extra")),
    ("images", "objects", *NAMES),
    as_dict=as_dict,
    facts=facts,
    tables=tables,
)


TASK: Task[Protocol, MaskTally, MaskScore] = Task(
    "masks",
    "Masks",
    Protocol,
    MaskTally,
    tally,
    collect,
    criteria,
    kind="masks",
    protocols=PROTOCOLS,
    references=("perazzi2016", "cheng2021"),
    protocol_references={"davis2017": ("ponttuset2017",)},
    examples=lambda scene: [(scene.parts, scene.labels, {"by": "instance"})],
    columns=COLUMNS,
)
