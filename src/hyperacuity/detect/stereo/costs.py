"""Costs of matching two pixels, as volumes H×W×D, smaller = better.

More disparities than the pictures have columns cannot occur; the volume then ends at the width.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import NDArray

from hyperacuity.detect.detection import memory_for
from hyperacuity.detect.stereo.pictures import Pixels, grey
from hyperacuity.errors import InputError
from hyperacuity.kernels import cost_volume as kernels
from hyperacuity.kernels.stereo import census_words

CostVolume = NDArray[np.float32]

MOST_BYTES = 4 << 30
"""Most bytes of a volume."""


def absolute_differences(left: Pixels, right: Pixels, disparities: int, *, limit: float = np.inf) -> CostVolume:
    r"""Sums over the channels of absolute differences, truncated: :math:`\min(\sum_c |I^c(x) - I'^c(x - d)|,\, T)`.

    >>> absolute_differences(np.full((1, 1, 3), 9, np.float32), np.zeros((1, 1, 3), np.float32), 4, limit=20)
    array([[[20.]]], dtype=float32)
    """
    return kernels.differences(left, right, _count(left, disparities), limit)


def census_differences(left: Pixels, right: Pixels, disparities: int) -> CostVolume:
    """Bits in which the 7×7 census of two pixels differs, 0 to 48 (Zabih & Woodfill 1994)."""
    return kernels.hamming(census_words(grey(left)), census_words(grey(right)), _count(left, disparities))


def colour_and_gradient(
    left: Pixels, right: Pixels, disparities: int, *, share: float = 0.89, colour: float = 7.0, gradient: float = 2.0
) -> CostVolume:
    r"""Truncated differences of colour and of the derivative along the row (Hosni et al. 2013, equation 2).

    .. math:: (1 - α)\,\min(\tfrac13 \sum_c |I^c - I'^c|,\, τ_1) + α\,\min(|∂_x I - ∂_x I'|,\, τ_2)

    ``share`` is α; ``colour`` and ``gradient``, τ₁ and τ₂, are in grey levels of 8 bits.
    """
    count = _count(left, disparities)
    channels = np.float32(left.shape[2])
    colours = kernels.differences(left / channels, right / channels, count, colour)
    slopes = kernels.differences(_slope(left), _slope(right), count, gradient)
    return np.float32(1 - share) * colours + np.float32(share) * slopes


def volume_memory(left: Pixels, disparities: int, volumes: int) -> AbstractContextManager[None]:
    """Memory for a system that holds so many volumes at a time (:func:`~hyperacuity.detect.detection.memory_for`)."""
    height, width, _ = left.shape
    size = volumes * 4 * height * width * _count(left, disparities)
    return memory_for(f"matching by {disparities} disparities in pictures", (height, width), size)


def _slope(pixels: Pixels) -> Pixels:
    """Half the difference of a pixel's neighbours along the row; 0 in a picture of one column."""
    values = grey(pixels)
    padded = np.pad(values, ((0, 0), (1, 1)), mode="edge")
    return np.ascontiguousarray((padded[:, 2:] - padded[:, :-2])[:, :, None] / np.float32(2))


def _count(left: Pixels, disparities: int) -> int:
    height, width, _ = left.shape
    count = min(disparities, int(width))
    if (size := 4 * height * width * count) > MOST_BYTES:
        raise InputError(
            f"{count} costs at each of {width}×{height} pixels take {size / 2**30:.1f} GiB, expected at most "
            f"{MOST_BYTES / 2**30:.0f}: make the pictures smaller, try fewer disparities, or use sad, ssd or census"
        )
    return count
