"""Baseline stereo systems, so that there is always something to compare: block matching and semi-global matching.

============  ======================================================================================  ==============
name          how two pixels are compared, and how a disparity is chosen                               needs
============  ======================================================================================  ==============
``sad``       absolute differences over a square window; the least sum wins                            –
``census``    bits of a 7×7 census that differ, over a square window; the least sum wins               –
``sgm``       Birchfield & Tomasi's differences with penalties for jumps along eight paths (OpenCV)    extra ``detect``
============  ======================================================================================  ==============

Each takes the left and right picture of a rectified pair and the number of disparities to try, and returns the left view's
disparity, NaN where the system declines to answer. With ``check``, pixels are dropped where matching from the right gives another
answer; with ``margin``, where the second-best answer is nearly as good: so dense systems become semi-dense.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.detect.registry import parse_call
from hyperacuity.errors import InputError, UsageError, not_installed
from hyperacuity.kernels import disparity as visibility
from hyperacuity.kernels import stereo as kernels
from hyperacuity.maps import DisparityMap, same_size

Pixels = NDArray[np.float32]


def sad(
    left: ArrayLike,
    right: ArrayLike,
    disparities: int,
    *,
    window: int = 9,
    subpixel: bool = True,
    check: float | None = None,
    margin: float = 0.0,
) -> DisparityMap:
    """Block matching by sums of absolute differences over all colour channels, of pictures on the scale of 8 bits.

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

    Examples
    --------
    >>> random = np.random.default_rng(0).integers(0, 256, (20, 40)).astype(np.uint8)
    >>> found = sad(random[:, :-3], random[:, 3:], 8, subpixel=False)
    >>> bool((found[:, 8:] == 3).all())
    True
    """
    first, second = _pair(left, right, disparities, window)
    words = (np.rint(first).astype(np.uint64), np.rint(second).astype(np.uint64))
    return _matched(*words, disparities, window, False, subpixel, check, margin)


def census(
    left: ArrayLike,
    right: ArrayLike,
    disparities: int,
    *,
    window: int = 9,
    subpixel: bool = True,
    check: float | None = None,
    margin: float = 0.0,
) -> DisparityMap:
    """Block matching by census: only the order of grey levels counts, so brightness and contrast may differ between views.

    Options are those of :func:`sad`.

    References
    ----------
    Zabih & Woodfill (1994), Non-parametric local transforms for computing visual correspondence.
    """
    first, second = _pair(left, right, disparities, window)
    words = (kernels.census_words(first.mean(axis=2)), kernels.census_words(second.mean(axis=2)))
    return _matched(*words, disparities, window, True, subpixel, check, margin)


def sgm(
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

    Parameters
    ----------
    window
        Side of the square window over which differences are summed, odd.
    smooth
        Factor on the penalties 8·C·window² for a jump of one pixel and 32·C·window² for larger ones (C channels).
    check
        As in :func:`sad`, in whole pixels, at least 1; None keeps all.
    uniqueness
        Drop pixels where the second-best cost is not larger by this percentage.

    References
    ----------
    Hirschmüller (2008), Stereo processing by semiglobal matching and mutual information.
    """
    try:
        cv2: Any = import_module("cv2")
    except ImportError as error:
        raise not_installed("sgm needs OpenCV", "detect") from error
    first, second = (np.rint(picture).astype(np.uint8) for picture in _pair(left, right, disparities, window))
    if first.shape[1] <= window // 2:
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
    found = matcher.compute(*padded)[:, rounded:].astype(np.float32) / 16
    return np.where(found < 0, np.float32(np.nan), found)


_MATCHERS: Mapping[str, Callable[..., DisparityMap]] = {"sad": sad, "census": census, "sgm": sgm}


