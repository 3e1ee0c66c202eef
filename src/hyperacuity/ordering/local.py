"""Local depth consistency (LDC): are contours where they should be, and do they step down on the right side?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hyperacuity.boundary import Match, match
from hyperacuity.errors import InputError
from hyperacuity.maps import same_size
from hyperacuity.ordering.directed_contours import Contours, angle_between
from hyperacuity.ordering.prc import Outcomes
from hyperacuity.resampling import ratio

RADIUS = 3.0
"""Largest distance of partners, in pixels."""

ANGLE = 15.0
"""Largest angle between directions, in degrees."""

SIDE = 90.0
"""Directions that are farther apart, in degrees, say that the other side is in front."""

MatchCost = Literal["distance", "distance+angle"]
TruthTie = Literal["consistent", "exclude"]
Annotators = Literal["bsds", "sum", "best"]

FOUR = ("consistent", "inconsistent", "false", "missed")
NOTHING, CONSISTENT, INCONSISTENT, FALSE, MISSED, EXCLUDED = range(6)
"""Codes of :meth:`LocalMatch.codes`."""


@dataclass(frozen=True, eq=False)
class LocalMatch:
    """Contours of a system and of one annotator, matched. ``verdict`` has a code per pair: consistent, inconsistent, excluded."""

    detected: Contours
    truth: Contours
    pairs: Match
    verdict: NDArray[np.uint8]
    truth_tie: TruthTie

    def detected_codes(self) -> NDArray[np.uint8]:
        """Per pixel what became of the detection there: consistent, inconsistent, excluded or false; 0 for none."""
        codes = np.where(self.detected.pixels, np.uint8(FALSE), np.uint8(NOTHING))
        codes.flat[self.pairs.detected] = self.verdict
        return codes

    def truth_codes(self) -> NDArray[np.uint8]:
        """Per pixel what became of the true contour there: consistent, inconsistent, excluded or missed; 0 for none."""
        codes = np.where(self.truth.pixels, np.uint8(MISSED), np.uint8(NOTHING))
        if self.truth_tie == "exclude":
            codes[self.truth.pixels & np.isnan(self.truth.angle)] = EXCLUDED
        codes.flat[self.pairs.truth] = self.verdict
        return codes

    def outcomes(self) -> Outcomes:
        """The four counts."""
        detected, true = _counts(self.detected_codes()), _counts(self.truth_codes())
        return Outcomes(true[CONSISTENT], true[INCONSISTENT], detected[FALSE], true[MISSED])

    def inconsistencies(self) -> NDArray[np.int64]:
        """Inconsistent pairs by their reason: rough direction, wrong side, no direction (:class:`Inconsistency`)."""
        wrong = self.verdict == INCONSISTENT
        apart = angle_between(self.detected.angle.flat[self.pairs.detected], self.truth.angle.flat[self.pairs.truth])
        reasons = (apart <= SIDE, apart > SIDE, np.isnan(apart))
        return np.array([np.count_nonzero(wrong & reason) for reason in reasons], np.int64)


@dataclass(frozen=True, eq=False)
class Inconsistency:
    r"""Reasons for the inconsistency of matched contour pixels of the truth; an entry per operating point.

    A **rough** direction differs from the true one by more than the protocol's angle, yet the right side is in front: it is at
    most 90° off. On the **wrong side** it is more than 90° off. **Undirected** contours have no direction: the system gave both
    sides one depth. The three add up to the inconsistent ones. NaN where they were not counted.

    >>> result = Inconsistency(np.array([6.0]), rough=np.array([3.0]), wrong_side=np.array([1.0]), undirected=np.array([0.0]))
    >>> result.right_side
    array([0.9])
    """

    consistent: NDArray[np.float64]
    rough: NDArray[np.float64]
    wrong_side: NDArray[np.float64]
    undirected: NDArray[np.float64]

    @property
    def matched(self) -> NDArray[np.float64]:
        """Contour pixels of the truth that have a match."""
        return self.consistent + self.rough + self.wrong_side + self.undirected

    @property
    def right_side(self) -> NDArray[np.float64]:
        """Share of matched pixels that have the right side in front: the figure/ground accuracy at an angle of 90°."""
        return ratio(self.consistent + self.rough, self.matched)


def match_contours(
    detected: Contours,
    truth: Contours,
    *,
    radius: float = RADIUS,
    angle: float = ANGLE,
    cost: MatchCost = "distance",
    truth_tie: TruthTie = "consistent",
) -> LocalMatch:
    """Match the contour pixels of a system and an annotator one to one, and compare directions.

    As many pairs as possible, then the least total distance (:func:`hyperacuity.boundary.match`); a pair is consistent when its
    directions are at most ``angle`` degrees apart. A detection without direction (a tie in the system's depth) is
    inconsistent with a truth that has one.

    Parameters
    ----------
    radius
        Largest distance of partners, in pixels.
    angle
        How far apart their directions may be, in degrees (inclusive).
    cost
        ``"distance"`` as in the paper; ``"distance+angle"`` adds up to ``radius`` pixels for opposite directions, so that where
        there is a choice between partners of one distance or nearly so, the one that agrees is taken.
    truth_tie
        What to do with true contours without direction: matched they are ``"consistent"``, or they are left out of every count
        (``"exclude"``), matched or not.

    Examples
    --------
    >>> from hyperacuity.ordering import contours, ordering
    >>> near_left, near_right = ordering([[2, 2, 1, 1]] * 4), ordering([[1, 1, 2, 2]] * 4)
    >>> result = match_contours(contours(near_left), contours(near_right)).outcomes()
    >>> float(result.consistent), float(result.inconsistent)
    (0.0, 4.0)
    """
    same_size(detected.pixels, truth.pixels)
    if cost not in ("distance", "distance+angle"):
        raise InputError(f"cost {cost!r}: expected 'distance' or 'distance+angle'")
    if truth_tie not in ("consistent", "exclude"):
        raise InputError(f"truth_tie {truth_tie!r}: expected 'consistent' or 'exclude'")
    if cost == "distance":
        pairs = match(detected.pixels, truth.pixels, tolerance_px=radius)
    else:
        detected_angle, truth_angle = detected.angle.ravel(), truth.angle.ravel()

        def disagreement(true: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.nan_to_num(angle_between(truth_angle[true], detected_angle[other])) * (radius / 180)

        pairs = match(detected.pixels, truth.pixels, tolerance_px=radius, pair_cost=disagreement, pair_cost_most=radius)
    detected_at, truth_at = detected.angle.flat[pairs.detected], truth.angle.flat[pairs.truth]
    verdict = np.where(angle_between(detected_at, truth_at) <= angle, CONSISTENT, INCONSISTENT).astype(np.uint8)
    verdict[np.isnan(truth_at)] = CONSISTENT if truth_tie == "consistent" else EXCLUDED
    return LocalMatch(detected, truth, pairs, verdict, truth_tie)


def combine(
    matches: Sequence[LocalMatch],
    annotators: Annotators = "bsds",
    *,
    unknown: Sequence[NDArray[np.bool_] | None] | None = None,
) -> Outcomes:
    """The counts of one image over all its annotators.

    ``"bsds"``: recall counts every annotator's contours; for precision a detected pixel is consistent when it is so with any
    annotator, else inconsistent when matched with any, else false. ``"sum"``: everything is counted once per annotator.
    ``"best"``: only the annotator with the best F(1) counts, the first of equals. With one annotator all three agree.
    ``unknown`` has, per annotator, the pixels of which the truth says nothing; a detection there is not false. Without
    annotators nothing is counted.
    """
    if annotators not in ("bsds", "sum", "best"):
        raise InputError(f"annotators {annotators!r}: expected 'bsds', 'sum' or 'best'")
    if not matches:
        return Outcomes(0, 0, 0, 0)
    veils = [None] * len(matches) if unknown is None else list(unknown)
    detected = [_veiled(one.detected_codes(), veil) for one, veil in zip(matches, veils, strict=True)]
    recalled = [_counts(one.truth_codes()) for one in matches]
    if annotators == "bsds":
        # The best of the annotators' verdicts on each detection; a pixel unknown to one may be false to another.
        rank = np.array([0, 5, 4, 2, 0, 3], np.uint8)
        best = np.max([rank[codes] for codes in detected], axis=0)
        counted = np.bincount(best.ravel(), minlength=6)
        true = np.sum(recalled, axis=0)
        of_truth = {"recalled_consistent": true[CONSISTENT], "recalled_inconsistent": true[INCONSISTENT]}
        return Outcomes(counted[5], counted[4], counted[2], true[MISSED], **of_truth)
    each = [
        Outcomes(true[CONSISTENT], true[INCONSISTENT], _counts(codes)[FALSE], true[MISSED])
        for codes, true in zip(detected, recalled, strict=True)
    ]
    if annotators == "best":
        return each[_best(each)]
    return Outcomes(*(sum(getattr(one, name) for one in each) for name in FOUR))


def split_inconsistent(
    matches: Sequence[LocalMatch],
    annotators: Annotators = "bsds",
    *,
    unknown: Sequence[NDArray[np.bool_] | None] | None = None,
) -> NDArray[np.int64]:
    """True contour pixels of one image that are inconsistent, over all its annotators: rough, wrong side, undirected.

    They add up to the ``recalled_inconsistent`` of :func:`combine`. Without annotators all three are 0.
    """
    if annotators == "best" and matches:
        veils = [None] * len(matches) if unknown is None else list(unknown)
        chosen = _best([combine([one], "sum", unknown=[veil]) for one, veil in zip(matches, veils, strict=True)])
        return matches[chosen].inconsistencies()
    return (
        np.sum([one.inconsistencies() for one in matches], axis=0, dtype=np.int64) if matches else np.zeros(3, np.int64)
    )


def _best(each: Sequence[Outcomes]) -> int:
    """The annotator with the best F(1), the first of equals."""
    return max(range(len(each)), key=lambda one: float(np.nan_to_num(each[one].f(1), nan=-1.0)))


def _veiled(codes: NDArray[np.uint8], unknown: NDArray[np.bool_] | None) -> NDArray[np.uint8]:
    if unknown is not None:
        codes[unknown & (codes == FALSE)] = NOTHING
    return codes


def _counts(codes: NDArray[np.uint8]) -> NDArray[np.int64]:
    return np.bincount(codes.ravel(), minlength=6)
