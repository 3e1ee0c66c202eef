"""Disparity maps, pixel by pixel: count errors, map a view to another, find what is visible, draw a view, fetch from one.

All views lie on a line and are rectified, so every row is on its own. A pixel x of the reference view with disparity d appears at
x − t·d in the view at position t (t = 1: the other picture of a stereo pair). Where two surfaces meet at one point the nearer
one, of larger disparity, is in front. Neighbouring pixels count as one surface, and what lies between them is
interpolated, unless their disparities differ by ``gap`` or more.
"""

from __future__ import annotations

import math

import numpy as np

from hyperacuity.kernels import Flags, Float32s, Float64s, Int64s, allocating_kernel, kernel

Map = Float32s
Mask = Flags
Picture = Float32s


@allocating_kernel
def errors(
    truth: Map, estimate: Map, mask: Mask, deltas: Float64s, d1_pixels: float, d1_share: float
) -> tuple[Int64s, Float64s, Float32s]:
    """Counts and sums over the masked pixels of known truth, and the absolute errors of those that have an estimate.

    Counts: pixels, pixels with an estimate, KITTI's outliers, then per δ the errors above it. Sums: |e|, e² and e, where e is
    estimate − truth.
    Differences are in double precision, in which those of single-precision numbers are exact.
    """
    counts = np.zeros(3 + len(deltas), np.int64)
    sums = np.zeros(3)
    absolute = np.empty(truth.size, np.float32)
    known = 0
    for y in range(truth.shape[0]):
        for x in range(truth.shape[1]):
            true = float(truth[y, x])
            if not mask[y, x] or math.isnan(true):
                continue
            counts[0] += 1
            error = float(estimate[y, x]) - true
            if math.isnan(error):
                continue
            size = abs(error)
            absolute[known] = size
            known += 1
            counts[2] += size > d1_pixels and size > d1_share * abs(true)
            for k in range(len(deltas)):
                counts[3 + k] += size > deltas[k]
            sums[0] += size
            sums[1] += size * size
            sums[2] += error
    counts[1] = known
    return counts, sums, absolute[:known]


@allocating_kernel
def mapped(disparity: Map, gap: float) -> Map:
    """The disparity that the other view would show, made from this view alone: −∞ where nothing is mapped to."""
    height, width = disparity.shape
    result = np.full((height, width), -np.inf, np.float32)
    for y in range(height):
        for x in range(width):
            here = disparity[y, x]
            if math.isnan(here):
                continue
            nearest = math.floor(x - here + 0.5)
            if 0 <= nearest < width:
                result[y, nearest] = max(result[y, nearest], here)
            if x + 1 == width or not abs(disparity[y, x + 1] - here) < gap:
                continue
            there = disparity[y, x + 1]
            start, stop = x - here, x + 1 - there
            for column in range(max(0, math.ceil(start)), min(width - 1, math.floor(stop)) + 1):
                share = (column - start) / (stop - start) if stop > start else 0.0
                result[y, column] = max(result[y, column], here + share * (there - here))
    return result


@allocating_kernel
def seen(disparity: Map, other: Map, tolerance: float, both_ways: bool) -> Mask:
    """Mark pixels that land inside the other view, where that shows no disparity larger by more than the tolerance.

    ``both_ways``: nor one smaller by more, nor an unknown one, as when ``other`` was measured and not :func:`mapped`.
    """
    height, width = disparity.shape
    result = np.zeros((height, width), np.bool_)
    for y in range(height):
        for x in range(width):
            here = disparity[y, x]
            if math.isnan(here) or x - here < 0:
                continue
            column = math.floor(x - here + 0.5)
            if column < width:
                there = other[y, column]
                is_seen = there <= here + tolerance
                result[y, x] = is_seen and (not both_ways or there >= here - tolerance)
    return result


