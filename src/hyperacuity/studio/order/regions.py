"""Inputs of an order: a photograph and its regions, from a given segmentation or from a hierarchy cut at a level."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from hyperacuity.data import holds_ucm, pair_folders, read_segmentations, read_ucm
from hyperacuity.data.datasets.pairing import files_in
from hyperacuity.detect import region_tree
from hyperacuity.detect.net.sight import LEVEL, see
from hyperacuity.errors import InputError, UsageError
from hyperacuity.maps import LabelMap, OrderMap, SoftMap, same_size
from hyperacuity.ordering import neighbours
from hyperacuity.ordering.orderings import consecutive
from hyperacuity.regions import Hierarchy, ucm_hierarchy
from hyperacuity.studio.items import Item, items_of, read_photograph, reason, thumbnail

MAX_REGIONS = 1000
"""More regions than this are not ordered by hand."""

FINEST = 250
"""About how many regions the finest level of the slider has."""

FIRST = 16
"""About how many regions the slider begins with."""

HIERARCHY_PIXELS = 600_000
"""The hierarchy of a larger photograph comes from a smaller copy: nobody waits a minute for a page."""


@dataclass(frozen=True)
class OrderInputs:
    """The images to order, the files with their segmentations (None: hierarchies are computed), and why some cannot be used.

    ``net``: the network suggests an order to start from, and regions where no segmentation is given, at first those at ``level``.
    """

    items: dict[str, Item]
    segmentations: dict[str, tuple[Path, ...]] | None
    annotator: int
    failed: dict[str, str]
    thumbnails: dict[str, bytes]
    net: bool = False
    level: float = LEVEL

    def segmentation(self, item: Item) -> tuple[Path, ...]:
        """The files with the segmentation of an image; none if its hierarchy is computed."""
        return () if self.segmentations is None else self.segmentations[item.id]

    def reason(self, error: InputError, item: Item) -> str:
        """Reason for which an image cannot be used, in words for its page."""
        return reason(error, item, {path: f"the segmentation {path.name}" for path in self.segmentation(item)})


@dataclass(frozen=True)
class Level:
    """A level of detail: the height at which a hierarchy is cut (None: a segmentation has no hierarchy), and how many regions
    there are."""

    height: float | None
    regions: int


@dataclass(frozen=True, eq=False)
class SegmentedImage:
    """A photograph, its partition or hierarchy, and the levels that can be chosen, from coarse to fine.

    ``depth`` is the order that is suggested (larger = nearer), None where nothing is.
    """

    pixels: NDArray[np.uint8]
    partition: LabelMap | Hierarchy
    levels: tuple[Level, ...]
    first: int
    digest: str
    depth: OrderMap | None = None

    @property
    def nbytes(self) -> int:
        """Approximate size in bytes."""
        labels = self.partition.labels if isinstance(self.partition, Hierarchy) else self.partition
        return self.pixels.nbytes + labels.nbytes + (0 if self.depth is None else self.depth.nbytes)


@dataclass(frozen=True, eq=False)
class Regions:
    """A partition: regions 0, 1, … (void −1), a point well inside each, their areas, and who borders on whom for how long.

    ``depths`` are the regions' depths in the suggested order (larger = nearer), None where nothing is suggested.
    """

    labels: LabelMap
    anchors: NDArray[np.int64]
    areas: NDArray[np.int64]
    pairs: NDArray[np.int64]
    lengths: NDArray[np.int64]
    depths: NDArray[np.float64] | None = None

    @property
    def count(self) -> int:
        """Number of regions."""
        return len(self.areas)

    @property
    def nbytes(self) -> int:
        """Approximate size in bytes."""
        return self.labels.nbytes


def find_inputs(
    images: Path, segmentation: Path | None, *, annotator: int = 1, net: bool = False, level: float = LEVEL
) -> OrderInputs:
    """Find images and their segmentations by name. What cannot be used fails by name; ``UsageError`` if nothing is left."""
    items = items_of(files_in(images))
    inputs = OrderInputs(items, None, annotator, {}, {}, net, level)
    usable = list(items.values())
    if segmentation is not None:
        by_path = {pair.prediction: pair.truths for pair in pair_folders(images, segmentation).pairs}
        usable = [item for item in usable if item.path in by_path]
        missing = {item: "has no segmentation" for item in items if items[item].path not in by_path}
        inputs = replace(inputs, segmentations={item.id: by_path[item.path] for item in usable}, failed=missing)

    def look(item: Item) -> bytes | str:
        """The thumbnail, or a reason why the image cannot be used."""
        try:
            pixels = read_photograph(item.path)
            if inputs.segmentation(item):
                _given(pixels, inputs.segmentation(item), annotator)
            return thumbnail(pixels)
        except InputError as error:
            return inputs.reason(error, item)

    with ThreadPoolExecutor() as pool:
        for item, result in zip(usable, pool.map(look, usable), strict=True):
            if isinstance(result, str):
                inputs.failed[item.id] = result
            else:
                inputs.thumbnails[item.id] = result
    if not inputs.thumbnails:
        item_id, why = next(iter(inputs.failed.items()))
        raise UsageError(f"no image can be ordered: {items[item_id].title}: {why}")
    return inputs


def load_image(inputs: OrderInputs, item: Item) -> SegmentedImage:
    """Read an image and its segmentation, or make its hierarchy; let the network suggest an order. ``InputError`` where that
    fails."""
    pixels = read_photograph(item.path)
    seen, depth = seen_order(pixels) if inputs.net else (None, None)
    partition: LabelMap | Hierarchy
    if paths := inputs.segmentation(item):
        given = _given(pixels, paths, inputs.annotator)
        partition = given if given.dtype == np.int32 else ucm_hierarchy(given)  # type: ignore[assignment]
    else:
        partition = own_hierarchy(pixels) if seen is None else seen
    if isinstance(partition, Hierarchy):
        levels = _levels(partition)
        sealed: list[NDArray[Any]] = [partition.labels, partition.children, partition.heights]
        first = max((index for index, level in enumerate(levels) if level.regions <= FIRST), default=0)
        if partition is seen:
            fitting = (
                index for index, one in enumerate(levels) if one.height is not None and one.height <= inputs.level
            )
            first = min(fitting, default=len(levels) - 1)
    else:
        levels = (Level(None, int(partition.max()) + 1),)
        sealed, first = [partition], 0
    # Of all that the numbers of regions and levels depend on: what is stored must not come to mean something else.
    digest = hashlib.blake2s(repr((pixels.shape[:2], levels, first)).encode(), digest_size=16)
    for array in sealed if depth is None else [*sealed, depth]:
        digest.update(np.ascontiguousarray(array).tobytes())
    return SegmentedImage(pixels, partition, levels, first, digest.hexdigest(), depth)


def regions_at(image: SegmentedImage, level: int) -> Regions:
    """The regions at one of the image's levels, numbered from 0 in the order in which a reader meets them or of their labels.

    >>> labels = np.array([[0, 0, 1, 1], [0, 0, 1, 1]], np.int32)
    >>> regions = regions_at(SegmentedImage(np.zeros((2, 4, 3), np.uint8), labels, (Level(None, 2),), 0, ""), 0)
    >>> regions.count, regions.pairs, regions.lengths
    (2, array([[0, 1]]), array([2]))
    """
    partition = image.partition
    height = image.levels[level].height
    labels = consecutive(partition.at(height)) if isinstance(partition, Hierarchy) and height is not None else partition
    assert not isinstance(labels, Hierarchy)  # noqa: S101 (a hierarchy's levels have heights)
    return regions_of(labels, image.depth)


def regions_of(labels: LabelMap, depth: OrderMap | None = None) -> Regions:
    """Regions 0, 1, … (void −1), and the depths that a suggested order gives them."""
    beside = neighbours(labels)
    pairs = np.stack([beside.first, beside.second], axis=1)
    count = int(labels.max()) + 1
    areas = np.bincount(labels[labels >= 0], minlength=count)
    depths = None if depth is None else np.asarray(ndimage.median(depth, labels, np.arange(count)), float)
    return Regions(labels, _anchors(labels, count), areas, pairs, beside.cracks.astype(np.int64), depths)


def own_hierarchy(pixels: NDArray[np.uint8], *, max_pixels: int = HIERARCHY_PIXELS) -> Hierarchy:
    """The hierarchy of a photograph's regions; one of more than ``max_pixels`` pixels is shrunk by a whole factor first.

    >>> own_hierarchy(np.zeros((40, 50, 3), np.uint8), max_pixels=600).labels.shape
    (40, 50)
    """
    small, factor = _reduced(pixels, max_pixels)
    tree = region_tree(small)
    return replace(tree, labels=_enlarged(tree.labels, factor, pixels))


def seen_order(pixels: NDArray[np.uint8], *, max_pixels: int = HIERARCHY_PIXELS) -> tuple[Hierarchy, OrderMap]:
    """The network's regions of a photograph, and their order (larger = nearer); a large one is shrunk first."""
    small, factor = _reduced(pixels, max_pixels)
    sight = see(small)
    tree = replace(sight.tree, labels=_enlarged(sight.tree.labels, factor, pixels))
    return tree, _enlarged(sight.order, factor, pixels)


