"""Connected pieces of a label map.

One pass joins each pixel to its left and upper neighbour of equal label in a disjoint-set forest whose roots are always the
earliest pixel of their piece; a second pass numbers the roots in reading order. The numbering therefore depends on the map
alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hyperacuity.kernels import allocating_kernel, kernel

Labels = NDArray[np.int32]


@kernel
def _root(parent: Labels, index: int) -> int:
    while parent[index] != index:
        parent[index] = parent[parent[index]]
        index = parent[index]
    return index


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
                parent[index] = _root(parent, index - 1)
            if row > 0 and values[row - 1, column] == value:
                above, here = _root(parent, index - width), _root(parent, index)
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
                root = _root(parent, index)
                labels[row, column] = labels[root // width, root % width]
    return labels
