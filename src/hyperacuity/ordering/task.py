"""Depth order as a task, and the columns of its tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from math import nan
from typing import Any

from hyperacuity.columns import Column, Columns, Scored, TextTable, fixed
from hyperacuity.ordering.local import Inconsistency
from hyperacuity.ordering.protocols import Protocol
from hyperacuity.ordering.scores import Consistency, OrderingScore, collect, collect_sweep, criteria
from hyperacuity.ordering.tallies import OrderingTally, tally, tally_humans
from hyperacuity.resampling import ratio
from hyperacuity.tasks import Task


def _accuracy(key: str, title: str, note: str) -> Column:
    return Column(key, title, note=note, value=lambda score: score.accuracy[key], screen_digits=3)


def _best(key: str, title: str, head: str, note: str = "", better: str = "") -> Column:
    """A number of a consistency at its best value of a parameter."""
    which, _, part = key.partition("-")

    def value(score: OrderingScore) -> float:
        consistency = getattr(score, which)
        return nan if consistency is None else float(getattr(consistency.best, part))

    return Column(key, title, better, note=note, value=value, head=head, screen_digits=3)


def as_dict(score: OrderingScore, system: str = "", values: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A system's scores, curves and intervals."""
    intervals: dict[str, Any] = {name: list(ends) for name, ends in score.intervals.items()}
    for name, consistency in (("ldc", score.ldc), ("gdc", score.gdc)):
        if consistency is not None:
            intervals[name] = {part: list(ends) for part, ends in consistency.intervals.items()}
    return {
        "ldc": _consistency_dict(score.ldc, score.parameters),
        "gdc": _consistency_dict(score.gdc, score.parameters),
        **score.accuracy,
        "images": score.images,
        "parameter": score.parameters[score.chosen] or None,
        "intervals": intervals,
        "reasons": dict(score.reasons),
    }


def _consistency_dict(consistency: Consistency | None, parameters: tuple[str, ...]) -> dict[str, Any] | None:
    if consistency is None or consistency.best.index < 0:
        return None
    best, outcomes = consistency.best, consistency.outcomes
    why = consistency.inconsistency
    return {
        "fmax": best.fmax,
        "fmin": best.fmin,
        "ori": best.ori,
        "fg": best.fg,
        **({} if why is None else {"inconsistent": _inconsistency_dict(why, best.index)}),
        "parameter": parameters[best.index] or None,
        "curve": {
            "parameter": list(parameters),
            "precision": {"0": outcomes.precision(0), "1": outcomes.precision(1)},
            "recall": {"0": outcomes.recall(0), "1": outcomes.recall(1)},
            "fg": outcomes.accuracy,
        },
    }


def _inconsistency_dict(why: Inconsistency, at: int) -> dict[str, float]:
    """Matched contour pixels in the wrong direction, by the reason, and the share on the right side."""
    counts = {name: float(getattr(why, name)[at]) for name in ("rough", "wrong_side", "undirected")}
    return {**counts, "right_side": float(why.right_side[at])}


def people_values(people: OrderingScore) -> dict[str, float]:
    """Human scores by column."""
    scores = (column for column in COLUMNS.every.values() if column is not AT)
    return {"images": people.images} | {column.key: float(column.value(people)) for column in scores if column.value}


DETAILS = ("pixels", "consistent (fg)", "rough direction", "wrong side", "no direction", "right side (fg at 90°)")


def detail_table(scores: Mapping[str, OrderingScore]) -> TextTable:
    """Matched contours of the truth: shares by direction, at the best F(1) of each system."""
    rows = []
    for name, score in scores.items():
        if score.ldc is None or (why := score.ldc.inconsistency) is None or (at := score.ldc.best.index) < 0:
            continue
        parts = (why.consistent, why.rough, why.wrong_side, why.undirected)
        shares = (*(float(ratio(part[at], why.matched[at])) for part in parts), float(why.right_side[at]))
        rows.append((name, f"{why.matched[at]:.0f}", *(fixed(share, 3) for share in shares)))
    return TextTable(("matched contours",), DETAILS, rows)


def facts(scored: Scored) -> Iterator[str]:
    """Say why something is missing, and what cannot be distinguished from chance."""
    rows: Iterable[OrderingScore] = [*scored.scores.values(), *([scored.people] if scored.people is not None else [])]
    yield from dict.fromkeys(f"–: {reason}" for score in rows for reason in score.reasons.values())
    yield chance_note(scored.scores)


def chance_note(scores: Mapping[str, OrderingScore]) -> str:
    """Name the accuracies whose interval holds a coin's, 0.5."""
    by_chance = [
        f"{heading} of {name}"
        for name, score in scores.items()
        for heading, key in (("R-ACC", "racc"), ("B-ACC", "bacc"))
        if key in score.intervals and score.intervals[key][0] <= 0.5 <= score.intervals[key][1]
    ]
    level = "chance level: R-ACC and B-ACC 0.5, ORI 0"
    return f"{level}; not distinguishable from chance: {', '.join(by_chance)}" if by_chance else level


AT = Column("at", "at", "", value=lambda score: score.parameters[score.chosen] if len(score.parameters) > 1 else "")

COLUMNS = Columns(
    (
        _accuracy("racc", "R-ACC", "Pairs of neighbouring regions in the right order; 0.5 is chance"),
        _accuracy("bacc", "B-ACC", "The same, weighted by the length of their border"),
        _accuracy("bacc50", "B-ACC-50", "Of the foremost half of the regions"),
        _accuracy("bacc25", "B-ACC-25", "Of the foremost quarter of the regions"),
        _best(
            "ldc-ori", "LDC ORI", "ORI", "Over-random index of contours (local depth consistency); 0 is chance", "max"
        ),
        _best("gdc-ori", "GDC ORI", "ORI", "Over-random index of pairs of regions (global depth consistency)", "max"),
    ),
    (
        _best("ldc-fmax", "ldc-fmax", "LDC F max"),
        _best("ldc-fmin", "ldc-fmin", "F min"),
        _best("ldc-fg", "ldc-fg", "fg"),
        _best("gdc-fmax", "gdc-fmax", "GDC F max"),
        _best("gdc-fmin", "gdc-fmin", "F min"),
        AT,
    ),
    (
        *("at", "ldc-fmax", "ldc-fmin", "ldc-ori", "ldc-fg", "gdc-fmax", "gdc-fmin", "gdc-ori"),
        *("racc", "bacc", "bacc50", "bacc25"),
    ),
    as_dict=as_dict,
    people=people_values,
    people_dict=lambda people: None if people is None else as_dict(people),
    facts=facts,
)


TASK: Task[Protocol, OrderingTally, OrderingScore] = Task(
    "ordering",
    "Depth order",
    Protocol,
    OrderingTally,
    tally,
    collect,
    criteria,
    kind="orders",
    collect_sweep=collect_sweep,
    people=tally_humans,
    chance=lambda criterion, tallies: 0.5 if criterion in ("racc", "bacc") else math.nan,
    references=("palou2014", "maire2016"),
    examples=lambda scene: [(scene.order, scene.order, {})],
    columns=COLUMNS,
)
