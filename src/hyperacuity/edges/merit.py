r"""Normalised distance measures (Abdulrahman2017, Table 2): what a pixel is worth fades with its distance.

A pixel at distance d is worth w(d) = 1/(1 + κ d²), 1 on the spot and 0 far away; κ = 1/9 after Abdou & Pratt. Nothing is near an
empty set, so there w = 0. All scores lie in [0, 1]; 0 is perfect.

References
----------
Abdulrahman, Magnier & Montesinos (2017), From contours to ground truth: how to evaluate edge detectors by filtering, WSCG.
"""

from __future__ import annotations

import math
from typing import Literal

from hyperacuity.edges.pair import Comparison, Edges, paired
from hyperacuity.errors import UsageError

KAPPA = 1 / 9


def fom(truth: Edges, detected: Edges, *, kappa: float = KAPPA) -> float:
    r"""Figure of Merit, complemented: how far detected pixels lie from the truth (Abdou & Pratt 1979).

    .. math:: FoM = 1 - \frac{1}{\max(|G|,|D|)} \sum_{p∈D} \frac{1}{1+κ\,d_G^2(p)}

    Distances of missed pixels do not count: without false detections FoM = 1 − TP/|G|. Two empty maps give 0, one gives 1.

    Examples
    --------
    >>> round(fom([[1, 0, 0]], [[0, 1, 0]]), 12)
    0.1
    """
    pair, kappa = paired(truth, detected), _positive(kappa)
    return 1.0 - pair.merit("detected", kappa) / pair.larger_size if pair.errors else 0.0


def fom_e(truth: Edges, detected: Edges, *, kappa: float = KAPPA, no_fp: Literal["zero", "one"] = "zero") -> float:
    r"""Figure of Merit of over-segmentation, FoM_e: false detections only (Strasters & Gerbrands 1991).

    .. math:: FoM_e = 1 - \frac{1}{\max(e^{-FP},FP)} \sum_{p∈D∩¬G} \frac{1}{1+κ\,d_G^2(p)}

    Without false detections the printed formula gives 1, the worst score, even for a perfect map; here that is 0 unless
    ``no_fp="one"``. Equal maps always give 0.

    Examples
    --------
    >>> round(fom_e([[1, 0, 0]], [[1, 1, 0]]), 12)
    0.1
    """
    pair, kappa = paired(truth, detected), _positive(kappa)
    if pair.false == 0:
        return float(no_fp == "one" and pair.errors > 0)
    return 1.0 - (pair.merit("detected", kappa) - pair.hits) / pair.false


def f_pinho(truth: Edges, detected: Edges, *, kappa: float = KAPPA) -> float:
    r"""Pinho and Almeida's F, the Figure of Merit seen from the truth: how far true pixels lie from the detection (1995).

    .. math:: F = 1 - \frac{1}{|G∪D|} \sum_{p∈G} \frac{1}{1+κ\,d_D^2(p)}

    Distances of false detections do not count, only their number. Two empty maps give 0, one gives 1.

    Examples
    --------
    >>> round(f_pinho([[1, 0, 0]], [[0, 1, 0]]), 12)
    0.55
    """
    pair, kappa = paired(truth, detected), _positive(kappa)
    return 1.0 - pair.merit("truth", kappa) / pair.union_size if pair.errors else 0.0


def d4(
    truth: Edges, detected: Edges, *, kappa: float = KAPPA, fom_term: Literal["squared", "linear"] = "squared"
) -> float:
    r"""d_4 (Boaventura & Gonzaga 2009), FoM combined with counts: the distance to the ideal (TP, FN, FP, FoM) = (M, 0, 0, 0).

    .. math:: d_4 = \frac12 \sqrt{\frac{(TP-M)^2+FN^2+FP^2}{M^2} + FoM^2}, \qquad M = \max(|G|,|D|)

    Two empty maps give 0; one empty map gives √3/2.

    Parameters
    ----------
    fom_term
        ``squared``: as the index is defined; ``linear``: FoM in place of FoM², as the paper prints it.

    Examples
    --------
    >>> round(d4([[1, 0, 0]], [[0, 0, 0]]) ** 2, 12)
    0.75
    """
    pair = paired(truth, detected)
    merit = fom(pair, pair, kappa=kappa)
    if pair.errors == 0:
        return 0.0
    m = pair.larger_size
    counts = ((pair.hits - m) ** 2 + pair.missed**2 + pair.false**2) / m**2
    return 0.5 * math.sqrt(counts + (merit**2 if fom_term == "squared" else merit))


