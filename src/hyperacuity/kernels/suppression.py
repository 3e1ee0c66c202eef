"""Non-maximum suppression: from a soft edge map, thick where the detector is unsure, to ridges one pixel wide.

Two kinds, because two communities use two. :func:`suppress` is the classical one: the detector knows the direction of its
gradient, and a pixel stays when it is the largest of three along that line. :func:`suppress_structured` is for soft maps
whose detector gives no direction: it is read off the curvature of the map itself.

Both are single passes that read one array and write another, so the result does not depend on the order of the pixels.
Directions are angles in image coordinates, x to the right and y down. Sums are kept in float64, where those of float32 values
with small integer weights are exact, so that symmetric input gives symmetric output.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels import Float32s, Float64s, allocating_kernel, kernel

FADE = 5
"""Width in pixels of the border that :func:`suppress_structured` fades out."""

TRIANGLE_RADIUS = 4
"""Radius of the triangle filter that steadies the orientation in :func:`suppress_structured`."""

TOLERANCE = 1.01
"""A pixel may be this factor below its neighbours and still stay in :func:`suppress_structured`."""

_TAN_22_5 = math.sqrt(2) - 1


def suppress(
    strength: ArrayLike, direction: ArrayLike, *, interpolation: Literal["linear", "sectors"] = "linear"
) -> Float32s:
    """Keep the pixels that are maximal along their gradient; all others, and the outermost pixels, become 0.

    A pixel's strength is compared with the two points where the line through it, along ``direction``, leaves the ring of its
    eight neighbours; the strength there is linear between the two nearest ones. It must exceed the point that comes earlier
    in reading order and be at least as large as the later one: of a plateau two pixels wide, one pixel stays.

    Parameters
    ----------
    strength : gradient magnitude per pixel, 0 or more.
    direction : direction of the gradient (across the edge) in radians, x to the right and y down; its sign is of no matter.
    interpolation : ``"linear"``, or ``"sectors"``: the direction is rounded to a multiple of 45° and two neighbours are
        compared as they are.

    Returns
    -------
    float32 map: the strength where the pixel stays, 0 elsewhere. An image less than three pixels wide or high gives zeros.

    References
    ----------
    Rosenfeld & Thurston (1971); Canny (1986).

    Examples
    --------
    >>> strength = np.tile(np.float32([0, 1, 3, 2, 0]), (3, 1))
    >>> suppress(strength, np.zeros((3, 5)))[1]
    array([0., 0., 3., 0., 0.], dtype=float32)
    """
    if interpolation not in ("linear", "sectors"):
        raise UsageError(f"interpolation is {interpolation!r}, expected 'linear' or 'sectors'")
    values, angles = _plane(strength, "strength"), _plane(direction, "direction")
    if values.shape != angles.shape:
        raise InputError(f"strength has shape {values.shape} but direction {angles.shape}: they must be the same")
    return _suppress(values, angles, interpolation == "sectors")


def suppress_structured(soft: ArrayLike, *, smooth: int = 1, radius: int = 1, round8: bool = False) -> Float32s:
    r"""The suppression customary for learned detectors: orientation from the soft map E itself, and a little tolerance.

    1. E is smoothed in both directions with a triangle filter of radius ``smooth``: [1 2 1]/4 for 1; 0 leaves it out.
    2. The orientation across the edge comes from E smoothed once more with a triangle filter of radius 4 (weights 1…5…1,
       reflected borders), by central differences (one-sided at the border):
       :math:`O = \mathrm{mod}(\arctan(E_{yy}·\mathrm{sign}(−E_{xy}) / (E_{xx} + 10^{−5})), π)`.
    3. A pixel is dropped when 1.01 times its value is below the bilinear value at (x + d·cos O, y + d·sin O) for any whole
       d ≠ 0 from ``−radius`` to ``radius``; points outside the image are moved to its border.
    4. The outer 5 pixels are faded linearly: 0 at the border, 1/5 beside it and so on (fewer in an image below 10 pixels).
    5. With ``round8``, values are rounded to multiples of 1/255, as happens when the map is saved as an 8-bit picture.

    The formula takes O = 0 where :math:`E_{xy}` is exactly 0. A perfectly horizontal line in a made image is therefore
    compared with itself and stays as thick as it was.

    Returns
    -------
    float32 map in the range of ``soft``; an all-zero map gives an all-zero map.

    References
    ----------
    Dollár & Zitnick (2015), Fast edge detection using structured forests, and the evaluations that followed it.

    Examples
    --------
    >>> soft = np.zeros((20, 20), np.float32)
    >>> soft[:, 9:12] = [0.4, 0.8, 0.4]
    >>> suppress_structured(soft)[10, 7:14].round(2)
    array([0. , 0. , 0. , 0.6, 0. , 0. , 0. ], dtype=float32)
    """
    if smooth < 0 or radius < 1:
        raise UsageError(f"smooth is {smooth} and radius {radius}, expected smooth ≥ 0 and radius ≥ 1")
    values = _triangle(_plane(soft, "soft map").astype(np.float64), smooth)
    thin = _suppress_by_curvature(values, _triangle(values, TRIANGLE_RADIUS), radius)
    _fade(thin, min(FADE, min(thin.shape) // 2))
    return (np.floor(thin * 255 + 0.5) / 255 if round8 else thin).astype(np.float32)


def _plane(values: ArrayLike, name: str) -> Float32s:
    array = np.ascontiguousarray(values, dtype=np.float32)
    if array.ndim != 2 or array.size == 0:
        raise InputError(f"{name}: has shape {array.shape}, expected two dimensions (height, width) with pixels")
    return array


@allocating_kernel
def _suppress(strength: Float32s, direction: Float32s, sectors: bool) -> Float32s:
    height, width = strength.shape
    thin = np.zeros((height, width), np.float32)
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            value = strength[y, x]
            if not value > 0:
                continue
            c, s = math.cos(direction[y, x]), math.sin(direction[y, x])
            if c + 2 * s < 0:  # turn the line so that it points to the neighbours that come later in reading order
                c, s = -c, -s
            # It leaves their ring between the diagonal one at (step_x, step_y) and the one at (dx, dy) on an axis;
            # weight is the share of the former.
            step_x, step_y = (1 if c > 0 else -1), (1 if s > 0 else -1)
            if abs(c) >= abs(s):
                dx, dy, weight = step_x, 0, abs(s) / abs(c)
            else:
                dx, dy, weight = 0, step_y, abs(c) / abs(s)
            if sectors:
                weight = 1.0 if weight > _TAN_22_5 else 0.0
            later = _between(strength[y + dy, x + dx], strength[y + step_y, x + step_x], weight)
            earlier = _between(strength[y - dy, x - dx], strength[y - step_y, x - step_x], weight)
            if value > earlier and value >= later:
                thin[y, x] = value
    return thin


@kernel
def _between(a: float, b: float, weight: float) -> float:
    """The value at ``weight`` of the way from ``a`` to ``b``, exact at both ends and where they are equal: plateaus stay flat."""
    return b if weight == 1 else a + weight * (b - a)


@allocating_kernel
def _suppress_by_curvature(soft: Float64s, steady: Float64s, radius: int) -> Float64s:
    height, width = soft.shape
    thin = np.zeros((height, width))
    for y in range(height):
        for x in range(width):
            xx, xy, yy = _second_derivatives(steady, x, y)
            # tan O = rise / run, and O and O + π visit the same points, so the angle itself is never needed.
            rise, run = yy * ((xy < 0) - (xy > 0)), xx + 1e-5
            length = math.sqrt(rise * rise + run * run)
            c, s = (run / length, rise / length) if length > 0 else (1.0, 0.0)
            highest = 0.0
            for d in range(1, radius + 1):
                ahead, behind = _bilinear(soft, x + d * c, y + d * s), _bilinear(soft, x - d * c, y - d * s)
                highest = max(highest, ahead, behind)
            thin[y, x] = soft[y, x] if TOLERANCE * soft[y, x] >= highest else 0.0
    return thin


def _fade(image: Float64s, width: int) -> None:
    """Multiply the outer pixels, in place, by their distance to each border over ``width``."""
    for i in range(width):
        for line in (image[i], image[-1 - i], image[:, i], image[:, -1 - i]):
            line *= i / width


@kernel
def _bilinear(image: Float64s, x: float, y: float) -> float:
    """Bilinear value at (x, y), moved to the nearest point of the image when outside."""
    height, width = image.shape
    x, y = min(max(x, 0.0), width - 1.0), min(max(y, 0.0), height - 1.0)
    left, top = int(x), int(y)
    right, bottom = min(left + 1, width - 1), min(top + 1, height - 1)
    upper = _between(image[top, left], image[top, right], x - left)
    lower = _between(image[bottom, left], image[bottom, right], x - left)
    return _between(upper, lower, y - top)


@allocating_kernel
def _triangle(image: Float64s, radius: int) -> Float64s:
    """Weights 1, 2, …, radius + 1, …, 2, 1 along both axes, normalised once at the end; borders are reflected."""
    height, width = image.shape
    smooth = np.zeros((height, width))
    column_sums = np.empty(width + 2 * radius)
    for y in range(height):
        column_sums[:] = 0
        for k in range(-radius, radius + 1):
            source, weight = _reflect(y + k, height), radius + 1.0 - abs(k)
            for x in range(width):
                column_sums[radius + x] += weight * image[source, x]
        for k in range(1, radius + 1):
            column_sums[radius - k] = column_sums[radius + _reflect(-k, width)]
            column_sums[radius + width - 1 + k] = column_sums[radius + _reflect(width - 1 + k, width)]
        for k in range(-radius, radius + 1):
            weight = radius + 1.0 - abs(k)
            for x in range(width):
                smooth[y, x] += weight * column_sums[radius + x + k]
        for x in range(width):
            smooth[y, x] /= (radius + 1.0) ** 4
    return smooth


@kernel
def _reflect(i: int, n: int) -> int:
    """Index ``i`` folded back into 0 … n − 1, the border pixel repeated: −1 is 0 and n is n − 1."""
    while i < 0 or i >= n:
        i = -1 - i if i < 0 else 2 * n - 1 - i
    return i


@kernel
def _second_derivatives(image: Float64s, x: int, y: int) -> tuple[float, float, float]:
    """(E_xx, E_xy, E_yy) at a pixel: central differences of central differences, one-sided at the border."""
    left, right, per_x = _neighbours(x, image.shape[1])
    above, below, per_y = _neighbours(y, image.shape[0])
    xx = (_slope_x(image, right, y) - _slope_x(image, left, y)) * per_x
    xy = (_slope_y(image, right, y) - _slope_y(image, left, y)) * per_x
    yy = (_slope_y(image, x, below) - _slope_y(image, x, above)) * per_y
    return xx, xy, yy


@kernel
def _slope_x(image: Float64s, x: int, y: int) -> float:
    left, right, per_x = _neighbours(x, image.shape[1])
    return float((image[y, right] - image[y, left]) * per_x)


@kernel
def _slope_y(image: Float64s, x: int, y: int) -> float:
    above, below, per_y = _neighbours(y, image.shape[0])
    return float((image[below, x] - image[above, x]) * per_y)


@kernel
def _neighbours(i: int, n: int) -> tuple[int, int, float]:
    """The indices on either side of ``i`` within 0 … n − 1, and one over their distance (which is 2, or 1 at the border)."""
    before, after = max(i - 1, 0), min(i + 1, n - 1)
    return before, after, 0.5 if after - before == 2 else 1.0
