"""Exact Euclidean distances to a set of pixels, for a fixed set and for one that grows.

Distances are kept squared, as integers, so nothing is rounded; a set without pixels lies :data:`FAR` from everything.

*Fixed set* (:func:`squared_distances`): first the distance along each column, then for each row the lower envelope of the
parabolas (x − i)² + g(i)² (Meijster, Roerdink & Hesselink 2000; Felzenszwalb & Huttenlocher 2012). Where two parabolas meet is
computed in floating point; that is safe, because a crossing is either a whole number, where both have the same value, or at
least 1/(2·width) away from one.

*Growing set* (:func:`distances_as_set_grows`): a new pixel q changes the distance of p only if |p − q|² < d²(p). The image is
cut into tiles, and a pyramid over the tiles holds the largest d² below each node. From the top down, a node is entered only
if q is closer to its square than that largest distance, so every pixel that could change is looked at and the rest of the
image is skipped. (Spreading outwards from q until nothing changes would be wrong: the pixels that q serves need not touch
each other.) Distances only shrink, so a bound that is out of date is still a bound, and the pyramid above the tiles is
repaired only once per batch. A batch that is large beside what is already there is cheaper from scratch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hyperacuity.kernels import Flags, Float64s, Int32s, Int64s, Scalar, allocating_kernel

FAR = np.int32(2**31 - 1)
"""Squared distance to a set that has no pixels."""

TILE = 8
"""Side of the pyramid's smallest nodes, in pixels."""

COST_OF_DESCENT = 64
"""Time to find the tiles a new pixel may serve, in units of one pixel compared (measured)."""


@allocating_kernel
def squared_distances(edges: Flags) -> Int32s:
    """d²(p), the squared distance from each pixel to the nearest true one; :data:`FAR` everywhere if there is none."""
    height, width = edges.shape
    result = np.full((height, width), FAR, np.int32)
    along = _column_distances(edges)
    apex = np.empty(width, np.int64)  # columns whose parabola is part of the envelope
    start = np.empty(width, np.float64)  # where that part begins
    for y in range(height):
        count = 0
        for i in range(width):
            g = along[y, i]
            if g < 0:
                continue
            begin = -np.inf
            while count > 0:
                j = apex[count - 1]
                begin = (g * g + i * i - along[y, j] ** 2 - j * j) / (2.0 * (i - j))
                if begin > start[count - 1]:
                    break
                count -= 1
                begin = -np.inf
            apex[count] = i
            start[count] = begin
            count += 1
        part = 0
        for x in range(width if count else 0):
            while part + 1 < count and start[part + 1] < x:
                part += 1
            result[y, x] = (x - apex[part]) ** 2 + along[y, apex[part]] ** 2
    return result


@allocating_kernel
def _column_distances(edges: Flags) -> Int64s:
    """Distance to the nearest true pixel of the same column, −1 in a column without one."""
    height, width = edges.shape
    along = np.full((height, width), -1, np.int64)
    for y in range(height):
        for x in range(width):
            if edges[y, x]:
                along[y, x] = 0
            elif y > 0 and along[y - 1, x] >= 0:
                along[y, x] = along[y - 1, x] + 1
    for y in range(height - 2, -1, -1):
        for x in range(width):
            below = along[y + 1, x]
            if below >= 0 and (along[y, x] < 0 or below + 1 < along[y, x]):
                along[y, x] = below + 1
    return along


@allocating_kernel
def difference_sum(distances: Float64s, squared: Int32s, power: float, cap: float) -> float:
    """Σ |min(e(p), cap) − min(d(p), cap)|^power over the image, for one map of distances e and one of squares d².

    The map of squares may be padded below and on the right.
    """
    height, width = distances.shape
    sums = np.zeros(width)  # one per column, so that the compiler may take several columns at once
    for y in range(height):
        for x in range(width):
            gap = abs(min(distances[y, x], cap) - min(np.sqrt(squared[y, x]), cap))
            if power == 2.0:
                sums[x] += gap * gap
            elif power == 1.0:
                sums[x] += gap
            else:
                sums[x] += gap**power
    return float(sums.sum())


class _Growth(NamedTuple):
    """Distances to a growing set at the pixels asked for, padded to whole tiles; a pixel not asked for has d = 0 for good."""

    squared: Int32s
    bounds: Int32s  # [level, row, column]: the largest d² below each node; level 0 = the tiles
    asked: int  # how many pixels are asked for
    stack: Int64s  # nodes still to be looked at: level, row, column


