"""How different are the two halves of a disc around each pixel, for eight directions of the line that divides it?

A pixel carries a label: a bin of brightness or colour, or a texton. Around each pixel the disc is cut into sixteen wedges, and
the labels in each are counted once. A half disc is eight wedges in a row: turning the line by one wedge takes one wedge's counts
in and another's out, so that eight directions cost little more than one. With g and h the histograms of the two halves and
s = g + h, which is the same for all directions, the distance is

    χ² = ½ Σ (g − h)² / (g + h) = ½ Σ (2g − s)² / s ,

with each half's counts divided by their sum. Histograms of bins with an order may be smoothed first; smoothing is linear, so it
is applied to s and to g − h. The other distance is the quadratic form of a = |g − h|,

    aᵀ S a = Σ aᵢ (Σ aⱼ − Σ Kᵢⱼ aⱼ) ,    Sᵢⱼ = 1 − Kᵢⱼ ,    Kᵢⱼ = exp(−(i − j)² / 2w²) ,

in which counts that moved to a bin nearby weigh little: K a is a convolution too. Sums run in a fixed order: the result is the
same on any machine.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from hyperacuity.errors import UsageError
from hyperacuity.kernels import Flags, Float32s, Int64s, Scalar, Uint8s, Uint32s, allocating_kernel, kernel
from hyperacuity.kernels.lanes import LANES, Lanes, load, spread, store

HistDistance = Literal["chi2", "quadratic"]

DIRECTIONS = 8
WEDGES = 2 * DIRECTIONS
TOGETHER = 4
"""So many bins are smoothed at a time: the processor need not wait for one sum before it goes on with the next."""


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
    padded = np.pad(labels, reach, mode="symmetric")
    # Wedges take turns: pixels side by side have often the same label, and to count in one place again takes waiting.
    turn = np.zeros(wedge.size, np.int64)
    for one in range(WEDGES):
        turn[wedge == one] = np.arange(np.count_nonzero(wedge == one))
    order = np.lexsort((wedge, turn))
    offsets = ((dy + reach) * padded.shape[1] + dx + reach)[order]
    slots = wedge[order].astype(np.uint8)
    return _gradients(padded, bins, reach, offsets.astype(np.uint32), slots, taps, quadratic, step)


@allocating_kernel
def _gradients(
    padded: Uint8s, bins: int, reach: int, offsets: Uint32s, wedges: Uint8s, taps: Float32s, quadratic: bool, step: int
) -> Float32s:
    height = (padded.shape[0] - 2 * reach + step - 1) // step
    width = (padded.shape[1] - 2 * reach + step - 1) // step
    result = np.empty((DIRECTIONS, height, width), np.float32)
    row = np.empty(width * DIRECTIONS, np.float32)
    counts = np.zeros(bins * WEDGES, np.float32)
    seen = np.zeros(bins, np.bool_)
    present = np.empty(bins, np.int64)
    whole = np.empty(bins, np.float32)
    differences = np.empty(bins * DIRECTIONS, np.float32)
    weights = np.zeros(bins + 2 * LANES, np.float32)
    room = bins + 2 * LANES
    roomy = np.zeros(taps.size + 2 * room, np.float32)
    for i in range(taps.size):
        roomy[room + i] = taps[i]
    per_pixel = np.float32(2.0 / offsets.size)
    flat = padded.ravel()
    for y in range(height):
        for x in range(width):
            _count(flat, (y * padded.shape[1] + x) * step, offsets, wedges, per_pixel, counts, seen)
            number = _compare(counts, seen, quadratic, present, whole, differences)
            if quadratic:
                total = _quadratic(differences, present[:number], taps)
            elif taps.size == 1 or number == 0:
                total = _chi2(differences, whole[:number])
            else:
                total = _smooth_chi2(differences, whole, present[:number], taps, roomy, room, weights, bins)
            store(row, x * DIRECTIONS, total)
        for d in range(DIRECTIONS):
            for x in range(width):
                result[d, y, x] = row[x * DIRECTIONS + d]
    return result


@kernel
def _count(
    flat: Uint8s, start: int, offsets: Uint32s, wedges: Uint8s, unit: Scalar, counts: Float32s, seen: Flags
) -> None:
    """Count labels by wedge, and note which there are. Indices without a sign need not be looked at for one."""
    first, stride = np.uint64(start), np.uint64(WEDGES)
    for k in range(offsets.size):
        label = np.uint64(flat[first + np.uint64(offsets[k])])
        counts[label * stride + np.uint64(wedges[k])] += unit
        seen[label] = True


@kernel
def _compare(
    counts: Float32s, seen: Flags, absolute: bool, present: Int64s, whole: Float32s, differences: Float32s
) -> int:
    """Of each label that is present: which, its share s of the whole, and g − h for all directions; how many there are.

    Counts are set back to zero on the way.
    """
    number = 0
    for label in range(seen.size):
        if not seen[label]:
            continue
        seen[label] = False
        mine = counts[WEDGES * label : WEDGES * (label + 1)]
        half = mine[0]
        for w in range(1, DIRECTIONS):
            half += mine[w]
        every = half
        for w in range(DIRECTIONS, WEDGES):
            every += mine[w]
        for d in range(DIRECTIONS):
            change = np.float32(2) * half - every
            differences[number * DIRECTIONS + d] = abs(change) if absolute else change
            half += mine[d + DIRECTIONS] - mine[d]
        mine[:] = 0
        present[number], whole[number] = label, every
        number += 1
    return number


@kernel
def _chi2(differences: Float32s, whole: Float32s) -> Lanes:
    total = spread(np.float32(0))
    for n in range(whole.size):
        change = load(differences, n * DIRECTIONS)
        total = total + change * change * spread(np.float32(0.5) / whole[n])
    return total


@kernel
def _smooth_chi2(
    differences: Float32s,
    whole: Float32s,
    present: Int64s,
    taps: Float32s,
    roomy: Float32s,
    room: int,
    weights: Float32s,
    bins: int,
) -> Lanes:
    """χ² of smoothed histograms. Bins that are out of reach of all labels present are 0 in both."""
    margin = taps.size // 2
    low, high = max(present[0] - margin, 0), min(present[-1] + margin + 1, bins)
    for b in range(low, high, LANES):
        near = spread(np.float32(0))
        for n in range(present.size):
            near = near + spread(whole[n]) * load(roomy, room + margin + b - present[n])
        store(weights, b, near)
    for b in range(low, high):
        weights[b] = np.float32(0.5) / weights[b] if weights[b] > 1e-9 else np.float32(0)
    for b in range(high, high + TOGETHER):
        weights[b] = 0
    total = spread(np.float32(0))
    begin = end = 0
    for b in range(low, high, TOGETHER):
        while present[begin] < b - margin:
            begin += 1
        while end < present.size and present[end] <= b + margin + TOGETHER - 1:
            end += 1
        first = second = third = fourth = spread(np.float32(0))
        for n in range(begin, end):
            change, tap = load(differences, n * DIRECTIONS), room + margin + present[n] - b
            first = first + spread(roomy[tap]) * change
            second = second + spread(roomy[tap - 1]) * change
            third = third + spread(roomy[tap - 2]) * change
            fourth = fourth + spread(roomy[tap - 3]) * change
        total = total + first * first * spread(weights[b])
        total = total + second * second * spread(weights[b + 1])
        total = total + third * third * spread(weights[b + 2])
        total = total + fourth * fourth * spread(weights[b + 3])
    return total


@kernel
def _quadratic(differences: Float32s, present: Int64s, taps: Float32s) -> Lanes:
    margin = taps.size // 2
    moved = total = spread(np.float32(0))
    for n in range(present.size):
        moved = moved + load(differences, n * DIRECTIONS)
    for m in range(present.size):
        near = spread(np.float32(0))
        for n in range(present.size):
            if abs(present[n] - present[m]) <= margin:
                near = near + spread(taps[margin + present[n] - present[m]]) * load(differences, n * DIRECTIONS)
        total = total + load(differences, m * DIRECTIONS) * (moved - near)
    return total
