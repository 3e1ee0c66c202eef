"""Costs averaged over what probably is one surface: adaptive support weights, and the guided filter."""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Flags, Float32s, Float64s, Scalar, allocating_kernel, kernel
from hyperacuity.kernels.lanes import LANES, load, spread, store

Volume = Float32s


@allocating_kernel
def weighted_costs(
    volume: Volume, left: Float32s, right: Float32s, radius: int, colour: float, distance: float
) -> Volume:
    r"""Costs averaged over a window, each pixel by its weight in the left picture times that of its match in the right.

    .. math:: E(p, d) = \frac{\sum_q w(p, q)\,w(p_d, q_d)\,e(q, d)}{\sum_q w(p, q)\,w(p_d, q_d)},\quad
        w(p, q) = \exp\left(-\frac{‖I_p - I_q‖}{γ_c} - \frac{‖p - q‖}{γ_p}\right)

    The window is cut off at the borders of both pictures. Yoon & Kweon (2006), equations 5 and 6.
    """
    height, width, disparities = volume.shape
    side, rows = 2 * radius + 1, radius + 1
    result = np.empty((height, width, disparities), np.float32)
    # Disparities are taken eight at a time, so rows of costs end with zeros.
    room = -(-disparities // LANES) * LANES
    padded = np.zeros((height, width, room), np.float32)
    padded[:, :, :disparities] = volume
    costs = padded.reshape(-1)
    # What q weighs for p, p weighs for q: weights are kept for as many rows as the window reaches down. Right ones run backwards
    # along the row, so that those of successive disparities lie side by side. Where a match would lie outside the right
    # picture nothing is ever written: such weights stay 0, and add nothing.
    weights = np.empty((rows, rows, side, width), np.float32)
    backwards = np.zeros((rows, rows, side, width + room), np.float32)
    above, below = np.zeros(width * room, np.float32), np.zeros(width * room, np.float32)
    for y in range(height):
        for v in range(y, min(y + radius, height - 1) + 1):
            _row_weights(left, y, v, radius, colour, distance, False, weights[y % rows, v - y])
            _row_weights(right, y, v, radius, colour, distance, True, backwards[y % rows, v - y])
        above[:], below[:] = 0, 0
        for v in range(max(y - radius, 0), min(y + radius, height - 1) + 1):
            first, away = min(y, v) % rows, abs(v - y)
            row = costs[v * width * room : (v + 1) * width * room]
            mine, others = weights[first, away].reshape(-1), backwards[first, away].reshape(-1)
            _add_row(row, mine, others, v < y, width, disparities, room, radius, above, below)
        for x in range(width):
            for d in range(disparities):
                at = x * room + d
                result[y, x, d] = above[at] / below[at] if d <= x else np.float32(np.inf)
    return result


@kernel
def _add_row(
    costs: Float32s,
    weights: Float32s,
    others: Float32s,
    turned: Scalar,
    width: Scalar,
    disparities: Scalar,
    room: Scalar,
    radius: Scalar,
    above: Float32s,
    below: Float32s,
) -> None:
    """Add one row of the windows to the sums of costs times weights, and of weights, each of which has ``room`` per pixel.

    ``weights`` are those of the pixels of the row, or, ``turned``, those of the window's middle for the pixels of the row.
    """
    across = width + room
    for x in range(width):
        first, last = max(x - radius, 0), min(x + radius, width - 1)
        k = first - x + radius
        # Where the first pixel's weights are, and how far from there those of the next.
        if turned:
            one, next_one = (2 * radius - k) * width + first, 1 - width
            other, next_other = (2 * radius - k) * across + width - 1 - first, -across - 1
        else:
            one, next_one = k * width + x, width
            other, next_other = k * across + width - 1 - x, across
        for d in range(0, min(disparities, x + 1), LANES):
            over, under = load(above, x * room + d), load(below, x * room + d)
            for n in range(last - first + 1):
                both = spread(weights[one + n * next_one]) * load(others, other + n * next_other + d)
                over = over + both * load(costs, (first + n) * room + d)
                under = under + both
            store(above, x * room + d, over)
            store(below, x * room + d, under)


@kernel
def _row_weights(
    picture: Float32s, y: int, v: int, radius: int, colour: float, distance: float, backwards: Scalar, result: Float32s
) -> None:
    """Weight of pixel (v, x + k − radius) for pixel (y, x), at [k, x], or at [k, width − 1 − x]."""
    _, width, channels = picture.shape
    for k in range(2 * radius + 1):
        across = k - radius
        far = np.sqrt(np.float32(across * across + (v - y) * (v - y))) / np.float32(distance)
        for x in range(max(0, -across), min(width, width - across)):
            apart = np.float32(0)
            for c in range(channels):
                step = picture[v, x + across, c] - picture[y, x, c]
                apart += step * step
            weight = np.exp(-(np.sqrt(apart) / np.float32(colour) + far))
            result[k, width - 1 - x if backwards else x] = weight


@allocating_kernel
def guided_filter(volume: Volume, guide: Float32s, radius: int, epsilon: float) -> Volume:
    r"""Each layer of the volume filtered so that it follows the edges of a guide, a picture H×W×3.

    In every window k the layer is fitted by a linear function of the guide, :math:`q = a_k · I + b_k`, with
    :math:`a_k = (Σ_k + ε)^{-1}\,\mathrm{cov}_k(I, p)` and :math:`b_k = \bar p_k - a_k · \bar I_k`; a pixel gets the mean of what
    the windows that cover it say. Windows are cut off at the border. He, Sun & Tang (2010), equations 14 to 16.
    """
    height, width, disparities = volume.shape
    means, inverse = _guide_statistics(guide, radius, epsilon)
    result = np.empty((height, width, disparities), np.float32)
    layers = np.empty((4, height, width))
    for d in range(disparities):
        for y in range(height):
            for x in range(width):
                value = float(volume[y, x, d])
                layers[3, y, x] = value
                for c in range(3):
                    layers[c, y, x] = guide[y, x, c] * value
        for c in range(4):
            _box_mean(layers[c], radius)
        for y in range(height):
            for x in range(width):
                mean = layers[3, y, x]
                r = layers[0, y, x] - means[0, y, x] * mean
                g = layers[1, y, x] - means[1, y, x] * mean
                b = layers[2, y, x] - means[2, y, x] * mean
                i = inverse[y, x]
                layers[0, y, x] = i[0] * r + i[1] * g + i[2] * b
                layers[1, y, x] = i[1] * r + i[3] * g + i[4] * b
                layers[2, y, x] = i[2] * r + i[4] * g + i[5] * b
                for c in range(3):
                    layers[3, y, x] -= layers[c, y, x] * means[c, y, x]
        for c in range(4):
            _box_mean(layers[c], radius)
        for y in range(height):
            for x in range(width):
                total = layers[3, y, x]
                for c in range(3):
                    total += layers[c, y, x] * guide[y, x, c]
                result[y, x, d] = total
    return result


@allocating_kernel
def _guide_statistics(guide: Float32s, radius: int, epsilon: float) -> tuple[Float64s, Float64s]:
    """Mean of the guide in each window, and the inverse of its covariance + ε (its six different numbers)."""
    height, width, _ = guide.shape
    means = np.empty((3, height, width))
    for c in range(3):
        for y in range(height):
            for x in range(width):
                means[c, y, x] = guide[y, x, c]
        _box_mean(means[c], radius)
    spread = np.empty((6, height, width))
    k = 0
    for c in range(3):
        for e in range(c, 3):
            for y in range(height):
                for x in range(width):
                    spread[k, y, x] = float(guide[y, x, c]) * float(guide[y, x, e])
            _box_mean(spread[k], radius)
            for y in range(height):
                for x in range(width):
                    spread[k, y, x] -= means[c, y, x] * means[e, y, x] - (epsilon if c == e else 0.0)
            k += 1
    inverse = np.empty((height, width, 6))
    for y in range(height):
        for x in range(width):
            rr, rg, rb = spread[0, y, x], spread[1, y, x], spread[2, y, x]
            gg, gb, bb = spread[3, y, x], spread[4, y, x], spread[5, y, x]
            one, two, three = gg * bb - gb * gb, gb * rb - rg * bb, rg * gb - gg * rb
            all_of_it = rr * one + rg * two + rb * three
            inverse[y, x, 0], inverse[y, x, 1], inverse[y, x, 2] = one / all_of_it, two / all_of_it, three / all_of_it
            inverse[y, x, 3] = (rr * bb - rb * rb) / all_of_it
            inverse[y, x, 4] = (rb * rg - rr * gb) / all_of_it
            inverse[y, x, 5] = (rr * gg - rg * rg) / all_of_it
    return means, inverse


@allocating_kernel
def _box_mean(values: Float64s, radius: int) -> None:
    """Replace each value by the mean over its window, cut off at the border; running sums along rows, then columns."""
    height, width = values.shape
    row = np.empty(width)
    for y in range(height):
        total = 0.0
        for x in range(min(radius, width)):
            total += values[y, x]
        for x in range(width):
            if x + radius < width:
                total += values[y, x + radius]
            if x > radius:
                total -= values[y, x - radius - 1]
            row[x] = total / (min(x + radius, width - 1) - max(x - radius, 0) + 1)
        for x in range(width):
            values[y, x] = row[x]
    columns, before = np.zeros(width), values.copy()
    for y in range(min(radius, height)):
        for x in range(width):
            columns[x] += before[y, x]
    for y in range(height):
        rows = min(y + radius, height - 1) - max(y - radius, 0) + 1
        for x in range(width):
            if y + radius < height:
                columns[x] += before[y + radius, x]
            if y > radius:
                columns[x] -= before[y - radius - 1, x]
            values[y, x] = columns[x] / rows


@allocating_kernel
def weighted_median(
    disparity: Float32s, picture: Float32s, wanted: Flags, radius: int, colour: float, distance: float
) -> Float32s:
    r"""The wanted pixels replaced by the weighted median of the whole disparities around them, weights as of a bilateral filter.

    .. math:: w(p, q) = \exp\left(-\frac{‖I_p - I_q‖^2}{σ_c^2} - \frac{‖p - q‖^2}{σ_s^2}\right)
    """
    height, width, channels = picture.shape
    result = disparity.copy()
    count = int(disparity.max()) + 2
    weights = np.zeros(count)
    for y in range(height):
        for x in range(width):
            if not wanted[y, x]:
                continue
            weights[:] = 0
            total = 0.0
            for v in range(max(y - radius, 0), min(y + radius, height - 1) + 1):
                for u in range(max(x - radius, 0), min(x + radius, width - 1) + 1):
                    apart = 0.0
                    for c in range(channels):
                        apart += float(picture[v, u, c] - picture[y, x, c]) ** 2
                    far = float((v - y) ** 2 + (u - x) ** 2)
                    weight = np.exp(-apart / colour**2 - far / distance**2)
                    weights[int(disparity[v, u] + np.float32(0.5))] += weight
                    total += weight
            below, d = weights[0], 0
            while below < total / 2 and d < count - 1:
                d += 1
                below += weights[d]
            result[y, x] = d
    return result