@allocating_kernel
def distances_as_set_grows(
    ys: Int64s,
    xs: Int64s,
    stops: Int64s,
    ask_ys: Int64s,
    ask_xs: Int64s,
    distances: Float64s,
    powers: Float64s,
    caps: Float64s,
) -> tuple[Int32s, Float64s]:
    """Distances after each batch of pixels has joined the set; batch t is (ys, xs)[stops[t − 1] : stops[t]].

    Returns d² at the pixels (ask_ys, ask_xs), one row per batch and one column per pixel; and the :func:`difference_sum` of
    the map ``distances`` and the growing set's, one column per (power, cap). Without any power the rest of the image is not
    kept up, which is cheaper.
    """
    growth = _start(distances.shape, ask_ys, ask_xs, len(powers) > 0)
    squares = np.empty((len(stops), len(ask_ys)), np.int32)
    sums = np.empty((len(stops), len(powers)))
    first = np.int64(0)  # a plain 0 would be a type of its own
    for t in range(len(stops)):
        _join(ys, xs, first, stops[t], growth)
        first = stops[t]
        for n in range(len(ask_ys)):
            squares[t, n] = growth.squared[ask_ys[n], ask_xs[n]]
        for v in range(len(powers)):
            sums[t, v] = difference_sum(distances, growth.squared, powers[v], caps[v])
    return squares, sums


@allocating_kernel
def _start(shape: tuple[int, int], ask_ys: Int64s, ask_xs: Int64s, everywhere: bool) -> _Growth:
    """Distances to the empty set."""
    height, width = shape
    rows, columns = -(-height // TILE), -(-width // TILE)
    levels = 1
    while (1 << (levels - 1)) < max(rows, columns):
        levels += 1
    squared = np.zeros((rows * TILE, columns * TILE), np.int32)
    if everywhere:
        squared[:height, :width] = FAR
    for n in range(len(ask_ys)):
        squared[ask_ys[n], ask_xs[n]] = FAR
    count = height * width if everywhere else len(ask_ys)
    bounds = np.full((levels, rows, columns), FAR, np.int32)
    return _Growth(squared, bounds, count, np.empty((4 * levels, 3), np.int64))


@allocating_kernel
def _join(ys: Int64s, xs: Int64s, first: Scalar, stop: Scalar, growth: _Growth) -> None:
    """Let the pixels first … stop − 1 join those before them."""
    if first == stop:
        return
    pixels_compared = growth.asked // max(first, 1) + COST_OF_DESCENT  # by each new pixel, roughly
    if (stop - first) * pixels_compared > growth.squared.size:
        _start_over(ys, xs, stop, growth)
    else:
        for n in range(first, stop):
            _insert(ys[n], xs[n], growth)
    _raise_bounds(growth.bounds)


@allocating_kernel
def _start_over(ys: Int64s, xs: Int64s, stop: int, growth: _Growth) -> None:
    squared, bounds = growth.squared, growth.bounds
    edges = np.zeros(squared.shape, np.bool_)
    for n in range(stop):
        edges[ys[n], xs[n]] = True
    distances = squared_distances(edges)
    bounds[0] = 0
    for y in range(squared.shape[0]):
        for x in range(squared.shape[1]):
            if squared[y, x] > 0:
                squared[y, x] = distances[y, x]
                bounds[0, y // TILE, x // TILE] = max(bounds[0, y // TILE, x // TILE], distances[y, x])


@allocating_kernel
def _insert(qy: int, qx: int, growth: _Growth) -> None:
    """Let one pixel join: visit every tile it may serve."""
    bounds, stack = growth.bounds, growth.stack
    levels, rows, columns = bounds.shape
    stack[0, 0], stack[0, 1], stack[0, 2] = levels - 1, 0, 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        level, i, j = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        side = TILE << level
        dy = max(i * side - qy, 0, qy - (i + 1) * side + 1)
        dx = max(j * side - qx, 0, qx - (j + 1) * side + 1)
        if dy * dy + dx * dx >= bounds[level, i, j]:
            continue
        if level == 0:
            bounds[0, i, j] = _visit(i * TILE, j * TILE, qy, qx, growth.squared)
            continue
        below = level - 1
        for a in range(2 * i, min(2 * i + 1, (rows - 1) >> below) + 1):
            for b in range(2 * j, min(2 * j + 1, (columns - 1) >> below) + 1):
                stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = below, a, b
                waiting += 1


@allocating_kernel
def _visit(top: int, left: int, qy: int, qx: int, squared: Int32s) -> np.int32:
    """Let the pixels of one tile take the new pixel where it is nearer; returns the largest d² that is left."""
    largest = np.int32(0)
    for y in range(top, top + TILE):
        dy = np.int32(y - qy)
        for x in range(left, left + TILE):
            dx = np.int32(x - qx)
            nearer = min(squared[y, x], np.int32(dy * dy + dx * dx))
            squared[y, x] = nearer
            largest = max(largest, nearer)
    return largest


@allocating_kernel
def _raise_bounds(bounds: Int32s) -> None:
    """Bring the pyramid above the tiles up to date: each node holds the largest of its children."""
    levels, rows, columns = bounds.shape
    for level in range(1, levels):
        bounds[level] = 0
        for i in range(rows):
            for j in range(columns):
                bounds[level, i // 2, j // 2] = max(bounds[level, i // 2, j // 2], bounds[level - 1, i, j])
        rows, columns = (rows + 1) // 2, (columns + 1) // 2
