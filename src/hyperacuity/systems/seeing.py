"""Seeing photographs: one by file or as an array, or many as files."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from hyperacuity.data import read_image, write_mat, write_order, write_png, write_soft
from hyperacuity.data.files import warn
from hyperacuity.data.formats.arrays import write_npy
from hyperacuity.data.formats.images import image_size
from hyperacuity.detect.detection import memory_for
from hyperacuity.detect.net import network, sight
from hyperacuity.detect.net.network import Setting
from hyperacuity.detect.net.sight import LEVEL, Sight
from hyperacuity.errors import InputError, UsageError, option
from hyperacuity.outputs import output_file, output_folder
from hyperacuity.run.many import Failures, attempt_each

LARGEST = network.LARGEST
"""Larger photographs are reduced to this many pixels first: the network uses no more in any case."""

_READING = 24
"""Bytes for each pixel of a picture that is read, of 16 bits per colour and before it is reduced."""

FOLDERS = {"boundaries": "png", "ucm2": "mat", "ownership": "pfm", "field": "npy", "order": "pfm", "sheets": "png"}
"""Folders that are written for each photograph, and the files' suffixes."""

Photograph = NDArray[Any]
Draw = Callable[[Photograph, Sight, str], NDArray[np.uint8]]
"""Function from a photograph, its sight, and its name to its picture sheet."""


def see(image: ArrayLike | Path | str, *, setting: Setting = "best", model: Path | str = "", threads: int = 1) -> Sight:
    """See one photograph: its boundaries, its regions, who owns each boundary, and what is in front of what.

    Parameters
    ----------
    image
        A file, or an array: H×W or H×W×3 (alpha is dropped), uint8, uint16 or floats in [0, 1]. Of more than 2 megapixels, a
        reduced copy is seen, with a warning; the maps then have its size.
    setting
        ``"best"``, or ``"fast"``: some five times as fast, and less sharp.
    model
        A file that ``hyperacuity train net`` wrote, instead of the network that comes with the package.
    threads
        Number of sizes to process in parallel. Results do not depend on it.

    Returns
    -------
    Sight
        ``boundaries`` (H×W, 0 to 1), ``ucm2`` and ``regions(level)``, ``field`` (H×W×2, from ground to figure), ``order`` (H×W,
        larger = nearer).

    Examples
    --------
    >>> import hyperacuity as ha
    >>> from hyperacuity.data.scenes import make_scene
    >>> scene = make_scene(1, size=(96, 64), leaves=3)
    >>> seen = ha.see(scene.image, setting="fast")
    >>> seen.boundaries.shape, seen.order.shape, seen.field.shape, seen.ucm2.shape
    ((64, 96), (64, 96), (64, 96, 2), (129, 193))
    >>> bool(seen.boundaries[scene.boundaries].mean() > 2 * seen.boundaries[~scene.boundaries].mean())
    True
    """
    small = read_reduced(Path(image)) if isinstance(image, str | Path) else reduced(np.asarray(image))
    return sight.see(small, setting=setting, model=str(model), threads=threads)


def read_reduced(path: Path) -> Photograph:
    """The photograph in a file, :func:`reduced`. Large ones are read one at a time if memory is short."""
    size = image_size(path)
    with memory_for("reading a picture", size, _READING * math.prod(size)):
        return reduced(read_image(path), name=str(path))


def reduced(image: Photograph, *, name: str = "image", largest: int = LARGEST) -> Photograph:
    """The photograph without alpha, and at a smaller size, with a warning, where it has more than ``largest`` pixels.

    >>> reduced(np.zeros((30, 40, 4), np.uint8)).shape
    (30, 40, 3)
    """
    if image.ndim == 3 and image.shape[2] == 4:
        image = image[..., :3]
    if image.ndim not in (2, 3) or image.shape[0] * image.shape[1] <= largest:
        return image
    height, width = image.shape[:2]
    shrink = np.sqrt(largest / (height * width))
    rows, columns = (min(max(1, round(size * shrink)), largest) for size in (height, width))
    megapixels = f"{height * width / 1e6:.1f} megapixels, more than {largest / 1e6:g}"
    warn(f"{name}: has {megapixels}; it is reduced to {columns}×{rows}, the size of the maps")
    return resized(image, rows, columns)


