"""A queue of nodes in the exact order of their keys, so that a search by Dijkstra's rule settles each node once.

It is a heap in which every entry has four others below it, none of which has a smaller key: entry i stands above the entries
4i + 1 … 4i + 4. Half as many levels as with two mean half as many steps that depend on each other; the least of four is found
without a branch. ``place`` says where a node's entry stands, so that its key can be lowered, and no node has two entries. Behind
the last entry stand keys that are larger than any other, in place of questions whether there are four below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hyperacuity.kernels import Int64s, Scalar, Uint32s, inlined_kernel, kernel
from hyperacuity.kernels.bits import ONE

LAST = np.int64(1) << 62
"""Larger than any key."""

_TWO = np.uint64(2)
_THREE = np.uint64(3)
_FOUR = np.uint64(4)


class Queue(NamedTuple):
    """The keys and the nodes of all entries, and where a node's entry stands."""

    key: Int64s
    node: Uint32s
    place: Uint32s


def new_queue(nodes: int) -> Queue:
    """An empty queue for nodes below a number."""
    return Queue(np.full(nodes + 5, LAST, np.int64), np.empty(nodes + 5, np.uint32), np.empty(nodes, np.uint32))


@inlined_kernel
def put(q: Queue, node: Scalar, key: Scalar, place: Scalar) -> None:
    """Give a node its key: a new one at the first place behind all others, one that waits, and gets a smaller key, at its own."""
    while place > 0:
        above = (place - ONE) >> _TWO
        if q.key[above] <= key:
            break
        other = q.node[above]
        q.key[place] = q.key[above]
        q.node[place] = other
        q.place[other] = place
        place = above
    q.key[place] = key
    q.node[place] = node
    q.place[node] = place


@inlined_kernel
def take(q: Queue, size: Scalar) -> Scalar:
    """Take out the first of ``size`` entries and return its node."""
    first = q.node[0]
    end = size - ONE
    key, node = q.key[end], q.node[end]
    q.key[end] = LAST
    place = np.uint64(0)
    below = ONE
    while below < end:
        left = below if q.key[below] <= q.key[below + ONE] else below + ONE
        right = below + _TWO if q.key[below + _TWO] <= q.key[below + _THREE] else below + _THREE
        least = left if q.key[left] <= q.key[right] else right
        if q.key[least] >= key:
            break
        other = q.node[least]
        q.key[place] = q.key[least]
        q.node[place] = other
        q.place[other] = place
        place = least
        below = _FOUR * place + ONE
    if end > 0:
        q.key[place] = key
        q.node[place] = node
        q.place[node] = place
    return first


@kernel
def empty(q: Queue, size: Scalar) -> None:
    """Take out all of ``size`` entries."""
    for i in range(size):
        q.key[i] = LAST
