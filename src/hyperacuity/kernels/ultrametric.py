"""The regions of an ultrametric contour map at rising levels, from one pass over its cells.

The map stands on a grid of (2H+1) × (2W+1) cells: pixels at the odd positions, contours between them. At a level t the regions
are the 8-connected components of the cells with values ≤ t. As t rises, components only grow together. So cells are sorted into
buckets by the first level that admits them, and a union-find structure takes them in, bucket by bucket; whenever two components
that hold pixels meet, the join is noted. Labels at the lowest level and the list of joins say everything about all levels:
exactly, because the components of a set of cells do not depend on the order in which its cells came.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Float64s, Int32s, Int64s, Scalar, allocating_kernel, kernel
from hyperacuity.kernels.pieces import find, group_pixels


@kernel
def _join(parents: Int32s, regions: Int32s, a: Scalar, b: Scalar) -> Scalar:
    """Unite two roots. The root that goes, if both held a region, else −1; the region of lower number stays."""
    if regions[b] >= 0 and (regions[a] < 0 or regions[b] < regions[a]):
        a, b = b, a
    parents[b] = a
    return b if regions[b] >= 0 else -1


@allocating_kernel
def rising_levels(ucm: Float64s, levels: Float64s) -> tuple[Int32s, Int32s, Int64s]:
    """Regions of a double-size map at the lowest level, and how they grow together at the others.

    Returns the labels of the pixels at ``levels[0]``, numbered in reading order; the joins (stays, goes) in the order in which
    they happen; and for each level how many joins have happened by then. ``levels`` must rise.
    """
    height, width = ucm.shape
    ranks = np.zeros((height, width), np.int32)  # the first level that admits a cell: 0 for a pixel, always
    for y in range(height):
        for x in range(width):
            if (y % 2 == 0 or x % 2 == 0) and ucm[y, x] > levels[0]:
                ranks[y, x] = np.searchsorted(levels, ucm[y, x])
    cells, starts = group_pixels(ranks, len(levels) + 1)
    parents = np.arange(height * width).astype(np.int32)
    regions = np.full(height * width, -1, np.int32)  # of each root
    labels = np.empty((height // 2, width // 2), np.int32)
    joins = np.empty((height * width // 4 + 1, 2), np.int32)
    ends = np.zeros(len(levels), np.int64)
    count = 0
    for level in range(len(levels)):
        for cell in cells[starts[level] : starts[level + 1]]:
            y, x = cell // width, cell % width
            for v in range(max(y - 1, 0), min(y + 2, height)):
                for u in range(max(x - 1, 0), min(x + 2, width)):
                    other = v * width + u
                    if other == cell or ranks[v, u] > level or parents[other] == parents[cell]:
                        continue
                    a, b = find(parents, cell), find(parents, other)
                    if a == b:
                        continue
                    gone = _join(parents, regions, a, b)
                    if gone >= 0:
                        joins[count, 0], joins[count, 1] = regions[parents[gone]], regions[gone]
                        count += 1
        if level == 0:
            number = 0
            for y in range(height // 2):
                for x in range(width // 2):
                    root = find(parents, (2 * y + 1) * width + 2 * x + 1)
                    if regions[root] < 0:
                        regions[root] = number
                        number += 1
                    labels[y, x] = regions[root]
        ends[level] = count
    return labels, joins[:count].copy(), ends


@kernel
def apply_joins(labels: Int32s, joins: Int32s, stands_for: Int32s) -> None:
    """Relabel in place after some joins. ``stands_for`` is scratch, one entry per region, 0 … n − 1."""
    for region in range(len(stands_for)):
        stands_for[region] = region
    for j in range(len(joins)):
        stands_for[joins[j, 1]] = joins[j, 0]
    for y in range(labels.shape[0]):
        for x in range(labels.shape[1]):
            labels[y, x] = find(stands_for, labels[y, x])
