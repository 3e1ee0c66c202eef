"""A data set: counts of all images together, the operating point of a sweep, and intervals by the bootstrap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from hyperacuity.ordering.figure_ground import ACCURACIES
from hyperacuity.ordering.local import Inconsistency
from hyperacuity.ordering.prc import Numbers, Outcomes, Summary, best_point, summary
from hyperacuity.ordering.protocols import Protocol
from hyperacuity.ordering.tallies import LOCAL_FIELDS, OrderingTally
from hyperacuity.resampling import Bootstrap, Draws, percentile_interval, ratio, resample, weighted_mean
from hyperacuity.tally import protocol_of, stack
from hyperacuity.tasks import Criteria

Interval = tuple[float, float]
NO_INTERVAL: Interval = (float("nan"), float("nan"))

PARTS = ("fmax", "fmin", "ori", "fg")

LOCAL_ONLY = (
    "labelled contours order neighbours only; pairs of all regions need an order map, or the regions that were labelled"
)
NO_REGIONS = "there are no regions to ask about: the truth has none, and none were given"
NO_FOREMOST = "the foremost regions are defined only for an order map, or if the labelled regions are known"
NO_QUESTION = "the truth orders no two neighbouring regions"
NOTHING_THERE = "there is nothing to count in truth or prediction"


@dataclass(frozen=True, eq=False)
class Consistency:
    """LDC or GDC of one system: outcomes at each parameter value, the four numbers at the best one, their 95 % intervals.

    LDC also says why contours are inconsistent, at each parameter value.
    """

    outcomes: Outcomes
    best: Summary
    intervals: Mapping[str, Interval]
    inconsistency: Inconsistency | None = None


@dataclass(frozen=True, eq=False)
class OrderingScore:
    """One system on a data set.

    Parameters
    ----------
    parameters
        The values of the system's parameter, as many as there are operating points; one, named "", without a sweep.
    ldc, gdc
        Local and global depth consistency; None where the data do not allow it.
    accuracy
        R-ACC, B-ACC, B-ACC-50 and B-ACC-25 (``racc`` …) at the parameter value ``chosen``; NaN where the data do not allow it.
    accuracies
        The same at every parameter value.
    intervals
        Bootstrap intervals of ``accuracy``.
    reasons
        Why something is None or NaN.
    """

    protocol: Protocol
    images: int
    parameters: tuple[str, ...]
    ldc: Consistency | None
    gdc: Consistency | None
    chosen: int
    accuracy: Mapping[str, float]
    accuracies: Mapping[str, Numbers]
    intervals: Mapping[str, Interval]
    reasons: Mapping[str, str] = field(default_factory=dict)


def collect(tallies: Mapping[str, OrderingTally], *, resamples: int = 1000, seed: int = 0) -> OrderingScore:
    """Score a data set from its images' tallies.

    Examples
    --------
    >>> from hyperacuity.ordering import ordering, tally
    >>> truth = ordering([[2, 2, 1, 1]] * 3)
    >>> score = collect({"a": tally(truth, [truth])})
    >>> score.ldc.best.fmax, score.gdc.best.ori, score.accuracy["bacc"]
    (1.0, 1.0, 1.0)
    """
    return collect_sweep({"": tallies}, resamples=resamples, seed=seed)


def collect_sweep(
    sweep: Mapping[str, Mapping[str, OrderingTally]], *, resamples: int = 1000, seed: int = 0
) -> OrderingScore:
    """Score a system from its images' tallies at every value of a parameter: ``{value: {image: tally}}``.

    LDC and GDC each take the value where F(1) of the whole data set is best; figure/ground accuracies are those at LDC's. In
    every bootstrap resample the best value is chosen again. Images that are missing at some value are left out. Without a
    common image ``UsageError`` is raised.
    """
    first, *others = sweep.values() or [{}]
    images = [image for image in sorted(first) if all(image in other for other in others)]
    columns = [[tallies[image] for image in images] for tallies in sweep.values()]
    protocol = protocol_of([tally for column in columns for tally in column], Protocol)
    # [image, parameter value, …]
    contours, pairs, questions, measured, inconsistent = (
        np.stack([stack(column, name) for column in columns], axis=1)
        for name in ("contours", "pairs", "questions", "measured", "inconsistent")
    )
    weights = Bootstrap(len(images), resamples, seed) if resamples > 0 else None
    possible = measured.sum(axis=(0, 1)) > 0
    reasons: dict[str, str] = {}
    ldc = replace(_consistency(contours, protocol, weights), inconsistency=_inconsistency(contours, inconsistent))
    gdc = _consistency(pairs[..., :4], protocol, weights) if possible[1] else None
    if gdc is None:
        reasons["gdc"] = LOCAL_ONLY
    for name, consistency in (("ldc", ldc), ("gdc", gdc)):
        if consistency is not None and consistency.best.index < 0:
            reasons[name] = NOTHING_THERE
    chosen = max(ldc.best.index, 0)
    accuracies = _accuracies(questions, protocol)
    for n, name in enumerate(ACCURACIES):
        if not possible[2]:
            reasons[name] = NO_REGIONS
        elif np.isnan(accuracies[chosen, n]):
            reasons[name] = NO_QUESTION if np.isnan(accuracies[chosen, 0]) else NO_FOREMOST
    intervals = dict.fromkeys(ACCURACIES, NO_INTERVAL)
    if weights is not None:
        samples = _resampled_accuracies(questions[:, chosen], protocol, weights).T
        intervals = {name: percentile_interval(of) for name, of in zip(ACCURACIES, samples, strict=True)}
    return OrderingScore(
        protocol=protocol,
        images=len(images),
        parameters=tuple(sweep),
        ldc=ldc,
        gdc=gdc,
        chosen=chosen,
        accuracy={name: float(accuracies[chosen, n]) for n, name in enumerate(ACCURACIES)},
        accuracies={name: accuracies[:, n] for n, name in enumerate(ACCURACIES)},
        intervals=intervals,
        reasons=reasons,
    )


def _outcomes(counts: NDArray[np.float64]) -> Outcomes:
    """Outcomes from an array whose last axis has four counts, or six with those of the truth."""
    return Outcomes(**dict(zip(LOCAL_FIELDS, np.moveaxis(counts, -1, 0), strict=False)))


def resampled_scores(tallies: Sequence[OrderingTally], weights: NDArray[np.int64]) -> dict[str, Numbers]:
    """Scores of a data set in which each image counts as often as ``weights`` (resamples × images) says.

    One number per resample under ``ldc-fmax``, ``ldc-fmin``, ``ldc-ori``, ``ldc-fg``, the same of ``gdc``, ``racc``, ``bacc``,
    ``bacc50`` and ``bacc25``; NaN where the data do not allow it.

    >>> from hyperacuity.ordering import ordering, tally
    >>> truth = ordering([[2, 2, 1, 1]] * 3)
    >>> both = [tally(truth, [truth]), tally(ordering(-truth.order), [truth])]
    >>> resampled_scores(both, np.array([[1, 1], [2, 0]]))["racc"]
    array([0.5, 1. ])
    """
    protocol = protocol_of(tallies, Protocol)
    contours, pairs, questions = (stack(tallies, name)[:, None] for name in ("contours", "pairs", "questions"))
    scores = {}
    for which, counts in (("ldc", contours), ("gdc", pairs[..., :4])):
        for name, values in zip(PARTS, _resampled(counts, protocol, weights), strict=True):
            scores[f"{which}-{name}"] = values
    return scores | dict(zip(ACCURACIES, _resampled_accuracies(questions[:, 0], protocol, weights).T, strict=True))


def _consistency(counts: NDArray[np.float64], protocol: Protocol, weights: Draws | None) -> Consistency:
    """From [image, parameter value, count]."""
    pooled = _outcomes(counts.sum(axis=0))
    if protocol.aggregate == "pooled":
        best = summary(pooled)
    else:
        each = _outcomes(counts)
        once = np.ones((1, len(counts)), np.int64)
        best = best_point(*(weighted_mean(part, once)[0] for part in (each.f(1), each.f(0), each.accuracy)))
    if weights is None:
        return Consistency(pooled, best, dict.fromkeys(PARTS, NO_INTERVAL))
    samples = _resampled(counts, protocol, weights)
    intervals = {name: percentile_interval(values) for name, values in zip(PARTS, samples, strict=True)}
    return Consistency(pooled, best, intervals)


def _inconsistency(contours: NDArray[np.float64], reasons: NDArray[np.float64]) -> Inconsistency:
    """From [image, parameter value, count]; counts of all images together."""
    consistent = contours[..., LOCAL_FIELDS.index("recalled_consistent")].sum(axis=0)
    return Inconsistency(consistent, *np.moveaxis(reasons.sum(axis=0), -1, 0))


def _resampled(counts: NDArray[np.float64], protocol: Protocol, weights: Draws) -> list[Numbers]:
    """F_max, F_min, ORI and accuracy of every resample, from [image, parameter value, count]."""
    if protocol.aggregate == "pooled":
        drawn = _outcomes(resample(weights, counts))
        return _four(drawn.f(1), drawn.f(0), drawn.accuracy)
    each = _outcomes(counts)
    return _four(*(weighted_mean(part, weights) for part in (each.f(1), each.f(0), each.accuracy)))


def _four(detection: Numbers, classified: Numbers, accuracy: Numbers) -> list[Numbers]:
    """Per resample (rows) F_max, F_min, ORI and accuracy at the best parameter value (columns)."""
    best = np.argmax(np.nan_to_num(detection, nan=-1.0), axis=1)[:, None]
    fmax, fmin, fg = (np.take_along_axis(part, best, axis=1)[:, 0] for part in (detection, classified, accuracy))
    share = np.divide(fmin, fmax, out=np.where(np.isnan(fmax), np.nan, 0.5), where=fmax > 0)
    return [fmax, fmin, np.clip(2 * share - 1, 0, None), fg]


def _ratio(sums: NDArray[np.float64]) -> Numbers:
    """Numerators over denominators, which stand side by side in the last axis but one."""
    return ratio(sums[..., 0, :], sums[..., 1, :])


def _accuracies(questions: NDArray[np.float64], protocol: Protocol) -> Numbers:
    """[parameter value, accuracy] from [image, parameter value, numerator or denominator, accuracy]."""
    if protocol.aggregate == "pooled":
        return _ratio(questions.sum(axis=0))
    means: Numbers = weighted_mean(_ratio(questions), np.ones((1, len(questions)), np.int64))[0]
    return means


def _resampled_accuracies(questions: NDArray[np.float64], protocol: Protocol, weights: Draws) -> Numbers:
    """[resample, accuracy] from [image, numerator or denominator, accuracy]."""
    if protocol.aggregate == "pooled":
        return _ratio(resample(weights, questions))
    return weighted_mean(_ratio(questions), weights)


def criteria(protocol: Protocol) -> Criteria:
    """Figure/ground accuracies and over-random indices."""
    names = ("ldc-ori", "gdc-ori", "racc", "bacc", "bacc50", "bacc25")

    def rescore(tallies: Sequence[OrderingTally], weights: NDArray[np.int64]) -> Numbers:
        scores = resampled_scores(tallies, weights)
        return np.column_stack([scores[name] for name in names])

    return Criteria(names, ("max",) * len(names), rescore, ("racc", "bacc", "ldc-ori"))
