"""Hierarchies of regions: built from a soft boundary map, or read from an ultrametric contour map.

A soft map becomes regions by watershed; the boundaries between them are weighed by the strength along them (the oriented
watershed transform), and merged from the weakest up (Arbeláez, Maire, Fowlkes & Malik 2011). The merges are a binary partition
tree; drawn back into the image, with the height of the merge as strength, they are the ultrametric contour map.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels.arcs import arc_directions
from hyperacuity.kernels.hierarchy import boundary_edges, contour_cells, merge_regions
from hyperacuity.kernels.ultrametric import rising_levels
from hyperacuity.kernels.watershed import basins
from hyperacuity.maps import LabelMap, SoftMap, label_map, same_size, soft_map
from hyperacuity.regions.levels import Levels, double_size, rising


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A binary partition tree over the regions of an image.

    The n regions of ``labels`` are the leaves, nodes 0 … n − 1; merge i makes node n + i of its two ``children``. The last node
    is the whole image.

    Attributes
    ----------
    labels
        The finest regions, numbered from 0.
    children
        int32 (n − 1)×2, the nodes that each merge joins.
    heights
        Strength of the boundary that each merge removes; they never fall.
    lengths
        Length of that boundary in cracks (pixel edges).
    pairs, saliency
        int32 m×2 and float64 m: neighbouring leaves, and the height at which they come to lie in one region.
    """

    labels: LabelMap
    children: NDArray[np.int32]
    heights: NDArray[np.float64]
    lengths: NDArray[np.int64]
    pairs: NDArray[np.int32]
    saliency: NDArray[np.float64]

    @property
    def leaves(self) -> int:
        """Number of finest regions."""
        return len(self.children) + 1

    @property
    def parents(self) -> NDArray[np.int32]:
        """The parent of each node; that of the root is the root."""
        parents = np.arange(2 * self.leaves - 1, dtype=np.int32)
        parents[self.children] = np.arange(self.leaves, 2 * self.leaves - 1, dtype=np.int32)[:, np.newaxis]
        return parents

    @cached_property
    def joins(self) -> NDArray[np.int32]:
        """The merges by the first leaves of their two sides (stays, goes), so that regions keep their names while they grow."""
        first = np.arange(2 * self.leaves - 1, dtype=np.int32)
        for merge, (a, b) in enumerate(self.children):
            first[self.leaves + merge] = min(first[a], first[b])
        return np.sort(first[self.children], axis=1)

    def levels(self, thresholds: ArrayLike) -> Levels:
        """Cut at rising levels: at level t every merge of height ≤ t has happened."""
        steps = rising(thresholds)
        return Levels(steps, self.labels, self.joins, np.searchsorted(self.heights, steps, side="right"))

    def at(self, threshold: float) -> LabelMap:
        """The regions at one level.

        >>> hierarchy([[0, 0.2, 0, 0.9, 0]]).at(0.5)
        array([[0, 0, 0, 0, 2]], dtype=int32)
        """
        return self.levels([threshold]).at(0)

    def ucm2(self) -> SoftMap:
        """The ultrametric contour map at double size, (2H+1) × (2W+1): pixels at odd positions, strength of contours between.

        Its regions at any level (:func:`~hyperacuity.regions.ucm_levels`) are those of the tree.
        """
        height, width = self.labels.shape
        cells = np.zeros((2 * height + 1, 2 * width + 1), np.float32)
        contour_cells(self.labels, self.saliency, self.pairs, cells)
        return cells

    def ucm(self) -> SoftMap:
        """The contour map at image size, as Berkeley's benchmark takes it: every second cell of :meth:`ucm2`, from the third."""
        return np.ascontiguousarray(self.ucm2()[2::2, 2::2])


