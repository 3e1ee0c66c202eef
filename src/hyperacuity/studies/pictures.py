"""Pictures with true edges for the studies: made ones, known data sets, and folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data import load_dataset, pair_folders, read_boundary_truths, read_image
from hyperacuity.data.datasets.layouts import LAYOUTS
from hyperacuity.data.scenes import make_scene, name_of
from hyperacuity.edges import shapes
from hyperacuity.errors import InputError, UsageError
from hyperacuity.maps import same_size
from hyperacuity.studies.edge_trials import StudyPicture


class PictureSource(NamedTuple):
    """A picture that has not been read yet. ``load`` raises ``InputError`` when it cannot be."""

    name: str
    load: Callable[[], StudyPicture]


def picture_sources(data: str, truth: Path | None, folder: Path | None, count: int | None) -> list[PictureSource]:
    """The pictures that ``data`` names, at most ``count``.

    ``data`` is ``shapes``, ``scenes``, a known data set (in ``folder``), or a folder of pictures whose truths are in ``truth``.
    """
    path = Path(data)
    if truth is not None:
        found: Iterator[PictureSource] = (
            _files(p.name, p.prediction, p.truths) for p in pair_folders(path, truth).pairs
        )
    elif data == "shapes":
        found = iter([PictureSource("shapes", _shapes)])
    elif data == "scenes":
        found = (PictureSource(name_of(seed), partial(_scene, seed)) for seed in range(1, (count or 6) + 1))
    elif path.is_dir() and data not in LAYOUTS:
        raise UsageError(f"{data} is a folder of pictures, so --truth must name the folder of their truths")
    else:
        known = load_dataset(data, folder)
        found = (_files(one.name, one.image, one.truths, inverted=known.inverted) for one in known.samples)
    return list(islice(found, count))


def _shapes() -> StudyPicture:
    made = shapes()
    return StudyPicture("shapes", made.image, made.truth)


def _scene(seed: int) -> StudyPicture:
    scene = make_scene(seed)
    return StudyPicture(name_of(seed), _unit(scene.image), scene.boundaries)


def _files(name: str, image: Path | None, truths: tuple[Path, ...], *, inverted: bool = False) -> PictureSource:
    def load() -> StudyPicture:
        if image is None:
            raise InputError(f"{truths[0]}: is the truth of a picture that is missing")
        pixels, truth = read_image(image), read_boundary_truths(truths, inverted=inverted)[0]
        same_size(pixels, truth, names=(str(image), str(truths[0])))
        return StudyPicture(name, _unit(pixels), truth)

    return PictureSource(name, load)


def _unit(image: NDArray[Any]) -> NDArray[Any]:
    """An image of 8 or 16 bits as floats in [0, 1]."""
    return image / np.iinfo(image.dtype).max if image.dtype.kind == "u" else image
