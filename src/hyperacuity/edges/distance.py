r"""Distance measures without upper bound (Abdulrahman2017, Table 3): errors in pixels, or powers and sums of them. 0 is perfect.

An empty set is one image diagonal √((H−1)² + (W−1)²) away from every pixel, or infinitely far with ``empty_distance="inf"``.

References
----------
Abdulrahman, Magnier & Montesinos (2017), From contours to ground truth: how to evaluate edge detectors by filtering, WSCG.
Lopez-Molina, De Baets & Bustince (2013). Odet, Belaroussi & Benoit-Cattin (2002).
"""

from __future__ import annotations

import math
from typing import Literal

from hyperacuity.edges.pair import Comparison, Edges, EmptyDistance, Side, Tail, paired
from hyperacuity.errors import UsageError


def yasnoff(truth: Edges, detected: Edges, *, empty_distance: EmptyDistance = "diagonal") -> float:
    r"""Yasnoff's Υ: false detections only, per image area (Yasnoff, Galbraith & Bacus 1978).

    .. math:: Υ = \frac{100}{|I|} \sqrt{\sum_{p∈D} d_G^2(p)}

    An empty detection gives 0.

    Examples
    --------
    >>> yasnoff([[1, 0, 0, 0]], [[0, 0, 1, 0]])
    50.0
    """
    pair = paired(truth, detected)
    return 100 / pair.size * math.sqrt(pair.cost("detected", 2, empty=empty_distance))


def hausdorff(
    truth: Edges,
    detected: Edges,
    *,
    percent: float = 0,
    tail: Tail = "quantile",
    empty_distance: EmptyDistance = "diagonal",
) -> float:
    r"""Hausdorff distance H, the largest error (Huttenlocher & Rucklidge 1993); H_n% forgives the ``percent`` largest each way.

    .. math:: H = \max\left(\max_{p∈D} d_G(p), \max_{p∈G} d_D(p)\right)

    Two empty maps give 0, one gives the distance to an empty set.

    Parameters
    ----------
    percent
        Share of the distances that is forgiven, 0 ≤ percent < 100.
    tail
        ``quantile``: the distance of rank ⌈(1−n/100)·count⌉; ``mean_top``: the mean of the n % largest; ``trim``: the largest
        that is left when those are dropped.

    Examples
    --------
    >>> hausdorff([[1, 0, 0, 0]], [[1, 0, 0, 1]])
    3.0
    """
    if not 0 <= percent < 100:
        raise UsageError(f"hausdorff(percent={percent:g}): percent must be at least 0 and below 100")
    pair = paired(truth, detected)
    sides: tuple[Side, ...] = ("detected", "truth")
    return max(pair.tail(side, percent, tail, empty=empty_distance) for side in sides)


def dk(
    truth: Edges,
    detected: Edges,
    *,
    k: float = 2,
    norm: Literal["outside", "inside"] = "outside",
    empty_distance: EmptyDistance = "diagonal",
) -> float:
    r"""D^k, the distance of detected pixels to the truth: false detections only (Peli & Malah 1982; Lopez-Molina et al. 2013).

    .. math:: D^k = \frac{1}{|D|} \left(\sum_{p∈D} d_G^k(p)\right)^{1/k}

    With ``norm="inside"`` the division comes before the root, which makes it a power mean. An empty detection gives 0.

    Examples
    --------
    >>> dk([[1, 0, 0, 0]], [[1, 0, 0, 1]], k=1)
    1.5
    """
    pair, k = paired(truth, detected), _positive(k, "k")
    if pair.detected_size == 0:
        return 0.0
    cost = pair.cost("detected", k, empty=empty_distance)
    if norm == "inside":
        return _root(cost / pair.detected_size, k)
    return _root(cost, k) / pair.detected_size


def f2d6(truth: Edges, detected: Edges, *, empty_distance: EmptyDistance = "diagonal") -> float:
    r"""f_2 d_6, the modified Hausdorff distance: the larger of the two mean distances (Dubuisson & Jain 1994).

    .. math:: f_2d_6 = \max\left(\frac{1}{|D|}\sum_{p∈D} d_G(p), \frac{1}{|G|}\sum_{p∈G} d_D(p)\right)

    Two empty maps give 0, one gives the distance to an empty set.

    Examples
    --------
    >>> f2d6([[1, 0, 0, 0]], [[1, 0, 0, 1]])
    1.5
    """
    pair = paired(truth, detected)
    from_detected = pair.cost("detected", 1, empty=empty_distance) / max(pair.detected_size, 1)
    from_truth = pair.cost("truth", 1, empty=empty_distance) / max(pair.truth_size, 1)
    return max(from_detected, from_truth)


def theta(
    truth: Edges,
    detected: Edges,
    *,
    k: float = 2,
    delta: float = 1,
    clip: bool = False,
    empty_distance: EmptyDistance = "diagonal",
) -> float:
    r"""Over-segmentation Θ: the mean power of the distance of false detections (Haralick 1984; Odet et al. 2002).

    .. math:: Θ = \frac{1}{FP} \sum_{p∈D} \left(\frac{d_G(p)}{δ_{TH}}\right)^k

    ``delta`` is δ_TH; with ``clip=True`` no distance counts more than δ_TH. k = δ_TH = 1 is Haralick's measure. Without false
    detections it is 0.

    Examples
    --------
    >>> theta([[1, 0, 0, 0]], [[1, 0, 0, 1]])
    9.0
    """
    return _mean_power(paired(truth, detected), "detected", k, delta, clip, empty_distance)


