"""Cost volumes of a stereo pair: ``volume[y, x, d]`` is what it costs to say that left pixel (y, x) has disparity d.

A pixel whose match would lie outside the right picture is compared with that picture's first column; :func:`winner` does not
choose such a disparity. The smaller disparity wins a tie.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Float32s, Uint64s, allocating_kernel
from hyperacuity.kernels.bits import count_bits

Volume = Float32s


@allocating_kernel
def differences(left: Float32s, right: Float32s, disparities: int, limit: float) -> Volume:
    """Sums of absolute differences over the channels of H×W×C pictures, cut off at ``limit``."""
    height, width, channels = left.shape
    volume = np.empty((height, width, disparities), np.float32)
    most = np.float32(limit)
    for y in range(height):
        for x in range(width):
            for d in range(disparities):
                total = np.float32(0)
                for c in range(channels):
                    total += abs(left[y, x, c] - right[y, max(x - d, 0), c])
                volume[y, x, d] = min(total, most)
    return volume


@allocating_kernel
def hamming(left: Uint64s, right: Uint64s, disparities: int) -> Volume:
    """Number of bits in which two H×W×1 pictures of words differ."""
    height, width, _ = left.shape
    volume = np.empty((height, width, disparities), np.float32)
    for y in range(height):
        for x in range(width):
            for d in range(disparities):
                volume[y, x, d] = np.float32(count_bits(left[y, x, 0] ^ right[y, max(x - d, 0), 0]))
    return volume


@allocating_kernel
def winner(volume: Volume, subpixel: bool) -> tuple[Float32s, Float32s]:
    """The disparity of least cost at each pixel, and how clearly it is best: by what share the second-best cost is larger.

    Neighbours of the best disparity do not count as second best; without a second the share is infinite. ``subpixel``
    refines by the parabola through the best cost and its two neighbours.
    """
    height, width, disparities = volume.shape
    result = np.zeros((height, width), np.float32)
    margin = np.full((height, width), np.inf, np.float32)
    for y in range(height):
        for x in range(width):
            count = min(disparities, x + 1)
            best = 0
            for d in range(1, count):
                if volume[y, x, d] < volume[y, x, best]:
                    best = d
            least = volume[y, x, best]
            second = np.float32(np.inf)
            for d in range(count):
                if abs(d - best) > 1:
                    second = min(second, volume[y, x, d])
            margin[y, x] = (second - least) / max(abs(least), np.float32(1e-6))
            result[y, x] = best
            if subpixel and 0 < best < count - 1:
                before, after = volume[y, x, best - 1], volume[y, x, best + 1]
                bend = before + after - 2 * least
                if bend > 0:
                    result[y, x] += (before - after) / (2 * bend)
    return result, margin
