r"""One order from many comparisons: layers that contradict as little as possible of "this one is in front of that one".

Comparisons are the arcs of a directed graph, from the front one to the one behind, each with a weight. Where they contradict
each other they form cycles, and some must be given up: the lightest set without which no cycle is left (minimum feedback arc
set). Cycles never leave a strongly connected component, so each component is solved separately: exactly, by dynamic
programming over its subsets, up to :data:`EXACT` members; beyond that by the local-ratio rule, which also says how
little could be given up at least. What remains is an order, and a member's layer is the longest chain behind it.

References
----------
Lawler (1964), A comment on minimum feedback arc sets (dynamic programming over subsets).
Demetrescu & Finocchi (2003), Combinatorial algorithms for feedback problems in directed graphs (local ratio).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from hyperacuity.errors import InputError

EXACT = 12
"""Components of up to this many members are solved exactly: 2¹² subsets."""

Arc = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Layers:
    """Layers 0 (farthest), 1, … of all members, NaN for a member without comparisons; and which comparisons were given up.

    ``violated`` says which comparisons the layers contradict, ``bound`` the least weight that any order must contradict.
    """

    layer: NDArray[np.float64]
    violated: NDArray[np.bool_]
    bound: float


def layers(front: ArrayLike, behind: ArrayLike, weight: ArrayLike, count: int) -> Layers:
    """The layers of members 0 … ``count`` − 1, given that ``front[k]`` is in front of ``behind[k]`` with ``weight[k]``.

    As little weight as possible is contradicted, then as few comparisons. There are as few layers as that allows. Without
    comparisons every layer is NaN.

    >>> result = layers([0, 1, 2], [1, 2, 0], [5, 3, 1], 4)     # a circle of three; 3 is compared with none
    >>> result.layer, result.violated, result.bound
    (array([ 2.,  1.,  0., nan]), array([False, False,  True]), 1.0)
    """
    above, below = np.asarray(front, np.int64), np.asarray(behind, np.int64)
    heavy = np.asarray(weight, np.float64)
    if not above.shape == below.shape == heavy.shape or (heavy < 0).any() or (above == below).any():
        raise InputError(
            "comparisons: expected equal numbers of front and (different) behind members, and non-negative weights"
        )
    links = sparse.csr_array((np.ones(above.size, np.int8), (above, below)), (count, count))
    _, component = connected_components(links, connection="strong")
    violated = np.zeros(above.size, np.bool_)
    inside = component[above] == component[below]
    bound = 0.0
    for one in np.unique(component[above[inside]]):
        arcs = np.flatnonzero(inside & (component[above] == one))
        members, ends = np.unique(np.stack([above[arcs], below[arcs]]), return_inverse=True)
        pairs = [(int(a), int(b)) for a, b in ends.reshape(2, -1).T]
        given_up, least = (
            _exactly(pairs, heavy[arcs], members.size) if members.size <= EXACT else _by_cycles(pairs, heavy[arcs])
        )
        violated[arcs[given_up]] = True
        bound += least
    return Layers(_chains(above[~violated], below[~violated], count), violated, bound)


def _chains(above: NDArray[np.int64], below: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """The length of the longest chain behind each member of an acyclic graph; NaN without an arc."""
    depth = np.full(count, np.nan)
    depth[above] = depth[below] = 0
    while True:
        deeper = depth.copy()
        np.maximum.at(deeper, above, depth[below] + 1)
        if np.array_equal(deeper, depth, equal_nan=True):
            return depth
        depth = deeper


def _exactly(arcs: Sequence[Arc], weight: NDArray[np.float64], count: int) -> tuple[list[int], float]:
    """The arcs to give up, and their weight: the best of all orders, by dynamic programming over subsets from the farthest on."""
    lost = np.zeros((count, count))
    comparisons = np.zeros((count, count), np.int64)
    for (a, b), w in zip(arcs, weight.tolist(), strict=True):
        lost[a, b] += w
        comparisons[a, b] += 1
    # best[S]: the least weight and number contradicted among the members of S, and who of them is the nearest.
    best: list[tuple[float, int, int]] = [(0.0, 0, -1)]
    for subset in range(1, 2**count):
        members = [m for m in range(count) if subset >> m & 1]
        options = []
        for nearest in members:
            others = [m for m in members if m != nearest]
            cost, number, _ = best[subset & ~(1 << nearest)]
            more, pairs = lost[others, nearest].sum(), comparisons[others, nearest].sum()
            options.append((cost + float(more), number + int(pairs), nearest))
        best.append(min(options))
    rank: dict[int, int] = {}
    subset = 2**count - 1
    while subset:
        nearest = best[subset][2]
        rank[nearest] = len(rank)
        subset &= ~(1 << nearest)
    return [n for n, (a, b) in enumerate(arcs) if rank[a] > rank[b]], best[-1][0]


def _by_cycles(arcs: Sequence[Arc], weight: NDArray[np.float64]) -> tuple[list[int], float]:
    """The arcs to give up, and the least weight that must be.

    Each cycle is charged the weight of its lightest arc, which all its arcs pay; arcs that are paid up are removed. The
    charges add up to a lower bound. Then arcs come back, the heaviest first, unless that closes a cycle again.
    """
    left, remaining, bound = weight.copy(), dict(enumerate(arcs)), 0.0
    while cycle := _cycle(remaining):
        charge = float(left[cycle].min())
        left[cycle] -= charge
        bound += charge
        for n in cycle:
            if left[n] <= 0:
                del remaining[n]
    gone = [n for n in range(len(arcs)) if n not in remaining]
    for n in sorted(gone, key=lambda n: (-weight[n], n)):
        if not _cycle({**remaining, n: arcs[n]}):
            remaining[n] = arcs[n]
    return [n for n in gone if n not in remaining], bound


def _cycle(arcs: dict[int, Arc]) -> list[int]:
    """The arcs of the first cycle; none if there is no cycle."""
    leaving: dict[int, list[tuple[int, int]]] = {}
    for n, (a, b) in sorted(arcs.items()):
        leaving.setdefault(a, []).append((n, b))
    done: set[int] = set()
    for start in leaving:
        if start in done:
            continue
        path: list[int] = []  # arcs from the start to where we are
        nodes, ways = [start], [iter(leaving[start])]
        while ways:
            for n, there in ways[-1]:
                if there in nodes:
                    return [*path[nodes.index(there) :], n]
                if there not in done and there in leaving:
                    path.append(n)
                    nodes.append(there)
                    ways.append(iter(leaving[there]))
                    break
            else:
                ways.pop()
                done.add(nodes.pop())
                if path:
                    path.pop()
    return []
