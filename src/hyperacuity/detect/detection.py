"""Detections: photographs in as planes of numbers, strength, direction and thin map out; and the memory that this takes."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity import machine
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels.suppression import suppress
from hyperacuity.maps import SoftMap

Float32Array = NDArray[np.float32]
ThinNorm = Literal["max", "none"]
"""Scale of the thin map: divided by its largest value (so that it is a soft map), or left in units of strength."""


System = TypeVar("System", bound=Callable[..., Any])
_has_memory: ContextVar[bool] = ContextVar("hyperacuity-memory", default=False)


@dataclass(frozen=True, eq=False)
class Detection:
    """A detector's maps of one image.

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


REGIONS_PER_PIXEL = 400
"""Bytes that the hierarchy of regions of a photograph takes for each pixel; it takes up to 600 where all is noise."""


@contextmanager
def memory_for(what: str, shape: tuple[int, ...], size: float) -> Iterator[None]:
    """Reserve ``size`` bytes for the work on a picture of ``shape``; waits while other threads have them.

    ``InputError`` for more than the program may use. Nothing further is reserved within the block: it has asked for all.
    """
    if _has_memory.get():
        yield
        return
    limit = machine.budget.limit
    if size > limit:
        raise InputError(
            f"{what} of {shape[1]}×{shape[0]} pixels takes {size / 2**30:.1f} GiB of memory, more than the "
            f"{limit / 2**30:.1f} that are allowed: resize it, or set {machine.MEMORY_VARIABLE}={math.ceil(size / 2**30)}"
        )
    with machine.budget.lent(int(size), what):
        token = _has_memory.set(True)
        try:
            yield
        finally:
            _has_memory.reset(token)


def takes_memory(per_pixel: int, *, reach: float = 0.0) -> Callable[[System], System]:
    """Decorate a system that takes so many bytes for each pixel of the image, its first argument.

    With ``reach`` there are discs of that radius, in shares of the diagonal. The image is mirrored outwards as far, and labels
    are counted in each row of a disc, so a very long and thin image takes much more than its pixels do.
    """

    def decorate(system: System) -> System:
        @functools.wraps(system)
        def run(image: ArrayLike, *arguments: Any, **options: Any) -> Any:
            pixels = np.asarray(image)
            height, width = (*pixels.shape, 1, 1)[:2]
            beyond = 2 * math.ceil(reach * math.hypot(height, width))
            size = per_pixel * height * width + _MIRRORED * beyond * (height + width + beyond)
            size += _COUNTED * beyond * (width + beyond)
            name = system.__name__.replace("_", "-")
            with memory_for(f"{name} on an image", (height, width), size):
                return system(pixels, *arguments, **options)

        return cast(System, run)

    return decorate


_MIRRORED, _COUNTED = 40, 128
"""Bytes for each pixel outside the image, and for each that the row of a disc passes: 64 textons, two bytes each."""


def finish(strength: Float32Array, direction: Float32Array, thin_norm: ThinNorm) -> Detection:
    """Suppress, scale and gather. Directions are folded into (−π/2, π/2]."""
    if thin_norm not in ("max", "none"):
        raise UsageError(f"thin_norm is {thin_norm!r}, expected 'max' or 'none'")
    half = np.float32(np.pi / 2)
    folded = np.where(direction > half, direction - np.float32(np.pi), direction)
    folded = np.where(folded <= -half, folded + np.float32(np.pi), folded)
    direction = np.where(strength > 0, folded, np.float32(0))
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
