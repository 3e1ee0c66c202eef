"""Seeing: from a look at one photograph to regions and their order in depth.

Boundaries become a hierarchy of regions. At several of its levels, neighbours are compared by the field of ownership along their
border, scaled by the probability of a step in depth, and the mean over levels of their depths is the order
(:mod:`~hyperacuity.detect.depth.soft_depth`). How far the field is trusted is in ``net.json``, fitted on photographs that
another network of the same settings had not learned from.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.detect.cached import ImageCache
from hyperacuity.detect.depth.cue_model import read_steps
from hyperacuity.detect.depth.cues import pair_cues
from hyperacuity.detect.depth.evidence import border_heights, owned_sides, pair_evidence
from hyperacuity.detect.depth.orderers import shipped_cues
from hyperacuity.detect.depth.soft_depth import Advantages, depth_of_regions, soft_depth
from hyperacuity.detect.depth.step_model import step_features
from hyperacuity.detect.detection import memory_for
from hyperacuity.detect.net.network import Look, Setting, across_ridges, card, look
from hyperacuity.errors import UsageError
from hyperacuity.maps import LabelMap, OrderMap, SoftMap
from hyperacuity.ordering.figure_ground import Neighbours, neighbours
from hyperacuity.ordering.orderings import consecutive, transfer
from hyperacuity.regions import Hierarchy, hierarchy

LEVEL = 0.25
"""The level of regions: where the hierarchy's contours fit people's best on photographs left out of learning."""

_PER_PIXEL = 600
"""Bytes that regions and their order take for each pixel where all is noise; of photographs it is a quarter."""

_CACHED = 4_000_000
"""Looks at photographs of at most so many pixels are cached, a few at a time."""


@dataclass(frozen=True, eq=False)
class Sight(Look):
    """Boundaries and ownership of one photograph, its hierarchy of regions (``tree``) and depth order, larger = nearer."""

    tree: Hierarchy
    order: OrderMap

    @cached_property
    def ucm2(self) -> SoftMap:
        """The hierarchy as an ultrametric contour map of double size, (2H+1) × (2W+1)."""
        return self.tree.ucm2()

    def regions(self, level: float = LEVEL) -> LabelMap:
        """The regions at a level of the hierarchy."""
        return self.tree.at(level)

    def sides(self, level: float = LEVEL) -> OrderMap:
        """Owners of the boundaries of these regions: +1 on the owner's side, −1 on the other, NaN elsewhere."""
        return owned_sides(self.field, self.regions(level))


def see(image: ArrayLike, *, setting: Setting = "best", model: str = "", threads: int = 1) -> Sight:
    """See one photograph: boundaries, who owns them, regions, depth order.

    Parameters
    ----------
    image
        H×W or H×W×3, uint8, uint16 or floats in [0, 1].
    setting, model, threads
        See :func:`~hyperacuity.detect.net.network.look`.
    """
    return sight_of(look(image, setting=setting, model=model, threads=threads))


def sight_of(seen: Look) -> Sight:
    """Regions and depth order that follow from a look."""
    with _memory(seen):
        tree = tree_of(seen)
        return Sight(seen.boundaries, seen.field, tree, order_of(seen, tree))


def _memory(seen: Look) -> AbstractContextManager[None]:
    shape = seen.boundaries.shape
    return memory_for("making and ordering regions", shape, _PER_PIXEL * seen.boundaries.size)


def tree_of(seen: Look) -> Hierarchy:
    """The hierarchy of regions of the boundaries that were seen."""
    return hierarchy(seen.boundaries, direction=across_ridges(seen.boundaries))


def order_of(seen: Look, tree: Hierarchy) -> OrderMap:
    """A soft depth over a hierarchy: few of its finest regions tie."""
    return soft_depth(tree, step_advantages(seen.field, tree))


def step_advantages(field: ArrayLike, tree: Hierarchy) -> Advantages:
    """Advantages by a field of ownership at any level of a hierarchy, less where there may be no step in depth."""
    ucm2, trust, steps = tree.ucm2(), card()["order"]["trust"], read_steps(card()["order"]["steps"])

    def advantages(borders: Neighbours) -> ArrayLike:
        evidence = pair_evidence(field, borders)
        step = steps.probability(step_features(borders, border_heights(ucm2, borders), evidence))
        return np.tanh(trust * evidence / 2) * step

    return advantages


def depth_net(
    image: ArrayLike,
    labels: ArrayLike | None = None,
    tree: Hierarchy | None = None,
    *,
    setting: Setting = "best",
    level: float = 0.0,
    cues: str = "joined",
    model: str = "",
) -> OrderMap:
    """Depth order by the network; larger = nearer.

    Parameters
    ----------
    image
        H×W or H×W×3, uint8, uint16 or floats in [0, 1].
    labels
        Regions to order, one depth each.
    tree
        The hierarchy to order; without one, that of the boundaries seen.
    setting, model
        See :func:`~hyperacuity.detect.net.network.look`.
    level
        The map has the median depth of each region at this level of the hierarchy; 0 leaves the soft depth as it is.
    cues
        On given ``labels``: ``"joined"``, the network and the cues of :func:`~hyperacuity.detect.depth_cues` together, or
        ``"network"`` alone. On regions by a machine the cues add nothing.
    """
    if cues not in ("joined", "network"):
        raise UsageError(f"cues is {cues!r}, expected joined or network")
    if labels is not None and tree is not None:
        raise UsageError("regions and a hierarchy: give one or the other")
    seen = _cached_look(image, setting, model)
    with _memory(seen):
        if labels is not None:
            settings, borders = card()["order"], neighbours(labels)
            score = settings["trust"] * pair_evidence(seen.field, borders)
            if cues == "joined":
                score = score + settings["cues"] * shipped_cues().choose("all").scores(pair_cues(image, labels))
            return depth_of_regions(borders, np.tanh(score / 2)).order
        chosen = tree_of(seen) if tree is None else tree
        order = order_of(seen, chosen)
        return transfer(order, chosen.at(level)) if level > 0 else order


def net_regions(
    image: ArrayLike, *, setting: Setting = "best", level: float = 0.0, cues: str = "joined", model: str = ""
) -> LabelMap:
    """The network's regions: those of its order where that has a level, else at the level that fits people's best."""
    return consecutive(tree_of(_cached_look(image, setting, model)).at(level if level > 0 else LEVEL))


def _cached_look(image: ArrayLike, setting: Setting, model: str) -> Look:
    """A look at a photograph, or the one before: order and regions are asked for one after the other."""
    pixels: NDArray[np.generic] = np.ascontiguousarray(image)
    if pixels.size > 3 * _CACHED:
        return look(pixels, setting=setting, model=model)
    return _last(pixels, setting, model, make=lambda: look(pixels, setting=setting, model=model))


def cache_look(image: ArrayLike, seen: Look, setting: Setting = "best", model: str = "") -> None:
    """Store a look at a photograph for the systems that are about to ask for it."""
    if (pixels := np.asarray(image)).size <= 3 * _CACHED:
        _last.store(pixels, setting, model, value=seen)


_last: ImageCache[Look] = ImageCache(4)
