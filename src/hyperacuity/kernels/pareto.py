"""Pareto sets and non-dominated sorting of n vectors of d costs: exact, O(n logᵈ⁻¹ n) at worst, one pass on easy input.

One vector dominates another when it is nowhere larger and somewhere smaller. Three steps:

1. :func:`sift` makes one pass and drops what a small window of good vectors dominates. Dominance is transitive, so a dropped
   vector decides nothing about the others. Most input is gone after this pass.
2. :func:`ranks` is given the distinct vectors in lexicographic order and replaces every cost by its rank in that column,
   ties by lexicographic order. Only an earlier vector can dominate a later one, and it does so exactly when **all** its
   ranks are smaller: no ties are left to think about.
3. :func:`settle` divides the sorted list in halves: nothing in the second half can dominate anything in the first. Once the
   first half has its levels, :func:`pass_on` carries them to the second. It splits both sides by their ranks in the next
   column; the low part is then compared with the high part on one column less, low with low and high with high on all, until
   two columns are left, which one sweep settles.

The level of a vector is the length of the longest chain above it, which is the number of the group that repeated peeling
puts it in (Kung, Luccio & Preparata 1975 for the optimal set; Jensen 2003, Buzdalov & Shalyto 2014 for the levels). With
``limit=1`` only the optimal set is separated from the rest, and what is dominated is dropped on the way; ``limit=0`` is no limit.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Flags, Float64s, Int32s, allocating_kernel, kernel

Costs = Float64s
Members = Int32s
Ranks = Int32s
Levels = Int32s

WINDOW = 64
BLOCK = 1024
LANES = 16
FEW_MEMBERS = 24
FEW_PAIRS = 512


@allocating_kernel
def sift(costs: Costs, weight: Float64s) -> Members:
    """Rows of ``costs`` that no vector of a small window dominates: every optimal row, and perhaps some others.

    The window opens with rows of small weighted sum and takes survivors as they come. A block of rows more than half of
    which survive halves it: there it costs more than it saves. A NaN anywhere returns no row at all.

    ``window`` has a row per cost, and infinity where it is not filled yet, so that :data:`LANES` comparisons are one step.
    """
    n, d = costs.shape
    good = _smallest_sums(costs, weight)
    if len(good) == 0:
        return good
    window = np.full((d, WINDOW), np.inf)
    for w in range(len(good)):
        _enter(window, w, costs, good[w])
    leader, filled, room = good[0], len(good), WINDOW
    under = np.empty(LANES, np.bool_)
    kept = np.empty(n, np.int32)
    survivors, survivors_before = 0, 0
    for i in range(n):
        if not _dominates(costs, leader, costs, i) and not _under_window(window, filled, costs, i, under):
            kept[survivors] = i
            survivors += 1
            if filled < room:
                _enter(window, filled, costs, i)
                filled += 1
        if i % BLOCK == BLOCK - 1:
            if survivors - survivors_before > BLOCK // 2:
                room = filled // 2
                filled = room
            survivors_before = survivors
    return kept[:survivors]


@kernel
def _under_window(window: Costs, filled: int, costs: Costs, i: int, under: Flags) -> bool:
    """True if a vector of the window dominates row i. ``under`` is room for one flag per lane."""
    d = window.shape[0]
    for start in range(0, filled, LANES):
        for lane in range(LANES):
            under[lane] = window[0, start + lane] <= costs[i, 0]
        for k in range(1, d):
            for lane in range(LANES):
                under[lane] &= window[k, start + lane] <= costs[i, k]
        for lane in range(LANES):
            if under[lane]:
                for k in range(d):
                    if window[k, start + lane] < costs[i, k]:
                        return True
    return False


@kernel
def _enter(window: Costs, at: int, costs: Costs, i: int) -> None:
    for k in range(window.shape[0]):
        window[k, at] = costs[i, k]


@allocating_kernel
def _smallest_sums(costs: Costs, weight: Float64s) -> Members:
    """The rows of smallest weighted sum, the best first, as many as fill half the window; none if a sum is NaN."""
    n, d = costs.shape
    rows = np.zeros(min(n, WINDOW // 2), np.int32)
    sums = np.full(len(rows), np.inf)
    worst = 0
    for i in range(n):
        total = 0.0
        for k in range(d):
            total += costs[i, k] * weight[k]
        if not total >= sums[worst]:
            if np.isnan(total):
                return rows[:0]
            rows[worst], sums[worst] = i, total
            for r in range(len(rows)):
                if sums[r] > sums[worst]:
                    worst = r
    best = 0
    for r in range(len(rows)):
        if sums[r] < sums[best]:
            best = r
    if n > 0:
        rows[0], rows[best] = rows[best], rows[0]
    return rows


@kernel
def _dominates(first: Costs, i: int, second: Costs, j: int) -> bool:
    d: int = first.shape[1]
    k = 0
    while k < d and first[i, k] <= second[j, k]:
        k += 1
    if k < d:
        return False
    k = 0  # seldom reached, so a second loop is the faster way to recognise equal rows
    while k < d and first[i, k] == second[j, k]:
        k += 1
    return k < d


@allocating_kernel
def stable_order(values: Float64s) -> Members:
    """Indices that sort ``values`` (no NaN), equal ones in their given order: a radix sort, byte by byte.

    Read as an integer, a float sorts as the number does once negative ones are complemented and the sign bit is flipped.
    """
    n = len(values)
    keys = (values + 0.0).view(np.int64)  # −0.0 becomes 0.0, its equal
    counts = np.zeros((8, 256), np.int64)
    for i in range(n):
        keys[i] ^= (keys[i] >> 63) | np.int64(-(2**63))
        for byte in range(8):
            counts[byte, (keys[i] >> (8 * byte)) & 255] += 1
    order = np.arange(n).astype(np.int32)
    next_keys, next_order, starts = np.empty_like(keys), np.empty_like(order), np.empty(256, np.int64)
    for byte in range(8):
        if counts[byte].max() == n:
            continue
        before = 0
        for digit in range(256):
            starts[digit] = before
            before += counts[byte, digit]
        for i in range(n):
            digit = (keys[i] >> (8 * byte)) & 255
            next_keys[starts[digit]] = keys[i]
            next_order[starts[digit]] = order[i]
            starts[digit] += 1
        keys, next_keys = next_keys, keys
        order, next_order = next_order, order
    return order


@allocating_kernel
def ranks(columns: Costs) -> tuple[Ranks, Members]:
    """Rank of every vector in each column but the first, and all vectors in the order of the last column but one of those.

    ``columns`` holds distinct vectors in lexicographic order, one row per cost; three costs at least, so that two columns
    remain. In the first column the rank is the index itself.
    """
    d, n = columns.shape
    result = np.empty((d - 1, n), np.int32)
    members = np.empty(n, np.int32)
    for k in range(1, d):
        order = stable_order(columns[k])
        for rank in range(n):
            result[k - 1, order[rank]] = rank
        if k == d - 2:
            for rank in range(n):
                members[rank] = order[rank]
    return result, members


@allocating_kernel
def settle(rank: Ranks, level: Levels, members: Members, limit: int) -> None:
    """Raise the level of every vector above those of the vectors that dominate it, in place.

    ``members`` holds all vectors in the order of the last column but one. The stack stands for recursion, of which numba
    cannot keep compiled code: an entry is a stretch of vectors to settle, or two neighbouring ones to pass levels between.
    """
    nobody = members[:0]
    stack = [(members, nobody, 0, len(members))]
    while len(stack) > 0:
        first, second, start, stop = stack.pop()
        if len(second) > 0:
            pass_on(rank, level, _still_open(first, level, limit), _still_open(second, level, limit), limit)
        elif stop - start > FEW_MEMBERS:
            middle = (start + stop) // 2
            earlier, later = _part(first, first >= middle)
            stack.append((later, nobody, middle, stop))
            stack.append((earlier, later, start, stop))
            stack.append((earlier, nobody, start, middle))
        else:
            for j in range(start + 1, stop):
                for i in range(start, j):
                    if level[i] >= level[j] and _before(rank, i, j, 0):
                        level[j] = level[i] + 1


@allocating_kernel
def pass_on(rank: Ranks, level: Levels, givers: Members, takers: Members, limit: int) -> None:
    """Raise the levels of the takers above those of the givers that dominate them, in place.

    No giver stands after a taker in the first column of the costs, and the givers' levels are final.
    Both come in the order of the last column but one. On the stack: two lists and the column from which on they must be
    compared; in the columns before it, every giver of the entry stands before every taker.
    """
    walk = rank.shape[0] - 2
    stack = [(givers, takers, 0)]
    while len(stack) > 0:
        first, second, column = stack.pop()
        if len(first) * len(second) <= FEW_PAIRS:
            for j in second:
                for i in first:
                    if rank[walk, i] > rank[walk, j]:
                        break
                    if level[i] >= level[j] and _before(rank, i, j, column):
                        level[j] = level[i] + 1
                        if level[j] == limit:
                            break
        elif column == walk:
            _sweep(rank, level, first, second)
        else:
            second = _still_open(second, level, limit)
            pivot = _mean_rank(rank[column], first, second)
            low_first, high_first = _part(first, rank[column][first] >= pivot)
            low_second, high_second = _part(second, rank[column][second] >= pivot)
            stack.append((high_first, high_second, column))
            stack.append((low_first, low_second, column))
            stack.append((low_first, high_second, column + 1))


@allocating_kernel
def _sweep(rank: Ranks, level: Levels, first: Members, second: Members) -> None:
    """Settle the last two columns: walk along the one, and keep for each level the smallest rank in the other so far.

    ``smallest[r]`` is over all levels ≥ lowest + r. It never falls with r, so the highest level that dominates is found
    by bisection.
    """
    lowest, highest = level[first].min(), level[first].max()
    walk, last = rank[-2], rank[-1]
    smallest = np.full(highest - lowest + 1, len(level), np.int32)
    done = 0
    for j in second:
        while done < len(first) and walk[first[done]] < walk[j]:
            i = first[done]
            r = level[i] - lowest
            while r >= 0 and smallest[r] > last[i]:
                smallest[r] = last[i]
                r -= 1
            done += 1
        dominating = np.searchsorted(smallest, last[j])
        if dominating > 0:
            level[j] = max(level[j], lowest + dominating)


@kernel
def _before(rank: Ranks, i: int, j: int, column: int) -> bool:
    columns: int = rank.shape[0]
    k = column
    while k < columns and rank[k, i] < rank[k, j]:
        k += 1
    return k == columns


@kernel
def _mean_rank(rank: Int32s, first: Members, second: Members) -> float:
    """Near the median, as ranks are spread evenly; above the smallest rank, so that a split by it leaves no part whole."""
    total = 0.0
    for i in first:
        total += rank[i]
    for j in second:
        total += rank[j]
    return total / (len(first) + len(second))


@allocating_kernel
def _part(members: Members, is_high: Flags) -> tuple[Members, Members]:
    """Members in two lists, order kept. Each is written to both, and one list grows: a branch here would be a coin toss."""
    low, high = np.empty(len(members) + 1, np.int32), np.empty(len(members) + 1, np.int32)
    highs = 0
    for m in range(len(members)):
        low[m - highs] = members[m]
        high[highs] = members[m]
        highs += is_high[m]
    return low[: len(members) - highs], high[:highs]


@allocating_kernel
def _still_open(members: Members, level: Levels, limit: int) -> Members:
    """Without the members that have reached the limit: they neither change nor decide anything any more."""
    if limit == 0:
        return members
    kept = np.empty(len(members) + 1, np.int32)
    count = 0
    for i in members:
        kept[count] = i
        count += level[i] < limit
    return kept[:count]
