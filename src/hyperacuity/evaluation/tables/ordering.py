"""Depth-order scores as people and programs read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from hyperacuity.evaluation.export import Column
from hyperacuity.evaluation.tables import closing, counts, new_table, number, paired
from hyperacuity.ordering import Consistency, Inconsistency, OrderingScore
from hyperacuity.resampling import ratio

if TYPE_CHECKING:
    from hyperacuity.evaluation.result import Result

COLUMNS = (
    Column("racc", "R-ACC", note="Pairs of neighbouring regions in the right order; 0.5 is chance"),
    Column("bacc", "B-ACC", note="The same, weighted by the length of their border"),
    Column("bacc50", "B-ACC-50", note="Of the foremost half of the regions"),
    Column("bacc25", "B-ACC-25", note="Of the foremost quarter of the regions"),
    Column("ldc-ori", "LDC ORI", note="Over-random index of contours (local depth consistency); 0 is chance"),
    Column("gdc-ori", "GDC ORI", note="Over-random index of pairs of regions (global depth consistency)"),
)


HEADINGS = ("LDC F max", "F min", "ORI", "fg", "GDC F max", "F min", "ORI", "R-ACC", "B-ACC", "B-ACC-50", "B-ACC-25")

DETAILS = ("pixels", "consistent (fg)", "rough direction", "wrong side", "no direction", "right side (fg at 90°)")


def summary(result: Result) -> dict[str, Any]:
    """The result for JSON."""
    found = {
        "signature": str(result.signature),
        "images": len(result.images),
        "systems": {name: as_dict(score) for name, score in result.scores.items()},
        **paired(result),
    }
    if result.human:
        found["human"] = None if result.people is None else as_dict(result.people)
    return found


def as_dict(score: OrderingScore) -> dict[str, Any]:
    """A system's scores, curves and intervals."""
    intervals: dict[str, Any] = {name: list(ends) for name, ends in score.intervals.items()}
    for name, found in (("ldc", score.ldc), ("gdc", score.gdc)):
        if found is not None:
            intervals[name] = {part: list(ends) for part, ends in found.intervals.items()}
    return {
        "ldc": _consistency(score.ldc, score.parameters),
        "gdc": _consistency(score.gdc, score.parameters),
        **score.accuracy,
        "images": score.images,
        "parameter": score.parameters[score.chosen] or None,
        "intervals": intervals,
        "reasons": dict(score.reasons),
    }


def _consistency(found: Consistency | None, parameters: tuple[str, ...]) -> dict[str, Any] | None:
    if found is None or found.best.index < 0:
        return None
    best, outcomes = found.best, found.outcomes
    why = {} if found.inconsistency is None else {"inconsistent": _reasons(found.inconsistency, best.index)}
    return {
        "fmax": best.fmax,
        "fmin": best.fmin,
        "ori": best.ori,
        "fg": best.fg,
        **why,
        "parameter": parameters[best.index] or None,
        "curve": {
            "parameter": list(parameters),
            "precision": {"0": outcomes.precision(0), "1": outcomes.precision(1)},
            "recall": {"0": outcomes.recall(0), "1": outcomes.recall(1)},
            "fg": outcomes.accuracy,
        },
    }


def _reasons(why: Inconsistency, at: int) -> dict[str, float]:
    """Contour pixels of the truth that were found in the wrong direction, by the reason; and the share on the right side."""
    counts = {name: float(getattr(why, name)[at]) for name in ("rough", "wrong_side", "undirected")}
    return {**counts, "right_side": float(why.right_side[at])}


def numbers(score: OrderingScore) -> dict[str, float]:
    """What a row of a table says of a system, each consistency at its own best value of a parameter."""
    parts = (("ldc", score.ldc, ("ori", "fmax", "fmin", "fg")), ("gdc", score.gdc, ("ori", "fmax", "fmin")))
    best = {
        f"{name}-{part}": getattr(found.best, part) for name, found, own in parts if found is not None for part in own
    }
    return {**score.accuracy, **best}


def people_numbers(people: OrderingScore) -> dict[str, float]:
    """The same of people."""
    return {**numbers(people), "images": people.images}


def show_detail(scores: Mapping[str, OrderingScore], console: Console) -> None:
    """Of the contours of the truth that each system found: shares by direction, at the best F(1)."""
    table = new_table("contours found", right=DETAILS)
    for name, score in scores.items():
        if score.ldc is None or (why := score.ldc.inconsistency) is None or (at := score.ldc.best.index) < 0:
            continue
        parts = (why.consistent, why.rough, why.wrong_side, why.undirected)
        shares = [float(ratio(part[at], why.found[at])) for part in parts]
        table.add_row(
            escape(name), f"{why.found[at]:.0f}", *(number(share, 3) for share in (*shares, float(why.right_side[at])))
        )
    console.print(table)


def show(result: Result, console: Console) -> None:
    """One line per system, and why something is missing."""
    scores: dict[str, OrderingScore] = result.scores
    swept = any(len(score.parameters) > 1 for score in scores.values())
    table = new_table("system", right=(*(["at"] if swept else []), *HEADINGS))
    rows = {**scores, **({"people": result.people} if result.human and result.people is not None else {})}
    for name, score in rows.items():
        at = [escape(score.parameters[score.chosen])] if swept else []
        table.add_row(escape(name), *at, *(number(value, 3) for value in _values(score)))
    console.print(table)
    for reason in {reason: None for score in rows.values() for reason in score.reasons.values()}:
        console.print(f"–: {reason}", markup=False)
    images = counts(result, {name: score.images for name, score in scores.items()})
    closing(result, console, images, chance(scores))


def chance(scores: Mapping[str, OrderingScore]) -> str:
    """Which accuracies cannot be told from a coin's, 0.5: those whose interval holds it."""
    by_chance = [
        f"{heading} of {name}"
        for name, score in scores.items()
        for heading, key in (("R-ACC", "racc"), ("B-ACC", "bacc"))
        if key in score.intervals and score.intervals[key][0] <= 0.5 <= score.intervals[key][1]
    ]
    level = "chance level: R-ACC and B-ACC 0.5, ORI 0"
    return f"{level}; not told from chance: {', '.join(by_chance)}" if by_chance else level


def _values(score: OrderingScore) -> list[float]:
    values: list[float] = []
    for found, names in ((score.ldc, ("fmax", "fmin", "ori", "fg")), (score.gdc, ("fmax", "fmin", "ori"))):
        values += [float("nan") if found is None else getattr(found.best, name) for name in names]
    return [*values, *score.accuracy.values()]
