"""One depth for each region from who is in front in each pair of neighbours, and one map from all levels of a hierarchy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import spsolve

from hyperacuity.detect.depth.cue_model import CueModel
from hyperacuity.detect.depth.cues import group_of, pair_cues
from hyperacuity.detect.depth.evidence import border_heights, ownership_vectors, pair_evidence
from hyperacuity.detect.depth.ownership import probability_of_ownership
from hyperacuity.errors import InputError, UsageError
from hyperacuity.maps import OrderMap
from hyperacuity.ordering.figure_ground import Neighbours, neighbours
from hyperacuity.ordering.orderings import Partition
from hyperacuity.regions import Hierarchy

LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4)
"""Levels at which hierarchies of probabilities are cut: the finest regions, then boundaries that grow surer."""

Advantages = Callable[[Neighbours], ArrayLike]
"""From pairs of neighbouring regions to the advantage of the first of each, −1 to 1, 0 where there is no step in depth."""

_ANCHOR = 1e-9
"""Pulls depths to 0, so weakly that it only decides the mean of regions that are linked."""


def depth_of_regions(borders: Neighbours, advantage: ArrayLike) -> Partition:
    r"""Depths whose differences come closest to the pairs' advantages: the least squares

    .. math:: \min_z \sum_{(a, b)} \sqrt{ℓ_{ab}} \, (z_a - z_b - s_{ab})^2

    with the length ℓ of the common border and the advantage s of the first region, positive when it is in front. Regions that
    are linked by neighbours have mean depth 0. Void pixels have no depth.

    >>> from hyperacuity.ordering import neighbours
    >>> depth_of_regions(neighbours([[7, 8, 9]]), [1, 1]).order.round(3)
    array([[ 1.,  0., -1.]], dtype=float32)
    """  # fmt: skip
    given = np.asarray(advantage, np.float64)
    if given.shape != (borders.count,) or not np.isfinite(given).all():
        raise InputError(f"advantage: has shape {given.shape}, expected {borders.count} finite numbers, one per pair")
    count = int(borders.labels.max()) + 1
    weight = np.sqrt(borders.cracks)
    a, b = borders.first, borders.second
    rows, columns = np.concatenate([a, b, a, b]), np.concatenate([a, b, b, a])
    links = sparse.csc_array((np.concatenate([weight, weight, -weight, -weight]), (rows, columns)), (count, count))
    pull = (np.bincount(a, weight * given, count) - np.bincount(b, weight * given, count)).astype(np.float64)
    depth = np.atleast_1d(spsolve(links + _ANCHOR * sparse.eye_array(count, format="csc"), pull))
    _, part = csgraph.connected_components(links, directed=False)
    depth -= (np.bincount(part, depth) / np.bincount(part))[part]  # which the anchor makes 0 to a few digits only
    return Partition(borders.labels, depth, np.append(depth, np.nan)[borders.labels].astype(np.float32))


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

    :math:`z_l` are the depths of the regions at level l (:func:`depth_of_regions`). A
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
