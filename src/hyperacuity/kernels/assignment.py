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
shortened after it came out is queued again, so the order affects the work, never the result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hyperacuity.kernels import Int64s, Scalar, Uint32s, Uint64s, kernel
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

_BIDS = 8
"""Bids before a search. More would be spent on price wars, which a search ends at once."""

PRICE, LENGTH = 0, 1
MATE, CAME_FROM, AFTER, BEFORE, BUCKET = 0, 1, 2, 3, 4


class Matching(NamedTuple):
    """The matching, its prices, and the scratch of a search.

    ``label[x]`` is a node's PRICE and the LENGTH of the path to it; ``node[x]`` its partner (MATE), the node before it on the
    path (CAME_FROM) and its position in the queue (AFTER, BEFORE, BUCKET). ``head`` are the first nodes of the buckets;
    ``occupied`` has a bit for every bucket that is not empty, and one more word with a bit for every word that is not zero;
    ``beyond`` is the least number of a bucket among the nodes beyond the window.
    """

    label: Int64s
    node: Uint32s
    head: Uint32s
    occupied: Uint64s
    beyond: Int64s
    touched: Uint32s
    better: Int64s


def new_matching(pairs: Pairs, n_truth: int) -> Matching:
    """The empty matching: no detected pixel is there yet."""
    nodes = pairs.start.size - 1
    label = np.full((nodes, 2), _FAR, np.int64)
    label[:n_truth, PRICE] = 0
    label[n_truth:, PRICE] = ABSENT
    return Matching(
        label=label,
        node=np.full((nodes, 8), FREE, np.uint32),
        head=np.full(WINDOW + 1, FREE, np.uint32),
        occupied=np.zeros(_SUMMARY + 1, np.uint64),
        beyond=np.full(1, _FAR, np.int64),
        touched=np.empty(nodes, np.uint32),
        better=np.empty((nodes, 2), np.int64),
    )


@kernel
def _bucket(length: Scalar, to: Scale) -> Scalar:
    """Number of the bucket for a path length: a rising function, 16 buckets to a step, split where ties usually fall."""
    ties = (length & ((np.int64(1) << to.shift) - 1)) >> to.split_shift
    return ((length >> to.shift) << _SPLITS) + min(ties, (1 << _SPLITS) - 1)


@kernel
def _link(m: Matching, x: Scalar, bucket: Scalar) -> None:
    first = m.head[bucket]
    m.head[bucket] = x
    m.node[x, AFTER] = first
    m.node[x, BEFORE] = FREE
    m.node[x, BUCKET] = bucket
    if first != FREE:
        m.node[first, BEFORE] = x
    if bucket != _BEYOND:
        m.occupied[bucket >> SIX] |= ONE << (bucket & LOW_SIX)
        m.occupied[_SUMMARY] |= ONE << (bucket >> SIX)


@kernel
def _unlink(m: Matching, x: Scalar) -> None:
    bucket = np.uint64(m.node[x, BUCKET])
    after, before = m.node[x, AFTER], m.node[x, BEFORE]
    m.node[x, BUCKET] = FREE
    if after != FREE:
        m.node[after, BEFORE] = before
    if before != FREE:
        m.node[before, AFTER] = after
        return
    m.head[bucket] = after
    if after == FREE and bucket != _BEYOND:
        word = bucket >> SIX
        left = m.occupied[word] & ~(ONE << (bucket & LOW_SIX))
        m.occupied[word] = left
        if left == 0:
            m.occupied[_SUMMARY] &= ~(ONE << word)


@kernel
def _enqueue(m: Matching, x: Scalar, number: Scalar, current: Scalar) -> None:
    """Put x into the bucket of its path length, out of the one it may be in."""
    bucket = np.uint64(number) & _IN_WINDOW
    if number - current >= WINDOW:
        bucket = _BEYOND
        m.beyond[0] = min(m.beyond[0], number)
    old = m.node[x, BUCKET]
    if old != bucket:
        if old != FREE:
            _unlink(m, x)
        _link(m, x, bucket)


@kernel
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
    """Bring the nodes that the window has come to reach into it."""
    m.beyond[0] = _FAR
    x = m.head[_BEYOND]
    while x != FREE:
        after = m.node[x, AFTER]
        _enqueue(m, x, _bucket(m.label[x, LENGTH], to), current)
        x = after


@kernel
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
        x = m.head[np.uint64(current) & _IN_WINDOW]
        _unlink(m, x)
        if m.label[x, LENGTH] < best:
            return x, current


@kernel
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
def _flip(node: Uint32s, root: Scalar, end: Scalar, end_is_free: Scalar) -> None:
    """Exchange matched and unmatched pairs along the path found, from its end back to the root."""
    if end_is_free:
        y = end
    else:
        if end == root:
            return
        y = node[end, MATE]
        node[end, MATE] = FREE
    while True:
        x = node[y, CAME_FROM]
        previous = node[x, MATE]
        node[x, MATE] = y
        node[y, MATE] = x
        if x == root:
            return
        y = previous


