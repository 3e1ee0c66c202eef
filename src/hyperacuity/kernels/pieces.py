"""Connected pieces of a label map, and the pixels of each region.

For pieces, one pass joins each pixel to its left and upper neighbour of equal label in a disjoint-set forest whose roots are
always the earliest pixel of their piece; a second pass numbers the roots in reading order. The numbering therefore depends on
the map alone.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Int32s, Int64s, Scalar, Uint16s, allocating_kernel, kernel

Labels = Int32s


@kernel
def find(parents: Labels, member: Scalar) -> Scalar:
    """The root of a member's tree in a disjoint-set forest; the path to it is halved on the way."""
    while parents[member] != member:
        parents[member] = parents[parents[member]]
        member = parents[member]
    return member


@allocating_kernel
def label_pieces(values: Labels) -> Labels:
    """The 4-connected pieces of equal value, numbered from 0 in reading order."""
    height, width = values.shape
    parent = np.arange(height * width).astype(np.int32)
    for row in range(height):
        for column in range(width):
            index = row * width + column
            value = values[row, column]
            if column > 0 and values[row, column - 1] == value:
                parent[index] = find(parent, index - 1)
            if row > 0 and values[row - 1, column] == value:
                above, here = find(parent, index - width), find(parent, index)
                parent[max(above, here)] = min(above, here)
    labels = np.empty((height, width), np.int32)
    count = 0
    for row in range(height):
        for column in range(width):
            index = row * width + column
            if parent[index] == index:
                labels[row, column] = count
                count += 1
            else:
                root = find(parent, index)
                labels[row, column] = labels[root // width, root % width]
    return labels


@allocating_kernel
def group_pixels(labels: Labels | Uint16s, count: Scalar) -> tuple[Int64s, Int64s]:
    """The pixels of region r, in reading order, as ``pixels[start[r] : start[r + 1]]``; void pixels are left out."""
    height, width = labels.shape
    start = np.zeros(count + 1, np.int64)
    for y in range(height):
        for x in range(width):
            if labels[y, x] >= 0:
                start[labels[y, x] + 1] += 1
    for r in range(count):
        start[r + 1] += start[r]
    cursor = start[:count].copy()
    pixels = np.empty(start[count], np.int64)
    for y in range(height):
        for x in range(width):
            r = labels[y, x]
            if r >= 0:
                pixels[cursor[r]] = y * width + x
                cursor[r] += 1
    return pixels, start
