"""Lessons of the network, read from files: BSDS500 with figure/ground labels, any folders, generated scenes."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data import (
    FigureGround,
    figure_ground,
    find_data,
    load_dataset,
    pair_folders,
    read_boundary_truths,
    read_image,
    read_labels,
    read_order,
)
from hyperacuity.data.datasets.bsds import refuse_reserved, reserved
from hyperacuity.data.scenes import make_scene, name_of
from hyperacuity.detect.net.lessons import Lesson, lesson
from hyperacuity.errors import InputError, UsageError, option
from hyperacuity.maps import EdgeMap, OrderMap, same_size
from hyperacuity.run.many import PictureSource, each

logger = logging.getLogger("hyperacuity")

FIRST_SCENE = 10_000
"""The seed of the first scene: none is learned from that ``hyperacuity scenes`` makes by default, and people measure on."""


@dataclass(frozen=True, eq=False)
class TaughtPicture:
    """A lesson, and the boundaries that people drew, by which what was learned is judged."""

    lesson: Lesson
    drawn: tuple[EdgeMap, ...]


Source = PictureSource[TaughtPicture]


@dataclass(frozen=True)
class Curriculum:
    """Photographs to learn from, none of them read yet, and scenes.

    Attributes
    ----------
    photographs, scenes
        In the order in which they are numbered for learning.
    source
        What to call the photographs.
    left_out
        How many reserved photographs were left out.
    unpaired
        Files without a partner.
    held
        Photographs (scenes, if there are none) that are held out of learning.
    """

    photographs: tuple[Source, ...] = ()
    scenes: tuple[Source, ...] = ()
    source: str = ""
    left_out: int = 0
    unpaired: tuple[Path, ...] = ()
    held: tuple[Source, ...] = ()

    def holding(self, share: float) -> Curriculum:
        """Keep a share out of learning: of every 1/share pictures by name, the last."""
        names = held_out([one.name for one in self.photographs or self.scenes], share)
        parts = [tuple(one for one in part if one.name not in names) for part in (self.photographs, self.scenes)]
        held = tuple(one for one in self.photographs or self.scenes if one.name in names)
        if not parts[0] and not parts[1]:
            raise UsageError("there is no picture to learn from: give photographs, or `scenes=N`")
        return replace(self, photographs=parts[0], scenes=parts[1], held=held)

    def read(self, workers: int | None) -> tuple[list[Lesson], list[TaughtPicture]]:
        """The lessons, and the pictures that are held out."""

        lessons = list(each(lambda source: source.load().lesson, (*self.photographs, *self.scenes), workers, "reading"))
        return lessons, list(each(lambda source: source.load(), self.held, workers, "reading those held out"))

    def as_dict(self) -> dict[str, Any]:
        """Describe the pictures for the network's file: their number, and a digest of their names."""
        return {
            "source": self.source,
            "photographs": len(self.photographs),
            "scenes": len(self.scenes),
            "names_sha256": digest(one.name for one in (*self.photographs, *self.scenes)),
            "reserved_left_out": self.left_out,
            "held_out": len(self.held),
            "held_out_names_sha256": digest(one.name for one in self.held),
        }


def digest(names: Iterable[str]) -> str:
    """SHA-256 of names in the order given, a line each.

    >>> digest([])[:8], digest(["a", "b"])[:8]
    ('e3b0c442', '911169dd')
    """
    return hashlib.sha256("".join(f"{name}\n" for name in names).encode()).hexdigest()


def held_out(names: Sequence[str], share: float) -> frozenset[str]:
    """Return the last of every 1/share names in their order; none with a share of 0.

    >>> sorted(held_out(["d", "c", "b", "a", "e"], 0.5)), held_out(["a", "b"], 0)
    (['b', 'd'], frozenset())
    """
    if not 0 <= share <= 0.5:
        raise UsageError(
            f"{option('hold', share)}: expected a share from 0 to 0.5, such as 0.1 for every tenth picture"
        )
    if share == 0:
        return frozenset()
    every = round(1 / share)
    return frozenset(sorted(names)[every - 1 :: every])


