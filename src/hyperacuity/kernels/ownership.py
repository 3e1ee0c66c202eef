"""Claims of components on the pixels around them, and smoothing that stops at edges.

A component C claims a pixel x outside it by ``exp(−d/τ) · (1 − exp(−c·κ))``: d is the distance from x to C, κ the curvature of
the level line of the distance through x. Claims fade with distance, so each component is looked at within a window only: its
bounding box and a margin. Distances in the window are exact, since all of C lies in it.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Flags, Float32s, Int32s, Int64s, Scalar, allocating_kernel, kernel
from hyperacuity.kernels.distances import squared_distances

NO_CURVATURE, ABSOLUTE, CONVEX, CONCAVE = 0, 1, 2, 3


@allocating_kernel
def bounding_boxes(labels: Int32s) -> Int64s:
    """For each label 0 … n − 1: first and last row, first and last column, number of pixels."""
    height, width = labels.shape
    boxes = np.zeros((labels.max() + 1, 5), np.int64)
    boxes[:, 0], boxes[:, 2] = height, width
    for y in range(height):
        for x in range(width):
            box = boxes[labels[y, x]]
            box[0], box[1] = min(box[0], y), max(box[1], y)
            box[2], box[3] = min(box[2], x), max(box[3], x)
            box[4] += 1
    return boxes


@kernel
def _smooth(plane: Float32s, scratch: Float32s) -> None:
    """Convolve with the binomial [1 4 6 4 1] / 16 both ways (standard deviation 1), the border repeated."""
    height, width = plane.shape
    for y in range(height):
        for x in range(width):
            far = plane[y, max(x - 2, 0)] + plane[y, min(x + 2, width - 1)]
            near = plane[y, max(x - 1, 0)] + plane[y, min(x + 1, width - 1)]
            scratch[y, x] = (far + 4 * near + 6 * plane[y, x]) / 16
    for y in range(height):
        for x in range(width):
            far = scratch[max(y - 2, 0), x] + scratch[min(y + 2, height - 1), x]
            near = scratch[max(y - 1, 0), x] + scratch[min(y + 1, height - 1), x]
            plane[y, x] = (far + 4 * near + 6 * scratch[y, x]) / 16


@kernel
def _bent_share(plane: Float32s, y: Scalar, x: Scalar, bend: Scalar, around: Scalar, within: Scalar) -> Scalar:
    """1 − exp(−c·|κ|) with the sign of κ = div(∇d / |∇d|), by central differences; κ is positive around a convex shape.

    0 also where that sign is not asked for: ``around`` convex parts, or ``within`` concave ones.
    """
    height, width = plane.shape
    up, down, west, east = max(y - 1, 0), min(y + 1, height - 1), max(x - 1, 0), min(x + 1, width - 1)
    dx, dy = (plane[y, east] - plane[y, west]) / 2, (plane[down, x] - plane[up, x]) / 2
    steep = dx * dx + dy * dy
    if steep < 1e-6:
        return 0.0
    dxx = plane[y, east] - 2 * plane[y, x] + plane[y, west]
    dyy = plane[down, x] - 2 * plane[y, x] + plane[up, x]
    dxy = (plane[down, east] - plane[down, west] - plane[up, east] + plane[up, west]) / 4
    turn = dxx * dy * dy - 2 * dxy * dx * dy + dyy * dx * dx
    if turn > 0 and around:
        return 1 - np.exp(-bend * (turn / steep**1.5))
    if turn < 0 and within:
        return np.exp(-bend * (-turn / steep**1.5)) - 1
    return 0.0


@allocating_kernel
def add_claims(
    labels: Int32s,
    boxes: Int64s,
    sources: Flags,
    reach: Scalar,
    fade: Scalar,
    bend: Scalar,
    readings: Int64s,
    claims: Float32s,
) -> None:
    """Add to ``claims`` the claim of each component among ``sources`` on the pixels outside it, up to ``reach`` away.

    ``readings``, n × 2, say which sign of the curvature counts and whether distances are smoothed before it is taken; claims of
    each are added to its own plane, n × H × W. What they share is computed once.
    """
    height, width = labels.shape
    around, within = np.zeros(2, np.bool_), np.zeros(2, np.bool_)  # of distances as they are, and smoothed
    for r in range(len(readings)):
        mode, smooth = readings[r, 0], readings[r, 1]
        around[smooth] |= mode in (ABSOLUTE, CONVEX)
        within[smooth] |= mode in (ABSOLUTE, CONCAVE)
    fading = np.empty(reach * reach + 1)  # exp(−d/τ) by d²
    for square in range(fading.size):
        fading[square] = np.exp(-np.float32(np.sqrt(square)) / fade)
    for label in range(len(boxes)):
        if not sources[label]:
            continue
        top, bottom = max(boxes[label, 0] - reach, 0), min(boxes[label, 1] + reach + 1, height)
        left, right = max(boxes[label, 2] - reach, 0), min(boxes[label, 3] + reach + 1, width)
        inside = np.empty((bottom - top, right - left), np.bool_)
        for y in range(bottom - top):
            for x in range(right - left):
                inside[y, x] = labels[top + y, left + x] == label
        squared = squared_distances(inside)
        away = np.empty((bottom - top, right - left), np.float32)
        for y in range(bottom - top):
            for x in range(right - left):
                away[y, x] = np.sqrt(squared[y, x])
        soft = away
        if around[1] or within[1]:
            soft = away.copy()
            _smooth(soft, np.empty_like(soft))
        for y in range(bottom - top):
            for x in range(right - left):
                square = squared[y, x]
                if square == 0 or square >= fading.size:
                    continue
                claim = fading[square]
                sharp_share = _bent_share(away, y, x, bend, around[0], within[0]) if around[0] or within[0] else 0.0
                soft_share = _bent_share(soft, y, x, bend, around[1], within[1]) if around[1] or within[1] else 0.0
                for r in range(len(readings)):
                    mode, share = readings[r, 0], soft_share if readings[r, 1] else sharp_share
                    if mode == NO_CURVATURE:
                        claims[r, top + y, left + x] += np.float32(claim)
                    elif (share > 0 and mode != CONCAVE) or (share < 0 and mode != CONVEX):
                        claims[r, top + y, left + x] += np.float32(claim * abs(share))


@allocating_kernel
def smooth_within_edges(plane: Float32s, guide: Float32s, space: Scalar, tone: Scalar, rounds: Scalar) -> Float32s:
    """Smooth a plane, but not across edges of a guide (channels × H × W), by the recursive domain transform.

    Along each row and column, pixels are as far apart as their distance in space plus ``space / tone`` times the change of the
    guide between them; a recursive filter runs there and back. Rounds of falling width make it act in all directions (Gastal &
    Oliveira 2011).
    """
    channels, height, width = guide.shape
    result = plane.copy()
    across, down = np.ones((height, width), np.float32), np.ones((height, width), np.float32)
    for y in range(height):
        for x in range(width):
            for c in range(channels):
                if x > 0:
                    across[y, x] += abs(guide[c, y, x] - guide[c, y, x - 1]) * space / tone
                if y > 0:
                    down[y, x] += abs(guide[c, y, x] - guide[c, y - 1, x]) * space / tone
    for turn in range(rounds):
        sigma = space * np.sqrt(3.0) * 2.0 ** (rounds - turn - 1) / np.sqrt(4.0**rounds - 1)
        feedback = -np.sqrt(2.0) / sigma
        for y in range(height):
            for x in range(1, width):
                result[y, x] += np.exp(feedback * across[y, x]) * (result[y, x - 1] - result[y, x])
            for x in range(width - 2, -1, -1):
                result[y, x] += np.exp(feedback * across[y, x + 1]) * (result[y, x + 1] - result[y, x])
        for y in range(1, height):
            for x in range(width):
                result[y, x] += np.exp(feedback * down[y, x]) * (result[y - 1, x] - result[y, x])
        for y in range(height - 2, -1, -1):
            for x in range(width):
                result[y, x] += np.exp(feedback * down[y + 1, x]) * (result[y + 1, x] - result[y, x])
    return result
