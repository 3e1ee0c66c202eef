"""What is ordered: a photograph and its regions, from a given segmentation or from a hierarchy cut at a level."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from hyperacuity.data import holds_ucm, pair_folders, read_segmentations, read_ucm
from hyperacuity.detect import region_tree
from hyperacuity.errors import InputError, UsageError
from hyperacuity.maps import LabelMap, SoftMap, same_size
from hyperacuity.ordering import neighbours
from hyperacuity.ordering.orderings import consecutive
from hyperacuity.regions import Hierarchy, ucm_hierarchy
from hyperacuity.studio.items import Item, find_items, photograph, png, reason

MOST_REGIONS = 1000
"""More regions than this are not ordered by hand."""

FINEST = 250
"""About how many regions the finest level of the slider has."""

FIRST = 16
"""About how many regions the slider begins with."""

HIERARCHY_PIXELS = 600_000
"""The hierarchy of a larger photograph is made from a smaller copy: nobody waits a minute for a page."""

THUMBNAIL = (240, 160)


@dataclass(frozen=True)
class Material:
    """The images to order, the files with their segmentations (none: hierarchies are made), and why some cannot be used."""

    items: dict[str, Item]
    segmentations: dict[str, tuple[Path, ...]] | None
    annotator: int
    failed: dict[str, str]
    thumbnails: dict[str, bytes]


@dataclass(frozen=True)
class Cut:
    """A level of a hierarchy (None: a segmentation has no levels), and how many regions it has."""

    level: float | None
    regions: int


@dataclass(frozen=True, eq=False)
class Picture:
    """A photograph, its partition or hierarchy, and the cuts that can be chosen, from coarse to fine."""

    pixels: NDArray[np.uint8]
    parts: LabelMap | Hierarchy
    cuts: tuple[Cut, ...]
    first: int
    digest: str

    def size(self) -> int:
        """About how many bytes it takes."""
        labels = self.parts.labels if isinstance(self.parts, Hierarchy) else self.parts
        return self.pixels.nbytes + labels.nbytes


@dataclass(frozen=True, eq=False)
class Regions:
    """A partition: regions 0, 1, … (void −1), a point well inside each, their areas, and who borders on whom for how long."""

    labels: LabelMap
    anchors: NDArray[np.int64]
    areas: NDArray[np.int64]
    pairs: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.areas)

    def size(self) -> int:
        """About how many bytes they take."""
        return self.labels.nbytes


def find_material(images: Path, segmentation: Path | None, *, annotator: int = 1) -> Material:
    """Find images and their segmentations by name. What cannot be used fails by name; ``UsageError`` if nothing is left."""
    items = find_items(images)
    files = None
    failed: dict[str, str] = {}
    if segmentation is not None:
        by_path = {pair.prediction: pair.truths for pair in pair_folders(images, segmentation).pairs}
        files = {item.id: by_path[item.path] for item in items.values() if item.path in by_path}
        failed = {item.id: f"{item.name}: has no segmentation" for item in items.values() if item.id not in files}

    def look(item: Item) -> bytes | str:
        """The thumbnail, or why the image cannot be used."""
        paths = () if files is None else files[item.id]
        try:
            pixels = photograph(item.path)
            if paths:
                _given(pixels, paths, annotator)
            return _thumbnail(pixels)
        except InputError as error:
            return reason(error, {item.path: item.name, **_named(paths)})

    thumbnails: dict[str, bytes] = {}
    asked = [item for item in items.values() if item.id not in failed]
    with ThreadPoolExecutor() as pool:
        for item, seen in zip(asked, pool.map(look, asked), strict=True):
            if isinstance(seen, str):
                failed[item.id] = seen
            else:
                thumbnails[item.id] = seen
    if not thumbnails:
        raise UsageError(f"no image can be ordered: {next(iter(failed.values()))}")
    return Material(items, files, annotator, failed, thumbnails)


def load_picture(material: Material, item: Item) -> Picture:
    """Read an image and its segmentation, or make its hierarchy. ``InputError`` where that fails."""
    pixels = photograph(item.path)
    paths = () if material.segmentations is None else material.segmentations.get(item.id, ())
    if material.segmentations is not None and not paths:
        raise InputError(f"{item.name}: has no segmentation")
    parts = _parts(pixels, paths, material.annotator)
    if isinstance(parts, Hierarchy):
        cuts = _cuts(parts)
        seal: list[NDArray[Any]] = [parts.labels, parts.children, parts.heights]
        first = max((n for n, cut in enumerate(cuts) if cut.regions <= FIRST), default=0)
    else:
        cuts = (Cut(None, int(parts.max()) + 1),)
        seal, first = [parts], 0
    # Of all that the numbers of regions and cuts depend on: what is kept must not come to mean something else.
    digest = hashlib.blake2s(repr((pixels.shape[:2], cuts, first)).encode(), digest_size=16)
    for array in seal:
        digest.update(np.ascontiguousarray(array).tobytes())
    return Picture(pixels, parts, cuts, first, digest.hexdigest())


def regions_at(picture: Picture, cut: int) -> Regions:
    """The regions at one of the picture's cuts, numbered from 0 in the order in which a reader meets them or of their labels.

    >>> picture = Picture(np.zeros((2, 4, 3), np.uint8), np.array([[0, 0, 1, 1], [0, 0, 1, 1]], np.int32), (Cut(None, 2),), 0, "")
    >>> found = regions_at(picture, 0)
    >>> found.count, found.pairs, found.lengths
    (2, array([[0, 1]]), array([2]))
    """
    parts = picture.parts
    level = picture.cuts[cut].level
    labels = consecutive(parts.at(level)) if isinstance(parts, Hierarchy) and level is not None else parts
    assert not isinstance(labels, Hierarchy)  # noqa: S101 (a hierarchy's cuts have levels)
    beside = neighbours(labels)
    pairs = np.stack([beside.first, beside.second], axis=1)
    count = int(labels.max()) + 1
    areas = np.bincount(labels[labels >= 0], minlength=count)
    return Regions(labels, _anchors(labels, count), areas, pairs, beside.cracks.astype(np.int64))


def own_hierarchy(pixels: NDArray[np.uint8], *, most: int = HIERARCHY_PIXELS) -> Hierarchy:
    """The hierarchy of a photograph's regions; one of more than ``most`` pixels is shrunk by a whole factor first.

    >>> own_hierarchy(np.zeros((40, 50, 3), np.uint8), most=600).labels.shape
    (40, 50)
    """
    height, width = pixels.shape[:2]
    factor = math.ceil(math.sqrt(height * width / most))
    if factor <= 1:
        return region_tree(pixels)
    tree = region_tree(np.asarray(Image.fromarray(pixels).reduce(factor)))
    enlarged = tree.labels.repeat(factor, axis=0).repeat(factor, axis=1)[:height, :width]
    return replace(tree, labels=np.ascontiguousarray(enlarged))


def _given(pixels: NDArray[np.uint8], paths: Sequence[Path], annotator: int) -> LabelMap | SoftMap:
    """The annotator's segmentation, or an ultrametric contour map of double size; refused unless it fits the photograph."""
    name = str(paths[0])
    if len(paths) == 1 and holds_ucm(paths[0]):
        contours = read_ucm(paths[0])
        same_size(contours[1::2, 1::2], pixels[..., 0], names=(name, "the image"))
        return contours
    found = read_segmentations(paths)
    if annotator > len(found):
        raise InputError(f"{name}: has {len(found)} segmentation(s), but number {annotator} was asked for")
    labels = consecutive(found[annotator - 1])
    same_size(labels, pixels[..., 0], names=(name, "the image"))
    count = int(labels.max()) + 1
    if count == 0:
        raise InputError(f"{name}: has no region, every pixel is void")
    if count > MOST_REGIONS:
        raise InputError(f"{name}: has {count} regions, expected at most {MOST_REGIONS} to order by hand")
    return labels


