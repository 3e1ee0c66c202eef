"""How different are the two halves of a disc around each pixel, for eight directions of the line that divides it?

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
from hyperacuity.kernels import Float32s, Int64s, Scalar, Uint8s, allocating_kernel, inlined_kernel, kernel
from hyperacuity.kernels.lanes import LANES, Numbers, load, spread, store

HistDistance = Literal["chi2", "quadratic"]

DIRECTIONS = 8
WEDGES = 2 * DIRECTIONS
RAYS = DIRECTIONS + 1
TOGETHER = 2 * LANES
"""So many discs side by side are looked at together."""

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
    shares = np.zeros(dy.size + 1, np.float32)
    if dy.size:
        np.cumsum(np.full(dy.size, 2 / dy.size, np.float32), out=shares[1:])
    padded = np.pad(labels, reach, mode="symmetric")
    known = np.flatnonzero(np.bincount(labels.ravel()))
    largest = np.bincount(wedge, minlength=1).max()
    rows = np.zeros(0, np.uint16 if largest <= np.iinfo(np.uint16).max else np.uint32)
    return _gradients(padded, known, _rays(dy, dx, wedge, reach), shares, bins, taps, quadratic, step, rows)


def _rays(dy: Int64s, dx: Int64s, wedge: Int64s, reach: int) -> Int64s:
    """Where rays pass: side × ray × column, the row of the first pixel below the ray.

    Columns are those of dx from 0 to ``reach`` right of the centre, and from ``-reach`` to 0 left of it: of the middle column,
    what is above the centre lies right of it, and what is below left.
    """
    rays = np.empty((2, RAYS, reach + 1), np.int64)
    for side, wedges in enumerate(SIDES):
        for column in range(reach + 1):
            mine = dx == (column if side == 0 else column - reach)
            inside = mine & np.isin(wedge, wedges)
            rays[side, 0, column] = dy[inside].min(initial=reach + 1) if inside.any() else 0
            for k, one in enumerate(wedges):
                rays[side, k + 1, column] = rays[side, k, column] + np.count_nonzero(mine & (wedge == one))
    return rays


@allocating_kernel
def _gradients(
    padded: Uint8s,
    known: Int64s,
    rays: Int64s,
    shares: Float32s,
    bins: int,
    taps: Float32s,
    quadratic: bool,
    step: int,
    none: Numbers,
) -> Float32s:
    """``known`` are the labels that occur, ``shares`` what so many pixels are of half a disc, ``none`` has the type of counts."""
    reach = rays.shape[2] - 1
    height = (padded.shape[0] - 2 * reach + step - 1) // step
    width = (padded.shape[1] - 2 * reach + step - 1) // step
    blocks = (width + TOGETHER - 1) // TOGETHER
    # Every step-th column stands beside the next, so that discs side by side read numbers side by side.
    stride = blocks * TOGETHER + (2 * reach // step // TOGETHER + 1) * TOGETHER
    line, ring = step * stride, 2 * reach + 2
    above = np.zeros(known.size * ring * line, none.dtype)
    row = np.zeros(line, np.uint16)
    nearby = np.empty((known.size, stride // TOGETHER), np.bool_)
    at = np.empty(rays.size, np.int64)
    counts = np.empty(WEDGES * TOGETHER, none.dtype)
    parts = np.empty(WEDGES * TOGETHER, np.float32)
    room = known.size * LANES
    present = np.empty((2, known.size), np.int64)
    whole = np.empty(2 * room, np.float32)
    differences = np.empty(2 * room * DIRECTIONS, np.float32)
    weights = np.empty(bins * LANES, np.float32)
    total = np.empty(DIRECTIONS * LANES, np.float32)
    found = np.zeros(2, np.int64)
    result = np.empty((DIRECTIONS, height, width), np.float32)
    bottom = 0
    for y in range(height):
        top = y * step
        while bottom < top + ring - 1:
            _take_row(padded[bottom], known, above, row, bottom, ring, stride, step)
            bottom += 1
        _look_nearby(above, top % ring, bottom % ring, ring, line, stride, nearby)
        _aim(rays, top, ring, line, stride, step, at)
        for block in range(blocks):
            x = block * TOGETHER
            found[:] = 0
            for n in range(known.size):
                if not _any(nearby[n, block : block + 2 * reach // step // TOGETHER + 2]):
                    continue
                _count(above, n * ring * line + x, at, reach + 1, counts)
                for i in range(counts.size):
                    parts[i] = shares[counts[i]]
                for half in range(2):
                    to = half * room + found[half] * LANES
                    if _compare(parts, half * LANES, whole, to, differences):
                        present[half, found[half]] = known[n]
                        found[half] += 1
            for half in range(2):
                mine = differences[half * room * DIRECTIONS : (half * room + found[half] * LANES) * DIRECTIONS]
                every, labels = whole[half * room : half * room + found[half] * LANES], present[half, : found[half]]
                if quadratic:
                    _quadratic(mine, labels, taps, total)
                elif taps.size == 1:
                    _chi2(mine, every, total)
                else:
                    _smooth_chi2(mine, every, labels, taps, bins, weights, total)
                first = x + half * LANES
                for d in range(DIRECTIONS):
                    for i in range(min(LANES, width - first)):
                        result[d, y, first + i] = total[d * LANES + i]
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
def _look_nearby(above: Numbers, top: int, bottom: int, ring: int, line: int, stride: int, nearby: Scalar) -> None:
    """Note for each label in which blocks of columns it occurs, from a disc's top to its bottom."""
    for n in range(nearby.shape[0]):
        nearby[n] = False
        for start in range(0, line, TOGETHER):
            first, last = (n * ring + top) * line + start, (n * ring + bottom) * line + start
            changed = False
            for i in range(TOGETHER):
                changed |= above[first + i] != above[last + i]
            nearby[n, start % stride // TOGETHER] |= changed


@kernel
def _any(flags: Scalar) -> bool:
    for one in flags:
        if one:
            return True
    return False


@kernel
def _aim(rays: Int64s, top: int, ring: int, line: int, stride: int, step: int, at: Int64s) -> None:
    """Where in the counts rays pass, for the first disc of a row."""
    columns = rays.shape[2]
    reach = columns - 1
    for side in range(2):
        for k in range(RAYS):
            for column in range(columns):
                x = column + (reach if side == 0 else 0)
                y = (top + reach + rays[side, k, column]) % ring
                at[(side * RAYS + k) * columns + column] = y * line + x % step * stride + x // step


@inlined_kernel
def _count(above: Numbers, base: int, at: Int64s, columns: int, counts: Numbers) -> None:
    """How many pixels of a label are in each wedge, of :data:`TOGETHER` discs."""
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
            store(counts, _SIDES[side, k] * TOGETHER, here - before)
            before = here


@inlined_kernel
def _compare(parts: Float32s, first: int, whole: Float32s, to: int, differences: Float32s) -> bool:
    """A label's share s of the whole, and g − h for all directions, in :data:`LANES` discs; whether any has the label."""
    half = load(parts, first)
    for w in range(1, DIRECTIONS):
        half = half + load(parts, first + w * TOGETHER)
    every = half
    for w in range(DIRECTIONS, WEDGES):
        every = every + load(parts, first + w * TOGETHER)
    store(whole, to, every)
    for d in range(DIRECTIONS):
        store(differences, to * DIRECTIONS + d * LANES, half + half - every)
        half = half + (load(parts, first + (d + DIRECTIONS) * TOGETHER) - load(parts, first + d * TOGETHER))
    most = np.float32(0)
    for i in range(to, to + LANES):
        most = max(most, whole[i])
    return most > 0


@kernel
def _halves_over(sums: Float32s, least: Scalar) -> None:
    """Replace each sum s by ½ / s, or by 0 where there is none."""
    for i in range(sums.size):
        sums[i] = np.float32(0.5) / sums[i] if sums[i] > least else np.float32(0)


@kernel
def _chi2(differences: Float32s, whole: Float32s, total: Float32s) -> None:
    """χ² of :data:`LANES` discs, directions one after another."""
    _halves_over(whole, np.float32(0))
    for d in range(DIRECTIONS):
        distance = spread(np.float32(0))
        for n in range(0, whole.size, LANES):
            change = load(differences, n * DIRECTIONS + d * LANES)
            distance = distance + change * change * load(whole, n)
        store(total, d * LANES, distance)


@kernel
def _smooth_chi2(
    differences: Float32s,
    whole: Float32s,
    present: Int64s,
    taps: Float32s,
    bins: int,
    weights: Float32s,
    total: Float32s,
) -> None:
    """χ² of smoothed histograms. Bins that are out of reach of all labels present are 0 in both."""
    total[:] = 0
    if present.size == 0:
        return
    margin = taps.size // 2
    low, high = max(present[0] - margin, 0), min(present[-1] + margin + 1, bins)
    for b in range(low, high):
        near = spread(np.float32(0))
        for n in range(present.size):
            if abs(present[n] - b) <= margin:
                near = near + load(whole, n * LANES) * spread(taps[margin + b - present[n]])
        store(weights, (b - low) * LANES, near)
    _halves_over(weights[: (high - low) * LANES], np.float32(1e-9))
    for half in range(0, DIRECTIONS, 4):
        begin = end = 0
        a = b = c = d = spread(np.float32(0))
        for bin_ in range(low, high):
            while begin < present.size and present[begin] < bin_ - margin:
                begin += 1
            while end < present.size and present[end] <= bin_ + margin:
                end += 1
            first = second = third = fourth = spread(np.float32(0))
            for n in range(begin, end):
                tap, at = spread(taps[margin + present[n] - bin_]), (n * DIRECTIONS + half) * LANES
                first = first + tap * load(differences, at)
                second = second + tap * load(differences, at + LANES)
                third = third + tap * load(differences, at + 2 * LANES)
                fourth = fourth + tap * load(differences, at + 3 * LANES)
            weight = load(weights, (bin_ - low) * LANES)
            a = a + first * first * weight
            b = b + second * second * weight
            c = c + third * third * weight
            d = d + fourth * fourth * weight
        store(total, half * LANES, a)
        store(total, (half + 1) * LANES, b)
        store(total, (half + 2) * LANES, c)
        store(total, (half + 3) * LANES, d)


@kernel
def _quadratic(differences: Float32s, present: Int64s, taps: Float32s, total: Float32s) -> None:
    """The quadratic form, of differences that lose their sign on the way."""
    margin, group = taps.size // 2, DIRECTIONS * LANES
    for i in range(differences.size):
        differences[i] = abs(differences[i])
    for d in range(0, group, LANES):
        moved = distance = spread(np.float32(0))
        for n in range(present.size):
            moved = moved + load(differences, n * group + d)
        for m in range(present.size):
            near = spread(np.float32(0))
            for n in range(present.size):
                if abs(present[n] - present[m]) <= margin:
                    near = near + spread(taps[margin + present[n] - present[m]]) * load(differences, n * group + d)
            distance = distance + load(differences, m * group + d) * (moved - near)
        store(total, d, distance)
