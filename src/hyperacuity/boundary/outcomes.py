"""Hits, false alarms and misses at each threshold, as pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hyperacuity.boundary.matching import tolerance_in_pixels
from hyperacuity.boundary.protocols import Prediction, Protocol
from hyperacuity.kernels.pairs import reach
from hyperacuity.kernels.sweep_pairs import States, sweep_states
from hyperacuity.maps import EdgeMap, SoftMap, boundary_marks, edge_map, label_map, same_size, soft_map


def overlays(
    prediction: Prediction,
    truths: Sequence[EdgeMap],
    protocol: Protocol = Protocol(),
    *,
    levels: Sequence[int] | None = None,
) -> NDArray[np.uint8]:
    """One picture per threshold of the protocol: 0 nothing, 1 hit, 2 false alarm, 3 miss.

    Hits and false alarms are what :func:`hyperacuity.boundary.tally` counts as ``detected_matched`` and the rest of
    ``detected``. A miss is a true pixel without a partner in the matching of every annotator who drew it. ``levels`` chooses
    thresholds (or levels of a stack of segmentations) by their index, rising; by default all of them.

    Examples
    --------
    >>> truth = np.zeros((8, 8), dtype=bool)
    >>> truth[4] = True
    >>> soft = np.where(truth, 0.5, 0).astype(np.float32)
    >>> soft[4, 7], soft[0, 0] = 0, 1
    >>> [np.bincount(picture.flat).tolist() for picture in overlays(soft, [truth], Protocol(thresholds=(0.25, 0.75)))]
    [[55, 7, 1, 1], [55, 0, 1, 8]]
    """
    return overlays_with_partners(prediction, truths, protocol, levels=levels).state


def overlays_with_partners(
    prediction: Prediction,
    truths: Sequence[EdgeMap],
    protocol: Protocol = Protocol(),
    *,
    levels: Sequence[int] | None = None,
) -> States:
    """The pictures of :func:`overlays`, and the annotators that each hit matches: a bit for each, up to eight.

    Examples
    --------
    >>> one, two = np.zeros((2, 8, 8), dtype=bool)
    >>> one[2], two[2, :4] = True, True
    >>> result = overlays_with_partners(one.astype(np.float32), [one, two], Protocol(thresholds=1, thin=False))
    >>> result.partners[0, 2].tolist()
    [3, 3, 3, 3, 1, 1, 1, 1]
    """
    maps = [edge_map(truth, name="truth") for truth in truths]
    if isinstance(prediction, np.ndarray) and protocol.thresholds != "levels":
        soft = soft_map(prediction, name="prediction")
        same_size(soft, maps[0])
        soft = protocol.suppressed(soft)
        chosen = protocol.levels if levels is None else protocol.levels[list(levels)]
        return _states(soft, maps, chosen, protocol)
    stack = [label_map(level, name="segmentation") for level in prediction]
    marks = [boundary_marks(stack[index]) for index in (range(len(stack)) if levels is None else levels)]
    at_half = np.array([0.5])
    results = [_states(mark.astype(np.float32), maps, at_half, protocol) for mark in marks]
    partners = [one.partners for one in results if one.partners is not None]
    return States(np.concatenate([one.state for one in results]), np.concatenate(partners) if partners else None)


def _states(soft: SoftMap, truths: list[EdgeMap], levels: NDArray[np.float64], protocol: Protocol) -> States:
    within = reach(tolerance_in_pixels(soft.shape, protocol.tolerance))
    return sweep_states(soft, truths, levels, within, thin=protocol.thin)
