"""Banks of large oriented kernels: how an image is filtered with many of them, and which answers best.

A bank of n kernels costs n real Fourier transforms per channel, whatever the kernels' size. Transforms are in single
precision, good to about a millionth of the image's range. :func:`to_precision` rounds strengths to ten times that, so that
flat areas have no edges at all and plateaus are level, which non-maximum suppression relies on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from hyperacuity.detect.detection import Float32Array
from hyperacuity.errors import UsageError

Float64Array = NDArray[np.float64]
Channels = Literal["tensor", "max"]
"""Rules that put the channels of an oriented response together: root mean square (Di Zenzo), or the largest absolute value."""

_PRECISION = 1e-5


def angles(step: float, turn: float) -> Float64Array:
    """Angles in radians every ``step`` degrees over ``turn`` degrees, which the step must divide.

    >>> np.rad2deg(angles(45, 180))
    array([  0.,  45.,  90., 135.])
    """
    count = round(turn / step) if step > 0 else 0
    if count < 1 or not math.isclose(count * step, turn):
        raise UsageError(f"step is {step}, expected degrees that divide {turn:g} into equal parts")
    return np.asarray(np.deg2rad(np.arange(count) * (turn / count)))


def rotated(angle: float, radius: int) -> tuple[Float64Array, Float64Array]:
    """Coordinates (u, v) of a (2·radius + 1)² pixel grid: u along ``angle``, v a quarter turn on."""
    y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1].astype(np.float64)
    c, s = math.cos(angle), math.sin(angle)
    return c * x + s * y, c * y - s * x


def responses(pixels: Float32Array, kernels: Iterable[Float64Array], radius: int) -> Iterator[Float32Array]:
    """Each kernel's convolution with all planes, one kernel at a time; borders are reflected.

    Kernels have ``2·radius + 1`` pixels a side and sum to 0. All answers are given in one array: copy what is to stay.
    """
    _, height, width = pixels.shape
    extremes = pixels.max(axis=(1, 2), keepdims=True), pixels.min(axis=(1, 2), keepdims=True)
    centred = pixels - (extremes[0] + extremes[1]) / 2  # smaller numbers round less, and a flat plane becomes exactly 0
    padded = np.pad(centred, ((0, 0), (radius, radius), (radius, radius)), mode="symmetric")
    shape = [fft.next_fast_len(size, real=True) for size in padded.shape[1:]]
    spectra = fft.rfft2(padded, shape)
    # The kernel's corner, not its middle, is at the origin: results lie 2·radius further on, clear of what wraps round.
    inside = slice(2 * radius, 2 * radius + height), slice(2 * radius, 2 * radius + width)
    product, answer = np.empty_like(spectra[0]), np.empty_like(pixels)
    for kernel in kernels:
        transfer = fft.rfft2(kernel.astype(np.float32), shape)
        for channel, spectrum in enumerate(spectra):
            np.multiply(spectrum, transfer, out=product)
            answer[channel] = fft.irfft2(product, shape, overwrite_x=True)[inside]
        yield answer


def combine(response: Float32Array, channels: Channels) -> Float32Array:
    """Strength of an oriented response over the channels (first axis)."""
    if channels == "max" or len(response) == 1:
        return np.asarray(np.abs(response).max(axis=0))
    return np.asarray(np.sqrt(np.einsum("chw,chw->hw", response, response) / np.float32(len(response))))


def check_channels(channels: str) -> None:
    """Validate a name for :func:`combine`."""
    if channels not in ("tensor", "max"):
        raise UsageError(f"channels is {channels!r}, expected 'tensor' or 'max'")


def to_precision(strength: Float32Array, pixels: Float32Array) -> Float32Array:
    """Strengths rounded to a hundred-thousandth of the image's range; all 0 for a flat image."""
    unit = np.float32(_PRECISION * float(np.ptp(pixels)))
    return np.rint(strength / unit) * unit if unit > 0 else np.zeros_like(strength)
