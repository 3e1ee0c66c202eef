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
from hyperacuity.kernels import Float32s, Int64s, Uint8s, allocating_kernel, kernel

HistDistance = Literal["chi2", "quadratic"]

DIRECTIONS = 8
WEDGES = 2 * DIRECTIONS


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
    return _gradients(padded, bins, reach, dy, dx, wedge, taps, quadratic, step)


@allocating_kernel
def _gradients(
    padded: Uint8s,
    bins: int,
    reach: int,
    dy: Int64s,
    dx: Int64s,
    wedge: Int64s,
    taps: Float32s,
    quadratic: bool,
    step: int,
) -> Float32s:
    height = (padded.shape[0] - 2 * reach + step - 1) // step
    width = (padded.shape[1] - 2 * reach + step - 1) // step
    margin = taps.size // 2
    result = np.empty((DIRECTIONS, height, width), np.float32)
    counts = np.empty((WEDGES, bins), np.float32)
    half = np.empty(bins, np.float32)
    whole = np.zeros(bins + 2 * margin, np.float32)  # with room at both ends, for smoothing
    difference = np.zeros(bins + 2 * margin, np.float32)
    smoothed = np.empty(bins, np.float32)
    weight = np.empty(bins, np.float32)
    per_pixel = np.float32(2.0 / dy.size)
    offsets = dy * padded.shape[1] + dx
    flat = padded.ravel()
    for y in range(height):
        for x in range(width):
            counts[:] = 0
            centre = (y * step + reach) * padded.shape[1] + x * step + reach
            for k in range(offsets.size):
                counts[wedge[k], flat[centre + offsets[k]]] += per_pixel
            half[:] = 0
            for w in range(DIRECTIONS):
                for b in range(bins):
                    half[b] += counts[w, b]
            for b in range(bins):
                whole[margin + b] = half[b]
            for w in range(DIRECTIONS, WEDGES):
                for b in range(bins):
                    whole[margin + b] += counts[w, b]
            _smooth(whole, taps, smoothed)
            for b in range(bins):
                weight[b] = np.float32(0.5) / smoothed[b] if smoothed[b] > 1e-9 else np.float32(0)
            for d in range(DIRECTIONS):
                for b in range(bins):
                    change = 2 * half[b] - whole[margin + b]
                    difference[margin + b] = abs(change) if quadratic else change
                _smooth(difference, taps, smoothed)
                total = np.float32(0)
                if quadratic:
                    moved = np.float32(0)
                    for b in range(bins):
                        moved += difference[margin + b]
                    for b in range(bins):
                        total += difference[margin + b] * (moved - smoothed[b])
                else:
                    for b in range(bins):
                        total += smoothed[b] * smoothed[b] * weight[b]
                result[d, y, x] = total
                for b in range(bins):
                    half[b] += counts[d + DIRECTIONS, b] - counts[d, b]
    return result


@kernel
def _smooth(values: Float32s, taps: Float32s, result: Float32s) -> None:
    """Convolve a histogram that has room at both ends; what falls off an end is lost.

    Four taps at a time, since a loop over a few dozen bins is hardly begun when it ends; terms are added in order all the same.
    """
    for b in range(result.size):
        result[b] = taps[0] * values[b]
    t = 1
    while t + 4 <= taps.size:
        first, second, third, fourth = taps[t], taps[t + 1], taps[t + 2], taps[t + 3]
        for b in range(result.size):
            near = result[b] + first * values[b + t]
            near = near + second * values[b + t + 1]
            near = near + third * values[b + t + 2]
            result[b] = near + fourth * values[b + t + 3]
        t += 4
    for last in range(t, taps.size):
        for b in range(result.size):
            result[b] += taps[last] * values[b + last]
