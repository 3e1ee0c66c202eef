"""Rates of disagreement on pairs of points, as people and programs read them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from hyperacuity.evaluation.export import Column
from hyperacuity.evaluation.tables import closing, count, interval, new_table, number, paired
from hyperacuity.ordering import PairScore
from hyperacuity.ordering.whdr.benchmark import RATES

if TYPE_CHECKING:
    from hyperacuity.evaluation.result import Result

COLUMNS = (
    Column("whdr", "WHDR", "min", note="Weighted share of pairs that are answered differently from people"),
    Column("whdr_equal", "WHDR=", "min", note="Of the pairs that people found about equal"),
    Column("whdr_unequal", "WHDR≠", "min", note="Of the others; 0.5 is chance"),
)


HEADINGS = ("images", "pairs", "WHDR", "95 % interval", "WHDR=", "95 % interval", "WHDR≠", "95 % interval")


def summary(result: Result) -> dict[str, Any]:
    """The result for JSON."""
    scores: Mapping[str, PairScore] = result.scores
    return {
        "signature": str(result.signature),
        "images": len(result.images),
        "systems": {name: _system(score) for name, score in scores.items()},
        **paired(result),
    }


def _system(score: PairScore) -> dict[str, Any]:
    equal, unequal, unanswered = score.pairs
    return {
        "images": len(score.images),
        **score.rates,
        "intervals": {name: list(ends) for name, ends in score.intervals.items()},
        "pairs": {"equal": equal, "unequal": unequal, "unanswered": unanswered},
        "per_image": {
            image: dict(zip(RATES, values, strict=True))
            for image, values in zip(score.images, score.per_image.tolist(), strict=True)
        },
    }


def numbers(score: PairScore) -> dict[str, float]:
    """What a row of a table says of a system besides its criteria."""
    equal, unequal, unanswered = score.pairs
    return {"equal pairs": equal, "unequal pairs": unequal, "unanswered pairs": unanswered}


def show(result: Result, console: Console) -> None:
    """The result as a table, the best system first."""
    scores: Mapping[str, PairScore] = result.scores
    table = new_table("system", right=HEADINGS)
    for name, score in sorted(scores.items(), key=lambda item: item[1].rates["whdr"]):
        rates = [part for rate in RATES for part in _cells(score.rates[rate], score.intervals[rate])]
        images = count(result, name, len(score.images))
        table.add_row(escape(name), images, str(sum(score.pairs[:2])), *rates)
    console.print(table)
    closing(result, console, *_notes(scores), "lower is better; a coin's WHDR≠ is 0.5")


def _cells(rate: float, ends: tuple[float, float]) -> tuple[str, str]:
    """A rate and its interval; no interval of what does not exist."""
    return number(rate), "" if isnan(rate) else interval(ends)


def _notes(scores: Mapping[str, PairScore]) -> list[str]:
    """What is missing: equal pairs, and answers."""
    notes = []
    if not any(score.pairs[0] for score in scores.values()):
        notes.append("–: no pair was judged equal")
    silent = {name: score.pairs[2] for name, score in scores.items() if score.pairs[2]}
    if silent:
        listed = ", ".join(f"{name} {many}" for name, many in silent.items())
        notes.append(f"pairs without an answer, which count as wrong: {listed}")
    return notes