@dataclass(frozen=True)
class Matcher:
    """A stereo system with its options, called with a pair and the number of disparities; ``str()`` is its name."""

    base: str
    options: tuple[tuple[str, Any], ...] = ()

    def __call__(self, left: ArrayLike, right: ArrayLike, disparities: int) -> DisparityMap:
        """The disparity of the left view."""
        return _MATCHERS[self.base](left, right, disparities, **dict(self.options))

    def __str__(self) -> str:
        options = ", ".join(f"{key}={value:g}" for key, value in self.options)
        return f"{self.base}({options})" if options else self.base


def matcher(base: str, /, **options: Any) -> Matcher:
    """A stereo system by name.

    >>> str(matcher("sad", window=5))
    'sad(window=5)'
    """
    if base not in _MATCHERS:
        raise UsageError(f"there is no stereo system {base}; there are {', '.join(_MATCHERS)}")
    known = [
        key for key, part in inspect.signature(_MATCHERS[base]).parameters.items() if part.kind is part.KEYWORD_ONLY
    ]
    for key, value in options.items():
        if key not in known:
            raise UsageError(f"{base} has no option {key}; it has {', '.join(known)}")
        if not isinstance(value, int | float):
            raise UsageError(f"{base}: {key} is {value!r}, expected a number")
    return Matcher(base, tuple(options.items()))


def matcher_named(name: str) -> Matcher:
    """The system that a name with options in parentheses stands for.

    >>> str(matcher_named("sad( window = 5, check=1)")), str(matcher_named("sgm"))
    ('sad(window=5, check=1)', 'sgm')
    """
    base, options = parse_call(name, "sad(window=5, check=1)")
    return matcher(base, **options)


def grid(base: str, **choices: tuple[Any, ...]) -> list[Matcher]:
    """A system under every combination of options: the systems of an intra-technique comparison.

    >>> [str(system) for system in grid("census", window=(5, 9), check=(1,))]
    ['census(window=5, check=1)', 'census(window=9, check=1)']
    """
    return [matcher(base, **dict(zip(choices, values, strict=True))) for values in itertools.product(*choices.values())]


def _matched(
    left: NDArray[np.uint64],
    right: NDArray[np.uint64],
    disparities: int,
    window: int,
    bits: bool,
    subpixel: bool,
    check: float | None,
    margin: float,
) -> DisparityMap:
    found, clear = kernels.match(left, right, window // 2, disparities, bits, subpixel)
    keep = clear >= margin
    if check is not None:
        # Matching from the right is matching from the left in a mirror.
        first, second = (np.ascontiguousarray(view[:, ::-1]) for view in (right, left))
        back, _ = kernels.match(first, second, window // 2, disparities, bits, subpixel)
        keep &= visibility.seen(found, np.ascontiguousarray(back[:, ::-1]), float(check), True)
    return np.where(keep, found, np.float32(np.nan))


def _pair(left: ArrayLike, right: ArrayLike, disparities: int, window: int) -> tuple[Pixels, Pixels]:
    """Both pictures as H×W×C on the scale of 8 bits."""
    if window < 1 or window % 2 == 0:
        raise UsageError(f"a window of {window} pixels has no middle: expected an odd number")
    if disparities < 1:
        raise UsageError(f"{disparities} disparities to try: expected at least one")
    first, second = (_picture(view) for view in (left, right))
    same_size(second, first, names=("right picture", "left picture"))
    if first.shape != second.shape:
        raise InputError(f"the pictures have {first.shape[2]} and {second.shape[2]} channels, expected the same")
    return first, second


def _picture(view: ArrayLike) -> Pixels:
    pixels = np.asarray(view)
    if pixels.ndim not in (2, 3) or pixels.dtype not in (np.uint8, np.uint16) or pixels.size == 0:
        raise InputError(
            f"picture of shape {pixels.shape} and type {pixels.dtype}, expected grey or colour of 8 or 16 bits"
        )
    scaled = pixels.astype(np.float32) * np.float32(255 / np.iinfo(pixels.dtype).max)
    return scaled if scaled.ndim == 3 else scaled[:, :, None]
