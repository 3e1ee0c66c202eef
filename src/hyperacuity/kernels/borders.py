"""Directions of borders between regions, smoothed along a few cracks, and straight lines that cross borders."""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Float32s, Float64s, Int32s, Int64s, Scalar, allocating_kernel, kernel


@allocating_kernel
def crack_normals(
    labels: Int32s, here: Int64s, there: Int64s, toward: Int64s, sigma: Scalar, reach: Scalar
) -> Float64s:
    """Per crack the unit normal (x, y) of its border, towards the region ``toward``, one of the two that meet there.

    It is the gradient, at the middle of the crack, of one region's membership minus the other's, smoothed by a Gaussian that is
    cut off ``reach`` pixels away. Where that vanishes, the crack's own normal is taken.
    """
    height, width = labels.shape
    normals = np.empty((len(here), 2))
    weights = np.exp(-0.5 * (np.arange(2 * reach + 1) / (2 * sigma)) ** 2)  # at multiples of half a pixel
    for n in range(len(here)):
        y, x = here[n] // width, here[n] % width
        v, u = there[n] // width, there[n] % width
        a = toward[n]
        b = labels[v, u] if labels[y, x] == a else labels[y, x]
        gx, gy = 0.0, 0.0
        for row in range(max(0, y - reach), min(height, v + reach + 1)):
            dy = 2 * row - y - v
            if abs(dy) > 2 * reach:
                continue
            for column in range(max(0, x - reach), min(width, u + reach + 1)):
                dx = 2 * column - x - u
                if abs(dx) > 2 * reach:
                    continue
                label = labels[row, column]
                if label == a:
                    weight = weights[abs(dy)] * weights[abs(dx)]
                elif label == b:
                    weight = -weights[abs(dy)] * weights[abs(dx)]
                else:
                    continue
                gx += weight * dx
                gy += weight * dy
        size = np.hypot(gx, gy)
        if size > 1e-9:
            normals[n, 0], normals[n, 1] = gx / size, gy / size
        else:
            sign = -1.0 if labels[y, x] == a else 1.0
            normals[n, 0], normals[n, 1] = sign * (u - x), sign * (v - y)
    return normals


@kernel
def line_relations(
    labels: Int32s,
    boundaries: Float32s,
    field: Float32s,
    steps: Int64s,
    every: Scalar,
    starts: Int32s,
    ends: Int32s,
    strengths: Float32s,
    sides: Float32s,
) -> Scalar:
    """List straight lines that leave a region: start, end, the strongest boundary between, and which side is in front there.

    ``steps`` has a row (dx, dy, number of steps) per line; lines start from every ``every``-th pixel both ways. Boundaries are
    met where the region changes from one pixel of the line to the next; the strongest counts, and ``sides`` has there the
    field along the line, backwards: positive when the start is in front. Returns how many there are; the arrays that are
    filled have room for every line.
    """
    height, width = labels.shape
    count = 0
    for n in range(len(steps)):
        dx, dy, length = steps[n, 0], steps[n, 1], steps[n, 2]
        size = np.sqrt(float(dx * dx + dy * dy))
        for y in range(0, height, every):
            if y + length * dy < 0 or y + length * dy >= height:
                continue
            for x in range(0, width, every):
                if x + length * dx < 0 or x + length * dx >= width:
                    continue
                strongest, side, crossed = -1.0, 0.0, False
                v, u = y, x
                for _ in range(length):
                    vv, uu = v + dy, u + dx
                    if labels[v, u] != labels[vv, uu]:
                        strength = max(boundaries[v, u], boundaries[vv, uu])
                        if strength > strongest:
                            strongest = strength
                            along = (field[v, u, 0] + field[vv, uu, 0]) * dx + (field[v, u, 1] + field[vv, uu, 1]) * dy
                            side = -along / (2 * size)
                        crossed = True
                    v, u = vv, uu
                if crossed and labels[y, x] >= 0 and labels[v, u] >= 0 and labels[y, x] != labels[v, u]:
                    starts[count], ends[count] = labels[y, x], labels[v, u]
                    strengths[count], sides[count] = strongest, side
                    count += 1
    return count
