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

RADIUS = 3.0
"""How far apart partners may be, in pixels."""

ANGLE = 15.0
"""How far apart directions may be, in degrees."""

MatchCost = Literal["distance", "distance+angle"]
TruthTie = Literal["consistent", "exclude"]
Annotators = Literal["bsds", "sum", "best"]

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
        found, true = _counts(self.detected_codes()), _counts(self.truth_codes())
        return Outcomes(true[CONSISTENT], true[INCONSISTENT], found[FALSE], true[MISSED])


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
        How far apart partners may be, in pixels.
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
    >>> found = match_contours(contours(near_left), contours(near_right)).outcomes()
    >>> float(found.consistent), float(found.inconsistent)
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

        def disagreement(true: NDArray[np.int64], found: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.nan_to_num(angle_between(truth_angle[true], detected_angle[found])) * (radius / 180)

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
    found = [_veiled(one.detected_codes(), veil) for one, veil in zip(matches, veils, strict=True)]
    recalled = [_counts(one.truth_codes()) for one in matches]
    if annotators == "bsds":
        # The best of the annotators' verdicts on each detection; a pixel unknown to one may be false to another.
        rank = np.array([0, 5, 4, 2, 0, 3], np.uint8)
        best = np.max([rank[codes] for codes in found], axis=0)
        counted = np.bincount(best.ravel(), minlength=6)
        true = np.sum(recalled, axis=0)
        of_truth = {"recalled_consistent": true[CONSISTENT], "recalled_inconsistent": true[INCONSISTENT]}
        return Outcomes(counted[5], counted[4], counted[2], true[MISSED], **of_truth)
    each = [
        (true[CONSISTENT], true[INCONSISTENT], _counts(codes)[FALSE], true[MISSED])
        for codes, true in zip(found, recalled, strict=True)
    ]
    if annotators == "best":
        return max((Outcomes(*four) for four in each), key=lambda one: float(np.nan_to_num(one.f(1), nan=-1.0)))
    return Outcomes(*np.sum(each, axis=0))


def _veiled(codes: NDArray[np.uint8], unknown: NDArray[np.bool_] | None) -> NDArray[np.uint8]:
    if unknown is not None:
        codes[unknown & (codes == FALSE)] = NOTHING
    return codes


def _counts(codes: NDArray[np.uint8]) -> NDArray[np.int64]:
    return np.bincount(codes.ravel(), minlength=6)