def sfom(truth: Edges, detected: Edges, *, kappa: float = KAPPA) -> float:
    r"""Symmetric Figure of Merit: the mean of both directions (Abdulrahman, Magnier & Montesinos 2017, IbPRIA).

    .. math:: SFoM = \tfrac12 FoM(G,D) + \tfrac12 FoM(D,G)

    Two empty maps give 0, one gives 1.

    Examples
    --------
    >>> round(sfom([[1, 0, 0]], [[1, 1, 0]]), 12)
    0.275
    """
    return sum(_both_merits(paired(truth, detected), kappa)) / 2


def mfom(truth: Edges, detected: Edges, *, kappa: float = KAPPA) -> float:
    r"""Maximum Figure of Merit: the worse of both directions (Abdulrahman, Magnier & Montesinos 2017, IbPRIA).

    .. math:: MFoM = \max(FoM(G,D), FoM(D,G))

    Two empty maps give 0, one gives 1.

    Examples
    --------
    >>> mfom([[1, 0, 0]], [[1, 1, 0]])
    0.5
    """
    return max(_both_merits(paired(truth, detected), kappa))


def dp(
    truth: Edges,
    detected: Edges,
    *,
    kappa: float = KAPPA,
    target: Literal["tp", "detection"] = "tp",
    no_tp: Literal["one", "zero"] = "one",
) -> float:
    r"""D_p, edge map quality (Panetta et al. 2016): false detections as a share of the background, missed pixels of the truth.

    .. math:: D_p = \frac{1/2}{|¬G|} \sum_{p∈D} (1-w(d_G(p))) + \frac{1/2}{|G|} \sum_{p∈G} (1-w(d_{G∩D}(p)))

    Background is plentiful, so false detections weigh little. A share of an empty set is 0: an empty truth gives ½·|D|/|I|.

    Parameters
    ----------
    target
        What a missed pixel's distance is taken to: the nearest correctly detected pixel (``tp``, the paper's text), or the
        nearest detected one (``detection``, the paper's formula).
    no_tp
        What a missed pixel costs when nothing is correctly detected: ``one``, or ``zero`` ("not counted without TPs").

    Examples
    --------
    >>> dp([[1, 0, 0]], [[0, 0, 0]])
    0.5
    """
    pair, kappa = paired(truth, detected), _positive(kappa)
    background = pair.size - pair.truth_size
    false_share = (pair.detected_size - pair.merit("detected", kappa)) / background if background else 0.0
    merit = pair.merit("hits", kappa) if target == "tp" else pair.merit("truth", kappa)
    if target == "tp" and no_tp == "zero" and pair.hits == 0:
        merit = pair.truth_size
    missed_share = (pair.truth_size - merit) / pair.truth_size if pair.truth_size else 0.0
    return (false_share + missed_share) / 2


def _both_merits(pair: Comparison, kappa: float) -> tuple[float, float]:
    """FoM(G, D) and FoM(D, G)."""
    kappa = _positive(kappa)
    if pair.errors == 0:
        return 0.0, 0.0
    m = pair.larger_size
    return 1.0 - pair.merit("detected", kappa) / m, 1.0 - pair.merit("truth", kappa) / m


def _positive(kappa: float) -> float:
    if not 0 < kappa < math.inf:
        raise UsageError(f"kappa={kappa:g}: expected a number above 0 (the paper: at most 1)")
    return kappa
