"""The figure/ground benchmark: of two neighbouring regions, which one is in front? (Maire, Narihira & Yu 2016)

Truth and prediction are brought onto the same segmentation. Every pair of neighbouring regions whose order the truth knows
is a question:

* **R-ACC**: the share of questions answered right;
* **B-ACC**: the same, weighted by the length of the common boundary, which the front region owns;
* **B-ACC-50, B-ACC-25**: B-ACC over the boundaries owned by the foremost half or quarter of the image's regions.

A dense order comes onto a segmentation by the median of each region's pixels, labelled contours
(:class:`~hyperacuity.ordering.orderings.Sides`) by a vote along each common boundary. Labelled contours order neighbours, not
the image; which regions are foremost is then that of the whole order closest to them (:func:`whole_order`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError
from hyperacuity.kernels.ordering import nearest_steps
from hyperacuity.maps import LabelMap, label_map, same_size
from hyperacuity.ordering.layers import layers
from hyperacuity.ordering.orderings import Middle, Ordering, Partition, Sides, consecutive, region_medians
from hyperacuity.resampling import ratio

Tie = Literal["wrong", "half", "skip"]
Cut = Literal["ceil", "floor", "round"]
Length = Literal["crack", "front-pixels", "both-pixels"]

REACH = 3
"""Largest distance from a boundary at which labelled contours vote on its owner, in pixels."""

UNKNOWN = -2
"""In :attr:`Ownership.predicted`: the depth of a region is unknown."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Pairs of neighbouring regions, the smaller number first, sorted; and all pixel pairs across their borders.

    ``pair`` is the number of the pair each pixel pair belongs to, ``here`` and ``there`` are flat indices. A pixel pair is
    ``straight`` when the pixels share a side, and then it is a crack.
    """

    labels: LabelMap
    first: Ints
    second: Ints
    pair: Ints
    here: Ints
    there: Ints
    straight: NDArray[np.bool_]

    @property
    def count(self) -> int:
        """Number of pairs of regions."""
        return self.first.size

    def add_up(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum over each pair's border of a value per pixel pair."""
        return np.bincount(self.pair, weights=values, minlength=self.count).astype(np.float64)

    @property
    def cracks(self) -> NDArray[np.float64]:
        """Length of each common boundary in cracks."""
        return self.add_up(self.straight.astype(np.float64))


@dataclass(frozen=True, eq=False)
class Ownership:
    """The questions of one image: pairs of neighbouring regions whose front one the truth knows.

    ``true`` is +1 where the first region is in front, −1 where the second is; ``predicted`` likewise, 0 for a tie and
    :data:`UNKNOWN` where nothing is predicted. ``foremost`` has a row for the nearest 50 % of regions and one for the nearest
    25 %: whether the front region of each question is among them (all false if that is unknown).
    """

    first: Ints
    second: Ints
    length: NDArray[np.float64]
    true: Ints
    predicted: Ints
    foremost: NDArray[np.bool_]

    def correct(self, tie: Tie = "wrong") -> NDArray[np.float64]:
        """1 for a right answer, 0 for a wrong one, for a tie what ``tie`` says (NaN: it is skipped)."""
        if tie not in ("wrong", "half", "skip"):
            raise InputError(f"tie {tie!r}: expected 'wrong', 'half' or 'skip'")
        right: NDArray[np.float64] = (self.true == self.predicted).astype(np.float64)
        right[self.predicted == 0] = {"wrong": 0.0, "half": 0.5, "skip": np.nan}[tie]
        return right

    def sums(self, tie: Tie = "wrong") -> NDArray[np.float64]:
        """Numerators (first row) and denominators (second) of R-ACC, B-ACC, B-ACC-50 and B-ACC-25."""
        right = self.correct(tie)
        asked = ~np.isnan(right)
        weights = np.stack([np.ones(self.length.size), self.length, *(self.foremost * self.length)]) * asked
        gains = weights * np.nan_to_num(right)
        return np.array([gains.sum(axis=1), weights.sum(axis=1)], np.float64)

    def accuracy(self, tie: Tie = "wrong") -> dict[str, float]:
        """R-ACC, B-ACC, B-ACC-50 and B-ACC-25 of this image; NaN without a question."""
        return dict(zip(ACCURACIES, ratio(*self.sums(tie)).tolist(), strict=True))


