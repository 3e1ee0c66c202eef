"""Optimal pruning of a hierarchy: the partition that fits an image best for its length of boundary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels.pruning import add_up, earliest_merge, least_costs, scales
from hyperacuity.kernels.ultrametric import apply_joins
from hyperacuity.maps import LabelMap, same_size
from hyperacuity.regions.hierarchies import Hierarchy

Nodes = NDArray[np.float64]
"""One value per node of a hierarchy."""


@dataclass(frozen=True, eq=False)
class Energy:
    """Cost of keeping each node as a region: ``data + λ · complexity``."""

    data: Nodes
    complexity: Nodes


@dataclass(frozen=True, eq=False)
class PruningPath:
    """The optimal partitions for all λ ≥ 0. They are nested: as λ grows, regions only merge.

    ``scales`` says for each merge from which λ on its two sides are in one region.
    """

    tree: Hierarchy
    scales: Nodes

    @property
    def breakpoints(self) -> Nodes:
        """The values of λ at which the partition changes, rising; between two of them it stays the same."""
        return np.unique(self.scales[np.isfinite(self.scales) & (self.scales > 0)])

    def at(self, lam: float) -> LabelMap:
        """The optimal partition for one λ; of partitions with equal energy the coarsest."""
        return _cut(self.tree, self.scales <= lam)


def node_means(tree: Hierarchy, values: ArrayLike) -> Nodes:
    """The mean of an image's values over each node's region."""
    sums = _node_sums(tree, values)
    means: Nodes = sums[:, 1] / sums[:, 0]
    return means


def piecewise_constant(tree: Hierarchy, values: ArrayLike) -> Energy:
    r"""The energy of a piecewise constant image: squared deviation from each region's mean, and length of its boundary.

    .. math:: E(\{R_i\}) = \sum_i \Big( \sum_{p∈R_i} (D_i - D(p))^2 + λ\,|Γ_i| \Big)

    Γ is counted in cracks, without the image's frame (which would add the same to every partition).

    References
    ----------
    Palou & Salembier (2014), eq. 15.

    Examples
    --------
    >>> from hyperacuity.regions import merge_boundaries
    >>> tree = merge_boundaries([[0, 1, 2, 3]], [[0.1, 0.9, 0.1, 0]], [[0, 0, 0, 0]])
    >>> energy = piecewise_constant(tree, [[0, 1, 4, 5]])
    >>> energy.data, energy.complexity
    (array([ 0. ,  0. ,  0. ,  0. ,  0.5,  0.5, 17. ]), array([1., 2., 2., 1., 1., 1., 0.]))
    """
    sums = _node_sums(tree, values)
    area, total, squares = sums.T
    return Energy(np.maximum(squares - total * total / area, 0.0), _perimeters(tree))


def prune(tree: Hierarchy, energy: Energy, lam: float) -> LabelMap:
    """The partition of least energy for one λ, among all that the tree holds; of equals the coarsest.

    Any energy per node will do. A region is named after its first leaf.

    Examples
    --------
    >>> from hyperacuity.regions import merge_boundaries
    >>> tree = merge_boundaries([[0, 1, 2, 3]], [[0.1, 0.9, 0.1, 0]], [[0, 0, 0, 0]])
    >>> prune(tree, piecewise_constant(tree, [[0, 1, 4, 5]]), 1.0)
    array([[0, 0, 2, 2]], dtype=int32)
    """
    _, whole_nodes = _solve(tree, energy, lam)
    whole = np.where(whole_nodes[tree.leaves :], 1.0, 2.0)
    return _cut(tree, _inherited(tree, whole) < 2)


def least_energy(tree: Hierarchy, energy: Energy, lam: float) -> float:
    """The energy of :func:`prune`'s partition."""
    best, _ = _solve(tree, energy, lam)
    return float(best[-1])


def pruning_path(tree: Hierarchy, energy: Energy) -> PruningPath:
    """The optimal partitions for every λ ≥ 0, in one pass.

    No node may be more complex than its two children together, as is true of boundary length: only then are the partitions
    nested.

    Examples
    --------
    >>> from hyperacuity.regions import merge_boundaries
    >>> tree = merge_boundaries([[0, 1, 2, 3]], [[0.1, 0.9, 0.1, 0]], [[0, 0, 0, 0]])
    >>> path = pruning_path(tree, piecewise_constant(tree, [[0, 1, 4, 5]]))
    >>> path.breakpoints, path.at(0.25)
    (array([0.25, 8.  ]), array([[0, 0, 2, 2]], dtype=int32))
    """
    _check(tree, energy)
    together = energy.complexity[tree.children].sum(axis=1)
    if (energy.complexity[tree.leaves :] > together).any():
        raise UsageError("a node is more complex than its children together, so there is no nested path over λ")
    lambdas = scales(tree.children, energy.data, energy.complexity)
    return PruningPath(tree, _inherited(tree, lambdas[tree.leaves :]))


def _node_sums(tree: Hierarchy, values: ArrayLike) -> NDArray[np.float64]:
    """Area, sum and sum of squares of the values in each node's region."""
    plane = np.asarray(values, dtype=np.float64)
    same_size(plane, tree.labels, names=("values", "hierarchy"))
    if not np.isfinite(plane).all():
        raise InputError("values to prune by must be finite numbers")
    sums = np.zeros((2 * tree.leaves - 1, 3))
    flat = tree.labels.ravel()
    for k, weights in enumerate((np.ones(plane.size), plane.ravel(), plane.ravel() ** 2)):
        sums[: tree.leaves, k] = np.bincount(flat, weights, minlength=tree.leaves)
    add_up(tree.children, sums)
    return sums


def _perimeters(tree: Hierarchy) -> Nodes:
    labels = tree.labels
    result = np.zeros(2 * tree.leaves - 1)
    for near, far in ((labels[:, :-1], labels[:, 1:]), (labels[:-1], labels[1:])):
        differ = near != far
        for side in (near, far):
            result[: tree.leaves] += np.bincount(side[differ], minlength=tree.leaves)
    for merge, (a, b) in enumerate(tree.children):
        result[tree.leaves + merge] = result[a] + result[b] - 2 * tree.lengths[merge]
    return result


def _solve(tree: Hierarchy, energy: Energy, lam: float) -> tuple[Nodes, NDArray[np.bool_]]:
    _check(tree, energy)
    if not lam >= 0:
        raise UsageError(f"λ is {lam}, expected 0 or more")
    alone = energy.data + lam * energy.complexity
    best, whole = np.empty_like(alone), np.empty(len(alone), np.bool_)
    least_costs(tree.children, alone, best, whole)
    return best, whole


def _check(tree: Hierarchy, energy: Energy) -> None:
    for name, values in (("data", energy.data), ("complexity", energy.complexity)):
        if values.shape != (2 * tree.leaves - 1,) or not np.isfinite(values).all():
            raise InputError(f"the energy's {name} must be {2 * tree.leaves - 1} finite numbers, one per node")


def _inherited(tree: Hierarchy, when: Nodes) -> Nodes:
    """Per merge, the least value of the merge itself and of those above it."""
    nodes = np.concatenate([np.zeros(tree.leaves), when])
    earliest_merge(tree.children, nodes)
    return nodes[tree.leaves :]


def _cut(tree: Hierarchy, merged: NDArray[np.bool_]) -> LabelMap:
    """The partition after some of the merges, which include all that are below one of them."""
    labels = tree.labels.copy()
    apply_joins(labels, tree.joins[merged], np.empty(tree.leaves, np.int32))
    return labels
