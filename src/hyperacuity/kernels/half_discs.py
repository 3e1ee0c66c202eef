"""Difference of the two halves of a disc around each pixel, for eight directions of the line that divides it.

A pixel carries a label: a bin of brightness or colour, or a texton. Around each pixel the disc is cut into sixteen wedges, and
the labels in each are counted. A half disc is eight wedges in a row: turning the line by one wedge takes one wedge's counts in
and another's out, so that eight directions cost little more than one. With g and h the histograms of the two halves and
s = g + h, which is the same for all directions, the distance is

    χ² = ½ Σ (g − h)² / (g + h) = ½ Σ (2g − s)² / s ,

with each half's counts divided by their sum. Histograms of bins with an order may be smoothed first; smoothing is linear, so it
is applied to s and to g − h. The other distance is the quadratic form of a = |g − h|,

    aᵀ S a = Σ aᵢ (Σ aⱼ − Σ Kᵢⱼ aⱼ) ,    Sᵢⱼ = 1 − Kᵢⱼ ,    Kᵢⱼ = exp(−(i − j)² / 2w²) ,

in which counts that moved to a bin nearby weigh little: K a is a convolution too.

No pixel is looked at for its own sake. Let N(y, x) be how many pixels above (y, x), in its column, have a label. A wedge has in
each column a run of pixels, which holds the difference of two values of N; and two wedges side by side share the ray between
them. So the sums of N along nine rays, from the upper to the lower end of the disc's edge, give all eight wedges right of the
centre, and nine others those left of it. What a disc costs grows with its radius, not with its area, and sixteen neighbours are
looked at together. N is kept for as many rows as a disc has, and counts may wrap around: differences do not notice.

Counts are exact; a share of the disc is what adding up one pixel's share so many times gives. Sums run in a fixed order, one bin
after another, and bins that are empty add nothing: the result is the same on any machine.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from hyperacuity.errors import UsageError
from hyperacuity.kernels import Float32s, Int32s, Int64s, Scalar, Uint8s, allocating_kernel, inlined_kernel, kernel
from hyperacuity.kernels.lanes import LANES, Lanes, Numbers, load, spread, store

HistDistance = Literal["chi2", "quadratic"]

DIRECTIONS = 8
WEDGES = 2 * DIRECTIONS
RAYS = DIRECTIONS + 1
TOGETHER = 4
"""Bins smoothed together."""

NARROW = 2**16 - 1
"""The largest count that 16 bits hold; wedges of more pixels, in discs of a radius beyond 570, need 32."""

SIDES = ((12, 13, 14, 15, 0, 1, 2, 3), (11, 10, 9, 8, 7, 6, 5, 4))
"""The wedges right and left of the centre, from above: the k-th begins at an angle of k · 22.5°."""

_SIDES = np.array(SIDES)


def half_disc_gradients(
    labels: Uint8s,
    bins: int,
    radius: float,
    *,
    smooth: float = 0.0,
    hist_distance: HistDistance = "chi2",
    step: int = 1,
) -> Float32s:
    """Distance of the two halves of the disc at each pixel, 8 × H × W; the line has the angle k · 22.5°, x right and y down.

    The picture is mirrored at its border. The centre is in neither half. ``"chi2"`` lies in [0, 1], ``"quadratic"`` in [0, 4).
    ``smooth`` is a width (standard deviation, in bins): of the Gaussian that histograms are smoothed with before χ², or w of the
    quadratic form. With ``step`` n, discs are centred on every n-th pixel of every n-th row: 8 × ⌈H/n⌉ × ⌈W/n⌉.

    >>> step = np.zeros((9, 9), dtype=np.uint8)
    >>> step[:, 5:] = 1
    >>> half_disc_gradients(step, 2, 3)[:, 4, 4].round(1)
    array([0. , 0. , 0.1, 0.6, 0.6, 0.6, 0.4, 0. ], dtype=float32)
    """
    reach = math.ceil(radius)
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    inside = (y * y + x * x <= radius * radius) & ((y != 0) | (x != 0))
    dy, dx = y[inside], x[inside]
    # Sixteenths of a turn, by whole numbers where the line passes through pixels: opposite pixels lie in opposite wedges.
    upper = (dy > 0) | ((dy == 0) & (dx > 0))
    angle = np.arctan2(np.where(upper, dy, -dy), np.where(upper, dx, -dx))
    wedge = np.minimum((angle / (np.pi / DIRECTIONS) + 1e-9).astype(np.int64), DIRECTIONS - 1)
    wedge = np.where(upper, wedge, wedge + DIRECTIONS)
    taps = np.zeros(1, np.float32) + 1
    if hist_distance not in ("chi2", "quadratic"):
        raise UsageError(f"histograms cannot be compared by {hist_distance!r}: expected chi2 or quadratic")
    quadratic = hist_distance == "quadratic"
    if smooth > 0 and quadratic:
        taps = np.exp(-0.5 * (np.arange(1 - bins, bins) / smooth) ** 2).astype(np.float32)
    elif smooth > 0:
        at = np.arange(-math.ceil(2.5 * smooth), math.ceil(2.5 * smooth) + 1)
        taps = np.exp(-0.5 * (at / smooth) ** 2).astype(np.float32)
        taps /= taps.sum()
    share = np.float32(2 / max(dy.size, 1))
    largest = int(np.bincount(wedge, minlength=1).max())
    shares = np.cumsum(np.concatenate([np.zeros(1, np.float32), np.full(largest, share)]), dtype=np.float32)
    # The products are the same for small discs, where no sum has been rounded otherwise yet, and need no table.
    multiples = bool((shares == np.arange(largest + 1, dtype=np.float32) * share).all())
    rows = np.zeros(0, np.uint16 if largest <= NARROW else np.uint32)
    known = np.flatnonzero(np.bincount(labels.ravel()))
    padded = np.pad(labels, reach, mode="symmetric")
    rays = _rays(dy, dx, wedge, reach)
    return _gradients(padded, known, rays, shares, multiples, bins, taps, quadratic, step, rows)[
        :, :, : -(-labels.shape[1] // step)
    ]


def _rays(dy: Int64s, dx: Int64s, wedge: Int64s, reach: int) -> Int64s:
    """Rows of the first pixels below the rays: side × ray × column.

    Columns are those of dx from 0 to ``reach`` right of the centre, and from ``-reach`` to 0 left of it: of the middle column,
    what is above the centre lies right of it, and what is below left.
    """
    pixels = np.zeros((WEDGES, 2 * reach + 1), np.int64)
    np.add.at(pixels, (wedge, dx + reach), 1)
    highest = np.full((WEDGES, 2 * reach + 1), reach + 1)
    np.minimum.at(highest, (wedge, dx + reach), dy)
    rays = np.empty((2, RAYS, reach + 1), np.int64)
    for side, wedges in enumerate(SIDES):
        columns = slice(reach, None) if side == 0 else slice(reach + 1)
        rays[side, 0] = highest[wedges, columns].min(axis=0)
        rays[side, 1:] = rays[side, 0] + np.cumsum(pixels[wedges, columns], axis=0)
    return rays


@allocating_kernel
def _gradients(
    padded: Uint8s,
    known: Int64s,
    rays: Int64s,
    shares: Float32s,
    multiples: bool,
    bins: int,
    taps: Float32s,
    quadratic: bool,
    step: int,
    none: Numbers,
) -> Float32s:
    """Gradients of a padded picture. ``known`` are the labels that occur; ``shares[n]`` is the share of n pixels of a wedge.

    ``multiples``: shares are multiples of the first. Counts have the type of ``none``. Rows of the result are as long as a
    whole number of blocks.
    """
    reach = rays.shape[2] - 1
    height = (padded.shape[0] - 2 * reach + step - 1) // step
    width = (padded.shape[1] - 2 * reach + step - 1) // step
    blocks = (width + LANES - 1) // LANES
    wide = 2 * reach // step // LANES + 2  # so many blocks have the pixels of the discs of one block
    # Every step-th column stands beside the next, so that discs side by side read numbers side by side.
    stride = (blocks + wide - 1) * LANES
    ring = 2 * reach + 2
    above = np.zeros(known.size * ring * step * stride, none.dtype)
    row = np.zeros(step * stride, np.uint16)
    nearby = np.zeros((blocks + wide - 1, known.size), np.int32)
    numbers = np.zeros(256, np.int64)
    for n in range(known.size):
        numbers[known[n]] = n
    at = np.empty(rays.size, np.int64)
    counts = np.empty(WEDGES * LANES, none.dtype)
    parts = np.empty(WEDGES * LANES, np.float32)
    present = np.empty(known.size, np.int64)
    whole = np.empty(known.size * LANES, np.float32)
    differences = np.empty(known.size * DIRECTIONS * LANES, np.float32)
    margin = bins + 2 * TOGETHER
    roomy = np.zeros(taps.size + 2 * margin, np.float32)
    roomy[margin : margin + taps.size] = taps
    weights = np.empty(TOGETHER * LANES, np.float32)
    result = np.empty((DIRECTIONS, height, blocks * LANES), np.float32)
    flat = result.ravel()
    bottom = 0
    for y in range(height):
        top = y * step
        for gone in range(max(top - step, 0), top):
            _note(padded[gone], numbers, step, -1, nearby)
        while bottom < top + ring - 1:
            _take_row(padded[bottom], known, above, row, bottom, ring, stride, step)
            _note(padded[bottom], numbers, step, 1, nearby)
            bottom += 1
        _aim(rays, top, ring, stride, step, at)
        for block in range(blocks):
            x = block * LANES
            occurring = 0
            for n in range(known.size):
                pixels = 0
                for one in range(block, block + wide):
                    pixels += nearby[one, n]
                if pixels == 0:
                    continue
                _count(above, n * ring * step * stride + x, at, reach + 1, counts)
                if multiples:
                    for i in range(counts.size):
                        parts[i] = np.float32(counts[i]) * shares[1]
                else:
                    for i in range(counts.size):
                        parts[i] = shares[counts[i]]
                if _compare(parts, whole, occurring * LANES, differences):
                    present[occurring] = known[n]
                    occurring += 1
            mine, every = differences[: occurring * DIRECTIONS * LANES], whole[: occurring * LANES]
            to, plane = (y * blocks + block) * LANES, height * blocks * LANES
            if quadratic:
                _quadratic(mine, present[:occurring], taps, flat, to, plane)
            elif taps.size == 1 or occurring == 0:
                _chi2(mine, every, flat, to, plane)
            else:
                labels, reaching = present[:occurring], taps.size // 2
                _smooth_chi2(mine, every, labels, roomy, margin, reaching, bins, weights, flat, to, plane)
    return result


@kernel
def _take_row(
    pixels: Uint8s, known: Int64s, above: Numbers, row: Numbers, y: int, ring: int, stride: int, step: int
) -> None:
    """Add a row of pixels to the counts of those above the next one."""
    row[:] = 256
    for x in range(pixels.size):
        row[x % step * stride + x // step] = pixels[x]
    for n in range(known.size):
        before, after = (n * ring + y % ring) * row.size, (n * ring + (y + 1) % ring) * row.size
        old, new, label = above[before : before + row.size], above[after : after + row.size], np.uint16(known[n])
        for i in range(row.size):
            new[i] = old[i] + (row[i] == label)


@kernel
def _note(pixels: Uint8s, numbers: Int64s, step: int, change: int, nearby: Int32s) -> None:
    """Count the labels of a row that comes in (1) or goes (−1) by blocks of columns."""
    for x in range(pixels.size):
        nearby[x // step // LANES, numbers[pixels[x]]] += change


@kernel
def _aim(rays: Int64s, top: int, ring: int, stride: int, step: int, at: Int64s) -> None:
    """Indices of the counts at which rays pass, for the first disc of a row."""
    columns = rays.shape[2]
    reach = columns - 1
    for side in range(2):
        for k in range(RAYS):
            for column in range(columns):
                x = column + (reach if side == 0 else 0)
                y = (top + reach + rays[side, k, column]) % ring
                at[(side * RAYS + k) * columns + column] = (y * step + x % step) * stride + x // step


@inlined_kernel
def _count(above: Numbers, base: int, at: Int64s, columns: int, counts: Numbers) -> None:
    """Number of pixels of a label in each wedge, of :data:`LANES` discs."""
    for side in range(2):
        first = side * RAYS * columns
        before = load(above, base + at[first])
        for i in range(first + 1, first + columns):
            before = before + load(above, base + at[i])
        for k in range(DIRECTIONS):
            first += columns
            here = load(above, base + at[first])
            for i in range(first + 1, first + columns):
                here = here + load(above, base + at[i])
            store(counts, _SIDES[side, k] * LANES, here - before)
            before = here


@inlined_kernel
def _compare(parts: Float32s, whole: Float32s, to: int, differences: Float32s) -> bool:
    """A label's share s of the whole, and g − h for all directions, of :data:`LANES` discs; whether any has the label."""
    half = load(parts, 0)
    for w in range(1, DIRECTIONS):
        half = half + load(parts, w * LANES)
    every = half
    for w in range(DIRECTIONS, WEDGES):
        every = every + load(parts, w * LANES)
    store(whole, to, every)
    for d in range(DIRECTIONS):
        store(differences, to * DIRECTIONS + d * LANES, half + half - every)
        half = half + (load(parts, (d + DIRECTIONS) * LANES) - load(parts, d * LANES))
    most = np.float32(0)
    for i in range(to, to + LANES):
        most = max(most, whole[i])
    return bool(most > 0)


