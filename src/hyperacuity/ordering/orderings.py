"""Depth orders, in the two forms people and systems give them.

A :class:`Partition` has regions and one depth per region: everything is ordered against everything. :class:`Sides` are contours
with a figure's and a ground's side (Berkeley's ``.fg``): only neighbours are ordered, and
:func:`~hyperacuity.ordering.whole_order` turns that into one order if the regions are known. :func:`ordering` makes either
from an order map.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError
from hyperacuity.kernels.ordering import middle_values
from hyperacuity.kernels.pieces import group_pixels, label_pieces
from hyperacuity.maps import VOID, LabelMap, OrderMap, label_map, order_map, same_size

Middle = Literal["mean", "low"]
"""The median of an even number of values: the mean of the two middle ones, or the lower one."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Regions 0, 1, … (void where there is none), their depths (larger = nearer), and the dense order they are from.

    The depth of a region is NaN if it is unknown.
    """

    labels: LabelMap
    depth: NDArray[np.float64]
    order: OrderMap

    @property
    def regions(self) -> int:
        """Number of regions."""
        return self.depth.size

    def painted(self) -> NDArray[np.float64]:
        """Each pixel's depth; NaN on void pixels."""
        return np.append(self.depth, np.nan)[self.labels]


@dataclass(frozen=True, eq=False)
class Sides:
    """Labelled contours: +1 on the figure's side, −1 on the ground's, NaN elsewhere; and the regions they bound, if known.

    ``whole`` is all of these regions in one order, if :func:`~hyperacuity.ordering.whole_order` has computed it.
    """

    sides: OrderMap
    labels: LabelMap | None = None
    whole: Partition | None = None


Ordering = Partition | Sides


def ordering(
    order: ArrayLike, labels: ArrayLike | None = None, *, name: str = "order map", middle: Middle = "mean"
) -> Ordering:
    """Convert an order map: to :class:`Sides` if it is ±1 along contours and NaN elsewhere, else to a :class:`Partition`.

    Parameters
    ----------
    order
        Larger = nearer, NaN = unknown.
    labels
        The regions. Without them those of a partition are the 4-connected pieces of equal order.
    name
        What messages call the map.
    middle
        See :func:`region_medians`.

    Examples
    --------
    >>> result = ordering([[3, 3, 1], [3, 1, 1]])
    >>> result.labels, result.depth
    (array([[0, 0, 1],
           [0, 1, 1]], dtype=int32), array([3., 1.]))
    >>> type(ordering([[float("nan"), -1, 1, float("nan")]])).__name__
    'Sides'
    """
    values = order_map(order, name=name)
    regions = None if labels is None else label_map(labels, name=f"regions of {name}")
    if regions is not None:
        same_size(values, regions, names=(name, "its segmentation"))
    if is_sides(values):
        return Sides(values, regions)
    if regions is None:
        return pieces(values)
    return partition(values, regions, middle=middle)


def is_sides(order: OrderMap) -> bool:
    """True if an order map only says which side of contours is the figure: its known values are ±1, and some are unknown.

    >>> is_sides(np.array([[1, -1, np.nan]], np.float32)), is_sides(np.array([[1, -1]], np.float32))
    (True, False)
    """
    unknown = np.isnan(order)
    return bool(unknown.any() and np.all(unknown | (np.abs(order) == 1)) and (order == 1).any() and (order == -1).any())


def pieces(order: OrderMap) -> Partition:
    """The partition into 4-connected pieces of equal order, numbered in reading order; unknown pixels are void."""
    unknown = np.isnan(order)
    # Equal numbers have equal bits once −0 is +0 and every NaN is the same one.
    bits = np.where(unknown, np.float32(np.nan), order + np.float32(0)).view(np.int32)
    labels = label_pieces(np.ascontiguousarray(bits))
    if unknown.any():
        labels = consecutive(np.where(unknown, np.int32(VOID), labels))
    count = int(labels.max()) + 1
    depth = np.empty(count)
    valid = ~unknown
    depth[labels[valid]] = order[valid]
    return Partition(labels, depth, order)


def partition(order: ArrayLike, labels: ArrayLike, *, middle: Middle = "mean") -> Partition:
    """The given regions, each with the median of its pixels' order: the transfer of Maire et al. (2016).

    >>> partition([[1, 1, 9, 5]], [[4, 4, 4, 7]]).depth
    array([1., 5.])
    """
    values, regions = order_map(order), label_map(labels)
    same_size(values, regions, names=("order map", "segmentation"))
    numbered = consecutive(regions)
    return Partition(numbered, region_medians(values, numbered, middle=middle), values)


def region_medians(order: OrderMap, labels: LabelMap, *, middle: Middle = "mean") -> NDArray[np.float64]:
    """The median order of each region 0, 1, …; unknown pixels are left out, and a region with no other pixels has NaN."""
    if middle not in ("mean", "low"):
        raise InputError(f"middle {middle!r}: expected 'mean' or 'low'")
    pixels, start = group_pixels(labels, int(labels.max()) + 1)
    return middle_values(np.ascontiguousarray(order, np.float32).ravel(), pixels, start, middle == "low")


def transfer(order: ArrayLike, labels: ArrayLike, *, middle: Middle = "mean") -> OrderMap:
    """A dense order painted onto a segmentation: every pixel has the median of its region; void pixels are NaN.

    >>> transfer([[1, 1, 9, 5]], [[4, 4, 4, 7]])
    array([[1., 1., 1., 5.]], dtype=float32)
    """
    return partition(order, labels, middle=middle).painted().astype(np.float32)


def consecutive(labels: LabelMap) -> LabelMap:
    """Number the regions 0, 1, … in the order of their labels; void stays void.

    >>> consecutive(np.array([[7, -1, 3]], np.int32))
    array([[ 1, -1,  0]], dtype=int32)
    """
    highest = int(labels.max())
    if highest > 8 * labels.size:  # too sparse for a table of all labels
        distinct, indices = np.unique(labels, return_inverse=True)
        return (indices.reshape(labels.shape) - np.searchsorted(distinct, 0)).astype(np.int32)
    used = np.zeros(highest + 2, np.bool_)  # the last entry takes the void
    used[labels] = True
    used[-1] = False
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    number[-1] = VOID
    renumbered: LabelMap = number[labels]
    return renumbered
