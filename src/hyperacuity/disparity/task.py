"""Disparity errors as a task."""

from hyperacuity.disparity.benchmark import DisparityScore, DisparityTally, Protocol, collect, criteria, tally
from hyperacuity.disparity.columns import columns
from hyperacuity.tally import Task

TASK: Task[Protocol, DisparityTally, DisparityScore] = Task(
    "disparity",
    "Disparity",
    Protocol,
    DisparityTally,
    tally,
    collect,
    criteria,
    kind="disparity",
    references=("scharstein2002", "cabezas2011"),
    examples=lambda scene: [(scene.disparity, scene.disparity, {})],
    columns=columns,
)
