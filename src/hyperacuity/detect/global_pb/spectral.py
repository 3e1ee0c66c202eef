r"""The spectral part of gPb: contours that separate much of the image from the rest.

Pixels that no contour parts are alike (:mod:`hyperacuity.kernels.affinity`). The eigenvectors of

.. math:: (D - W) v = λ D v

with the least λ, drawn as images, are smooth within what belongs together and change where it ends. Their gradients, weighted by
1/√λ, are strong on contours that close and weak on texture. The constant vector, λ = 0, says nothing and is left out.

With u = D^½ v, the same vectors are those of D^−½ W D^−½ u = (1 − λ) u with the largest eigenvalues. A polynomial of Chebyshev
damps what is not wanted, a small dense problem (Rayleigh and Ritz) sorts what remains, and so on until the wanted ones stand
still. The start is the eigenvectors of the image at half the size, down to one so small that a dense solver is quick. Sums run
in a fixed order, so the result depends neither on threads nor on the machine.

References
----------
Arbeláez, Maire, Fowlkes & Malik (2011), section 3.2. Zhou, Saad, Tiago & Chelikowsky (2006), Self-consistent-field calculations
using Chebyshev-filtered subspace iteration.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperacuity.detect.bank import responses, rotated
from hyperacuity.detect.detection import Float32Array
from hyperacuity.detect.global_pb.cues import enlarged
from hyperacuity.kernels.affinity import (
    contour_affinity,
    frames,
    like,
    mix,
    multiply,
    neighbour_offsets,
    normalise,
    planes,
    products,
)
from hyperacuity.kernels.half_discs import DIRECTIONS
from hyperacuity.kernels.symmetric import product, symmetric_eigen

RADIUS = 5
"""Largest distance of two pixels that are compared, in pixels of the image at half size."""

SIGMA = 0.1
"""The strength of a contour that lowers affinity to 1/e."""

COUNT = 16
"""Number of eigenvectors used."""

LEAST = 1e-5
"""A lower eigenvalue counts as this: what is all but cut off does not drown all else."""

UNIT = 100.0
"""Gradients are divided by this, which brings them to about the scale of the local cues."""

ACROSS, ALONG = 1.0, 3.0
"""Standard deviations of the Gaussian whose derivative finds the gradients, in pixels of the image at half size."""

BLOCK = 32
"""Number of vectors iterated: those that are used, the constant one, and more, since it is the last ones that move slowly."""

DENSE = 800
"""Images of no more pixels are left to a dense solver."""

DEGREE, ROUNDS = 12, 12
"""Degree of the polynomial, and how often it is applied at most; mostly two or three times are enough."""

TOLERANCE = 1e-3
"""Vectors stand still when no wanted one is further than this from being an eigenvector: ‖Mu − μu‖, ‖u‖ = 1."""

Floats = NDArray[np.float64]
Offsets = NDArray[np.int64]


class Eigenvectors(NamedTuple):
    """Eigenvalues λ in rising order, without the constant vector's 0, and the vectors v as images, n × H × W."""

    values: Floats
    vectors: Float32Array


def spectral_gradients(strength: Float32Array) -> Float32Array:
    """Gradients of the eigenvectors of an image with these contours (a thin map), directions × H × W, 0 or more.

    .. math:: s(θ) = \\frac{1}{100} \\sum_k \\frac{1}{\\sqrt{λ_k}} |∇_θ v_k|

    with each v brought to [0, 1] and ∇ the derivative of a Gaussian that is longer than wide. Without any contour there are none.

    >>> spectral_gradients(np.zeros((6, 9), np.float32)).any()
    np.False_
    """
    shape = strength.shape
    if not strength.any() or strength.size < 2:
        return np.zeros((DIRECTIONS, *shape), np.float32)
    values, vectors = eigenvectors(halved(strength))
    if len(values) == 0:
        return np.zeros((DIRECTIONS, *shape), np.float32)
    spread = np.ptp(vectors, axis=(1, 2)) * np.sqrt(np.maximum(values, LEAST)) * UNIT
    weights = np.divide(1, spread, out=np.zeros_like(spread), where=spread > 0)
    kernels, radius = _derivatives()
    weighted = vectors * weights.astype(np.float32)[:, None, None]
    result = np.stack([np.abs(answer).sum(axis=0) for answer in responses(weighted, kernels, radius)])
    return enlarged(result, shape, first=0.5)


@cache
def _derivatives() -> tuple[list[Floats], int]:
    """Derivatives of a Gaussian across a line in each direction, of absolute sum 2, and their radius: a unit step gives 1."""
    radius = math.ceil(3 * ALONG)
    kernels = []
    for direction in range(DIRECTIONS):
        u, v = rotated(direction * math.pi / DIRECTIONS, radius)
        kernel = v * np.exp(-0.5 * ((u / ALONG) ** 2 + (v / ACROSS) ** 2))
        kernels.append(2 * kernel / np.abs(kernel).sum())
    return kernels, radius


