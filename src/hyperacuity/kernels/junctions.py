"""Corners where three regions meet: the borders that leave them, followed along cracks, and the pixels in a disc about them.

A *corner* (y, x) is the point between the pixels (y − 1, x − 1) and (y, x). Directions are numbered clockwise from up: up, right,
down, left.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Float32s, Float64s, Int32s, Int64s, Scalar, allocating_kernel, kernel

UP, RIGHT, DOWN, LEFT = range(4)
BRANCH = 7
"""Numbers per branch: its length in cracks, then offsets (x, y) from the corner: their sum, the middle one, the last one."""


@kernel
def _beside(labels: Int32s, y: Scalar, x: Scalar, way: Scalar) -> tuple[Scalar, Scalar]:
    """The labels to the left and to the right of the crack that leaves a corner this way."""
    if way == UP:
        return labels[y - 1, x - 1], labels[y - 1, x]
    if way == RIGHT:
        return labels[y - 1, x], labels[y, x]
    if way == DOWN:
        return labels[y, x], labels[y, x - 1]
    return labels[y, x - 1], labels[y - 1, x - 1]


@kernel
def _step(y: Scalar, x: Scalar, way: Scalar) -> tuple[Scalar, Scalar]:
    return y + (way == DOWN) - (way == UP), x + (way == RIGHT) - (way == LEFT)


@kernel
def _onward(labels: Int32s, y: Scalar, x: Scalar, way: Scalar) -> Scalar:
    """The way a border goes on from a corner that it reached this way; −1 if it ends: at the frame, or where others meet it."""
    height, width = labels.shape
    if y <= 0 or x <= 0 or y >= height or x >= width:
        return -1
    onward = -1
    for turn in range(3):
        other = (way + 3 + turn) % 4
        left, right = _beside(labels, y, x, other)
        if left != right:
            if onward >= 0:
                return -1
            onward = other
    return onward


@kernel
def _follow(labels: Int32s, y: Scalar, x: Scalar, way: Scalar, reach: Scalar, branch: Float64s) -> None:
    """Follow a border for at most ``reach`` cracks. Offsets are in pixels; the middle one halves the cracks."""
    v, u, length = y, x, 0
    for n in range(BRANCH):
        branch[n] = 0
    while way >= 0 and length < reach:
        v, u = _step(v, u, way)
        length += 1
        branch[1] += u - x
        branch[2] += v - y
        way = _onward(labels, v, u, way)
    branch[0], branch[5], branch[6] = length, u - x, v - y


@kernel
def _middle(labels: Int32s, y: Scalar, x: Scalar, way: Scalar, branch: Float64s) -> None:
    """Write the offset halfway along a branch whose length is known."""
    v, u = y, x
    for _ in range(int(branch[0]) // 2):
        v, u = _step(v, u, way)
        way = _onward(labels, v, u, way)
    branch[3], branch[4] = u - x, v - y


@kernel
def _meeting(labels: Int32s, y: Scalar, x: Scalar, ways: Int64s) -> Scalar:
    """Write the ways of the borders that leave a corner, clockwise; 3 if three regions share it and none is void, else 0."""
    count = 0
    for way in range(4):
        left, right = _beside(labels, y, x, way)
        if left < 0 or right < 0:
            return 0
        if left != right:
            if count == 3:
                return 0
            ways[count] = way
            count += 1
    return count if count == 3 else 0


@allocating_kernel
def find_junctions(labels: Int32s, reach: Scalar) -> tuple[Int64s, Int32s, Float64s]:
    """Corners (y, x) where exactly three regions meet; the region clockwise of each of its borders; the borders as branches.

    ``branches[n, k]`` has the numbers of :data:`BRANCH`. The region ``regions[n, k]`` lies between the branches k and k + 1.
    """
    height, width = labels.shape
    ways = np.zeros(3, np.int64)
    count = 0
    for y in range(1, height):
        for x in range(1, width):
            count += _meeting(labels, y, x, ways) == 3
    corners = np.empty((count, 2), np.int64)
    regions = np.empty((count, 3), np.int32)
    branches = np.empty((count, 3, BRANCH))
    n = 0
    for y in range(1, height):
        for x in range(1, width):
            if _meeting(labels, y, x, ways) != 3:
                continue
            corners[n, 0], corners[n, 1] = y, x
            for k in range(3):
                regions[n, k] = _beside(labels, y, x, ways[k])[1]
                _follow(labels, y, x, ways[k], reach, branches[n, k])
                _middle(labels, y, x, ways[k], branches[n, k])
            n += 1
    return corners, regions, branches


@allocating_kernel
def disc_means(labels: Int32s, planes: Float32s, corners: Int64s, regions: Int32s, radius: Scalar) -> Float64s:
    """The mean of each plane over the pixels of each of a corner's regions that lie within ``radius`` of the corner."""
    height, width = labels.shape
    means = np.zeros((len(corners), regions.shape[1], len(planes)))
    for n in range(len(corners)):
        y, x = corners[n, 0], corners[n, 1]
        for k in range(regions.shape[1]):
            count = 0
            for v in range(max(0, y - radius), min(height, y + radius)):
                for u in range(max(0, x - radius), min(width, x + radius)):
                    if (v + 0.5 - y) ** 2 + (u + 0.5 - x) ** 2 <= radius * radius and labels[v, u] == regions[n, k]:
                        count += 1
                        for p in range(len(planes)):
                            means[n, k, p] += planes[p, v, u]
            for p in range(len(planes)):
                means[n, k, p] /= max(count, 1)
    return means


@allocating_kernel
def bulges(labels: Int32s, first: Int32s, right: Int32s, below: Int32s, radius: Scalar) -> Float64s:
    """Per pair of regions, the sum over its cracks of (second − first) / (second + first), the pixels of either in a disc there.

    ``right`` and ``below`` have the number of the pair at each crack, −1 for none. A disc that leaves the image or meets a third
    region counts 0: next to a T-junction the regions beside the stem would seem to bulge.
    """
    height, width = labels.shape
    sums = np.zeros(len(first))
    for y in range(height):
        for x in range(width):
            for way in range(2):
                pair = right[y, x] if way == 0 else below[y, x]
                if pair < 0:
                    continue
                # twice the middle of the crack, in pixels
                cy, cx = (2 * y + 1, 2 * x + 2) if way == 0 else (2 * y + 2, 2 * x + 1)
                if min(cy, cx) < 2 * radius or cy + 2 * radius > 2 * height or cx + 2 * radius > 2 * width:
                    continue
                other = labels[y, x + 1] if way == 0 else labels[y + 1, x]
                balance, count, alone = 0, 0, True
                for v in range(y - radius, y + radius + 2):
                    for u in range(x - radius, x + radius + 2):
                        if v < 0 or u < 0 or v >= height or u >= width:
                            continue
                        if (2 * v + 1 - cy) ** 2 + (2 * u + 1 - cx) ** 2 > 4 * radius * radius:
                            continue
                        label = labels[v, u]
                        if label == labels[y, x]:
                            balance -= 1
                        elif label == other:
                            balance += 1
                        else:
                            alone = False
                            break
                        count += 1
                    if not alone:
                        break
                if alone:
                    sums[pair] += (balance if labels[y, x] == first[pair] else -balance) / count
    return sums
