"""Semantic boundaries as a task."""

import numpy as np

from hyperacuity.semantic.columns import COLUMNS
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
    references=("hariharan2011",),
    protocol_references={
        "sbd-thin": ("yu2017", "yu2018"),
        "sbd-raw": ("yu2017", "yu2018"),
        "cityscapes-thin": ("yu2017", "yu2018", "cordts2016"),
        "cityscapes-raw": ("yu2017", "yu2018", "cordts2016"),
    },
    examples=lambda scene: [(np.stack([scene.soft, scene.soft[::-1]]), scene.labels % 2 + 1, {"classes": ("a", "b")})],
    columns=COLUMNS,
)
