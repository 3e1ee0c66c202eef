r"""Measures from counts alone (Abdulrahman2017, Table 1): a pixel is right or wrong, no matter how near it lies.

With TP hits, FP false detections, FN missed pixels and TN the rest, TPR = TP/(TP+FN) (recall), FPR = FP/(FP+TN) and
PREC = TP/(TP+FP). All are complemented: 0 is perfect, 1 is worst.

References
----------
Abdulrahman, Magnier & Montesinos (2017), From contours to ground truth: how to evaluate edge detectors by filtering, WSCG.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from hyperacuity.edges.pair import Edges, paired
from hyperacuity.errors import UsageError


class Confusion(NamedTuple):
    """TP, FP, FN and TN, pixel by pixel without tolerance."""

    hits: int
    false: int
    missed: int
    correct_rejections: int


def confusion(truth: Edges, detected: Edges) -> Confusion:
    """Count hits (TP), false detections (FP), missed pixels (FN) and correct rejections (TN).

    Examples
    --------
    >>> confusion([[1, 1, 0, 0]], [[1, 0, 1, 0]])
    Confusion(hits=1, false=1, missed=1, correct_rejections=1)
    """
    pair = paired(truth, detected)
    return Confusion(pair.hits, pair.false, pair.missed, pair.size - pair.union_size)


def pm(truth: Edges, detected: Edges) -> float:
    r"""Performance measure P_m\*, complemented: the Jaccard distance of the two maps (Grigorescu, Petkov & Westenberg 2003).

    .. math:: P_m^* = 1 - \frac{TP}{TP+FP+FN}

    Two empty maps give 0; one empty map gives 1.

    Examples
    --------
    >>> pm([[1, 1, 0, 0]], [[1, 1, 1, 1]])
    0.5
    """
    pair = paired(truth, detected)
    return pair.errors / pair.union_size if pair.errors else 0.0


def phi(truth: Edges, detected: Edges) -> float:
    r"""Φ\*, the complement of recall times specificity (Venkatesh & Rosin 1995).

    .. math:: Φ^* = 1 - TPR · \frac{TN}{TN+FP}

    Two empty maps give 0; an empty truth or an empty detection alone gives 1. Where every pixel is true, specificity is 1.

    Examples
    --------
    >>> phi([[1, 1, 0, 0]], [[1, 0, 1, 0]])
    0.75
    """
    pair = paired(truth, detected)
    if pair.errors == 0:
        return 0.0
    background = pair.size - pair.truth_size
    specificity = (background - pair.false) / background if background else 1.0
    return 1.0 - (pair.hits / pair.truth_size * specificity if pair.truth_size else 0.0)


def chi2(
    truth: Edges,
    detected: Edges,
    *,
    reading: Literal["yitzhaky", "printed", "counts"] = "yitzhaky",
    signed: bool = False,
) -> float:
    r"""χ²\*, the complemented agreement beyond chance (Yitzhaky & Peli 2003).

    .. math:: χ^{2*} = 1 - \frac{TPR-Q}{1-Q} · \frac{Q-FPR}{Q}, \qquad Q = \frac{TP+FP}{|I|}

    This equals 1 − MCC² (Matthews correlation), so a map that avoids the truth as well as another follows it scores the same;
    ``signed=True`` gives 1 − sign(MCC)·MCC² ∈ [0, 2] instead. Equal maps give 0; otherwise, a map that is empty or full
    throughout gives 1.

    Parameters
    ----------
    reading
        ``yitzhaky``: as defined by Yitzhaky & Peli. ``printed``: with the paper's "+FPR" in place of "−FPR". ``counts``: the
        same, and TP, FP taken as counts rather than as shares of the image. The last two leave [0, 1].

    Examples
    --------
    >>> chi2([[1, 1, 0, 0]], [[1, 1, 1, 0]])
    0.6666666666666667
    """
    pair = paired(truth, detected)
    if pair.errors == 0:
        return 0.0
    background = pair.size - pair.truth_size
    if background == 0 or pair.truth_size == 0 or pair.detected_size in (0, pair.size):
        return 1.0
    recall, false_rate = pair.hits / pair.truth_size, pair.false / background
    q = pair.detected_size / (1 if reading == "counts" else pair.size)
    if q == 1:  # a single detected pixel, counted
        return float("nan")
    agreement = (recall - q) / (1 - q) * (q - (false_rate if reading == "yitzhaky" else -false_rate)) / q
    return 1.0 + agreement if signed and recall < false_rate else 1.0 - agreement


def f_alpha(truth: Edges, detected: Edges, *, alpha: float = 0.5) -> float:
    r"""F_α\*, the complemented F-measure; α = ½ weighs precision and recall alike (Martin, Fowlkes & Malik 2004).

    .. math:: F_α^* = 1 - \frac{PREC · TPR}{α·TPR + (1-α)·PREC}

    Two empty maps give 0; otherwise, no hit gives 1.

    Examples
    --------
    >>> f_alpha([[1, 1, 0, 0]], [[1, 0, 1, 0]])
    0.5
    """
    if not 0 < alpha <= 1:
        raise UsageError(f"f_alpha(alpha={alpha:g}): alpha must be above 0 and at most 1")
    pair = paired(truth, detected)
    if pair.hits == 0:
        return float(pair.errors > 0)
    precision, recall = pair.hits / pair.detected_size, pair.hits / pair.truth_size
    return 1.0 - precision * recall / (alpha * recall + (1 - alpha) * precision)
