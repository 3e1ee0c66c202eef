"""Depth order from one image: by ownership, by ownership on the regions of a hierarchy, by learned cues, by angular embedding.

Each makes a hierarchy of the image, or takes a given one. The weights of cues, and how they were obtained, are in
``depth_cues.json``; :func:`hyperacuity.detect.depth.cue_model.learn_cues` learns others.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from numpy.typing import ArrayLike

from hyperacuity.detect.depth.cue_model import CueModel, load_cue_model
from hyperacuity.detect.depth.cues import group_of, pair_cues
from hyperacuity.detect.depth.embedding import embed_regions
from hyperacuity.detect.depth.evidence import Field, evidence_field, pixel_heights
from hyperacuity.detect.depth.ownership import (
    Curvature,
    cached_ownership,
    integrate,
    probability_of_ownership,
    region_ownership,
    relative_partition,
)
from hyperacuity.detect.depth.soft_depth import depth_of_regions
from hyperacuity.detect.detection import REGIONS_PER_PIXEL, planes, takes_memory
from hyperacuity.detect.gradient import canny
from hyperacuity.detect.pb_detector import REACH as PB_REACH
from hyperacuity.detect.pb_detector import pb
from hyperacuity.errors import UsageError
from hyperacuity.maps import LabelMap, OrderMap, same_size
from hyperacuity.regions import Hierarchy, hierarchy

EDGE_SCALE = 3.0
"""Width of the edge detector whose strength the regions of :func:`depth_order` come from."""

DEFAULT_LAMBDA = 7.0
"""λ of :func:`depth_order`, in units of the variance of ownership: where contours are best (F(1) of local depth
consistency, the rule of Palou & Salembier) on 16 of the images that :func:`depth_cues` was learned from."""

LEVEL = 0.3
"""The level of :func:`region_tree` where its covering is best on BSDS500's validation images."""

AE_LEVEL = 0.2
"""The level of the regions whose cues :func:`ae` embeds, chosen on the same 16 images as λ."""

SHIPPED = Path(__file__).with_name("depth_cues.json")


@takes_memory(100)
def ownership(
    image: ArrayLike,
    tree: Hierarchy | None = None,
    *,
    curvature: Curvature = "convex",
    fade: float = 12.0,
    bend: float = 4.0,
    rounds: float = 0.0,
) -> OrderMap:
    """Probability of ownership (:func:`~hyperacuity.detect.depth.ownership.probability_of_ownership`): larger = nearer.

    With a ``tree`` its regions claim pixels, instead of areas of like lightness
    (:func:`~hyperacuity.detect.depth.ownership.region_ownership`).
    """
    if rounds != int(rounds) or rounds < 0:
        raise UsageError(f"rounds is {rounds}, expected a whole number from 0")
    if tree is None and (fade, bend, rounds) == (12.0, 4.0, 0.0):
        return cached_ownership(image, curvature)
    if tree is None:
        return probability_of_ownership(image, curvature=curvature, fade=fade, bend=bend, rounds=int(rounds))
    _fits(image, tree)
    order = region_ownership(tree, curvature=curvature, fade=fade, bend=bend)
    return integrate(order, image, rounds=int(rounds)) if rounds else order


@takes_memory(REGIONS_PER_PIXEL)
def region_tree(image: ArrayLike, *, sigma: float = EDGE_SCALE) -> Hierarchy:
    """A hierarchy of the image's regions, from the strength and direction of its gradient."""
    seen = canny(image, sigma=sigma)
    return hierarchy(seen.soft, direction=seen.direction)


def gradient_regions(image: ArrayLike, *, level: float = LEVEL, **options: object) -> LabelMap:
    """The regions of :func:`region_tree` at a level; an orderer's other options do not change them."""
    return region_tree(image).at(level)


@takes_memory(REGIONS_PER_PIXEL)
def depth_order(
    image: ArrayLike,
    tree: Hierarchy | None = None,
    *,
    lam: float = DEFAULT_LAMBDA,
    curvature: Curvature = "convex",
    sigma: float = EDGE_SCALE,
) -> OrderMap:
    """Regions in depth order: ownership averaged over the regions of a hierarchy, pruned with λ (Palou & Salembier 2014).

    Each pixel has its region's mean ownership, larger = nearer.

    Parameters
    ----------
    image
        H×W or H×W×3, uint8, uint16 or floats in [0, 1].
    tree
        The hierarchy; without one, :func:`region_tree` of width ``sigma``.
    lam
        λ in units of the variance of ownership in the image, and below what would leave one region
        (:func:`~hyperacuity.detect.depth.ownership.relative_partition`); larger gives fewer regions.
    curvature
        See :func:`~hyperacuity.detect.depth.ownership.probability_of_ownership`.
    sigma
        Width of the edge detector.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((40, 40)); image[10:30, 10:30] = 1
    >>> len(np.unique(depth_order(image, lam=1000.0)))
    2
    """
    order = cached_ownership(image, curvature)
    chosen = region_tree(image, sigma=sigma) if tree is None else _fits(image, tree)
    return relative_partition(order, chosen, lam).order