@kernel
def _halves_over(sums: Float32s, least: Scalar) -> None:
    """Replace each sum s by ½ / s, or by 0 where there is none."""
    for i in range(sums.size):
        sums[i] = np.float32(0.5) / sums[i] if sums[i] > least else np.float32(0)


@kernel
def _chi2(differences: Float32s, whole: Float32s, result: Float32s, to: int, plane: int) -> None:
    """χ² of :data:`LANES` discs."""
    _halves_over(whole, np.float32(0))
    for d in range(DIRECTIONS):
        distance = spread(np.float32(0))
        for n in range(0, whole.size, LANES):
            change = load(differences, n * DIRECTIONS + d * LANES)
            distance = distance + change * change * load(whole, n)
        store(result, to + d * plane, distance)


@kernel
def _smooth_chi2(
    differences: Float32s,
    whole: Float32s,
    present: Int64s,
    taps: Float32s,
    room: int,
    margin: int,
    bins: int,
    weights: Float32s,
    result: Float32s,
    to: int,
    plane: int,
) -> None:
    """χ² of smoothed histograms. Bins that are out of reach of all labels present are 0 in both.

    Bins are smoothed :data:`TOGETHER` at a time, in two directions: the processor need not wait for one sum before it goes
    on with the next. Around the taps there is room, with zeros.
    """
    nothing = spread(np.float32(0))
    for d in range(DIRECTIONS):
        store(result, to + d * plane, nothing)
    low, high = max(present[0] - margin, 0), min(present[-1] + margin + 1, bins)
    begin = end = 0
    for b in range(low, high, TOGETHER):
        while present[begin] < b - margin:
            begin += 1
        while end < present.size and present[end] <= b + margin + TOGETHER - 1:
            end += 1
        first = second = third = fourth = nothing
        for n in range(begin, end):
            tap, every = room + margin + present[n] - b, load(whole, n * LANES)
            first = first + every * spread(taps[tap])
            second = second + every * spread(taps[tap - 1])
            third = third + every * spread(taps[tap - 2])
            fourth = fourth + every * spread(taps[tap - 3])
        store(weights, 0, first)
        store(weights, LANES, second)
        store(weights, 2 * LANES, third)
        store(weights, 3 * LANES, fourth)
        _halves_over(weights, np.float32(1e-9))
        for i in range((high - b) * LANES, weights.size):
            weights[i] = 0
        for d in range(0, DIRECTIONS, 2):
            first = second = third = fourth = nothing
            a = b_ = c = e = nothing
            for n in range(begin, end):
                tap, at = room + margin + present[n] - b, (n * DIRECTIONS + d) * LANES
                one, other = load(differences, at), load(differences, at + LANES)
                here = spread(taps[tap])
                first, a = first + here * one, a + here * other
                here = spread(taps[tap - 1])
                second, b_ = second + here * one, b_ + here * other
                here = spread(taps[tap - 2])
                third, c = third + here * one, c + here * other
                here = spread(taps[tap - 3])
                fourth, e = fourth + here * one, e + here * other
            _add_squares(first, second, third, fourth, weights, result, to + d * plane)
            _add_squares(a, b_, c, e, weights, result, to + (d + 1) * plane)


