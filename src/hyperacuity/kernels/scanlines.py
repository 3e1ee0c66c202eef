"""Costs with penalties for jumps along lines: exact minima of single lines, and their sum over eight directions.

Neighbours of equal disparity cost nothing, those one apart ``small``, others ``large``; where the picture has an edge of height g
between the two, ``large`` becomes large / (1 + g / edge), but not less than ``small``.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Float32s, allocating_kernel, inlined_kernel

Volume = Float32s

DIRECTIONS = np.array([(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, -1), (1, -1), (-1, 1)], dtype=np.int64)
"""Steps (down, right) of the eight paths; the first two run along rows."""


@allocating_kernel
def path_costs(
    volume: Volume, grey: Float32s, down: int, right: int, small: float, large: float, edge: float
) -> Volume:
    r"""The least cost of all lines that end at a pixel with a disparity, coming from one direction (Hirschmüller 2008, eq. 13).

    .. math:: L(p, d) = C(p, d) + \min(L(p', d),\ L(p', d ± 1) + P_1,\ \min_i L(p', i) + P_2) - \min_i L(p', i)

    The last term, which changes no minimum, keeps the numbers small.
    """
    height, width, disparities = volume.shape
    result = np.empty((height, width, disparities), np.float32)
    for j in range(height):
        y = j if down >= 0 else height - 1 - j
        for i in range(width):
            x = i if right >= 0 else width - 1 - i
            v, u = y - down, x - right
            if 0 <= v < height and 0 <= u < width:
                jump = max(np.float32(large) / (1 + abs(grey[y, x] - grey[v, u]) / np.float32(edge)), np.float32(small))
                _step(volume[y, x], result[v, u], np.float32(small), jump, result[y, x])
            else:
                for d in range(disparities):
                    result[y, x, d] = volume[y, x, d]
    return result


@inlined_kernel
def _step(costs: Float32s, before: Float32s, small: np.float32, large: np.float32, result: Float32s) -> None:
    count = len(costs)
    least = before[0]
    for d in range(1, count):
        least = min(least, before[d])
    for d in range(count):
        reached = min(before[d] - least, large)
        if d > 0:
            reached = min(reached, before[d - 1] - least + small)
        if d < count - 1:
            reached = min(reached, before[d + 1] - least + small)
        result[d] = costs[d] + reached


def row_marginals(volume: Volume, grey: Float32s, small: float, large: float, edge: float) -> Volume:
    """For each pixel and disparity the least cost of its whole row, all others free, up to one constant per pixel."""
    there = path_costs(volume, grey, 0, 1, small, large, edge)
    back = path_costs(volume, grey, 0, -1, small, large, edge)
    marginals: Volume = there + back - volume
    return marginals


def semi_global(volume: Volume, grey: Float32s, small: float, large: float, edge: float, paths: int) -> Volume:
    """Path costs summed over the first ``paths`` of :data:`DIRECTIONS`."""
    total = np.zeros(volume.shape, np.float32)
    for down, right in DIRECTIONS[:paths]:
        total += path_costs(volume, grey, down, right, small, large, edge)
    return total