def resized(image: Photograph, rows: int, columns: int) -> Photograph:
    """A photograph at another size, each pixel the mean of what it covers; of the type that it had.

    >>> resized(np.array([[0, 10, 20, 30]], np.uint16), 1, 2)
    array([[ 5, 25]], dtype=uint16)
    """
    if image.dtype == np.uint8:
        return np.asarray(Image.fromarray(image).resize((columns, rows), Image.Resampling.BOX))
    channels = image.reshape(*image.shape[:2], -1)
    planes = [
        np.asarray(Image.fromarray(channels[..., n].astype(np.float32)).resize((columns, rows), Image.Resampling.BOX))
        for n in range(channels.shape[2])
    ]
    exact = np.stack(planes, axis=-1).reshape(rows, columns, *image.shape[2:])
    return (np.rint(exact) if image.dtype.kind in "ui" else exact).astype(image.dtype)


@dataclass(frozen=True)
class Seeing:
    """Options of :func:`see_pictures`: setting, another network by its ``model`` file, and the level at which regions are cut."""

    setting: Setting = "best"
    model: str = ""
    level: float = LEVEL

    def __post_init__(self) -> None:
        if self.setting not in network.PASSES:
            raise UsageError(f"{option('setting', self.setting)}: expected {' or '.join(network.PASSES)}")
        if not 0 <= self.level < 1:
            raise UsageError(f"{option('level', self.level)}: expected a number from 0 to below 1")


def see_pictures(
    pictures: Sequence[Path], out: Path, how: Seeing, *, draw: Draw | None = None, workers: int | None = None
) -> tuple[dict[str, dict[str, int]], Failures]:
    """Write the maps of each picture, one file in each of the :data:`FOLDERS` of ``out``; sheets only with ``draw``.

    Returns the size of each picture's maps and its number of regions, and which pictures could not be used and why.
    """
    network.load(how.model)  # what fails here would fail for every picture
    folders = {name: output_folder(out / name) for name in FOLDERS if draw or name != "sheets"}
    first_with_stem: dict[str, Path] = {}
    for path in pictures:
        first_with_stem.setdefault(path.stem, path)

    def work(path: Path) -> dict[str, int]:
        files = {name: folder / f"{path.stem}.{FOLDERS[name]}" for name, folder in folders.items()}
        if (other := first_with_stem[path.stem]) != path:
            raise InputError(f"its maps would overwrite those of {other}, which has the same name")
        if path.resolve() in {file.resolve() for file in files.values()}:
            raise InputError("its maps would overwrite the picture itself; choose another `out=DIR`")
        image = read_reduced(path)
        seen = sight.see(image, setting=how.setting, model=how.model)
        writers: dict[str, Callable[[Path], None]] = {
            "boundaries": lambda part: write_soft(part, seen.boundaries, bits=16),
            "ucm2": lambda part: write_mat(part, ucm2=seen.ucm2),
            "ownership": lambda part: write_order(part, seen.sides(how.level)),
            "field": lambda part: write_npy(part, seen.field),
            "order": lambda part: write_order(part, seen.order),
        }
        if draw:
            writers["sheets"] = lambda part: write_png(part, draw(image, seen, path.stem))
        for name, write in writers.items():
            with output_file(files[name]) as part:
                write(part)
        height, width = seen.boundaries.shape
        return {"width": width, "height": height, "regions": int(np.unique(seen.regions(how.level)).size)}

    results = list(attempt_each(work, pictures, workers, "seeing"))
    failed = [(str(path), str(e).removeprefix(f"{path}: ")) for path, e in results if isinstance(e, InputError)]
    return {path.stem: facts for path, facts in results if isinstance(facts, dict)}, failed
