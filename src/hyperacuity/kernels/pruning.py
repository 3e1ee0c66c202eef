"""Optimal pruning of a binary tree: the cut of least total energy, for one weight λ or for all of them at once.

A node costs ``data + λ · complexity``; a cut is a set of nodes that holds every leaf once. Bottom up, the best cost of a node is
the lower of its own and the sum of its children's (:func:`least_costs`).

As a function of λ the best cost below a node is a minimum of straight lines, hence concave. When no node is more complex than its
children together, its own line is less steep than any piece of their sum, so the two cross at most once: at the node's scale λ⁺,
and beyond it the node wins for good (Guigues, Cocquerez & Le Men 2006). :func:`scales` finds λ⁺ from
the kinks of the children's sum, kept in a heap, the largest first: while the crossing lies below the largest kink, that kink
is taken off, which moves on to the next finer piece. Kinks that are taken off lie above λ⁺, where the node's own line rules, so
they are never needed again: every kink is added once and removed at most once, and the whole path costs O(n log n).
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Flags, Float64s, Int32s, Scalar, allocating_kernel, kernel

Nodes = Int32s


@kernel
def add_up(children: Nodes, sums: Float64s) -> None:
    """Fill in the rows of inner nodes, each the sum of its children's; rows of leaves are given."""
    leaves = len(children) + 1
    for merge in range(len(children)):
        for k in range(sums.shape[1]):
            sums[leaves + merge, k] = sums[children[merge, 0], k] + sums[children[merge, 1], k]


@kernel
def least_costs(children: Nodes, own: Float64s, best: Float64s, kept: Flags) -> None:
    """The least cost of a cut below each node, and whether the node itself is that cut; of equals the node is kept."""
    leaves = len(children) + 1
    for node in range(len(own)):
        best[node], kept[node] = own[node], True
        if node >= leaves:
            split = best[children[node - leaves, 0]] + best[children[node - leaves, 1]]
            if split < own[node]:
                best[node], kept[node] = split, False


@kernel
def _meld(a: Scalar, b: Scalar, keys: Float64s, left: Nodes, right: Nodes) -> Scalar:
    """Join two skew heaps by their roots, the largest key on top; the root of the joined one. −1 is an empty heap.

    Down the right sides, the heap with the larger key takes the other in, and swaps its sides (Sleator & Tarjan 1986).
    """
    if a < 0 or b < 0:
        return b if a < 0 else a
    if keys[a] < keys[b]:
        a, b = b, a
    top = a
    while True:
        # b goes into the right side of a, which then becomes its left side.
        below = right[a]
        right[a] = left[a]
        if below < 0:
            left[a] = b
            return top
        if keys[below] < keys[b]:
            below, b = b, below
        left[a] = below
        a = below


@allocating_kernel
def scales(children: Nodes, data: Float64s, complexity: Float64s) -> Float64s:
    """The scale λ⁺ of each node: the least λ ≥ 0 from which on it is better than any cut below it. 0 for leaves."""
    leaves = len(children) + 1
    count = len(data)
    result = np.zeros(count)
    finer_data, finer_complexity = np.zeros(count), np.zeros(count)  # what a node's kink takes away, below it
    left, right = np.full(count, -1, np.int32), np.full(count, -1, np.int32)
    heaps = np.full(count, -1, np.int32)
    for merge in range(len(children)):
        node, a, b = leaves + merge, children[merge, 0], children[merge, 1]
        heap = _meld(heaps[a], heaps[b], result, left, right)
        level, slope = data[a] + data[b], complexity[a] + complexity[b]
        while True:
            gain, cost = slope - complexity[node], data[node] - level
            parallel = 0.0 if cost <= 0 else np.inf  # lines that never cross
            crossing = max(cost / gain, 0.0) if gain > 0 else parallel
            if heap < 0 or crossing >= result[heap]:
                break
            level += finer_data[heap]
            slope += finer_complexity[heap]
            heap = _meld(left[heap], right[heap], result, left, right)
        result[node] = crossing
        finer_data[node], finer_complexity[node] = level - data[node], slope - complexity[node]
        heaps[node] = _meld(heap, node, result, left, right)
    return result


@kernel
def earliest_merge(children: Nodes, when: Float64s) -> None:
    """From the root down, lower each node's value to its parent's: a region is gone as soon as one around it is whole."""
    leaves = len(children) + 1
    for merge in range(len(children) - 1, -1, -1):
        for side in range(2):
            child = children[merge, side]
            when[child] = min(when[child], when[leaves + merge])
