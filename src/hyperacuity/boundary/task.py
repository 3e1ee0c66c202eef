"""The boundary benchmark as a task, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hyperacuity.boundary.human import HumanScore, collect_humans, tally_humans
from hyperacuity.boundary.matching import tolerance_in_pixels
from hyperacuity.boundary.protocols import PROTOCOLS, Protocol
from hyperacuity.boundary.scores import BoundaryScore, collect, criteria
from hyperacuity.boundary.tallies import BoundaryTally, tally
from hyperacuity.columns import Column, Columns, Scored
from hyperacuity.maps import size_of
from hyperacuity.tasks import Example, Task

SCORES = (
    Column(
        "ods",
        "ODS",
        note="Best F at one threshold for all images",
        value=lambda score: score.ods.f,
        interval=lambda score: score.ods.interval,
    ),
    Column(
        "ois",
        "OIS",
        note="F with the best threshold for each image",
        value=lambda score: score.ois.f,
        interval=lambda score: score.ois.interval,
    ),
    Column("ap", "AP", note="Average precision: area under precision over recall", value=lambda score: score.ap),
    Column("r50", "R50", "", note="Recall at a precision of one half", value=lambda score: score.r50),
    Column("threshold", "threshold", "", 2, "The threshold of ODS", value=lambda score: score.ods.threshold),
)
MORE = (
    Column("recall", "recall", "", value=lambda score: score.ods.recall),
    Column("precision", "precision", "", value=lambda score: score.ods.precision),
)
NMS = Column("nms", "nms", "", note="Suppression of non-maxima before the maps were scored")

SCREEN = ("images", "ods", "threshold", "ois", "ap", "r50", "behind", "p")


def columns(protocol: Protocol) -> Columns:
    """ODS, OIS and AP; with suppression where it differs between systems."""
    mixed = bool(protocol.nms_of)
    return Columns(
        (*SCORES, NMS) if mixed else SCORES,
        MORE,
        ("nms", *SCREEN) if mixed else SCREEN,
        numbers=lambda score, system: {"nms": suppression(score, system)} if mixed else {},
        as_dict=as_dict,
        people=people_values,
        people_dict=lambda people: {"images": people.images, **point_dict(people.point, threshold=False)},
        facts=facts,
    )


def as_dict(score: BoundaryScore, system: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A system's scores, its curve and those of its images."""
    return {
        "images": len(score.images),
        **curve_dict(score),
        "r50": score.r50,
        "thickness": score.thickness,
        "nms": suppression(score, system),
        "per_image": {image: point_dict(one) for image, one in zip(score.images, score.per_image, strict=True)},
    }


def suppression(score: BoundaryScore, system: str) -> str:
    """Suppression of a system's maps, as the signature prints it."""
    return str(score.protocol.for_system(system).nms or "none")


def curve_dict(score: Any) -> dict[str, Any]:
    """Scores of a curve with ODS, OIS and AP, and the curve."""
    return {
        "ods": point_dict(score.ods) | {"ci": score.ods.interval},
        "ois": point_dict(score.ois, threshold=False) | {"ci": score.ois.interval},
        "ap": score.ap,
        "curve": point_dict(score.curve),
    }


def point_dict(point: Any, *, threshold: bool = True) -> dict[str, Any]:
    """A point of a curve, or the curve."""
    at = {"threshold": point.threshold} if threshold else {}
    return at | {"recall": point.recall, "precision": point.precision, "f": point.f}


def people_values(people: HumanScore) -> dict[str, float]:
    """Human scores by column: one point instead of a curve; empty where no image has two annotators."""
    point = people.point
    values = {"ods": point.f, "recall": point.recall, "precision": point.precision, "images": people.images}
    return values if people.images else {}


def facts(scored: Scored) -> Iterator[str]:
    """The tolerance as a fraction and, for the size of the first image, in pixels."""
    tolerance, first = scored.protocol.tolerance, scored.first_truth()
    note = f"tolerance {tolerance:g} of the diagonal"
    in_pixels = "" if first is None else f" = {tolerance_in_pixels(first.shape, tolerance):.2f} px at {size_of(first)}"
    yield note + in_pixels


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
