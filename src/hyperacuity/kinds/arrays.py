"""Arrays of any maker, one image or a batch, as the plain numpy arrays that a task takes.

A map may be a numpy array, a tensor of PyTorch, JAX or TensorFlow on any device, anything with ``__array__`` or
``__dlpack__``, or nested lists. What can only mean one thing is accepted; the rest is refused in a sentence.

=====================  ==============================  =============================================================
                       one image                       a batch of N
=====================  ==============================  =============================================================
prediction             H×W, 1×H×W, H×W×1               N×H×W, N×1×H×W, N×H×W×1, a list of N maps
segmentations          H×W, L×H×W, a list of L maps    N×L×H×W, a list of N stacks
maps of C classes      C×H×W, a list of C maps         N×C×H×W, a list of N stacks
truths                 H×W; of K annotators K×H×W,     N×H×W, N×K×H×W, a list of N, in which every image may have
                       K×1×H×W, a list of K maps       another number of annotators
truths, as pictures    left and right: 2×H×W, 2×H×W×3  N×2×…, a list of N pairs
=====================  ==============================  =============================================================

A value of a task's own, such as a hierarchy's levels or labelled contours, stands for a map and is passed on as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.errors import InputError

Array = NDArray[Any]

CHANNELS = (1, 3, 4)


def as_array(value: Any, name: str = "array") -> Array:
    """A numpy array of anything that has numbers. Tensors are detached and copied to the processor's memory.

    >>> as_array([[1, 2]]).shape
    (1, 2)
    """
    if hasattr(value, "detach"):  # PyTorch: neither gradients nor other devices have a numpy view, nor has bfloat16
        value = value.detach().cpu()
        value = value.float() if value.is_floating_point() and value.element_size() < 4 else value
    try:
        exchanged = hasattr(value, "__dlpack__") and not hasattr(value, "__array__")
        array = np.from_dlpack(value) if exchanged else np.asarray(value)
    except (ValueError, TypeError, BufferError, RuntimeError) as error:
        raise InputError(f"{name}: cannot be read as one array ({error}), expected numbers of one size") from error
    if array.dtype.kind not in "biuf":
        if "float" in array.dtype.name:  # the small floats of JAX, which numpy does not know
            return array.astype(np.float32)
        raise InputError(f"{name}: holds {array.dtype} values, expected numbers")
    return array


def opened(value: Any, name: str, dimensions: int = 2) -> Any:
    """Arrays of any maker as numpy's, also those in lists; values of a task's own as they are.

    >>> opened([[0, 1], [1, 0]], "truth").shape
    (2, 2)
    """
    if value is None or _is_own(value):
        return value
    if isinstance(value, list | tuple):
        first = value
        while isinstance(first, list | tuple) and first:
            first = first[0]
        if not np.isscalar(first):  # arrays
            return [opened(one, name, dimensions) for one in value]
        try:
            return as_array(value, name)
        except InputError:
            if rank(value) <= dimensions:
                raise
            return [opened(one, name, dimensions) for one in value]  # each image has its own number of annotators
    return as_array(value, name)


def plane(value: Any, name: str) -> Any:
    """One map H×W, from H×W or 1×H×W or 1×1×H×W.

    >>> plane(np.zeros((1, 1, 4, 5)), "truth").shape
    (4, 5)
    """
    if _is_own(value):
        return value
    array = _without_channel(as_array(value, name))
    while array.ndim > 2 and array.shape[0] == 1:
        array = array[0]
    if array.ndim == 3 and (array.shape[0] in CHANNELS or array.shape[2] in CHANNELS):
        raise InputError(f"{name}: has shape {_shape(array)}, expected one channel H×W: choose one, or their mean")
    if array.ndim != 2:
        raise InputError(f"{name}: has shape {_shape(array)}, expected one map H×W")
    return array


def rank(value: Any) -> int:
    """The dimensions of an array, of nested lists, or of lists of arrays. A value of a task's own counts as a map.

    >>> rank([[0, 1]]), rank([np.zeros((4, 5))] * 3)
    (2, 3)
    """
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape)
    if isinstance(value, list | tuple):
        return 1 + (rank(value[0]) if value else 0)
    return 2 if _is_own(value) else np.ndim(value)


def maps(prediction: Any) -> list[Any]:
    """The maps of a prediction, each H×W."""
    if isinstance(prediction, list | tuple) and rank(prediction) > 2:
        if len(prediction) == 1:
            return maps(prediction[0])
        return [plane(one, f"prediction {number}") for number, one in enumerate(prediction, 1)]
    if _is_own(prediction):
        return [prediction]
    array = _without_channel(as_array(prediction, "prediction"))
    if array.ndim == 4 and array.shape[1] != 1:
        raise InputError(
            f"prediction: has shape {_shape(array)}, expected one channel N×1×H×W: choose one, or their mean"
        )
    if array.ndim not in (2, 3, 4):
        raise InputError(f"prediction: has shape {_shape(array)}, expected H×W, or a batch N×1×H×W or N×H×W")
    if array.ndim > 2 and not len(array):
        raise InputError(f"prediction: has shape {_shape(array)}, a batch without an image")
    return [array] if array.ndim == 2 else list(array[:, 0] if array.ndim == 4 else array)


def several(value: Any, dimensions: int, name: str = "prediction") -> list[Any]:
    """The values of a batch, each with so many dimensions, or the only one.

    >>> len(several([[1, 2, 3, 4]], 1)), len(several([1, 2, 3, 4], 1))
    (1, 1)
    """
    if _is_own(value) or rank(value) == dimensions:
        return [value]
    if rank(value) != dimensions + 1 or not len(value):
        raise InputError(f"{name}: has {rank(value)} dimensions, expected {dimensions}, or a batch with one more")
    return list(value)


def stacks(prediction: Any) -> list[Any]:
    """The stacks of a prediction, each a list of segmentations or a value of the task's own; a fourth dimension is a batch."""
    own = isinstance(prediction, list | tuple) and bool(prediction) and all(map(_is_own, prediction))
    batch = list(prediction) if own or rank(prediction) == 4 else [prediction]
    return [one if _is_own(one) else _stack(one) for one in batch]


