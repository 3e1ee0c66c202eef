"""One depth map from all levels of a hierarchy: strong boundaries decide, and weaker ones order what lies between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.detect.depth.cue_model import CueModel
from hyperacuity.detect.depth.cues import group_of, pair_cues
from hyperacuity.detect.depth.evidence import border_heights, ownership_vectors, pair_evidence
from hyperacuity.detect.depth.ownership import probability_of_ownership
from hyperacuity.detect.depth.region_depths import depth_of_regions
from hyperacuity.errors import UsageError
from hyperacuity.maps import OrderMap
from hyperacuity.ordering.figure_ground import Neighbours, neighbours
from hyperacuity.regions import Hierarchy

LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4)
"""Levels at which hierarchies of probabilities are cut: the finest regions, then boundaries that grow surer."""

Advantages = Callable[[Neighbours], ArrayLike]
"""From pairs of neighbouring regions to the advantage of the first of each, −1 to 1, 0 where there is no step in depth."""


def field_advantages(field: ArrayLike) -> Advantages:
    """Advantages by a field of ownership: its log-odds along borders, at any level."""
    vectors = ownership_vectors(field)
    return lambda borders: np.tanh(pair_evidence(vectors, borders) / 2)


def cue_advantages(
    image: ArrayLike,
    tree: Hierarchy,
    model: CueModel,
    *,
    cues: str = "all",
    field: ArrayLike | None = None,
    ownership: ArrayLike | None = None,
) -> Advantages:
    """Advantages by a model of depth cues at any level of a hierarchy, steps in depth included where it has learned them.

    ``cues`` is the set; ``"network"`` and ``"joined"`` need a field of ownership. Probability of ownership may be given where it
    is known already.
    """
    groups = {group_of(name) for name in model.choose(cues).names}
    ucm2 = tree.ucm2()
    order = probability_of_ownership(image) if ownership is None and "ownership" in groups else ownership

    def advantages(borders: Neighbours) -> ArrayLike:
        seen = pair_cues(image, borders.labels, groups=groups, ownership=order, field=field)
        return model.advantages(cues, seen, border_heights(ucm2, seen.borders))

    return advantages


def soft_depth(tree: Hierarchy, advantages: Advantages, *, levels: Sequence[float] = LEVELS) -> OrderMap:
    r"""The mean over levels of the depths that least squares give the regions there; larger = nearer.

    .. math:: z(x) = \frac{\sum_l w_l z_l(x)}{\sum_l w_l}

    :math:`z_l` are the depths of the regions at level l (:func:`~hyperacuity.detect.depth.region_depths.depth_of_regions`). A
    boundary that lasts up to high levels counts in all of them, a weak one in the lowest only. A level at which the whole image
    is one region adds nothing; a tree of one region gives 0 throughout.

    Parameters
    ----------
    tree
        The hierarchy.
    advantages
        Who is in front at each level: :func:`field_advantages` or :func:`cue_advantages`.
    levels
        Where the tree is cut. Levels with the same regions count once.

    Examples
    --------
    >>> from hyperacuity.regions import merge_boundaries
    >>> tree = merge_boundaries([[0, 1, 2]], [[0.1, 0.9, 0]], [[0, 0, 0]])
    >>> soft_depth(tree, lambda borders: np.ones(borders.count), levels=(0, 0.5)).round(2)
    array([[ 0.75,  0.25, -0.75]], dtype=float32)
    """
    if len(levels) == 0:
        raise UsageError("levels: expected at least one")
    total: NDArray[np.float64] = np.zeros(tree.labels.shape)
    cuts = {int(np.searchsorted(tree.heights, level, side="right")): level for level in sorted(levels, reverse=True)}
    used = [level for merges, level in cuts.items() if merges < len(tree.heights)]
    for level in used:
        borders = neighbours(tree.at(level))
        total += depth_of_regions(borders, advantages(borders)).painted()
    return (total / max(len(used), 1)).astype(np.float32)
