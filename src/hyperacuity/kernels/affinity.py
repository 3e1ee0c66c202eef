"""How alike are two pixels, by the strongest contour between them; and products with the matrix of it, many vectors at a time.

Pixels no further apart than a radius are neighbours. Their affinity is exp(−m / σ), m being the largest strength on the straight
line of pixels between them, both ends included (Leung & Malik 1998: intervening contours). Of a pair, the pixel that comes first
in reading order begins the line (Bresenham 1965), so that the matrix is symmetric. A pixel has no affinity to itself.

The matrix is held as H × K × W: row by row, and for each of K neighbours in a fixed order, the affinities of the row's pixels, 0
beyond the frame. Vectors are n × (H + 2r) × (W + 2r), with a margin of zeros as wide as the radius r, so that a neighbour is a
fixed step away. Sums run in a fixed order: the result is the same on any machine.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Float32s, Float64s, Int64s, Scalar, allocating_kernel, kernel
from hyperacuity.kernels.lanes import LANES, load, spread, store

TOGETHER = 2 * LANES
"""How many vectors are multiplied at a time."""


def neighbour_offsets(radius: int) -> Int64s:
    """(dy, dx) of the neighbours within a radius: first those later in reading order, then their opposites in the same order.

    >>> neighbour_offsets(1).tolist()
    [[0, 1], [1, 0], [0, -1], [-1, 0]]
    """
    reach = range(-radius, radius + 1)
    later = [(y, x) for y in reach for x in reach if (y, x) > (0, 0) and y * y + x * x <= radius * radius]
    return np.array([*later, *((-y, -x) for y, x in later)], np.int64).reshape(-1, 2)


def contour_affinity(strength: Float32s, radius: int, sigma: float) -> Float32s:
    """Affinity of each pixel to its neighbours (:func:`neighbour_offsets`), H × K × W.

    >>> contour_affinity(np.float32([[0, 0.1, 0]]), 2, 0.1)[0, 0].round(2)
    array([0.37, 0.37, 0.  ], dtype=float32)
    """
    offsets = neighbour_offsets(radius)
    half = len(offsets) // 2
    lines = [_line(int(dy), int(dx)) for dy, dx in offsets[:half]]
    starts = np.cumsum([0, *map(len, lines)])
    points = np.array([point for line in lines for point in line], np.int64).reshape(-1, 2)
    weights = np.empty((strength.shape[0], len(offsets), strength.shape[1]), np.float32)
    _largest_between(np.ascontiguousarray(strength, np.float32), offsets, points, starts, weights)
    np.exp(weights * np.float32(-1 / sigma), out=weights, where=weights >= 0)
    np.maximum(weights, 0, out=weights)
    return weights


def _line(dy: int, dx: int) -> list[tuple[int, int]]:
    """The pixels of the straight line from (0, 0) to (dy, dx), ends included; exactly between two, the later one."""
    steps = max(abs(dy), abs(dx))
    return [((2 * n * dy + steps) // (2 * steps), (2 * n * dx + steps) // (2 * steps)) for n in range(steps + 1)]


@kernel
def _largest_between(strength: Float32s, offsets: Int64s, points: Int64s, starts: Int64s, weights: Float32s) -> None:
    """Fill in the strongest contour between each pixel and its neighbours, −1 where there is none."""
    height, width = strength.shape
    half = len(offsets) // 2
    weights[:] = -1
    for y in range(height):
        for x in range(width):
            for k in range(half):
                v, u = y + offsets[k, 0], x + offsets[k, 1]
                if 0 <= v < height and 0 <= u < width:
                    most = np.float32(0)
                    for i in range(starts[k], starts[k + 1]):
                        most = max(most, strength[y + points[i, 0], x + points[i, 1]])
                    weights[y, k, x] = most
                    weights[v, k + half, u] = most


def normalise(weights: Float32s, offsets: Int64s) -> Float64s:
    """Divide each affinity, in place, by the root of the product of its pixels' sums of affinities, which are returned, H × W.

    A pixel alone, as the only one of its image is, keeps its zeros and has the sum 1.
    """
    degree = weights.sum(axis=1, dtype=np.float64)
    degree = np.where(degree > 0, degree, 1)
    _scale(weights, 1 / np.sqrt(degree), offsets)
    return np.asarray(degree)


@kernel
def _scale(weights: Float32s, factor: Float64s, offsets: Int64s) -> None:
    height, count, width = weights.shape
    for y in range(height):
        for k in range(count):
            for x in range(width):
                if weights[y, k, x] > 0:
                    weights[y, k, x] *= factor[y, x] * factor[y + offsets[k, 0], x + offsets[k, 1]]


def interleaved(vectors: Float32s) -> Float32s:
    """Vectors pixel by pixel, as :func:`multiply` takes them: frames n × H × W as H × W × n.

    >>> interleaved(np.float32([[[1, 2]], [[3, 4]]])).tolist()
    [[[1.0, 3.0], [2.0, 4.0]]]
    """
    return np.ascontiguousarray(np.moveaxis(vectors, 0, -1))


def separated(vectors: Float32s) -> Float32s:
    """The inverse of :func:`interleaved`: H × W × n as n × H × W."""
    return np.ascontiguousarray(np.moveaxis(vectors, -1, 0))


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

    Vectors are :func:`interleaved`, and their number is a multiple of :data:`TOGETHER`.
    """
    height, _, width = weights.shape
    stride, number = vectors.shape[1], vectors.shape[2]
    margin = (stride - width) // 2
    steps = (offsets[:, 0] * stride + offsets[:, 1]) * number
    given, before, after = vectors.ravel(), last.ravel(), result.ravel()
    for y in range(height):
        for x in range(width):
            here = ((y + margin) * stride + x + margin) * number
            for at in range(here, here + number, TOGETHER):
                _multiply_pixel(weights[y, :, x], steps, given, before, scale, shift, after, at)


@kernel
def _multiply_pixel(
    weights: Float32s,
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
        one, other = spread(weights[k]), spread(weights[k + 1])
        here, there = at + steps[k], at + steps[k + 1]
        a = a + (one * load(given, here) + other * load(given, there))
        b = b + (one * load(given, here + LANES) + other * load(given, there + LANES))
    factor = spread(scale)
    store(after, at, factor * a - load(before, at))
    store(after, second, factor * b - load(before, second))


@allocating_kernel
def products(left: Float32s, right: Float32s) -> Float64s:
    """Sums of products of all pairs of vectors, n × n, in double precision."""
    count, height, width = left.shape
    result = np.empty((count, count))
    total = np.empty(width)
    for a in range(count):
        for b in range(count):
            total[:] = 0
            for y in range(height):
                for x in range(width):
                    total[x] += np.float64(left[a, y, x]) * right[b, y, x]
            result[a, b] = total.sum()
    return result


@allocating_kernel
def mix(vectors: Float32s, coefficients: Float32s) -> Float32s:
    """Sums of vectors: new vector b is the sum over a of coefficients[a, b] times vector a."""
    count, height, width = vectors.shape
    result = np.zeros_like(vectors)
    for y in range(height):
        for b in range(count):
            for a in range(count):
                for x in range(width):
                    result[b, y, x] += coefficients[a, b] * vectors[a, y, x]
    return result
