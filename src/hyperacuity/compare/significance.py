"""Paired tests over images, corrected for their number, and groups of systems that they do not separate.

Scores are one row per system and one column per image (or per image and criterion: anything on which all systems were
tried). Two systems are compared on the same images, so an image that is hard for both does not blur the difference.

- :func:`signed_rank`, :func:`paired_t`: p-value of one pair; :func:`pairwise` for all pairs, with Holm's correction.
- :func:`clusters`: systems in order, each joined to those it does not differ from (in the manner of Neilson & Yang 2008).
- :func:`critical_difference`: Friedman's test and Nemenyi's difference of average ranks (Demšar 2006).

A caution: with n images Wilcoxon's test cannot give less than 2¹⁻ⁿ. On the four images of Middlebury v2 nothing can be
significant at 5 %, which is Neilson & Yang's point: four images are too few to call a winner.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.compare.ranking import ranks
from hyperacuity.errors import UsageError
from hyperacuity.resampling import bootstrap_weights, holm, paired_bootstrap, ratio, resample

Test = Literal["wilcoxon", "t", "bootstrap"]
Against = Literal["every", "best"]

MOST_EXACT = 50
"""Differences up to which the signed-rank test counts all outcomes; beyond, the normal distribution is as good."""


def signed_rank(differences: ArrayLike) -> float:
    """Two-sided p-value of Wilcoxon's signed-rank test: are paired differences centred on zero?

    Zeros are left out, equal sizes share their mean rank, and the distribution is that of all 2ⁿ signs of the ranks at
    hand: exact, ties included, up to 50 differences. NaN (an image one of the two has no score on) is left out. Without any
    difference the answer is 1.

    References
    ----------
    Wilcoxon (1945), Individual comparisons by ranking methods.

    Examples
    --------
    >>> signed_rank([1, 2, 3, 4, 5])
    0.0625
    """
    values = np.asarray(differences, dtype=np.float64).ravel()
    values = values[~np.isnan(values) & (values != 0)]
    n = len(values)
    if n == 0:
        return 1.0
    doubled = np.rint(2 * ranks(np.abs(values)[:, None], ties="average")[:, 0]).astype(np.int64)
    positive = int(doubled[values > 0].sum())
    total = int(doubled.sum())
    less = min(positive, total - positive)
    if n <= MOST_EXACT:
        ways = np.zeros(total + 1)  # of reaching each sum of doubled ranks; at most 2⁵⁰, so exact
        ways[0] = 1
        for rank in doubled:
            ways[rank:] += ways[:-rank].copy()
        return min(1.0, 2 * float(ways[: less + 1].sum()) / 2.0**n)
    deviation = math.sqrt(float((doubled.astype(np.float64) ** 2).sum())) / 2
    return math.erfc((total / 2 - less) / deviation / math.sqrt(2))


def paired_t(differences: ArrayLike) -> float:
    """Two-sided p-value of Student's paired t test. NaN is left out; fewer than two differences, or all zero, give 1.

    >>> round(paired_t([1, 2, 3, 4, 5]), 4)
    0.0132
    """
    from scipy.special import stdtr

    values = np.asarray(differences, dtype=np.float64).ravel()
    values = values[~np.isnan(values)]
    if len(values) < 2 or not values.any():
        return 1.0
    spread = float(values.std(ddof=1))
    if spread == 0:
        return 0.0
    return float(2 * stdtr(len(values) - 1, -abs(values.mean()) / (spread / math.sqrt(len(values)))))


@dataclass(frozen=True, eq=False)
class Pairwise:
    """All pairs of systems: ``difference[i, j]`` is how much better i is than j on average (in the criterion's unit, positive =
    better), ``p`` the p-value of that, ``corrected`` the same after Holm's correction. On the diagonal: 0, 1, 1."""

    difference: NDArray[np.float64]
    p: NDArray[np.float64]
    corrected: NDArray[np.float64]

    def better(self, alpha: float = 0.05) -> NDArray[np.bool_]:
        """``result[i, j]``: is i significantly better than j?"""
        return (self.corrected < alpha) & (self.difference > 0)


def pairwise(scores: ArrayLike, *, sense: str = "min", test: Test = "wilcoxon", resamples: int = 10_000) -> Pairwise:
    """Test every pair of systems on the images they share, and correct for the number of pairs.

    ``scores`` is systems × images. ``test`` is ``"wilcoxon"`` (:func:`signed_rank`), ``"t"`` or ``"bootstrap"``
    (:func:`hyperacuity.resampling.paired_bootstrap` on the mean over images).

    >>> result = pairwise([[1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12]])
    >>> result.better().astype(int)
    array([[0, 1],
           [0, 0]])
    """
    table = -_systems_by_images(scores) * (1 if sense == "min" else -1)  # larger = better from here on
    if test == "bootstrap":
        weights = bootstrap_weights(table.shape[1], resamples)
        valid = ~np.isnan(table)
        means = ratio(resample(weights, np.where(valid, table, 0).T), resample(weights, valid.T))
        return pairwise_of_samples(means, _mean_differences(table))
    tests: dict[str, Callable[[NDArray[np.float64]], float]] = {"wilcoxon": signed_rank, "t": paired_t}
    if test not in tests:
        raise UsageError(f"test={test!r}: expected wilcoxon, t or bootstrap")
    return _all_pairs(_mean_differences(table), lambda i, j: tests[test](table[i] - table[j]))


