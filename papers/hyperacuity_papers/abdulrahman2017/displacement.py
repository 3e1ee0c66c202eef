"""Response of every measure to a line of errors that is moved away from the true contour (Fig. 2).

*False*: the detection is the true contour and a second line, t pixels to the right. *Missed*: the same two maps, exchanged.
At t = 0 both are perfect. A measure that knows how far an error lies rises with t; one that counts pixels jumps at once and
stays; one that sees only false pixels stays at 0 when they are missed instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hyperacuity.edges.names import PAPER, Measure, evaluate, measures
from hyperacuity.errors import UsageError
from hyperacuity.maps import EdgeMap

Norm = Literal["minmax_if_gt1", "literal"]


@dataclass(frozen=True, eq=False)
class Shift:
    """Scores of both cases: ``false[m, n]`` and ``missed[m, n]`` for measure m and distance ``distances[n]`` in pixels."""

    measures: tuple[Measure, ...]
    distances: NDArray[np.int64]
    false: NDArray[np.float64]
    missed: NDArray[np.float64]

    def normalised(self, norm: Norm = "minmax_if_gt1") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Both cases as they are plotted, by equation 5."""
        pairs = [normalise(*scores, norm=norm) for scores in zip(self.false, self.missed, strict=True)]
        return np.array([false for false, _ in pairs]), np.array([missed for _, missed in pairs])


def shift(names: str | Iterable[str] = PAPER, *, largest: int = 16, size: int = 64, length: int = 48) -> Shift:
    """Move a line of errors 0 … ``largest`` pixels away from the true contour and score it with each measure.

    Parameters
    ----------
    names
        Measures; by default all as the paper uses them.
    largest
        The largest distance in pixels.
    size, length
        Side of the image and length of the vertical lines in pixels. The contour stands at x = 5/16 of the side.

    Examples
    --------
    >>> study = shift("fom, hausdorff", largest=2)
    >>> study.false[1].tolist()
    [0.0, 1.0, 2.0]
    """
    chosen = tuple(measures(names))
    both = [lines(t, size=size, length=length) for t in range(largest + 1)]
    false = [list(evaluate(one, two, map(str, chosen)).values()) for one, two in both]
    missed = [list(evaluate(two, one, map(str, chosen)).values()) for one, two in both]
    return Shift(chosen, np.arange(largest + 1), np.array(false).T, np.array(missed).T)


def lines(distance: int, *, size: int = 64, length: int = 48) -> tuple[EdgeMap, EdgeMap]:
    """The contour alone, and the contour with a second line ``distance`` pixels to the right."""
    column, top = size * 5 // 16, (size - length) // 2
    if not (0 <= distance < size - column and 0 < length <= size):
        raise UsageError(
            f"a line of {length} pixels, {distance} from column {column}, does not fit an image of side {size}"
        )
    one = np.zeros((size, size), np.bool_)
    one[top : top + length, column] = True
    two = one.copy()
    two[top : top + length, column + distance] = True
    return one, two


def normalise(
    first: NDArray[np.float64], second: NDArray[np.float64], *, norm: Norm = "minmax_if_gt1"
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Bring two curves of one measure to a common scale for plotting (equation 5), m and M their least and largest value.

    .. math:: 𝒩(f) = 0 \text{ if } M=m=0;\quad 1 \text{ if } M=m≠0;\quad \frac{f-m}{M-m} \text{ if } M>1;\quad f \text{ otherwise}

    ``norm="literal"`` scales only if also m ≠ 0, as printed; a distance measure that starts at 0 then leaves [0, 1].

    Examples
    --------
    >>> [curve.tolist() for curve in normalise(np.array([0.0, 2, 4]), np.array([1.0, 3, 5]))]
    [[0.0, 0.4, 0.8], [0.2, 0.6, 1.0]]
    """
    both = np.concatenate([first, second])
    low, high = float(np.min(both)), float(np.max(both))
    if low == high:
        constant = np.full_like(both, 0.0 if high == 0 else 1.0)
        return constant[: len(first)], constant[len(first) :]
    if high > 1 and (low != 0 or norm == "minmax_if_gt1"):
        return (first - low) / (high - low), (second - low) / (high - low)
    return first, second
