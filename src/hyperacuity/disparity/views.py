"""Rendered views: how well does a disparity map predict a real picture? Works without ground truth.

A pixel x of the reference view with disparity d appears at x − t·d in the view at position t; t = 1 is the other picture of
the stereo pair, t = ½ one taken halfway, t = 2 one as far again. Two ways to predict (Szeliski 1999; Szeliski & Zabih 2000):

- **forward**: draw the view at t from the reference picture, nearer surfaces in front; compare with the picture taken there;
- **inverse**: fetch each reference pixel from the picture at t; compare with the reference picture.

Places where nothing is drawn, where the disparity points outside or is unknown do not count; the share that does is reported
with every error. Errors are over all colour channels, in grey levels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.disparity.errors import estimated_map
from hyperacuity.disparity.masks import GAP, Mask
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels import disparity as kernels
from hyperacuity.maps import edge_map, same_size

Picture = NDArray[np.float32]


@dataclass(frozen=True)
class ViewError:
    """Errors of a rendered view: mean squared error, its root, the peak signal-to-noise ratio in dB, and the share compared."""

    mse: float
    rmse: float
    psnr: float
    visible: float


def forward(image: ArrayLike, disparity: ArrayLike, position: float = 1.0) -> tuple[Picture, Mask]:
    """The view at a position, drawn from the reference picture, and where anything was drawn.

    Neighbours whose disparities differ by less than 2 are one surface, and what opens between them is interpolated.

    >>> view, drawn = forward([[10, 20, 30, 40]], [[1, 1, 1, 1]])
    >>> view[drawn].ravel()
    array([20., 30., 40.], dtype=float32)
    """
    pixels, shifts = _pair(image, disparity)
    result: tuple[Picture, Mask] = kernels.drawn(pixels, shifts, float(position), GAP)
    return result


def inverse(
    other: ArrayLike, disparity: ArrayLike, position: float = 1.0, *, cubic: bool = False
) -> tuple[Picture, Mask]:
    """The reference picture, fetched from the view at a position, and where the disparity points inside that view.

    >>> picture, inside = inverse([[10, 20, 30, 40]], [[0.5, 0.5, 0.5, 0.5]])
    >>> picture[inside].ravel()
    array([15., 25., 35.], dtype=float32)
    """
    pixels, shifts = _pair(other, disparity)
    result: tuple[Picture, Mask] = kernels.fetched(pixels, shifts, float(position), cubic)
    return result


def view_error(true: ArrayLike, rendered: ArrayLike, *, mask: ArrayLike | None = None, bits: int = 8) -> ViewError:
    r"""Compare a rendered view with the real one where ``mask`` is set.

    .. math:: MSE = \frac{1}{N} \sum (I_{true} - I_{est})^2, \quad PSNR = 10 \log_{10} \frac{(2^B - 1)^2}{MSE}

    Equal pictures have PSNR = ∞; nothing to compare gives NaN.

    References
    ----------
    Cabezas & Trujillo (2011), equations 5 to 7 (the numerator of 7 is lost in print).

    Examples
    --------
    >>> view_error([[10, 20], [30, 40]], [[10, 22], [29, 44]]).mse
    5.25
    """
    first, second = _pixels(true), _pixels(rendered)
    counted = _counted(first, second, mask)
    return _summary(*kernels.squared_error(first, second, counted), counted, bits)


def interval_error(
    true: ArrayLike, rendered: ArrayLike, *, mask: ArrayLike | None = None, bits: int = 8, width: int = 3
) -> ViewError:
    """Error that forgives misregistration: the gap between what both pictures hold around a pixel.

    Each picture gives the interval from the least to the largest value in a box of ``width`` pixels, unset pixels of the mask
    left out; where the intervals overlap there is no error.

    >>> interval_error([[10, 10, 20, 20]], [[10, 20, 20, 20]]).mse
    0.0
    """
    if width < 1 or width % 2 == 0:
        raise UsageError(f"a box of {width} pixels has no middle: expected an odd number")
    first, second = _pixels(true), _pixels(rendered)
    counted = _counted(first, second, mask)
    return _summary(*kernels.squared_gap(first, second, counted, width // 2), counted, bits)


def prediction_error(
    reference: ArrayLike,
    other: ArrayLike,
    disparity: ArrayLike,
    *,
    way: str = "inverse",
    position: float = 1.0,
    mask: ArrayLike | None = None,
    bits: int = 8,
    tolerant: bool = False,
    cubic: bool = False,
) -> ViewError:
    """Prediction error of a disparity map: draw (``"forward"``) or fetch (``"inverse"``) a view and compare it with the real one.

    ``other`` is the picture taken at ``position``. ``mask``, in the view that is compared, leaves pixels out, for example
    those that only one view shows. ``tolerant`` compares intervals (:func:`interval_error`).

    >>> left, right = [[10, 20, 30, 40]], [[20, 30, 40, 50]]
    >>> prediction_error(left, right, [[1, 1, 1, 1]])
    ViewError(mse=0.0, rmse=0.0, psnr=inf, visible=0.75)
    """
    if way == "forward":
        rendered, seen = forward(reference, disparity, position)
        true = other
    elif way == "inverse":
        rendered, seen = inverse(other, disparity, position, cubic=cubic)
        true = reference
    else:
        raise UsageError(f"way={way!r}: expected forward or inverse")
    if mask is not None:
        wanted = edge_map(mask, name="mask")
        same_size(wanted, seen, names=("mask", "view"))
        seen = seen & wanted
    compare = interval_error if tolerant else view_error
    return compare(true, rendered, mask=seen, bits=bits)


def _summary(total: float, count: int, counted: Mask, bits: int) -> ViewError:
    if not 1 <= bits <= 32:
        raise UsageError(f"{bits} bits per channel: expected 1 to 32")
    mse = total / count if count else math.nan
    psnr = math.inf if mse == 0 else 10 * math.log10((2**bits - 1) ** 2 / mse) if mse > 0 else math.nan
    return ViewError(mse, math.sqrt(mse), psnr, float(counted.mean()))


def _counted(first: Picture, second: Picture, mask: ArrayLike | None) -> Mask:
    same_size(second, first, names=("rendered view", "picture"))
    if first.shape != second.shape:
        raise InputError(f"the rendered view has {second.shape[2]} channels, the picture {first.shape[2]}")
    counted = np.ones(first.shape[:2], dtype=bool) if mask is None else edge_map(mask, name="mask")
    same_size(counted, first, names=("mask", "picture"))
    return counted


def _pair(image: ArrayLike, disparity: ArrayLike) -> tuple[Picture, NDArray[np.float32]]:
    pixels, shifts = _pixels(image), estimated_map(disparity)
    same_size(shifts, pixels, names=("disparity map", "picture"))
    return pixels, shifts


def _pixels(image: ArrayLike) -> Picture:
    """Grey levels as they are, H×W×C; single precision holds those of up to 24 bits."""
    pixels = np.asarray(image)
    if pixels.ndim not in (2, 3) or pixels.dtype.kind not in "iuf" or pixels.size == 0:
        raise InputError(f"picture of shape {pixels.shape} and type {pixels.dtype}, expected grey or colour pixels")
    return np.ascontiguousarray(pixels if pixels.ndim == 3 else pixels[:, :, None], dtype=np.float32)
