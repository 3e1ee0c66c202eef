"""Affinity of pixels by the strongest contour between them, and products of its matrix with many vectors at a time.

Pixels no further apart than a radius are neighbours. Their affinity is exp(−m / σ), m being the largest strength on the straight
line of pixels between them, both ends included (Leung & Malik 1998: intervening contours). Of a pair, the pixel that comes first
in reading order begins the line (Bresenham 1965), so that the matrix is symmetric. A pixel has no affinity to itself.

The matrix is held as H × W × K: pixel by pixel, the affinities to its K neighbours in a fixed order, 0 beyond the frame. Vectors
are held pixel by pixel too, (H + 2r) × (W + 2r) × n, with a margin of zeros as wide as the radius r, so that a neighbour is a
fixed step away, and what one affinity multiplies lies side by side. Sums run in a fixed order: the result is the same on any
machine.
"""

from __future__ import annotations

import math

import numpy as np

from hyperacuity.kernels import Float32s, Float64s, Int64s, Scalar, allocating_kernel, inlined_kernel, kernel
from hyperacuity.kernels.lanes import LANES, load, spread, store

TOGETHER = 2 * LANES
"""Vectors multiplied at a time."""

ROWS = 4
"""Vectors whose products with others are summed at a time."""


def neighbour_offsets(radius: int) -> Int64s:
    """(dy, dx) of the neighbours within a radius: first those later in reading order, then their opposites in the same order.

    >>> neighbour_offsets(1).tolist()
    [[0, 1], [1, 0], [0, -1], [-1, 0]]
    """
    reach = range(-radius, radius + 1)
    later = [(y, x) for y in reach for x in reach if (y, x) > (0, 0) and y * y + x * x <= radius * radius]
    return np.array([*later, *((-y, -x) for y, x in later)], np.int64).reshape(-1, 2)


def contour_affinity(strength: Float32s, radius: int, sigma: float) -> Float32s:
    """Affinity of each pixel to its neighbours (:func:`neighbour_offsets`), H × W × K.

    >>> contour_affinity(np.float32([[0, 0.1, 0]]), 2, 0.1)[0, :, 0].round(2)
    array([0.37, 0.37, 0.  ], dtype=float32)
    """
    offsets = neighbour_offsets(radius)
    half = len(offsets) // 2
    lines = [_line(int(dy), int(dx)) for dy, dx in offsets[:half]]
    starts = np.cumsum([0, *map(len, lines)])
    points = np.array([point for line in lines for point in line], np.int64).reshape(-1, 2)
    later = np.empty((half, *strength.shape), np.float32)
    _largest_between(np.ascontiguousarray(strength, np.float32), offsets, points, starts, later)
    np.exp(later * np.float32(-1 / sigma), out=later, where=later >= 0)
    np.maximum(later, 0, out=later)
    return _both_ways(later, offsets)


