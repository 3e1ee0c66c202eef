r"""A data set of occlusion boundaries: OPR with ODS, OIS and AP, and AOR.

* **OPR** (orientation precision and recall): precision = right pairs / detected pixels, recall = right pairs / true ones, at each
  threshold; ODS, OIS and AP of this curve follow the rules of the boundary benchmark (:mod:`hyperacuity.boundary.scores`).
* **AOR** (accuracy of orientation over recall): of the detected pixels that have a partner, the share in right pairs, over the
  recall of boundaries whatever their direction. One number of it is the share at the threshold with the best OPR.

These are precision, recall and classification with two classes (:mod:`hyperacuity.ordering.prc`): OPR is P(0) and R(0), AOR is
CD / (CD + ID), of a whole sweep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hyperacuity.boundary import BoundaryScore, BoundaryTally, Point
from hyperacuity.boundary import collect as collect_boundaries
from hyperacuity.boundary.scores import criteria as boundary_criteria
from hyperacuity.boundary.scores import f_measure, recall_precision
from hyperacuity.ordering.occlusion import OcclusionProtocol, OcclusionTally
from hyperacuity.resampling import Bootstrap, Draws, percentile_interval, ratio, resample
from hyperacuity.tally import Scores, Weights, protocol_of, stack, total
from hyperacuity.tasks import Criteria

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OcclusionScore:
    """Score of a system on a data set.

    ``opr`` has ODS, OIS, AP and the curve of right pairs, ``boundary`` those of the same maps when directions do not count.
    ``accuracy`` is AOR at each threshold, over the recall of ``boundary.curve``; NaN where nothing is matched. ``aor`` is its
    value at the threshold (of the grid) with the best OPR, with a 95 % interval over images.
    """

    protocol: OcclusionProtocol
    images: tuple[str, ...]
    opr: BoundaryScore
    boundary: BoundaryScore
    accuracy: Floats
    aor: float
    aor_interval: tuple[float, float] = (float("nan"), float("nan"))


def as_boundaries(tally: OcclusionTally, *, directed: bool = True) -> BoundaryTally:
    """The counts as the boundary benchmark's: of right pairs, or of all where directions do not count.

    >>> none = np.zeros(1, np.int64)
    >>> counts = OcclusionTally(none + 1, none + 2, none + 4, none + 1, none + 2, none + 2, protocol=OcclusionProtocol())
    >>> as_boundaries(counts).truth_matched, as_boundaries(counts, directed=False).truth_matched
    (array([1]), array([2]))
    """
    protocol = protocol_of([tally], OcclusionProtocol)
    recalled = tally.truth_right if directed and protocol.recall == "right" else tally.truth_matched
    detected = tally.detected_right if directed else tally.detected_matched
    # The last two are unused: the thickness of maps and the mean over annotators are unknown here.
    counts = (recalled, tally.truth, detected, tally.detected, tally.detected, tally.detected)
    return BoundaryTally(*counts, protocol=protocol.boundary)


def collect_occlusion(tallies: Mapping[str, OcclusionTally], *, resamples: int = 1000, seed: int = 0) -> OcclusionScore:
    """The scores of a data set from its images' tallies. ``resamples=0`` leaves the intervals out (NaN)."""
    protocol, every = protocol_of(tallies.values(), OcclusionProtocol), [tallies[image] for image in sorted(tallies)]
    opr, plain = (
        collect_boundaries(
            {name: as_boundaries(one, directed=directed) for name, one in tallies.items()},
            resamples=resamples,
            seed=seed,
        )
        for directed in (True, False)
    )
    whole = total(every)
    once = np.ones((1, len(every)), np.int64)
    score = OcclusionScore(
        protocol=protocol,
        images=tuple(tallies),
        opr=replace(opr, thickness=float("nan")),
        boundary=replace(plain, thickness=float("nan")),
        accuracy=ratio(whole.detected_right, whole.detected_matched),
        aor=float(_resampled_aor(every, once)[0]),
    )
    if not resamples:
        return score
    drawn = _resampled_aor(every, Bootstrap(len(every), resamples, seed))
    return replace(score, aor_interval=percentile_interval(drawn))


def _resampled_aor(tallies: Sequence[OcclusionTally], weights: Draws) -> Floats:
    """AOR of every resampled data set at its best threshold by OPR."""
    protocol = protocol_of(tallies, OcclusionProtocol)
    recalled = "truth_right" if protocol.recall == "right" else "truth_matched"
    names = (recalled, "truth", "detected_right", "detected", "detected_matched")
    hits, truth, right, detected, matched = (resample(weights, stack(tallies, name)) for name in names)
    f = f_measure(ratio(hits, truth, empty=0.0), ratio(right, detected, empty=0.0))
    best = f.argmax(axis=1)[:, None]
    return ratio(np.take_along_axis(right, best, 1)[:, 0], np.take_along_axis(matched, best, 1)[:, 0])


def occlusion_criteria(protocol: OcclusionProtocol) -> Criteria:
    """OPR's ODS, OIS and AP, AOR, and ODS where directions do not count."""
    of_boundaries = boundary_criteria(protocol.boundary)

    def rescore(tallies: Sequence[OcclusionTally], weights: Weights) -> Scores:
        right = of_boundaries.rescore([as_boundaries(one) for one in tallies], weights)
        plain = of_boundaries.rescore([as_boundaries(one, directed=False) for one in tallies], weights)
        return np.column_stack([right, _resampled_aor(tallies, weights), plain[:, 0]])

    names = ("opr-ods", "opr-ois", "opr-ap", "aor", "ods")
    return Criteria(names, ("max",) * len(names), rescore, ("opr-ods", "opr-ois", "opr-ap", "aor"))


@dataclass(frozen=True)
class HumanOcclusion:
    """Human performance: a point of OPR, and AOR; NaN without images."""

    images: int
    point: Point
    aor: float


def collect_occlusion_humans(tallies: Sequence[OcclusionTally]) -> HumanOcclusion:
    """Recall, precision, F and AOR of people over a data set."""
    nan = float("nan")
    if not tallies:
        return HumanOcclusion(0, Point(nan, nan, nan, nan), nan)
    whole = total(tallies)
    recall, precision = (float(part[0]) for part in recall_precision(as_boundaries(whole)))
    f = float(f_measure(np.array(recall), np.array(precision)))
    aor = float(ratio(whole.detected_right, whole.detected_matched)[0])
    return HumanOcclusion(len(tallies), Point(nan, recall, precision, f), aor)
