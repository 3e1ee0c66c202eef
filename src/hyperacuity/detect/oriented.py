"""Detectors with elongated oriented kernels: ``sf5`` (steerable), ``agk`` (anisotropic Gaussians) and ``hk`` (their halves).

Long kernels average noise away along the edge but do not fit corners; half kernels fit each arm of one. A step of height 1 has
strength 1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial.hermite_e import hermeval
from numpy.typing import ArrayLike

from hyperacuity.detect.bank import (
    Channels,
    Float64Array,
    angles,
    check_channels,
    combine,
    responses,
    rotated,
    to_precision,
)
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
from hyperacuity.kernels.planes import weighted_sums

_SF5_TERMS = ((1.1215, 1, 0), (0.018, 3, 0), (0.5576, 1, 2), (0.0038, 3, 2), (0.0415, 1, 4))
"""(a, i, j) for each term a·σ^(i+j−1)·∂ⁱ⁺ʲg/∂uⁱ∂vʲ of the filter."""

_SF5_BASIS = np.arange(6) * np.pi / 6
"""An odd filter of order 5 is known at every angle when it is known at these."""

_ROWS_AT_ONCE = 2  # so little that it stays within the cache and no matrix product is worth threads


@takes_memory(180)
def sf5(
    image: ArrayLike,
    *,
    sigma: float = 1.5,
    step: float = 5.0,
    channels: Channels = "tensor",
    thin_norm: ThinNorm = "max",
) -> Detection:
    r"""Steerable filter of order 5, the best of its order by Canny's criteria without a penalty on curvature (M = 5, µ = 0).

    .. math:: h_θ = 1.1215 g_u + 0.018σ^2 g_{uuu} + 0.5576σ^2 g_{uvv} + 0.0038σ^4 g_{uuuvv} + 0.0415σ^4 g_{uvvvv}

    with g a Gaussian, u along θ and v across. Its response at any θ is a sum of those at six angles; it is evaluated every
    ``step`` degrees and the largest is refined by a parabola through it and its two neighbours. ``channels`` says how those of
    a colour image are put together.

    References
    ----------
    Jacob & Unser (2004), Design of steerable filters for feature detection using Canny-like criteria.
    """
    sigma = positive(sigma, "sigma")
    check_channels(channels)
    pixels, turned = planes(image), angles(step, 180)
    radius = math.ceil(5 * sigma)
    kernels = (sf5_kernel(angle, sigma) for angle in _SF5_BASIS)
    basis = np.stack([response.copy() for response in responses(pixels, kernels, radius)])
    weights = steering_weights(turned).astype(np.float32)
    strength = np.empty(pixels.shape[1:], np.float32)
    direction = np.empty_like(strength)
    for top in range(0, len(strength), _ROWS_AT_ONCE):
        rows = slice(top, top + _ROWS_AT_ONCE)
        parts = basis[:, :, rows]
        steered = weighted_sums(weights, parts.reshape(len(parts), -1)).reshape(len(weights), *parts.shape[1:])
        np.square(steered, out=steered)
        energy = steered.mean(axis=1) if channels == "tensor" else steered.max(axis=1)
        strength[rows], direction[rows] = _peak(energy, turned)
    np.sqrt(strength, out=strength)
    return finish(to_precision(strength, pixels), direction, thin_norm)


def _peak(energy: Float32Array, turned: Float64Array) -> tuple[Float32Array, Float32Array]:
    """Largest value over a half turn of equal steps (first axis) and its angle, by the parabola through three samples."""
    best = energy.argmax(axis=0)[np.newaxis]
    before, middle, after = (
        np.take_along_axis(energy, (best + shift) % len(turned), axis=0)[0] for shift in (-1, 0, 1)
    )
    bend = 2 * middle - before - after
    offset = np.divide(after - before, 2 * bend, out=np.zeros_like(middle), where=bend > 0)
    step = np.pi / len(turned)
    return middle + (after - before) * offset / 4, (turned[best[0]] + offset * step).astype(np.float32)


def sf5_kernel(angle: float, sigma: float) -> Float64Array:
    """The filter h_θ of :func:`sf5`, sampled out to 5σ and scaled so that a unit step across ``angle`` gives 1."""
    u, v = (coordinate / sigma for coordinate in rotated(angle, math.ceil(5 * sigma)))
    # ∂ⁱg/∂uⁱ = (−1)ⁱ Heᵢ(u/σ)/σⁱ · g, and i + j is odd in every term.
    terms = sum(-a * _hermite(i, u) * _hermite(j, v) for a, i, j in _SF5_TERMS)
    bell = np.exp(-(u**2 + v**2) / 2) / (2 * math.pi * sigma**2)
    # Along v only the terms without ∂v survive; a step then gives (a10 − a30)/(√(2π)·σ).
    step_response = (1.1215 - 0.018) / math.sqrt(2 * math.pi)
    return np.asarray(terms * bell / step_response)


def steering_weights(wanted: Float64Array) -> Float64Array:
    """Row i: how much of each of the six basis responses makes up the response at angle ``wanted[i]`` (Freeman & Adelson)."""
    turn = wanted[:, np.newaxis] - _SF5_BASIS
    return np.asarray((np.cos(turn) + np.cos(3 * turn) + np.cos(5 * turn)) / 3)


@takes_memory(100)
def agk(
    image: ArrayLike,
    *,
    across: float = 1.0,
    along: float = 5.0,
    step: float = 5.0,
    channels: Channels = "tensor",
    thin_norm: ThinNorm = "max",
) -> Detection:
    r"""Anisotropic Gaussian kernels: a derivative across the edge (σ = ``across``), a long Gaussian along it (``along``).

    .. math:: K_θ ∝ −\frac{u}{σ_u^2} \exp\left(−\frac{u^2}{2σ_u^2} − \frac{v^2}{2σ_v^2}\right),
              \qquad |∇I| = \max_θ |I * K_θ|

    with θ every ``step`` degrees; the direction is the θ of the maximum.

    References
    ----------
    Geusebroek, Smeulders & van de Weijer (2002), Fast anisotropic Gauss filtering.
    """
    across, along = positive(across, "across"), positive(along, "along")
    check_channels(channels)
    pixels, turned = planes(image), angles(step, 180)
    kernels = (_agk_kernel(angle, across, along) for angle in turned)
    strength = np.zeros(pixels.shape[1:], np.float32)
    direction = np.zeros_like(strength)
    for angle, response in zip(turned, responses(pixels, kernels, _radius(across, along)), strict=True):
        candidate = combine(response, channels)
        np.copyto(direction, np.float32(angle), where=candidate > strength)
        np.maximum(strength, candidate, out=strength)
    return finish(to_precision(strength, pixels), direction, thin_norm)


@takes_memory(120)
def hk(
    image: ArrayLike, *, across: float = 1.0, along: float = 5.0, step: float = 5.0, thin_norm: ThinNorm = "max"
) -> Detection:
    r"""Half Gaussian kernels: those of :func:`agk` cut in two across their length, turned through the full circle.

    .. math:: |∇I| = ½\left(\max_θ Q(θ) − \min_θ Q(θ)\right), \qquad Q(θ) = I * K_θ^{half}

    The largest and the smallest response belong to the two arms of the edge, which need not be in line. The direction is
    the bisector of the two arms' gradients. On colour, the channel of the largest strength is taken.

    References
    ----------
    Magnier, Montesinos & Diep (2011), Fast anisotropic edge detection using gamma correction in color images.
    """
    across, along = positive(across, "across"), positive(along, "along")
    pixels, turned = planes(image), angles(step, 360)
    kernels = (_half_kernel(angle, across, along) for angle in turned)
    highest, lowest = np.full(pixels.shape, -np.inf, np.float32), np.full(pixels.shape, np.inf, np.float32)
    at_highest, at_lowest = np.zeros_like(pixels, np.int16), np.zeros_like(pixels, np.int16)
    for i, response in enumerate(responses(pixels, kernels, _radius(across, along))):
        np.copyto(at_highest, i, where=response > highest)
        np.copyto(at_lowest, i, where=response < lowest)
        np.maximum(highest, response, out=highest)
        np.minimum(lowest, response, out=lowest)
    spread = (highest - lowest) / 2
    strongest = spread.argmax(axis=0)[np.newaxis]
    strength, first, second = (
        np.take_along_axis(values, strongest, axis=0)[0] for values in (spread, at_highest, at_lowest)
    )
    # The smallest response is a gradient seen from the other side.
    c, s = np.cos(turned).astype(np.float32), np.sin(turned).astype(np.float32)
    direction = angle_of(s[first] - s[second], c[first] - c[second])
    return finish(to_precision(strength, pixels), direction, thin_norm)


def _radius(across: float, along: float) -> int:
    return math.ceil(max(4 * across, 3 * along))


def _agk_kernel(angle: float, across: float, along: float) -> Float64Array:
    u, v = rotated(angle, _radius(across, along))
    bell = np.exp(-(u**2 / across**2 + v**2 / along**2) / 2) / (2 * math.pi * across * along)
    return -u / across**2 * bell * (math.sqrt(2 * math.pi) * across)


def _half_kernel(angle: float, across: float, along: float) -> Float64Array:
    """The half v ≥ 0 of the full kernel, doubled; pixels that the cut passes through count in part."""
    u, v = rotated(angle, _radius(across, along))
    half = 2 * np.clip(v + 0.5, 0, 1)
    # The pixel grid is not symmetric about the axis of a half kernel: without this a flat image would have a response.
    envelope = half * np.exp(-(u**2 / across**2 + v**2 / along**2) / 2)
    kernel = half * _agk_kernel(angle, across, along)
    return np.asarray(kernel - envelope * (kernel.sum() / envelope.sum()))


def _hermite(order: int, x: Float64Array) -> Float64Array:
    return np.asarray(hermeval(x, [0] * order + [1]))