@allocating_kernel
def jumps(disparity: Map, gap: float, at_unknown: bool) -> Mask:
    """Mark both of two neighbours (left-right or up-down) whose disparities differ by ``gap`` or more, or one of them unknown."""
    height, width = disparity.shape
    result = np.zeros((height, width), np.bool_)
    for y in range(height):
        for x in range(width):
            for down in range(2):
                y2, x2 = y + down, x + 1 - down
                if y2 == height or x2 == width:
                    continue
                difference = disparity[y, x] - disparity[y2, x2]
                if math.isnan(difference):
                    is_jump = at_unknown and math.isnan(disparity[y, x]) != math.isnan(disparity[y2, x2])
                else:
                    is_jump = abs(difference) >= gap
                if is_jump:
                    result[y, x] = result[y2, x2] = True
    return result


@allocating_kernel
def grow(mask: Mask, radius: int) -> Mask:
    """Dilation by a box of (2·radius + 1)², along rows, then along columns."""
    height, width = mask.shape
    rows = np.zeros((height, width), np.bool_)
    for y in range(height):
        last = -2 * radius - 1
        for x in range(width + radius):
            if x < width and mask[y, x]:
                last = x
            if x >= radius and last >= x - 2 * radius:
                rows[y, x - radius] = True
    result = np.zeros((height, width), np.bool_)
    last_row = np.full(width, -2 * radius - 1)
    for y in range(height + radius):
        for x in range(width):
            if y < height and rows[y, x]:
                last_row[x] = y
            if y >= radius and last_row[x] >= y - 2 * radius:
                result[y - radius, x] = True
    return result


@allocating_kernel
def textureless(image: Picture, radius: int, threshold: float) -> Mask:
    """Mark pixels whose squared horizontal differences, the larger of left and right, average below ``threshold``² over a box.

    Channels are averaged before the maximum. The box is cut off at the picture's border.
    """
    height, width, channels = image.shape
    strength = np.zeros((height, width), np.float32)
    for y in range(height):
        before = np.float32(0)
        for x in range(width):
            after = np.float32(0)
            if x + 1 < width:
                for c in range(channels):
                    after += (image[y, x + 1, c] - image[y, x, c]) ** 2
                after /= channels
            strength[y, x] = max(before, after)
            before = after
    result = np.empty((height, width), np.bool_)
    for y in range(height):
        top, bottom = max(0, y - radius), min(height, y + radius + 1)
        for x in range(width):
            left, right = max(0, x - radius), min(width, x + radius + 1)
            total = 0.0
            for y2 in range(top, bottom):
                for x2 in range(left, right):
                    total += strength[y2, x2]
            result[y, x] = total < threshold * threshold * (bottom - top) * (right - left)
    return result


@allocating_kernel
def drawn(image: Picture, disparity: Map, position: float, gap: float) -> tuple[Picture, Mask]:
    """The view at a position, drawn from the reference picture and its disparities, and a mask of the pixels drawn.

    Forward prediction: every pixel goes to x − position·d, what lies between neighbours of one surface is interpolated,
    and the nearer surface wins. Then a pixel covers the pixel nearest to it, if what is there belongs to a surface behind.
    """
    height, width, channels = image.shape
    view = np.zeros(image.shape, np.float32)
    depth = np.full((height, width), -np.inf, np.float32)
    for y in range(height):
        for x in range(width - 1):
            here, there = disparity[y, x], disparity[y, x + 1]
            if not abs(there - here) < gap:
                continue
            start, stop = x - position * here, x + 1 - position * there
            for column in range(max(0, math.ceil(start)), min(width - 1, math.floor(stop)) + 1):
                share = (column - start) / (stop - start) if stop > start else 0.0
                near = here + share * (there - here)
                if near > depth[y, column]:
                    depth[y, column] = near
                    for c in range(channels):
                        view[y, column, c] = (1 - share) * image[y, x, c] + share * image[y, x + 1, c]
        for x in range(width):
            here = disparity[y, x]
            if math.isnan(here):
                continue
            column = math.floor(x - position * here + 0.5)
            if 0 <= column < width and here - gap >= depth[y, column]:
                depth[y, column] = here
                view[y, column] = image[y, x]
    return view, depth > -np.inf


