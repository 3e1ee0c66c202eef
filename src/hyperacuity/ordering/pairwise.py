"""Global depth consistency (GDC): are any two regions, neighbours or not, in the right order?"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hyperacuity.errors import InputError
from hyperacuity.kernels.ordering import best_overlaps, compare_pairs, count_unequal
from hyperacuity.kernels.pieces import group_pixels
from hyperacuity.maps import same_size
from hyperacuity.ordering.directed_contours import SAME_DEPTH
from hyperacuity.ordering.orderings import Partition
from hyperacuity.ordering.prc import Outcomes
from hyperacuity.resampling import ratio

EqualPairs = Literal["class", "exclude"]
MissedPairs = Literal["matched", "literal"]


@dataclass(frozen=True)
class PairCounts:
    """Outcomes of the pairs of regions of one image, exactly.

    ``dropped`` regions of the system overlap no true region of known depth.
    """

    consistent: Fraction
    inconsistent: Fraction
    false: int
    missed: int
    dropped: int = 0

    def outcomes(self) -> Outcomes:
        """The counts as floating-point numbers, each the nearest to the exact one."""
        return Outcomes(float(self.consistent), float(self.inconsistent), self.false, self.missed)


def match_regions(system: Partition, truth: Partition) -> NDArray[np.int64]:
    r"""For each region of the system the true region it stands for; −1 if there is none.

    .. math:: m(S_i) = \arg\max_{G_j} \frac{|S_i ∩ G_j|}{|S_i ∪ G_j|}

    The larger intersection decides ties, then the smaller label. Void pixels of the truth count for nothing.

    >>> from hyperacuity.ordering.orderings import partition
    >>> order, truth = [[1, 2, 3, 3]], [[0, 0, 1, 1]]
    >>> match_regions(partition(order, [[0, 1, 2, 2]]), partition(order, truth))
    array([0, 0, 1])
    """
    same_size(system.labels, truth.labels)
    pixels, start = group_pixels(system.labels, system.regions)
    areas = np.bincount(truth.labels[truth.labels >= 0], minlength=truth.regions)
    return best_overlaps(pixels, start, truth.labels.ravel(), areas)


def compare_regions(
    system: Partition,
    truth: Partition,
    *,
    same_depth: float = SAME_DEPTH,
    equal_pairs: EqualPairs = "class",
    missed_pairs: MissedPairs = "matched",
) -> PairCounts:
    r"""Compare the order of all pairs of regions.

    Each region of the system stands for the true region it overlaps best (:func:`match_regions`). A pair of true regions is
    consistent to the share of the pairs of regions standing for them whose order sgn(Δ − Δ′) is right. Pairs that stand for
    one true region but differ in depth are false. Pairs of true regions of which one has nothing standing for it are missed:

    .. math:: MD = \binom{|G|}{2} - \binom{|G_m|}{2}

    where :math:`G_m` are the true regions that are matched. (The paper's sentence says unmatched, which would count every pair
    of a perfect result as missed; ``missed_pairs="literal"`` does that.) Regions of unknown depth are left out. One region on
    either side has no pairs.

    Parameters
    ----------
    same_depth
        Depths that differ by at most this are equal.
    equal_pairs
        True pairs of equal depth are a separate class (``"class"``: the system must make them equal too) or do not count
        (``"exclude"``).

    References
    ----------
    Palou & Salembier (2014), section 3.2, equations 9 to 13.

    Examples
    --------
    >>> from hyperacuity.ordering.orderings import partition
    >>> truth = partition([[1, 1, 2, 2]], [[0, 0, 1, 1]])
    >>> compare_regions(partition([[1, 3, 2, 2]], [[0, 1, 2, 2]]), truth)
    PairCounts(consistent=Fraction(1, 2), inconsistent=Fraction(1, 2), false=1, missed=0, dropped=0)
    """
    if equal_pairs not in ("class", "exclude"):
        raise InputError(f"equal_pairs {equal_pairs!r}: expected 'class' or 'exclude'")
    if missed_pairs not in ("matched", "literal"):
        raise InputError(f"missed_pairs {missed_pairs!r}: expected 'matched' or 'literal'")
    truth, system = known_regions(truth), known_regions(system)
    standing_for = match_regions(system, truth)
    # Regions of the system, those of one true region together, sorted by depth; the unmatched come first and go.
    order = np.lexsort((system.depth, standing_for))
    dropped = int(np.count_nonzero(standing_for < 0))
    matched, first, sizes = np.unique(standing_for[order[dropped:]], return_index=True, return_counts=True)
    depth = system.depth[order[dropped:]]
    start = np.append(first, depth.size).astype(np.int64)
    distinct, size_class = np.unique(sizes, return_inverse=True)
    agreeing = np.zeros((distinct.size, distinct.size), np.int64)
    pairs = np.zeros_like(agreeing)
    leave_ties = equal_pairs == "exclude"
    compare_pairs(depth, start, truth.depth[matched], size_class, same_depth, leave_ties, agreeing, pairs)
    shares = (Fraction(int(agreeing[a, b]), int(distinct[a] * distinct[b])) for a, b in np.argwhere(agreeing))
    consistent = sum(shares, start=Fraction(0))
    compared = counted = int(pairs.sum())
    if missed_pairs == "literal":
        left = np.setdiff1d(np.arange(truth.regions), matched)
        counted = _true_pairs(truth.depth[left], same_depth, leave_ties)
    return PairCounts(
        consistent=consistent,
        inconsistent=compared - consistent,
        false=int(count_unequal(depth, start, same_depth)),
        missed=_true_pairs(truth.depth, same_depth, leave_ties) - counted,
        dropped=dropped,
    )


def pair_tables(
    system: Partition, truth: Partition, *, same_depth: float = SAME_DEPTH
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Outcomes of every pair of regions, as two tables (Fig. 5 of the paper); to look at, in quadratic time.

    The first has a row and a column per true region: the share of consistent pairs, NaN where the pair is missed and on the
    diagonal. The second has those of the system's regions: 1 consistent, 0 inconsistent, −1 false (both stand for one true
    region but differ in depth), 2 for no pair. Regions of unknown depth are left out; the others keep their order.
    """
    truth, system = known_regions(truth), known_regions(system)
    standing_for = match_regions(system, truth)

    def orders(depth: NDArray[np.float64]) -> NDArray[np.float64]:
        difference = depth[:, None] - depth[None, :]
        return np.where(np.abs(difference) <= same_depth, 0.0, np.sign(difference))

    ours, true = orders(system.depth), orders(truth.depth)
    one, other = np.meshgrid(standing_for, standing_for, indexing="ij")
    met = (one >= 0) & (other >= 0)
    right = met & (one != other) & (ours == true[one, other])
    table = np.where(right, 1, 0).astype(np.int8)
    table[met & (one == other)] = np.where(ours != 0, -1, 2)[met & (one == other)]
    table[~met | np.eye(system.regions, dtype=np.bool_)] = 2
    pairs, agreeing = (np.zeros((truth.regions, truth.regions)) for _ in range(2))
    np.add.at(pairs, (one[met], other[met]), 1)
    np.add.at(agreeing, (one[met], other[met]), right[met])
    shares = ratio(agreeing, pairs)
    np.fill_diagonal(shares, np.nan)
    return shares, table


def known_regions(given: Partition) -> Partition:
    """The partition without its regions of unknown depth; what they covered is void."""
    valid = ~np.isnan(given.depth)
    if valid.all():
        return given
    number = np.append(np.where(valid, np.cumsum(valid) - 1, -1), -1).astype(np.int32)
    return Partition(number[given.labels], given.depth[valid], given.order)


def _true_pairs(depth: NDArray[np.float64], same_depth: float, leave_ties: bool) -> int:
    if not leave_ties:
        return depth.size * (depth.size - 1) // 2
    return int(count_unequal(np.sort(depth), np.array([0, depth.size]), same_depth))
