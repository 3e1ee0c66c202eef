"""Seeing: from a look at one photograph to regions and their order in depth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from hyperacuity.detect.depth.evidence import pair_evidence
from hyperacuity.detect.depth.region_depths import depth_of_regions
from hyperacuity.detect.depth.soft_depth import field_advantages, soft_depth
from hyperacuity.detect.net.network import Float32s, Look, Setting, across_ridges, look
from hyperacuity.maps import LabelMap, OrderMap, SoftMap
from hyperacuity.ordering.figure_ground import neighbours
from hyperacuity.regions import Hierarchy, hierarchy

LEVEL = 0.2
"""Where the hierarchy is cut for the regions that are shown and compared."""


@dataclass(frozen=True, eq=False)
class Sight:
    """What is seen in one photograph.

    Attributes
    ----------
    boundaries
        float32 H×W in [0, 1]: the share of people expected to draw a boundary there.
    field
        float32 H×W×2, (x, y), from ground to figure; across a contour with unit normal n, v·n is the log-odds that the side to
        which n points is in front.
    tree
        The hierarchy of regions; its contours have the heights of ``boundaries``.
    order
        float32 H×W, larger = nearer.
    """

    boundaries: SoftMap
    field: Float32s
    tree: Hierarchy
    order: OrderMap

    @cached_property
    def ucm2(self) -> SoftMap:
        """The hierarchy as an ultrametric contour map of double size, (2H+1) × (2W+1)."""
        return self.tree.ucm2()

    def regions(self, level: float = LEVEL) -> LabelMap:
        """The regions at a level of the hierarchy."""
        return self.tree.at(level)


def see(image: ArrayLike, *, setting: Setting = "best", model: str = "", threads: int = 1) -> Sight:
    """See one photograph: boundaries, who owns them, regions, depth order.

    Parameters
    ----------
    image
        H×W or H×W×3, uint8, uint16 or floats in [0, 1].
    setting, model, threads
        See :func:`~hyperacuity.detect.net.network.look`.
    """
    seen = look(image, setting=setting, model=model, threads=threads)
    tree = tree_of(seen)
    return Sight(seen.boundaries, seen.field, tree, soft_depth(tree, field_advantages(seen.field)))


def tree_of(seen: Look) -> Hierarchy:
    """The hierarchy of regions of the boundaries that were seen."""
    return hierarchy(seen.boundaries, direction=across_ridges(seen.boundaries))


def depth_net(
    image: ArrayLike,
    labels: ArrayLike | None = None,
    tree: Hierarchy | None = None,
    *,
    setting: Setting = "best",
    model: str = "",
) -> OrderMap:
    """Depth order by the network; larger = nearer. On given ``labels``, one depth each; else a soft depth over a hierarchy."""
    seen = look(image, setting=setting, model=model)
    if labels is not None:
        beside = neighbours(labels)
        return depth_of_regions(beside, np.tanh(pair_evidence(seen.field, beside) / 2)).order
    return soft_depth(tree_of(seen) if tree is None else tree, field_advantages(seen.field))


def net_regions(image: ArrayLike, *, setting: Setting = "best", model: str = "", level: float = LEVEL) -> LabelMap:
    """The network's own regions."""
    return tree_of(look(image, setting=setting, model=model)).at(level)