def omega(
    truth: Edges,
    detected: Edges,
    *,
    k: float = 2,
    delta: float = 1,
    clip: bool = False,
    empty_distance: EmptyDistance = "diagonal",
) -> float:
    r"""Under-segmentation Ω: the mean power of the distance of missed pixels (Haralick 1984; Odet et al. 2002).

    .. math:: Ω = \frac{1}{FN} \sum_{p∈G} \left(\frac{d_D(p)}{δ_{TH}}\right)^k

    Options as in :func:`theta`. Without missed pixels it is 0; an empty detection gives the distance to an empty set, to the k.

    Examples
    --------
    >>> omega([[1, 0, 0, 1]], [[1, 0, 0, 0]])
    9.0
    """
    return _mean_power(paired(truth, detected), "truth", k, delta, clip, empty_distance)


def baddeley(
    truth: Edges, detected: Edges, *, k: float = 2, cap: float = math.inf, empty_distance: EmptyDistance = "diagonal"
) -> float:
    r"""Baddeley's Δ^k: how much the two distance maps differ, over all pixels of the image (Baddeley 1992).

    .. math:: Δ^k = \left(\frac{1}{|I|} \sum_{p∈I} |w(d_G(p)) - w(d_D(p))|^k\right)^{1/k}, \qquad w(t) = \min(t, cap)

    w must be concave (the paper says convex). Two empty maps give 0.

    Examples
    --------
    >>> baddeley([[1, 0, 0]], [[0, 1, 0]])
    1.0
    """
    pair, k, cap = paired(truth, detected), _positive(k, "k"), _positive(cap, "cap", infinite=True)
    return _root(pair.difference(k, cap, empty=empty_distance) / pair.size, k)


def sk(
    truth: Edges,
    detected: Edges,
    *,
    k: float = 2,
    denominator: Literal["union", "sum"] = "union",
    empty_distance: EmptyDistance = "diagonal",
) -> float:
    r"""Symmetric distance S^k: both directions under one root (Dubuisson & Jain 1994; Lopez-Molina et al. 2013).

    .. math:: S^k = \left(\frac{\sum_{p∈D} d_G^k(p) + \sum_{p∈G} d_D^k(p)}{|D∪G|}\right)^{1/k}

    ``denominator="sum"`` divides by |D| + |G| instead. Two empty maps give 0, one gives the distance to an empty set.

    Examples
    --------
    >>> sk([[1, 0, 0, 0]], [[1, 0, 0, 1]], k=1)
    1.5
    """
    pair, k = paired(truth, detected), _positive(k, "k")
    if pair.errors == 0:
        return 0.0
    cost = pair.cost("detected", k, empty=empty_distance) + pair.cost("truth", k, empty=empty_distance)
    return _root(cost / (pair.union_size if denominator == "union" else pair.detected_size + pair.truth_size), k)


def gamma(truth: Edges, detected: Edges) -> float:
    r"""Γ: the number of errors times the distances of false detections (Magnier, Le & Zogo 2016).

    .. math:: Γ = \frac{FP+FN}{|G|^2} \sqrt{\sum_{p∈D} d_G^2(p)}

    An empty detection gives 0; an empty truth with detections gives ``nan``.

    Examples
    --------
    >>> gamma([[1, 0, 0, 0]], [[1, 0, 0, 1]])
    3.0
    """
    pair = paired(truth, detected)
    return _per_truth(pair, pair.cost("detected", 2))


def psi(truth: Edges, detected: Edges, *, empty_distance: EmptyDistance = "diagonal") -> float:
    r"""Symmetric distance measure Ψ: the number of errors times the distances of false and missed pixels (Magnier 2017).

    .. math:: Ψ = \frac{FP+FN}{|G|^2} \sqrt{\sum_{p∈G} d_D^2(p) + \sum_{p∈D} d_G^2(p)}

    Two empty maps give 0; an empty truth with detections gives ``nan``.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.eye(5, dtype=bool)
    >>> psi(truth, truth)
    0.0
    """
    pair = paired(truth, detected)
    return _per_truth(
        pair, pair.cost("truth", 2, empty=empty_distance) + pair.cost("detected", 2, empty=empty_distance)
    )


def _mean_power(pair: Comparison, side: Side, k: float, delta: float, clip: bool, empty: EmptyDistance) -> float:
    """Σ (d/δ)^k per error; 0 without errors."""
    k, delta = _positive(k, "k"), _positive(delta, "delta")
    errors = pair.false if side == "detected" else pair.missed
    if errors == 0:
        return 0.0
    return pair.cost(side, k, clip=delta if clip else math.inf, empty=empty) / errors / math.pow(delta, k)


def _per_truth(pair: Comparison, cost: float) -> float:
    """(FP + FN)/|G|² · √cost."""
    if pair.errors == 0:
        return 0.0
    return pair.errors / pair.truth_size**2 * math.sqrt(cost) if pair.truth_size else math.nan


def _root(value: float, k: float) -> float:
    return math.sqrt(value) if k == 2 else float(value ** (1 / k))


def _positive(value: float, name: str, *, infinite: bool = False) -> float:
    if not value > 0 or (math.isinf(value) and not infinite):
        raise UsageError(f"{name}={value:g}: expected a number above 0")
    return value
