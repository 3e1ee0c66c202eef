"""Watershed by flooding: every pixel goes to one basin, so that boundaries run along the cracks between pixels.

Each regional minimum (a 4-connected plateau without a lower neighbour) is a basin. Pixels beside a basin wait in a heap, lowest
first and first come first served among equals; the one that leaves the heap hands its label to its unlabelled neighbours
(Meyer 1991). A pixel is therefore reached by the basin from which the climb to it is lowest, and plateaus are shared by distance.
The result is fixed by the values alone: ties are broken by the order of arrival, which starts in reading order.
"""

from __future__ import annotations

import heapq

import numpy as np

from hyperacuity.kernels import Float32s, Int32s, Scalar, allocating_kernel, kernel


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
    """Label the regional minima 0, 1, … in reading order, all else −1; how many there are. ``labels`` starts at −2."""
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


@allocating_kernel
def basins(surface: Float32s) -> Int32s:
    """The catchment basins of a surface, 4-connected, numbered from 0 in reading order."""
    height, width = surface.shape
    values = surface.copy().ravel()
    labels = np.full(height * width, -2, np.int32)
    count = _mark_minima(values, labels, np.empty(height * width, np.int32), height, width)
    # The level at which a pixel is flooded, the order of arrival, and the pixel.
    heap = [(values[cell], age, cell) for age, cell in enumerate(np.flatnonzero(labels >= 0))]
    heapq.heapify(heap)
    age = len(heap)
    while len(heap) > 0:
        level, _, cell = heapq.heappop(heap)
        for side in range(4):
            other = _neighbour(cell, side, height, width)
            if other >= 0 and labels[other] < 0:
                labels[other] = labels[cell]
                heapq.heappush(heap, (max(values[other], level), age, other))
                age += 1
    numbers = np.full(count, -1, np.int32)
    found = 0
    for cell in range(height * width):
        if numbers[labels[cell]] < 0:
            numbers[labels[cell]] = found
            found += 1
        labels[cell] = numbers[labels[cell]]
    return labels.reshape(height, width)
