"""Truth and detection side by side: the counts and sums of distances behind every measure.

G is the truth, D the detection, :math:`d_G(p)` the Euclidean distance from p to the nearest pixel of G. Each measure is a formula
in what :class:`Comparison` offers. The numbers may come from two maps (:class:`Pair`) or from the tables of
a sweep over thresholds (:mod:`hyperacuity.edges.thresholds`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError
from hyperacuity.kernels.distances import FAR, difference_sum, squared_distances
from hyperacuity.maps import EdgeMap, edge_map, same_size, size_of

EmptyDistance = Literal["diagonal", "inf"]
"""Distance to an empty set: one image diagonal √((H−1)² + (W−1)²), or infinity."""

Side = Literal["detected", "truth"]
"""Side of a distance: from D's pixels to G, or from G's to D."""

AnySide: TypeAlias = Side | Literal["hits"]
"""Also those of G's pixels to the hits G∩D."""

Tail = Literal["quantile", "mean_top", "trim"]
"""Treatment of the n % largest distances in a Hausdorff distance, see :func:`tail_distance`."""


class Comparison(ABC):
    """Comparison of one truth and one detection of the same size.

    ``size`` is the number of pixels of the image, ``hits`` = TP, ``false`` = FP, ``missed`` = FN. A sum over an empty set is
    0; a sum of distances *to* an empty set is taken at ``empty_distance``.
    """

    shape: tuple[int, int]
    truth_size: int
    detected_size: int
    hits: int

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def false(self) -> int:
        return self.detected_size - self.hits

    @property
    def missed(self) -> int:
        return self.truth_size - self.hits

    @property
    def errors(self) -> int:
        """FP + FN, the number of pixels in which the two maps differ."""
        return self.detected_size + self.truth_size - 2 * self.hits

    @property
    def union_size(self) -> int:
        return self.detected_size + self.truth_size - self.hits

    @property
    def larger_size(self) -> int:
        return max(self.detected_size, self.truth_size)

    def cost(self, side: Side, k: float, *, clip: float = math.inf, empty: EmptyDistance = "diagonal") -> float:
        r"""The sum of :math:`\min(d(p), clip)^k` over the pixels of one side.

        d is the distance to the other side: :math:`d_G(p)` over D, or :math:`d_D(p)` over G.
        """
        if self.detected_size and self.truth_size:
            return self._sum(side, powers, k, clip)
        count = self._count(side)
        return count and count * min(self._far(empty), clip) ** k

    def merit(self, side: AnySide, kappa: float) -> float:
        r"""The sum of :math:`1/(1 + κ\,d(p)^2)` over the pixels of one side; nothing is near an empty set.

        ``"hits"`` is over G, the distance being to the nearest *correctly* detected pixel: :math:`d_{G∩D}(p)`.
        """
        near = self.hits if side == "hits" else self.detected_size and self.truth_size
        return self._sum(side, merits, kappa) if near else 0.0

    def tail(self, side: Side, percent: float, tail: Tail, *, empty: EmptyDistance = "diagonal") -> float:
        """The largest distance of one side's pixels but for the ``percent`` largest ones, see :func:`tail_distance`."""
        if self.detected_size and self.truth_size:
            return tail_distance(self._squared(side), percent, tail)
        return self._far(empty) if self._count(side) else 0.0

    def difference(self, k: float, cap: float, *, empty: EmptyDistance = "diagonal") -> float:
        r"""The sum of :math:`|\min(d_G(p), cap) - \min(d_D(p), cap)|^k` over all pixels of the image."""
        if self.detected_size == self.truth_size == 0:
            return 0.0
        if not (self.detected_size and self.truth_size) and math.isinf(min(self._far(empty), cap)):
            return math.inf
        return self._difference(k, cap)

    def _far(self, empty: EmptyDistance) -> float:
        return math.sqrt(squared_diagonal(self.shape)) if empty == "diagonal" else math.inf

    def _count(self, side: Side) -> int:
        return self.detected_size if side == "detected" else self.truth_size

    # Asked for only when neither set is empty (for "hits": when there is a hit; for _difference: when they are not both empty).
    @abstractmethod
    def _squared(self, side: AnySide) -> NDArray[np.int32]:
        """The squared distance of each pixel of one side to the other."""

    @abstractmethod
    def _sum(self, side: AnySide, term: Callable[..., NDArray[Any]], *options: float) -> float:
        """Σ term(d², *options) over the pixels of one side."""

    @abstractmethod
    def _difference(self, k: float, cap: float) -> float: ...


