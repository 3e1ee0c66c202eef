"""Block matching: the disparity whose square window differs least."""

from __future__ import annotations

from functools import partial

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
    >>> found = sad(random[:, :-3], random[:, 3:], 8, subpixel=False)
    >>> bool((found[:, 8:] == 3).all())
    True
    """
    first, second = stereo_pair(left, right, disparities)
    match = partial(
        _levels, disparities=disparities, radius=radius_of(window), kind=kernels.ABSOLUTE, subpixel=subpixel
    )
    return refined(match, first, second, check=check, margin=margin, fill=fill)


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
    first, second = stereo_pair(left, right, disparities)
    radius = radius_of(window)
    if 255**2 * window**2 * first.shape[2] >= kernels.MOST:
        largest = int((kernels.MOST / first.shape[2]) ** 0.5 / 255)
        raise UsageError(
            f"a window of {window} pixels is too large for squared differences: expected at most {largest}"
        )
    match = partial(_levels, disparities=disparities, radius=radius, kind=kernels.SQUARED, subpixel=subpixel)
    return refined(match, first, second, check=check, margin=margin, fill=fill)


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
    first, second = stereo_pair(left, right, disparities)
    match = partial(_words, disparities=disparities, radius=radius_of(window), subpixel=subpixel)
    return refined(match, first, second, check=check, margin=margin, fill=fill)


def _levels(
    left: Pixels, right: Pixels, *, disparities: int, radius: int, kind: int, subpixel: bool
) -> tuple[DisparityMap, NDArray[np.float32]]:
    first, second = (np.rint(view).astype(np.uint64) for view in (left, right))
    return kernels.match(first, second, radius, disparities, kind, subpixel)


def _words(
    left: Pixels, right: Pixels, *, disparities: int, radius: int, subpixel: bool
) -> tuple[DisparityMap, NDArray[np.float32]]:
    first, second = (kernels.census_words(grey(view)) for view in (left, right))
    return kernels.match(first, second, radius, disparities, kernels.BITS, subpixel)
