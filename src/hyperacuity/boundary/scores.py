"""A data set of the boundary benchmark: ODS, OIS, AP, R50, the curve, intervals over images, and paired tests.

Berkeley's rules, some of which are surprising:

* ODS, the best F at one threshold for all images, is sought between thresholds too: recall and precision are interpolated
  linearly at 100 points of every interval, and the first maximum counts.
* OIS, the best threshold for each image, is sought on the grid only, the first maximum counts; the counts at these
  thresholds are summed over images before recall and precision are formed.
* AP is the area under precision over recall: precision interpolated linearly at recall 0, 0.01 … 1, zero outside the range of
  recalls that occur, summed times 0.01. Where a recall occurs twice, the precision of its lower threshold counts.
* 0 / 0 is 0 in recall, precision and F.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from hyperacuity.boundary.protocols import Precision, Protocol
from hyperacuity.boundary.tallies import BoundaryTally
from hyperacuity.errors import UsageError
from hyperacuity.resampling import Bootstrap, Draws, PairedResult, paired_bootstrap, percentile_interval, resample
from hyperacuity.tally import Weights, protocol_of, stack
from hyperacuity.tasks import Criteria

Floats = NDArray[np.float64]

RECALL_GRID = np.linspace(0, 1, 101)
BLENDS = np.linspace(0, 1, 100)

FEW = 64
"""Images whose curves are searched between thresholds at a time."""


@dataclass(frozen=True)
class Point:
    """An operating point. ``threshold`` is NaN if it differs by image."""

    threshold: float
    recall: float
    precision: float
    f: float
    interval: tuple[float, float] = (float("nan"), float("nan"))
    """95 % interval of F: percentile bootstrap over images."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Recall, precision and F of the summed counts at each threshold."""

    threshold: Floats
    recall: Floats
    precision: Floats
    f: Floats


class Points(Sequence[Point]):
    """Operating points, held as one array: an image takes 32 bytes, and there may be a hundred thousand."""

    def __init__(self, values: Floats) -> None:
        self._values = values  # points × (threshold, recall, precision, F)

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, index: int) -> Point: ...
    @overload
    def __getitem__(self, index: slice) -> Points: ...
    def __getitem__(self, index: int | slice) -> Point | Points:
        values = self._values[index]
        return Points(values) if isinstance(index, slice) else Point(*values.tolist())


@dataclass(frozen=True, eq=False)
class BoundaryScore:
    """Score of a system on a data set. ``per_image`` are the best points of each image, interpolated as ODS is."""

    protocol: Protocol
    images: tuple[str, ...]
    ods: Point
    ois: Point
    ap: float
    r50: float
    curve: Curve
    per_image: Sequence[Point]
    thickness: float = float("nan")
    """Marked pixels per thinned one, over all images and thresholds."""


def ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """``part / whole``, 0 where the whole is 0."""
    return np.asarray(part / np.where(whole == 0, 1, whole), np.float64)


def f_measure(recall: Floats, precision: Floats) -> Floats:
    """Harmonic mean of recall and precision, 2PR / (P + R); 0 where both are 0."""
    total = recall + precision
    return np.asarray(2 * recall * precision / np.where(total == 0, 1, total), np.float64)


def recall_precision(tally: BoundaryTally, precision: Precision | None = None) -> tuple[Floats, Floats]:
    """Recall and precision of (summed) counts; the precision is that of the tally's protocol, or the one named."""
    recall = ratio(tally.truth_matched, tally.truth)
    if (precision or protocol_of([tally], Protocol).precision) == "mean":
        return recall, ratio(tally.truth_matched, tally.detected_shown)
    return recall, ratio(tally.detected_matched, tally.detected)


def best_point(threshold: Floats, recall: Floats, precision: Floats) -> Point:
    """The point of greatest F on a curve, sought between thresholds too (the first of equals)."""
    return _best_points(threshold, recall[np.newaxis], precision[np.newaxis])[0]


