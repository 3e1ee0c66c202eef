"""Self-consistency: how far maps computed independently, of one scene from several views, disagree (Leclerc, Luong & Fua 2000).

Needs no ground truth, and is necessary for accuracy but not sufficient: a matcher can be wrong the same way twice.

All views lie on a line and are rectified, so that a point's depth is its disparity per unit of baseline, and triangulating it
from two pairs of views means comparing two such numbers at the same image point. A matching error of σ pixels makes the depth
from a baseline b uncertain by σ/b; the distance of two depths is divided by the uncertainty of their difference,
√(σ²/b₁² + σ²/b₂²), which for two maps of the same pair is √2·σ.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.disparity.errors import estimated_map
from hyperacuity.errors import UsageError
from hyperacuity.maps import DisparityMap, same_size


@dataclass(frozen=True, eq=False)
class View:
    """A disparity map and the cameras it comes from: that of the map, and that of the picture it was matched with.

    Positions are along the baseline, in any unit. A point at x in the map appears at x − (disparity as matched) in the other
    picture when ``other`` lies to the right, x + that when to the left: disparities are positive either way.
    """

    disparity: DisparityMap
    position: float = 0.0
    other: float = 1.0

    @property
    def baseline(self) -> float:
        """Distance of the two cameras."""
        return abs(self.other - self.position)


def stereo_views(left: ArrayLike, right: ArrayLike) -> tuple[View, View]:
    """The maps of a stereo pair, left → right and right → left, both with positive disparities."""
    return View(estimated_map(left), 0.0, 1.0), View(estimated_map(right), 1.0, 0.0)


def distances(views: Sequence[View], *, sigma: float = 1.0) -> NDArray[np.float64]:
    """Normalised distances between the depths that pairs of maps give to the same image points, for all pairs of maps.

    Each pixel of one map is carried to the other map's view, by its disparity; where that map has a value at the
    nearest pixel, the two are compared. Pairs are compared both ways. No shared points give an empty answer.

    >>> views = stereo_views([[1, 1, 1, 1]], [[1, 1, 3, 1]])
    >>> distances(views, sigma=np.sqrt(0.5))
    array([0., 0., 2., 0., 0.])
    """
    if not sigma > 0:
        raise UsageError(f"sigma = {sigma}: expected a positive number of pixels")
    parts = [_from_to(a, b, sigma) for a, b in itertools.permutations(views, 2)]
    return np.concatenate(parts) if parts else np.empty(0)


def _from_to(here: View, there: View, sigma: float) -> NDArray[np.float64]:
    same_size(here.disparity, there.disparity, names=("one map", "another"))
    if not here.baseline or not there.baseline:
        raise UsageError("a map was matched with itself: expected two cameras at different positions")
    depth = here.disparity.astype(np.float64) / here.baseline
    other_depth = there.disparity.astype(np.float64) / there.baseline
    rows, columns = np.nonzero(~np.isnan(depth))
    landed = np.floor(columns - (there.position - here.position) * depth[rows, columns] + 0.5).astype(np.int64)
    inside = (landed >= 0) & (landed < depth.shape[1])
    rows, columns, landed = rows[inside], columns[inside], landed[inside]
    difference = np.abs(depth[rows, columns] - other_depth[rows, landed])
    valid: NDArray[np.float64] = difference[~np.isnan(difference)]
    return valid / float(sigma * np.hypot(1 / here.baseline, 1 / there.baseline))


def consistency_curve(normalised: ArrayLike, at: ArrayLike) -> NDArray[np.float64]:
    """Share of the distances that do not exceed each value of ``at``: the more mass near 0, the more self-consistent.

    No distances give NaN.

    >>> consistency_curve([0, 0, 2, 0, 0], [0, 1, 2])
    array([0.8, 0.8, 1. ])
    """
    ordered = np.sort(np.asarray(normalised, dtype=np.float64))
    thresholds = np.asarray(at, dtype=np.float64)
    if len(ordered) == 0:
        return np.full(thresholds.shape, np.nan)
    return np.searchsorted(ordered, thresholds, side="right") / len(ordered)
