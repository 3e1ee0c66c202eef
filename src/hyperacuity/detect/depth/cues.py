r"""Cues to which of two neighbouring regions is in front, each a number that changes its sign when the two are swapped.

========================  =======================================================================================
group                     cues
========================  =======================================================================================
``convexity``             who bulges into the other, in discs of 4 to 64 pixels radius along the border
``junctions``             who has the wider angle where the border meets a third region, and who has 180°
``size``, ``surround``    area; how much of each one's outline is the common border; who lies in whose hull
``shape``                 compactness, share of the convex hull
``frame``, ``position``   contact with the image's frame; height in the image, who is below along the border
``colour``                lightness and the two colour axes, of the regions and along the border
``texture``               gradient, quantisation steps, spread of lightness, of the regions and along the border
``ownership``             :func:`~hyperacuity.detect.depth.ownership.probability_of_ownership`, likewise
``network``               a given field of ownership along the border (:mod:`~hyperacuity.detect.depth.evidence`)
========================  =======================================================================================

:mod:`~hyperacuity.detect.depth.cue_model` learns how much each of them is worth.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from hyperacuity.detect.depth.evidence import ownership_vectors, pair_evidence
from hyperacuity.detect.depth.ownership import cached_ownership, lightness
from hyperacuity.detect.detection import planes
from hyperacuity.errors import UsageError
from hyperacuity.kernels import cues as kernels
from hyperacuity.kernels.ownership import bounding_boxes
from hyperacuity.maps import LabelMap, order_map, same_size
from hyperacuity.ordering.figure_ground import Neighbours, neighbours

Values = NDArray[np.float64]
Planes = NDArray[np.float32]

CONVEXITY_RADII = (4, 8, 16, 32, 64)
JUNCTION_RADII = (6, 12)
BANDS = ((0, 4), (3, 12))
"""Strips along the border that are read: how many pixels are left out, and how many are taken."""

GROUPS = (
    "convexity", "junctions", "size", "surround", "shape", "frame", "position", "colour", "texture", "ownership",
)  # fmt: skip
"""Groups of cues that an image and its regions have."""

OUTLINE = frozenset({"convexity", "junctions"})
"""Those that regions have without an image."""

NETWORK = "network"
"""The group of cues that a field of ownership, such as a network's, has."""


@dataclass(frozen=True, eq=False)
class PairCues:
    """The cues of each pair of neighbours (pairs × cues), their names ``group: cue``, and the pairs."""

    borders: Neighbours
    names: tuple[str, ...]
    values: Values

    def of(self, names: Collection[str]) -> Values:
        """The cues of these names, in their order."""
        return self.values[:, [self.names.index(name) for name in names]]


def group_of(name: str) -> str:
    """The group of a cue.

    >>> group_of("convexity: 4 px")
    'convexity'
    """
    return name.partition(":")[0]


def pair_cues(
    image: ArrayLike,
    labels: ArrayLike,
    *,
    groups: Collection[str] | None = None,
    ownership: ArrayLike | None = None,
    field: ArrayLike | None = None,
) -> PairCues:
    """The cues of all pairs of neighbouring regions of an image. One region has no pair.

    Parameters
    ----------
    image
        H×W or H×W×3, uint8, uint16 or floats in [0, 1].
    labels
        Its regions; void pixels belong to none.
    groups
        Which cues; those of the others are not computed. By default all, those of ``network`` where there is a field.
    ownership
        Probability of ownership, where it is known already.
    field
        H×W×2, from ground to figure, for the cues of ``network``.

    Examples
    --------
    >>> y, x = np.mgrid[-20:21, -30:31]
    >>> disc = np.hypot(y, x) < 12
    >>> result = pair_cues(np.where(disc, 0.2, 0.8), disc)
    >>> result.values[0, result.names.index("convexity: 8 px")] < 0  # the first region, around the disc, does not bulge
    np.True_
    """
    wanted = set(GROUPS) | ({NETWORK} if field is not None else set()) if groups is None else set(groups)
    if unknown := sorted(wanted - {*GROUPS, NETWORK}):
        raise UsageError(f"there are no cues {unknown[0]!r}; there are {', '.join((*GROUPS, NETWORK))}")
    if NETWORK in wanted and field is None:
        raise UsageError("the cues of network need a field of ownership")
    borders = neighbours(labels)
    result = _image_cues(image, borders, wanted, ownership) if wanted - {NETWORK} else {}
    if NETWORK in wanted and field is not None and borders.count > 0:
        vectors = ownership_vectors(field)
        size = np.linalg.norm(vectors, axis=2, keepdims=True)
        leaning = vectors * np.divide(np.tanh(size / 2), size, out=np.zeros_like(size), where=size > 0)
        result["network: log-odds"] = pair_evidence(vectors, borders)
        result["network: advantage"] = pair_evidence(leaning, borders)  # which counts sure places less
    names = tuple(sorted(name for name in result if group_of(name) in wanted))
    values = np.stack([result[name] for name in names], axis=1) if names else np.zeros((borders.count, 0))
    return PairCues(borders, names, values)