def pairwise_of_samples(samples: NDArray[np.float64], difference: NDArray[np.float64]) -> Pairwise:
    """Pairwise tests from resampled scores, resamples × systems, larger = better, with the same weights for all systems."""
    return _all_pairs(difference, lambda i, j: paired_bootstrap(samples[:, i], samples[:, j]).p_value)


def _all_pairs(difference: NDArray[np.float64], p_value: Callable[[int, int], float]) -> Pairwise:
    n = len(difference)
    p, corrected = np.ones((n, n)), np.ones((n, n))
    rows, columns = np.triu_indices(n, 1)
    values = np.array([p_value(int(i), int(j)) for i, j in zip(rows, columns, strict=True)])
    p[rows, columns] = p[columns, rows] = values
    corrected[rows, columns] = corrected[columns, rows] = holm(values)
    return Pairwise(difference, p, corrected)


def _mean_differences(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean difference between each two systems; a row at a time, since there may be many images."""

    def row(system: NDArray[np.float64]) -> NDArray[np.float64]:
        differences = system - table
        valid = ~np.isnan(differences)
        return ratio(np.where(valid, differences, 0).sum(axis=1), valid.sum(axis=1), empty=0.0)

    return np.array([row(system) for system in table])


def clusters(mean_rank: ArrayLike, is_better: NDArray[np.bool_], *, against: Against = "every") -> NDArray[np.int64]:
    """Rank by greedy clustering: the cluster of each system, counted from 1.

    Systems come in the order of their mean rank, the best first. One joins the current cluster when no member is significantly
    better than it (``against="best"``: when the cluster's first member is not); otherwise it opens the next cluster.

    Parameters
    ----------
    mean_rank
        Orders the systems.
    is_better
        ``is_better[i, j]``: i is significantly better than j, for example :meth:`Pairwise.better`.

    References
    ----------
    Neilson & Yang (2008), Evaluation of constructable match cost measures for stereo correspondence using cluster ranking.

    Examples
    --------
    >>> is_better = np.zeros((3, 3), bool); is_better[0, 2] = True
    >>> clusters([1, 2, 3], is_better)
    array([1, 1, 2])
    """
    if against not in ("every", "best"):
        raise UsageError(f"against={against!r}: expected every or best")
    order = np.argsort(np.asarray(mean_rank, dtype=np.float64), kind="stable")
    result = np.zeros(len(order), dtype=np.int64)
    members: list[int] = []
    for system in order:
        compared = members if against == "every" else members[:1]
        if not members or is_better[compared, system].any():
            members = []
            result[system] = result.max(initial=0) + 1
        else:
            result[system] = result.max()
        members.append(int(system))
    return result


@dataclass(frozen=True, eq=False)
class CriticalDifference:
    """Average ranks over images, and how far apart two must be: the data of a critical-difference diagram.

    ``p`` is that of Friedman's test (are there any differences?). ``bars`` are the largest sets of systems within one critical
    difference, each a tuple of their indices from the best on: a diagram joins them by a bar.
    """

    average_rank: NDArray[np.float64]
    difference: float
    p: float
    bars: tuple[tuple[int, ...], ...]


def critical_difference(scores: ArrayLike, *, sense: str = "min", alpha: float = 0.05) -> CriticalDifference:
    r"""Friedman's test and Nemenyi's critical difference for k systems on N images (or images × criteria).

    .. math:: CD = q_α \sqrt{\frac{k(k+1)}{6N}}

    with q the quantile of the studentised range, divided by √2. Ties share their mean rank. Images on which any system has no
    score are left out. A single system has no differences: CD = 0, p = 1.

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7.

    Examples
    --------
    >>> result = critical_difference([[1, 1, 1, 1], [2, 2, 3, 2], [3, 3, 2, 3]])
    >>> result.average_rank, round(result.difference, 3), round(result.p, 4)
    (array([1.  , 2.25, 2.75]), 1.657, 0.0388)
    """
    table = _systems_by_images(scores)
    table = table[:, ~np.isnan(table).any(axis=0)]
    k, n = table.shape
    if n == 0:
        raise UsageError("there is no image on which every system has a score: ranks cannot be compared")
    rank = ranks(table, senses=(sense,) * n, ties="average")
    mean: NDArray[np.float64] = rank.mean(axis=1)
    if k == 1:
        return CriticalDifference(mean, 0.0, 1.0, ())
    from scipy.special import chdtrc
    from scipy.stats import studentized_range

    width = float(studentized_range.ppf(1 - alpha, k, np.inf)) / math.sqrt(2) * math.sqrt(k * (k + 1) / (6 * n))
    spread = float(((rank - (k + 1) / 2) ** 2).sum()) / (n * (k - 1))  # k(k+1)/12 without ties
    statistic = n * float(((mean - (k + 1) / 2) ** 2).sum()) / spread if spread > 0 else 0.0
    return CriticalDifference(mean, width, float(chdtrc(k - 1, statistic)), _bars(mean, width))


def _bars(mean_rank: NDArray[np.float64], width: float) -> tuple[tuple[int, ...], ...]:
    order = np.argsort(mean_rank, kind="stable")
    ordered = mean_rank[order]
    bars, reached = [], 0
    for start in range(len(order)):
        stop = int(np.searchsorted(ordered, ordered[start] + width, side="right"))
        if stop - start > 1 and stop > reached:
            bars.append(tuple(int(i) for i in order[start:stop]))
        reached = max(reached, stop)
    return tuple(bars)


def _systems_by_images(scores: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise UsageError(f"scores have shape {table.shape}, expected systems × images")
    return table
