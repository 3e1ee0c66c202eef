"""Block matching: for each disparity, what a window costs; for each pixel, the disparity whose window costs least.

Costs are summed over a square window by running sums along rows and columns, so the window's size does not matter: about
H·W·D steps for D disparities. All costs are whole numbers, so sums are exact and ties are decided alike everywhere: the
smaller disparity wins.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Float32s, Int32s, Uint64s, allocating_kernel, kernel
from hyperacuity.kernels.bits import count_bits

Costs = Int32s

ABSOLUTE, SQUARED, BITS = 0, 1, 2
"""Ways to compare two numbers: by their absolute difference, by its square, or by the bits in which they differ."""

MOST = 2**30
"""A number above every sum of costs."""


@allocating_kernel
def match(
    left: Uint64s, right: Uint64s, radius: int, disparities: int, kind: int, subpixel: bool
) -> tuple[Float32s, Float32s]:
    """Best disparity of each left pixel, and how clearly it is best: by what share the second-best cost is larger.

    ``left`` and ``right`` are H×W×C: census words, compared by the bits in which they differ, or grey levels, compared by
    absolute or squared differences (``kind``). Neighbours of the best disparity do not count as second best. ``subpixel``
    refines by the parabola through the best cost and its two neighbours.
    """
    height, width, _ = left.shape
    cost = np.empty((height, width), np.int32)
    summed, previous = np.empty((height, width), np.int32), np.empty((height, width), np.int32)
    least = np.full((height, width), MOST, np.int32)
    second = np.full((height, width), MOST, np.int32)
    before, after = np.zeros((height, width), np.int32), np.zeros((height, width), np.int32)
    best = np.zeros((height, width), np.int32)
    for d in range(disparities):
        _pixel_costs(left, right, d, kind, cost)
        _window_sums(cost, radius, summed)
        for y in range(height):
            for x in range(d, width):  # further left, the window would lie outside the right picture
                now = summed[y, x]
                if now < least[y, x]:
                    if best[y, x] < d - 1:
                        second[y, x] = min(second[y, x], least[y, x])
                    before[y, x] = previous[y, x]
                    least[y, x], best[y, x] = now, d
                elif best[y, x] == d - 1:
                    after[y, x] = now
                else:
                    second[y, x] = min(second[y, x], now)
        summed, previous = previous, summed
    result = np.empty((height, width), np.float32)
    margin = np.empty((height, width), np.float32)
    for y in range(height):
        for x in range(width):
            result[y, x] = best[y, x]
            margin[y, x] = (second[y, x] - least[y, x]) / max(least[y, x], 1)
            bend = before[y, x] + after[y, x] - 2 * least[y, x]
            if subpixel and 0 < best[y, x] < min(disparities - 1, x) and bend > 0:
                result[y, x] += (before[y, x] - after[y, x]) / (2.0 * bend)
    return result, margin


@kernel
def _pixel_costs(left: Uint64s, right: Uint64s, d: int, kind: int, cost: Costs) -> None:
    height, width, channels = left.shape
    for y in range(height):
        for x in range(width):
            total = 0
            for c in range(channels):
                first, second = left[y, x, c], right[y, max(x - d, 0), c]
                if kind == BITS:
                    total += np.int64(count_bits(first ^ second))
                else:
                    apart = np.int64(first - second if first > second else second - first)
                    total += apart * apart if kind == SQUARED else apart
            cost[y, x] = total


@allocating_kernel
def _window_sums(cost: Costs, radius: int, result: Costs) -> None:
    """Sums over (2·radius + 1)² windows, the picture's border repeated outwards."""
    height, width = cost.shape
    columns = np.zeros(width, np.int32)
    for offset in range(-radius, radius):
        for x in range(width):
            columns[x] += cost[min(max(offset, 0), height - 1), x]
    for y in range(height):
        entering, leaving = min(y + radius, height - 1), max(y - radius - 1, 0)
        for x in range(width):
            columns[x] += cost[entering, x]
            if y > 0:
                columns[x] -= cost[leaving, x]
        total = 0
        for offset in range(-radius, radius + 1):
            total += columns[min(max(offset, 0), width - 1)]
        result[y, 0] = total
        for x in range(1, width):
            total += columns[min(x + radius, width - 1)] - columns[max(x - radius - 1, 0)]
            result[y, x] = total


@allocating_kernel
def census_words(grey: Float32s) -> Uint64s:
    """48 bits per pixel, one for each neighbour in the 7×7 window that is darker (Zabih & Woodfill 1994).

    The picture's border is repeated outwards.
    """
    height, width = grey.shape
    words = np.zeros((height, width, 1), np.uint64)
    for y in range(height):
        for x in range(width):
            word = np.uint64(0)
            for dy in range(-3, 4):
                for dx in range(-3, 4):
                    if dy != 0 or dx != 0:
                        near = grey[min(max(y + dy, 0), height - 1), min(max(x + dx, 0), width - 1)]
                        word = (word << np.uint64(1)) | np.uint64(near < grey[y, x])
            words[y, x, 0] = word
    return words