def _image_cues(
    image: ArrayLike, borders: Neighbours, groups: Collection[str], ownership: ArrayLike | None
) -> dict[str, Values]:
    same_size(planes(image)[0], borders.labels, names=("image", "segmentation"))
    if borders.count == 0:
        return {}
    outline = _outline_cues(borders)
    if OUTLINE.issuperset(groups):
        return dict(outline)
    look = appearance(image)
    if "ownership" not in groups:
        order = np.ones_like(look[0])
    else:
        order = cached_ownership(image) if ownership is None else order_map(ownership)
    read = np.stack([*look, np.log(order)])
    return {**outline, **_region_cues(borders, read), **_border_cues(borders, read)}


LOOKS = ("colour: lightness", "colour: green to red", "colour: blue to yellow", "texture: gradient", "texture: steps")
READ = (*LOOKS, "ownership: ownership")


def appearance(image: ArrayLike) -> Planes:
    """Planes that cues are read from: lightness, two colour axes, gradient and steps of quantised lightness."""
    light = lightness(image)
    pixels = np.asarray(image)
    if pixels.ndim == 3 and pixels.shape[2] == 3:
        scale = np.float32(1 if pixels.dtype.kind == "f" else np.iinfo(pixels.dtype).max)
        red, green, blue = np.moveaxis(pixels, 2, 0).astype(np.float32) / scale
        axes = (red - green, (red + green) / 2 - blue)
    else:
        axes = (np.zeros_like(light), np.zeros_like(light))
    gradient = np.hypot(*np.gradient(light)) if min(light.shape) > 1 else np.zeros_like(light)
    return np.stack([light, *axes, gradient, quantisation_steps(light)]).astype(np.float32)


def quantisation_steps(light: Planes) -> Planes:
    """Number of boundaries of quantised lightness between a pixel and its left and upper neighbour, over all cuts.

    The cuts are those of probability of ownership: 4, 8, 16 and 32 intervals, each twice.

    >>> quantisation_steps(np.array([[0.1, 0.1, 0.9]], np.float32))
    array([[0., 0., 8.]], dtype=float32)
    """
    steps = np.zeros(light.shape, np.float32)
    for count in (4, 8, 16, 32):
        for shift in (0.0, 0.5):
            bins = np.floor(light * np.float32(count) + np.float32(shift))
            steps[:, 1:] += bins[:, 1:] != bins[:, :-1]
            steps[1:] += bins[1:] != bins[:-1]
    return steps


def crack_pairs(borders: Neighbours) -> tuple[LabelMap, LabelMap]:
    """The number of the pair at the crack to the right of and below each pixel; −1 for none."""
    right, below = (np.full(borders.labels.shape, -1, np.int32) for _ in range(2))
    level = borders.there == borders.here + 1
    right.ravel()[borders.here[level]] = borders.pair[level]
    below.ravel()[borders.here[~level]] = borders.pair[~level]
    return right, below


def _outline_cues(borders: Neighbours) -> Mapping[str, Values]:
    """Cues that need no image: convexity, junctions, who is below."""
    first, second = borders.first.astype(np.int32), borders.second.astype(np.int32)
    right, below = crack_pairs(borders)
    length = np.maximum(borders.cracks, 1)
    result: dict[str, Values] = {}
    for radius in CONVEXITY_RADII:
        result[f"convexity: {radius} px"] = (
            kernels.convexity(borders.labels, first, second, right, below, radius) / length
        )
    for radius in JUNCTION_RADII:
        count, wider, half = kernels.junctions(borders.labels, first, right, below, radius).T
        result[f"junctions: wider angle, {radius} px"] = wider / np.maximum(count, 1)
        result[f"junctions: half turn, {radius} px"] = half / np.maximum(count, 1)
        result[f"junctions: sum of wider angles, {radius} px"] = wider / np.sqrt(count + 1)
        result[f"junctions: sum of half turns, {radius} px"] = half / np.sqrt(count + 1)
    # +1 where the first region is below the crack, −1 where the second is.
    level = borders.there == borders.here + 1
    here_first = borders.labels.ravel()[borders.here] == borders.first[borders.pair]
    result["position: below along the border"] = (
        borders.add_up(np.where(level, 0.0, np.where(here_first, -1.0, 1.0))) / length
    )
    return result


