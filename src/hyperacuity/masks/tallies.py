"""One picture, or one sequence: counts and sums over its objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from hyperacuity.errors import InputError
from hyperacuity.masks.contours import MaskCounts, count_masks
from hyperacuity.masks.objects import Frame, Labels, ObjectPair, frames_of, pairs_of
from hyperacuity.masks.protocols import LABELS, Protocol
from hyperacuity.tally import Arrays, Counts, Sums, Tally, protocol_of

MEASURES = ("f", "one_to_one", "boundary_iou", "j")
"""The measures of an object, whose sums a tally holds."""

COUNTS = tuple(part.name for part in fields(MaskCounts))


@dataclass(frozen=True, eq=False)
class MaskTally(Tally):
    """Sums over the objects of a picture or sequence, one entry per label; one in all where labels mean nothing.

    Parameters
    ----------
    objects
        How many there are: those of the truth, and predicted ones that belong to none of them.
    missed, extra
        True objects without a predicted one, and predicted ones without a true one.
    detected, truth, detected_near, truth_near, matched, band_common, band_any, common, area
        Pixels, as :class:`MaskCounts` has them, over all objects and frames.
    f, one_to_one, boundary_iou, j
        The measures of each object, summed; of an object in a sequence, its mean over frames.
    """

    objects: Counts
    missed: Counts
    extra: Counts
    detected: Counts
    truth: Counts
    detected_near: Counts
    truth_near: Counts
    matched: Counts
    band_common: Counts
    band_any: Counts
    common: Counts
    area: Counts
    f: Sums
    one_to_one: Sums
    boundary_iou: Sums
    j: Sums

    def validate(self) -> None:
        """Require that common pixels are no more than either side has, and that no object scores more than 1."""
        super().validate()
        self.require_shape((LABELS if protocol_of([self], Protocol).by == "label" else 1,), *self.names())
        self.require_at_most(self.objects - np.minimum(self.extra, self.objects), "missed", *MEASURES)
        self.require_at_most("objects", "extra")
        self.require_at_most("detected", "detected_near", "matched")
        self.require_at_most("truth", "truth_near", "matched")
        self.require_at_most("band_any", "band_common")
        self.require_at_most("area", "common")

    def truth_counts(self) -> Arrays:
        """The true boundary pixels."""
        return {"truth": self.truth}


def tally(
    prediction: Labels, truths: Sequence[Labels], protocol: Protocol | None = None, *, checked: bool = False
) -> MaskTally:
    """Compare the objects of one picture, or of one sequence (:class:`Frames`), with the truth's.

    In a sequence, an object's score is its mean over frames, and 1 in frames in which it is neither drawn nor predicted, as in
    DAVIS. A true object without a partner is compared with an empty mask. A predicted one without a partner scores 0. A picture
    without objects has nothing to count. ``checked`` verifies that every matching is optimal.

    Examples
    --------
    >>> truth = np.zeros((20, 30), dtype=int)
    >>> truth[5:15, 5:15], truth[5:15, 15:25] = 1, 2
    >>> result = tally(np.where(truth == 1, 1, 0), [truth], Protocol(by="instance"))
    >>> result.objects, result.missed, result.f, result.j
    (array([2]), array([1]), array([1.]), array([1.]))
    """
    if len(truths) != 1:
        raise InputError(f"there are {len(truths)} truths of an image, expected one label map")
    protocol = protocol or Protocol()
    every = frames_of(prediction, truths[0], protocol)
    frames = every[1:-1] if len(every) > 1 and protocol.frames == "inner" else every
    pairs = pairs_of(every, protocol)
    by_frame = [[_count(frame, pair, checked) for pair in pairs] for frame in frames]
    slots = LABELS if protocol.by == "label" else 1
    sums: dict[str, Any] = {name: np.zeros(slots, np.int64) for name in ("objects", "missed", "extra", *COUNTS)}
    sums |= {name: np.zeros(slots) for name in MEASURES}
    for pair, alone in zip(pairs, zip(*by_frame, strict=True), strict=True):
        slot = _slot(pair, protocol)
        sums["objects"][slot] += 1
        sums["missed"][slot] += pair.prediction is None
        sums["extra"][slot] += pair.truth is None
        for name in COUNTS:
            sums[name][slot] += sum(getattr(one, name) for one in alone)
        for name in MEASURES if pair.truth is not None else ():
            sums[name][slot] += np.mean([getattr(one, name) for one in alone])
    return MaskTally(**sums, protocol=protocol)


def _slot(pair: ObjectPair, protocol: Protocol) -> int:
    if protocol.by != "label":
        return 0
    label = pair.prediction if pair.truth is None else pair.truth
    assert label is not None  # noqa: S101  # a pair has one of the two
    return label


def _count(frame: Frame, pair: ObjectPair, checked: bool) -> MaskCounts:
    prediction, truth, _ = frame.masks(pair)
    return count_masks(prediction, truth, frame.radius, frame.width, checked=checked)
