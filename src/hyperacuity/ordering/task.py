"""Depth order as a task."""

from hyperacuity.ordering.protocols import Protocol
from hyperacuity.ordering.scores import OrderingScore, collect, criteria
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
    prediction="order map",
    truth="order map",
    people=tally_humans,
)
