"""Errors of a disparity map: plain functions of a truth, an estimate and a region.

Truth and estimate are in pixels, NaN where unknown; ``mask`` says which pixels count (all of them by default). Pixels of unknown
truth never count. An estimate that is missing where the truth is known is either wrong (``invalid="bad"``, the default: a dense
map was asked for) or left out (``"skip"``, for semi-dense maps, to be read with their :func:`density`).

Shares are from 0 to 1. A region without a pixel that counts gives ``nan``, and so does one without any estimate where
only estimates can be judged: mean, RMS, quantiles and bias are of the estimates that exist.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import UsageError
from hyperacuity.kernels import disparity as kernels
from hyperacuity.maps import disparity_map, edge_map, same_size

Invalid = Literal["bad", "skip"]

D1_PIXELS = 3.0
D1_SHARE = 0.05


def bad(
    truth: ArrayLike,
    estimate: ArrayLike,
    delta: float = 1.0,
    *,
    mask: ArrayLike | None = None,
    invalid: Invalid = "bad",
) -> float:
    r"""Share of badly matched pixels B(δ): those more than δ pixels off. An error of exactly δ is none.

    .. math:: B = \frac{1}{N} \sum_{(x,y)} [\,|D_{true} - D_{est}| > δ\,]

    References
    ----------
    Scharstein & Szeliski (2002); Cabezas & Trujillo (2011), equations 2 and 3.

    Examples
    --------
    >>> bad([[5, 5, 5, 9]], [[5, 6, 6.5, 7]])
    0.5
    """
    counts, _, _ = _measure(truth, estimate, mask, delta)
    return share(int(counts[3]), int(counts[0]), int(counts[1]), invalid)


def d1(truth: ArrayLike, estimate: ArrayLike, *, mask: ArrayLike | None = None, invalid: Invalid = "bad") -> float:
    """Share of KITTI's outliers: more than 3 pixels off and more than 5 % of the true disparity.

    References
    ----------
    Menze & Geiger (2015), Object scene flow for autonomous vehicles.

    Examples
    --------
    >>> d1([[100, 100, 10]], [[104, 106, 14]])  # 4 % is none
    0.6666666666666666
    """
    counts, _, _ = _measure(truth, estimate, mask)
    return share(int(counts[2]), int(counts[0]), int(counts[1]), invalid)


def epe(truth: ArrayLike, estimate: ArrayLike, *, mask: ArrayLike | None = None) -> float:
    """Mean absolute error in pixels, the end-point error.

    >>> epe([[5, 5]], [[6, 2]])
    2.0
    """
    counts, sums, _ = _measure(truth, estimate, mask)
    return _mean(sums[0], counts[1])


def rms(truth: ArrayLike, estimate: ArrayLike, *, mask: ArrayLike | None = None) -> float:
    """Root of the mean squared error, in pixels.

    >>> rms([[5, 5]], [[6, -2]])
    5.0
    """
    counts, sums, _ = _measure(truth, estimate, mask)
    return math.sqrt(_mean(sums[1], counts[1]))


def bias(truth: ArrayLike, estimate: ArrayLike, *, mask: ArrayLike | None = None) -> float:
    """Mean signed error in pixels; positive when disparities are too large, that is, when surfaces seem too near.

    >>> bias([[5, 5]], [[6, 2]])
    -1.0
    """
    counts, sums, _ = _measure(truth, estimate, mask)
    return _mean(sums[2], counts[1])


def density(truth: ArrayLike, estimate: ArrayLike, *, mask: ArrayLike | None = None) -> float:
    """Share of the pixels of known truth that have an estimate.

    >>> density([[5, 5, np.nan]], [[5, np.nan, 5]])
    0.5
    """
    counts, _, _ = _measure(truth, estimate, mask)
    return _mean(counts[1], counts[0])


def quantile(truth: ArrayLike, estimate: ArrayLike, percent: float, *, mask: ArrayLike | None = None) -> float:
    """The least absolute error, in pixels, that at least ``percent`` % of the estimates do not exceed: A50, A90 and so on.

    >>> quantile([[0, 0, 0, 0]], [[1, 2, 3, 40]], 50)
    2.0
    """
    _, _, sizes = _measure(truth, estimate, mask)
    return float(quantiles(sizes, (percent,))[0])


def quantiles(sizes: NDArray[np.float32], percents: tuple[float, ...]) -> NDArray[np.float64]:
    """Several quantiles of absolute errors at once; NaN when there are none. Reorders ``sizes``."""
    if not all(0 < percent <= 100 for percent in percents):
        raise UsageError(f"quantiles of {percents} %: expected more than 0 and at most 100")
    if len(sizes) == 0:
        return np.full(len(percents), np.nan)
    indices = [max(math.ceil(percent * len(sizes) / 100 - 1e-9), 1) - 1 for percent in percents]
    sizes.partition(sorted(set(indices)))
    return sizes[indices].astype(np.float64)


def share(wrong: int, pixels: int, known: int, invalid: Invalid) -> float:
    """Share of wrong pixels, given how many of the known estimates are wrong."""
    if invalid == "bad":
        return _mean(wrong + pixels - known, pixels)
    if invalid == "skip":
        return _mean(wrong, known)
    raise UsageError(f"invalid={invalid!r}: expected bad or skip")


def _mean(total: float, count: int) -> float:
    return float(total) / int(count) if count else math.nan


def _measure(
    truth: ArrayLike, estimate: ArrayLike, mask: ArrayLike | None, *deltas: float
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float32]]:
    true, guess = disparity_map(truth, name="truth"), estimated_map(estimate)
    same_size(guess, true, names=("estimate", "truth"))
    counted = np.ones(true.shape, dtype=bool) if mask is None else edge_map(mask, name="mask")
    same_size(counted, true, names=("mask", "truth"))
    result: tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float32]] = kernels.errors(
        true, guess, counted, np.array(deltas, dtype=np.float64), D1_PIXELS, D1_SHARE
    )
    return result


def estimated_map(values: ArrayLike) -> NDArray[np.float32]:
    """A disparity map that may be empty: a matcher without any match has failed, but its map is legal."""
    array = np.asarray(values)
    if array.ndim == 2 and array.dtype.kind == "f" and array.size and not np.isfinite(array).any():
        return np.full(array.shape, np.nan, dtype=np.float32)
    return disparity_map(array, name="estimate")
