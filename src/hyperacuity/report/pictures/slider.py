"""Overlays that follow a threshold, within the size that a report may have.

Every threshold of the run has its overlay, as long as there is room. Where there is not, thresholds at which the system is far
from its best become fewer; then the weakest ones go, at which noise fills the picture and which take most of the room. The
system's best threshold always stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.boundary.scores import f_measure, recall_precision
from hyperacuity.report.pictures import layers

WHOLE = 76_000_000
"""Characters that all images of a report may take together; with what surrounds them, it stays under 80 MB."""

MOST = 1_500_000
LEAST = 8_000
"""Characters that the overlay of one system on one image takes at most, and may always take: thousands of images need more."""


class Budget:
    """Characters that the overlays of one image may still take; what one system leaves, the next ones may use.

    >>> budget = Budget(images=100, systems=2, taken=60_000)
    >>> budget.share(), budget.take(200_000), budget.share()
    (350000, None, 500000)
    """

    def __init__(self, *, images: int, systems: int, taken: int = 0) -> None:
        self.left, self.systems = WHOLE // max(images, 1) - taken, systems

    def share(self, besides: int = 0) -> int:
        """Characters that the next system's overlay may take if its other pictures take ``besides``."""
        return min(max(self.left // max(self.systems, 1) - besides, LEAST), MOST)

    def take(self, size: int) -> None:
        """Note what a system took."""
        self.left, self.systems = self.left - size, self.systems - 1


def text_size(made: Any) -> int:
    """Approximate length of layers: the characters of their text."""
    if isinstance(made, dict):
        return sum(text_size(part) for part in made.values())
    return len(made) if isinstance(made, str) else 0


def numbers_of(counts: Any, **more: NDArray[np.float64]) -> dict[str, list[float]]:
    """Precision, recall and F of one image at each threshold, and ``more``, rounded as a viewer shows them."""
    recall, precision = recall_precision(counts)
    numbers = {"precision": precision, "recall": recall, "F": f_measure(recall, precision), **more}
    return {name: np.round(values, 3).tolist() for name, values in numbers.items()}


def with_slider(
    others: dict[str, Any],
    pictures: NDArray[np.uint8],
    thresholds: NDArray[np.float64],
    numbers: Mapping[str, Sequence[float]],
    *,
    curve: NDArray[np.float64],
    best: int,
    budget: Budget,
    digits: int = 3,
    best_for: str = "the data set",
    partners: NDArray[np.uint8] | None = None,
) -> dict[str, Any]:
    """A system's layers with a picture per threshold, and numbers per threshold, of as many thresholds as there is room for.

    ``curve`` has the system's score at each threshold, higher is better. ``best`` is where the slider starts, and ``best_for``
    what this threshold is the best for. With ``partners``, a picture per threshold too, the layer says with whom each hit is
    matched where readers look first: there, and where the image's F is best.
    """
    closeness = curve / (curve.max() or 1)
    match, kept = fitted(pictures, closeness=closeness, best=best, room=budget.share(text_size(others)))
    if partners is not None:
        looked_at = (best, max(kept, key=lambda n: numbers["F"][n]))
        match["partners"] = {kept.index(n): layers.partners(pictures[n], partners[n]) for n in looked_at}
    return others | {
        "match": match,
        "steps": [round(float(thresholds[n]), digits) for n in kept],
        "of": len(thresholds),
        "start": kept.index(best),
        "best": f"best for {best_for}",
        "numbers": {name: [values[n] for n in kept] for name, values in numbers.items()},
    }


def fitted(
    pictures: NDArray[np.uint8], *, closeness: NDArray[np.float64], best: int, room: int
) -> tuple[dict[str, Any], list[int]]:
    """The pictures as a layer that fits into ``room`` characters if any choice of them does, and which of them were kept.

    Thresholds rise. ``closeness`` says how near the system's score at each is to its best, from 0 to 1; ``best`` is the index
    of the best.
    """
    layer, kept = {}, [best]
    for kept in choices(closeness, best):
        layer = layers.states(pictures[kept])
        if text_size(layer) <= room:
            break
    return layer, kept


NEAR = 0.75
"""Thresholds this close to the best are kept one by one, or not at all."""

CUTS = (0, 0, 0, 0.5, 0.75, 0.85, 0.92, 0.97, 1, 1)
STRIDES = (1, 2, 4, 4, 4, 4, 4, 4, 4, 16)
"""Attempts in turn: how close weak thresholds must be to stay, and how many of those that are not near are passed over."""


def choices(closeness: NDArray[np.float64], best: int) -> Iterator[list[int]]:
    """Indices of thresholds to keep, ever fewer, the best always among them and in the end alone.

    >>> closeness = np.array([0.2, 0.4, 0.6, 0.8, 1, 0.9, 0.7, 0.5, 0.3])
    >>> list(choices(closeness, 4))[:5]
    [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 2, 3, 4, 5, 6, 8], [0, 3, 4, 5, 8], [3, 4, 5, 8], [4, 5, 8]]
    """
    away = np.arange(closeness.size) - best
    seen: list[int] = []
    for cut, stride in zip(CUTS, STRIDES, strict=True):
        kept = (closeness >= NEAR) | (away % stride == 0)
        kept &= (away >= 0) | (closeness >= cut)
        kept[best] = True
        found = np.flatnonzero(kept).tolist()
        if found != seen and len(found) <= layers.MOST_THRESHOLDS:
            seen = found
            yield found
    if seen != [best]:
        yield [best]
