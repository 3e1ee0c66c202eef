"""Directions of the boundaries between regions, for the oriented watershed transform.

Boundaries run along cracks: ``right[y, x]`` lies between the pixels (y, x) and (y, x + 1), ``down[y, x]`` between (y, x) and
(y + 1, x). Cracks meet at the corners of pixels. An arc is a chain of cracks between two corners where the number of boundary
cracks is not two, or a closed loop. It is split at its farthest point from its chord, again and again, until every piece stays
within a tolerance of its own chord (Ramer 1972, Douglas & Peucker 1973); each crack takes the direction of its piece's chord.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Float32s, Int32s, Scalar, allocating_kernel, kernel

Corners = Int32s
Angles = Float32s

UNSEEN = np.float32(-1)
"""In place of an angle: a boundary crack that no arc has passed yet. NaN: no boundary."""


@kernel
def _crack_at(y: Scalar, x: Scalar, step: Scalar, right: Angles, down: Angles) -> Scalar:
    """The state of the crack that leaves corner (y, x) to the north, west, east or south; NaN where there is none."""
    height, width = right.shape
    if step == 0:
        return right[y - 1, x - 1] if y > 0 and 0 < x < width else np.nan
    if step == 3:
        return right[y, x - 1] if y < height and 0 < x < width else np.nan
    if step == 1:
        return down[y - 1, x - 1] if x > 0 and 0 < y < height else np.nan
    return down[y - 1, x] if x < width and 0 < y < height else np.nan


@kernel
def _set_crack(y: Scalar, x: Scalar, v: Scalar, u: Scalar, angle: Scalar, right: Angles, down: Angles) -> None:
    """Write the crack between two neighbouring corners."""
    if x == u:
        right[min(y, v), x - 1] = angle
    else:
        down[y - 1, min(x, u)] = angle


@kernel
def _degree(y: Scalar, x: Scalar, right: Angles, down: Angles) -> Scalar:
    count = 0
    for step in range(4):
        if not np.isnan(_crack_at(y, x, step, right, down)):
            count += 1
    return count


@kernel
def _walk(y: Scalar, x: Scalar, step: Scalar, right: Angles, down: Angles, path: Corners) -> Scalar:
    """Follow boundary cracks from a corner until a junction or the start; returns the number of corners in ``path``.

    Cracks on the way are marked as seen (angle 0).
    """
    path[0, 0], path[0, 1] = y, x
    count = 1
    while step >= 0:
        v = y + (1 if step == 3 else 0) - (1 if step == 0 else 0)
        u = x + (1 if step == 2 else 0) - (1 if step == 1 else 0)
        _set_crack(y, x, v, u, np.float32(0), right, down)
        y, x = v, u
        path[count, 0], path[count, 1] = y, x
        count += 1
        step = -1
        if _degree(y, x, right, down) == 2:
            for way in range(4):
                if _crack_at(y, x, way, right, down) == UNSEEN:
                    step = way
    return count


@kernel
def _farthest(path: Corners, first: Scalar, last: Scalar) -> tuple[Scalar, Scalar]:
    """The corner between two others on a path that is farthest from their chord, and its squared distance."""
    dy, dx = path[last, 0] - path[first, 0], path[last, 1] - path[first, 1]
    length = float(dy * dy + dx * dx)
    farthest, most = first, 0.0
    for i in range(first + 1, last):
        ey, ex = path[i, 0] - path[first, 0], path[i, 1] - path[first, 1]
        if length > 0:
            cross = float(ey * dx - ex * dy)
            away = cross * cross / length
        else:
            away = float(ey * ey + ex * ex)
        if away > most:
            farthest, most = i, away
    return farthest, most


@kernel
def _direct(path: Corners, count: Scalar, tolerance: Scalar, stack: Corners, right: Angles, down: Angles) -> None:
    """Give each crack of a path the direction of its piece's chord, in [0, π), x to the right and y down."""
    stack[0, 0], stack[0, 1] = 0, count - 1
    size = 1
    while size > 0:
        size -= 1
        first, last = stack[size, 0], stack[size, 1]
        split, away = _farthest(path, first, last)
        if away > tolerance * tolerance:
            stack[size, 0], stack[size, 1] = first, split
            stack[size + 1, 0], stack[size + 1, 1] = split, last
            size += 2
            continue
        angle = np.arctan2(path[last, 0] - path[first, 0], path[last, 1] - path[first, 1])
        angle = angle + np.pi if angle < 0 else angle
        angle = angle - np.pi if angle >= np.pi else angle
        for i in range(first, last):
            _set_crack(path[i, 0], path[i, 1], path[i + 1, 0], path[i + 1, 1], np.float32(angle), right, down)


@kernel
def _mark_cracks(labels: Int32s, right: Angles, down: Angles) -> Scalar:
    """Mark the cracks between regions as unseen; returns their number."""
    height, width = labels.shape
    cracks = 0
    for y in range(height):
        for x in range(width):
            if x + 1 < width and labels[y, x] != labels[y, x + 1]:
                right[y, x] = UNSEEN
                cracks += 1
            if y + 1 < height and labels[y, x] != labels[y + 1, x]:
                down[y, x] = UNSEEN
                cracks += 1
    return cracks


@allocating_kernel
def arc_paths(labels: Int32s) -> tuple[Corners, Int32s]:
    """The arcs of the boundaries between regions, one after another: their corners (y, x), and where each begins.

    Arc i has the corners from ``starts[i]`` to ``starts[i + 1]``; a loop ends at the corner it begins with. An image of one
    region has none.
    """
    height, width = labels.shape
    right = np.full((height, width), np.nan, np.float32)
    down = np.full((height, width), np.nan, np.float32)
    cracks = _mark_cracks(labels, right, down)
    path = np.empty((cracks + 2, 2), np.int32)
    corners = np.empty((2 * cracks, 2), np.int32)  # an arc of n cracks has n + 1 corners
    starts = np.zeros(cracks + 1, np.int32)
    size, arcs = 0, 0
    for loops in range(2):  # arcs that start at junctions first; those left are loops
        for y in range(height + 1):
            for x in range(width + 1):
                if not loops and _degree(y, x, right, down) == 2:
                    continue
                for step in range(4):
                    if _crack_at(y, x, step, right, down) == UNSEEN:
                        count = _walk(y, x, step, right, down, path)
                        for i in range(count):
                            corners[size + i, 0] = path[i, 0]
                            corners[size + i, 1] = path[i, 1]
                        size += count
                        arcs += 1
                        starts[arcs] = size
    return corners[:size].copy(), starts[: arcs + 1].copy()


@allocating_kernel
def arc_directions(labels: Int32s, tolerance: Scalar) -> tuple[Angles, Angles]:
    """Direction of the boundary at each crack, in [0, π); NaN where both sides have the same label.

    Returns ``right`` (between a pixel and the one to its right; the last column is NaN) and ``down``, both H×W.
    """
    right, down = np.full(labels.shape, np.nan, np.float32), np.full(labels.shape, np.nan, np.float32)
    corners, starts = arc_paths(labels)
    stack = np.empty((len(corners), 2), np.int32)
    for arc in range(len(starts) - 1):
        path = corners[starts[arc] : starts[arc + 1]]
        _direct(path, len(path), tolerance, stack, right, down)
    return right, down
