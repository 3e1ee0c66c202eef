"""Results for the last few images, for systems that ask for the same thing in turn."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Value = TypeVar("Value")


class ImageCache(Generic[Value]):
    """Values for the last few images, by the pixels and whatever else they depend on.

    As ``functools.lru_cache``, but values from elsewhere can be stored.

    >>> last = ImageCache(2)
    >>> last(np.zeros(3), "mean", make=lambda: 0.0), last(np.zeros(3), "mean", make=lambda: 1.0)
    (0.0, 0.0)
    >>> last.store(np.ones(3), "mean", value=1.0)
    >>> last(np.ones(3), "mean", make=lambda: 7.0)
    1.0
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, image: NDArray[Any], *more: Hashable, make: Callable[[], Value]) -> Value:
        """The value for this image, by ``make`` if there is none yet."""
        key = _key(image, more)
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        self._store(key, value)
        return value

    def store(self, image: NDArray[Any], *more: Hashable, value: Value) -> None:
        """Store the value for this image."""
        self._store(_key(image, more), value)

    def _store(self, key: Hashable, value: Value) -> None:
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)


def _key(image: NDArray[Any], more: tuple[Hashable, ...]) -> Hashable:
    pixels: NDArray[Any] = np.ascontiguousarray(image)
    return pixels.tobytes(), pixels.shape, pixels.dtype.str, more
