"""One image of the boundary benchmark: counts at every threshold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hyperacuity.boundary.matching import tolerance_in_pixels
from hyperacuity.boundary.protocols import Prediction, Protocol
from hyperacuity.errors import InputError
from hyperacuity.kernels.counting import sweep_counts
from hyperacuity.kernels.pairs import reach
from hyperacuity.kernels.sweep import sweep
from hyperacuity.maps import EdgeMap, SoftMap, boundary_marks, edge_map, label_map, same_size, soft_map
from hyperacuity.tally import Arrays, BaseProtocol, Counts, Tally, unpacked_arrays


@dataclass(frozen=True, eq=False)
class BoundaryTally(Tally):
    """Counts of one image (or, added up, of many), one entry per threshold.

    In Berkeley's files the first four are ``cntR``, ``sumR``, ``cntP`` and ``sumP``.

    Parameters
    ----------
    truth_matched, truth
        Over all annotators: the pixels of each one's truth that have a partner, and all of them.
    detected_matched, detected
        The detected pixels that are some annotator's partner, and all of them.
    detected_shown
        The detected pixels times the annotators: how many partners there could be. With ``truth_matched``, it gives the precision
        without the bonus for many annotators.
    marked
        The pixels at or above the threshold, before thinning: many more than are detected where maps are thick.
    """

    truth_matched: Counts
    truth: Counts
    detected_matched: Counts
    detected: Counts
    detected_shown: Counts
    marked: Counts

    @classmethod
    def unpack(cls, data: bytes, protocol: BaseProtocol) -> Self:
        """Read a packed tally. Those of older versions, which do not have ``marked``, count as thin."""
        arrays = unpacked_arrays(data)
        return cls._checked({"marked": arrays["detected"], **arrays} if "detected" in arrays else arrays, protocol)

    def validate(self) -> None:
        """Require no more pairs than either side has pixels, and one entry in human tallies."""
        super().validate()
        levels = self.protocol.levels.size if isinstance(self.protocol, Protocol) else 0
        entries = np.size(self.truth)
        self.require_shape((levels if levels and entries != 1 else max(entries, 1),), *self.names())
        require_possible_pairs(self)

    def truth_counts(self) -> Arrays:
        """The true pixels, which are the same at all thresholds."""
        return {"truth": self.truth[:1]}


def require_possible_pairs(counts: Tally) -> None:
    """Require that pairs are no more than either side has, in tallies with the fields of :class:`BoundaryTally`."""
    truth = counts.arrays["truth"]
    counts.require(truth == truth[..., :1], "truth", "the same at all thresholds")
    counts.require_at_most("truth", "truth_matched")
    counts.require_at_most("detected", "detected_matched")
    counts.require_at_most("truth_matched", "detected_matched")
    counts.require_at_most("detected_shown", "detected", "truth_matched")
    counts.require_at_most("marked", "detected")


def tally(
    prediction: Prediction, truths: Sequence[EdgeMap], protocol: Protocol = Protocol(), *, checked: bool = False
) -> BoundaryTally:
    """Count one image: a soft boundary map, or a stack of segmentations, against every annotator's boundaries.

    At each threshold t the map is ``prediction ≥ t``, thinned if the protocol says so, and matched with each truth
    (:func:`hyperacuity.boundary.match`). A stack of segmentations (``thresholds="levels"``) has levels, from the first
    to the last, whose boundaries are matched in the same way. Truths that are empty count as annotators who drew nothing.
    ``checked`` verifies that every matching is optimal.

    Examples
    --------
    >>> truth = np.zeros((8, 8), dtype=bool)
    >>> truth[4] = True
    >>> soft = np.where(truth, 0.5, 0).astype(np.float32)
    >>> counts = tally(soft, [truth, truth], Protocol(thresholds=(0.25, 0.75)))
    >>> counts.truth_matched, counts.detected
    (array([16,  0]), array([8, 0]))
    """
    if not truths:
        raise InputError("there is no truth to compare with: expected at least one annotator's boundaries")
    maps = [edge_map(truth, name=f"truth of annotator {number}") for number, truth in enumerate(truths, 1)]
    if protocol.thresholds != "levels":
        if not isinstance(prediction, np.ndarray):
            raise InputError("the prediction is a stack of segmentations, but the protocol is for soft maps")
        soft = soft_map(prediction, name="prediction")
        for truth in maps:
            same_size(soft, truth)
        soft = protocol.suppressed(soft)
        return _count(soft, maps, protocol.levels, protocol, checked)
    if not len(prediction):
        raise InputError("the stack of segmentations is empty")
    parts = []
    for level in prediction:
        labels = label_map(level, name="segmentation")
        same_size(labels, maps[0])
        marks = boundary_marks(labels).astype(np.float32)
        parts.append(_count(marks, maps, np.array([0.5]), protocol, checked))
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in BoundaryTally.names()}
    return BoundaryTally(**joined, protocol=protocol)


def _count(
    soft: SoftMap, truths: list[EdgeMap], levels: NDArray[np.float64], protocol: Protocol, checked: bool
) -> BoundaryTally:
    within = reach(tolerance_in_pixels(soft.shape, protocol.tolerance))
    if len(truths) == 1 and not checked:
        # Pairs with one annotator are as many detected pixels as true ones. Which they are, and how far apart, does not matter.
        matched, detected, marked = sweep_counts(soft, truths[0], levels, within, thin=protocol.thin)
        matched_by_any = matched
    else:
        counts = sweep(soft, truths, levels, within, thin=protocol.thin, checked=checked)
        matched, matched_by_any = counts.matched.sum(axis=0), counts.matched_by_any
        detected, marked = counts.detected, counts.marked
    return BoundaryTally(
        truth_matched=matched,
        truth=np.full(levels.size, sum(int(np.count_nonzero(truth)) for truth in truths), np.int64),
        detected_matched=matched_by_any,
        detected=detected,
        detected_shown=detected * len(truths),
        marked=marked,
        protocol=protocol,
    )


def thickness(maps: Iterable[SoftMap], protocol: Protocol = Protocol()) -> float:
    """Marked pixels per thinned one, over all maps and thresholds; NaN where nothing is marked.

    >>> thin, thick = np.zeros((2, 9, 90), np.float32)
    >>> thin[4], thick[3:6] = 0.8, 0.8
    >>> thickness([thin]), round(thickness([thick]), 1)
    (1.0, 3.1)
    """
    tallies = [tally(soft, [np.zeros(soft.shape, np.bool_)], protocol) for soft in maps]
    marked, detected = (sum(int(getattr(one, name).sum()) for one in tallies) for name in ("marked", "detected"))
    return marked / detected if detected else float("nan")
