"""The region measures as a task, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperacuity.columns import Column, Columns, Lines
from hyperacuity.regions.benchmark import LevelSummary, Protocol, RegionScore, RegionTally, collect, criteria, tally
from hyperacuity.tasks import Task


def _summary(key: str, title: str, better: str, note: str) -> Column:
    return Column(
        key,
        title,
        better,
        note=note,
        value=lambda score: getattr(score, key).ods,
        interval=lambda score: getattr(score, key).interval,
    )


def _more(key: str) -> tuple[Column, Column]:
    """The measure with the best level for each image, and the level."""
    ois, level = f"{key} ois", f"{key} level"
    return (
        Column(ois, ois, "", value=lambda score: getattr(score, key).ois),
        Column(level, level, "", 1, value=lambda score: getattr(score, key).level),
    )


def _line(key: str, best: str = "") -> tuple[str, ...]:
    return key, f"{key} level", f"{key} ois", best


def as_dict(score: RegionScore, system: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A system's scores by measure."""

    def measured(of: LevelSummary) -> dict[str, Any]:
        return {"ods": of.ods, "ois": of.ois, "level": of.level, "interval": of.interval}

    covering = measured(score.covering) | {"best": score.best}
    return {"images": score.images, "covering": covering, "pri": measured(score.pri), "vi": measured(score.vi)}


COLUMNS = Columns(
    (
        _summary("covering", "covering", "max", "Of the annotators' regions, at the best level for all images"),
        _summary("pri", "PRI", "max", "Probabilistic Rand index, at the best level for all images"),
        _summary("vi", "VI", "min", "Variation of information, at the best level for all images"),
    ),
    (
        *_more("covering"),
        *_more("pri"),
        *_more("vi"),
        Column("best covering", "best covering", "", value=lambda score: score.best),
    ),
    Lines(
        "measure",
        ("ODS", "level", "OIS", "best"),
        {"covering ↑": _line("covering", "best covering"), "PRI ↑": _line("pri"), "VI ↓": _line("vi")},
    ),
    as_dict=as_dict,
)


TASK: Task[Protocol, RegionTally, RegionScore] = Task(
    "regions",
    "Regions",
    Protocol,
    RegionTally,
    tally,
    collect,
    criteria,
    kind="regions",
    references=("arbelaez2011", "unnikrishnan2007", "meila2005"),
    examples=lambda scene: [([one.labels for one in scene.annotators], [one.labels for one in scene.annotators], {})],
    columns=COLUMNS,
)
