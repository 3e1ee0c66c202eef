"""Systems that weigh the differences of pixels against jumps in disparity between neighbours.

They look for the disparities d of least energy

.. math:: \\sum_p C(p, d_p) + \\sum_{p, q\\ \\mathrm{neighbours}} V(d_p, d_q)

:func:`dp` exactly, but each row on its own; :func:`sgm` along lines from eight directions; :func:`bp` on the whole grid, though
not exactly.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hyperacuity.detect.stereo.costs import CostVolume, census_differences, colour_and_gradient
from hyperacuity.detect.stereo.pictures import Pixels, grey, positive, radius_of, stereo_pair
from hyperacuity.detect.stereo.refinement import of_least_cost
from hyperacuity.errors import InputError, UsageError, not_installed
from hyperacuity.kernels import belief, scanlines
from hyperacuity.maps import DisparityMap


def dp(
    left: ArrayLike,
    right: ArrayLike,
    disparities: int,
    *,
    small: float = 30.0,
    large: float = 120.0,
    edge: float = 10.0,
    subpixel: bool = True,
    check: float | None = None,
    margin: float = 0.0,
    fill: bool = False,
) -> DisparityMap:
    r"""Dynamic programming: the disparities of a row that together cost least; rows know nothing of each other.

    Costs are those of a 7×7 census. A pixel's disparity is the one with which its row can be cheapest; where one labelling of the
    row is best, that is it.

    Parameters
    ----------
    small, large, edge
        Penalties of a jump by one pixel and by more, in bits of census; at an edge of g grey levels between the two pixels
        the latter is ``large / (1 + g / edge)``, but at least ``small``.
    subpixel, check, margin, fill
        As in :func:`~hyperacuity.detect.stereo.sad`.

    References
    ----------
    Ohta & Kanade (1985), Stereo by intra- and inter-scanline search; Scharstein & Szeliski (2002), section 3.3.
    """
    first, second = stereo_pair(left, right, disparities)
    _penalties(small, large, edge)

    def volume(one: Pixels, other: Pixels) -> CostVolume:
        costs = census_differences(one, other, disparities)
        return scanlines.row_marginals(costs, grey(one), small, large, edge)

    return of_least_cost(volume, first, second, disparities, 2, subpixel, check, margin, fill)


def sgm(
    left: ArrayLike,
    right: ArrayLike,
    disparities: int,
    *,
    small: float = 30.0,
    large: float = 120.0,
    edge: float = 10.0,
    paths: int = 8,
    subpixel: bool = True,
    check: float | None = None,
    margin: float = 0.0,
    fill: bool = False,
) -> DisparityMap:
    r"""Semi-global matching: the least costs of lines that reach a pixel from eight directions, added up.

    .. math:: L_r(p, d) = C(p, d) + \min(L_r(p', d),\ L_r(p', d ± 1) + P_1,\ \min_i L_r(p', i) + P_2) - \min_i L_r(p', i)

    p' is the pixel before p in direction r. Costs C are those of a 7×7 census; P₁ is ``small``, P₂ ``large``, smaller at
    edges as in :func:`dp`.

    Parameters
    ----------
    small, large, edge
        As in :func:`dp`.
    paths
        From how many directions: 2 (along the row), 4 or 8.
    subpixel, check, margin, fill
        As in :func:`~hyperacuity.detect.stereo.sad`.

    References
    ----------
    Hirschmüller (2008), Stereo processing by semiglobal matching and mutual information, equations 13 and 14.
    """
    first, second = stereo_pair(left, right, disparities)
    _penalties(small, large, edge)
    if paths not in (2, 4, 8):
        raise UsageError(f"{paths} paths: expected 2, 4 or 8")

    def volume(one: Pixels, other: Pixels) -> CostVolume:
        costs = census_differences(one, other, disparities)
        return scanlines.semi_global(costs, grey(one), small, large, edge, paths)

    return of_least_cost(volume, first, second, disparities, 3, subpixel, check, margin, fill)


def bp(
    left: ArrayLike,
    right: ArrayLike,
    disparities: int,
    *,
    smooth: float = 2.0,
    rounds: int = 5,
    levels: int = 5,
    subpixel: bool = True,
    check: float | None = None,
    margin: float = 0.0,
    fill: bool = False,
) -> DisparityMap:
    r"""Loopy belief propagation (min-sum) on the grid of pixels, from coarse to fine, with a truncated linear penalty.

    .. math:: m_{p→q}(d) = \min_e \Big(C(p, e) + \sum_{s ≠ q} m_{s→p}(e) + \min(λ\,|d - e|,\ 2λ)\Big)

    Costs C are differences of colour and gradient.

    Parameters
    ----------
    smooth
        λ, the penalty of a jump by one pixel; it grows no further than to twice that.
    rounds, levels
        How often messages are passed on each grid, and how many grids there are.
    subpixel, check, margin, fill
        As in :func:`~hyperacuity.detect.stereo.sad`.

    References
    ----------
    Felzenszwalb & Huttenlocher (2006), Efficient belief propagation for early vision.
    """
    first, second = stereo_pair(left, right, disparities)
    positive(smooth=smooth, rounds=rounds, levels=levels)

    def volume(one: Pixels, other: Pixels) -> CostVolume:
        costs = colour_and_gradient(one, other, disparities)
        return belief.beliefs(costs, smooth, 2 * smooth, levels, rounds)

    return of_least_cost(volume, first, second, disparities, 6, subpixel, check, margin, fill)


def load_opencv() -> Any:
    """The package cv2; ``UsageError`` if it is not installed."""
    try:
        return import_module("cv2")
    except ImportError as error:
        raise not_installed("sgm-opencv needs OpenCV", "detect") from error


def sgm_opencv(
    left: ArrayLike,
    right: ArrayLike,
    disparities: int,
    *,
    window: int = 3,
    smooth: float = 1.0,
    check: float | None = None,
    uniqueness: int = 0,
) -> DisparityMap:
    """Semi-global matching by OpenCV (``StereoSGBM``, eight paths), its speckle filter and other post-processing switched off.

    OpenCV adds the costs of the eight paths up in 16 bits. A path may cost as much as the large penalty more than its last
    pixel; where all eight together pass 32 767 for every disparity, there is no least one, and the pixel stays empty. With
    ``window=7, smooth=4`` on colour pictures the large penalty alone is 18 816, and a third of Teddy is empty.

    Parameters
    ----------
    window
        Side of the square window over which differences are summed, odd.
    smooth
        Factor on the penalties 8·C·window² for a jump of one pixel and 32·C·window² for larger ones (C channels).
    check
        As in :func:`~hyperacuity.detect.stereo.sad`, in whole pixels, at least 1; None keeps all.
    uniqueness
        Drop pixels where the second-best cost is not larger by this percentage.

    References
    ----------
    Hirschmüller (2008), Stereo processing by semiglobal matching and mutual information.
    """
    cv2 = load_opencv()
    radius = radius_of(window)
    first, second = (np.rint(picture).astype(np.uint8) for picture in stereo_pair(left, right, disparities))
    if first.shape[1] <= radius:
        raise InputError(f"the pictures are {first.shape[1]} pixels wide, too narrow for a window of {window}")
    rounded = 16 * -(-disparities // 16)
    jump = smooth * first.shape[2] * window**2
    matcher = cv2.StereoSGBM_create(
        minDisparity=0,
        numDisparities=rounded,
        blockSize=window,
        P1=round(8 * jump),
        P2=round(32 * jump),
        disp12MaxDiff=disparities if check is None else max(1, round(check)),  # 0 and less would mean 1
        uniquenessRatio=uniqueness,
        mode=cv2.STEREO_SGBM_MODE_HH,
    )
    # OpenCV leaves the columns out where not every disparity can be tried: a margin to the left gives it all of them.
    padded = [cv2.copyMakeBorder(view, 0, 0, rounded, 0, cv2.BORDER_REPLICATE) for view in (first, second)]
    result = matcher.compute(*padded)[:, rounded:].astype(np.float32) / 16
    return np.where(result < 0, np.float32(np.nan), result)


def _penalties(small: float, large: float, edge: float) -> None:
    positive(small=small, edge=edge)
    if not large >= small:
        raise UsageError(f"large is {large:g}, less than small, {small:g}: a larger jump must not cost less")
