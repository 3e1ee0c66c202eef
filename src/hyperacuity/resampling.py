r"""Intervals and paired tests over tallies: what would the score be on another sample of such images?

The bootstrap draws as many images as there are, with replacement, and scores the drawn set. Tallies add, so the drawn set's
tally is a weighted sum of the images' tallies, the weight being how often an image was drawn. All resampled data sets
together are **one matrix product** of weights (resamples × images) and stacked tallies (images × thresholds), and nothing
is evaluated again::

    weights = Bootstrap(len(tallies))                                     # 1000 × images, drawn when needed
    matched = resample(weights, stack(tallies, "matched"))                # 1000 × thresholds
    total = resample(weights, stack(tallies, "total"))
    scores = (matched / total).max(axis=1)                                # 1000 scores, each the best over thresholds
    low, high = percentile_interval(scores)

Two systems are compared on the *same* resamples: give :func:`paired_bootstrap` two vectors of scores made with the same
weights. Images that are hard for both then cancel out, which makes the test far sharper than two separate intervals.

References
----------
Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapters 13 and 15.
Davison & Hinkley (1997), Bootstrap Methods and their Application, section 4.4 (the + 1 in p-values).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import UsageError

BLOCK = 2**22
"""Most numbers in a block of weights, or of counts to be weighted: 32 MB."""

DRAWN_AT_ONCE = 2**16
"""Images drawn by one call: with few images, a call for each resample would take longer than its draws."""

LEAST_RESAMPLES, MOST_RESAMPLES = 200, 4000
"""Resamples scored at a time: tallies are stacked anew each time, and a resample may take a whole curve."""


def bootstrap_weights(images: int, resamples: int = 1000, seed: int = 0) -> NDArray[np.int64]:
    """Draw resamples: how often each has each image, an array resamples × images whose rows sum to ``images``.

    The same numbers on any machine and with any version of numpy: they are made from the raw output of the PCG64
    generator, which numpy promises to keep, by taking the remainder modulo ``images`` (its bias, ``images`` / 2⁶⁴, is
    far below anything measurable). More resamples with the same seed only add rows.

    >>> bootstrap_weights(5, resamples=3, seed=1).sum(axis=1)
    array([5, 5, 5])
    """
    return np.concatenate(list(Bootstrap(images, resamples, seed).blocks()))


@dataclass(frozen=True)
class Bootstrap:
    """Weights as of :func:`bootstrap_weights` without holding them: for a hundred thousand images they would take 800 MB.

    :func:`resample` takes this in place of the array, draws a block of resamples at a time, and gives the same to the last bit.
    """

    images: int
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.images < 1 or self.resamples < 1:
            raise UsageError(f"cannot draw {self.resamples} resamples of {self.images} images: both must be 1 or more")

    def blocks(self, least: int = 1) -> Iterator[NDArray[np.int64]]:
        """The rows of :func:`bootstrap_weights`, a block at a time; ``least`` rows even where these are more than a block."""
        generator, rows = np.random.PCG64(self.seed), min(max(least, BLOCK // self.images), MOST_RESAMPLES)
        together = max(1, DRAWN_AT_ONCE // self.images)
        for start in range(0, self.resamples, rows):
            weights = np.empty((min(rows, self.resamples - start), self.images), dtype=np.int64)
            for first in range(0, len(weights), together):
                part = weights[first : first + together]
                drawn = generator.random_raw(part.shape) % np.uint64(self.images)
                cells = drawn.view(np.int64) + self.images * np.arange(len(part))[:, np.newaxis]
                part[:] = np.bincount(cells.ravel(), minlength=part.size).reshape(part.shape)
            yield weights


Draws = NDArray[np.int64] | Bootstrap
"""Weights of images, resamples × images, or what draws them: how often each image counts in each resample."""


def blocks_of(weights: Draws) -> Iterable[NDArray[np.int64]]:
    """The weights of as many resamples as are scored at a time."""
    return weights.blocks(LEAST_RESAMPLES) if isinstance(weights, Bootstrap) else (weights,)


def resample(weights: Draws, stacked: NDArray[Any]) -> NDArray[Any]:
    """One field of the tally of every resampled data set: the weighted sums over images, resamples × the field's shape.

    ``stacked`` has images first (:func:`hyperacuity.tally.stack`). Counts give exact counts. Sums of fractions are added in
    the order of the images, so the result is the same on any machine.

    >>> resample(np.array([[1, 1], [2, 0]]), np.array([[3, 10], [4, 20]]))
    array([[ 7, 30],
           [ 6, 20]])
    """
    if isinstance(weights, Bootstrap):
        return np.concatenate([resample(block, stacked) for block in weights.blocks()])
    if len(stacked) != weights.shape[1]:
        raise UsageError(f"weights are for {weights.shape[1]} images, but there are {len(stacked)} tallies")
    flat = stacked.reshape(len(stacked), -1)
    shape = (len(weights), *stacked.shape[1:])
    if stacked.dtype.kind in "biu":
        return _whole_number_product(weights, flat.astype(np.int64, copy=False)).reshape(shape)
    # Not a matrix product: a BLAS chooses the order of additions, and so the last bits, to suit the processor.
    sums = np.zeros((len(weights), flat.shape[1]))
    for weight, values in zip(weights.T, flat, strict=True):
        drawn = weight > 0  # an infinite score of an image that was not drawn does not count
        sums[drawn] += weight[drawn, None] * values
    return sums.reshape(shape)


def ratio(part: ArrayLike, whole: ArrayLike, *, empty: float = float("nan")) -> NDArray[np.float64]:
    """``part / whole`` where the whole is above 0, ``empty`` elsewhere.

    >>> ratio([1, 2], [4, 0]), ratio(0, 0, empty=0.0)
    (array([0.25,  nan]), array(0.))
    """
    whole = np.asarray(whole)
    result: NDArray[np.float64] = np.full(np.broadcast_shapes(np.shape(part), whole.shape), empty)
    np.divide(part, whole, out=result, where=whole > 0)
    return result


def weighted_mean(values: NDArray[np.float64], weights: Draws) -> NDArray[np.float64]:
    """Means over images (the first axis), NaN left out, of every resampled data set; NaN where nothing is left.

    >>> weighted_mean(np.array([[1.0, np.nan], [3.0, 5.0]]), np.array([[1, 1], [2, 0]]))
    array([[ 2.,  5.],
           [ 1., nan]])
    """
    known = ~np.isnan(values)
    sums, counts = resample(weights, np.where(known, values, 0.0)), resample(weights, known)
    return ratio(sums, counts)


def mean_and_interval(
    values: NDArray[np.float64], resamples: int = 1000, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean over images (the first axis), NaN left out, and its 95 % bootstrap interval (ends last; NaN without resamples)."""
    mean = weighted_mean(values, np.ones((1, len(values)), np.int64))[0]
    interval = np.full((*mean.shape, 2), np.nan)
    if resamples:
        drawn = weighted_mean(values, Bootstrap(len(values), resamples, seed))
        for index in np.ndindex(mean.shape):
            interval[index] = percentile_interval(drawn[:, *index])
    return mean, interval


