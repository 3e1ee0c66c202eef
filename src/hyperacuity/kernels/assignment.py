"""Optimal matching that is kept optimal while pixels come and go.

The problem
-----------
Among the pairs of :mod:`hyperacuity.kernels.pairs`, find the matching of greatest total profit, where a pair's profit is
``limit − cost``. By the choice of ``limit`` and of the costs' scale that is a matching with the most pairs; among those, one of
least total distance; among those, the one with the least sum of ties. No distance saved can pay for a lost pair.

The certificate
---------------
Every node x, truth or detected, has a price p(x). The matching is optimal when

    (1)  p(x) ≥ 0                       for every node,
    (2)  p(x) + p(y) ≥ profit(x, y)     for every pair,
    (3)  p(x) + p(y) = profit(x, y)     for every matched pair,
    (4)  p(x) = 0                       for every free node.

(1) and (2) make the prices feasible for the dual problem: no matching can earn more than Σ p(x). (3) and (4), complementary
slackness, say that this one earns just that. :func:`check` verifies the four lines.
Detected pixels that are not there have the price ``ABSENT``, which no profit comes near, so that searches pass them by.

The steps
---------
* A detected pixel appears: it takes the least price that keeps (1) and (2). If that is positive, (4) is broken at this node.
* A detected pixel disappears: its partner becomes free. If that has a positive price, (4) is broken at the partner.

:func:`settle` mends (4) at one node, the root, by a few bids and, where these do not end it, by a search. Nothing here knows
which side the root is on.

*Bids.* The free node takes its best choice, even from a rival, and pays what it can: so much that it would be as happy with its
second choice (Bertsekas's auction, without his ε). All lines keep holding, but (4) at the rival, which is free now and bids in
turn. Often a few bids end at a free node, or at one that nothing is worth a price; they cost no queue.

*A search.* :func:`_search` is Dijkstra's algorithm on the slacks p(x) + p(y) − profit(x, y) ≥ 0, along
paths that leave the root by an unmatched pair, return by a matched one (which has no slack), and so on. The cheapest path
ends either at a free node on the other side (one pair more), or at a node on the root's own side that is better left free,
at the price it has (perhaps the root itself). Then prices are shifted so that the path has no slack, and the path is flipped.
All four lines hold again, but for nodes that still wait for their turn.

The queue
---------
Nodes wait in buckets by path length (:func:`_bucket`), ``WINDOW`` buckets from the current one on, linked lists all; those beyond
wait in one more list until the window has moved to reach them. Nodes of one bucket come out in any order: one whose path is
shortened after it came out is queued again, so the order affects the work, never the result. A node whose path is shortened
while it waits gets an entry in another bucket and its old one stays, stale; which bucket it is really in stands at the node.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hyperacuity.kernels import Int64s, Scalar, Uint32s, Uint64s, inlined_kernel, kernel
from hyperacuity.kernels.bits import ALL, LOW_SIX, ONE, SIX, lowest_bit
from hyperacuity.kernels.pairs import Pairs, Scale

FREE = np.uint32(0xFFFFFFFF)
"""The partner of a node that has none. Also the end of a list, and the bucket of a node that is in none."""

ABSENT = np.int64(1) << 61
_FAR = np.int64(1) << 62

WINDOW = 4096
_BEYOND = np.uint64(WINDOW)
_IN_WINDOW = np.uint64(WINDOW - 1)
_SUMMARY = WINDOW // 64
_SPLITS = 4
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)

_BIDS = 8
"""Bids before a search. More would be spent on price wars, which a search ends at once."""


class Matching(NamedTuple):
    """The matching, its prices, and the scratch of a search.

    Per node: its ``price``, its partner (``mate``), the ``length`` of the path to it and the node before it on that path
    (``came_from``), and the ``bucket`` that it waits in. The queue: ``entry`` holds nodes and, in the upper halves, the next
    entry of the same bucket, ``head`` the first entry of each; ``occupied`` has a bit for every bucket that is not empty, and one
    more word with a bit for every word that is not zero; ``beyond`` is the least number of a bucket among the nodes beyond the
    window.
    """

    price: Int64s
    length: Int64s
    mate: Uint32s
    came_from: Uint32s
    entry: Uint64s
    bucket: Uint32s
    head: Uint32s
    occupied: Uint64s
    beyond: Int64s
    touched: Uint32s
    better: Uint32s
    better_length: Int64s


def new_matching(pairs: Pairs, n_truth: int) -> Matching:
    """The empty matching: no detected pixel is there yet."""
    nodes = pairs.start.size - 1
    price = np.full(nodes, ABSENT, np.int64)
    price[:n_truth] = 0
    return Matching(
        price=price,
        length=np.full(nodes, _FAR, np.int64),
        mate=np.full(nodes, FREE, np.uint32),
        came_from=np.empty(nodes, np.uint32),
        entry=np.empty(2 * nodes, np.uint64),
        bucket=np.full(nodes, FREE, np.uint32),
        head=np.full(WINDOW + 1, FREE, np.uint32),
        occupied=np.zeros(_SUMMARY + 1, np.uint64),
        beyond=np.full(1, _FAR, np.int64),
        touched=np.empty(nodes, np.uint32),
        better=np.empty(nodes + 1, np.uint32),
        better_length=np.empty(nodes + 1, np.int64),
    )


@kernel
def _bucket(length: Scalar, to: Scale) -> Scalar:
    """Number of the bucket for a path length: a rising function, 16 buckets to a step, split where ties usually fall."""
    ties = (length & ((np.int64(1) << to.shift) - 1)) >> to.split_shift
    return ((length >> to.shift) << _SPLITS) + min(ties, (1 << _SPLITS) - 1)


@inlined_kernel
def _link(m: Matching, x: Scalar, bucket: Scalar, entry: Scalar) -> None:
    """Make an entry the first of a bucket, for node x. Another one of x elsewhere is stale from now on."""
    m.bucket[x] = bucket
    m.entry[entry] = (np.uint64(m.head[bucket]) << _HALF) | np.uint64(x)
    m.head[bucket] = entry
    if bucket != _BEYOND:
        m.occupied[bucket >> SIX] |= ONE << (bucket & LOW_SIX)
        m.occupied[_SUMMARY] |= ONE << (bucket >> SIX)


@inlined_kernel
def _place(m: Matching, number: Scalar, current: Scalar) -> Scalar:
    """The bucket of this number, which may lie beyond the window."""
    if number - current >= WINDOW:
        m.beyond[0] = min(m.beyond[0], number)
        return _BEYOND
    return np.uint64(number) & _IN_WINDOW


@inlined_kernel
def _enqueue(m: Matching, x: Scalar, number: Scalar, current: Scalar, used: Scalar) -> Scalar:
    """Put x into the bucket of its path length, with a new entry if it is not there yet; returns how many are in use."""
    bucket = _place(m, number, current)
    if m.bucket[x] == bucket:
        return used
    _link(m, x, bucket, used)
    return used + ONE


@inlined_kernel
def _next_bucket(occupied: Uint64s, current: Scalar) -> Scalar:
    """The first number from ``current`` on whose bucket is not empty; −1 when the whole window is."""
    summary = occupied[_SUMMARY]
    if summary == 0:
        return np.int64(-1)
    slot = np.uint64(current) & _IN_WINDOW
    word = slot >> SIX
    found = occupied[word] & (ALL << (slot & LOW_SIX))
    if found == 0:
        later = summary & ((ALL << ONE) << word)
        word = lowest_bit(later if later != 0 else summary)
        found = occupied[word]
    bucket = (word << SIX) + lowest_bit(found)
    return current + np.int64((bucket - slot) & _IN_WINDOW)


@kernel
def _fetch(m: Matching, current: Scalar, to: Scale) -> None:
    """Bring the nodes that the window has come to reach into it, each with the entry that it has."""
    m.beyond[0] = _FAR
    i = m.head[_BEYOND]
    m.head[_BEYOND] = FREE
    while i != FREE:
        entry = m.entry[i]
        x = entry & _LOW_HALF
        if m.bucket[x] == _BEYOND:
            _link(m, x, _place(m, _bucket(m.length[x], to), current), np.uint64(i))
        i = np.uint32(entry >> _HALF)


@inlined_kernel
def _pop(m: Matching, current: Scalar, best: Scalar, to: Scale) -> tuple[Scalar, Scalar]:
    """Take out a node with a path shorter than ``best``, from the first bucket that has one: (node or ``FREE``, number)."""
    last = _bucket(best, to)
    while True:
        number = _next_bucket(m.occupied, current)
        if number < 0 or m.beyond[0] <= number:
            if m.beyond[0] > last:
                return FREE, current
            if number < 0:
                current = m.beyond[0]
            _fetch(m, current, to)
            continue
        if number > last:
            return FREE, current
        current = number
        bucket = np.uint64(current) & _IN_WINDOW
        entry = m.entry[m.head[bucket]]
        after = np.uint32(entry >> _HALF)
        m.head[bucket] = after
        if after == FREE:
            word = bucket >> SIX
            left = m.occupied[word] & ~(ONE << (bucket & LOW_SIX))
            m.occupied[word] = left
            if left == 0:
                m.occupied[_SUMMARY] &= ~(ONE << word)
        x = np.uint32(entry & _LOW_HALF)
        if m.bucket[x] == bucket:
            m.bucket[x] = FREE
            if m.length[x] < best:
                return x, current


@inlined_kernel
def _clear_queue(m: Matching) -> None:
    """Empty all buckets. Which bucket a node was in is forgotten by :func:`_shift_prices`."""
    summary = m.occupied[_SUMMARY]
    while summary != 0:
        word = lowest_bit(summary)
        summary &= summary - ONE
        buckets = m.occupied[word]
        m.occupied[word] = 0
        while buckets != 0:
            m.head[(word << SIX) + lowest_bit(buckets)] = FREE
            buckets &= buckets - ONE
    m.occupied[_SUMMARY] = 0
    m.head[_BEYOND] = FREE
    m.beyond[0] = _FAR


@kernel
def _tidy(m: Matching, n_touched: Scalar, current: Scalar, to: Scale) -> Scalar:
    """Queue again what is queued, without the stale entries; returns how many entries are left, one per node at most."""
    _clear_queue(m)
    used = np.uint64(0)
    for i in range(n_touched):
        y = m.touched[i]
        if m.bucket[y] != FREE:
            m.bucket[y] = FREE
            used = _enqueue(m, y, _bucket(m.length[y], to), current, used)
    return used


@kernel
def _flip(mate: Uint32s, came_from: Uint32s, root: Scalar, end: Scalar, end_is_free: Scalar) -> None:
    """Exchange matched and unmatched pairs along the path found, from its end back to the root."""
    if end_is_free:
        y = end
    else:
        if end == root:
            return
        y = mate[end]
        mate[end] = FREE
    while True:
        x = came_from[y]
        previous = mate[x]
        mate[x] = y
        mate[y] = x
        if x == root:
            return
        y = previous


@inlined_kernel
def _shift_prices(m: Matching, n_touched: Scalar, root: Scalar, best: Scalar) -> None:
    """Make the cheapest path's pairs tight: prices rise on the far side of the search tree and fall on the root's side."""
    m.price[root] -= best
    for i in range(n_touched):
        y = m.touched[i]
        shift = best - m.length[y]
        if shift > 0:
            m.price[y] += shift
            m.price[m.mate[y]] -= shift
        m.length[y] = _FAR
        m.bucket[y] = FREE


@kernel
def _search(m: Matching, pairs: Pairs, to: Scale, root: Scalar) -> tuple[Scalar, Scalar]:
    """Mend line (4) of the certificate at ``root``, a free node with a positive price, along the cheapest path.

    Returns the path's end and whether that was a free node, which now has a partner; if not, it is the end that has none now.
    """
    start, partner, cost = pairs.start, pairs.partner, pairs.cost
    price, length, mate, better, better_length = m.price, m.length, m.mate, m.better, m.better_length
    best = price[root]
    end, end_is_free = np.uint32(root), False
    x, base = np.uint32(root), best
    current = np.int64(0)
    n_touched = np.int64(0)
    used = np.uint64(0)
    while True:
        # Two passes, because whether a pair leads to something better is a coin toss that the processor cannot foresee.
        n_better = 0
        first, last = np.uint64(start[x]), np.uint64(start[x + np.uint32(1)])
        offset = base - to.limit
        if used + (last - first) > np.uint64(m.entry.size):
            used = _tidy(m, n_touched, current, to)
        for e in range(first, last):
            y = partner[e]
            path = offset + cost[e] + price[y]
            better[np.uint64(n_better)] = y
            better_length[np.uint64(n_better)] = path
            n_better += np.int64(path < best) & np.int64(path < length[y])
        for i in range(n_better):
            path = better_length[i]
            y = better[i]
            if path >= best:
                continue
            m.came_from[y] = x
            if mate[y] == FREE:
                best, end, end_is_free = path, y, True
            else:
                m.touched[n_touched] = y
                n_touched += np.int64(length[y] == _FAR)
                length[y] = path
                used = _enqueue(m, y, _bucket(path, to), current, used)
        y, current = _pop(m, current, best, to)
        if y == FREE:
            break
        # Its partner is as far from the root as the node itself, and may be the one that is better left free.
        x = mate[y]
        base = length[y] + price[x]
        if base < best:
            best, end, end_is_free = base, x, False
    _clear_queue(m)
    _shift_prices(m, n_touched, root, best)
    _flip(mate, m.came_from, root, end, end_is_free)
    return end, end_is_free


@inlined_kernel
def _bid(m: Matching, pairs: Pairs, to: Scale, x: Scalar) -> tuple[Scalar, Scalar]:
    """What the free node x finds most worthwhile: (partner, or ``FREE``; how much more it could pay than for its second choice).

    x takes the least price that keeps (1) and (2).
    """
    start, partner, cost = pairs.start, pairs.partner, pairs.cost
    first, second = np.int64(0), np.int64(0)
    choice = FREE
    for e in range(np.uint64(start[x]), np.uint64(start[x + np.uint32(1)])):
        y = partner[e]
        worth = to.limit - cost[e] - m.price[y]
        choice = y if worth > first else choice
        second = max(second, min(first, worth))
        first = max(first, worth)
    m.price[x] = first
    return choice, first - second


@kernel
def settle(m: Matching, pairs: Pairs, to: Scale, root: Scalar) -> tuple[Scalar, Scalar]:
    """Mend line (4) of the certificate at ``root``, a free node of any price, which takes the least price that keeps (1) and (2).

    Returns the last node that changed sides and whether that was a free node, which now has a partner; if not, it has none now.
    """
    price, mate = m.price, m.mate
    x = np.uint32(root)
    for _ in range(_BIDS):
        choice, margin = _bid(m, pairs, to, x)
        if choice == FREE:
            return x, False
        rival = mate[choice]
        if rival != FREE and margin == 0:
            break
        mate[choice] = x
        mate[x] = choice
        if rival == FREE:
            return choice, True
        price[x] -= margin
        price[choice] += margin
        mate[rival] = FREE
        x = rival
    return _search(m, pairs, to, x)


@kernel
def disappear(m: Matching, d: Scalar) -> Scalar:
    """A detected pixel disappears; returns its partner, at which line (4) may now be broken, or ``FREE``."""
    g = m.mate[d]
    m.price[d] = ABSENT
    if g != FREE:
        m.mate[d] = FREE
        m.mate[g] = FREE
        if m.price[g] == 0:
            return FREE
    return g


@kernel
def check(m: Matching, pairs: Pairs, to: Scale) -> Scalar:
    """The number (1 to 4) of the first line of the certificate that is broken, 5 if the partners disagree, 0 if all hold."""
    for x in range(pairs.start.size - 1):
        price = m.price[x]
        mate = m.mate[x]
        if price < 0:
            return 1
        if mate == FREE:
            if price != 0 and price != ABSENT:
                return 4
        elif m.mate[mate] != x or price == ABSENT:
            return 5
        for e in range(pairs.start[x], pairs.start[x + 1]):
            y = pairs.partner[e]
            slack = price + m.price[y] - (to.limit - pairs.cost[e])
            if slack < 0:
                return 2
            if mate == y and slack != 0:
                return 3
    return 0
