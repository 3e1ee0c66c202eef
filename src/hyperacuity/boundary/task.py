"""The boundary benchmark as a task."""

from collections.abc import Iterable
from typing import Any

from hyperacuity.boundary.columns import columns
from hyperacuity.boundary.human import collect_humans, tally_humans
from hyperacuity.boundary.protocols import PROTOCOLS, Protocol
from hyperacuity.boundary.scores import BoundaryScore, collect, criteria
from hyperacuity.boundary.tallies import BoundaryTally, tally
from hyperacuity.tally import Example, Task


def _examples(scene: Any) -> Iterable[Example]:
    people = [person.boundaries for person in scene.annotators]
    yield scene.soft, people, {"human": True}
    yield scene.soft, people, {"nms": "structured", "thin": False}


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
    references=("martin2004", "arbelaez2011"),
    protocol_references={
        "nyud": ("silberman2012", "liu2017"),
        "crisp": ("huan2022",),
        "biped": ("soria2020",),
        "pascal-context": ("ponttuset2013", "maninis2019"),
        "nyud-multitask": ("silberman2012", "ponttuset2013", "bruggemann2021"),
        "multicue-edge": ("mely2016", "liu2017"),
        "multicue-boundary": ("mely2016", "liu2017"),
    },
    examples=_examples,
    columns=columns,
)