def _region_cues(borders: Neighbours, planes: Planes) -> Mapping[str, Values]:
    """Differences of what is known of each region by itself, and who surrounds whom."""
    labels = borders.labels
    height, width = labels.shape
    count = int(labels.max()) + 1
    a, b = borders.first, borders.second
    known = labels >= 0
    flat = labels[known]
    area = np.bincount(flat, minlength=count).astype(np.float64)
    border = np.bincount(a, borders.cracks, count) + np.bincount(b, borders.cracks, count)
    edges = [
        np.bincount(line[line >= 0], minlength=count) for line in (labels[0], labels[-1], labels[:, 0], labels[:, -1])
    ]
    top, bottom, sides = edges[0], edges[1], edges[2] + edges[3]
    around = border + top + bottom + sides
    y, x = (grid[known] for grid in np.mgrid[:height, :width])
    row, column = np.bincount(flat, y, count) / area / height, np.bincount(flat, x, count) / area / width
    lowest = ndimage.maximum(y, flat, np.arange(count)) / height
    highest = ndimage.minimum(y, flat, np.arange(count)) / height
    hull, inside = _hulls(borders, area)
    per_region = {
        "size: area": np.log(area),
        "shape: compactness": np.log(area) - 2 * np.log(np.maximum(around, 1)),
        "shape: share of hull": area / hull,
        "frame: share of outline": (top + bottom + sides) / np.maximum(around, 1),
        "frame: touches": ((top + bottom + sides) > 0).astype(np.float64),
        "frame: length": (top + bottom + sides) / (2 * (height + width)),
        "frame: top": top / width,
        "frame: bottom": bottom / width,
        "position: height": row,
        "position: lowest point": lowest,
        "position: highest point": highest,
        "position: away from the middle column": np.abs(column - 0.5),
    }
    inner = _interior(labels, count)
    for name, plane in zip(READ, planes, strict=True):
        values = plane[known].astype(np.float64)
        mean = _means(values, flat, inner[known], count)
        per_region[f"{name}, region"] = np.log(mean + 1e-3) if name.startswith("texture") else mean
        if name == "colour: lightness":
            square = _means(values**2, flat, inner[known], count)
            spread = np.sqrt(np.maximum(square - mean**2, 0))
            per_region["texture: spread, region"] = np.log(spread + 1e-3)
            per_region["colour: extreme lightness, region"] = np.abs(mean - 0.5)
    result = {name: values[a] - values[b] for name, values in per_region.items()}
    length = borders.cracks
    result["surround: share of outline"] = length / np.maximum(around[a], 1) - length / np.maximum(around[b], 1)
    result["surround: in the other's hull"] = inside[:, 1] - inside[:, 0]
    result["size: ratio"] = (area[a] - area[b]) / (area[a] + area[b])
    return result


def _border_cues(borders: Neighbours, planes: Planes) -> Mapping[str, Values]:
    """Differences between the strips on either side of the common border."""
    right, below = crack_pairs(borders)
    first = borders.first.astype(np.int32)
    length = np.maximum(borders.cracks, 1)
    result = {}
    for skip, band in BANDS:
        sums = kernels.beside_borders(borders.labels, first, right, below, planes, skip, band)
        for name, total in zip(READ, sums.T, strict=True):
            result[f"{name}, {skip} – {skip + band} px"] = total / length
    return result


def _interior(labels: LabelMap, count: int) -> NDArray[np.bool_]:
    """Pixels two or more away from any other region; all of a region that has none such."""
    lowest, highest = (
        extreme(labels, 5, mode="nearest") for extreme in (ndimage.minimum_filter, ndimage.maximum_filter)
    )
    inner: NDArray[np.bool_] = (lowest == highest) & (labels >= 0)
    has = np.bincount(labels[inner], minlength=count) > 0
    whole: NDArray[np.bool_] = ~np.append(has, True)[labels] & (labels >= 0)
    return inner | whole


def _means(values: Values, flat: LabelMap, inner: NDArray[np.bool_], count: int) -> Values:
    return np.bincount(flat[inner], values[inner], count) / np.bincount(flat[inner], minlength=count)


def _hulls(borders: Neighbours, area: Values) -> tuple[Values, Values]:
    """The area of each region's convex hull, and per pair the share of the second in the first's hull and the other way round."""
    count = len(area)
    ends = np.concatenate([borders.first, borders.second])
    others = np.concatenate([borders.second, borders.first]).astype(np.int32)
    pairs = np.tile(np.arange(borders.count, dtype=np.int32), 2)
    order = np.argsort(ends, kind="stable")
    start = np.searchsorted(ends[order], np.arange(count + 1)).astype(np.int64)
    inside = np.zeros((borders.count, 2))
    labels = borders.labels
    boxes = bounding_boxes(np.where(labels < 0, np.int32(count), labels))[
        :count
    ]  # void pixels as a region of their own
    hull = kernels.hulls(labels, boxes, start, others[order], pairs[order], inside)
    return hull, inside / np.stack([area[borders.second], area[borders.first]], axis=1)
