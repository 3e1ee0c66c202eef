"""Predicted views as a task."""

from hyperacuity.disparity.view_benchmark import (
    ViewProtocol,
    ViewScore,
    ViewTally,
    collect_views,
    criteria,
    tally_views,
)
from hyperacuity.disparity.views_columns import COLUMNS
from hyperacuity.tally import Task

TASK: Task[ViewProtocol, ViewTally, ViewScore] = Task(
    "views",
    "Predicted views",
    ViewProtocol,
    ViewTally,
    tally_views,
    collect_views,
    criteria,
    kind="views",
    references=("szeliski1999", "cabezas2011"),
    examples=lambda scene: [(scene.disparity, [scene.image, scene.right], {})],
    columns=COLUMNS,
)
