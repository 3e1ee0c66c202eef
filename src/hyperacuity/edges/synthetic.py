"""Synthetic shapes with exact edges: white on black with a rim of grey one pixel wide (Fig. 5).

Between a white and a black pixel, an edge may be placed on either side. The grey rim is where the slope is steepest, so it is
the truth. Shapes use only sums and products, and noise comes from the raw words of PCG64, so an image is the same
on any machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import UsageError
from hyperacuity.maps import EdgeMap

SnrDefinition = Literal["variance", "power", "psnr"]

_DISCS = ((0.19, 0.19, 0.125), (0.45, 0.10, 0.045), (0.45, 0.26, 0.02))  # x, y, radius, as shares of the side
_RING = (0.79, 0.62, 0.14, 0.08)  # x, y, outer and inner radius
_POLYGONS = (
    ((0.60, 0.08), (0.90, 0.08), (0.90, 0.32), (0.60, 0.32)),  # a square that lies along the grid
    ((0.19, 0.40), (0.33, 0.53), (0.20, 0.67), (0.06, 0.54)),  # one that does not
    ((0.42, 0.40), (0.60, 0.72), (0.38, 0.68)),  # a triangle with a sharp corner
    # a star: straight arms that meet at sharp and at re-entrant corners
    (
        *((0.20, 0.73), (0.225, 0.81), (0.31, 0.82), (0.24, 0.865), (0.27, 0.95)),
        *((0.20, 0.90), (0.13, 0.95), (0.16, 0.865), (0.09, 0.82), (0.175, 0.81)),
    ),
)
_BARS = (1, 2, 4, 8)  # widths in pixels, whatever the side


@dataclass(frozen=True, eq=False)
class Shapes:
    """The image in [0, 1] (0, ½ and 1 exactly) and its edges, the grey pixels."""

    image: NDArray[np.float64]
    truth: EdgeMap


def shapes(size: int = 256) -> Shapes:
    """Discs, a ring, polygons with corners of many angles, and bars 1, 2, 4 and 8 pixels wide, each with a grey rim.

    Examples
    --------
    >>> drawing = shapes(128)
    >>> np.unique(drawing.image).tolist()
    [0.0, 0.5, 1.0]
    """
    if size < 96:
        raise UsageError(f"shapes on an image of side {size}: expected at least 96 pixels")
    y, x = (np.indices((size, size)) + 0.5) / size
    inside = np.zeros((size, size), np.bool_)
    for cx, cy, radius in _DISCS:
        inside |= (x - cx) ** 2 + (y - cy) ** 2 < radius**2
    cx, cy, outer, inner = _RING
    from_centre = (x - cx) ** 2 + (y - cy) ** 2
    inside |= (from_centre < outer**2) & (from_centre >= inner**2)
    for corners in _POLYGONS:
        inside |= _polygon(x, y, corners)
    left = size // 2
    for width in _BARS:
        inside[size * 82 // 100 : size * 95 // 100, left : left + width] = True
        left += width + size // 16
    return rimmed(inside)


def rimmed(inside: ArrayLike) -> Shapes:
    """Any white region with the grey rim: the pixels outside it that share a side with a white one.

    >>> rimmed([[0, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]).image
    array([[0. , 0. , 0.5, 0.5],
           [0. , 0.5, 1. , 1. ],
           [0. , 0.5, 1. , 1. ]])
    """
    white = np.asarray(inside) > 0
    padded = np.pad(white, 1)
    near = padded[2:, 1:-1] | padded[:-2, 1:-1] | padded[1:-1, 2:] | padded[1:-1, :-2]
    rim = near & ~white
    return Shapes(white + 0.5 * rim, rim)


def add_noise(
    image: ArrayLike, snr: float, *, definition: SnrDefinition = "variance", seed: int = 0
) -> NDArray[np.float64]:
    r"""Add Gaussian noise at a signal-to-noise ratio in decibel, 10·log₁₀(signal/σ²). The result is not clipped.

    Parameters
    ----------
    image
        Grey or colour, in [0, 1].
    snr
        The ratio in dB; infinity adds nothing.
    definition
        What the signal is: the ``variance`` of the image, its ``power`` (the mean of I²), or the square of its range, 1
        (``psnr``).
    seed
        Noise with the same seed is the same, whatever its level.

    Examples
    --------
    >>> flat = np.full((200, 200), 0.5)
    >>> round(float((add_noise(flat, 20, definition="psnr") - flat).std()), 3)
    0.1
    """
    clean = np.asarray(image, dtype=np.float64)
    signal = {"variance": float(clean.var()), "power": float((clean**2).mean()), "psnr": 1.0}[definition]
    if signal == 0:
        raise UsageError(f"an image without {definition} has no signal-to-noise ratio; try definition='psnr'")
    return clean + math.sqrt(signal / 10 ** (snr / 10)) * _normals(clean.shape, seed)


def _normals(shape: tuple[int, ...], seed: int) -> NDArray[np.float64]:
    """Numbers of mean 0 and variance 1, near enough to normal: each the scaled sum of 32 random bytes."""
    count = math.prod(shape)
    words = np.random.PCG64(seed).random_raw(4 * count).astype("<u8")
    sums = words.view(np.uint8).reshape(count, 32).sum(axis=1, dtype=np.int64)
    normals: NDArray[np.float64] = (sums - 32 * 127.5) / math.sqrt(32 * (256**2 - 1) / 12)
    return normals.reshape(shape)


def _polygon(x: NDArray[np.float64], y: NDArray[np.float64], corners: tuple[tuple[float, float], ...]) -> EdgeMap:
    """The pixels inside a polygon: those from which a ray to the right crosses its sides an odd number of times."""
    inside = np.zeros(x.shape, np.bool_)
    for (x1, y1), (x2, y2) in zip(corners, corners[1:] + corners[:1], strict=True):
        if y1 != y2:
            crosses = (y1 > y) != (y2 > y)
            inside ^= crosses & (x < x1 + (y - y1) * (x2 - x1) / (y2 - y1))
    return inside
