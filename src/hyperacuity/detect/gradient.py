"""Detectors that measure the gradient with one pair of filters: ``masks``, ``sobel``, ``canny`` and ``sf1``.

On colour the gradients of the channels are put together by Di Zenzo's tensor: the largest rate of change over all directions,
in the root mean square over the channels. A step of height 1 has strength 1. Borders are reflected.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from hyperacuity.detect.detection import (
    Detection,
    Float32Array,
    ThinNorm,
    angle_of,
    finish,
    planes,
    positive,
    takes_memory,
)
from hyperacuity.errors import UsageError

_CLASSIC_SPACING = 0.67
_CLASSIC_RADIUS = 4


@takes_memory(80)
def masks(image: ArrayLike, *, thin_norm: ThinNorm = "max") -> Detection:
    """The masks [−1 0 1] along rows and columns, which semi-automatic ground truth starts from.

    References
    ----------
    Abdulrahman, Magnier & Montesinos (2017), section 3.1.

    Examples
    --------
    >>> step = np.zeros((5, 6)); step[:, 3:] = 1
    >>> masks(step).strength[2]
    array([0., 0., 1., 1., 0., 0.], dtype=float32)
    """
    pixels = planes(image)
    return _from_gradient(_odd(pixels, [1], axis=2), _odd(pixels, [1], axis=1), thin_norm)


@takes_memory(80)
def sobel(image: ArrayLike, *, thin_norm: ThinNorm = "max") -> Detection:
    """Sobel's masks: [−1 0 1] along one axis, [1 2 1]/4 along the other.

    >>> step = np.zeros((5, 6)); step[:, 3:] = 1
    >>> sobel(step).strength[2]
    array([0., 0., 1., 1., 0., 0.], dtype=float32)
    """
    return _smooth_gradient(image, [0.5, 0.25], [1], thin_norm)


@takes_memory(80)
def canny(image: ArrayLike, *, sigma: float = 1.0, thin_norm: ThinNorm = "max") -> Detection:
    """First derivatives of a Gaussian, as in Canny's detector; no hysteresis, since thresholds are swept later.

    References
    ----------
    Canny (1986), A computational approach to edge detection.

    Examples
    --------
    >>> step = np.repeat([0, 0, 0, 0, 0.5, 1, 1, 1, 1], 9).reshape(9, 9).T
    >>> canny(step).thin[4].round(3)
    array([0., 0., 0., 0., 1., 0., 0., 0., 0.], dtype=float32)
    """
    sigma = positive(sigma, "sigma")
    return _gaussian_gradient(image, sigma, math.ceil(4 * sigma), thin_norm)


@takes_memory(80)
def sf1(
    image: ArrayLike,
    *,
    sigma: float = 1.5,
    variant: Literal["gaussian", "classic9tap"] = "gaussian",
    thin_norm: ThinNorm = "max",
) -> Detection:
    r"""Steerable filter of order 1: :math:`G_θ = \cos θ · G_x + \sin θ · G_y`, at the θ of its largest response.

    The maximum over θ of this response is the length of the gradient, so this is :func:`canny` at its own scale. ``variant``
    is ``"gaussian"``, or ``"classic9tap"``: :math:`−2x·\exp(−x²−y²)` sampled every 0.67 with 9 taps, a σ of 1.06 pixels
    (``sigma`` is then not used).

    References
    ----------
    Freeman & Adelson (1991), The design and use of steerable filters.
    """
    if variant == "classic9tap":
        return _gaussian_gradient(image, 1 / (_CLASSIC_SPACING * math.sqrt(2)), _CLASSIC_RADIUS, thin_norm)
    if variant != "gaussian":
        raise UsageError(f"variant is {variant!r}, expected 'gaussian' or 'classic9tap'")
    return canny(image, sigma=sigma, thin_norm=thin_norm)


def _gaussian_gradient(image: ArrayLike, sigma: float, radius: int, thin_norm: ThinNorm) -> Detection:
    distance = np.arange(radius + 1)
    bell = np.exp(-(distance**2) / (2 * sigma**2))
    bell /= bell[0] + 2 * bell[1:].sum()
    # A unit step convolved with the derivative of a Gaussian peaks at 1/(√(2π)·σ); this scale makes it 1.
    slope = (distance * bell / sigma**2 * math.sqrt(2 * math.pi) * sigma)[1:]
    return _smooth_gradient(image, bell, slope, thin_norm)


def _smooth_gradient(image: ArrayLike, even: ArrayLike, odd: ArrayLike, thin_norm: ThinNorm) -> Detection:
    """An odd filter along each axis, an even one along the other."""
    pixels = planes(image)
    in_x, in_y = (_odd(_even(pixels, even, axis=3 - axis), odd, axis=axis) for axis in (2, 1))
    return _from_gradient(in_x, in_y, thin_norm)


def _from_gradient(in_x: Float32Array, in_y: Float32Array, thin_norm: ThinNorm) -> Detection:
    """Di Zenzo: largest eigenvalue of the mean over channels of the gradient's outer product, and its direction."""
    if len(in_x) == 1:
        strength, direction = np.hypot(in_x[0], in_y[0]), angle_of(in_y[0], in_x[0])
    else:
        xx, yy, xy = (in_x * in_x).mean(axis=0), (in_y * in_y).mean(axis=0), (in_x * in_y).mean(axis=0)
        strength = np.sqrt((xx + yy + np.hypot(xx - yy, 2 * xy)) / 2)
        direction = angle_of(2 * xy, xx - yy) * np.float32(0.5)
    return finish(strength, direction, thin_norm)


def _even(pixels: Float32Array, weights: ArrayLike, *, axis: int) -> Float32Array:
    """Filter with an even kernel, given from its middle outwards."""
    middle, *outer = np.asarray(weights, dtype=np.float32)
    total: Float32Array = middle * pixels
    for weight, (before, after) in zip(outer, _shifted(pixels, len(outer), axis), strict=True):
        total += weight * (before + after)
    return total


def _odd(pixels: Float32Array, weights: ArrayLike, *, axis: int) -> Float32Array:
    """Filter with an odd kernel that rises with the index, given outwards from its middle; flat gives exact zeros."""
    outer = np.asarray(weights, dtype=np.float32)
    total = np.zeros_like(pixels)
    for weight, (before, after) in zip(outer, _shifted(pixels, len(outer), axis), strict=True):
        total += weight * (after - before)
    return total


def _shifted(pixels: Float32Array, radius: int, axis: int) -> list[tuple[Float32Array, Float32Array]]:
    """The planes moved by 1 … radius pixels either way along an axis, borders reflected (views of one padded copy)."""
    widths = [(0, 0)] * pixels.ndim
    widths[axis] = (radius, radius)
    padded = np.moveaxis(np.pad(pixels, widths, mode="symmetric"), axis, -1)
    size = pixels.shape[axis]

    def window(start: int) -> Float32Array:
        return np.moveaxis(padded[..., start : start + size], -1, axis)

    return [(window(radius - k), window(radius + k)) for k in range(1, radius + 1)]
