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

The nodes that wait are taken in the exact order of their path lengths (:mod:`hyperacuity.kernels.queue`). No slack is negative,
so none is settled twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hyperacuity.kernels import Int64s, Scalar, Uint32s, inlined_kernel, kernel
from hyperacuity.kernels.bits import ONE
from hyperacuity.kernels.pairs import Pairs, Scale, cost_of
from hyperacuity.kernels.queue import LAST, Queue, empty, new_queue, put, take

FREE = np.uint32(0xFFFFFFFF)
"""The partner of a node that has none."""

ABSENT = np.int64(1) << 61

_BIDS = 8
"""Bids before a search. More would be spent on price wars, which a search ends at once."""


class Matching(NamedTuple):
    """The matching, its prices, and the scratch of a search.

    Per node: its ``price``, its partner (``mate``), the ``length`` of the path to it, the node before it on that path
    (``came_from``). The ``queue`` of those that a path leads to and that are not settled, and all that were ever in it,
    ``touched``.
    """

    price: Int64s
    length: Int64s
    mate: Uint32s
    came_from: Uint32s
    touched: Uint32s
    queue: Queue
    better: Uint32s
    better_length: Int64s


def new_matching(pairs: Pairs, n_truth: int) -> Matching:
    """The empty matching: no detected pixel is there yet."""
    nodes = pairs.start.size - 1
    price = np.full(nodes, ABSENT, np.int64)
    price[:n_truth] = 0
    most = max(n_truth, nodes - n_truth)
    return Matching(
        price=price,
        length=np.full(nodes, LAST, np.int64),
        mate=np.full(nodes, FREE, np.uint32),
        came_from=np.empty(nodes, np.uint32),
        touched=np.empty(most + 1, np.uint32),
        queue=new_queue(nodes),
        better=np.empty(most + 1, np.uint32),
        better_length=np.empty(most + 1, np.int64),
    )


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
        m.length[y] = LAST


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
    n_touched = np.int64(0)
    size = np.uint64(0)
    while True:
        # Two passes, because whether a pair leads to something better is a coin toss that the processor cannot foresee.
        n_better = 0
        first, last = np.uint64(start[x]), np.uint64(start[x + np.uint32(1)])
        offset = base - to.limit
        for e in range(first, last):
            y = partner[e]
            path = offset + cost_of(cost[e], to) + price[y]
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
                new = length[y] == LAST
                m.touched[n_touched] = y
                n_touched += np.int64(new)
                length[y] = path
                place = np.uint64(m.queue.place[y])  # of no meaning where the node is new
                put(m.queue, y, path, place + (size - place) * np.uint64(new))
                size += np.uint64(new)
        if size == 0:
            break
        y = take(m.queue, size)
        size -= ONE
        path = length[y]
        if path >= best:
            break
        # Its partner is as far from the root as the node itself, and may be the one that is better left free.
        x = mate[y]
        base = path + price[x]
        if base < best:
            best, end, end_is_free = base, x, False
    empty(m.queue, size)
    _shift_prices(m, n_touched, root, best)
    _flip(mate, m.came_from, root, end, end_is_free)
    return end, end_is_free


@inlined_kernel
def _bid(m: Matching, pairs: Pairs, to: Scale, x: Scalar) -> tuple[Scalar, Scalar]:
    """Best choice of the free node x: (partner, or ``FREE``; how much more it could pay than for its second choice).

    x takes the least price that keeps (1) and (2).
    """
    start, partner, cost = pairs.start, pairs.partner, pairs.cost
    first, second = np.int64(0), np.int64(0)
    choice = FREE
    for e in range(np.uint64(start[x]), np.uint64(start[x + np.uint32(1)])):
        y = partner[e]
        worth = to.limit - cost_of(cost[e], to) - m.price[y]
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
    """Remove a detected pixel; returns its partner, at which line (4) may now be broken, or ``FREE``."""
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
            slack = price + m.price[y] - (to.limit - cost_of(pairs.cost[e], to))
            if slack < 0:
                return 2
            if mate == y and slack != 0:
                return 3
    return 0