class Pair(Comparison):
    """Two edge maps; counts and distances are computed on first use and cached."""

    def __init__(self, truth: ArrayLike, detected: ArrayLike) -> None:
        self.truth = edge_map(truth, name="truth")
        self.detected = edge_map(detected, name="detection")
        same_size(self.detected, self.truth, names=("detection", "truth"))
        self.shape = checked_shape(self.truth)
        self.truth_size = int(np.count_nonzero(self.truth))
        self.detected_size = int(np.count_nonzero(self.detected))
        self.hits = int(np.count_nonzero(self.truth & self.detected))

    @cached_property
    def _to_truth(self) -> NDArray[np.int32]:
        return distances_to(self.truth)

    @cached_property
    def _to_detected(self) -> NDArray[np.int32]:
        return distances_to(self.detected)

    @cached_property
    def _from_detected(self) -> NDArray[np.int32]:
        return self._to_truth[self.detected]

    @cached_property
    def _from_truth(self) -> NDArray[np.int32]:
        return self._to_detected[self.truth]

    def _squared(self, side: AnySide) -> NDArray[np.int32]:
        if side == "hits":
            return np.asarray(squared_distances(self.truth & self.detected)[self.truth])
        return self._from_detected if side == "detected" else self._from_truth

    def _sum(self, side: AnySide, term: Callable[..., NDArray[Any]], *options: float) -> float:
        return float(term(self._squared(side), *options).sum())

    def _difference(self, k: float, cap: float) -> float:
        return float(difference_sum(np.sqrt(self._to_truth), self._to_detected, float(k), float(cap)))


Edges: TypeAlias = ArrayLike | Comparison
"""Input of a measure: an edge map (whatever is above zero is an edge), or a finished comparison."""


def paired(truth: Edges, detected: Edges) -> Comparison:
    """Two maps as a :class:`Pair`. A finished comparison is passed on, so that measures share its results.

    >>> pair = Pair([[0, 1]], [[1, 0]])
    >>> paired(pair, pair) is pair
    True
    """
    if isinstance(truth, Comparison):
        return truth
    if isinstance(detected, Comparison):
        raise InputError("truth is a map but detected is a comparison: give two maps, or the comparison twice")
    return Pair(truth, detected)


def distances_to(edges: EdgeMap) -> NDArray[np.int32]:
    """Squared distance from each pixel to the nearest edge pixel; the squared image diagonal if there is none."""
    if edges.any():
        return np.asarray(squared_distances(edges))
    return np.full(edges.shape, squared_diagonal(edges.shape), np.int32)


def squared_diagonal(shape: tuple[int, ...]) -> int:
    """The squared distance between opposite corner pixels, the largest there is in an image."""
    return (shape[0] - 1) ** 2 + (shape[1] - 1) ** 2


def checked_shape(edges: EdgeMap) -> tuple[int, int]:
    """The map's shape; ``InputError`` if squared distances in the map do not fit 32 bits."""
    if squared_diagonal(edges.shape) >= FAR:
        raise InputError(f"the map is {size_of(edges)}, expected a diagonal below {math.isqrt(int(FAR))} pixels")
    return edges.shape[0], edges.shape[1]


def powers(squared: NDArray[np.int32], k: float, clip: float = math.inf) -> NDArray[Any]:
    """min(d, clip)^k of squared distances."""
    if math.isinf(clip) and k == 2:
        return squared.astype(np.float64)
    distances = np.minimum(np.sqrt(squared, dtype=np.float64), clip)
    return distances if k == 1 else distances**k


def merits(squared: NDArray[np.int32], kappa: float) -> NDArray[Any]:
    """1/(1 + κ d²) of squared distances: 1 on the spot, 0 far away."""
    return 1.0 / (1.0 + kappa * squared)


def tail_distance(squared: NDArray[np.int32], percent: float, tail: Tail) -> float:
    """The largest of some distances when the ``percent`` largest are forgiven (none at 0 %).

    ``quantile``: the distance of rank ⌈(1 − percent/100)·n⌉; ``mean_top``: the mean of the ``percent`` largest, rounded up to
    whole pixels; ``trim``: the largest that is left when those are dropped.

    >>> squared = np.array([0, 0, 0, 1, 4], np.int32)
    >>> [tail_distance(squared, 50, how) for how in ("quantile", "mean_top", "trim")]
    [0.0, 1.0, 0.0]
    """
    count = len(squared)
    share = percent * count / 100
    # 5 % of 20 is 1, whatever the rounding
    dropped = math.floor(share + 1e-9) if tail == "quantile" else math.ceil(share - 1e-9)
    if tail == "mean_top" and dropped:
        return float(np.sqrt(np.partition(squared, count - dropped)[count - dropped :]).mean())
    rank = max(count - 1 - dropped, 0)
    largest = squared.max() if rank == count - 1 else np.partition(squared, rank)[rank]
    return math.sqrt(largest)
