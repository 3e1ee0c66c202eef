"""OpenCV's semi-global matching, as a control of this package's."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hyperacuity.detect.stereo.pictures import radius_of, stereo_pair
from hyperacuity.errors import InputError, not_installed
from hyperacuity.maps import DisparityMap


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
