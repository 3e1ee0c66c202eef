"""Owners of boundaries, as a map of their sides."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hyperacuity.detect.depth.evidence import pair_evidence
from hyperacuity.maps import OrderMap
from hyperacuity.ordering.figure_ground import neighbours


def owned_sides(field: ArrayLike, labels: ArrayLike) -> OrderMap:
    """The sides of all borders of a segmentation by a field of ownership: +1 on the owner's, −1 on the other, NaN elsewhere.

    The owner of the border between two regions is the one for which the mean log-odds along it speak
    (:func:`~hyperacuity.detect.depth.evidence.pair_evidence`); a border of log-odds 0 is nobody's. Where a pixel lies on several
    borders, the surest decides. This is the form of Berkeley's figure/ground labels, which ``hyperacuity ordering`` reads
    (:class:`~hyperacuity.ordering.Sides`). A segmentation of one region has no borders: NaN throughout.

    Examples
    --------
    >>> left = np.zeros((2, 4, 2)); left[..., 0] = -2  # everywhere the figure is to the left
    >>> owned_sides(left, [[0, 0, 1, 1]] * 2)
    array([[nan,  1., -1., nan],
           [nan,  1., -1., nan]], dtype=float32)
    """
    beside = neighbours(labels)
    evidence = pair_evidence(field, beside)[beside.pair]
    surest_last = np.argsort(np.abs(evidence), kind="stable")
    surest_last = surest_last[evidence[surest_last] != 0]
    first, regions = beside.first[beside.pair], beside.labels.ravel()
    sides = np.full(beside.labels.size, np.nan, np.float32)
    pixels = np.stack([beside.here, beside.there], axis=1)[surest_last]
    owned = (regions[pixels] == first[surest_last, np.newaxis]) == (evidence[surest_last, np.newaxis] > 0)
    sides[pixels.ravel()] = np.where(owned, 1, -1).ravel()
    return sides.reshape(beside.labels.shape)