def regions_to_order(image: ArrayLike, labels: ArrayLike | None, tree: Hierarchy | None, level: float) -> ArrayLike:
    """The labels, or the regions at a level of the tree, or those of the image's gradient."""
    if labels is not None and tree is not None:
        raise UsageError("regions and a hierarchy: give one or the other")
    if labels is not None:
        return labels
    return gradient_regions(image, level=level) if tree is None else _fits(image, tree).at(level)


def _fits(image: ArrayLike, tree: Hierarchy) -> Hierarchy:
    same_size(planes(image)[0], tree.labels, names=("image", "hierarchy"))
    return tree


@cache
def shipped_cues() -> CueModel:
    """The model that comes with the package."""
    return load_cue_model(SHIPPED)


@takes_memory(REGIONS_PER_PIXEL)
def depth_cues(
    image: ArrayLike,
    labels: ArrayLike | None = None,
    tree: Hierarchy | None = None,
    *,
    cues: str = "all",
    model: str = "",
    level: float = LEVEL,
) -> OrderMap:
    """Regions in depth order by convexity, T-junctions, size, position, colour, texture and ownership; larger = nearer.

    Parameters
    ----------
    image
        H×W or H×W×3, uint8, uint16 or floats in [0, 1].
    labels
        Its regions; void pixels come out as NaN. Without them the regions are those of a hierarchy.
    tree
        The hierarchy; without one, :func:`region_tree`.
    cues
        ``"all"``, or ``"tjc"`` for T-junctions and convexity alone.
    model
        A file with other parameters.
    level
        Where the hierarchy is cut; for :func:`region_tree` the default fits people's regions best.

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
    regions = regions_to_order(image, labels, tree, level)
    result = pair_cues(image, regions, groups={group_of(name) for name in weights.names})
    return depth_of_regions(result.borders, weights.advantages(result)).order


def cue_field(image: ArrayLike, regions: ArrayLike, *, ownership: ArrayLike | None = None) -> Field:
    """The field of ownership, H×W×2, that the learned cues say of regions; ``ownership`` where it is known already.

    >>> import numpy as np
    >>> cue_field(np.zeros((8, 8)), np.zeros((8, 8), int)).any()  # one region has no border
    np.False_
    """
    seen = pair_cues(image, regions, ownership=ownership)
    return evidence_field(seen.borders, shipped_cues().choose("all").scores(seen))


@takes_memory(500, reach=PB_REACH)
def ae(
    image: ArrayLike,
    tree: Hierarchy | None = None,
    field: ArrayLike | None = None,
    *,
    level: float = AE_LEVEL,
    width: float = 0.1,
    trust: float = 1.0,
) -> OrderMap:
    """Superpixels in depth order by angular embedding (Maire 2010); larger = nearer.

    Superpixels are the finest regions of the hierarchy. Its heights say how surely neighbours, near and far, belong together; a
    field of ownership, who is in front where they do not (:func:`~hyperacuity.detect.depth.embedding.embed_regions`).

    Parameters
    ----------
    image
        H×W or H×W×3, uint8, uint16 or floats in [0, 1].
    tree
        The hierarchy; without one, that of ``pb``.
    field
        H×W×2, from ground to figure; without one, what the cues of :func:`depth_cues` say of the regions at ``level``.
    level
        Where the hierarchy is cut for the cues.
    width, trust
        ρ and κ of the embedding.

    Examples
    --------
    >>> import numpy as np
    >>> y, x = np.mgrid[-24:25, -30:31]
    >>> disc = np.hypot(y, x) < 12
    >>> inwards = -np.stack([x, y], axis=2) / 4
    >>> order = ae(np.where(disc, 0.2, 0.8), field=inwards)
    >>> bool(order[24, 30] > order[0, 0])
    True
    """
    if tree is None:
        seen = pb(image)
        tree = hierarchy(seen.strength, direction=seen.direction)
    _fits(image, tree)
    if field is None:
        field = cue_field(image, tree.at(level))
    return embed_regions(pixel_heights(tree.ucm2()), field, tree.labels, width=width, trust=trust).order