def hierarchy(strength: ArrayLike, *, direction: ArrayLike | None = None, tolerance: float = 2.0) -> Hierarchy:
    """The hierarchy of a soft boundary map, by the oriented watershed transform and merging by mean strength.

    Parameters
    ----------
    strength
        H×W, or K×H×W for K directions of the boundary at k·180°/K (0 = along x, towards y = down).
    direction
        H×W radians across the edge, as a detector gives it; the strength counts with |cos| of the angle between it and the
        normal of the boundary piece. Without it, and with an H×W strength, strength counts whatever the direction.
    tolerance
        How far, in pixels, a boundary may stray from the chord that gives its direction.

    Notes
    -----
    Boundaries run between pixels. A crack has the larger strength of its two pixels, so that a line one pixel wide counts in
    full on whichever side of it the boundary runs. A map without any boundary gives one region. Values are held in single
    precision, as maps are.

    References
    ----------
    Arbeláez, Maire, Fowlkes & Malik (2011), sections 4.1 and 4.2.

    Examples
    --------
    >>> tree = hierarchy([[0, 0.2, 0, 0.9, 0]])
    >>> tree.leaves, tree.heights.round(2)
    (3, array([0.2, 0.9]))
    """
    planes = _planes(strength)
    if direction is not None and len(planes) > 1:
        raise UsageError("a strength for each direction leaves no room for another direction; give one or the other")
    if not 0 <= tolerance < np.inf:
        raise UsageError(f"tolerance is {tolerance}, expected a distance in pixels")
    across = None if direction is None else np.asarray(direction, dtype=np.float32)
    if across is not None:
        same_size(across, planes[0], names=("direction", "strength"))
    labels = basins(planes.max(axis=0))
    along = (None, None) if across is None and len(planes) == 1 else arc_directions(labels, float(tolerance))
    right, down = (_crack_strengths(planes, across, angles, axis) for angles, axis in zip(along, (2, 1), strict=True))
    return merge_boundaries(labels, right, down)


def merge_boundaries(labels: ArrayLike, right: ArrayLike, down: ArrayLike) -> Hierarchy:
    """The hierarchy of given regions, by the mean strength of the cracks between them.

    ``right[y, x]`` is the strength between the pixels (y, x) and (y, x + 1), ``down[y, x]`` that to (y + 1, x).

    Examples
    --------
    >>> merge_boundaries([[0, 0, 1]], [[0, 0.25, 0]], [[0, 0, 0]]).heights
    array([0.25])
    """
    leaves = _leaves(labels)
    cracks = [np.ascontiguousarray(values, dtype=np.float32) for values in (right, down)]
    for values in cracks:
        same_size(values, leaves, names=("strength of cracks", "segmentation"))
    pairs, sums, _, lengths = boundary_edges(leaves, *cracks)
    return _merged(leaves, pairs, sums, lengths, mean=True)


def ucm_hierarchy(ucm2: ArrayLike) -> Hierarchy:
    """The binary partition tree of an ultrametric contour map of double size, such as Berkeley's ``ucm2`` files hold.

    Leaves are the regions at level 0. The pair of neighbours with the lowest contour merges first; of equals the shorter, then
    the first in reading order. Corners count where they are lower than the cracks around them, as they do in
    :func:`ucm_levels`, so the two agree on any map.

    Examples
    --------
    >>> tree = ucm_hierarchy(hierarchy([[0, 0.2, 0, 0.9, 0]]).ucm2())
    >>> tree.leaves, tree.heights.round(2)
    (3, array([0.2, 0.9]))
    """
    cells = double_size(ucm2)
    leaves, _, _ = rising_levels(cells, np.zeros(1))
    right, down = np.zeros((2, *leaves.shape), np.float32)
    right[:, :-1], down[:-1] = cells[1::2, 2:-1:2], cells[2:-1:2, 1::2]
    pairs, _, least, lengths = boundary_edges(leaves, right, down)
    return _merged(leaves, *_with_corners(cells, leaves, pairs, least, lengths), mean=False)


