"""The mask measures as a task."""

from hyperacuity.masks.columns import COLUMNS
from hyperacuity.masks.protocols import PROTOCOLS, Protocol
from hyperacuity.masks.scores import MaskScore, collect, criteria
from hyperacuity.masks.tallies import MaskTally, tally
from hyperacuity.tally import Task

TASK: Task[Protocol, MaskTally, MaskScore] = Task(
    "masks",
    "Masks",
    Protocol,
    MaskTally,
    tally,
    collect,
    criteria,
    kind="masks",
    protocols=PROTOCOLS,
    references=("perazzi2016", "cheng2021"),
    protocol_references={"davis2017": ("ponttuset2017",)},
    examples=lambda scene: [(scene.parts, scene.labels, {"by": "instance"})],
    columns=COLUMNS,
)
