"""A cache of prepared images: each is prepared once, however many people ask at the same time."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """Values by key, computed on first use. The least recently used go when all together are larger than ``room``.

    ``size`` measures a value, in bytes say. ``functools.lru_cache`` counts values instead of measuring them, and computes a value
    once for each of those who ask before it is there. With ``workers``, values that are fetched are computed by that many
    threads of the cache: however many people wait for slow ones, the threads that all others use stay free.

    Examples
    --------
    >>> cache = Cache(len, room=10)
    >>> cache.get("a", lambda: "once"), cache.get("a", lambda: "again")
    ('once', 'once')
    >>> cache.get("b", lambda: "needs room"), cache.get("a", lambda: "again")
    ('needs room', 'again')
    """

    def __init__(
        self, size: Callable[[T], int], *, room: int, values: Mapping[str, T] | None = None, workers: int = 0
    ) -> None:
        self._size = size
        self._room = room
        self._values: OrderedDict[Hashable, T] = OrderedDict(values or {})
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()
        self._workers = ThreadPoolExecutor(workers, thread_name_prefix="cache") if workers else None

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key, computed if it is missing. What ``make`` raises is raised, and not cached."""
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            value = self._find(key)
            if value is None:
                value = make()
                with self._lock:
                    self._values[key] = value
                    while len(self._values) > 1 and sum(map(self._size, self._values.values())) > self._room:
                        self._values.popitem(last=False)
                    self._making.pop(key, None)
            return value

    async def fetch(self, key: Hashable, make: Callable[[], T]) -> T:
        """As :meth:`get`, without holding up the server's loop."""
        value = self._find(key)
        if value is not None:
            return value
        return await asyncio.get_running_loop().run_in_executor(self._workers, self.get, key, make)

    def _find(self, key: Hashable) -> T | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)
