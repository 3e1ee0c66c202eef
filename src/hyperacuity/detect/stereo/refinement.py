"""Refinement of matches, the same for all systems: drop those that are doubtful, and fill the holes if wanted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hyperacuity.detect.stereo.costs import CostVolume, volume_memory
from hyperacuity.detect.stereo.pictures import Pixels
from hyperacuity.errors import UsageError
from hyperacuity.kernels import cost_volume, support
from hyperacuity.kernels import disparity as visibility
from hyperacuity.maps import DisparityMap, EdgeMap

Match = Callable[[Pixels, Pixels], tuple[DisparityMap, NDArray[np.float32]]]
"""From the pictures to the left one's disparity and how clearly each is best (by what share the second-best cost is larger)."""

MEDIAN_RADIUS = 9
MEDIAN_COLOUR = 25.5
MEDIAN_DISTANCE = 9.0
"""Window and weights of the weighted median (Hosni et al. 2013): 19 × 19, σ of a tenth of the grey levels, and of 9 pixels."""


def refined(
    match: Match, left: Pixels, right: Pixels, *, check: float | None, margin: float, fill: bool
) -> DisparityMap:
    """The matches that are kept, NaN or filled where they are not.

    Parameters
    ----------
    check
        Drop pixels where the match from the right differs by more than this many pixels; None keeps all.
    margin
        Drop pixels where the second-best cost is not larger than the best by this share.
    fill
        Fill what was dropped (:func:`filled`), so that the map is dense. Without ``check``, 1 pixel is meant.
    """
    if check is not None and not check >= 0:
        raise UsageError(f"check is {check:g} pixels, expected at least 0")
    result, clear = match(left, right)
    keep: EdgeMap = clear >= margin
    limit = 1.0 if fill and check is None else check
    if limit is not None:
        # Matching from the right is matching from the left in a mirror.
        back, _ = match(_mirrored(right), _mirrored(left))
        keep &= visibility.seen(result, _mirrored(back), float(limit), True)
    return filled(result, keep, left) if fill else np.where(keep, result, np.float32(np.nan))


def of_least_cost(
    costs: Callable[[Pixels, Pixels], CostVolume],
    left: Pixels,
    right: Pixels,
    disparities: int,
    volumes: int,
    subpixel: bool,
    check: float | None,
    margin: float,
    fill: bool,
) -> DisparityMap:
    """The refined matches of least cost, by a system that holds so many ``volumes`` at a time."""

    def match(one: Pixels, other: Pixels) -> tuple[DisparityMap, NDArray[np.float32]]:
        return cost_volume.winner(costs(one, other), subpixel)

    with volume_memory(left, disparities, volumes):
        return refined(match, left, right, check=check, margin=margin, fill=fill)


def filled(disparity: DisparityMap, keep: EdgeMap, picture: Pixels) -> DisparityMap:
    """Dropped pixels filled from their row, then smoothed by a weighted median that respects the picture's edges.

    A pixel that only one view shows belongs to what is farther away: of the nearest kept pixels to the left and right the
    smaller disparity is taken. A row of which nothing was kept stays as it is.

    >>> row = np.array([[2, 9, 9, 5]], np.float32)
    >>> filled(row, np.array([[True, False, False, True]]), np.zeros((1, 4, 1), np.float32))
    array([[2., 2., 2., 5.]], dtype=float32)
    """
    columns = np.arange(disparity.shape[1])
    before = np.maximum.accumulate(np.where(keep, columns, -1), axis=1)
    after = np.minimum.accumulate(np.where(keep, columns, len(columns))[:, ::-1], axis=1)[:, ::-1]
    padded = np.pad(np.where(keep, disparity, np.inf), ((0, 0), (1, 1)), constant_values=np.inf)
    nearest = np.minimum(*(np.take_along_axis(padded, place + 1, axis=1) for place in (before, after)))
    whole = np.where(np.isfinite(nearest), nearest, disparity).astype(np.float32)
    return support.weighted_median(whole, picture, ~keep, MEDIAN_RADIUS, MEDIAN_COLOUR, MEDIAN_DISTANCE)


def _mirrored(view: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.ascontiguousarray(view[:, ::-1])
