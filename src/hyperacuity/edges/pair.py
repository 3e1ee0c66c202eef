"""Truth and detection side by side: the counts and sums of distances from which every measure is made.

G is the truth, D the detection, d_G(p) the Euclidean distance from p to the nearest pixel of G. Each measure is a formula in
what :class:`PairQuantities` offers. It does not care whether the numbers come from two maps (:class:`Pair`) or from the tables of
a sweep over thresholds (:mod:`hyperacuity.edges.thresholds`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError
from hyperacuity.kernels.distances import FAR, difference_sum, squared_distances
from hyperacuity.maps import EdgeMap, edge_map, same_size, size_of

EmptyDistance = Literal["diagonal", "inf"]
"""How far an empty set is from everything: one image diagonal √((H−1)² + (W−1)²), or infinitely far."""

Tail = Literal["quantile", "mean_top", "trim"]
"""How a Hausdorff distance forgives the n % largest distances, see :func:`tail_distance`."""


class PairQuantities(ABC):
    """What is known about one truth and one detection of the same size.

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

    def detected_cost(self, k: float, *, clip: float = math.inf, empty: EmptyDistance = "diagonal") -> float:
        """Σ_{p∈D} min(d_G(p), clip)^k."""
        if self.detected_size and self.truth_size:
            return self._detected_cost(k, clip)
        return self.detected_size and self.detected_size * min(self._far(empty), clip) ** k

    def truth_cost(self, k: float, *, clip: float = math.inf, empty: EmptyDistance = "diagonal") -> float:
        """Σ_{p∈G} min(d_D(p), clip)^k."""
        if self.detected_size and self.truth_size:
            return self._truth_cost(k, clip)
        return self.truth_size and self.truth_size * min(self._far(empty), clip) ** k

    def detected_merit(self, kappa: float) -> float:
        """Σ_{p∈D} 1/(1 + κ d_G(p)²); nothing is near an empty truth."""
        return self._detected_merit(kappa) if self.detected_size and self.truth_size else 0.0

    def truth_merit(self, kappa: float) -> float:
        """Σ_{p∈G} 1/(1 + κ d_D(p)²); nothing is near an empty detection."""
        return self._truth_merit(kappa) if self.detected_size and self.truth_size else 0.0

    def hit_merit(self, kappa: float) -> float:
        """Σ_{p∈G} 1/(1 + κ d_{G∩D}(p)²), the distance being to the nearest *correctly* detected pixel."""
        return self._hit_merit(kappa) if self.hits else 0.0

    def detected_tail(self, percent: float, tail: Tail, *, empty: EmptyDistance = "diagonal") -> float:
        """The largest d_G(p) over D but for the ``percent`` largest ones, see :func:`tail_distance`."""
        if self.detected_size and self.truth_size:
            return self._detected_tail(percent, tail)
        return self._far(empty) if self.detected_size else 0.0

    def truth_tail(self, percent: float, tail: Tail, *, empty: EmptyDistance = "diagonal") -> float:
        """The largest d_D(p) over G but for the ``percent`` largest ones."""
        if self.detected_size and self.truth_size:
            return self._truth_tail(percent, tail)
        return self._far(empty) if self.truth_size else 0.0

    def difference(self, k: float, cap: float, *, empty: EmptyDistance = "diagonal") -> float:
        """Σ |min(d_G(p), cap) − min(d_D(p), cap)|^k over all pixels of the image."""
        if self.detected_size == self.truth_size == 0:
            return 0.0
        if not (self.detected_size and self.truth_size) and math.isinf(min(self._far(empty), cap)):
            return math.inf
        return self._difference(k, cap)

    def _far(self, empty: EmptyDistance) -> float:
        return math.sqrt(squared_diagonal(self.shape)) if empty == "diagonal" else math.inf

    # The sums themselves, asked for only when neither set is empty (for _hit_merit: when there is a hit; for _difference:
    # when they are not both empty).
    @abstractmethod
    def _detected_cost(self, k: float, clip: float) -> float: ...
    @abstractmethod
    def _truth_cost(self, k: float, clip: float) -> float: ...
    @abstractmethod
    def _detected_merit(self, kappa: float) -> float: ...
    @abstractmethod
    def _truth_merit(self, kappa: float) -> float: ...
    @abstractmethod
    def _hit_merit(self, kappa: float) -> float: ...
    @abstractmethod
    def _detected_tail(self, percent: float, tail: Tail) -> float: ...
    @abstractmethod
    def _truth_tail(self, percent: float, tail: Tail) -> float: ...
    @abstractmethod
    def _difference(self, k: float, cap: float) -> float: ...


class Pair(PairQuantities):
    """Two edge maps; counts and distances are computed when first asked for, and kept."""

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

    def _detected_cost(self, k: float, clip: float) -> float:
        return float(powers(self._from_detected, k, clip).sum())

    def _truth_cost(self, k: float, clip: float) -> float:
        return float(powers(self._from_truth, k, clip).sum())

    def _detected_merit(self, kappa: float) -> float:
        return float(merits(self._from_detected, kappa).sum())

    def _truth_merit(self, kappa: float) -> float:
        return float(merits(self._from_truth, kappa).sum())

    def _hit_merit(self, kappa: float) -> float:
        to_hits = squared_distances(self.truth & self.detected)
        return float(merits(to_hits[self.truth], kappa).sum())

    def _detected_tail(self, percent: float, tail: Tail) -> float:
        return tail_distance(self._from_detected, percent, tail)

    def _truth_tail(self, percent: float, tail: Tail) -> float:
        return tail_distance(self._from_truth, percent, tail)

    def _difference(self, k: float, cap: float) -> float:
        return float(difference_sum(np.sqrt(self._to_truth), self._to_detected, float(k), float(cap)))


Edges: TypeAlias = ArrayLike | PairQuantities
"""What a measure takes: an edge map (whatever is above zero is an edge), or a comparison already made."""


def paired(truth: Edges, detected: Edges) -> PairQuantities:
    """Two maps as a :class:`Pair`. A comparison already made is passed on: so measures share what one of them has computed.

    >>> pair = Pair([[0, 1]], [[1, 0]])
    >>> paired(pair, pair) is pair
    True
    """
    if isinstance(truth, PairQuantities):
        return truth
    if isinstance(detected, PairQuantities):
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
    """The map's shape; a map so large that squared distances leave 32 bits is refused."""
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
