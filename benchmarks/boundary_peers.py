"""What the boundary matcher is measured against: four programs that match one thresholded map with one annotator's.

Each takes two boolean maps and a tolerance (a fraction of the diagonal) and returns the number of pairs. All of them solve a map
from scratch; none of them sweeps. Graphs for scipy are built with whole-array numpy operations, and building them is part of
the time: without a graph there is nothing to solve.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching, min_weight_full_bipartite_matching

from hyperacuity.boundary import tolerance_in_pixels

Map = NDArray[np.bool_]
Peer = Callable[[Map, Map, float], int]


class Graph(NamedTuple):
    """All pairs within the tolerance. Pixels without any are left out, as in Berkeley's program."""

    detected: NDArray[np.int32]
    truth: NDArray[np.int32]
    cost: NDArray[np.float64]
    n_detected: int
    n_truth: int


def berkeley(detected: Map, truth: Map, tolerance: float) -> int:
    """(a) Berkeley's C++ (cost scaling on a graph with random outliers), as the package pyEdgeEval compiles it."""
    from pyEdgeEval._lib import correspond_pixels

    matched, *_ = correspond_pixels(detected.astype(np.float64), truth.astype(np.float64), tolerance, 100.0)
    return int(np.count_nonzero(matched))


def scipy_square(detected: Map, truth: Map, tolerance: float) -> int:
    """(b) scipy's sparse Jonker–Volgenant with a private outlier for every pixel of either map. Exact.

    Rows are detected pixels and the truth's outliers, columns truth pixels and the detected ones' outliers. The outliers of two
    pixels that may be partners may be partners too, at no cost, so that a perfect matching exists.
    """
    graph = find_graph(detected, truth, tolerance)
    if graph.cost.size == 0:
        return 0
    n, m = graph.n_detected, graph.n_truth
    of_detected, of_truth = np.arange(n), np.arange(m)
    rows = np.concatenate([graph.detected, of_detected, n + of_truth, n + graph.truth])
    columns = np.concatenate([graph.truth, m + of_detected, of_truth, m + graph.detected])
    cost = np.concatenate([graph.cost, np.full(n + m, _unmatched(graph)), np.zeros(graph.cost.size)])
    row, column = _least(rows, columns, cost, (n + m, n + m))
    return int(np.count_nonzero((row < n) & (column < m)))


def scipy_lean(detected: Map, truth: Map, tolerance: float) -> int:
    """(b′) The same solver with outliers for the smaller map only, whose pixels are the rows. Exact, and usually faster."""
    graph = find_graph(detected, truth, tolerance)
    if graph.cost.size == 0:
        return 0
    row, column, n, m = graph.detected, graph.truth, graph.n_detected, graph.n_truth
    if m < n:
        row, column, n, m = column, row, m, n
    rows = np.concatenate([row, np.arange(n)])
    columns = np.concatenate([column, m + np.arange(n)])
    cost = np.concatenate([graph.cost, np.full(n, _unmatched(graph))])
    _, partner = _least(rows, columns, cost, (n, m + n))
    return int(np.count_nonzero(partner < m))


def hopcroft_karp(detected: Map, truth: Map, tolerance: float) -> int:
    """(c) scipy's Hopcroft–Karp. The number of pairs only: which pairs, and how far apart, is left to chance.

    Most calls take milliseconds, some take seconds (7 s on a map of BSDS500's image 100007); which ones depends on the order in
    which pairs are listed, and in some orders it is minutes.
    """
    graph = find_graph(detected, truth, tolerance)
    if graph.cost.size == 0:
        return 0
    ones = np.ones(graph.cost.size, np.int8)
    pairs = csr_array((ones, (graph.detected, graph.truth)), shape=(graph.n_detected, graph.n_truth))
    return int(np.count_nonzero(maximum_bipartite_matching(pairs, perm_type="column") >= 0))


PEERS: dict[str, Peer] = {
    "berkeley": berkeley,
    "scipy": scipy_square,
    "scipy-lean": scipy_lean,
    "hopcroft-karp": hopcroft_karp,
}

STEADY = ("berkeley", "scipy", "scipy-lean")
"""Those whose time can be foreseen; the others are measured when asked for."""

TITLES = {
    "berkeley": "(a) Berkeley's C++",
    "scipy": "(b) scipy, outliers for all",
    "scipy-lean": "(b′) scipy, outliers for one side",
    "hopcroft-karp": "(c) scipy Hopcroft–Karp",
}


def find_graph(detected: Map, truth: Map, tolerance: float) -> Graph:
    """The candidate pairs of two maps with their costs in hundredths of a pixel, rounded."""
    limit = tolerance_in_pixels(detected.shape, tolerance) ** 2
    radius = int(np.sqrt(limit))
    number = np.full(np.add(detected.shape, 2 * radius), -1, np.int32)
    inside = number[radius : radius + detected.shape[0], radius : radius + detected.shape[1]]
    inside[detected] = np.arange(np.count_nonzero(detected), dtype=np.int32)
    y, x = np.nonzero(truth)
    numbers = np.arange(y.size, dtype=np.int32)
    detected_parts, truth_parts, cost_parts = [], [], []
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            if dy * dy + dx * dx <= limit:
                found = number[y + (dy + radius), x + (dx + radius)]
                there = found >= 0
                detected_parts.append(found[there])
                truth_parts.append(numbers[there])
                cost_parts.append(np.full(detected_parts[-1].size, np.rint(100 * np.hypot(dy, dx))))
    of_detected, n_detected = _renumber(np.concatenate(detected_parts))
    of_truth, n_truth = _renumber(np.concatenate(truth_parts))
    return Graph(of_detected, of_truth, np.concatenate(cost_parts), n_detected, n_truth)


def _renumber(numbers: NDArray[np.int32]) -> tuple[NDArray[np.int32], int]:
    """The same numbers without gaps, and how many there are."""
    used = np.zeros(int(numbers.max(initial=-1)) + 1, np.bool_)
    used[numbers] = True
    dense = np.cumsum(used, dtype=np.int32) - 1
    return dense[numbers].astype(np.int32), int(np.count_nonzero(used))


def _unmatched(graph: Graph) -> float:
    """More than any matching can cost, so that a further pair is always worth it."""
    return float((graph.cost.max() + 1) * (min(graph.n_detected, graph.n_truth) + 1))


def _least(
    rows: NDArray[np.int32], columns: NDArray[np.int32], cost: NDArray[np.float64], shape: tuple[int, int]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """scipy drops pairs of cost 0 (pixels that coincide). All rows get a partner, so adding 1 to all costs changes nothing."""
    row, column = min_weight_full_bipartite_matching(csr_array((cost + 1, (rows, columns)), shape=shape))
    return row, column
