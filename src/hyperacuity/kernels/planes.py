"""Passes over planes of numbers, each over memory once: enlarging, adding up roots, finding the largest and the nearest.

What they compute is what whole-array operations would, number by number and in the same order, but without an array for every
step between. Planes are n × H × W.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Float32s, Int64s, Scalar, Uint8s, allocating_kernel, kernel

STRETCH = 2048
"""So many pixels are looked at in turn, few enough that what is known of them stays at hand."""


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
    """Which plane has the largest number at each pixel, the first of equals, and that number."""
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
def first_least(lengths: Float32s, products: Float32s) -> Uint8s:
    """Of each of n columns the row k, the first of equals, with the least lengths[k] − products[k, column]; at most 256 rows."""
    size = products.shape[1]
    which = np.zeros(size, np.uint8)
    least = np.empty(STRETCH, np.float32)
    for start in range(0, size, STRETCH):
        mine = which[start : start + STRETCH]
        for i in range(mine.size):
            least[i] = lengths[0] - products[0, start + i]
        for k in range(1, len(lengths)):
            _take_lesser(products[k, start : start + STRETCH], lengths[k], np.uint8(k), least, mine)
    return which


@kernel
def _take_lesser(products: Float32s, length: Scalar, k: Scalar, least: Float32s, which: Uint8s) -> None:
    for i in range(products.size):
        distance = length - products[i]
        which[i] = k if distance < least[i] else which[i]
        least[i] = distance if distance < least[i] else least[i]
