"""Pairs of points as a task, and the columns of its tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from hyperacuity.columns import Column, Columns, Scored
from hyperacuity.ordering.whdr.benchmark import (
    PAIR_PROTOCOLS,
    RATES,
    PairProtocol,
    PairScore,
    PairTally,
    collect_pairs,
    pair_criteria,
    tally_pairs,
)
from hyperacuity.tasks import Task


def _rate(key: str, title: str, note: str) -> Column:
    return Column(
        key, title, "min", note=note, value=lambda score: score.rates[key], interval=lambda score: score.intervals[key]
    )


def _pairs(title: str, *which: int) -> Column:
    return Column(title, title, "", 0, value=lambda score: sum(score.pairs[n] for n in which), head=title)


def as_dict(score: PairScore, system: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A system's rates with intervals, its pairs, and the rates of its images."""
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


def facts(scored: Scored) -> Iterator[str]:
    """Say what is missing: equal pairs, and answers."""
    scores: Mapping[str, PairScore] = scored.scores
    if not any(score.pairs[0] for score in scores.values()):
        yield "–: no pair was judged equal"
    silent = [f"{name} {score.pairs[2]}" for name, score in scores.items() if score.pairs[2]]
    if silent:
        yield f"pairs without an answer, which count as wrong: {', '.join(silent)}"
    yield "lower is better; a coin's WHDR≠ is 0.5"


COLUMNS = Columns(
    (
        _rate("whdr", "WHDR", "Weighted share of pairs that are answered differently from people"),
        _rate("whdr_equal", "WHDR=", "Over the pairs that people judged about equal"),
        _rate("whdr_unequal", "WHDR≠", "Of the others; 0.5 is chance"),
    ),
    (_pairs("pairs", 0, 1), _pairs("equal pairs", 0), _pairs("unequal pairs", 1), _pairs("unanswered pairs", 2)),
    ("images", "pairs", *RATES),
    as_dict=as_dict,
    facts=facts,
)


def _chance(criterion: str, tallies: Mapping[str, PairTally]) -> float:
    """Half of the pairs if there are two answers; with three it depends on the threshold."""
    equal = collect_pairs(dict(tallies), resamples=0).pairs[0]
    return math.nan if equal or criterion != PairProtocol.task else 0.5


TASK: Task[PairProtocol, PairTally, PairScore] = Task(
    PairProtocol.task,
    "Ordinal depth",
    PairProtocol,
    PairTally,
    tally_pairs,
    collect_pairs,
    pair_criteria,
    kind="point pairs",
    protocols=PAIR_PROTOCOLS,
    chance=_chance,
    references=("bell2014", "zoran2015"),
    protocol_references={"diw": ("chen2016",)},
    examples=lambda scene: [(scene.order, [[8, 8, 48, 64, 1], [8, 48, 48, 8, -1]], {})],
    columns=COLUMNS,
)