@inlined_kernel
def _add_squares(
    first: Lanes, second: Lanes, third: Lanes, fourth: Lanes, weights: Float32s, result: Float32s, to: int
) -> None:
    """Add the weighted squares of bins to a distance, one after another."""
    total = load(result, to)
    total = total + first * first * load(weights, 0)
    total = total + second * second * load(weights, LANES)
    total = total + third * third * load(weights, 2 * LANES)
    total = total + fourth * fourth * load(weights, 3 * LANES)
    store(result, to, total)


@kernel
def _quadratic(differences: Float32s, present: Int64s, taps: Float32s, result: Float32s, to: int, plane: int) -> None:
    """The quadratic form, of differences that lose their sign on the way."""
    margin, group = taps.size // 2, DIRECTIONS * LANES
    for i in range(differences.size):
        differences[i] = abs(differences[i])
    for d in range(DIRECTIONS):
        moved = distance = spread(np.float32(0))
        for n in range(present.size):
            moved = moved + load(differences, n * group + d * LANES)
        for m in range(present.size):
            near = spread(np.float32(0))
            for n in range(present.size):
                if abs(present[n] - present[m]) <= margin:
                    tap = spread(taps[margin + present[n] - present[m]])
                    near = near + tap * load(differences, n * group + d * LANES)
            distance = distance + load(differences, m * group + d * LANES) * (moved - near)
        store(result, to + d * plane, distance)
