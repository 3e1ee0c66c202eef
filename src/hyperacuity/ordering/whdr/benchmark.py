r"""Ordinal depth: of two points, which one is nearer? The weighted human disagreement rate (WHDR) over pairs of points.

.. math:: \mathrm{WHDR} = \frac{\sum_i w_i \, [\hat r_i \ne r_i]}{\sum_i w_i}

with a judgment :math:`r_i` (the first point is nearer, the second is, about equal) and a weight :math:`w_i` for each pair.
**WHDR=** is the same over the pairs judged equal, **WHDR≠** over the others. A map answers by its two values: about equal when
the larger is less than :math:`1 + δ` times the smaller, else the larger one is nearer. It is global depth consistency
(:mod:`~hyperacuity.ordering.pairwise`) of points in place of regions.

References
----------
Bell, Bala & Snavely (2014), Intrinsic images in the wild.
Zoran, Isola, Krishnan & Freeman (2015), Learning ordinal relationships for mid-level vision.
Chen, Fu, Yang & Deng (2016), Single-image depth perception in the wild (DIW).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError, UsageError
from hyperacuity.maps import OrderMap, order_map
from hyperacuity.resampling import Bootstrap, Draws, percentile_interval, ratio, resample, weighted_mean
from hyperacuity.tally import (
    Arrays,
    BaseProtocol,
    Counts,
    Scores,
    Sums,
    Tally,
    Weights,
    described,
    number,
    protocol_of,
    stack,
)
from hyperacuity.tasks import Criteria

Equality = Literal["ratio", "difference"]
Pooling = Literal["pooled", "mean"]

RATES = ("whdr", "whdr_equal", "whdr_unequal")
"""All pairs, those judged equal, and the others."""

UNANSWERED = -2
"""Answer to a pair without a prediction."""


@dataclass(frozen=True, eq=False)
class PointPairs:
    """Pairs of points of an image, and how people judged each.

    ``first`` and ``second`` are n×2, (y, x) from 0; ``relation`` is +1 where the first is nearer, −1 where the second is, 0 where
    they are about equal. ``size`` is the width and height of the picture that was judged, if known.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    relation: NDArray[np.int64]
    weight: NDArray[np.float64]
    size: tuple[int, int] | None = None

    @property
    def count(self) -> int:
        """Number of pairs."""
        return self.relation.size


def point_pairs(rows: ArrayLike, *, size: tuple[int, int] | None = None, name: str = "pairs of points") -> PointPairs:
    """Pairs of points from rows (y1, x1, y2, x2, relation), and the weight in a sixth column if there is one.

    >>> point_pairs([[0, 0, 0, 5, 1]]).weight
    array([1.])
    """
    table = np.asarray(rows, np.float64)
    if table.ndim != 2 or table.shape[1] not in (5, 6):
        raise InputError(
            f"{name}: have shape {table.shape}, expected rows of y1, x1, y2, x2, relation and perhaps weight"
        )
    places, relation = table[:, :4], table[:, 4]
    weight = table[:, 5] if table.shape[1] == 6 else np.ones(len(table))
    if not np.array_equal(places, np.floor(places)) or (places < 0).any():
        raise InputError(f"{name}: hold coordinates that are not non-negative whole numbers, expected pixels")
    if not np.isin(relation, (-1, 0, 1)).all():
        raise InputError(f"{name}: hold relations other than 1 (first nearer), -1 (second nearer) and 0 (equal)")
    if not ((weight >= 0) & np.isfinite(weight)).all():
        raise InputError(f"{name}: hold weights that are negative or not finite")
    points = places.astype(np.int64)
    if (same := (points[:, :2] == points[:, 2:]).all(axis=1)).any():
        y, x = points[same][0, :2].tolist()
        raise InputError(f"{name}: both points of a pair are at x {x}, y {y}, expected two places")
    return PointPairs(points[:, :2], points[:, 2:], relation.astype(np.int64), weight, size)


