"""Contours with the direction of their depth step: the one-pixel-wide boundaries of a partition, each pixel with an angle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hyperacuity.errors import UsageError
from hyperacuity.kernels.ordering import find_cracks, find_directions, mark_cracks
from hyperacuity.kernels.thinning import thin
from hyperacuity.maps import VOID, EdgeMap, LabelMap
from hyperacuity.ordering.orderings import Ordering, Partition

WINDOW = 7
"""Side of the window, in pixels, within which contour normals are averaged."""

SAME_DEPTH = 1e-9
"""Depths that differ by at most this are equal."""


@dataclass(frozen=True, eq=False)
class Contours:
    """Contour pixels, and per pixel the angle in degrees of the way from near to far: 0 right, 90 down; NaN for no direction."""

    pixels: EdgeMap
    angle: NDArray[np.float64]

    @property
    def count(self) -> int:
        """Number of contour pixels."""
        return int(np.count_nonzero(self.pixels))


def contours(
    given: Ordering, *, window: int = WINDOW, same_depth: float = SAME_DEPTH, undirected: bool = True
) -> Contours:
    """The contours of an ordering.

    A pixel is on a contour when the 2×2 square of which it is the upper left corner touches more than one region; these marks are
    thinned, which is BSDS's rule. The direction at a pixel is the sum of the contour's crack normals, near to far, in a window
    around it: the normal of its chord there (Palou & Salembier 2014, step 2 of section 3.1). Only cracks between the same
    two regions as at the pixel itself count, so that a junction does not mix the contours that meet there. Void
    pixels bound nothing. One region has no contour.

    Parameters
    ----------
    window
        Side of the window, an odd number of pixels.
    same_depth
        Depths that differ by at most this are equal.
    undirected
        Whether contours without a step in depth (ties, or unknown on a side) are included, without direction.

    Examples
    --------
    >>> from hyperacuity.ordering.orderings import ordering
    >>> result = contours(ordering([[2, 2, 1, 1], [2, 2, 1, 1]]))
    >>> result.pixels.astype(int), result.angle[:, 1]
    (array([[0, 1, 0, 0],
           [0, 1, 0, 0]]), array([0., 0.]))
    """
    if window < 1 or window % 2 == 0:
        raise UsageError(f"a window of {window} pixels: expected an odd number")
    labels = regions_of(given)
    right, below = cracks(given, same_depth=same_depth)
    if not undirected:
        right[right == 2] = 0
        below[below == 2] = 0
    marks = np.empty(right.shape, np.bool_)
    mark_cracks(right, below, marks)
    pixels = thin(marks)
    indices = np.flatnonzero(pixels)
    vectors = np.empty((indices.size, 2), np.int32)
    find_directions(indices, labels, right, below, window // 2, np.empty((4, 4), np.int32), vectors)
    angle = np.full(pixels.shape, np.nan)
    degrees = np.degrees(np.arctan2(vectors[:, 1], vectors[:, 0])) % 360
    angle.flat[indices] = np.where(vectors.any(axis=1), degrees, np.nan)
    return Contours(pixels, angle)


def cracks(given: Ordering, *, same_depth: float = SAME_DEPTH) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """The crack to the right of and below each pixel: 0 none, +1 the left (upper) pixel is nearer, −1 the other, 2 no direction.

    >>> from hyperacuity.ordering.orderings import ordering
    >>> cracks(ordering([[2, 1, 5]]))[0]
    array([[ 1, -1,  0]], dtype=int8)
    """
    labels = regions_of(given)
    order = given.painted() if isinstance(given, Partition) else given.sides.astype(np.float64)
    right, below = np.empty(labels.shape, np.int8), np.empty(labels.shape, np.int8)
    find_cracks(labels, order, same_depth, right, below)
    return right, below


def regions_of(given: Ordering) -> LabelMap:
    """The regions that contours separate; for sides without regions, the two sides (void where nothing is labelled)."""
    if given.labels is not None:
        return given.labels
    return np.where(np.isnan(given.sides), VOID, given.sides > 0).astype(np.int32)


def angle_between(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """The angle between directions, 0 to 180 degrees; NaN where either has none.

    >>> angle_between(np.array([350.0, 90.0]), np.array([10.0, 270.0]))
    array([ 20., 180.])
    """
    difference: NDArray[np.float64] = np.abs((first - second + 180) % 360 - 180)
    return difference