@allocating_kernel
def fetched(other: Picture, disparity: Map, position: float, cubic: bool) -> tuple[Picture, Mask]:
    """The reference picture, fetched from the view at a position, and a mask of the disparities that point inside that view.

    Inverse prediction: each pixel is fetched at x − position·d, between pixels by a line or by Catmull and Rom's cubic.
    """
    height, width, channels = other.shape
    result = np.zeros((height, disparity.shape[1], channels), np.float32)
    inside = np.zeros(disparity.shape, np.bool_)
    weight = np.zeros(4)
    for y in range(height):
        for x in range(disparity.shape[1]):
            source = x - position * float(disparity[y, x])
            if not (0 <= source <= width - 1):
                continue
            inside[y, x] = True
            column = min(math.floor(source), max(width - 2, 0))
            s = source - column
            if cubic:
                weight[0] = ((2 - s) * s - 1) * s / 2
                weight[1] = ((3 * s - 5) * s * s + 2) / 2
                weight[2] = ((4 - 3 * s) * s + 1) * s / 2
                weight[3] = (s - 1) * s * s / 2
            else:
                weight[1], weight[2] = 1 - s, s
            for c in range(channels):
                total = 0.0
                for k in range(4):
                    if weight[k] != 0:
                        total += weight[k] * other[y, min(max(column - 1 + k, 0), width - 1), c]
                result[y, x, c] = total
    return result, inside


@kernel
def squared_error(first: Picture, second: Picture, mask: Mask) -> tuple[float, int]:
    """Sum of squared differences over masked pixels and all channels, and how many were added."""
    total, count = 0.0, 0
    for y in range(mask.shape[0]):
        for x in range(mask.shape[1]):
            if mask[y, x]:
                count += first.shape[2]
                for c in range(first.shape[2]):
                    difference = float(first[y, x, c]) - float(second[y, x, c])
                    total += difference * difference
    return total, count


@allocating_kernel
def squared_gap(first: Picture, second: Picture, mask: Mask, radius: int) -> tuple[float, int]:
    """Sum of squared gaps between the ranges of both pictures in a box around each masked pixel, unmasked pixels left out."""
    low, high = _extremes(first, mask, radius)
    other_low, other_high = _extremes(second, mask, radius)
    total, count = 0.0, 0
    for y in range(mask.shape[0]):
        for x in range(mask.shape[1]):
            if mask[y, x]:
                count += first.shape[2]
                for c in range(first.shape[2]):
                    gap = float(max(low[y, x, c] - other_high[y, x, c], other_low[y, x, c] - high[y, x, c]))
                    total += gap * gap if gap > 0 else 0.0
    return total, count


@allocating_kernel
def _extremes(picture: Picture, mask: Mask, radius: int) -> tuple[Picture, Picture]:
    """Least and largest value in a box around each pixel: of the rows, then of the columns."""
    height, width, channels = picture.shape
    low_rows, high_rows = np.full(picture.shape, np.inf, np.float32), np.full(picture.shape, -np.inf, np.float32)
    for y in range(height):
        for x in range(width):
            if mask[y, x]:
                for near in range(max(0, x - radius), min(width, x + radius + 1)):
                    for c in range(channels):
                        low_rows[y, near, c] = min(low_rows[y, near, c], picture[y, x, c])
                        high_rows[y, near, c] = max(high_rows[y, near, c], picture[y, x, c])
    low, high = low_rows.copy(), high_rows.copy()
    for y in range(height):
        for near in range(max(0, y - radius), min(height, y + radius + 1)):
            if near != y:
                for x in range(width):
                    for c in range(channels):
                        low[y, x, c] = min(low[y, x, c], low_rows[near, x, c])
                        high[y, x, c] = max(high[y, x, c], high_rows[near, x, c])
    return low, high
