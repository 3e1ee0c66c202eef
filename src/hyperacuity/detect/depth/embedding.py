r"""Angular embedding: one order of everything, from the relative order of pairs and how sure it is.

Pairs (p, q) have a confidence C(p, q) ≥ 0 and a relative order Θ(p, q) = −Θ(q, p). With the Hermitian W = C ∘ exp(iΘ) and the
diagonal D of the row sums of C, the leading eigenvectors of :math:`D^{-1/2} W D^{-1/2}` embed the nodes in the complex plane: the
angle of the first, after :math:`D^{-1/2}`, is the order that least contradicts the pairs. :func:`embed_regions` has such pairs of
superpixels from a boundary map and a field of ownership.

References
----------
Yu (2012), Angular embedding: a robust quadratic criterion.
Maire (2010), Simultaneous segmentation and figure/ground organization using angular embedding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from hyperacuity.detect.depth.evidence import ownership_vectors
from hyperacuity.detect.detection import positive
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels.borders import line_relations
from hyperacuity.maps import label_map, same_size, soft_map
from hyperacuity.ordering.orderings import Partition, consecutive

Values = NDArray[np.float64]
Complexes = NDArray[np.complex128]

SMALL = 64
"""Graphs of at most this many nodes are solved as full matrices."""

_SHIFT = 1e-6
"""Eigenvalues are at most 1; those next to 1 + this are looked for."""

RADII = (1, 4, 8, 16)
"""Lengths of the lines, in steps to one of the eight neighbours."""

TURN = np.pi / 4
"""The largest relative order of a pair."""


@dataclass(frozen=True, eq=False)
class AngularEmbedding:
    """Positions of nodes.

    Attributes
    ----------
    order
        Angle of each node, larger = in front; nodes that pairs link, directly or not, have mean 0.
    values, vectors
        The leading eigenvalues, falling, and the eigenvectors after :math:`D^{-1/2}` (nodes × vectors). Where pairs leave the
        nodes in several components, vectors are those of each component, and values the largest of any; beyond the number
        of nodes values are NaN and vectors 0.
    """

    order: Values
    values: Values
    vectors: Complexes


def angular_embedding(
    pairs: ArrayLike, confidence: ArrayLike, theta: ArrayLike, count: int, *, vectors: int = 1
) -> AngularEmbedding:
    """Embed ``count`` nodes.

    Parameters
    ----------
    pairs
        n×2, the nodes of each pair; a pair may be listed several times.
    confidence
        n numbers, 0 or more.
    theta
        n angles in radians: by how much the first node is in front of the second. Up to π/4 or so, so that the order does not
        turn full circle within a few steps.
    count
        How many nodes there are. Those without a pair have order 0.
    vectors
        How many eigenvectors.

    Examples
    --------
    >>> angular_embedding([[0, 1], [1, 2]], [1, 3], [0.5, 0.25], 3).order.round(3)
    array([ 0.417, -0.083, -0.333])
    """
    ends = np.asarray(pairs, np.int64).reshape(-1, 2)
    sure, angle = np.asarray(confidence, np.float64), np.asarray(theta, np.float64)
    if sure.shape != (len(ends),) or angle.shape != (len(ends),):
        raise InputError(f"confidence and theta: have shapes {sure.shape} and {angle.shape}, expected {len(ends)} each")
    if not (np.isfinite(sure).all() and np.isfinite(angle).all() and (sure >= 0).all()):
        raise InputError("confidence and theta: expected finite numbers, and no confidence below 0")
    if len(ends) and (ends.min() < 0 or ends.max() >= count):
        raise InputError(f"pairs: hold nodes from {ends.min()} to {ends.max()}, expected 0 to {count - 1}")
    if vectors < 1:
        raise UsageError(f"vectors is {vectors}, expected 1 or more")
    linked = (sure > 0) & (ends[:, 0] != ends[:, 1])
    (a, b), sure, angle = ends[linked].T, sure[linked], angle[linked]
    half = sparse.coo_array((sure * np.exp(1j * angle), (a, b)), (count, count)).tocsr()
    certain = sparse.coo_array((sure, (a, b)), (count, count)).tocsr()
    return _embed(sparse.csr_array(half + half.conj().T), sparse.csr_array(certain + certain.T), vectors)


def _embed(relations: Any, certain: Any, vectors: int) -> AngularEmbedding:
    """The embedding of a Hermitian W and the symmetric C."""
    count = relations.shape[0]
    degree = np.asarray(certain.sum(axis=1)).ravel()
    parts, part = csgraph.connected_components(certain, directed=False)
    order, values, result = np.zeros(count), np.full(vectors, np.nan), np.zeros((count, vectors), np.complex128)
    members = np.split(np.argsort(part, kind="stable"), np.cumsum(np.bincount(part, minlength=parts))[:-1])
    for nodes in members:
        if len(nodes) < 2:
            continue
        scale = 1 / np.sqrt(degree[nodes])
        matrix = relations[nodes][:, nodes]
        eigenvalues, inside = _leading(
            sparse.diags_array(scale) @ matrix @ sparse.diags_array(scale), min(vectors, len(nodes))
        )
        values[: len(eigenvalues)] = np.fmax(values[: len(eigenvalues)], eigenvalues)
        result[nodes, : inside.shape[1]] = inside * scale[:, np.newaxis]
        order[nodes] = _unwrapped(result[nodes, 0], certain[nodes][:, nodes])
    return AngularEmbedding(order, values, result)


def _leading(matrix: Any, wanted: int) -> tuple[Values, Complexes]:
    """The largest eigenvalues of a Hermitian matrix, falling, and their vectors."""
    count = matrix.shape[0]
    if count <= max(SMALL, wanted + 2):
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        shift = 1 + _SHIFT
        solver = splu(sparse.csc_matrix(matrix - shift * sparse.eye_array(count)))
        inverse = LinearOperator((count, count), solver.solve, dtype=np.complex128)
        start = np.ones(count, np.complex128)  # always the same, so that the result is
        values, vectors = eigsh(matrix, wanted, sigma=shift, OPinv=inverse, v0=start)
    falling = np.argsort(-values, kind="stable")[:wanted]
    return values[falling], vectors[:, falling]


def _unwrapped(vector: Complexes, certain: Any) -> Values:
    """The angles of a connected graph's nodes about their mean, turning with them from neighbour to neighbour."""
    # A long chain may turn more than full circle. Along the tree of the surest pairs, each step is the shorter way round.
    inverse = certain.copy()
    inverse.data = 1 / inverse.data
    tree = csgraph.minimum_spanning_tree(inverse)
    start = int(np.argmax(np.abs(vector)))
    visited, before = csgraph.breadth_first_order(tree, start, directed=False)
    after = visited[1:]
    step = np.zeros(len(vector))
    step[after] = np.angle(vector[after] * vector[before[after]].conj())
    angles = step.copy()
    for node in after:
        angles[node] += angles[before[node]]
    centred: Values = angles - angles.mean()
    return centred


