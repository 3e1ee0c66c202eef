"""Depth order from one image: by ownership alone, by ownership on the regions of a hierarchy, or by learned cues.

What the cues of :mod:`hyperacuity.detect.depth.cues` are worth is in ``depth_cues.json`` beside this module, with how it was
obtained; :func:`hyperacuity.detect.depth.cue_model.learn_cues` learns it from other images.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from numpy.typing import ArrayLike

from hyperacuity.detect.depth.cue_model import CueModel, load_cue_model
from hyperacuity.detect.depth.cues import group_of, pair_cues
from hyperacuity.detect.depth.ownership import Curvature, depth_partition, probability_of_ownership
from hyperacuity.detect.depth.region_depths import depth_of_regions
from hyperacuity.detect.gradient import canny
from hyperacuity.errors import UsageError
from hyperacuity.maps import LabelMap, OrderMap
from hyperacuity.regions import Hierarchy, hierarchy

EDGE_SCALE = 3.0
"""Width of the edge detector whose strength the regions of :func:`depth_order` come from."""

DEFAULT_LAMBDA = 0.5
"""λ of :func:`depth_order`: where contours are found best (F(1) of local depth consistency, the rule of Palou & Salembier) on
half of the images that :func:`depth_cues` was learned from."""

LEVEL = 0.3
"""The level of :func:`region_tree` where its covering is best on BSDS500's validation images."""

SHIPPED = Path(__file__).with_name("depth_cues.json")


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


def gradient_regions(image: ArrayLike, **options: object) -> LabelMap:
    """The regions of :func:`region_tree` at the level that fits people's best; an orderer's options do not change them."""
    return region_tree(image).at(LEVEL)


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


@cache
def shipped_cues() -> CueModel:
    """The model that comes with the package."""
    return load_cue_model(SHIPPED)


def depth_cues(image: ArrayLike, labels: ArrayLike | None = None, *, cues: str = "all", model: str = "") -> OrderMap:
    """Regions in depth order by convexity, T-junctions, size, position, colour, texture and ownership; larger = nearer.

    Parameters
    ----------
    image
        H×W or H×W×3, uint8, uint16 or floats in [0, 1].
    labels
        Its regions; without them those of :func:`region_tree` at the level that fits people's best. Void
        pixels come out as NaN.
    cues
        ``"all"``, or ``"tjc"`` for T-junctions and convexity alone.
    model
        A file with other parameters.

    Examples
    --------
    >>> import numpy as np
    >>> y, x = np.mgrid[-20:21, -30:31]
    >>> disc = np.hypot(y, x) < 12
    >>> order = depth_cues(np.where(disc, 0.2, 0.8), disc, cues="tjc")
    >>> bool(order[20, 30] > order[0, 0])
    True
    """
    weights = (load_cue_model(Path(model)) if model else shipped_cues()).choose(cues)
    regions = gradient_regions(image) if labels is None else labels
    found = pair_cues(image, regions, groups={group_of(name) for name in weights.names})
    return depth_of_regions(found.beside, weights.advantages(found)).order