@dataclass(frozen=True)
class PairProtocol(BaseProtocol):
    """A benchmark of pairs of points.

    Examples
    --------
    >>> PairProtocol().signature
    whdr|equal:ratio,0.02|sum:pooled|v:1
    """

    task: ClassVar[str] = "whdr"
    delta: float = 0.02
    """About equal: the larger value is less than 1 + delta times the smaller.

    With 0, only values that are the same.
    """
    equality: Equality = "ratio"
    """Quantity that delta bounds: the ``ratio``, or the ``difference`` in the units of the map."""
    aggregate: Pooling = "pooled"
    """Rates of a data set: of the ``pooled`` weights of all images, or the ``mean`` over images."""

    def __post_init__(self) -> None:
        """Validate the options."""
        if not 0 <= self.delta < float("inf"):
            raise UsageError(f"delta {self.delta:g}: expected a non-negative number")
        if self.equality not in ("ratio", "difference"):
            raise UsageError(f"equality {self.equality!r}: expected 'ratio' or 'difference'")
        if self.aggregate not in ("pooled", "mean"):
            raise UsageError(f"aggregate {self.aggregate!r}: expected 'pooled' or 'mean'")

    def parts(self) -> dict[str, object]:
        """Parts of the signature."""
        return {"equal": f"{self.equality},{number(self.delta)}", "sum": self.aggregate}


PAIRS = PairProtocol()
"""The defaults."""

PAIR_PROTOCOLS = {
    "whdr": described(PAIRS, "pairs may be equal"),
    "diw": described(PairProtocol(delta=0.0), "one of two answers is right, as in DIW"),
}
"""Protocols by name; each is described in its ``__doc__``."""


@dataclass(frozen=True, eq=False)
class PairTally(Tally):
    """Sums of one image (or, added up, of many), of pairs judged equal and of the others.

    ``wrong`` is the weight of the pairs answered wrong, ``weight`` that of all. ``pairs`` counts them; its last entry counts
    pairs without an answer, which are wrong.
    """

    wrong: Sums
    weight: Sums
    pairs: Counts

    def validate(self) -> None:
        """Require that wrong answers weigh no more than all, and that only pairs asked about are unanswered."""
        super().validate()
        self.require_shape((2,), "wrong", "weight")
        self.require_shape((3,), "pairs")
        self.require_finite("weight")
        self.require_at_most("weight", "wrong")
        self.require(self.pairs[2] <= self.pairs[:2].sum(), "pairs", "no more unanswered pairs than there are pairs")

    def truth_counts(self) -> Arrays:
        """The pairs and their weights."""
        return {"weight": self.weight, "pairs": self.pairs[:2]}


def answers(prediction: OrderMap | PointPairs, pairs: PointPairs, protocol: PairProtocol = PAIRS) -> NDArray[np.int64]:
    """Answers of a prediction to each pair: +1, −1 or 0 as in :class:`PointPairs`, and :data:`UNANSWERED`.

    A map, larger = nearer, answers by its values at the two points. Pairs answer for themselves, whichever of the two points
    comes first.

    >>> pairs = point_pairs([[0, 0, 0, 1, 1], [0, 1, 0, 2, 0]])
    >>> answers(np.array([[4, 2, 2.01]], np.float32), pairs)
    array([1, 0])
    """
    if isinstance(prediction, PointPairs):
        by_points: dict[tuple[int, ...], int] = {}
        for one, other, relation in zip(
            prediction.first.tolist(), prediction.second.tolist(), prediction.relation.tolist(), strict=True
        ):
            by_points[*one, *other], by_points[*other, *one] = relation, -relation
        asked = np.hstack([pairs.first, pairs.second]).tolist()
        return np.array([by_points.get(tuple(places), UNANSWERED) for places in asked], np.int64).reshape(-1)
    _check_inside(prediction, pairs)
    one, other = (prediction[tuple(points.T)].astype(np.float64) for points in (pairs.first, pairs.second))
    if protocol.equality == "difference":
        equal = np.abs(one - other) <= protocol.delta
    else:
        # Depths that a reader flipped are negative on both sides; values of two signs are never about equal.
        large, small = np.maximum(np.abs(one), np.abs(other)), np.minimum(np.abs(one), np.abs(other))
        equal = (one == other) | ((one * other > 0) & (large < (1 + protocol.delta) * small))
    signs = np.where(equal, 0, np.sign(one - other))
    return np.where(np.isnan(one + other), UNANSWERED, signs).astype(np.int64)


def _check_inside(order: OrderMap, pairs: PointPairs) -> None:
    height, width = order.shape
    if pairs.size is not None and pairs.size != (width, height):
        judged = "×".join(map(str, pairs.size))
        raise InputError(f"the map is {width}×{height} but the judged picture is {judged}: resize the map to that size")
    points = np.vstack([pairs.first, pairs.second])
    outside = (points >= (height, width)).any(axis=1)
    if outside.any():
        y, x = points[outside][0].tolist()
        raise InputError(f"a point lies at x {x}, y {y}, outside the map of {width}×{height}: are both of one size?")


