"""Depth order by angular embedding of superpixels, from a boundary map and a field of ownership.

Straight lines of several lengths leave every second pixel: the strongest boundary that a line crosses says how surely its ends
are one thing; the field there, which end is in front. :mod:`~hyperacuity.detect.depth.embedding` makes one order of these.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.detect.depth.embedding import angular_embedding
from hyperacuity.detect.depth.evidence import ownership_vectors
from hyperacuity.detect.detection import positive
from hyperacuity.errors import UsageError
from hyperacuity.kernels.borders import line_relations
from hyperacuity.maps import label_map, same_size, soft_map
from hyperacuity.ordering.orderings import Partition, consecutive

RADII = (1, 4, 8, 16)
"""Lengths of the lines, in steps to one of the eight neighbours."""

TURN = np.pi / 4
"""The largest relative order of a pair."""


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

    A line whose strongest boundary is b says with the confidence :math:`e^{-b/ρ}` that its ends are level, and with
    :math:`κ (1 - e^{-b/ρ}) |\tanh(s/2)|` that they differ by :math:`\frac{π}{4} \tanh(s/2)`, s being the field along it.

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