@kernel
def _shift_prices(m: Matching, n_touched: Scalar, root: Scalar, best: Scalar) -> None:
    """Make the cheapest path's pairs tight: prices rise on the far side of the search tree and fall on the root's side."""
    m.label[root, PRICE] -= best
    for i in range(n_touched):
        y = m.touched[i]
        shift = best - m.label[y, LENGTH]
        if shift > 0:
            m.label[y, PRICE] += shift
            m.label[m.node[y, MATE], PRICE] -= shift
        m.label[y, LENGTH] = _FAR
        m.node[y, BUCKET] = FREE


@kernel
def _search(m: Matching, pairs: Pairs, to: Scale, root: Scalar) -> tuple[Scalar, Scalar]:
    """Mend line (4) of the certificate at ``root``, a free node with a positive price, along the cheapest path.

    Returns the path's end and whether that was a free node, which now has a partner; if not, it is the end that has none now.
    """
    start, partner, cost = pairs.start, pairs.partner, pairs.cost
    label, node, touched, better = m.label, m.node, m.touched, m.better
    best = label[root, PRICE]
    end, end_is_free = np.uint32(root), False
    x, base = np.uint32(root), best
    current = np.int64(0)
    n_touched = 0
    while True:
        # Two passes, because whether a pair leads to something better is a coin toss that the processor cannot foresee.
        n_better = 0
        first, last = np.uint64(start[x]), np.uint64(start[x + np.uint32(1)])
        offset = base - to.limit
        for e in range(first, last):
            y = partner[e]
            length = offset + cost[e] + label[y, PRICE]
            better[np.uint64(n_better), 0] = length
            better[np.uint64(n_better), 1] = y
            n_better += np.int64(length < best) & np.int64(length < label[y, LENGTH])
        for i in range(n_better):
            length = better[i, 0]
            y = np.uint32(better[i, 1])
            if length >= best:
                continue
            node[y, CAME_FROM] = x
            if node[y, MATE] == FREE:
                best, end, end_is_free = length, y, True
            else:
                touched[n_touched] = y
                n_touched += np.int64(label[y, LENGTH] == _FAR)
                label[y, LENGTH] = length
                _enqueue(m, y, _bucket(length, to), current)
        y, current = _pop(m, current, best, to)
        if y == FREE:
            break
        # Its partner is as far from the root as the node itself, and may be the one that is better left free.
        x = node[y, MATE]
        base = label[y, LENGTH] + label[x, PRICE]
        if base < best:
            best, end, end_is_free = base, x, False
    _clear_queue(m)
    _shift_prices(m, n_touched, root, best)
    _flip(node, root, end, end_is_free)
    return end, end_is_free


@kernel
def _bid(m: Matching, pairs: Pairs, to: Scale, x: Scalar) -> tuple[Scalar, Scalar]:
    """What the free node x finds most worthwhile: (partner, or ``FREE``; how much more it could pay than for its second choice).

    x takes the least price that keeps (1) and (2).
    """
    start, partner, cost, label = pairs.start, pairs.partner, pairs.cost, m.label
    price, second = np.int64(0), np.int64(0)
    choice = FREE
    for e in range(np.uint64(start[x]), np.uint64(start[x + np.uint32(1)])):
        y = partner[e]
        worth = to.limit - cost[e] - label[y, PRICE]
        choice = y if worth > price else choice
        second = max(second, min(price, worth))
        price = max(price, worth)
    label[x, PRICE] = price
    return choice, price - second


@kernel
def settle(m: Matching, pairs: Pairs, to: Scale, root: Scalar) -> tuple[Scalar, Scalar]:
    """Mend line (4) of the certificate at ``root``, a free node of any price, which takes the least price that keeps (1) and (2).

    Returns the last node that changed sides and whether that was a free node, which now has a partner; if not, it has none now.
    """
    label, node = m.label, m.node
    x = np.uint32(root)
    for _ in range(_BIDS):
        choice, margin = _bid(m, pairs, to, x)
        if choice == FREE:
            return x, False
        rival = node[choice, MATE]
        if rival != FREE and margin == 0:
            break
        node[choice, MATE] = x
        node[x, MATE] = choice
        if rival == FREE:
            return choice, True
        label[x, PRICE] -= margin
        label[choice, PRICE] += margin
        node[rival, MATE] = FREE
        x = rival
    return _search(m, pairs, to, x)


@kernel
def disappear(m: Matching, d: Scalar) -> Scalar:
    """A detected pixel disappears; returns its partner, at which line (4) may now be broken, or ``FREE``."""
    g = m.node[d, MATE]
    m.label[d, PRICE] = ABSENT
    if g != FREE:
        m.node[d, MATE] = FREE
        m.node[g, MATE] = FREE
        if m.label[g, PRICE] == 0:
            return FREE
    return g


@kernel
def check(m: Matching, pairs: Pairs, to: Scale) -> Scalar:
    """The number (1 to 4) of the first line of the certificate that is broken, 5 if the partners disagree, 0 if all hold."""
    for x in range(pairs.start.size - 1):
        price = m.label[x, PRICE]
        mate = m.node[x, MATE]
        if price < 0:
            return 1
        if mate == FREE:
            if price != 0 and price != ABSENT:
                return 4
        elif m.node[mate, MATE] != x or price == ABSENT:
            return 5
        for e in range(pairs.start[x], pairs.start[x + 1]):
            y = pairs.partner[e]
            slack = price + m.label[y, PRICE] - (to.limit - pairs.cost[e])
            if slack < 0:
                return 2
            if mate == y and slack != 0:
                return 3
    return 0
