"""Block matching: the disparity whose square window differs least."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.detect.stereo.pictures import Pixels, grey, radius_of, stereo_pair
from hyperacuity.detect.stereo.refinement import refined
from hyperacuity.errors import UsageError
from hyperacuity.kernels import stereo as kernels
from hyperacuity.maps import DisparityMap


def sad(
    left: ArrayLike,
    right: ArrayLike,
    disparities: int,
    *,
    window: int = 9,
    subpixel: bool = True,
    check: float | None = None,
    margin: float = 0.0,
    fill: bool = False,
) -> DisparityMap:
    r"""Block matching by sums of absolute differences over all colour channels, of pictures on the scale of 8 bits.

    .. math:: E(p, d) = \sum_{q ∈ W(p)} \sum_c |I^c(q) - I'^c(q - d)|

    Parameters
    ----------
    disparities
        How many are tried: 0, 1, …, disparities − 1.
    window
        Side of the square window, odd.
    subpixel
        Refine by a parabola through three costs.
    check
        Drop pixels where the match from the right differs by more than this many pixels; None keeps all.
    margin
        Drop pixels where the second-best cost is not larger than the best by this share.
    fill
        Fill what was dropped (with a check of 1 pixel, if none is given), so that the map is dense
        (:func:`~hyperacuity.detect.stereo.refinement.filled`).

    Examples
    --------
    >>> random = np.random.default_rng(0).integers(0, 256, (20, 40)).astype(np.uint8)
    >>> result = sad(random[:, :-3], random[:, 3:], 8, subpixel=False)
    >>> bool((result[:, 8:] == 3).all())
    True
    """
    return _blocks(left, right, disparities, kernels.ABSOLUTE, window, subpixel, check=check, margin=margin, fill=fill)


def ssd(
    left: ArrayLike,
    right: ArrayLike,
    disparities: int,
    *,
    window: int = 9,
    subpixel: bool = True,
    check: float | None = None,
    margin: float = 0.0,
    fill: bool = False,
) -> DisparityMap:
    r"""Block matching by sums of squared differences: few large differences cost more than many small ones.

    .. math:: E(p, d) = \sum_{q ∈ W(p)} \sum_c (I^c(q) - I'^c(q - d))^2

    Options are those of :func:`sad`.
    """
    return _blocks(left, right, disparities, kernels.SQUARED, window, subpixel, check=check, margin=margin, fill=fill)


def census(
    left: ArrayLike,
    right: ArrayLike,
    disparities: int,
    *,
    window: int = 9,
    subpixel: bool = True,
    check: float | None = None,
    margin: float = 0.0,
    fill: bool = False,
) -> DisparityMap:
    """Block matching by census: only the order of grey levels counts, so brightness and contrast may differ between views.

    Options are those of :func:`sad`.

    References
    ----------
    Zabih & Woodfill (1994), Non-parametric local transforms for computing visual correspondence.
    """
    return _blocks(left, right, disparities, kernels.BITS, window, subpixel, check=check, margin=margin, fill=fill)


def _blocks(
    left: ArrayLike, right: ArrayLike, disparities: int, kind: int, window: int, subpixel: bool, **options: Any
) -> DisparityMap:
    """The refined matches of least sum over a window; ``kind`` is how the kernel compares two pixels."""
    first, second = stereo_pair(left, right, disparities)
    radius, channels = radius_of(window), first.shape[2]
    if kind == kernels.SQUARED and 255**2 * window**2 * channels >= kernels.MOST:
        largest = int((kernels.MOST / channels) ** 0.5 / 255)
        raise UsageError(
            f"a window of {window} pixels is too large for squared differences: expected at most {largest}"
        )

    def match(one: Pixels, other: Pixels) -> tuple[DisparityMap, NDArray[np.float32]]:
        ours, theirs = (
            kernels.census_words(grey(view)) if kind == kernels.BITS else np.rint(view).astype(np.uint64)
            for view in (one, other)
        )
        return kernels.match(ours, theirs, radius, disparities, kind, subpixel)

    return refined(match, first, second, **options)