def _reduced(pixels: NDArray[np.uint8], max_pixels: int) -> tuple[NDArray[np.uint8], int]:
    """A photograph of about that many pixels at most, and the factor by which it is smaller."""
    factor = max(1, math.ceil(math.sqrt(pixels[..., 0].size / max_pixels)))
    return (np.asarray(Image.fromarray(pixels).reduce(factor)) if factor > 1 else pixels), factor


def _enlarged(small: NDArray[Any], factor: int, like: NDArray[Any]) -> NDArray[Any]:
    height, width = like.shape[:2]
    return np.ascontiguousarray(small.repeat(factor, axis=0).repeat(factor, axis=1)[:height, :width])


def _given(pixels: NDArray[np.uint8], paths: Sequence[Path], annotator: int) -> LabelMap | SoftMap:
    """The annotator's segmentation, or an ultrametric contour map of double size; refused unless it fits the photograph."""
    name = str(paths[0])
    if len(paths) == 1 and holds_ucm(paths[0]):
        contours = read_ucm(paths[0])
        same_size(contours[1::2, 1::2], pixels[..., 0], names=(name, "the image"))
        return contours
    segmentations = read_segmentations(paths)
    if annotator > len(segmentations):
        raise InputError(f"{name}: has {len(segmentations)} segmentation(s), but number {annotator} was asked for")
    labels = consecutive(segmentations[annotator - 1])
    same_size(labels, pixels[..., 0], names=(name, "the image"))
    count = int(labels.max()) + 1
    if count == 0:
        raise InputError(f"{name}: has no region, every pixel is void")
    if count > MAX_REGIONS:
        raise InputError(f"{name}: has {count} regions, expected at most {MAX_REGIONS} to order by hand")
    return labels


