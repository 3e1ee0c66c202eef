"""Ranks: a system's place in each column, and the average of its places, as the Middlebury server orders systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.compare.pareto import NanRule, costs
from hyperacuity.errors import UsageError

Ties = Literal["competition", "average"]


def ranks(
    values: ArrayLike, *, senses: Sequence[str] | None = None, ties: Ties = "competition", nan: NanRule = "worst"
) -> NDArray[np.float64]:
    """Place of each system in each column, counted from 1. Values, senses and NaN as in :mod:`hyperacuity.compare.pareto`.

    Equal systems share the better place (``"competition"``: 1, 1, 3, as on the Middlebury server) or the mean of their
    places (``"average"``: 1.5, 1.5, 3, as rank statistics want it).

    >>> ranks([[5], [7], [5], [9]]).ravel()
    array([1., 3., 1., 4.])
    >>> ranks([[5], [7], [5], [9]], ties="average").ravel()
    array([1.5, 3. , 1.5, 4. ])
    """
    least = costs(values, senses=senses, nan=nan)
    ordered = np.sort(least, axis=0)
    better, upto = np.empty_like(least), np.empty_like(least)
    for k in range(least.shape[1]):
        better[:, k] = np.searchsorted(ordered[:, k], least[:, k], side="left")
        upto[:, k] = np.searchsorted(ordered[:, k], least[:, k], side="right")
    if ties == "competition":
        return better + 1
    if ties == "average":
        return (better + 1 + upto) / 2
    raise UsageError(f"ties={ties!r}: expected competition or average")


def average_rank(
    values: ArrayLike, *, senses: Sequence[str] | None = None, ties: Ties = "competition", nan: NanRule = "worst"
) -> NDArray[np.float64]:
    """Mean over the columns of each system's :func:`ranks`: the figure that orders the Middlebury server's table.

    >>> average_rank([[1, 5, 3], [2, 4, 3], [2, 5, 4], [1, 5, 3], [3, 3, 9], [9, 9, 9]]) * 3
    array([ 5.,  6., 10.,  5., 11., 17.])
    """
    mean: NDArray[np.float64] = ranks(values, senses=senses, ties=ties, nan=nan).mean(axis=1)
    return mean
