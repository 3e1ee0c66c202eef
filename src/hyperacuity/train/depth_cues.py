"""Training ``depth-cues`` from files: regions with labelled order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data import pair_folders, read_image, read_labels, read_order
from hyperacuity.data.datasets.bsds import refuse_reserved
from hyperacuity.detect.depth.cue_model import CueLesson, CueModel, learn_cues
from hyperacuity.detect.depth.cues import pair_cues
from hyperacuity.detect.depth.evidence import border_heights
from hyperacuity.detect.depth.ownership import probability_of_ownership
from hyperacuity.ordering import Sides, border_votes, order_of_pairs, ordering
from hyperacuity.ordering.figure_ground import REACH
from hyperacuity.run.many import each
from hyperacuity.systems.hierarchies import TreeSource, tree_source
from hyperacuity.train.figure_ground import SPLIT, LabelledPhotograph, read_labelled

CUE_LEVELS = (0.1, 0.2, 0.3)
"""Levels of a hierarchy at which cues are learned."""

STEP, NO_STEP = 0.5, 0.2
"""Shares of a machine's border, labelled by people, from which on there is a step in depth, and up to which there is none."""

FieldSource = Callable[[NDArray[Any]], NDArray[np.float32]]
"""Function from an image to a field of ownership, H×W×2 (:mod:`hyperacuity.detect.depth.evidence`)."""


@dataclass(frozen=True, eq=False)
class LearnedCues:
    """A model of depth cues, and how many images and pairs of regions it was learned from."""

    model: CueModel
    images: int
    pairs: int

    def effects(self) -> dict[str, dict[str, float]]:
        """The weight of each cue in units of its spread, by set of cues."""
        return {name: dict(zip(one.names, one.weights.tolist(), strict=True)) for name, one in self.model.sets.items()}


def learn_depth_cues(lessons: Sequence[CueLesson], source: str) -> LearnedCues:
    """Learn every set of cues; ``source`` names the images in the model's description."""
    pairs = sum(int((one.front != 0).sum()) for one in lessons)
    about = (
        f"Learned from {pairs} pairs of regions in {source}: hyperacuity detect train depth-cues. "
        "Logistic regression; the penalty is that under which images left out in 5 folds are most likely. A cue counts with "
        "its weight in units of its spread."
    )
    images = len({one.image or str(number) for number, one in enumerate(lessons)})
    return LearnedCues(learn_cues(lessons, about=about), images, pairs)


def berkeley_lessons(
    data: Path | None, workers: int | None, *, hierarchy: str | None = None, levels: Sequence[float] = CUE_LEVELS
) -> tuple[list[CueLesson], str]:
    """Berkeley's figure/ground labels that are not held out, and what to call them.

    Regions are people's or, with a ``hierarchy`` (:func:`~hyperacuity.systems.hierarchies.tree_source`), a detector's at several
    levels.
    """
    labelled = read_labelled(data, held_out=False)
    source = f"{len(labelled)} of Berkeley's images with figure/ground labels ({SPLIT})"
    if hierarchy is None:
        return list(each(labelled_lesson, labelled, workers, "cues")), source
    at = ", ".join(f"{level:g}" for level in levels)
    regions = f"{source}, on the regions of {hierarchy} at the levels {at}"
    return hierarchy_lessons(labelled, tree_source(hierarchy), levels, workers), regions


def labelled_lesson(one: LabelledPhotograph, *, field_of: FieldSource | None = None) -> CueLesson:
    """The pairs of one labelled image, each with the owner that most people gave it; with a field, its cues too."""
    image = read_image(one.photograph)
    cues = pair_cues(image, one.people[0].segmentation, field=None if field_of is None else field_of(image))
    return CueLesson(cues, np.sign(np.sum(one.front(cues.borders), axis=0)).astype(np.int64), image=one.name)


def hierarchy_lessons(
    labelled: Sequence[LabelledPhotograph],
    trees: TreeSource,
    levels: Sequence[float],
    workers: int | None,
    *,
    field_of: FieldSource | None = None,
) -> list[CueLesson]:
    """Pairs of regions at several levels of the hierarchies of labelled photographs: a lesson per photograph and level.

    People's labelled contours vote on each border, up to 3 pixels away: on whether it has a step in depth (:data:`STEP`) and who
    owns it. With ``field_of``, the cues of the field that it makes of an image are learned too.
    """

    def lessons(one: LabelledPhotograph) -> list[CueLesson]:
        image = read_image(one.photograph)
        tree = trees(one.photograph, image)
        ucm2, order = tree.ucm2(), probability_of_ownership(image)
        field = None if field_of is None else field_of(image)
        people = [Sides(person.order) for person in one.people]
        taught = []
        for level in levels:
            cues = pair_cues(image, tree.at(level), ownership=order, field=field)
            votes = np.mean([border_votes(sides, cues.borders, reach=REACH) for sides in people], axis=0)
            balance, share = votes[0], votes[1] / np.maximum(cues.borders.cracks, 1)
            step = np.select([share >= STEP, share <= NO_STEP], [1.0, 0.0], np.nan)
            front = (np.sign(balance) * (share >= STEP)).astype(np.int64)
            taught.append(CueLesson(cues, front, step, border_heights(ucm2, cues.borders), one.name))
        return taught

    return [lesson for several in each(lessons, labelled, workers, "cues") for lesson in several]


def folder_lessons(
    images: Path, order: Path, segmentation: Path, workers: int | None, *, allow_reserved: bool = False
) -> tuple[list[CueLesson], str]:
    """The pictures of a folder with their true order and regions, and what to call them.

    A wrong call where reserved images are among them and not allowed.
    """
    ordered = {pair.name: (pair.prediction, pair.truths[0]) for pair in pair_folders(images, order).pairs}
    regions = {pair.name: pair.truths[0] for pair in pair_folders(images, segmentation).pairs}

    def lesson(name: str) -> CueLesson:
        picture, truth = ordered[name]
        labels = read_labels(regions[name])
        cues = pair_cues(read_image(picture), labels)
        front = order_of_pairs(ordering(read_order(truth), labels), cues.borders)
        return CueLesson(cues, front * (abs(front) == 1))

    names = [name for name in ordered if name in regions]
    refuse_reserved(names, allow=allow_reserved)
    lessons = list(each(lesson, names, workers, "cues"))
    return lessons, f"{len(lessons)} images"
