"""One depth for each region, from who is how surely in front in each pair of neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import spsolve

from hyperacuity.errors import InputError
from hyperacuity.ordering.figure_ground import Neighbours
from hyperacuity.ordering.orderings import Partition

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