def _parts(pixels: NDArray[np.uint8], paths: Sequence[Path], annotator: int) -> LabelMap | Hierarchy:
    """The segmentation that is given, or a hierarchy: given as contours, or the image's own."""
    if not paths:
        return own_hierarchy(pixels)
    found = _given(pixels, paths, annotator)
    return found if found.dtype == np.int32 else ucm_hierarchy(found)  # type: ignore[return-value]


def _cuts(tree: Hierarchy) -> tuple[Cut, ...]:
    """The levels at which the regions change, from two regions to about :data:`FINEST`; one region where there are no more."""
    levels = np.unique(tree.heights)
    counts = tree.leaves - np.searchsorted(tree.heights, levels, side="right")
    cuts = [Cut(float(level), int(count)) for level, count in zip(levels[::-1], counts[::-1], strict=True)]
    chosen = [cut for cut in cuts if 1 < cut.regions <= FINEST]
    if chosen:
        return tuple(chosen)
    coarsest = next((cut for cut in cuts if cut.regions > 1), None)
    return (coarsest if coarsest is not None and coarsest.regions <= MOST_REGIONS else Cut(1.0, 1),)


def _anchors(labels: LabelMap, count: int, *, most: int = HIERARCHY_PIXELS) -> NDArray[np.int64]:
    """For each region its pixel (row, column) that is farthest from every border, the image's included.

    Of more than ``most`` pixels only every so many are looked at; a region between them has its first pixel.

    >>> _anchors(np.array([[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1]], np.int32), 2)[0]
    array([1, 1])
    """
    step = math.ceil(math.sqrt(labels.size / most))
    coarse = labels[::step, ::step]
    framed = np.pad(coarse, 1, constant_values=-2)
    sides = (framed[:-2, 1:-1], framed[2:, 1:-1], framed[1:-1, :-2], framed[1:-1, 2:])
    inside = np.logical_and.reduce([side == coarse for side in sides])
    depth = ndimage.distance_transform_edt(np.pad(inside, 1))[1:-1, 1:-1]
    anchors = step * np.array(ndimage.maximum_position(depth, coarse, np.arange(count)), np.int64).reshape(count, 2)
    missed = np.flatnonzero(np.bincount(coarse[coarse >= 0], minlength=count) == 0)
    if missed.size:
        found, first = np.unique(labels, return_index=True)
        anchors[missed] = np.stack(np.unravel_index(first[np.searchsorted(found, missed)], labels.shape), axis=1)
    return anchors


def _thumbnail(pixels: NDArray[np.uint8]) -> bytes:
    picture = Image.fromarray(pixels)
    picture.thumbnail(THUMBNAIL)
    return png(np.asarray(picture))


def _named(paths: Iterable[Path]) -> dict[Path, str]:
    return {path: f"the segmentation {path.name}" for path in paths}
