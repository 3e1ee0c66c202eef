"""What a detector takes and gives: photographs in as planes of numbers, strength, direction and thin map out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels.suppression import suppress
from hyperacuity.maps import SoftMap

Float32Array = NDArray[np.float32]
ThinNorm = Literal["max", "none"]
"""How the thin map is scaled: divided by its largest value (so that it is a soft map), or left in units of strength."""


@dataclass(frozen=True, eq=False)
class Detection:
    """What a detector saw in one image.

    Attributes
    ----------
    strength : float32 H×W, 0 or more; a step from black to white gives about 1, whatever the detector.
    direction : float32 H×W in (−π/2, π/2], across the edge, x to the right and y down; 0 where the strength is 0.
    thin : float32 H×W, the strength after non-maximum suppression along ``direction``, divided by its largest value
        (``thin_norm="max"``) or not (``"none"``). Without any edge it is 0 throughout.
    absolute : whether strengths, in [0, 1], mean the same in every image, so that they are never divided.
    """

    strength: Float32Array
    direction: Float32Array
    thin: Float32Array
    absolute: bool = False

    @property
    def soft(self) -> SoftMap:
        """The strength, divided by its largest value where it is not absolute: a soft map, as thick as the detector drew it."""
        return self.strength if self.absolute else divide_by_max(self.strength)


def planes(image: ArrayLike, *, name: str = "image") -> Float32Array:
    """The image as float32 planes, channels first: uint8 and uint16 are divided by their maximum, floats are taken as they are.

    >>> planes(np.full((2, 3), 255, np.uint8)).shape
    (1, 2, 3)
    >>> planes(np.zeros((2, 3, 4), np.uint8))
    Traceback (most recent call last):
    hyperacuity.errors.InputError: image: has shape (2, 3, 4), expected height × width (grey) or height × width × 3 (colour)
    """
    array: NDArray[Any] = np.asarray(image)
    if array.ndim != 2 and not (array.ndim == 3 and array.shape[2] in (1, 3)):
        raise InputError(
            f"{name}: has shape {array.shape}, expected height × width (grey) or height × width × 3 (colour)"
        )
    if array.size == 0:
        raise InputError(f"{name}: has no pixels (shape {array.shape})")
    channels_first = array[np.newaxis] if array.ndim == 2 else np.moveaxis(array, 2, 0)
    if array.dtype in (np.uint8, np.uint16):
        return np.ascontiguousarray(channels_first, dtype=np.float32) / np.float32(np.iinfo(array.dtype).max)
    if array.dtype.kind not in "bf":
        raise InputError(f"{name}: holds {array.dtype} values, expected uint8, uint16 or floating point in [0, 1]")
    if not np.isfinite(array).all():
        raise InputError(f"{name}: holds NaN or infinite values, expected finite ones")
    return np.ascontiguousarray(channels_first, dtype=np.float32)


def finish(strength: Float32Array, direction: Float32Array, thin_norm: ThinNorm) -> Detection:
    """Suppress, scale and gather. Directions are folded into (−π/2, π/2]."""
    if thin_norm not in ("max", "none"):
        raise UsageError(f"thin_norm is {thin_norm!r}, expected 'max' or 'none'")
    direction = np.where(strength > 0, _fold(direction), np.float32(0))
    thin = suppress(strength, direction)
    return Detection(strength, direction, divide_by_max(thin) if thin_norm == "max" else thin)


def angle_of(y: Float32Array, x: Float32Array) -> Float32Array:
    """The angles of vectors, rounded from double precision: in single precision they depend on the processor.

    >>> angle_of(np.float32([1, 0]), np.float32([1, -1])).round(3)
    array([0.785, 3.142], dtype=float32)
    """
    return np.arctan2(y, x, dtype=np.float64).astype(np.float32)


def divide_by_max(values: Float32Array) -> Float32Array:
    """Values over their largest; all zeros stay as they are."""
    largest = values.max()
    return values / largest if largest > 0 else values


def positive(value: float, name: str) -> float:
    """``value``, validated: a positive number."""
    if not (np.isfinite(value) and value > 0):
        raise UsageError(f"{name} is {value}, expected a positive number")
    return float(value)


def _fold(angle: Float32Array) -> Float32Array:
    half = np.float32(np.pi / 2)
    folded = np.where(angle > half, angle - np.float32(np.pi), angle)
    return np.where(folded <= -half, folded + np.float32(np.pi), folded)