def bsds500_curriculum(data: Path | None, *, allow_reserved: bool = False) -> Curriculum:
    """BSDS500's training and validation images, and figure/ground labels of those that have any.

    Reserved images are left out by default. Labels are looked for in ``data`` and then where data sets usually are; without them
    boundaries alone are learned.
    """
    samples = [one for part in ("train", "val") for one in load_dataset("bsds500", data, split=part).samples]
    usable = [one for one in samples if one.image and (allow_reserved or one.name not in reserved())]
    labels = _figure_ground(data, {one.name for one in usable})

    def taught(name: str, image: Path, truths: Sequence[Path]) -> TaughtPicture:
        people = labels.get(name, [])
        drawn = tuple(read_boundary_truths(truths))
        segments = people[0].segmentation if people else None
        return TaughtPicture(lesson(name, read_image(image), drawn, [one.order for one in people], segments), drawn)

    photographs = tuple(
        PictureSource(one.name, partial(taught, one.name, one.image, one.truths)) for one in usable if one.image
    )
    return Curriculum(
        photographs, source="training and validation images of BSDS500", left_out=len(samples) - len(usable)
    )


def _figure_ground(data: Path | None, names: set[str]) -> dict[str, list[FigureGround]]:
    for place in dict.fromkeys((data, None)):
        people: dict[str, list[FigureGround]] = {}
        try:
            for one in figure_ground(find_data("bsds-fg", place), names):
                people.setdefault(one.image, []).append(one)
        except UsageError:  # there are none, or none of these images
            continue
        return people
    logger.info("there are no figure/ground labels here (bsds-fg): from photographs, only boundaries are learned")
    return {}


def folder_curriculum(
    images: Path,
    labels: Path,
    owners: Path | None = None,
    segmentation: Path | None = None,
    *,
    inverted: bool = False,
    allow_reserved: bool = False,
) -> Curriculum:
    """The pictures of a folder with what people drew on them; a wrong call where reserved images are among them.

    ``owners`` hold +1 on the figure's side of a contour, −1 on the ground's, 0 or NaN elsewhere; ``segmentation`` the regions
    that were labelled, so that figures can be cut out and pasted.
    """
    pairing = pair_folders(images, labels)
    refuse_reserved((pair.name for pair in pairing.pairs), allow=allow_reserved)
    owned = {pair.name: pair.truths for pair in pair_folders(images, owners).pairs} if owners else {}
    regions = {pair.name: pair.truths[0] for pair in pair_folders(images, segmentation).pairs} if segmentation else {}

    def taught(name: str, image: Path, truths: Sequence[Path]) -> TaughtPicture:
        picture, drawn = read_image(image), tuple(read_boundary_truths(truths, inverted=inverted))
        people = [_read_owners(path) for path in owned.get(name, ())]
        segments = read_labels(regions[name]) if name in regions else None
        for what, one in [("labels", drawn[0]), *(("owners", one) for one in people), ("segmentation", segments)]:
            if one is not None:
                same_size(
                    one, picture[..., 0] if picture.ndim == 3 else picture, names=(f"{what} of {name}", str(image))
                )
        return TaughtPicture(lesson(name, picture, drawn, people, segments), drawn)

    photographs = tuple(
        PictureSource(pair.name, partial(taught, pair.name, pair.prediction, pair.truths)) for pair in pairing.pairs
    )
    unpaired = (*pairing.unpaired_predictions, *pairing.unpaired_truths)
    return Curriculum(photographs, source=f"images of {images}", unpaired=unpaired)


def _read_owners(path: Path) -> OrderMap:
    owners = read_order(path)
    other = owners[~np.isnan(owners) & ~np.isin(owners, (-1, 0, 1))]
    if other.size:
        raise InputError(f"{path}: holds {other[0]:g}, expected +1 for figure, -1 for ground, 0 or NaN elsewhere")
    return owners


def with_scenes(curriculum: Curriculum, count: int, *, size: tuple[int, int] = (480, 320)) -> Curriculum:
    """Add generated scenes to the photographs: their boundaries and owners are exact."""

    def taught(seed: int) -> TaughtPicture:
        scene = make_scene(seed, size=size)
        owners: NDArray[np.int8] = scene.ownership
        # Exact, so it counts as much as two people who agree.
        content = lesson(name_of(seed), scene.image, [scene.boundaries], [owners, owners], scene.labels)
        return TaughtPicture(content, (scene.boundaries,))

    seeds = range(FIRST_SCENE, FIRST_SCENE + count)
    return replace(curriculum, scenes=tuple(PictureSource(name_of(s), partial(taught, s)) for s in seeds))
