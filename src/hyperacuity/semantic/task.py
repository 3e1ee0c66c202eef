"""Semantic boundaries as a task."""

from hyperacuity.semantic.protocols import PROTOCOLS, Protocol
from hyperacuity.semantic.scores import SemanticScore, collect, criteria
from hyperacuity.semantic.tallies import SemanticTally, tally
from hyperacuity.tally import Task

TASK: Task[Protocol, SemanticTally, SemanticScore] = Task(
    "semantic",
    "Semantic boundaries",
    Protocol,
    SemanticTally,
    tally,
    collect,
    criteria,
    kind="class maps",
    protocols=PROTOCOLS,
)
