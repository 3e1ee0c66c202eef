"""Training from files: ``pb`` from pictures and what people drew, ``depth-cues`` from regions whose order is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperacuity.audit import strengths
from hyperacuity.data import load_dataset, pair_folders, read_boundary_truths, read_image, read_labels, read_order
from hyperacuity.data.datasets.bsds import refuse_reserved, reserved
from hyperacuity.data.datasets.samples import Sample
from hyperacuity.detect.depth.cue_model import CueLesson, CueModel, learn_cues
from hyperacuity.detect.depth.cues import pair_cues
from hyperacuity.detect.depth.evidence import border_heights
from hyperacuity.detect.depth.ownership import probability_of_ownership
from hyperacuity.detect.pb_detector import CUES, PbModel
from hyperacuity.detect.pb_training import Examples, examples, logistic_fit, observe_all
from hyperacuity.errors import InputError, UsageError, option
from hyperacuity.maps import EdgeMap
from hyperacuity.ordering import Sides, border_votes, order_of_pairs, ordering
from hyperacuity.ordering.figure_ground import REACH
from hyperacuity.run.many import each
from hyperacuity.systems.hierarchies import TreeSource, tree_source
from hyperacuity.train.figure_ground import SPLIT, LabelledPhotograph, read_labelled

TRUTHS = ("all", "consensus")
"""Labels that pb can be learned from: all, or those that everyone drew."""


CUE_LEVELS = (0.1, 0.2, 0.3)
"""Levels of a hierarchy at which cues are learned."""

STEP, NO_STEP = 0.5, 0.2
"""Shares of a machine's border, labelled by people, from which on there is a step in depth, and up to which there is none."""

FieldSource = Callable[[NDArray[Any]], NDArray[np.float32]]
"""Function from an image to a field of ownership, H×W×2 (:mod:`hyperacuity.detect.depth.evidence`)."""


class DrawnPicture(NamedTuple):
    """The file of a picture, those of the people who drew on it, and whether 0 is the edge in these."""

    image: Path
    truths: tuple[Path, ...]
    inverted: bool = False


@dataclass(frozen=True)
class PbCourse:
    """Settings of the training of pb: the seed, what pixels near weak labels are, and how histograms are compared."""

    seed: int = 0
    weak: str = "ignore"
    hist_distance: str = "chi2"

    def __post_init__(self) -> None:
        """Validate."""
        if self.weak not in ("ignore", "negative"):
            raise UsageError(f"{option('weak', self.weak)}: expected ignore or negative")
        if self.hist_distance not in ("chi2", "quadratic"):
            raise UsageError(f"{option('hist_distance', self.hist_distance)}: expected chi2 or quadratic")

    def about(self, source: str, truth: str, options: str = "") -> str:
        """Describe how a model was obtained: from what, and by which command, ``options`` included."""
        kind, weak = "all labels", ""
        if truth == "consensus":
            other = "left out" if self.weak == "ignore" else "no boundary"
            kind = f"the labels that everyone drew, pixels near other labels being {other}"
            weak = f" --weak {self.weak}"
        how = f"--truth {truth}{weak} --hist-distance {self.hist_distance} --seed {self.seed}{options}"
        command = f"hyperacuity detect train pb {how}"
        return f"Learned from {source} and {kind}: {command}. 64 textons by k-means; weights by maximum likelihood."


@dataclass(frozen=True, eq=False)
class LearnedPb:
    """A model, and what it was learned from."""

    model: PbModel
    truth: str
    examples: Examples

    def as_dict(self) -> dict[str, Any]:
        """Return a dict for JSON. An ``effect`` is a weight times the standard deviation of its cue: effects can be compared."""
        constant, *weights = self.model.weights.tolist()
        spread = self.examples.cues.std(axis=0).tolist()
        return {
            "about": self.model.about,
            "truth": self.truth,
            "pixels": len(self.examples.boundary),
            "boundaries": float(self.examples.boundary.mean()),
            "weights": {"constant": constant, **dict(zip(CUES, weights, strict=True))},
            "effects": {cue: w * deviation for cue, w, deviation in zip(CUES, weights, spread, strict=True)},
        }


@dataclass(frozen=True)
class Drawings:
    """Pictures that people drew on, what to call them, how many reserved ones were left out, and files without a partner."""

    pictures: Sequence[DrawnPicture]
    source: str
    left_out: int = 0
    unpaired: Sequence[Path] = ()
    options: str = ""
    """Options to add to the command that learns from them."""