def percentile_interval(samples: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """The interval that holds the middle ``level`` of the resampled scores, at its ends a resampled score each.

    Ends are rounded outwards, so that at least the fraction ``level`` of the samples lies within. Resamples without a score
    (NaN: a resample may, say, hold no boundary at all) are left out; if they are more than half, or if there are no
    samples, both ends are NaN, since the rest would describe other data than those at hand.

    >>> percentile_interval(range(1001), 0.9)
    (50.0, 950.0)
    """
    _refuse_level(level)
    known = _known(np.asarray(samples, dtype=np.float64).ravel())
    if known.size == 0:
        return (float("nan"), float("nan"))
    # The same number of samples is cut off at either end; the small term undoes the rounding of (1 − level) / 2.
    cut = math.floor((1 - level) / 2 * (known.size - 1) + 1e-9)
    ordered = np.sort(known)
    return float(ordered[cut]), float(ordered[-1 - cut])


@dataclass(frozen=True)
class PairedResult:
    """Difference of two systems, its interval, and how surprising it would be by chance."""

    difference: float
    low: float
    high: float
    p_value: float


def paired_bootstrap(
    score_a_samples: ArrayLike, score_b_samples: ArrayLike, *, observed: float | None = None, level: float = 0.95
) -> PairedResult:
    r"""Is system A better than system B? Difference A − B, its percentile interval, and a two-sided p-value.

    .. math:: p = \min\left(1,\; 2\,\frac{\min(\#\{d ≤ 0\}, \#\{d ≥ 0\}) + 1}{R + 1}\right)

    over the R resampled differences d. The + 1 counts the data at hand as one more resample, so that p is never zero: its
    least value is 2 / (R + 1). Zero lies outside the interval about when p < 1 − ``level``: both read the same samples.
    Equal systems have p = 1.

    Both sample vectors must come from the same weights, resample by resample. Pairs in which either score is NaN are left
    out; if they are more than half, every number of the result is NaN.

    Parameters
    ----------
    observed
        The difference on the data set itself. Without it, ``difference`` is the mean of the resampled differences.
    level
        Of the interval.

    Examples
    --------
    >>> paired_bootstrap([0.7, 0.8, 0.9], [0.5, 0.5, 0.5], observed=0.3)
    PairedResult(difference=0.3, low=0.19999999999999996, high=0.4, p_value=0.5)
    """
    _refuse_level(level)
    first, second = np.asarray(score_a_samples, dtype=np.float64), np.asarray(score_b_samples, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise UsageError(f"paired samples must be vectors of one length, not shapes {first.shape} and {second.shape}")
    with np.errstate(invalid="ignore"):  # ∞ − ∞ is NaN, which is what we want
        differences = _known(first - second)
    if differences.size == 0:
        return PairedResult(*[float("nan")] * 4)
    against = int(min((differences <= 0).sum(), (differences >= 0).sum()))
    difference = float(differences.mean()) if observed is None else observed
    p_value = min(1.0, 2 * (against + 1) / (differences.size + 1))
    return PairedResult(difference, *percentile_interval(differences, level), p_value)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """P-values corrected for their number by Holm's step-down procedure; in the order given, none above 1.

    The smallest is multiplied by how many there are, the next by one less, and so on; none may fall below the one before.

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    raised = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    result = np.empty_like(values)
    result[order] = np.minimum(raised, 1)
    return result


def _whole_number_product(weights: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Exact product. In float64 while every sum stays below 2⁵³, which is exact in any order and much faster."""
    most = max(int(counts.max(initial=0)), -int(counts.min(initial=0)))
    if most * int(np.abs(weights).sum(axis=1).max(initial=0)) >= 2**53:
        return weights @ counts
    sums = np.zeros((len(weights), counts.shape[1]))
    images = max(1, BLOCK // max(1, counts.shape[1]))
    for start in range(0, len(counts), images):  # so that no copy is as large as the counts
        part = slice(start, start + images)
        sums += weights[:, part].astype(np.float64) @ counts[part].astype(np.float64)
    return sums.astype(np.int64)


def _known(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """The samples that are numbers, or none of them when they are the minority."""
    known = samples[~np.isnan(samples)]
    return known if 2 * known.size >= samples.size else known[:0]


def _refuse_level(level: float) -> None:
    if not 0 < level < 1:
        raise UsageError(f"the level of an interval lies between 0 and 1, not {level}")
