"""Depth order as a task."""

import math

from hyperacuity.ordering.columns import COLUMNS
from hyperacuity.ordering.protocols import Protocol
from hyperacuity.ordering.scores import OrderingScore, collect, collect_sweep, criteria
from hyperacuity.ordering.tallies import OrderingTally, tally, tally_humans
from hyperacuity.tally import Task

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