def _stack(value: Any) -> list[Any]:
    if isinstance(value, list | tuple) and rank(value) == 3:
        return [plane(one, f"prediction, level {number}") for number, one in enumerate(value, 1)]
    array = as_array(value, "prediction")
    if array.ndim not in (2, 3):
        raise InputError(f"prediction: has shape {_shape(array)}, expected segmentations H×W or L×H×W")
    return list(array if array.ndim == 3 else array[None])


def holds_several_images(truths: Any) -> bool:
    """Tell truths of several images, N×K×H×W, from those of one, K×1×H×W."""
    return rank(truths) == 4 and len(truths) > 1 and any(len(one) > 1 for one in truths)


def split(value: Any, count: int, name: str, needed: int = 3) -> list[Any]:
    """The part of each image of a batch."""
    found = rank(value)
    if 1 < found < needed:
        what = "a single one" if _is_own(value) else f"one of shape {_shape(value)}"
        raise InputError(f"{name}: there are {count} predictions but {what}, expected one for each")
    if len(value) != count:
        raise InputError(
            f"{name}: there are {count} predictions but {name} of {len(value)} images, expected one map, or one list of "
            "annotators' maps, for each"
        )
    return list(value)


def annotators(truths: Any, name: str) -> list[Any]:
    """The truths of one image: a bare map is one annotator's, a list or K×H×W has several."""
    if _is_own(truths):
        return [truths]
    if isinstance(truths, list | tuple) and rank(truths) != 2:
        if len(truths) == 1 and rank(truths[0]) > 2:
            return annotators(truths[0], name)
        several = [plane(one, f"{name}, annotator {number}") for number, one in enumerate(truths, 1)]
    else:
        array = _without_channel(as_array(truths, name))
        while array.ndim > 3 and array.shape[0] == 1:
            array = array[0]
        if array.ndim == 4 and array.shape[1] == 1:
            array = array[:, 0]
        if array.ndim not in (2, 3):
            raise InputError(f"{name}: has shape {_shape(array)}, expected H×W, or K×H×W of K annotators")
        several = list(array if array.ndim == 3 else array[None])
    sizes = dict.fromkeys(one.shape for one in several if not _is_own(one))
    if len(sizes) > 1:
        raise InputError(
            f"{name}: annotators' maps are {' and '.join('×'.join(map(str, size)) for size in sizes)} (height×width), "
            "expected one size: bring all to the size of the image"
        )
    return several


def pictures(truths: Any, name: str) -> list[Any]:
    """The left and the right picture, each H×W or H×W×C."""
    while rank(truths) > 3 and len(truths) == 1:
        truths = truths[0]
    if rank(truths) not in (3, 4) or len(truths) != 2:
        shape = f"has {len(truths)} parts" if rank(truths) else "is no pair"
        raise InputError(f"{name}: {shape}, expected two pictures: the left one and the right one")
    return [_picture(one, f"{side} picture") for side, one in zip(("left", "right"), truths, strict=True)]


def _picture(value: Any, name: str) -> Array:
    array = as_array(value, name)
    if array.ndim == 3 and array.shape[0] in CHANNELS and array.shape[2] not in CHANNELS:
        array = np.moveaxis(array, 0, -1)  # tensors have the channels first
    if array.dtype.kind == "f" and array.size and 0 < array.max() <= 1:
        raise InputError(f"{name}: values reach {array.max():g}, expected grey levels up to 255: multiply by 255")
    return array


def extra_of(value: Any, name: str, n: int, count: int) -> Any:
    """The value of an extra argument that image n of a batch has, as arrays."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        each = {key: opened(one, f"{name} {key}") for key, one in value.items()}
        if count > 1:
            each = {key: split(one, count, f"{name} {key}")[n] for key, one in each.items()}
        return {key: plane(one, f"{name} {key}") for key, one in each.items()}
    if not isinstance(value, list | tuple):
        value = opened(value, name)
    if count > 1 or (isinstance(value, list | tuple) and len(value) == 1 and isinstance(value[0], Mapping)):
        part = value if any(isinstance(one, Mapping) for one in value) else split(value, count, name)
        if len(part) != count:
            raise InputError(f"{name}: there are {count} predictions but {len(part)} of these, expected one for each")
        return extra_of(part[n], name, 0, 1)
    return annotators(value, name)


def _is_own(value: Any) -> bool:
    """Tell a value of a task's own from numbers."""
    numeric = ("shape", "__array__", "__dlpack__", "__array_interface__")
    return not (
        value is None
        or isinstance(value, list | tuple | bool | int | float | str)
        or any(hasattr(value, name) for name in numeric)
    )


def _without_channel(array: Array) -> Array:
    """Maps without the one channel that Keras and TensorFlow have last."""
    return array[..., 0] if array.ndim > 2 and array.shape[-1] == 1 and array.shape[-3] != 1 else array


def _shape(array: Array) -> str:
    return "×".join(map(str, array.shape))
