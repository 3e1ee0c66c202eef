"""The minimum of a measure over thresholds: the best a thin soft map can do, and at which threshold (Abdulrahman2017, Fig. 7).

Thresholds are taken from strong to weak, so that the detection only grows. Distances to the truth are computed once; distances
to the detection are updated as pixels join it (:func:`~hyperacuity.kernels.distances.distances_as_set_grows`). Every sum that
a measure can ask for becomes a table with one entry per threshold, and a :class:`_Step` is a comparison that reads it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.edges.names import PAPER, Measure, measure, measures
from hyperacuity.edges.pair import AnySide, Comparison, checked_shape, distances_to, squared_diagonal
from hyperacuity.errors import UsageError
from hyperacuity.kernels.distances import difference_sum, distances_as_set_grows
from hyperacuity.maps import EdgeMap, SoftMap, edge_map, same_size, soft_map
from hyperacuity.resampling import ratio

TIE = 1e-12
"""Scores closer than this (relative) are the same score: their sums were added in another order."""


@dataclass(frozen=True)
class Best:
    """The minimum of one measure: its score, the smallest threshold that reaches it, and the edge map there.

    ``plateau`` is the range of neighbouring thresholds, from ``threshold`` up, that score the same. Where every score is NaN
    (an empty truth, for Γ and Ψ) so are the numbers here, and the edge map is empty.
    """

    score: float
    threshold: float
    plateau: tuple[float, float]
    edges: EdgeMap


@dataclass(frozen=True, eq=False)
class Sweep:
    """Scores of a thin soft map at every threshold: ``scores[m, t]`` for measure m and threshold t, thresholds ascending."""

    names: tuple[str, ...]
    thresholds: NDArray[np.float64]
    scores: NDArray[np.float64]
    hits: NDArray[np.int64]
    false: NDArray[np.int64]
    missed: NDArray[np.int64]
    thin: SoftMap

    def of(self, name: str) -> NDArray[np.float64]:
        """The scores of one measure, by any spelling of its name."""
        canonical = str(measure(name))
        if canonical not in self.names:
            raise UsageError(f"{canonical} was not swept; there are {', '.join(self.names)}")
        scores: NDArray[np.float64] = self.scores[self.names.index(canonical)]
        return scores

    def best(self, name: str) -> Best:
        """The minimum of one measure."""
        first, last = minimum(self.of(name))
        if first < 0:
            return Best(math.nan, math.nan, (math.nan, math.nan), np.zeros(self.thin.shape, np.bool_))
        score, low, high = float(self.of(name)[first]), float(self.thresholds[first]), float(self.thresholds[last])
        return Best(score, low, (low, high), edges_at(self.thin, low))

    @property
    def recall(self) -> NDArray[np.float64]:
        """TPR per threshold; NaN where the truth is empty."""
        return ratio(self.hits, self.hits + self.missed)

    @property
    def precision(self) -> NDArray[np.float64]:
        """TP/(TP+FP) per threshold; NaN where nothing is detected. With :attr:`recall`, the PR curve without tolerance."""
        return ratio(self.hits, self.hits + self.false)

    @property
    def false_rate(self) -> NDArray[np.float64]:
        """FPR per threshold; NaN where every pixel is true. With :attr:`recall`, the ROC curve without tolerance."""
        return ratio(self.false, self.thin.size - (self.hits + self.missed))


def sweep(
    truth: ArrayLike, thin_soft: ArrayLike, names: str | Iterable[str] = PAPER, *, thresholds: int | ArrayLike = 101
) -> Sweep:
    """Score a thin soft map at every threshold, with every measure.

    At threshold Th the detection is every pixel with a strength above 0 and at least Th; Th = 0 keeps all that survived
    suppression.

    Parameters
    ----------
    truth
        Edge map; whatever is above zero is an edge.
    thin_soft
        Edge strength in [0, 1] after non-maximum suppression, 0 where there is no edge.
    names
        Measures, see :func:`~hyperacuity.edges.measure`; by default all as the paper uses them.
    thresholds
        How many, evenly from 0 to 1; or the thresholds themselves, ascending.

    Examples
    --------
    >>> truth = [[1, 0, 0, 0], [1, 0, 0, 0]]
    >>> swept = sweep(truth, [[0.8, 0, 0, 0.2], [0.6, 0, 0, 0]], "psi, pm")
    >>> best = swept.best("psi")
    >>> best.score, round(best.threshold, 2), best.plateau[1]
    (0.0, 0.21, 0.6)
    """
    edges, thin = edge_map(truth, name="truth"), soft_map(thin_soft, name="soft map")
    same_size(thin, edges, names=("soft map", "truth"))
    levels = threshold_levels(thresholds)
    tables = _Tables(edges, thin, levels[::-1], measures(names))
    steps = [_Step(tables, t) for t in reversed(range(len(levels)))]
    scores = np.array([[chosen(step, step) for step in steps] for chosen in tables.measures])
    hits = np.array([step.hits for step in steps])
    false, missed = np.array([step.false for step in steps]), np.array([step.missed for step in steps])
    return Sweep(tuple(map(str, tables.measures)), levels, scores, hits, false, missed, thin)


def edges_at(thin: SoftMap, threshold: float) -> EdgeMap:
    """The edge map of a thin soft map at one threshold: strengths above 0 and at least the threshold.

    The comparison uses the map's precision, so that a strength written as 0.7 reaches the threshold 0.7.
    """
    return (thin > 0) & (thin >= np.float32(threshold))


def threshold_levels(thresholds: int | ArrayLike) -> NDArray[np.float64]:
    """Thresholds as an ascending array: that many evenly from 0 to 1, or as given."""
    if isinstance(thresholds, int | np.integer):
        if thresholds < 1:
            raise UsageError(f"{thresholds} thresholds: expected at least 1")
        return np.linspace(0, 1, int(thresholds))
    levels = np.atleast_1d(np.asarray(thresholds, np.float64))
    if levels.ndim != 1 or not len(levels) or not np.all(np.diff(levels) > 0) or levels[0] < 0 or levels[-1] > 1:
        raise UsageError(f"thresholds {thresholds}: expected ascending numbers in [0, 1]")
    return levels


def minimum(scores: NDArray[np.float64]) -> tuple[int, int]:
    """First and last index of a curve's minimum; (−1, −1) if every score is NaN."""
    if np.isnan(scores).all():
        return -1, -1
    lowest = float(np.nanmin(scores))
    reached = scores <= lowest + TIE * abs(lowest)
    first = int(np.argmax(reached))
    beyond = np.flatnonzero(~reached[first:])
    return first, first + int(beyond[0]) - 1 if len(beyond) else len(scores) - 1


