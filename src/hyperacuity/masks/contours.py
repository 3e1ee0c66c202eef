"""Two masks: their contours, the bands along them, and what both have in common."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.boundary import match
from hyperacuity.kernels.distances import squared_distances
from hyperacuity.maps import EdgeMap, edge_map, same_size


def contour(mask: NDArray[np.bool_] | NDArray[np.integer]) -> EdgeMap:
    """The contour of a mask, or the borders of a label map: pixels whose right, lower or lower right neighbour differs.

    In the last row only the right neighbour counts, in the last column only the lower one: the frame is no contour. A mask
    that fills the picture has none, nor does an empty one.

    References
    ----------
    Martin's ``seg2bmap`` (2003), which the DAVIS benchmark (Perazzi et al. 2016) uses.

    Examples
    --------
    >>> contour(np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], dtype=bool)).astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [0, 0, 0]])
    """
    edge = np.zeros(mask.shape, np.bool_)
    edge[:, :-1] |= mask[:, :-1] != mask[:, 1:]
    edge[:-1] |= mask[:-1] != mask[1:]
    edge[:-1, :-1] |= mask[:-1, :-1] != mask[1:, 1:]
    return edge


def inner_band(mask: NDArray[np.bool_], width: int) -> EdgeMap:
    """The pixels of a mask that lie within ``width`` of what is outside it, in chessboard distance; the frame is outside.

    These are the pixels that ``width`` erosions by a 3×3 square take away. An empty mask has an empty band.

    References
    ----------
    Cheng, Girshick, Dollár, Berg & Kirillov (2021), Boundary IoU: improving object-centric image segmentation evaluation.

    Examples
    --------
    >>> inner_band(np.ones((4, 5), dtype=bool), 1).astype(int)
    array([[1, 1, 1, 1, 1],
           [1, 0, 0, 0, 1],
           [1, 0, 0, 0, 1],
           [1, 1, 1, 1, 1]])
    """
    inner = mask
    for axis in (0, 1):  # a square is a column of rows
        inner = _eroded(inner, width, axis)
    return np.asarray(mask & ~inner)


def _eroded(mask: NDArray[np.bool_], width: int, axis: int) -> NDArray[np.bool_]:
    """The pixels all of whose neighbours up to ``width`` away along an axis are in the mask."""
    around = [(0, 0), (0, 0)]
    around[axis] = (width + 1, width)
    sums = np.cumsum(np.pad(mask, around), axis=axis, dtype=np.int32)
    size = 2 * width + 1
    within = np.take(sums, range(size, sums.shape[axis]), axis) - np.take(sums, range(sums.shape[axis] - size), axis)
    return np.asarray(within == size)


@dataclass(frozen=True)
class MaskCounts:
    """Pixels that two masks have in common. Counts add up over objects and images; the ratios are of these.

    Parameters
    ----------
    detected, truth
        Contour pixels of the predicted and of the true mask.
    detected_near, truth_near
        Those within the tolerance of *any* contour pixel of the other (DAVIS' rule: inside its dilation).
    matched
        How many pairs there are at most if every contour pixel has one partner, within the same tolerance.
    band_common, band_any
        Pixels of both bands, and of either.
    common, area
        Pixels of both masks, and of either.
    """

    detected: int
    truth: int
    detected_near: int
    truth_near: int
    matched: int
    band_common: int
    band_any: int
    common: int
    area: int

    def __add__(self, other: MaskCounts) -> MaskCounts:
        """Sums of counts."""
        return MaskCounts(*(getattr(self, part.name) + getattr(other, part.name) for part in fields(self)))

    @property
    def f(self) -> float:
        """DAVIS' boundary measure: F of the contour pixels near the other contour. 1 for two empty contours, 0 for one."""
        return self._f(self.detected_near, self.truth_near)

    @property
    def one_to_one(self) -> float:
        """F of the contour pixels matched one to one; never more than :attr:`f`."""
        return self._f(self.matched, self.matched)

    def _f(self, detected: int, truth: int) -> float:
        if not self.detected or not self.truth:
            return float(self.detected == self.truth)
        precision, recall = detected / self.detected, truth / self.truth
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

    @property
    def boundary_iou(self) -> float:
        """Boundary IoU: intersection over union of the two bands; 1 for two empty masks."""
        return self.band_common / self.band_any if self.band_any else 1.0

    @property
    def j(self) -> float:
        """Region IoU (Jaccard, DAVIS' J): intersection over union of the two masks; 1 for two empty masks."""
        return self.common / self.area if self.area else 1.0


def count_masks(
    prediction: ArrayLike, truth: ArrayLike, radius: int, width: int, *, checked: bool = False
) -> MaskCounts:
    """Compare two masks: contours within ``radius`` pixels of each other, bands ``width`` pixels wide.

    ``checked`` verifies that the matching is optimal.

    References
    ----------
    Perazzi, Pont-Tuset, McWilliams, Van Gool, Gross & Sorkine-Hornung (2016), A benchmark data set and evaluation methodology
    for video object segmentation, for F and J.

    Examples
    --------
    A half plane, and the same with a loose line two pixels from its edge: three contours where there is one.

    >>> truth = np.zeros((10, 12), dtype=bool)
    >>> truth[:5] = True
    >>> result = truth.copy()
    >>> result[6] = True
    >>> counts = count_masks(result, truth, radius=2, width=1)
    >>> counts.detected, counts.truth, counts.matched
    (36, 12, 12)
    >>> counts.f, counts.one_to_one, round(counts.boundary_iou, 3), round(counts.j, 3)
    (1.0, 0.5, 0.714, 0.833)
    """
    mine, true = edge_map(prediction, name="prediction"), edge_map(truth, name="truth")
    same_size(mine, true)
    detected, drawn = contour(mine), contour(true)
    bands = inner_band(mine, width), inner_band(true, width)
    return MaskCounts(
        detected=int(detected.sum()),
        truth=int(drawn.sum()),
        detected_near=int((detected & near(drawn, radius)).sum()),
        truth_near=int((drawn & near(detected, radius)).sum()),
        matched=match(detected, drawn, tolerance_px=radius, checked=checked).count,
        band_common=int((bands[0] & bands[1]).sum()),
        band_any=int((bands[0] | bands[1]).sum()),
        common=int((mine & true).sum()),
        area=int((mine | true).sum()),
    )


def near(edges: EdgeMap, radius: int) -> EdgeMap:
    """The pixels at most ``radius`` away from an edge pixel: the dilation by a disc."""
    return np.asarray(squared_distances(edges) <= radius * radius)
