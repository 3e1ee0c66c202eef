"""Watershed by flooding: every pixel goes to one basin, so that boundaries run along the cracks between pixels.

Each regional minimum (a 4-connected plateau without a lower neighbour) is a basin. Pixels beside a basin wait, lowest first and
first come first served among equals; the one whose turn it is hands its label to its unlabelled neighbours (Meyer 1991). There is
one queue for each value that occurs; since water only rises, queues are emptied from the lowest to the highest, and none is
visited twice. A pixel is therefore reached by the basin from which the climb to it is lowest, and plateaus are shared by
distance. The result is fixed by the values alone: ties are broken by the order of arrival, which starts in reading order.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Float32s, Int32s, Scalar, kernel


@kernel
def _neighbour(cell: Scalar, side: Scalar, height: Scalar, width: Scalar) -> Scalar:
    """The pixel north, west, east or south of a pixel, −1 beyond the frame."""
    if side == 0:
        return cell - width if cell >= width else -1
    if side == 1:
        return cell - 1 if cell % width > 0 else -1
    if side == 2:
        return cell + 1 if cell % width < width - 1 else -1
    return cell + width if cell < (height - 1) * width else -1


@kernel
def _mark_minima(values: Float32s, labels: Int32s, queue: Int32s, height: Scalar, width: Scalar) -> Scalar:
    """Label the regional minima 0, 1, … in reading order, all else −1; returns their number. ``labels`` starts at −2."""
    count = 0
    for start in range(len(values)):
        if labels[start] != -2:
            continue
        size, low = 1, True
        queue[0] = start
        labels[start] = -1
        at = 0
        while at < size:
            cell = queue[at]
            at += 1
            for side in range(4):
                other = _neighbour(cell, side, height, width)
                if other < 0:
                    continue
                if values[other] < values[cell]:
                    low = False
                elif values[other] == values[cell] and labels[other] == -2:
                    labels[other] = -1
                    queue[size] = other
                    size += 1
        if low:
            for i in range(size):
                labels[queue[i]] = count
            count += 1
    return count


@kernel
def _flood(
    ranks: Int32s, labels: Int32s, heads: Int32s, tails: Int32s, after: Int32s, height: Scalar, width: Scalar
) -> None:
    """Give the pixels that have none (−1) the label of the basin that reaches them first.

    ``ranks`` has each pixel's value as an index of the values that occur; ``heads`` and ``tails``, one for each of these, start
    at −1. ``after`` is the pixel behind a waiting one.
    """
    for cell in range(len(ranks)):
        if labels[cell] >= 0:
            _wait(cell, ranks[cell], heads, tails, after)
    for level in range(len(heads)):
        while heads[level] >= 0:
            cell = heads[level]
            heads[level] = after[cell]
            for side in range(4):
                other = _neighbour(cell, side, height, width)
                if other >= 0 and labels[other] < 0:
                    labels[other] = labels[cell]
                    _wait(other, max(ranks[other], level), heads, tails, after)


@kernel
def _wait(cell: Scalar, level: Scalar, heads: Int32s, tails: Int32s, after: Int32s) -> None:
    """Put a pixel at the end of a queue."""
    after[cell] = -1
    if heads[level] < 0:
        heads[level] = cell
    else:
        after[tails[level]] = cell
    tails[level] = cell


@kernel
def _renumber(labels: Int32s, numbers: Int32s) -> None:
    """Number the labels in reading order; ``numbers`` has an entry for each label, −1."""
    count = 0
    for cell in range(len(labels)):
        if numbers[labels[cell]] < 0:
            numbers[labels[cell]] = count
            count += 1
        labels[cell] = numbers[labels[cell]]


def basins(surface: Float32s) -> Int32s:
    """The catchment basins of a surface, 4-connected, numbered from 0 in reading order.

    >>> basins(np.float32([[0, 1, 1, 1, 0]]))
    array([[0, 0, 0, 1, 1]], dtype=int32)
    """
    height, width = surface.shape
    values = np.ascontiguousarray(surface, np.float32).ravel()
    labels = np.full(values.size, -2, np.int32)
    count = _mark_minima(values, labels, np.empty(values.size, np.int32), height, width)
    rising = np.argsort(values)
    ranks = np.empty(values.size, np.int32)
    ranks[rising] = np.cumsum(np.diff(values[rising], prepend=values[rising[:1]]) != 0, dtype=np.int32)
    heads, tails = np.full((2, int(ranks.max(initial=-1)) + 1), -1, np.int32)
    _flood(ranks, labels, heads, tails, np.empty(values.size, np.int32), height, width)
    _renumber(labels, np.full(count, -1, np.int32))
    return labels.reshape(height, width)
