"""The two pictures of a rectified pair: checked, and brought to one scale."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError, UsageError
from hyperacuity.maps import same_size

Pixels = NDArray[np.float32]
"""H×W×C on the scale of 8 bits, 0 to 255."""


def stereo_pair(left: ArrayLike, right: ArrayLike, disparities: int) -> tuple[Pixels, Pixels]:
    """Both pictures as H×W×C on the scale of 8 bits.

    >>> stereo_pair(np.full((2, 3), 65535, np.uint16), np.zeros((2, 3), np.uint16), 1)[0].max()
    np.float32(255.0)
    """
    if disparities < 1:
        raise UsageError(f"{disparities} disparities to try: expected at least one")
    first, second = (_picture(view) for view in (left, right))
    same_size(second, first, names=("right picture", "left picture"))
    if first.shape != second.shape:
        raise InputError(f"the pictures have {first.shape[2]} and {second.shape[2]} channels, expected the same")
    return first, second


def radius_of(window: int) -> int:
    """The reach of a square window of odd side from its middle."""
    if window < 1 or window % 2 == 0:
        raise UsageError(f"a window of {window} pixels has no middle: expected an odd number")
    return window // 2


def positive(**options: float) -> None:
    """Refuse options that are not above 0."""
    for name, value in options.items():
        if not value > 0:
            raise UsageError(f"{name} is {value:g}, expected a number above 0")


def grey(pixels: Pixels) -> NDArray[np.float32]:
    """The mean of the channels."""
    mean: NDArray[np.float32] = pixels.mean(axis=2)
    return mean


def three_channels(pixels: Pixels) -> Pixels:
    """A grey picture as a colour picture; of more than three channels the first three."""
    return np.ascontiguousarray(
        np.broadcast_to(pixels, (*pixels.shape[:2], 3)) if pixels.shape[2] < 3 else pixels[:, :, :3]
    )


def lab(pixels: Pixels) -> Pixels:
    """Colour pictures (sRGB) in CIELAB, for the light D65, where distances are roughly as people see them; grey as L.

    >>> lab(np.full((1, 1, 3), 255, np.float32)).round(2) + 0
    array([[[100.,   0.,   0.]]], dtype=float32)
    """
    shares = three_channels(pixels).astype(np.float64) / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    red, green, blue = np.moveaxis(linear, 2, 0)
    xyz = np.stack([(r * red + g * green + b * blue) / (r + g + b) for r, g, b in _TO_XYZ])
    x, y, z = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=2).astype(np.float32)


_TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def _picture(view: ArrayLike) -> Pixels:
    pixels = np.asarray(view)
    if pixels.ndim not in (2, 3) or pixels.dtype not in (np.uint8, np.uint16) or pixels.size == 0:
        raise InputError(
            f"picture of shape {pixels.shape} and type {pixels.dtype}, expected grey or colour of 8 or 16 bits"
        )
    scaled = pixels.astype(np.float32) * np.float32(255 / np.iinfo(pixels.dtype).max)
    return scaled if scaled.ndim == 3 else scaled[:, :, None]
