"""The labels of a data set as a task."""

from hyperacuity.audit.strength import (
    LabelScore,
    StrengthProtocol,
    StrengthTally,
    collect_strengths,
    criteria,
    tally_strengths,
)
from hyperacuity.audit.strength_columns import COLUMNS
from hyperacuity.tally import Task

TASK: Task[StrengthProtocol, StrengthTally, LabelScore] = Task(
    "strength",
    "Labels",
    StrengthProtocol,
    StrengthTally,
    tally_strengths,
    collect_strengths,
    criteria,
    kind="labels",
    references=("hou2013", "martin2004"),
    examples=lambda scene: [(None, [person.boundaries for person in scene.annotators], {})],
    columns=COLUMNS,
)
