"""Pictures with truth for the studies: made ones, known data sets, and folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hyperacuity.errors import InputError, UsageError

if TYPE_CHECKING:
    from hyperacuity.studies.edge_trials import StudyPicture


class Source(NamedTuple):
    """A picture that has not been read yet. ``load`` raises ``InputError`` when it cannot be."""

    name: str
    load: Callable[[], StudyPicture]


def study_pictures(data: str, truth: Path | None, place: Path | None, count: int | None) -> list[Source]:
    """The pictures that DATA names, at most ``count``."""
    from hyperacuity.data.datasets.layouts import LAYOUTS

    folder = Path(data)
    made: dict[str, Callable[[], Iterator[Source]]] = {"shapes": _shapes, "scenes": partial(_scenes, count or 6)}
    if truth is not None:
        found = _folder(folder, truth)
    elif data in made:
        found = made[data]()
    elif folder.is_dir() and data not in LAYOUTS:
        raise UsageError(f"{data} is a folder of pictures, so --truth must name the folder of their truths")
    else:
        found = _dataset(data, place)
    return list(islice(found, count))


def _shapes() -> Iterator[Source]:
    def load() -> StudyPicture:
        from hyperacuity.edges import shapes
        from hyperacuity.studies.edge_trials import StudyPicture

        made = shapes()
        return StudyPicture("shapes", made.image, made.truth)

    yield Source("shapes", load)


def _scenes(count: int) -> Iterator[Source]:
    from hyperacuity.data.scenes import make_scene, name_of
    from hyperacuity.studies.edge_trials import StudyPicture

    def load(seed: int) -> StudyPicture:
        scene = make_scene(seed)
        return StudyPicture(name_of(seed), _unit(scene.image), scene.boundaries)

    for seed in range(1, count + 1):
        yield Source(name_of(seed), partial(load, seed))


def _dataset(name: str, place: Path | None) -> Iterator[Source]:
    from hyperacuity.data import load_dataset

    dataset = load_dataset(name, place)
    for sample in dataset.samples:
        yield _files(sample.name, sample.image, sample.truths, inverted=dataset.inverted)


def _folder(images: Path, truths: Path) -> Iterator[Source]:
    from hyperacuity.data import pair_folders

    for pair in pair_folders(images, truths).pairs:
        yield _files(pair.name, pair.prediction, pair.truths)


def _files(name: str, image: Path | None, truths: tuple[Path, ...], *, inverted: bool = False) -> Source:
    def load() -> StudyPicture:
        from hyperacuity.data import read_boundary_truths, read_image
        from hyperacuity.maps import same_size
        from hyperacuity.studies.edge_trials import StudyPicture

        if image is None:
            raise InputError(f"{truths[0]}: is the truth of a picture that is missing")
        pixels, truth = read_image(image), read_boundary_truths(truths, inverted=inverted)[0]
        same_size(pixels, truth, names=(str(image), str(truths[0])))
        return StudyPicture(name, _unit(pixels), truth)

    return Source(name, load)


def _unit(image: Any) -> Any:
    """An image of 8 or 16 bits as floats in [0, 1]."""
    import numpy as np

    return image / np.iinfo(image.dtype).max if image.dtype.kind == "u" else image