def _with_corners(
    cells: NDArray[np.float64],
    leaves: LabelMap,
    pairs: NDArray[np.int32],
    least: NDArray[np.float64],
    lengths: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]:
    """The boundaries, with those added or lowered where regions meet at a corner that is lower than its cracks."""
    cracks = cells.copy()
    cracks[0::2, 0::2] = 0
    padded = np.pad(cracks, 1)
    around = np.max([padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]], axis=0)
    rows, columns = np.nonzero(cells[0::2, 0::2] < around[0::2, 0::2])
    if len(rows) == 0:
        return pairs, least, lengths
    height, width = leaves.shape
    ring = [(dy, dx) for dy in (-1, 0) for dx in (-1, 0)]
    more, values = [], []
    for i, (ay, ax) in enumerate(ring):
        for by, bx in ring[i + 1 :]:
            ys, xs, vs, us = rows + ay, columns + ax, rows + by, columns + bx
            inside = (np.minimum(ys, vs) >= 0) & (np.maximum(ys, vs) < height)
            inside &= (np.minimum(xs, us) >= 0) & (np.maximum(xs, us) < width)
            more.append(np.sort([leaves[ys[inside], xs[inside]], leaves[vs[inside], us[inside]]], axis=0).T)
            values.append(cells[0::2, 0::2][rows[inside], columns[inside]])
    every = np.concatenate([pairs, *more])
    weights, sizes = np.concatenate([least, *values]), np.zeros(len(every), np.int64)
    sizes[: len(lengths)] = lengths
    different = every[:, 0] != every[:, 1]
    named, index = np.unique(every[different], axis=0, return_inverse=True)
    lowest, total = np.full(len(named), np.inf), np.zeros(len(named), np.int64)
    np.minimum.at(lowest, index.ravel(), weights[different])
    np.add.at(total, index.ravel(), sizes[different])
    return named.astype(np.int32), lowest, total


def _merged(
    leaves: LabelMap, pairs: NDArray[np.int32], weights: NDArray[np.float64], lengths: NDArray[np.int64], *, mean: bool
) -> Hierarchy:
    children, heights, removed, saliency = merge_regions(int(leaves.max()) + 1, pairs, weights, lengths, mean)
    # Single precision, like the maps: the tree and its contour map then agree at every level, rounded or not.
    heights, saliency = (values.astype(np.float32).astype(np.float64) for values in (heights, saliency))
    return Hierarchy(leaves, children, heights, removed, pairs, saliency)


def _planes(strength: ArrayLike) -> NDArray[np.float32]:
    """Soft maps, one per direction."""
    values = np.asarray(strength)
    if values.ndim == 3:
        if len(values) == 0:
            raise InputError("strength has no direction, expected at least one plane")
        return np.stack([soft_map(plane, name="strength") for plane in values])
    return soft_map(strength, name="strength")[np.newaxis]


def _leaves(labels: ArrayLike) -> LabelMap:
    checked = label_map(labels, name="segmentation")
    if checked.min() < 0:
        raise InputError("segmentation has void pixels, expected a region at every pixel")
    return np.unique(checked, return_inverse=True)[1].reshape(checked.shape).astype(np.int32)


def _crack_strengths(
    planes: NDArray[np.float32], across: NDArray[np.float32] | None, along: NDArray[np.float32] | None, axis: int
) -> NDArray[np.float32]:
    """Strength of the cracks between each pixel and the next along an axis of ``planes`` (2 = right, 1 = down)."""
    near = (slice(None),) * axis + (slice(None, -1),)
    far = (slice(None),) * axis + (slice(1, None),)
    result = np.zeros(planes.shape[1:], np.float32)
    angles = None if along is None else along[near[1:]]
    result[near[1:]] = np.maximum(
        *(_seen(planes[side], None if across is None else across[side[1:]], angles) for side in (near, far))
    )
    return result


def _seen(
    planes: NDArray[np.float32], across: NDArray[np.float32] | None, along: NDArray[np.float32] | None
) -> NDArray[np.float32]:
    """Each pixel's strength for a boundary in the direction ``along``, which is NaN where there is none."""
    seen: NDArray[np.float32] = planes[0]
    if along is not None and across is not None:
        seen = seen * np.abs(np.sin(np.nan_to_num(along) - across))
    elif along is not None:
        bins = np.rint(np.nan_to_num(along) * (len(planes) / np.pi)).astype(np.intp) % len(planes)
        seen = np.take_along_axis(planes, bins[np.newaxis], axis=0)[0]
    return seen
