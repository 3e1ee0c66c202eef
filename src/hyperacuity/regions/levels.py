"""Nested segmentations: labels at the lowest level, and the joins that lead to every other one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels.ultrametric import apply_joins, rising_levels
from hyperacuity.maps import LabelMap


def level_thresholds(count: int) -> NDArray[np.float64]:
    """The levels at which Berkeley's benchmark cuts a hierarchy: ``count`` of them, evenly inside (0, 1).

    >>> level_thresholds(3)
    array([0.25, 0.5 , 0.75])
    """
    if count < 1:
        raise UsageError(f"a hierarchy cannot be cut at {count} levels, expected at least one")
    return np.linspace(1 / (count + 1), 1 - 1 / (count + 1), count)


@dataclass(frozen=True, eq=False)
class Levels:
    """Segmentations that grow coarser.

    Attributes
    ----------
    thresholds
        The levels, rising.
    labels
        Regions at the lowest level, numbered from 0.
    joins
        int32 n×2, regions (stays, goes) in the order in which they join; a region that has gone does not come back.
    ends
        How many of the joins have happened at each level.
    """

    thresholds: NDArray[np.float64]
    labels: LabelMap
    joins: NDArray[np.int32]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.thresholds)

    @property
    def regions(self) -> int:
        """Number of regions at the lowest level."""
        return int(self.labels.max()) + 1

    def at(self, level: int) -> LabelMap:
        """The segmentation at one level, by its index; labels are those of the regions that stay."""
        labels = self.labels.copy()
        apply_joins(labels, self.joins[: self.ends[level]], np.empty(self.regions, np.int32))
        return labels


def ucm_levels(ucm2: ArrayLike, thresholds: ArrayLike | None = None) -> Levels:
    """Cut an ultrametric contour map of double size, (2H+1) × (2W+1), at rising levels (by default 99).

    At level t the regions are the 8-connected components of the cells with values ≤ t, read at the odd positions, where the
    pixels are; a pixel is always part of a region.

    References
    ----------
    Arbeláez, Maire, Fowlkes & Malik (2011); the benchmark published with it.

    Examples
    --------
    Two pixels, and a contour of strength 0.5 between them:

    >>> ucm2 = np.zeros((3, 5)); ucm2[:, 2] = 0.5
    >>> levels = ucm_levels(ucm2, [0.25, 0.75])
    >>> levels.at(0), levels.at(1)
    (array([[0, 1]], dtype=int32), array([[0, 0]], dtype=int32))
    """
    cells = double_size(ucm2)
    steps = level_thresholds(99) if thresholds is None else rising(thresholds)
    return Levels(steps, *rising_levels(cells, steps))


def double_size(ucm2: ArrayLike) -> NDArray[np.float64]:
    """An ultrametric contour map in double precision; must be (2H+1) × (2W+1) numbers."""
    cells = np.ascontiguousarray(ucm2, dtype=np.float64)
    if cells.ndim != 2 or min(cells.shape) < 3 or cells.shape[0] % 2 == 0 or cells.shape[1] % 2 == 0:
        raise InputError(f"ucm2 has shape {cells.shape}, expected double size, 2H+1 × 2W+1")
    if np.isnan(cells).any():
        raise InputError("ucm2 holds NaN, expected the strength of contours")
    return cells


def rising(thresholds: ArrayLike) -> NDArray[np.float64]:
    """Levels as an array; they must rise.

    >>> rising([0.25, 0.5])
    array([0.25, 0.5 ])
    """
    steps = np.asarray(thresholds, dtype=np.float64)
    if steps.ndim != 1 or steps.size == 0 or not (np.diff(steps) > 0).all():
        raise UsageError("levels must be a list of rising numbers")
    return steps