def bsds500_drawn(
    data: Path | None, count: int | None = None, *, split: str = "train", allow_reserved: bool = False
) -> Drawings:
    """Images of BSDS500 that may be learned from, or ``count`` of them evenly chosen.

    ``split`` is ``train``, or ``train,val`` for both. Images kept to measure on
    (:func:`~hyperacuity.data.datasets.bsds.reserved`) are left out by default.
    """
    parts = {"train": "training", "train,val": "training and validation"}
    if split not in parts:
        raise UsageError(f"{option('split', split)}: expected train or train,val")
    every = [one for part in split.split(",") for one in load_dataset("bsds500", data, split=part).samples]
    usable = every if allow_reserved else [one for one in every if one.name not in reserved()]
    if not usable:
        raise UsageError(
            f"bsds500, {split}: all {len(every)} images are reserved for measuring, none is left to learn from"
        )
    chosen, left_out = evenly(usable, count), len(every) - len(usable)
    share = "the" if len(chosen) == len(every) else f"{len(chosen)} of the"
    source = f"{share} {len(every)} {parts[split]} images of BSDS500"
    source += f" (left out, as reserved for measuring: {left_out})" if left_out else ""
    options = ("" if split == "train" else f" --split {split}") + (" --allow-reserved" if allow_reserved else "")
    return Drawings([DrawnPicture(s.image, s.truths) for s in chosen if s.image], source, left_out, options=options)


def folders_drawn(images: Path, labels: Path, *, inverted: bool = False, allow_reserved: bool = False) -> Drawings:
    """The pictures of a folder with their labels; a wrong call where reserved images are among them and not allowed."""
    found = pair_folders(images, labels)
    refuse_reserved((pair.name for pair in found.pairs), allow=allow_reserved)
    drawn = [DrawnPicture(pair.prediction, pair.truths, inverted) for pair in found.pairs]
    return Drawings(drawn, f"{len(drawn)} images", unpaired=[*found.unpaired_predictions, *found.unpaired_truths])


def evenly(samples: Sequence[Sample], count: int | None) -> list[Sample]:
    """``count`` of the samples that have a picture, evenly chosen."""
    usable = [sample for sample in samples if sample.image is not None]
    if count is None or count >= len(usable):
        return usable
    return [usable[n * len(usable) // count] for n in range(count)]


def learn_pb(drawings: Drawings, truths: Sequence[str], course: PbCourse, workers: int | None) -> dict[str, LearnedPb]:
    """Learn from all labels, from those that everyone drew, or from both in turn: the textons are the same.

    The pictures' ``source`` is in what the model says about itself.
    """
    pictures, source = drawings.pictures, drawings.source

    def labels(picture: DrawnPicture) -> tuple[EdgeMap, EdgeMap]:
        """Read the labels that anyone drew, and those that everyone drew, if wanted."""
        people = read_boundary_truths(picture.truths, inverted=picture.inverted)
        anyone: EdgeMap = np.any(people, axis=0)
        return anyone, np.any(strengths(people).consensus, axis=0) if "consensus" in truths else anyone

    options: Any = {"hist_distance": course.hist_distance}
    drawn = list(each(labels, pictures, workers, "reading labels"))
    textons, observed = observe_all(
        pictures,
        read=lambda picture: read_image(picture.image),
        each=lambda work, items: each(work, items, workers, "learning"),
        seed=course.seed,
        **options,
    )
    anyone, everyone = [maps[0] for maps in drawn], [maps[1] for maps in drawn]
    weak: Any = course.weak
    learned = {}
    for truth in truths:
        taught = examples(observed, anyone) if truth == "all" else examples(observed, everyone, anyone, weak=weak)
        if not 0 < taught.boundary.mean() < 1:
            raise InputError(f"{source}: there is nothing to learn: either no pixel is near a label, or all are")
        model = PbModel(textons, logistic_fit(*taught), course.about(source, truth, drawings.options), **options)
        learned[truth] = LearnedPb(model, truth, taught)
    return learned


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
    """Learn every set of cues; ``source`` names the images in what the model says about itself."""
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

    Regions are people's or, with a ``hierarchy`` (:func:`~hyperacuity.systems.hierarchies.tree_source`), a machine's at several
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

    People's labelled contours vote on each border, up to 3 pixels away. A border has a step in depth where at least half of its
    length is voted on, on average over the people, and none where at most a fifth is; the owner is what most votes say.

    ``field_of`` makes a field of ownership of an image: then its cues are among those that are learned.
    """

    def lessons(one: LabelledPhotograph) -> list[CueLesson]:
        image = read_image(one.photograph)
        tree = trees(one.photograph, image)
        ucm2, order = tree.ucm2(), probability_of_ownership(image)
        field = None if field_of is None else field_of(image)
        people = [Sides(person.order) for person in one.people]
        found = []
        for level in levels:
            cues = pair_cues(image, tree.at(level), ownership=order, field=field)
            votes = np.mean([border_votes(sides, cues.borders, reach=REACH) for sides in people], axis=0)
            balance, share = votes[0], votes[1] / np.maximum(cues.borders.cracks, 1)
            step = np.select([share >= STEP, share <= NO_STEP], [1.0, 0.0], np.nan)
            front = (np.sign(balance) * (share >= STEP)).astype(np.int64)
            found.append(CueLesson(cues, front, step, border_heights(ucm2, cues.borders), one.name))
        return found

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
