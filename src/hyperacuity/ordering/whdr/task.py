"""Pairs of points as a task."""

import math
from collections.abc import Mapping

from hyperacuity.ordering.whdr.benchmark import (
    PAIR_PROTOCOLS,
    PairProtocol,
    PairScore,
    PairTally,
    collect_pairs,
    pair_criteria,
    tally_pairs,
)
from hyperacuity.ordering.whdr.columns import COLUMNS
from hyperacuity.tally import Task


def _chance(criterion: str, tallies: Mapping[str, PairTally]) -> float:
    """Half of the pairs, of two answers; with three answers it depends on the threshold."""
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
