"""The region measures as a task."""

from hyperacuity.regions.benchmark import Protocol, RegionScore, RegionTally, collect, criteria, tally
from hyperacuity.regions.columns import COLUMNS
from hyperacuity.tally import Task

TASK: Task[Protocol, RegionTally, RegionScore] = Task(
    "regions",
    "Regions",
    Protocol,
    RegionTally,
    tally,
    collect,
    criteria,
    kind="regions",
    references=("arbelaez2011", "unnikrishnan2007", "meila2005"),
    examples=lambda scene: [([one.labels for one in scene.annotators], [one.labels for one in scene.annotators], {})],
    columns=COLUMNS,
)
