"""Arrays of any maker, in batches or one by one, as the plain numpy arrays that a task takes.

A prediction may be a numpy array, a tensor of PyTorch, JAX or TensorFlow on any device, or anything with ``__array__`` or
``__dlpack__``; H×W, 1×H×W, or a batch N×1×H×W or N×H×W. What can only mean one thing is taken; the rest is refused in a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.errors import InputError

Array = NDArray[Any]


def as_array(value: Any, name: str = "array") -> Array:
    """A numpy array of anything that has numbers. Tensors are detached and copied to the processor's memory.

    >>> as_array([[1, 2]]).shape
    (1, 2)
    """
    if hasattr(value, "detach"):  # PyTorch: neither gradients nor bfloat16 nor other devices have a numpy view
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value
    try:
        array = (
            np.asarray(value)
            if hasattr(value, "__array__") or not hasattr(value, "__dlpack__")
            else np.from_dlpack(value)
        )
    except (ValueError, TypeError, BufferError) as error:
        raise InputError(f"{name}: cannot be read as one array ({error}); expected numbers of one size") from error
    if array.dtype.kind not in "biuf":
        if str(array.dtype) == "bfloat16":
            return array.astype(np.float32)
        raise InputError(f"{name}: holds {array.dtype} values, expected numbers")
    return array


def plane(value: Any, name: str) -> Array:
    """One map H×W, from H×W or 1×H×W or 1×1×H×W.

    >>> plane(np.zeros((1, 1, 4, 5)), "truth").shape
    (4, 5)
    """
    array = as_array(value, name)
    while array.ndim > 2 and array.shape[0] == 1:
        array = array[0]
    if array.ndim != 2:
        raise InputError(f"{name}: has shape {_shape(array)}, expected one map H×W")
    return array


def samples(prediction: Any, truths: Any, *, stacks: bool) -> Iterator[tuple[Any, list[Any]]]:
    """The images of an update, each a prediction and the list of its truths.

    ``stacks``: a prediction is a stack of segmentations L×H×W, so that only four dimensions make a batch.
    """
    if prediction is None:  # annotators alone
        yield None, _people(truths, "truths")
        return
    if isinstance(prediction, list | tuple):
        if not stacks:
            yield from _matched(list(prediction), truths)
            return
    elif not hasattr(prediction, "shape"):
        yield prediction, _people(truths, "truths")  # a value of the task's own, such as a hierarchy's levels
        return
    array = as_array(prediction, "prediction")
    if stacks:
        if array.ndim == 4:
            yield from _matched(list(array), truths)
        else:
            yield list(array[None] if array.ndim == 2 else array), _people(truths, "truths")
        return
    if array.ndim == 4 and array.shape[1] != 1:
        raise InputError(
            f"prediction: has shape {_shape(array)}, expected N×1×H×W: one map per image, not {array.shape[1]} channels"
        )
    batch = array[:, 0] if array.ndim == 4 else array
    if batch.ndim == 3 and (len(batch) > 1 or array.ndim == 4):
        yield from _matched(list(batch), truths)
    else:
        yield plane(batch, "prediction"), _people(truths, "truths")


def _matched(predictions: list[Any], truths: Any) -> Iterator[tuple[Any, list[Any]]]:
    """A batch with its truths, one or several per image."""
    if not isinstance(truths, list | tuple):
        truths = list(as_array(truths, "truths"))
    if len(truths) != len(predictions):
        raise InputError(
            f"{len(predictions)} predictions, but truths of {len(truths)} images: expected one truth, or one list of "
            "annotators' truths, for each"
        )
    for number, (one, of) in enumerate(zip(predictions, truths, strict=True)):
        yield plane(one, f"prediction {number}") if np.ndim(one) != 3 else one, _people(of, f"truth {number}")


def _people(truths: Any, name: str) -> list[Any]:
    """The truths of one image: a bare map is one annotator's, a list or K×H×W has several."""
    if isinstance(truths, list | tuple) and truths and not np.isscalar(truths[0]) and _rank(truths[0]) > 1:
        several = [plane(one, f"{name}, annotator {n}") if _rank(one) else one for n, one in enumerate(truths, 1)]
    elif not hasattr(truths, "shape") and not isinstance(truths, list | tuple):
        return [truths]  # a value of the task's own, such as labelled contours
    else:
        array = as_array(truths, name)
        while array.ndim > 3 and array.shape[0] == 1:
            array = array[0]
        if array.ndim == 4 and array.shape[1] == 1:
            array = array[:, 0]
        if array.ndim not in (2, 3):
            raise InputError(f"{name}: has shape {_shape(array)}, expected H×W, or K×H×W for K annotators")
        several = list(array if array.ndim == 3 else array[None])
    sizes = {np.shape(one) for one in several if np.ndim(one) == 2}
    if len(sizes) > 1:
        raise InputError(f"{name}: have different sizes, {' and '.join(map(_shape_text, sorted(sizes)))}")
    return several


def _rank(value: Any) -> int:
    shape: Sequence[int] | None = getattr(value, "shape", None)
    return len(shape) if shape is not None else np.ndim(value) if isinstance(value, list | tuple) else 0


def _shape(array: Array) -> str:
    return _shape_text(array.shape)


def _shape_text(shape: Sequence[int]) -> str:
    return "×".join(map(str, shape))
