"""How well do people do? Each annotator is taken as a detector and held against the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyperacuity.boundary.protocol import Protocol
from hyperacuity.boundary.scores import Point, f_measure, recall_precision
from hyperacuity.boundary.tallies import BoundaryTally, tally
from hyperacuity.errors import InputError
from hyperacuity.maps import EdgeMap


def tally_humans(truths: Sequence[EdgeMap], protocol: Protocol = Protocol()) -> BoundaryTally:  # noqa: B008
    """Counts of an image, each annotator in turn against all the others, added up; one entry.

    Human maps are used as they are: neither suppressed nor thinned. At least two annotators are needed.
    """
    if len(truths) < 2:
        raise InputError(f"human performance needs at least two annotators, found {len(truths)}")
    as_drawn = Protocol(tolerance=protocol.tolerance, thin=False, thresholds=(0.5,), precision=protocol.precision)
    total: BoundaryTally | None = None
    for number, drawn in enumerate(truths):
        others = [truth for other, truth in enumerate(truths) if other != number]
        one = tally(np.asarray(drawn, np.float32), others, as_drawn)
        total = one if total is None else total + one
    assert total is not None  # noqa: S101 (there are two annotators or more)
    return total


@dataclass(frozen=True)
class HumanScore:
    """The point at which people stand on a precision–recall plot."""

    images: int
    point: Point


def collect_humans(tallies: Sequence[BoundaryTally], protocol: Protocol = Protocol()) -> HumanScore:  # noqa: B008
    """Recall, precision and F of people over a data set; NaN without images."""
    if not tallies:
        nan = float("nan")
        return HumanScore(0, Point(nan, nan, nan, nan))
    total = tallies[0]
    for one in tallies[1:]:
        total = total + one
    recall, precision = recall_precision(total, protocol.precision)
    f = f_measure(recall, precision)
    return HumanScore(len(tallies), Point(float("nan"), float(recall[0]), float(precision[0]), float(f[0])))
