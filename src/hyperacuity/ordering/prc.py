r"""Precision–recall–classification: how well something is detected *and* classified, in one plane (Palou & Salembier 2014).

A detection that hits the truth is **consistent** when its class is right too and **inconsistent** when it is not (the paper's
CD and ID). What the truth lacks is **false** (FD), what the system lacks is **missed** (MD). How much an inconsistent detection
is worth is a matter of taste, so it is a parameter, β from 0 (nothing) to 1 (as much as a consistent one):

.. math:: P(β) = \frac{CD + β·ID}{CD + ID + FD}, \qquad R(β) = \frac{CD + β·ID}{CD + ID + MD}, \qquad F(β) = \frac{2PR}{P + R}

So an operating point is a segment in the precision–recall plane, and a sweep over a system's parameter is the region between its
curve at β = 0 and its curve at β = 1. Nothing here knows of depth: four numbers per operating point are enough.

>>> sweep = Outcomes(consistent=[6, 4], inconsistent=[2, 0], false=[2, 1], missed=[4, 8])
>>> sweep.precision(0), sweep.recall(0)
(array([0.6, 0.8]), array([0.5       , 0.33333333]))
>>> point = summary(sweep)
>>> point.index, round(point.fmax, 4), round(point.fmin, 4), round(point.ori, 4)
(0, 0.7273, 0.5455, 0.5)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError
from hyperacuity.resampling import ratio

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Outcomes of the detections and of the true events, at one operating point or many (arrays of one shape).

    ``recalled_consistent`` and ``recalled_inconsistent`` count true events instead of detections. They differ from
    ``consistent`` and ``inconsistent`` only when a detection may answer for several true events, as with several annotators;
    without them the two sides are equal.
    """

    consistent: Numbers
    inconsistent: Numbers
    false: Numbers
    missed: Numbers
    recalled_consistent: Numbers
    recalled_inconsistent: Numbers

    def __init__(
        self,
        consistent: ArrayLike,
        inconsistent: ArrayLike,
        false: ArrayLike,
        missed: ArrayLike,
        *,
        recalled_consistent: ArrayLike | None = None,
        recalled_inconsistent: ArrayLike | None = None,
    ) -> None:
        given = {
            "consistent": consistent,
            "inconsistent": inconsistent,
            "false": false,
            "missed": missed,
            "recalled_consistent": consistent if recalled_consistent is None else recalled_consistent,
            "recalled_inconsistent": inconsistent if recalled_inconsistent is None else recalled_inconsistent,
        }
        counts = np.broadcast_arrays(*(np.asarray(values, np.float64) for values in given.values()))
        for name, values in zip(given, counts, strict=True):
            if not np.all(values >= 0):  # false for NaN too
                raise InputError(f"{name}: counts must not be negative, got {values.min():g}")
            object.__setattr__(self, name, values)

    def precision(self, beta: float = 1.0) -> Numbers:
        """P(β). NaN where nothing was detected."""
        return ratio(self.consistent + beta * self.inconsistent, self.consistent + self.inconsistent + self.false)

    def recall(self, beta: float = 1.0) -> Numbers:
        """R(β). NaN where there was nothing to detect."""
        right, wrong = self.recalled_consistent, self.recalled_inconsistent
        return ratio(right + beta * wrong, right + wrong + self.missed)

    def f(self, beta: float = 1.0) -> Numbers:
        """F(β), the harmonic mean of P(β) and R(β).

        0 where both are 0, or where one is and the other does not exist; NaN where there was neither truth nor detection.
        """
        return f_measure(self.precision(beta), self.recall(beta))

    def random_f(self, beta: float = 0.0, *, classes: int = 2) -> Numbers:
        """F(β) of the same detections with classes drawn at random: (1 + β)/2 · F(1) for two classes."""
        return (1 + (classes - 1) * beta) / classes * self.f(1)

    @property
    def accuracy(self) -> Numbers:
        """Share of the detected true events whose class is right; for contours the classical figure/ground accuracy.

        NaN where nothing was detected.
        """
        return ratio(self.recalled_consistent, self.recalled_consistent + self.recalled_inconsistent)


@dataclass(frozen=True)
class Summary:
    """A sweep in four numbers, all at the operating point ``index`` where F(1) is best.

    ``fmax`` = F(1), ``fmin`` = F(0), the over-random index ``ori``, and the accuracy ``fg`` of the classes.
    """

    index: int
    fmax: float
    fmin: float
    ori: float
    fg: float


def f_measure(precision: ArrayLike, recall: ArrayLike) -> Numbers:
    """Harmonic mean, with the rules of :meth:`Outcomes.f`.

    >>> f_measure([0.5, 0, float("nan")], [0.5, 0, 0])
    array([0.5, 0. , 0. ])
    """
    p, r = np.asarray(precision, np.float64), np.asarray(recall, np.float64)
    known_p, known_r = np.nan_to_num(p), np.nan_to_num(r)
    f = ratio(2 * known_p * known_r, known_p + known_r, empty=0.0)
    return np.where(np.isnan(p) & np.isnan(r), np.nan, f)


def over_random_index(fmax: float, fmin: float, *, classes: int = 2) -> float:
    r"""Index of how far above chance the classes are: 0 as if drawn at random (or worse), 1 all right.

    .. math:: ORI = \max\left(0, \frac{F_{min} - F_{max}/2}{F_{max}/2}\right)

    for two classes; with more, 1/2 is their share by chance. 0 when nothing was detected at all (F_max = 0).

    >>> over_random_index(0.8, 0.6), over_random_index(0.8, 0.3), over_random_index(0, 0)
    (0.4999999999999999, 0.0, 0.0)
    """
    if fmax == 0:
        return 0.0
    chance = fmax / classes
    return max(0.0, (fmin - chance) / (fmax - chance))


def summary(sweep: Outcomes, *, classes: int = 2) -> Summary:
    """F_max, F_min, ORI and accuracy at the operating point where F(1) is largest (the first of equals).

    Where no point has an F, the index is −1 and every number is NaN.
    """
    return best_point(*map(np.atleast_1d, (sweep.f(1), sweep.f(0), sweep.accuracy)), classes=classes)


def best_point(detection: Numbers, classified: Numbers, accuracy: Numbers, *, classes: int = 2) -> Summary:
    """Choose the best point, given F(1), F(0) and accuracies, one per operating point."""
    if np.isnan(detection).all():
        return Summary(-1, *[float("nan")] * 4)
    index = int(np.nanargmax(detection))
    fmax, fmin = float(detection[index]), float(classified[index])
    return Summary(index, fmax, fmin, over_random_index(fmax, fmin, classes=classes), float(accuracy[index]))


def from_confusion(table: ArrayLike) -> Outcomes:
    """Outcomes from a confusion table whose first row and column stand for "nothing".

    Rows are what the system says, columns what is true. The first row holds true events that were missed, the first column
    detections where there is nothing; the diagonal of the rest is consistent, the other cells inconsistent. The corner
    (nothing, correctly) is not used.

    >>> result = from_confusion([[0, 3, 1], [2, 5, 1], [0, 1, 1]])
    >>> [float(n) for n in (result.consistent, result.inconsistent, result.false, result.missed)]
    [6.0, 2.0, 2.0, 4.0]
    """
    counts = np.asarray(table, np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or counts.shape[0] < 2:
        raise InputError(
            f"confusion table: has shape {counts.shape}, expected a square with a row for nothing and classes"
        )
    classified = counts[1:, 1:]
    right = float(np.trace(classified))
    return Outcomes(right, classified.sum() - right, counts[1:, 0].sum(), counts[0, 1:].sum())
