"""The edge measures as a task."""

from hyperacuity.edges.benchmark import EdgeScore, EdgeTally, Protocol, collect, criteria, tally
from hyperacuity.tally import Task

TASK: Task[Protocol, EdgeTally, EdgeScore] = Task("edges", "Edges", Protocol, EdgeTally, tally, collect, criteria)
