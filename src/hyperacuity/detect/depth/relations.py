"""Relations "in front of", with a confidence each: a graph of regions, made free of circles, and its layers.

References
----------
Palou & Salembier (2013), Monocular depth ordering using T-junctions and convexity occlusion cues: a graph of depth relations
whose circles are cut at the least confident one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hyperacuity.errors import InputError
from hyperacuity.ordering.layers import layers

Regions = NDArray[np.int64]
Confidences = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Relations:
    """Region ``front[k]`` is in front of region ``behind[k]`` with confidence ``confidence[k]``, above 0 and at most 1."""

    front: Regions
    behind: Regions
    confidence: Confidences

    def __post_init__(self) -> None:
        """Validate the arrays."""
        if not self.front.shape == self.behind.shape == self.confidence.shape or (self.front == self.behind).any():
            raise InputError("relations: expected as many regions in front as behind, and two different ones in each")
        if not ((self.confidence > 0) & (self.confidence <= 1)).all():
            raise InputError("relations: expected confidences above 0 and at most 1")

    @property
    def count(self) -> int:
        """Their number."""
        return self.front.size

    def choose(self, chosen: NDArray[np.bool_]) -> Relations:
        """Some of them."""
        return Relations(self.front[chosen], self.behind[chosen], self.confidence[chosen])


def relations(front: object, behind: object, confidence: object) -> Relations:
    """Relations from sequences.

    >>> relations([0, 1], [1, 2], [0.5, 0.9]).count
    2
    """
    return Relations(
        np.asarray(front, np.int64).ravel(),
        np.asarray(behind, np.int64).ravel(),
        np.asarray(confidence, np.float64).ravel(),
    )


def join_relations(several: Sequence[Relations]) -> Relations:
    r"""All relations, those that say the same joined to one: as if independent, with confidence :math:`1 - \prod (1 - p_k)`.

    They come out sorted by region in front, then by region behind. Of nothing there is nothing.

    >>> both = join_relations([relations([0], [1], [0.5]), relations([0, 1], [1, 0], [0.5, 0.2])])
    >>> both.front, both.behind, both.confidence
    (array([0, 1]), array([1, 0]), array([0.75, 0.2 ]))
    """
    if not several:
        return relations([], [], [])
    front, behind, confidence = (
        np.concatenate([getattr(one, name) for one in several]) for name in ("front", "behind", "confidence")
    )
    arcs, which = np.unique(np.stack([front, behind], axis=1), axis=0, return_inverse=True)
    with np.errstate(divide="ignore"):  # a confidence of 1 leaves no doubt
        doubt = np.bincount(which.ravel(), np.log1p(-confidence), len(arcs))
    return Relations(arcs[:, 0], arcs[:, 1], -np.expm1(doubt))


def cut_circles(given: Relations, count: int) -> NDArray[np.bool_]:
    """Relations to keep among regions 0 … ``count`` − 1, so that no circle is left: each is cut at its least confident one.

    Relations are taken from the most confident to the least, and one that would close a circle is left out. Equal confidences
    are taken by the number of the region in front, then of the region behind.

    >>> cut_circles(relations([0, 1, 2], [1, 2, 0], [0.9, 0.3, 0.6]), 3)
    array([ True, False,  True])
    """
    keep = np.zeros(given.count, np.bool_)
    reaches = np.eye(count, dtype=np.bool_)  # from each region, those behind it
    for k in np.lexsort((given.behind, given.front, -given.confidence)):
        front, behind = given.front[k], given.behind[k]
        if reaches[behind, front]:
            continue
        keep[k] = True
        if not reaches[front, behind]:
            reaches[reaches[:, front]] |= reaches[behind]
    return keep


def layers_of(given: Relations, count: int) -> NDArray[np.float64]:
    """The layer of each region: how long the longest chain of regions behind it is, once circles are cut.

    A region in no relation is in layer 0, with those that have nothing behind them.

    >>> layers_of(relations([0, 1, 2], [1, 2, 0], [0.9, 0.3, 0.6]), 4)
    array([1., 0., 2., 0.])
    """
    kept = given.choose(cut_circles(given, count))
    return np.nan_to_num(layers(kept.front, kept.behind, kept.confidence, count).layer)
