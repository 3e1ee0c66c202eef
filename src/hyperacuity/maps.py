"""Canonical data: the arrays every room takes, decided once at the door.

============  =====================  ========  ==================================================
name          in memory              unknown   convention
============  =====================  ========  ==================================================
SoftMap       float32 H×W in [0, 1]  –         larger = stronger
EdgeMap       bool H×W               –         one pixel wide
LabelMap      int32 H×W              −1        labels need not be consecutive
OrderMap      float32 H×W            NaN       larger = nearer
DisparityMap  float32 H×W            NaN       pixels
============  =====================  ========  ==================================================

The functions below turn what a user has into one of these, or raise :class:`~hyperacuity.errors.InputError` with a sentence
that says what is wrong. They never scale, invert or guess: that is a reader's business (:mod:`hyperacuity.data`).
``name`` is what the message calls the array, usually a file name. An array that already is what it should be comes back
as it is, not as a copy: rooms read maps and never write to them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError

SoftMap = NDArray[np.float32]
EdgeMap = NDArray[np.bool_]
LabelMap = NDArray[np.int32]
OrderMap = NDArray[np.float32]
DisparityMap = NDArray[np.float32]

VOID = -1
"""The label of a pixel that belongs to no region."""


def soft_map(values: ArrayLike, *, name: str = "soft map") -> SoftMap:
    """Edge strength per pixel, float32 in [0, 1]. Booleans count as 0 and 1; NaN and values outside [0, 1] are refused.

    >>> soft_map([[0, 0.5], [1, 0.25]]).dtype
    dtype('float32')
    >>> soft_map([[0, 255]])
    Traceback (most recent call last):
    hyperacuity.errors.InputError: soft map: values run from 0 to 255, expected [0, 1]: divide by 255
    """
    array = _plane(values, name)
    _refuse_nan(array, name, "set them to 0 where nothing was detected")
    low, high = float(array.min()), float(array.max())
    if low < 0 or high > 1:
        raise InputError(f"{name}: values run from {low:g} to {high:g}, expected [0, 1]: {_scaling(low, high)}")
    return np.ascontiguousarray(array, dtype=np.float32)


def edge_map(values: ArrayLike, *, name: str = "edge map") -> EdgeMap:
    """Edge or not, bool. Anything above zero is an edge; NaN and negative values are refused.

    >>> edge_map([[0, 255], [0, 1]])
    array([[False,  True],
           [False,  True]])
    """
    array = _plane(values, name)
    if array.dtype == np.bool_:
        return np.array(array, order="C")
    _refuse_nan(array, name, "set them to 0 where there is no edge")
    if array.min() < 0:
        raise InputError(f"{name}: holds negative values (down to {array.min():g}), expected 0 (no edge) or more")
    return np.ascontiguousarray(array > 0)


def label_map(values: ArrayLike, *, name: str = "segmentation") -> LabelMap:
    """Region labels, int32; −1 (:data:`VOID`) marks a pixel of no region. Fractions, and labels below −1, are refused.

    >>> label_map([[0, 0], [7, -1]])
    array([[ 0,  0],
           [ 7, -1]], dtype=int32)
    """
    array = _plane(values, name)
    _refuse_nan(array, name, "set them to −1 where there is no region")
    if np.isinf(array).any():
        raise InputError(f"{name}: holds infinite values, expected whole numbers as region labels")
    if array.dtype.kind == "f" and not np.array_equal(array, np.rint(array)):
        raise InputError(f"{name}: holds fractions, expected whole numbers as region labels")
    low, high = int(array.min()), int(array.max())
    if low < VOID or high > np.iinfo(np.int32).max:
        raise InputError(f"{name}: labels run from {low} to {high}, expected −1 (void) to {np.iinfo(np.int32).max}")
    return np.ascontiguousarray(array, dtype=np.int32)


def order_map(values: ArrayLike, *, name: str = "order map") -> OrderMap:
    """Depth order, float32, larger = nearer; NaN marks the unknown. Infinity, and a map that is NaN throughout, are refused.

    >>> order_map([[2, 1], [float("nan"), 1]])
    array([[ 2.,  1.],
           [nan,  1.]], dtype=float32)
    """
    array = _single_precision(_plane(values, name))
    if np.isinf(array).any():
        raise InputError(f"{name}: holds infinite values, expected finite ones or NaN for unknown")
    return _known_somewhere(array, name)


def disparity_map(values: ArrayLike, *, name: str = "disparity map") -> DisparityMap:
    """Disparity in pixels, float32; NaN or infinity in the input marks the unknown and is NaN in the result.

    A map without one known value is refused.

    >>> disparity_map([[12.5, float("inf")]])
    array([[12.5,  nan]], dtype=float32)
    """
    array = _single_precision(_plane(values, name))
    return _known_somewhere(np.where(np.isfinite(array), array, np.float32(np.nan)), name)


def same_size(first: NDArray[Any], second: NDArray[Any], *, names: tuple[str, str] = ("prediction", "truth")) -> None:
    """Raise ``InputError`` for two maps of different size, naming both (width×height, as image viewers show them).

    >>> same_size(np.zeros((321, 481)), np.zeros((481, 321)))
    Traceback (most recent call last):
    hyperacuity.errors.InputError: prediction is 481×321 but truth is 321×481: turn one of them, width and height are exchanged
    """
    if first.shape[:2] != second.shape[:2]:
        turned = first.shape[:2] == second.shape[1::-1]
        cure = (
            "turn one of them, width and height are exchanged"
            if turned
            else "they must have the same size, so crop or resize"
        )
        raise InputError(f"{names[0]} is {size_of(first)} but {names[1]} is {size_of(second)}: {cure}")


def size_of(array: NDArray[Any]) -> str:
    """Width×height of an image, for messages.

    >>> size_of(np.zeros((321, 481)))
    '481×321'
    """
    return f"{array.shape[1]}×{array.shape[0]}"


def boundary_marks(labels: LabelMap) -> EdgeMap:
    """Mark where regions meet: a pixel is marked when the 2×2 square it is the upper left corner of touches more than one region.

    This is Berkeley's ``seg2bdry`` at image size. The marks may be two pixels wide at corners; thinned, they are BSDS's
    ``Boundaries`` of its ``Segmentation``. A single region has none.

    >>> boundary_marks(np.array([[0, 0, 1], [0, 0, 1]], dtype=np.int32)).astype(int)
    array([[0, 1, 0],
           [0, 1, 0]])
    """
    below = np.vstack([labels[1:], labels[-1:]])
    right = np.hstack([labels[:, 1:], labels[:, -1:]])
    across = np.hstack([below[:, 1:], below[:, -1:]])
    marks: EdgeMap = (labels != below) | (labels != right) | (below != across) | (right != across)
    return marks


def diagonal(shape: tuple[int, ...]) -> float:
    """Length of the image diagonal in pixels, √(H² + W²): tolerances are fractions of it.

    >>> diagonal((3, 4))
    5.0
    """
    return math.hypot(shape[0], shape[1])


def _plane(values: ArrayLike, name: str) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{name}: rows have different lengths, expected a rectangle of numbers") from error
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name}: holds {array.dtype} values, expected numbers")
    if array.ndim != 2:
        raise InputError(f"{name}: has shape {array.shape}, expected two dimensions (height, width)")
    if array.size == 0:
        raise InputError(f"{name}: has no pixels (shape {array.shape})")
    return array


def _refuse_nan(array: NDArray[Any], name: str, cure: str) -> None:
    if array.dtype.kind == "f" and np.isnan(array).any():
        count = int(np.isnan(array).sum())
        raise InputError(f"{name}: {count} of {array.size} values are NaN, expected numbers throughout: {cure}")


def _scaling(low: float, high: float) -> str:
    """Advice that brings values to [0, 1], as far as their range shows."""
    if low < 0:
        return "apply a sigmoid first if these are logits, else scale them"
    if high <= 2:
        return "scale or clip them"
    return "divide by 255" if high <= 255 else "divide by 65535" if high <= 65535 else "scale them"


def _single_precision(array: NDArray[Any]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, which the caller treats as such
        return np.ascontiguousarray(array, dtype=np.float32)


def _known_somewhere(array: NDArray[np.float32], name: str) -> NDArray[np.float32]:
    if np.isnan(array).all():
        raise InputError(f"{name}: no pixel has a known value")
    return array
