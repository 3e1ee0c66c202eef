"""Labels and detections as overlapping sets (Hou, Yuille & Koch 2013, Fig. 2B)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hyperacuity.audit.strength import strengths
from hyperacuity.boundary.matching import match
from hyperacuity.boundary.protocols import Protocol
from hyperacuity.kernels.thinning import thin
from hyperacuity.maps import EdgeMap, SoftMap, edge_map, same_size, soft_map


class SetSizes(NamedTuple):
    """Sizes in pixels of boundary. Sizes of several images add up, entry by entry.

    ``labels``: what people drew, each boundary counted once; ``orphans``: what one person alone drew, of which the system found
    ``orphans_found``; ``detected`` by the system, of which ``false_alarms`` are nobody's.
    """

    labels: float
    orphans: float
    orphans_found: float
    detected: float
    false_alarms: float


def set_sizes(
    prediction: SoftMap, truths: Sequence[EdgeMap], threshold: float, protocol: Protocol = Protocol()
) -> SetSizes:
    """The sets of one image at a threshold.

    >>> first, second = np.zeros((2, 6, 9), dtype=bool)
    >>> first[1], second[1], second[4, :4] = True, True, True
    >>> seen = np.zeros((6, 9), dtype=np.float32)
    >>> seen[1], seen[4, 2:] = 1, 1
    >>> set_sizes(seen, [first, second], 0.5, Protocol(thin=False, tolerance=0))
    SetSizes(labels=13.0, orphans=4.0, orphans_found=2.0, detected=16.0, false_alarms=5.0)
    """
    soft = soft_map(prediction, name="prediction")
    maps = [edge_map(truth, name="truth") for truth in truths]
    same_size(soft, maps[0])
    detected = protocol.suppressed(soft) >= np.float32(threshold)
    if protocol.thin:
        detected = thin(detected)
    people = strengths(maps, protocol.tolerance)
    hits = np.zeros(soft.shape, np.bool_)
    found = 0
    for truth, alone in zip(maps, people.orphans, strict=True):
        pairs = match(detected, truth, protocol.tolerance)
        hits.flat[pairs.detected] = True
        found += int(np.count_nonzero(alone.flat[pairs.truth]))
    return SetSizes(
        labels=float(sum((1 / drawn[drawn > 0]).sum() for drawn in people.drawn_by)),
        orphans=float(sum(np.count_nonzero(alone) for alone in people.orphans)),
        orphans_found=float(found),
        detected=float(np.count_nonzero(detected)),
        false_alarms=float(np.count_nonzero(detected & ~hits)),
    )
