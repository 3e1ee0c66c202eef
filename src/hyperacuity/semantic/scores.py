r"""A data set of the semantic benchmark: ODS, OIS and AP of each class, and their means over classes.

Each class is scored as the boundary benchmark is (:mod:`hyperacuity.boundary.scores`). Two areas under the curve of precision
over recall are given, both as in the output of SBD's benchmark (columns 8 and 9 of its ``eval_bdry.txt``):

* ``ap``: precision interpolated linearly at recall 0, 0.01 … 1, zero outside the recalls that occur, summed times 0.01. Where a
  recall occurs at several thresholds, the precision of the *higher* one counts under ``sbd`` (MATLAB's ``unique`` gave the last
  of equals when SBD's output was written), of the *lower* one elsewhere (today's MATLAB and NumPy give the first).
* ``interpolated_ap``: the mean over recall r = 0, 0.01 … 1 of the greatest precision at any threshold whose recall is at least r;
  0 where there is none. It is VOC's interpolated average precision with 101 points in place of 11.

Means are over the classes that the system has a map of, in some image, and that the truth has. The others are named
(``without_maps``, ``without_truth``), and not averaged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hyperacuity.boundary import BoundaryTally, Curve, Point, resampled_scores
from hyperacuity.boundary import collect as collect_class
from hyperacuity.boundary.scores import RECALL_GRID, average_precision, recall_precision
from hyperacuity.errors import UsageError
from hyperacuity.resampling import Bootstrap, Draws, percentile_interval, resample
from hyperacuity.semantic.protocols import Protocol
from hyperacuity.semantic.tallies import SemanticTally
from hyperacuity.tally import Weights, protocol_of, stack, total
from hyperacuity.tasks import Criteria

Floats = NDArray[np.float64]
NAN = float("nan")


@dataclass(frozen=True, eq=False)
class ClassScore:
    """Score of a system on one class. ``per_image`` has the best point of each image that has the class.

    ``missing`` is the number of images for which the system has no map of the class, though it has one for others: there it
    detects nothing.
    """

    name: str
    images: tuple[str, ...]
    missing: int
    ods: Point
    ois: Point
    ap: float
    interpolated_ap: float
    curve: Curve
    per_image: Sequence[Point]


@dataclass(frozen=True)
class SemanticMean:
    """Means over classes, with 95 % intervals of the first two over images."""

    ods: float
    ois: float
    ap: float
    interpolated_ap: float
    ods_interval: tuple[float, float] = (NAN, NAN)
    ois_interval: tuple[float, float] = (NAN, NAN)


@dataclass(frozen=True, eq=False)
class SemanticScore:
    """Score of a system on a data set: by class, and on average."""

    protocol: Protocol
    images: tuple[str, ...]
    classes: Mapping[str, ClassScore]
    mean: SemanticMean
    without_maps: tuple[str, ...] = ()
    """Classes that the truth has, but of which the system has no map at all."""
    without_truth: tuple[str, ...] = ()
    """Classes that occur in no image."""


def area(recall: Floats, precision: Floats, *, repeated: str = "lower") -> float:
    """``ap`` of a curve whose thresholds rise; see the head of this module. 0 when fewer than two different recalls occur.

    >>> recall, precision = np.array([1.0, 1.0, 0.0]), np.array([0.5, 1.0, 1.0])
    >>> area(recall, precision), area(recall, precision, repeated="higher")
    (0.7575, 1.01)
    """
    order = slice(None, None, -1) if repeated == "higher" else slice(None)
    return average_precision(recall[order], precision[order])


def interpolated_ap(recall: Floats, precision: Floats) -> float:
    """``interpolated_ap`` of a curve; see the head of this module. 0 for an empty curve.

    >>> interpolated_ap(np.array([1.0, 0.5]), np.array([0.25, 0.75])).__round__(6)
    0.502475
    """
    order = np.argsort(recall, kind="stable")
    best = np.append(np.maximum.accumulate(precision[order][::-1])[::-1], 0.0)
    return float(best[np.searchsorted(recall[order], RECALL_GRID)].mean())


def collect(tallies: Mapping[str, SemanticTally], *, resamples: int = 1000, seed: int = 0) -> SemanticScore:
    """The scores of a data set from its images' tallies. ``resamples=0`` leaves the intervals out (NaN).

    ``UsageError`` when there are no images. Without a class that has both maps and truth, means are NaN.
    """
    protocol, every = protocol_of(tallies.values(), Protocol), list(tallies.values())
    sums = _total(every)
    names = protocol.names(sums.truth.size)
    drawn = Bootstrap(len(every), resamples, seed) if resamples else None
    classes: dict[str, ClassScore] = {}
    ods, ois = [], []
    for c in _scored(sums):
        of_class = {image: one.of_class(c) for image, one in tallies.items()}
        score = _class_score(names[c], of_class, len(every) - int(sums.shown[c]), protocol)
        if drawn is not None:
            samples = _resampled([of_class[image] for image in sorted(of_class)], drawn)
            ods.append(samples[0])
            ois.append(samples[1])
            intervals = [percentile_interval(values) for values in samples]
            score = replace(
                score, ods=replace(score.ods, interval=intervals[0]), ois=replace(score.ois, interval=intervals[1])
            )
        classes[score.name] = score
    return SemanticScore(
        protocol=protocol,
        images=tuple(tallies),
        classes=classes,
        mean=_mean(list(classes.values()), [percentile_interval(_mean_of(rows)) for rows in (ods, ois)]),
        without_maps=tuple(names[c] for c in np.flatnonzero((sums.shown == 0) & (sums.truth > 0))),
        without_truth=tuple(names[c] for c in np.flatnonzero(sums.truth == 0)),
    )


def _total(every: Sequence[SemanticTally]) -> SemanticTally:
    sizes = {one.truth.size for one in every}
    if len(sizes) > 1:
        few, many = min(sizes), max(sizes)
        raise UsageError(f"some images have maps of {few} classes, others of {many}: name the classes with `classes=`")
    return total(every)


def _scored(sums: SemanticTally) -> list[int]:
    """The classes that count: those with maps and with truth."""
    indices: list[int] = np.flatnonzero((sums.shown > 0) & (sums.truth > 0)).tolist()
    return indices


def _class_score(name: str, tallies: Mapping[str, BoundaryTally], missing: int, protocol: Protocol) -> ClassScore:
    whole = collect_class(tallies, resamples=0)
    curve = whole.curve
    has = [n for n, one in enumerate(tallies.values()) if one.truth[0] > 0]
    return ClassScore(
        name=name,
        images=tuple(whole.images[n] for n in has),
        missing=missing,
        ods=whole.ods,
        ois=whole.ois,
        ap=area(curve.recall, curve.precision, repeated=protocol.repeated),
        interpolated_ap=interpolated_ap(curve.recall, curve.precision),
        curve=curve,
        per_image=[whole.per_image[n] for n in has],
    )


def _resampled(tallies: Sequence[BoundaryTally], weights: Draws) -> tuple[Floats, Floats]:
    """ODS and OIS of a class on every resampled data set; NaN where no image that has the class was drawn."""
    scores = resampled_scores(tallies, weights)
    there = resample(weights, stack(tallies, "truth")[:, 0]) > 0
    return np.where(there, scores["ods"], NAN), np.where(there, scores["ois"], NAN)


def _mean(classes: Sequence[ClassScore], intervals: Sequence[tuple[float, float]]) -> SemanticMean:
    rows = [(one.ods.f, one.ois.f, one.ap, one.interpolated_ap) for one in classes]
    means = np.mean(rows, axis=0).tolist() if rows else [NAN] * 4
    return SemanticMean(*means, *intervals)


def _mean_of(rows: Sequence[Floats]) -> Floats:
    """Means over classes, NaN left out; NaN where nothing is left."""
    if not rows:
        return np.array([NAN])
    values = np.stack(rows)
    valid = ~np.isnan(values)
    sums, counts = np.where(valid, values, 0.0).sum(axis=0), valid.sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), NAN)


def criteria(protocol: Protocol) -> Criteria:
    """Mean ODS, OIS and AP over classes; by OIS, systems are compared only where images without a class are skipped."""

    def rescore(tallies: Sequence[SemanticTally], weights: Weights) -> Floats:
        columns = [list(_rescored(tallies, c, weights, protocol)) for c in _scored(_total(tallies))]
        if not columns:
            return np.full((len(weights), 3), NAN)
        return np.column_stack([_mean_of([column[n] for column in columns]) for n in range(3)])

    usual = ("ods", "ois", "ap") if protocol.absent == "skip" else ("ods", "ap")
    return Criteria(("ods", "ois", "ap"), ("max",) * 3, rescore, usual)


def _rescored(tallies: Sequence[SemanticTally], c: int, weights: Weights, protocol: Protocol) -> Iterator[Floats]:
    of_class = [one.of_class(c) for one in tallies]
    ods, ois = _resampled(of_class, weights)
    yield ods
    yield ois
    sums = [resample(weights, stack(of_class, name)) for name in BoundaryTally.names()]
    curves = (recall_precision(BoundaryTally(*one, protocol=protocol.matching)) for one in zip(*sums, strict=True))
    areas = np.array([area(*curve, repeated=protocol.repeated) for curve in curves])
    yield np.where(np.isnan(ods), NAN, areas)