def tally_pairs(
    prediction: ArrayLike | PointPairs, truths: Sequence[PointPairs | ArrayLike], protocol: PairProtocol = PAIRS
) -> PairTally:
    """Judge one image: an order map, larger = nearer, or answers to pairs of points, against the pairs of every annotator.

    Examples
    --------
    >>> result = tally_pairs([[4, 2, 2.01]], [[[0, 0, 0, 1, -1], [0, 1, 0, 2, 0]]])
    >>> result.wrong, result.weight, result.pairs
    (array([0., 1.]), array([1., 1.]), array([1, 1, 0]))
    """
    if not len(truths):
        raise InputError("there is no truth to compare with: expected at least one annotator's pairs of points")
    given = prediction if isinstance(prediction, PointPairs) else order_map(prediction, name="prediction")
    wrong, weight, counts = np.zeros(2), np.zeros(2), np.zeros(3, np.int64)
    for truth in truths:
        pairs = truth if isinstance(truth, PointPairs) else point_pairs(truth, name="truth")
        answered = answers(given, pairs, protocol)
        for n, chosen in enumerate((pairs.relation == 0, pairs.relation != 0)):
            weight[n] += pairs.weight[chosen].sum()
            wrong[n] += pairs.weight[chosen & (answered != pairs.relation)].sum()
            counts[n] += np.count_nonzero(chosen)
        counts[2] += np.count_nonzero(answered == UNANSWERED)
    return PairTally(wrong, weight, counts, protocol=protocol)


@dataclass(frozen=True, eq=False)
class PairScore:
    """Rates of a system and their 95 % intervals over images, by the names in :data:`RATES`; NaN without such pairs.

    ``per_image`` are those of each image alone, ``pairs`` how many were equal, unequal, and unanswered.
    """

    protocol: PairProtocol
    images: tuple[str, ...]
    rates: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    per_image: NDArray[np.float64]
    pairs: tuple[int, int, int]


def collect_pairs(tallies: Mapping[str, PairTally], *, resamples: int = 1000, seed: int = 0) -> PairScore:
    """The rates of a data set from its images' tallies. ``resamples=0`` leaves the intervals out (NaN)."""
    protocol, every = protocol_of(tallies.values(), PairProtocol), [tallies[image] for image in sorted(tallies)]
    rates = rates_of(every, np.ones((1, len(every)), np.int64))[0]
    nan = float("nan")
    intervals = dict.fromkeys(RATES, (nan, nan))
    if resamples:
        drawn = rates_of(every, Bootstrap(len(every), resamples, seed))
        intervals = {name: percentile_interval(of) for name, of in zip(RATES, drawn.T, strict=True)}
    equal, unequal, silent = stack(every, "pairs").sum(axis=0).tolist()
    return PairScore(
        protocol,
        tuple(tallies),
        dict(zip(RATES, rates.tolist(), strict=True)),
        intervals,
        _rates(stack(tallies.values(), "wrong"), stack(tallies.values(), "weight")),
        (equal, unequal, silent),
    )


def _rates(wrong: Sums, weight: Sums) -> NDArray[np.float64]:
    """WHDR, WHDR= and WHDR≠ (last axis) from sums of equal and unequal pairs (last axis)."""
    both = ratio(wrong.sum(axis=-1), weight.sum(axis=-1))
    return np.concatenate([both[..., None], ratio(wrong, weight)], axis=-1)


def rates_of(tallies: Sequence[PairTally], weights: Draws) -> Scores:
    """The rates of every resampled data set, resamples × :data:`RATES`."""
    wrong, weight = stack(tallies, "wrong"), stack(tallies, "weight")
    if protocol_of(tallies, PairProtocol).aggregate == "mean":
        return weighted_mean(_rates(wrong, weight), weights)
    return _rates(resample(weights, wrong), resample(weights, weight))


def pair_criteria(protocol: PairProtocol) -> Criteria:
    """The three rates; less is better."""

    def rescore(tallies: Sequence[PairTally], weights: Weights) -> Scores:
        return rates_of(tallies, weights)

    return Criteria(RATES, ("min",) * 3, rescore, RATES)
