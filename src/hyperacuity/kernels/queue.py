"""A queue of nodes in the exact order of their keys, so that a search by Dijkstra's rule settles each node once.

Entries stand in no order, in blocks of eight, and the least key of each block is kept beside them. A new or smaller key is
written where it belongs, and what is first is found by looking at the least keys of all blocks and then at one block. That is
more to look at than in a heap, but hardly a question whose answer the processor would have to guess, and a wrong guess takes
longer than looking at a dozen keys. Searches in thin lines mostly have less than eight nodes waiting. Where thousands wait,
within wide tolerances, each node has hundreds of partners to look at, and the queue is still the smaller part.

``place`` says where a node's entry stands, so that its key can be lowered, and no node has two entries. Places without an entry
hold keys that are larger than any other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hyperacuity.kernels import Int64s, Scalar, Uint32s, inlined_kernel, kernel
from hyperacuity.kernels.bits import ONE, lowest_bit

LAST = np.int64(1) << 62
"""Larger than any key."""

_BLOCK = np.uint64(8)
_SHIFT = np.uint64(3)


class Queue(NamedTuple):
    """The keys and the nodes of all entries, the least key of each block, and where a node's entry stands."""

    key: Int64s
    node: Uint32s
    least: Int64s
    place: Uint32s


def new_queue(nodes: int) -> Queue:
    """An empty queue for nodes below a number."""
    blocks = nodes // 8 + 1
    return Queue(
        key=np.full(8 * blocks, LAST, np.int64),
        node=np.empty(8 * blocks, np.uint32),
        least=np.full(blocks, LAST, np.int64),
        place=np.empty(nodes, np.uint32),
    )


@inlined_kernel
def put(q: Queue, node: Scalar, key: Scalar, place: Scalar) -> None:
    """Give a node its key: a new one at the first place behind all others, one that waits, and gets a smaller key, at its own."""
    q.key[place] = key
    q.node[place] = node
    q.place[node] = place
    block = place >> _SHIFT
    q.least[block] = min(q.least[block], key)


@inlined_kernel
def _least_of(q: Queue, block: Scalar) -> Scalar:
    """The least key of a block."""
    least = LAST
    for i in range(block << _SHIFT, (block + ONE) << _SHIFT):
        least = min(least, q.key[i])
    return least


@inlined_kernel
def take(q: Queue, size: Scalar) -> Scalar:
    """Take out the first of ``size`` entries and return its node. The last entry takes its place."""
    block, least = np.uint64(0), q.least[0]
    for other in range(ONE, (size + _BLOCK - ONE) >> _SHIFT):
        block = other if q.least[other] < least else block
        least = min(least, q.least[other])
    equal = np.uint64(0)
    for i in range(_BLOCK):
        equal |= np.uint64(q.key[(block << _SHIFT) + i] == least) << i
    place, end = (block << _SHIFT) + lowest_bit(equal), size - ONE
    first, moved = q.node[place], q.node[end]
    q.key[place] = q.key[end]
    q.node[place] = moved
    q.place[moved] = place
    q.key[end] = LAST
    q.least[block] = _least_of(q, block)
    q.least[end >> _SHIFT] = _least_of(q, end >> _SHIFT)
    return first


@kernel
def empty(q: Queue, size: Scalar) -> None:
    """Take out all of ``size`` entries."""
    for i in range(size):
        q.key[i] = LAST
        q.least[i >> 3] = LAST
