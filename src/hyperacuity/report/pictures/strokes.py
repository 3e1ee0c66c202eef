"""Contours as smooth lines: the borders between regions, traced, rounded, and drawn at any size."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PIL import ImageDraw
from scipy import ndimage

from hyperacuity.kernels.arcs import arc_paths
from hyperacuity.maps import LabelMap

Points = NDArray[np.float64]
"""n×2, (x, y)."""

ROUNDING = 1.5
"""Smoothing of lines along themselves, in pixels of the image: enough to hide the staircase."""


@dataclass(frozen=True, eq=False)
class Stroke:
    """A line between two junctions, or a closed one, with the regions to its left and right; x to the right, y down.

    The left is that of somebody who walks along the points and looks at the picture.
    """

    points: Points
    left: int
    right: int

    def normals(self) -> Points:
        """The unit normal at each point, to the left."""
        along = np.gradient(self.points, axis=0)
        size = np.maximum(np.hypot(along[:, :1], along[:, 1:]), 1e-9)
        return np.stack([along[:, 1], -along[:, 0]], axis=1) / size

    def beside(self, offset: float) -> Points:
        """The line, moved so far to the left (or, negative, to the right)."""
        return self.points + offset * self.normals()

    def scaled(self, scale: float) -> Stroke:
        """Scale the line to a picture so many times as large."""
        return Stroke(self.points * scale, self.left, self.right)


def strokes(labels: LabelMap, *, rounding: float = ROUNDING) -> list[Stroke]:
    """The borders between regions as lines; pixel (0, 0) is the square from (0, 0) to (1, 1).

    >>> (line,) = strokes(np.array([[3, 3, 7, 7]] * 2, np.int32))
    >>> line.points.tolist(), line.left, line.right
    ([[2.0, 0.0], [2.0, 1.0], [2.0, 2.0]], 7, 3)
    """
    corners, starts = arc_paths(labels)
    return [_stroke(corners[a:b], labels, rounding) for a, b in pairwise(starts.tolist())]


def _stroke(path: NDArray[np.int32], labels: LabelMap, rounding: float) -> Stroke:
    (y, x), (v, u) = path[0].tolist(), path[1].tolist()
    middle = (y + v) / 2, (x + u) / 2
    aside = (x - u) / 2, (v - y) / 2  # half a step to the left, as (y, x)
    left, right = (int(labels[int(middle[0] + sign * aside[0]), int(middle[1] + sign * aside[1])]) for sign in (1, -1))
    return Stroke(_rounded(path[:, ::-1].astype(np.float64), rounding), left, right)


def _rounded(points: Points, sigma: float) -> Points:
    """The line smoothed along itself; ends stay where they are, and a closed line stays closed."""
    if len(points) < 4 or sigma <= 0:
        return points
    reach = min(int(4 * sigma), len(points) - 2)
    if (points[0] == points[-1]).all():
        before, after = points[-1 - reach : -1], points[1 : 1 + reach]
    else:
        before, after = 2 * points[0] - points[reach:0:-1], 2 * points[-1] - points[-2 : -2 - reach : -1]
    smooth = ndimage.gaussian_filter1d(np.concatenate([before, points, after]), sigma, axis=0, truncate=4.0)
    rounded: Points = smooth[reach : reach + len(points)]
    return rounded


def draw_line(pen: ImageDraw.ImageDraw, points: Points, fill: int | tuple[int, ...], width: int) -> None:
    """Draw a line through points; Pillow counts from the middle of the first pixel, points from its corner."""
    pen.line((points - 0.5).ravel().tolist(), fill=fill, width=width, joint="curve")


def hatch(stroke: Stroke, *, spacing: float, length: float) -> list[tuple[float, float, float, float]]:
    """Short ticks that leave a line to the left (a negative length: to the right), at equal distances along it.

    A line shorter than half the spacing has none.
    """
    steps = np.hypot(*np.diff(stroke.points, axis=0).T)
    along = np.concatenate([[0], np.cumsum(steps)])
    if along[-1] < spacing / 2:
        return []
    count = max(1, round(along[-1] / spacing))
    at = (np.arange(count) + 0.5) * along[-1] / count
    normals = stroke.normals()
    roots = np.stack([np.interp(at, along, stroke.points[:, axis]) for axis in (0, 1)], axis=1)
    ways = np.stack([np.interp(at, along, normals[:, axis]) for axis in (0, 1)], axis=1)
    return [(*root, *tip) for root, tip in zip(roots.tolist(), (roots + length * ways).tolist(), strict=True)]
