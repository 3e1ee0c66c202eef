"""The labels of a data set as a task, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hyperacuity.audit.strength import (
    LabelScore,
    StrengthProtocol,
    StrengthTally,
    collect_strengths,
    criteria,
    tally_strengths,
)
from hyperacuity.columns import Column, Columns
from hyperacuity.tasks import Task


def _percent(
    key: str,
    title: str,
    note: str,
    value: Callable[[LabelScore], float],
    interval: Callable[[LabelScore], tuple[float, float]] | None = None,
) -> Column:
    ends = (lambda score: tuple(100 * end for end in interval(score))) if interval is not None else False
    return Column(key, title, "", 1, note, "%", lambda score: 100 * value(score), ends)


def as_dict(score: LabelScore, system: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The criteria of a data set's labels, as shares."""
    labels = score.boundaries
    shares = {"orphan": labels.orphan, "consensus": labels.consensus, "interval": list(labels.orphan_interval)}
    return {"images": len(score.images), **shares}


COLUMNS = Columns(
    (
        _percent(
            "orphan",
            "one person only",
            "Share of boundaries, each counted once",
            lambda score: score.boundaries.orphan,
            lambda score: score.boundaries.orphan_interval,
        ),
        _percent(
            "consensus",
            "everyone",
            "Share of boundaries, each counted once",
            lambda score: score.boundaries.consensus,
            lambda score: score.boundaries.consensus_interval,
        ),
        _percent(
            "agreement", "agreement", "Share of one's pixels that another drew too", lambda score: score.agreement
        ),
        _percent("pixels", "one person's pixels", "Share of all drawn pixels", lambda score: score.pixels.orphan),
        Column(
            "maps", "maps", "", 0, "Maps that all annotators drew together", value=lambda score: sum(score.annotators)
        ),
    ),
    as_dict=as_dict,
)


TASK: Task[StrengthProtocol, StrengthTally, LabelScore] = Task(
    "strength",
    "Labels",
    StrengthProtocol,
    StrengthTally,
    tally_strengths,
    collect_strengths,
    criteria,
    kind="labels",
    references=("hou2013", "martin2004"),
    examples=lambda scene: [(None, [person.boundaries for person in scene.annotators], {})],
    columns=COLUMNS,
)
