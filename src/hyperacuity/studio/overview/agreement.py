"""Agreement of two people, counted so that it adds up: one confusion matrix per image and pair, summed, then measured.

A matrix has a row per answer of the first person and a column per answer of the second. Of edges the answers are *no* and *yes*,
of neighbouring regions *far*, *same* and *near*.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.boundary.matching import Match
from hyperacuity.maps import EdgeMap

Confusion = NDArray[np.float64]


def cohen_kappa(matrix: ArrayLike) -> float:
    r"""Agreement beyond chance, κ = (p − e) / (1 − e): 1 is perfect, 0 is what chance gives.

    p is the share on the diagonal and :math:`e = \sum_k r_k c_k` what rows and columns would share by chance. An empty matrix, or
    one in which both give a single answer throughout, gives NaN.

    References
    ----------
    Cohen (1960), A coefficient of agreement for nominal scales.

    Examples
    --------
    >>> round(cohen_kappa([[20, 5], [10, 15]]), 3)  # p = 0.7, e = 0.5
    0.4
    """
    counts = np.asarray(matrix, np.float64)
    total = counts.sum()
    if not total:
        return float("nan")
    shares = counts / total
    chance = float(shares.sum(axis=1) @ shares.sum(axis=0))
    return float((np.trace(shares) - chance) / (1 - chance)) if chance < 1 else float("nan")


def share_agreed(matrix: ArrayLike) -> float:
    """The share on the diagonal; NaN for an empty matrix.

    >>> share_agreed([[20, 5], [10, 15]])
    0.7
    """
    counts = np.asarray(matrix, np.float64)
    return float(np.trace(counts) / counts.sum()) if counts.sum() else float("nan")


def f_between(matrix: ArrayLike) -> float:
    """F of one person's edges against the other's, 2m / (a + b) for m matched of a and b edges; NaN where nobody drew any.

    >>> f_between([[90, 2], [4, 6]])
    0.6666666666666666
    """
    counts = np.asarray(matrix, np.float64)
    drawn = counts[1].sum() + counts[:, 1].sum()
    return float(2 * counts[1, 1] / drawn) if drawn else float("nan")


def confusion_of_edges(one: EdgeMap, other: EdgeMap, matched: Match) -> Confusion:
    """No and yes of two people's pixels; a pixel and its partner within the tolerance count as one that both drew.

    >>> from hyperacuity.boundary.matching import match
    >>> a, b = np.array([[1, 1, 0, 0]], bool), np.array([[0, 1, 0, 1]], bool)
    >>> confusion_of_edges(a, b, match(a, b, tolerance_px=0)).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    first, second, both = int(one.sum()), int(other.sum()), matched.count
    return np.array([[one.size - first - second + both, second - both], [first - both, both]], np.float64)


def confusion_of_orders(relations: ArrayLike, others: ArrayLike, lengths: ArrayLike) -> Confusion:
    """Far, same and near of two people's relations of neighbours (−1, 0, +1; NaN unknown), by the length of the boundary.

    Only neighbours of which both know the relation count. Each counts from both sides, so that it does not matter which of
    them is numbered first.

    >>> confusion_of_orders([1, 0, np.nan], [1, -1, 1], [4, 2, 8]).tolist()
    [[4.0, 0.0, 0.0], [2.0, 0.0, 2.0], [0.0, 0.0, 4.0]]
    """
    one, other = np.asarray(relations, np.float64), np.asarray(others, np.float64)
    both = ~np.isnan(one) & ~np.isnan(other)
    matrix = np.zeros((3, 3))
    rows, columns = (one[both] + 1).astype(int), (other[both] + 1).astype(int)
    np.add.at(matrix, (rows, columns), np.asarray(lengths, np.float64)[both])
    return matrix + matrix[::-1, ::-1]