def embed_regions(
    boundaries: ArrayLike,
    field: ArrayLike,
    labels: ArrayLike,
    *,
    radii: Sequence[int] = RADII,
    width: float = 0.1,
    trust: float = 1.0,
    every: int = 2,
) -> Partition:
    r"""Regions in depth order: the angles of their angular embedding, larger = nearer.

    Straight lines of several lengths leave every second pixel. A line whose strongest boundary is b says with the confidence
    :math:`e^{-b/ρ}` that its ends are level, and with :math:`κ (1 - e^{-b/ρ}) |\tanh(s/2)|` that they differ by
    :math:`\frac{π}{4} \tanh(s/2)`, s being the field along it.

    Parameters
    ----------
    boundaries
        Soft map.
    field
        H×W×2, from ground to figure (:mod:`~hyperacuity.detect.depth.evidence`).
    labels
        Superpixels; void pixels have no depth.
    radii
        Lengths of lines.
    width, trust
        ρ and κ.
    every
        Lines start from every so many pixels both ways.

    Examples
    --------
    >>> labels = np.repeat([[0, 1, 2]], 8, axis=0).repeat(8, axis=1)
    >>> strong = np.zeros(labels.shape); strong[:, [7, 8, 15, 16]] = 0.9
    >>> right = np.zeros((*labels.shape, 2)); right[..., 0] = 3
    >>> embed_regions(strong, right, labels).depth.argsort()
    array([0, 1, 2])
    """
    soft, vectors = soft_map(boundaries, name="boundaries"), ownership_vectors(field)
    regions = consecutive(label_map(labels, name="superpixels"))
    same_size(soft, regions, names=("boundary map", "superpixels"))
    same_size(vectors[..., 0], regions, names=("ownership field", "superpixels"))
    width, trust = positive(width, "width"), positive(trust, "trust")
    starts, ends, strength, side = _lines(regions, soft, vectors, radii, every)
    level = np.exp(-strength / width)
    lean = np.tanh(side / 2)
    pairs = np.stack([starts, ends], axis=1)
    depth = angular_embedding(
        np.concatenate([pairs, pairs]),
        np.concatenate([level, trust * (1 - level) * np.abs(lean)]),
        np.concatenate([np.zeros(len(lean)), TURN * lean]),
        int(regions.max()) + 1,
    ).order
    return Partition(regions, depth, np.append(depth, np.nan)[regions].astype(np.float32))


def _lines(
    regions: NDArray[np.int32],
    soft: NDArray[np.float32],
    vectors: NDArray[np.float32],
    radii: Sequence[int],
    every: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    """Regions at the ends of the lines that leave one, the strongest boundary between, and the field there."""
    if not radii or min(radii) < 1 or every < 1:
        raise UsageError("radii and every: expected whole numbers from 1")
    steps = np.array([(dx, dy, r) for r in radii for dx, dy in ((1, 0), (1, 1), (0, 1), (-1, 1))], np.int64)
    room = len(steps) * -(-regions.shape[0] // every) * -(-regions.shape[1] // every)
    ends, values = np.empty((2, room), np.int32), np.empty((2, room), np.float32)
    count = line_relations(regions, soft, vectors, steps, every, *ends, *values)
    strength, side = values[:, :count].astype(np.float64)
    return ends[0, :count], ends[1, :count], strength, side
