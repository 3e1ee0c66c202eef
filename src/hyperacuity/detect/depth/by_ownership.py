"""Depth order from one image: probability of ownership, alone or on the regions of a hierarchy."""

from __future__ import annotations

from numpy.typing import ArrayLike

from hyperacuity.detect.depth.ownership import Curvature, depth_partition, probability_of_ownership
from hyperacuity.detect.gradient import canny
from hyperacuity.errors import UsageError
from hyperacuity.maps import OrderMap
from hyperacuity.regions import Hierarchy, hierarchy

EDGE_SCALE = 3.0
"""Width of the edge detector whose strength the regions of :func:`depth_order` come from."""

DEFAULT_LAMBDA = 0.5
"""λ of :func:`depth_order`: where contours are found best (F(1) of local depth consistency, the rule of Palou & Salembier) on
half of the images that :mod:`~hyperacuity.detect.depth_cues` was learned from."""

LEVEL = 0.3
"""The level of :func:`region_tree` where its covering is best on BSDS500's validation images."""


def ownership(
    image: ArrayLike, *, curvature: Curvature = "convex", fade: float = 12.0, bend: float = 4.0, rounds: float = 0.0
) -> OrderMap:
    """Probability of ownership (:func:`~hyperacuity.detect.depth.ownership.probability_of_ownership`): larger = nearer."""
    if rounds != int(rounds) or rounds < 0:
        raise UsageError(f"rounds is {rounds}, expected a whole number from 0")
    return probability_of_ownership(image, curvature=curvature, fade=fade, bend=bend, rounds=int(rounds))


def region_tree(image: ArrayLike, *, sigma: float = EDGE_SCALE) -> Hierarchy:
    """A hierarchy of the image's regions, from the strength and direction of its gradient."""
    seen = canny(image, sigma=sigma)
    return hierarchy(seen.soft, direction=seen.direction)


def depth_order(
    image: ArrayLike, *, lam: float = DEFAULT_LAMBDA, curvature: Curvature = "convex", sigma: float = EDGE_SCALE
) -> OrderMap:
    """Regions in depth order: ownership averaged over the regions of the hierarchy, pruned with λ (Palou & Salembier 2014).

    ``lam`` is λ: larger gives fewer regions. Each pixel has its region's mean ownership, larger = nearer.

    >>> import numpy as np
    >>> image = np.zeros((40, 40)); image[10:30, 10:30] = 1
    >>> len(np.unique(depth_order(image, lam=1000.0)))
    1
    """
    order = probability_of_ownership(image, curvature=curvature)
    return depth_partition(order, region_tree(image, sigma=sigma), lam).order