class _Tables:
    """Sums for all thresholds, each computed on first use. Entry 0 is the *highest* threshold."""

    def __init__(self, truth: EdgeMap, thin: SoftMap, descending: NDArray[np.float64], chosen: list[Measure]) -> None:
        self.shape = checked_shape(truth)
        self.measures = chosen
        ys, xs = np.nonzero(thin)
        strengths = thin[ys, xs]
        order = np.argsort(-strengths, kind="stable")
        self.ys, self.xs = ys[order], xs[order]
        # how many pixels have joined at each threshold
        self.stops = np.searchsorted(-strengths[order], -descending.astype(np.float32), side="right")
        self.truth = truth
        self.truth_size = int(np.count_nonzero(truth))
        self.is_hit = truth[self.ys, self.xs]
        self.hits = np.concatenate([[0], np.cumsum(self.is_hit)])[self.stops]
        self.to_truth = distances_to(truth)
        self.from_detected = self.to_truth[self.ys, self.xs]
        self._kept: dict[tuple[object, ...], NDArray[np.float64]] = {}

    @cached_property
    def _grown(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """d_D² at the true pixels, and the sums of :attr:`variants`, at each threshold."""
        k, cap = np.array(self.variants, np.float64).reshape(-1, 2).T.copy()
        return self._grow(self.ys, self.xs, self.stops, k, cap)

    @cached_property
    def variants(self) -> list[tuple[float, float]]:
        """(k, cap) of each Baddeley measure that is wanted: they need the distance map of the whole image."""
        options = [dict(m.options) for m in self.measures if m.family == "baddeley"]
        return [(float(o.get("k", 2)), float(o.get("cap", math.inf))) for o in options]

    @cached_property
    def _hits_grown(self) -> NDArray[np.int32]:
        return self._grow(self.ys[self.is_hit], self.xs[self.is_hit], self.hits, np.empty(0), np.empty(0))[0]

    def _grow(self, ys: Any, xs: Any, stops: Any, k: Any, cap: Any) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        asked_ys, asked_xs = np.nonzero(self.truth)
        return distances_as_set_grows(ys, xs, stops, asked_ys, asked_xs, np.sqrt(self.to_truth), k, cap)

    def of_truth(self, side: AnySide) -> NDArray[np.int32]:
        """d_D² or d_{G∩D}² at the true pixels, at each threshold."""
        return self._hits_grown if side == "hits" else self._grown[0]

    def difference(self, t: int, k: float, cap: float) -> float:
        if self.stops[t] and (k, cap) in self.variants:
            return float(self._grown[1][t, self.variants.index((k, cap))])
        nothing = np.full(self.shape, squared_diagonal(self.shape), np.int32)
        return float(difference_sum(np.sqrt(self.to_truth), nothing, float(k), float(cap)))

    def sums(self, side: AnySide, term: Callable[..., NDArray[Any]], *options: float) -> NDArray[np.float64]:
        """Σ term(d², *options) over the pixels of one side, at each threshold."""
        key = (side, term, *options)
        if key not in self._kept:
            if side == "detected":  # running sums over the pixels in the order in which they join
                running = np.cumsum(term(self.from_detected, *options))
                self._kept[key] = np.concatenate([[0.0], running])[self.stops]
            else:
                self._kept[key] = term(self.of_truth(side), *options).sum(axis=1)
        return self._kept[key]


class _Step(Comparison):
    """The comparison at one threshold."""

    def __init__(self, tables: _Tables, t: int) -> None:
        self._tables, self._t = tables, t
        self.shape = tables.shape
        self.truth_size = tables.truth_size
        self.detected_size = int(tables.stops[t])
        self.hits = int(tables.hits[t])

    def _squared(self, side: AnySide) -> NDArray[np.int32]:
        if side == "detected":
            return self._tables.from_detected[: self.detected_size]
        return np.asarray(self._tables.of_truth(side)[self._t])

    def _sum(self, side: AnySide, term: Callable[..., NDArray[Any]], *options: float) -> float:
        return float(self._tables.sums(side, term, *options)[self._t])

    def _difference(self, k: float, cap: float) -> float:
        return self._tables.difference(self._t, k, cap)
