"""Human performance: each annotator is compared, as the detector, with all others."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyperacuity.boundary.matching import match
from hyperacuity.boundary.protocols import Protocol
from hyperacuity.boundary.scores import Point, f_measure, recall_precision
from hyperacuity.boundary.tallies import BoundaryTally
from hyperacuity.errors import InputError
from hyperacuity.maps import EdgeMap
from hyperacuity.tally import total


def tally_humans(truths: Sequence[EdgeMap], protocol: Protocol = Protocol()) -> BoundaryTally:
    """Counts of an image, each annotator in turn against all the others, added up; one entry.

    Human maps are used as they are: neither suppressed nor thinned. At least two annotators are needed. Each pair of
    annotators is matched once and read both ways.
    """
    n = len(truths)
    if n < 2:
        raise InputError(f"human performance needs at least two annotators, got {n}")
    matched_by_any = [np.zeros(np.asarray(truth).shape, np.bool_) for truth in truths]
    pairs = 0
    for one, other in itertools.combinations(range(n), 2):
        matches = match(truths[one], truths[other], protocol.tolerance)
        matched_by_any[one].flat[matches.detected] = True
        matched_by_any[other].flat[matches.truth] = True
        pairs += matches.count
    drawn = sum(int(np.count_nonzero(truth)) for truth in truths)
    matched = sum(int(pixels.sum()) for pixels in matched_by_any)
    counts = (2 * pairs, drawn * (n - 1), matched, drawn, drawn * (n - 1), drawn)
    return BoundaryTally(*(np.array([count], np.int64) for count in counts), protocol=protocol)


@dataclass(frozen=True)
class HumanScore:
    """Human performance as a point on a precision–recall plot."""

    images: int
    point: Point


def collect_humans(tallies: Sequence[BoundaryTally]) -> HumanScore:
    """Recall, precision and F of people over a data set; NaN without images."""
    if not tallies:
        nan = float("nan")
        return HumanScore(0, Point(nan, nan, nan, nan))
    recall, precision = recall_precision(total(tallies))
    f = f_measure(recall, precision)
    return HumanScore(len(tallies), Point(float("nan"), float(recall[0]), float(precision[0]), float(f[0])))
