"""Pairs of points as a task."""

from hyperacuity.ordering.ordinal import (
    PAIR_PROTOCOLS,
    PairProtocol,
    PairScore,
    PairTally,
    collect_pairs,
    pair_criteria,
    tally_pairs,
)
from hyperacuity.tally import Task

TASK: Task[PairProtocol, PairTally, PairScore] = Task(
    "whdr",
    "Ordinal depth",
    PairProtocol,
    PairTally,
    tally_pairs,
    collect_pairs,
    pair_criteria,
    kind="point pairs",
    protocols=PAIR_PROTOCOLS,
)