def _best_points(threshold: Floats, recall: Floats, precision: Floats) -> Points:
    """The best points of many curves, images × thresholds, a few at a time."""
    best, t = np.empty((len(recall), 4)), _blend(threshold)
    for start in range(0, len(recall), FEW):
        rows = slice(start, start + FEW)
        r, p = _blend(recall[rows]), _blend(precision[rows])
        f = f_measure(r, p)
        at = np.argmax(f.round(12), axis=1)  # equals but for rounding are equals
        each = np.arange(len(at))
        best[rows] = np.column_stack([t[at], r[each, at], p[each, at], f[each, at]])
    return Points(best)


def _blend(values: Floats) -> Floats:
    """Values at 100 points of every interval between neighbours (last axis), ends included; a single value is itself."""
    if values.shape[-1] == 1:
        return values
    left, right = values[..., :-1, None], values[..., 1:, None]
    blended = left + (right - left) * BLENDS  # exact where both ends are equal
    return blended.reshape(*values.shape[:-1], -1)


def average_precision(recall: Floats, precision: Floats) -> float:
    """Area under precision over recall by Berkeley's rule; 0 when fewer than two different recalls occur.

    >>> average_precision(np.array([1.0, 0.5]), np.array([0.5, 1.0]))
    0.3825
    """
    distinct, first = np.unique(recall, return_index=True)
    if distinct.size < 2:
        return 0.0
    inside = np.interp(RECALL_GRID, distinct, precision[first], left=0.0, right=0.0)
    return round(float(inside.sum() * 0.01), 12)


def recall_at_half_precision(recall: Floats, precision: Floats) -> float:
    """R50: the recall at which precision is one half, interpolated linearly; NaN where the curve does not pass one half."""
    order = np.argsort(precision, kind="stable")
    if precision.size == 0 or not precision.min() <= 0.5 <= precision.max():
        return float("nan")
    distinct, first = np.unique(precision[order], return_index=True)
    return float(np.interp(0.5, distinct, recall[order][first]))


def collect(tallies: Mapping[str, BoundaryTally], *, resamples: int = 1000, seed: int = 0) -> BoundaryScore:
    """The scores of a data set from its images' tallies. ``resamples=0`` leaves the intervals out (NaN).

    Images stand in the order given; resamples go by their names. ``UsageError`` when there are none.
    """
    protocol, every = protocol_of(tallies.values(), Protocol), list(tallies.values())
    totals = BoundaryTally(*(stack(every, name).sum(axis=0) for name in BoundaryTally.names()), protocol=protocol)
    threshold = _levels(totals, protocol)
    recall, precision = recall_precision(totals)
    ods = best_point(threshold, recall, precision)
    counts = _counts(every, protocol.precision)
    own_best = _own_best(counts)
    r, p = _curves(own_best.sum(axis=0))
    ois = Point(float("nan"), float(r), float(p), float(f_measure(r, p)))
    if resamples:
        by_name = np.argsort(list(tallies))
        samples = _resampled(counts[by_name], own_best[by_name], Bootstrap(len(every), resamples, seed))
        ods = replace(ods, interval=percentile_interval(samples["ods"]))
        ois = replace(ois, interval=percentile_interval(samples["ois"]))
    return BoundaryScore(
        protocol=protocol,
        images=tuple(tallies),
        ods=ods,
        ois=ois,
        ap=average_precision(recall, precision),
        r50=recall_at_half_precision(recall, precision),
        curve=Curve(threshold, recall, precision, f_measure(recall, precision)),
        per_image=_best_points(threshold, *_curves(counts)),
        thickness=float(totals.marked.sum() / totals.detected.sum()) if totals.detected.any() else float("nan"),
    )


def compare_systems(
    first: Mapping[str, BoundaryTally], second: Mapping[str, BoundaryTally], *, resamples: int = 1000, seed: int = 0
) -> dict[str, PairedResult]:
    """Is the first system better than the second? Paired bootstrap of ODS and OIS over the images that both have."""
    images = sorted(first.keys() & second.keys())
    if not images:
        raise UsageError("the two systems have no image in common")
    mine, theirs = ([tallies[name] for name in images] for tallies in (first, second))
    protocol_of([*mine, *theirs], Protocol)
    draws = (Bootstrap(len(images), resamples, seed), np.ones((1, len(images)), np.int64))
    (a, whole_a), (b, whole_b) = ([resampled_scores(every, drawn) for drawn in draws] for every in (mine, theirs))
    return {
        name: paired_bootstrap(a[name], b[name], observed=float(whole_a[name][0] - whole_b[name][0]))
        for name in ("ods", "ois")
    }