ACCURACIES = ("racc", "bacc", "bacc50", "bacc25")


def neighbours(labels: ArrayLike, *, adjacency: Literal[4, 8] = 4) -> Neighbours:
    """The pairs of neighbouring regions. With ``adjacency=8`` regions that touch at a corner only are neighbours too.

    Regions are numbered 0, 1, … in the order of their labels; void pixels have no neighbours.

    >>> cracks = neighbours([[1, 1, 1, 2], [1, 1, 1, 2], [3, 3, 3, 3]])
    >>> np.stack([cracks.first, cracks.second, cracks.cracks.astype(int)])
    array([[0, 0, 1],
           [1, 2, 2],
           [2, 3, 1]])
    """
    if adjacency not in (4, 8):
        raise InputError(f"adjacency {adjacency}: expected 4 or 8")
    numbered = consecutive(label_map(labels))
    height, width = numbered.shape
    steps = [(0, 1), (1, 0)] if adjacency == 4 else [(0, 1), (1, 0), (1, 1), (1, -1)]
    cracks = []
    for dy, dx in steps:
        rows, columns = slice(0, height - dy), slice(max(0, -dx), width - max(0, dx))
        a = numbered[rows, columns]
        b = numbered[dy:, columns.start + dx : columns.stop + dx]
        y, x = np.nonzero((a != b) & (a >= 0) & (b >= 0))
        here = y * width + x + columns.start
        cracks.append((here, here + dy * width + dx, np.full(here.size, dy == 0 or dx == 0)))
    here, there, straight = map(np.concatenate, zip(*cracks, strict=True))
    flat = numbered.ravel().astype(np.int64)
    a, b = flat[here], flat[there]
    count = int(numbered.max()) + 1
    codes, pair = np.unique(np.minimum(a, b) * count + np.maximum(a, b), return_inverse=True)
    return Neighbours(numbered, codes // max(count, 1), codes % max(count, 1), pair, here, there, straight)


def order_of_pairs(given: Ordering, touching: Neighbours, *, middle: Middle = "mean", reach: int = 0) -> Ints:
    """Order of each pair: +1 if the first region is in front, −1 the second, 0 for a tie, :data:`UNKNOWN` without data.

    A partition's dense order is compared by the medians of the regions. Labelled contours vote: each crack between two
    regions votes for the side that is the figure in the nearest labelled step along its normal, at most ``reach`` pixels away
    (0: the step must be the crack itself, as on the segmentation that was labelled). A boundary with no vote, or as many
    for one side as for the other, has no owner and is a tie.
    """
    if isinstance(given, Partition):
        depth = region_medians(given.order, touching.labels, middle=middle)
        difference = depth[touching.first] - depth[touching.second]
        return np.where(np.isnan(difference), UNKNOWN, np.sign(np.nan_to_num(difference))).astype(np.int64)
    balance, _ = border_votes(given, touching, reach=reach)
    return np.sign(balance).astype(np.int64)


def border_votes(
    given: Sides, touching: Neighbours, *, reach: int = REACH
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Votes of labelled contours on each pair (:func:`order_of_pairs`): votes for the first region minus those for the second,
    and how many of the border's cracks vote at all.

    >>> nan = float("nan")
    >>> sides = Sides(np.array([[nan, -1, 1, nan]] * 2 + [[nan] * 4], np.float32))
    >>> border_votes(sides, neighbours([[0, 0, 1, 1]] * 3))
    (array([-2.]), array([2.]))
    """
    votes = _votes(given, touching, reach)
    return touching.add_up(votes), touching.add_up(np.abs(votes))


def compare_neighbours(
    prediction: Ordering,
    truth: Ordering,
    labels: ArrayLike,
    *,
    middle: Middle = "mean",
    cut: Cut = "ceil",
    length: Length = "crack",
    adjacency: Literal[4, 8] = 4,
    reach: int = REACH,
) -> Ownership:
    """Bring truth and prediction onto a segmentation and compare who is in front.

    Parameters
    ----------
    labels
        The segmentation: the true one, or a machine's.
    middle
        Median of an even number of pixels.
    cut
        How many of n regions are the foremost share q: q·n rounded up, down or to the nearest. Regions that tie with the
        last are among them.
    length
        Length of a common boundary: in cracks, in pixels of the front region that touch the other, or in pixels of both.
    adjacency
        Which regions are neighbours; with 8 those that touch at corners only are, with a length of 0 cracks.
    reach
        How far from a boundary labelled contours may lie and still vote (:func:`order_of_pairs`). On the segmentation that
        was labelled they lie on the boundary, and only those that do vote.

    Examples
    --------
    >>> from hyperacuity.ordering import ordering
    >>> labels = [[1, 1, 1, 2], [1, 1, 1, 2], [3, 3, 3, 3]]
    >>> predicted = ordering([[0.1, 0.1, 9, 0.9], [0.1, 0.1, 0.1, 0.9], [0.5, 0.5, 0.5, 0.5]])
    >>> {name: round(value, 3) for name, value in compare_neighbours(predicted, ordering(labels), labels).accuracy().items()}
    {'racc': 0.667, 'bacc': 0.833, 'bacc50': 0.833, 'bacc25': 0.75}
    """
    regions = label_map(labels, name="segmentation")
    touching = neighbours(regions, adjacency=adjacency)
    for name, given in (("prediction", prediction), ("truth", truth)):
        size = given.order if isinstance(given, Partition) else given.sides
        same_size(size, touching.labels, names=(name, "segmentation"))
    true, predicted = (
        order_of_pairs(given, touching, middle=middle, reach=0 if _was_labelled(given, regions) else reach)
        for given in (truth, prediction)
    )
    asked = np.abs(true) == 1
    front = np.where(true > 0, touching.first, touching.second)
    dense = truth if isinstance(truth, Partition) else _whole(truth)
    if dense is not None:
        depth = region_medians(dense.order, touching.labels, middle=middle)
        foremost = np.stack([foremost_regions(depth, share, cut=cut)[front] for share in (0.5, 0.25)])
    else:
        foremost = np.zeros((2, touching.count), np.bool_)
    lengths = boundary_length(touching, front, length)
    return Ownership(
        touching.first[asked], touching.second[asked], lengths[asked], true[asked], predicted[asked], foremost[:, asked]
    )


@dataclass(frozen=True, eq=False)
class WholeOrder:
    """One order of all regions that were compared with a neighbour, and how far it contradicts the comparisons.

    Parameters
    ----------
    partition
        The regions in layers: 0 is the farthest, NaN a region that was compared with none.
    pairs, violated_pairs
        Pairs of neighbours of which one is in front, and those among them that the whole order contradicts.
    length, violated_length
        The same in length of common boundary, in cracks.
    bound
        The least length that any order must contradict. Where it is ``violated_length``, there is no better order.
    """

    partition: Partition
    pairs: int
    violated_pairs: int
    length: float
    violated_length: float
    bound: float


def whole_order(given: Sides) -> WholeOrder:
    """One order of all regions from labelled contours, which order neighbours only.

    The order contradicts as little boundary length as possible, then as few pairs (:func:`~hyperacuity.ordering.layers.layers`).
    A region's depth is its layer: how long the longest chain of regions behind it is. Regions that no chain links
    are therefore compared by their layers, or tie; regions without a labelled boundary stay unknown.

    Examples
    --------
    >>> regions = np.array([[0, 0, 1, 1, 2, 2]], np.int32)
    >>> sides = np.array([[np.nan, -1, 1, 1, -1, np.nan]], np.float32)      # 1 is in front of both
    >>> solution = whole_order(Sides(sides, regions))
    >>> solution.partition.depth, solution.violated_pairs
    (array([0., 1., 0.]), 0)
    """
    if given.labels is None:
        raise InputError("labelled contours without regions: expected the regions that they bound")
    touching = neighbours(given.labels)
    owner, cracks = order_of_pairs(given, touching), touching.cracks
    asked = owner != 0
    front, behind = np.where(owner > 0, (touching.first, touching.second), (touching.second, touching.first))[:, asked]
    length, count = cracks[asked], int(touching.labels.max()) + 1
    solution = layers(front, behind, length, count)
    painted = np.append(solution.layer, np.nan)[touching.labels].astype(np.float32)
    return WholeOrder(
        Partition(touching.labels, solution.layer, painted),
        int(asked.sum()),
        int(solution.violated.sum()),
        float(length.sum()),
        float(length[solution.violated].sum()),
        solution.bound,
    )


def with_whole_order(given: Ordering) -> Ordering:
    """Labelled contours together with the whole order of their regions; anything else as it is."""
    if not isinstance(given, Sides) or given.labels is None or given.whole is not None:
        return given
    return replace(given, whole=whole_order(given).partition)


def foremost_regions(depth: NDArray[np.float64], share: float, *, cut: Cut = "ceil") -> NDArray[np.bool_]:
    """Select the foremost ``share`` of the regions; including those that tie with the last one, but none of unknown depth.

    >>> foremost_regions(np.array([1.0, 2.0, 3.0]), 0.5), foremost_regions(np.array([1.0, 2.0, 3.0]), 0.5, cut="floor")
    (array([False,  True,  True]), array([False, False,  True]))
    """
    if cut not in ("ceil", "floor", "round"):
        raise InputError(f"cut {cut!r}: expected 'ceil', 'floor' or 'round'")
    depths = np.sort(depth[~np.isnan(depth)])
    exact = share * depths.size
    count = {"ceil": math.ceil(exact), "floor": math.floor(exact), "round": math.floor(exact + 0.5)}[cut]
    if count == 0:
        return np.zeros(depth.shape, np.bool_)
    foremost: NDArray[np.bool_] = depth >= depths[-count]
    return foremost


def boundary_length(touching: Neighbours, front: Ints, length: Length = "crack") -> NDArray[np.float64]:
    """The length of each pair's common boundary; ``front`` is the region in front."""
    if length not in ("crack", "front-pixels", "both-pixels"):
        raise InputError(f"length {length!r}: expected 'crack', 'front-pixels' or 'both-pixels'")
    if length == "crack":
        return touching.cracks
    flat = touching.labels.ravel()
    total = np.zeros(touching.count)
    pixels = np.unique(
        np.concatenate([touching.pair * flat.size + touching.here, touching.pair * flat.size + touching.there])
    )
    pair, index = pixels // flat.size, pixels % flat.size
    counted = np.ones(pair.size, np.bool_) if length == "both-pixels" else flat[index] == front[pair]
    np.add.at(total, pair[counted], 1)
    return total


def _whole(given: Sides) -> Partition | None:
    ordered = with_whole_order(given)
    return ordered.whole if isinstance(ordered, Sides) else None


def _was_labelled(given: Ordering, regions: LabelMap) -> bool:
    return isinstance(given, Sides) and given.labels is not None and np.array_equal(given.labels, regions)


def _votes(given: Sides, touching: Neighbours, reach: int) -> NDArray[np.float64]:
    """Per pixel pair +1 for the pair's first region, −1 for its second, 0 for no vote. Corners have none."""
    labels = touching.labels
    width = labels.shape[1]
    right, below = np.empty(labels.shape, np.int8), np.empty(labels.shape[::-1], np.int8)
    nearest_steps(labels, given.sides, reach, right)
    nearest_steps(np.ascontiguousarray(labels.T), np.ascontiguousarray(given.sides.T), reach, below)
    level = touching.there == touching.here + 1
    votes = np.where(level, right.ravel()[touching.here], below.T[touching.here // width, touching.here % width])
    here_is_first = labels.ravel()[touching.here] == touching.first[touching.pair]
    return np.where(touching.straight, np.where(here_is_first, votes, -votes), 0).astype(np.float64)