def halved(strength: Float32Array) -> Float32Array:
    """The strength at half the size: the largest of two by two pixels, so that no line is lost.

    >>> halved(np.float32([[0, 1, 2], [3, 0, 0]]))
    array([[3., 2.]], dtype=float32)
    """
    height, width = strength.shape
    padded = np.pad(strength, ((0, height % 2), (0, width % 2)), mode="edge")
    return np.asarray(padded.reshape(padded.shape[0] // 2, 2, padded.shape[1] // 2, 2).max(axis=(1, 3)))


def eigenvectors(
    strength: Float32Array, count: int = COUNT, *, dense: int = DENSE, tolerance: float = TOLERANCE
) -> Eigenvectors:
    """The eigenvectors of least eigenvalue, but for the constant one, of an image with these contours.

    There are fewer than ``count`` where the image has no more pixels. Vectors have unit length in the metric of D. Images of more
    than ``dense`` pixels are solved by iteration.
    """
    weights, offsets = contour_affinity(strength, RADIUS, SIGMA), neighbour_offsets(RADIUS)
    degree = normalise(weights, offsets)
    if strength.size <= max(dense, 8 * BLOCK):
        values, result = _dense(weights, offsets)
    else:
        start = eigenvectors(halved(strength), BLOCK - 1, dense=dense)
        first = np.empty((BLOCK, *strength.shape), np.float32)  # D^½ v, the constant one before the others
        first[0] = np.sqrt(degree)
        first[1:] = enlarged(start.vectors, strength.shape, first=0.5) * np.sqrt(degree)
        first /= _lengths(first)[:, None, None]
        values, result = _iterate(weights, offsets, frames(first, RADIUS), tolerance)
    chosen = slice(1, count + 1)
    return Eigenvectors(1 - values[chosen], (result[chosen] / np.sqrt(degree)).astype(np.float32))


def _dense(weights: Float32Array, offsets: Offsets) -> tuple[Floats, Floats]:
    """Eigenvalues, the largest first, and eigenvectors (n × H × W) of a small matrix."""
    height, width, _ = weights.shape
    matrix = np.zeros((height * width, height * width))
    y, x, k = np.nonzero(weights)
    matrix[y * width + x, (y + offsets[k, 0]) * width + x + offsets[k, 1]] = weights[y, x, k]
    values, vectors = symmetric_eigen(matrix)
    return values[::-1], vectors[::-1].reshape(-1, height, width)


def _lengths(vectors: Float32Array) -> Float32Array:
    return np.sqrt([np.sum(one * one, dtype=np.float64) for one in vectors]).astype(np.float32)


def _iterate(weights: Float32Array, offsets: Offsets, vectors: Float32Array, tolerance: float) -> tuple[Floats, Floats]:
    """Eigenvalues, the largest first, and eigenvectors (BLOCK × H × W), from approximate ones in frames."""
    values, vectors, _ = _sorted(weights, offsets, vectors)
    for _ in range(ROUNDS):
        vectors = _damped(weights, offsets, vectors, float(values[-1]))
        values, vectors, images = _sorted(weights, offsets, vectors)
        wanted = slice(1, COUNT + 1)
        off = images[..., wanted] - vectors[..., wanted] * values[wanted].astype(np.float32)
        if _lengths(planes(off)).max() < tolerance:
            break
    return values, planes(vectors[RADIUS:-RADIUS, RADIUS:-RADIUS]).astype(np.float64)


def _damped(weights: Float32Array, offsets: Offsets, vectors: Float32Array, cut: float) -> Float32Array:
    """The polynomial of Chebyshev of the matrix, applied: at most 1 for eigenvalues in [−1, cut]. Vectors are overwritten."""
    middle, half = (cut - 1) / 2, (cut + 1) / 2
    before, now = vectors, like(vectors)
    multiply(weights, offsets, before, now, np.float32(1 / half), np.float32(middle), now)
    for _ in range(DEGREE - 1):
        multiply(weights, offsets, now, before, np.float32(2 / half), np.float32(middle), before)
        before, now = now, before
    now /= _lengths(planes(now))
    return now


def _sorted(
    weights: Float32Array, offsets: Offsets, vectors: Float32Array
) -> tuple[Floats, Float32Array, Float32Array]:
    """Eigenvalues, the largest first, and eigenvectors in the span of vectors, which are overwritten; and their images."""
    images = like(vectors)
    multiply(weights, offsets, vectors, images, np.float32(1), np.float32(0), images)
    metric, form = products(vectors, vectors, RADIUS), products(vectors, images, RADIUS)
    sizes, axes = symmetric_eigen(metric)
    whiten = axes / np.sqrt(np.maximum(sizes, 1e-12 * sizes[-1]))[:, None]
    values, turn = symmetric_eigen(product(product(whiten, form), np.ascontiguousarray(whiten.T)))
    coefficients = np.ascontiguousarray(product(turn, whiten)[::-1].T, np.float32)
    mix(vectors, coefficients)
    mix(images, coefficients)
    return values[::-1], vectors, images