def _levels(tree: Hierarchy) -> tuple[Level, ...]:
    """The levels at which the regions change, from two regions to about :data:`FINEST`; one region where there are no more."""
    heights = np.unique(tree.heights)
    counts = tree.leaves - np.searchsorted(tree.heights, heights, side="right")
    levels = [Level(float(height), int(count)) for height, count in zip(heights[::-1], counts[::-1], strict=True)]
    chosen = [level for level in levels if 1 < level.regions <= FINEST]
    if chosen:
        return tuple(chosen)
    coarsest = next((level for level in levels if level.regions > 1), None)
    return (coarsest if coarsest is not None and coarsest.regions <= MAX_REGIONS else Level(1.0, 1),)


def _anchors(labels: LabelMap, count: int, *, max_pixels: int = HIERARCHY_PIXELS) -> NDArray[np.int64]:
    """For each region its pixel (row, column) that is farthest from every border, the image's included.

    Of more than ``max_pixels`` pixels only every so many are looked at; a region between them has its first pixel.

    >>> _anchors(np.array([[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1]], np.int32), 2)[0]
    array([1, 1])
    """
    step = math.ceil(math.sqrt(labels.size / max_pixels))
    coarse = labels[::step, ::step]
    framed = np.pad(coarse, 1, constant_values=-2)
    sides = (framed[:-2, 1:-1], framed[2:, 1:-1], framed[1:-1, :-2], framed[1:-1, 2:])
    inside = np.logical_and.reduce([side == coarse for side in sides])
    depth = ndimage.distance_transform_edt(np.pad(inside, 1))[1:-1, 1:-1]
    anchors = step * np.array(ndimage.maximum_position(depth, coarse, np.arange(count)), np.int64).reshape(count, 2)
    skipped = np.flatnonzero(np.bincount(coarse[coarse >= 0], minlength=count) == 0)
    if skipped.size:
        numbers, first = np.unique(labels, return_index=True)
        anchors[skipped] = np.stack(np.unravel_index(first[np.searchsorted(numbers, skipped)], labels.shape), axis=1)
    return anchors
