"""Overlays that follow a threshold, within the size that a report may have.

Every threshold of the run has its overlay, as long as there is room. Where there is not, thresholds go that matter least: first
those at which the system is far from its best become fewer, then they go, then the others become fewer. The system's best
threshold always stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.report import layers

WHOLE = 76_000_000
"""Letters that all images of a benchmark may take together; with what surrounds them, a report stays under 80 MB."""

MOST = 1_500_000
LEAST = 16_000
"""Letters that the overlay of one system on one image takes at most, and may always take: thousands of images need more."""


class Room:
    """How many letters the overlays of one image may still take; what one system leaves, the next ones may use.

    >>> room = Room(images=100, systems=2, taken=60_000)
    >>> room.share(), room.take(200_000), room.share()
    (350000, None, 500000)
    """

    def __init__(self, *, images: int, systems: int, taken: int = 0) -> None:
        self.left, self.systems = WHOLE // max(images, 1) - taken, systems

    def share(self, besides: int = 0) -> int:
        """What the next system's overlay may take if its other pictures take ``besides``."""
        return min(max(self.left // max(self.systems, 1) - besides, LEAST), MOST)

    def take(self, letters: int) -> None:
        """Note what a system took."""
        self.left, self.systems = self.left - letters, self.systems - 1


def letters(made: Any) -> int:
    """How long layers are, about: the length of their text."""
    if isinstance(made, dict):
        return sum(letters(part) for part in made.values())
    return len(made) if isinstance(made, str) else 0


def fitted(
    pictures: NDArray[np.uint8], *, worth: NDArray[np.bool_], best: int, room: int
) -> tuple[dict[str, Any], list[int]]:
    """The pictures as a layer that fits into ``room`` letters if any choice of them does, and which of them were kept.

    ``worth`` marks the thresholds at which the system is near its best, ``best`` is the place of that one.
    """
    layer, kept = {}, [best]
    for kept in choices(worth, best):
        layer = layers.states(pictures[kept])
        if letters(layer) <= room:
            break
    return layer, kept


def choices(worth: NDArray[np.bool_], best: int) -> Iterator[list[int]]:
    """Places of thresholds to keep, ever fewer, the best always among them.

    >>> worth = np.array([False] * 4 + [True] * 3 + [False] * 2)
    >>> list(choices(worth, 4))
    [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 2, 4, 5, 6, 8], [0, 4, 5, 6, 8], [4, 5, 6], [4, 6], [4]]
    """
    every = np.arange(worth.size)
    away = np.abs(every - best)
    few = worth.size > layers.MOST_THRESHOLDS
    seen: list[int] = []
    for inside, outside in ((1, 1), (1, 2), (1, 4), (1, 8), (1, 0), (2, 0), (4, 0), (8, 0), (1 << 30, 0)):
        kept = np.where(worth, away % inside == 0, away % outside == 0 if outside else False)
        kept[best] = True
        found = np.flatnonzero(kept).tolist()
        if found != seen and not (few and len(found) > layers.MOST_THRESHOLDS):
            seen = found
            yield found
