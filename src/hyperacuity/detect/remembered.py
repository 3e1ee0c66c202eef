"""What was found in the last few images, for systems that ask for the same thing in turn."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Made = TypeVar("Made")


class Remembered(Generic[Made]):
    """The results for the last few images, by the pixels and whatever else they depend on.

    As ``functools.lru_cache``, but what is known from elsewhere can be told.

    >>> last = Remembered(2)
    >>> last(np.zeros(3), "mean", make=lambda: 0.0), last(np.zeros(3), "mean", make=lambda: 1.0)
    (0.0, 0.0)
    >>> last.tell(np.ones(3), "mean", made=1.0)
    >>> last(np.ones(3), "mean", make=lambda: 7.0)
    1.0
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, Made] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, image: NDArray[Any], *more: Hashable, make: Callable[[], Made]) -> Made:
        """What is known for this image, or else what ``make`` gives."""
        key = _key(image, more)
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        made = make()
        self._tell(key, made)
        return made

    def tell(self, image: NDArray[Any], *more: Hashable, made: Made) -> None:
        """What would be made for this image is this."""
        self._tell(_key(image, more), made)

    def _tell(self, key: Hashable, made: Made) -> None:
        with self._lock:
            self._known[key] = made
            self._known.move_to_end(key)
            while len(self._known) > self._most:
                self._known.popitem(last=False)


def _key(image: NDArray[Any], more: tuple[Hashable, ...]) -> Hashable:
    pixels: NDArray[Any] = np.ascontiguousarray(image)
    return pixels.tobytes(), pixels.shape, pixels.dtype.str, more