def _line(dy: int, dx: int) -> list[tuple[int, int]]:
    """The pixels of the straight line from (0, 0) to (dy, dx), ends included; exactly between two, the later one."""
    steps = max(abs(dy), abs(dx))
    return [((2 * n * dy + steps) // (2 * steps), (2 * n * dx + steps) // (2 * steps)) for n in range(steps + 1)]


@kernel
def _largest_between(strength: Float32s, offsets: Int64s, points: Int64s, starts: Int64s, later: Float32s) -> None:
    """Fill in the strongest contour between each pixel and its later neighbours, −1 where there is none: K/2 × H × W."""
    height, width = strength.shape
    later[:] = -1
    for k in range(later.shape[0]):
        dy, dx = offsets[k]
        left, right = max(-dx, 0), max(width - max(dx, 0), 0)
        for y in range(max(-dy, 0), height - max(dy, 0)):
            most = later[k, y, left:right]
            most[:] = 0
            for i in range(starts[k], starts[k + 1]):
                start = left + points[i, 1]
                line = strength[y + points[i, 0], start : start + most.size]
                for x in range(most.size):
                    most[x] = max(most[x], line[x])


@allocating_kernel
def _both_ways(later: Float32s, offsets: Int64s) -> Float32s:
    """The whole matrix from the half of it above the diagonal, neighbour by neighbour: H × W × K, 0 beyond the frame."""
    half, height, width = later.shape
    weights = np.zeros((height, width, 2 * half), np.float32)
    for y in range(height):
        for k in range(half):
            dy, dx = offsets[k]
            for x in range(width):
                weights[y, x, k] = later[k, y, x]
            if y >= dy:
                for x in range(max(dx, 0), min(width + dx, width)):
                    weights[y, x, k + half] = later[k, y - dy, x - dx]
    return weights


def normalise(weights: Float32s, offsets: Int64s) -> Float64s:
    """Divide each affinity, in place, by the root of the product of its pixels' sums of affinities, which are returned, H × W.

    A pixel alone, as the only one of its image is, keeps its zeros and has the sum 1.
    """
    degree = _degree(weights)
    _scale(weights, 1 / np.sqrt(degree), offsets)
    return degree


@allocating_kernel
def _degree(weights: Float32s) -> Float64s:
    height, width, count = weights.shape
    degree = np.empty((height, width))
    for y in range(height):
        for x in range(width):
            total = 0.0
            for k in range(count):
                total += weights[y, x, k]
            degree[y, x] = total if total > 0 else 1
    return degree


@kernel
def _scale(weights: Float32s, factor: Float64s, offsets: Int64s) -> None:
    height, width, count = weights.shape
    for y in range(height):
        for x in range(width):
            for k in range(count):
                if weights[y, x, k] > 0:
                    weights[y, x, k] *= factor[y, x] * factor[y + offsets[k, 0], x + offsets[k, 1]]


def frames(vectors: Float32s, margin: int) -> Float32s:
    """Vectors n × H × W pixel by pixel, with margins of zeros, as :func:`multiply` takes them: (H + 2m) × (W + 2m) × n.

    They begin where a line of the processor's cache does, which loads wait for less.

    >>> frames(np.float32([[[1, 2]], [[3, 4]]]), 0).tolist()
    [[[1.0, 3.0], [2.0, 4.0]]]
    """
    number, height, width = vectors.shape
    result = _empty_frames((height + 2 * margin, width + 2 * margin, number))
    result[margin : margin + height, margin : margin + width] = np.moveaxis(vectors, 0, -1)
    return result


def like(vectors: Float32s) -> Float32s:
    """Frames of zeros of the same shape."""
    return _empty_frames(vectors.shape)


def _empty_frames(shape: tuple[int, ...]) -> Float32s:
    size, line = math.prod(shape), 64
    room = np.zeros(size + line // 4, np.float32)
    start = -room.ctypes.data % line // 4
    return room[start : start + size].reshape(shape)


@allocating_kernel
def planes(vectors: Float32s) -> Float32s:
    """Vectors one after another: H × W × n as n × H × W."""
    height, width, number = vectors.shape
    result = np.empty((number, height, width), np.float32)
    for y in range(height):
        for n in range(number):
            for x in range(width):
                result[n, y, x] = vectors[y, x, n]
    return result


@allocating_kernel
def multiply(
    weights: Float32s,
    offsets: Int64s,
    vectors: Float32s,
    last: Float32s,
    scale: Scalar,
    shift: Scalar,
    result: Float32s,
) -> None:
    """Write scale · (weights − shift) · vectors − last, in frames with margins; ``last`` may be ``result``.

    Vectors are :func:`frames`, and their number is a multiple of :data:`TOGETHER`.
    """
    height, width, count = weights.shape
    stride, number = vectors.shape[1], vectors.shape[2]
    margin = (stride - width) // 2
    steps = (offsets[:, 0] * stride + offsets[:, 1]) * number
    flat, given, before, after = weights.ravel(), vectors.ravel(), last.ravel(), result.ravel()
    for top in range(0, height, 2):  # two rows share most of their neighbours, which are then at hand
        for x in range(width):
            for y in range(top, min(top + 2, height)):
                here, first = ((y + margin) * stride + x + margin) * number, (y * width + x) * count
                for at in range(here, here + number, TOGETHER):
                    _multiply_pixel(flat, first, steps, given, before, scale, shift, after, at)


@inlined_kernel
def _multiply_pixel(
    weights: Float32s,
    start: int,
    steps: Int64s,
    given: Float32s,
    before: Float32s,
    scale: Scalar,
    shift: Scalar,
    after: Float32s,
    at: int,
) -> None:
    """:func:`multiply` for one pixel of several vectors, whose sums are held in registers; neighbours are added in twos."""
    second = at + LANES
    most = spread(-shift)
    a, b = most * load(given, at), most * load(given, second)
    for k in range(0, steps.size, 2):
        at_weight = np.uint64(start + k)  # indices without a sign need not be looked at for one
        one, other = spread(weights[at_weight]), spread(weights[at_weight + np.uint64(1)])
        here, there = at + steps[k], at + steps[k + 1]
        a = a + (one * load(given, here) + other * load(given, there))
        b = b + (one * load(given, here + LANES) + other * load(given, there + LANES))
    factor = spread(scale)
    store(after, at, factor * a - load(before, at))
    store(after, second, factor * b - load(before, second))


@allocating_kernel
def products(left: Float32s, right: Float32s, margin: int) -> Float64s:
    """Sums of products of all pairs of vectors (:func:`frames`), n × n, in double precision: first down columns, then across."""
    height, width, number = left.shape
    result, column = np.zeros((number, number)), np.empty(number * number)
    mine, other = np.empty((2, (height - 2 * margin) * number))
    for x in range(margin, width - margin):
        for y in range(margin, height - margin):
            for n in range(number):
                mine[(y - margin) * number + n], other[(y - margin) * number + n] = left[y, x, n], right[y, x, n]
        for a in range(0, number, ROWS):
            for b in range(0, number, LANES):
                _multiply_columns(mine, other, number, a, b, column)
        result += column.reshape(number, number)
    return result


@inlined_kernel
def _multiply_columns(mine: Float64s, other: Float64s, number: int, a: int, b: int, column: Float64s) -> None:
    """Write sums of products of :data:`ROWS` vectors from ``a`` on, and :data:`LANES` from ``b`` on, down a column of pixels."""
    first = second = third = fourth = spread(np.float64(0))
    for pixel in range(0, mine.size, number):
        values, at = load(other, pixel + b), np.uint64(pixel + a)
        first = first + spread(mine[at]) * values
        second = second + spread(mine[at + np.uint64(1)]) * values
        third = third + spread(mine[at + np.uint64(2)]) * values
        fourth = fourth + spread(mine[at + np.uint64(3)]) * values
    store(column, a * number + b, first)
    store(column, (a + 1) * number + b, second)
    store(column, (a + 2) * number + b, third)
    store(column, (a + 3) * number + b, fourth)


@allocating_kernel
def mix(vectors: Float32s, coefficients: Float32s) -> None:
    """Replace vectors (:func:`frames`) by sums of them: new vector b is the sum over a of coefficients[a, b] times vector a."""
    height, width, number = vectors.shape
    mixed, factors, given = vectors.ravel(), coefficients.ravel(), np.empty(number, np.float32)
    for pixel in range(0, height * width * number, number):
        for a in range(number):
            given[a] = mixed[pixel + a]
        for b in range(0, number, TOGETHER):
            first = second = spread(np.float32(0))
            for a in range(number):
                value, at = spread(given[a]), np.uint64(a * number + b)
                first = first + value * load(factors, at)
                second = second + value * load(factors, at + np.uint64(LANES))
            store(mixed, pixel + b, first)
            store(mixed, pixel + b + LANES, second)
