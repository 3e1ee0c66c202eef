"""Automatic thresholds: one number from the histogram of strengths, as a baseline for the best threshold of a sweep.

Pass the values that compete, usually ``thin[thin > 0]``: the zeros that suppression leaves would outweigh everything. Pixels
above the threshold are edges. No values at all give ``nan``, above which nothing lies.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError, UsageError


def otsu(values: ArrayLike, *, bins: int = 256) -> float:
    r"""The threshold that separates values into two classes of largest variance between them, :math:`ω_0 ω_1 (µ_0 − µ_1)^2`.

    It is the middle of a histogram bin. Values that are all equal give that value; no values give ``nan``.

    References
    ----------
    Otsu (1979), A threshold selection method from gray-level histograms.

    Examples
    --------
    >>> round(otsu([0.1, 0.12, 0.14, 0.8, 0.9]), 2)
    0.14
    """
    numbers = _numbers(values, bins)
    if numbers.size == 0 or numbers.min() == numbers.max():
        return float(numbers[0]) if numbers.size else float("nan")
    counts, edges = np.histogram(numbers, bins)
    middles = (edges[:-1] + edges[1:]) / 2
    below = np.cumsum(counts)[:-1].astype(np.float64)
    above = numbers.size - below
    sums = np.cumsum(counts * middles)
    between = below * above * (sums[:-1] / below - (sums[-1] - sums[:-1]) / above) ** 2
    return float(middles[between.argmax()])


def rosin(values: ArrayLike, *, bins: int = 256) -> float:
    """The corner of a histogram with one peak: the bin farthest below the line from the peak to the end of the tail.

    Suits edge strengths, most of which are noise around one low mode. The line runs from the top of the peak to the first
    empty bin after the largest value; the threshold is the middle of a bin. Values that are all equal give that value; no
    values give ``nan``.

    References
    ----------
    Rosin (2001), Unimodal thresholding.

    Examples
    --------
    >>> values = np.repeat([0.05, 0.15, 0.25, 0.35, 0.45, 0.95], [100, 40, 5, 4, 3, 1])
    >>> round(rosin(values, bins=10), 2)
    0.28
    """
    numbers = _numbers(values, bins)
    if numbers.size == 0 or numbers.min() == numbers.max():
        return float(numbers[0]) if numbers.size else float("nan")
    counts, edges = np.histogram(numbers, bins)
    peak = int(counts.argmax())
    run = np.arange(bins - peak)
    # Distances below the line are measured along the counts; perpendicular ones differ by the same factor everywhere.
    line = counts[peak] * (1 - run / (bins - peak))
    corner = peak + int((line - counts[peak:]).argmax())
    return float((edges[corner] + edges[corner + 1]) / 2)


def _numbers(values: ArrayLike, bins: int) -> NDArray[np.float64]:
    if bins < 2:
        raise UsageError(f"bins is {bins}, expected 2 or more")
    numbers = np.asarray(values, dtype=np.float64).ravel()
    if not np.isfinite(numbers).all():
        raise InputError("values hold NaN or infinity, expected finite strengths")
    return numbers
