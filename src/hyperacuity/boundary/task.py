"""The boundary benchmark as a task."""

from hyperacuity.boundary.human import collect_humans, tally_humans
from hyperacuity.boundary.protocols import PROTOCOLS, Protocol
from hyperacuity.boundary.scores import BoundaryScore, collect, criteria
from hyperacuity.boundary.tallies import BoundaryTally, tally
from hyperacuity.tally import Task

TASK: Task[Protocol, BoundaryTally, BoundaryScore] = Task(
    "boundary",
    "Boundaries",
    Protocol,
    BoundaryTally,
    tally,
    collect,
    criteria,
    people=tally_humans,
    collect_people=collect_humans,
    protocols=PROTOCOLS,
)
