"""Passes over planes of numbers, each over memory once: enlarging, adding up, finding the largest and the nearest.

What they compute is what whole-array operations would, number by number and in the same order, but without an array for every
step between. Planes are n × H × W. Sums of products are here, too: a library of matrices is quicker, but chooses its code by the
kind of processor, and so the order in which it adds.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Float32s, Int64s, Scalar, Uint8s, allocating_kernel, kernel

STRETCH = 2048
"""Pixels processed in turn, few enough for the processor's cache."""

SHORT = 256
"""Pixels processed in turn where some dozens of planes are read again and again."""


@kernel
def interpolate(
    values: Float32s,
    rows: Int64s,
    row_weights: Float32s,
    columns: Int64s,
    column_weights: Float32s,
    between: Float32s,
    result: Float32s,
) -> None:
    """Write planes of another size, linear between samples: first down columns, then along rows.

    Row y lies between the samples ``rows[y]`` and the next, ``row_weights[y]`` of the way; columns likewise. The last sample has
    none after it but itself. ``between`` has room for a row of samples.
    """
    _, height, width = values.shape
    for n in range(len(values)):
        for y in range(len(rows)):
            low, high, weight = values[n, rows[y]], values[n, min(rows[y] + 1, height - 1)], row_weights[y]
            for x in range(width):
                between[x] = low[x] + weight * (high[x] - low[x])
            line = result[n, y]
            for x in range(len(columns)):
                before, after = between[columns[x]], between[min(columns[x] + 1, width - 1)]
                line[x] = before + column_weights[x] * (after - before)


@kernel
def add_fourth_roots(values: Float32s, weights: Float32s, totals: Float32s) -> None:
    """Add to each of several totals (m × n) the fourth roots of n values, times the total's weight."""
    for start in range(0, values.size, STRETCH):
        stretch = values[start : start + STRETCH]
        for m in range(len(weights)):
            total, weight = totals[m, start : start + STRETCH], weights[m]
            for i in range(stretch.size):
                total[i] += weight * np.sqrt(np.sqrt(stretch[i]))


@allocating_kernel
def strongest(values: Float32s) -> tuple[Int64s, Float32s]:
    """Index of the plane with the largest number at each pixel, the first of equals, and that number."""
    count, height, width = values.shape
    which, largest = np.zeros((height, width), np.int64), values[0].copy()
    for y in range(height):
        for n in range(1, count):
            for x in range(width):
                if values[n, y, x] > largest[y, x]:
                    which[y, x] = n
                    largest[y, x] = values[n, y, x]
    return which, largest


@allocating_kernel
def weighted_sums(weights: Float32s, values: Float32s) -> Float32s:
    """The product of a matrix (m × n) with rows of values (n × size): sums in the rows' order, on every machine."""
    sums = np.empty((len(weights), values.shape[1]), np.float32)
    for start in range(0, values.shape[1], SHORT):
        for m in range(len(weights)):
            _add_up(weights[m], values, start, sums[m, start : start + SHORT])
    return sums


@kernel
def _add_up(weights: Float32s, values: Float32s, start: Scalar, total: Float32s) -> None:
    """Write the weighted sum of the rows of ``values``, in a stretch of columns that begins at ``start``."""
    for i in range(total.size):
        total[i] = 0
    for n in range(weights.size):
        weight, row = weights[n], values[n, start : start + total.size]
        for i in range(total.size):
            total[i] += weight * row[i]


@allocating_kernel
def nearest(points: Float32s, values: Float32s) -> Uint8s:
    """Index of the point (of at most 256, m × n) nearest to each column of values (n × size), the first of equals.

    That is the point p with the least ‖p‖²/2 − pᵀv.
    """
    which = np.zeros(values.shape[1], np.uint8)
    least, sums = np.empty((2, SHORT), np.float32)
    for start in range(0, which.size, SHORT):
        mine = which[start : start + SHORT]
        for i in range(mine.size):
            least[i] = np.inf
        for m in range(len(points)):
            half = np.float32(0)
            for n in range(points.shape[1]):
                half += points[m, n] * points[m, n] / np.float32(2)
            _add_up(points[m], values, start, sums[: mine.size])
            _take_lesser(sums, half, np.uint8(m), least, mine)
    return which


@kernel
def _take_lesser(sums: Float32s, half: Scalar, m: Scalar, least: Float32s, which: Uint8s) -> None:
    for i in range(which.size):
        distance = half - sums[i]
        which[i] = m if distance < least[i] else which[i]
        least[i] = distance if distance < least[i] else least[i]
