"""Pictures and their regions at hand: each made once, however many people ask at the same time, and the latest used are kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

ROOM = 1 << 30
"""Bytes that are kept at most, but for the one that is asked for."""


class Shelf:
    """Things by key, made on first use. What was not used for longest goes when there is no room.

    Examples
    --------
    >>> shelf = Shelf(room=10)
    >>> shelf.get("a", lambda: "once", len), shelf.get("a", lambda: "again", len)
    ('once', 'once')
    >>> shelf.get("b", lambda: "needs room", len), shelf.get("a", lambda: "again", len)
    ('needs room', 'again')
    """

    def __init__(self, *, room: int = ROOM) -> None:
        self._room = room
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._guard = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """What stands under a key, ``size`` bytes large, made if need be. What ``make`` raises is raised, and not kept."""
        with self._guard:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._guard:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    thing: T = self._kept[key][0]
                    return thing
            thing = make()
            with self._guard:
                self._kept[key] = (thing, size(thing))
                while len(self._kept) > 1 and sum(one for _, one in self._kept.values()) > self._room:
                    self._kept.popitem(last=False)
                self._making.pop(key, None)
            return thing
