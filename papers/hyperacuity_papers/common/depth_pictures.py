"""The pictures that systems for depth order are tried on: scenes, and labelled photographs that were never learned from."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from hyperacuity.data import read_image
from hyperacuity.data.scenes import make_scene, name_of
from hyperacuity.errors import UsageError
from hyperacuity.maps import LabelMap
from hyperacuity.ordering.orderings import Ordering, Sides, partition
from hyperacuity.run.many import PictureSource
from hyperacuity.train.figure_ground import LabelledPhotograph, read_labelled
from hyperacuity_papers.common.claims import NEEDS

Loaded = tuple[NDArray[Any], tuple[Ordering, ...], LabelMap]
"""An image, who is in front in it according to one or more people, and the regions they were asked about."""

LEFT_OUT = f"photographs were left out: {NEEDS}"


def scene_pictures(seeds: Iterable[int], size: tuple[int, int]) -> list[PictureSource[Loaded]]:
    """Scenes of this size, width × height."""
    return [PictureSource(name_of(seed), partial(_scene, seed, size)) for seed in seeds]


def held_out_pictures(
    data: Path | None, count: int | None = None, *, stand_in: bool = False
) -> list[PictureSource[Loaded]]:
    """The labelled photographs that were held out, or the first of them.

    There are none where the data are missing and nobody named a folder; where somebody did, that is ``UsageError``, unless
    scenes may stand in.
    """
    if count == 0:
        return []
    try:
        labelled = read_labelled(data, held_out=True, count=count)
    except UsageError as error:
        if data is not None and not stand_in:
            raise
        logging.getLogger(__name__).info("scenes only: %s", error)
        return []
    return labelled_pictures(labelled)


def labelled_pictures(labelled: Iterable[LabelledPhotograph]) -> list[PictureSource[Loaded]]:
    """Labelled photographs, with the regions that the first person was asked about."""
    return [PictureSource(one.name, partial(_photograph, one)) for one in labelled]


def _scene(seed: int, size: tuple[int, int]) -> Loaded:
    scene = make_scene(seed, size=size)
    return scene.image, (partition(scene.order, scene.labels),), scene.labels


def _photograph(one: LabelledPhotograph) -> Loaded:
    people = tuple(Sides(labels.order, labels.segmentation) for labels in one.people)
    return read_image(one.photograph), people, one.people[0].segmentation