def resampled_scores(tallies: Sequence[BoundaryTally], weights: Draws) -> dict[str, Floats]:
    """ODS and OIS of every resampled data set, whose images count as often as a row of ``weights`` says.

    Two systems' scores can be compared resample by resample when both come from the same images and weights.
    """
    counts = _counts(tallies, protocol_of(tallies, Protocol).precision)
    return _resampled(counts, _own_best(counts), weights)


def _levels(totals: BoundaryTally, protocol: Protocol) -> Floats:
    """The thresholds of the tallies: the protocol's, or 1, 2, … for stacks of segmentations."""
    return np.arange(1.0, totals.truth.size + 1) if protocol.thresholds == "levels" else protocol.levels


def _counts(tallies: Sequence[BoundaryTally], precision: Precision) -> NDArray[np.int64]:
    """Images × thresholds × (truth matched, truth, detected matched, detected), as the precision mode counts them."""
    shares = ("truth_matched", "detected_shown") if precision == "mean" else ("detected_matched", "detected")
    return np.stack([stack(tallies, name) for name in ("truth_matched", "truth", *shares)], axis=-1)


def _curves(counts: NDArray[Any]) -> tuple[Floats, Floats]:
    """Recall and precision of :func:`_counts`, of their sums, or of the counts of one threshold."""
    return ratio(counts[..., 0], counts[..., 1]), ratio(counts[..., 2], counts[..., 3])


def _own_best(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each image's counts at its best threshold, the first on the grid."""
    best = f_measure(*_curves(counts)).argmax(axis=1)
    return np.asarray(counts[np.arange(len(counts)), best])


def _resampled(counts: NDArray[np.int64], own_best: NDArray[np.int64], weights: Draws) -> dict[str, Floats]:
    """ODS and OIS of every resampled data set. Tallies add, so a resample is a weighted sum of them."""
    return {
        "ods": _best_f(*_curves(resample(weights, counts))),
        "ois": f_measure(*_curves(resample(weights, own_best))),
    }


def _best_f(recall: Floats, precision: Floats) -> Floats:
    """Greatest F of each row's curve, between thresholds too.

    The greatest F between two thresholds exceeds that at the better of them by little, so only intervals that touch one of a
    row's three best grid points are searched.
    """
    on_grid = f_measure(recall, precision)
    if on_grid.shape[1] < 8:
        return np.asarray(f_measure(_blend(recall), _blend(precision)).max(axis=1))
    best = on_grid.max(axis=1)
    rows = np.arange(len(recall))
    for rank in range(3):
        at = np.argpartition(-on_grid, rank, axis=1)[:, rank]
        for left in (np.maximum(at - 1, 0), np.minimum(at, on_grid.shape[1] - 2)):
            r = _blend(np.stack([recall[rows, left], recall[rows, left + 1]], axis=1))
            p = _blend(np.stack([precision[rows, left], precision[rows, left + 1]], axis=1))
            best = np.maximum(best, f_measure(r, p).max(axis=1))
    return np.asarray(best, np.float64)


def criteria(protocol: Protocol) -> Criteria:
    """ODS, OIS and AP."""

    def rescore(tallies: Sequence[BoundaryTally], weights: Weights) -> Floats:
        scores = resampled_scores(tallies, weights)
        sums = [resample(weights, stack(tallies, name)) for name in BoundaryTally.names()]
        curves = (recall_precision(BoundaryTally(*c, protocol=protocol)) for c in zip(*sums, strict=True))
        area = [average_precision(*curve) for curve in curves]
        return np.column_stack([scores["ods"], scores["ois"], area])

    return Criteria(("ods", "ois", "ap"), ("max",) * 3, rescore, ("ods", "ois", "ap"))
