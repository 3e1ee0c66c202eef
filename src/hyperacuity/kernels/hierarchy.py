"""Merge neighbouring regions, the weakest boundary first, into a binary partition tree.

Regions are nodes of a graph; an edge holds the total strength and the length (in cracks) of the boundary between two regions.
The edge of least weight is taken from a heap, its regions merge, and edges that now lead to the same neighbour are put together:
with mean weights by adding strengths and lengths, with least weights by taking the lower. Neither can fall below the weight
just taken, since both parts were in the heap beside it; so heights rise along the way. Among equal weights the shorter boundary
goes first, then the one whose regions came first in reading order when it arose: the tree is a function of the values alone.

An edge that was put together gets a new number and the old ones are struck out, so nothing inside the heap ever moves.
"""

from __future__ import annotations

import heapq

import numpy as np

from hyperacuity.kernels import Float32s, Float64s, Int32s, Int64s, Scalar, allocating_kernel, kernel
from hyperacuity.kernels.pieces import find

Labels = Int32s


def boundary_edges(labels: Labels, right: Float32s, down: Float32s) -> tuple[Labels, Float64s, Float64s, Int64s]:
    """Boundaries between neighbouring regions: label pairs (lower, higher), sum and least of the strength, length.

    ``right[y, x]`` is the strength of the crack between (y, x) and (y, x + 1), ``down[y, x]`` of that to (y + 1, x).
    """
    keys, values = np.empty(2 * labels.size, np.int64), np.empty(2 * labels.size, np.float32)
    regions = int(labels.max()) + 1
    count = _list_cracks(labels, right, down, regions, keys, values)
    order = np.argsort(keys[:count], kind="stable")  # by numpy: to sort in a kernel takes seconds to compile
    pairs, sums = np.empty((count, 2), np.int32), np.zeros(count)
    least, lengths = np.full(count, np.inf), np.zeros(count, np.int64)
    edges = _add_cracks(order, keys, values, regions, pairs, sums, least, lengths)
    return pairs[:edges].copy(), sums[:edges].copy(), least[:edges].copy(), lengths[:edges].copy()


@kernel
def _list_cracks(
    labels: Labels, right: Float32s, down: Float32s, regions: Scalar, keys: Int64s, values: Float32s
) -> Scalar:
    """The two regions, as one number, and the strength of each crack between different regions; returns how many."""
    height, width = labels.shape
    count = 0
    for y in range(height):
        for x in range(width):
            for step in range(2):
                v, u = y + step, x + 1 - step
                if v < height and u < width and labels[v, u] != labels[y, x]:
                    here, there = np.int64(labels[y, x]), np.int64(labels[v, u])
                    keys[count] = min(here, there) * regions + max(here, there)
                    values[count] = down[y, x] if step else right[y, x]
                    count += 1
    return count


@kernel
def _add_cracks(
    order: Int64s,
    keys: Int64s,
    values: Float32s,
    regions: Scalar,
    pairs: Labels,
    sums: Float64s,
    least: Float64s,
    lengths: Int64s,
) -> Scalar:
    """Fill in the boundaries that cracks belong to, given in the order of their keys; returns how many."""
    edge = -1
    last = np.int64(-1)
    for n in range(order.size):
        i = order[n]
        if keys[i] != last:
            edge += 1
            last = keys[i]
            pairs[edge, 0], pairs[edge, 1] = last // regions, last % regions
        sums[edge] += values[i]
        least[edge] = min(least[edge], values[i])
        lengths[edge] += 1
    return edge + 1


@allocating_kernel
def merge_regions(
    regions: Scalar, pairs: Labels, sums: Float64s, lengths: Int64s, mean: Scalar
) -> tuple[Labels, Float64s, Int64s, Float64s]:
    """The merges that make one region of many.

    Returns the children, the height, and the length of the boundary that goes, one entry per merge; and for each of ``pairs``
    the height at which its regions come to lie in one: the saliency of the boundary.

    Leaves are 0 … n − 1, and merge i makes node n + i. ``sums`` holds total strengths if ``mean``, else least ones. Regions
    without a path between them stay apart, so there may be fewer than n − 1 merges.
    """
    edges = len(pairs)
    # Each put-together edge replaces two, so there are never more than twice the first ones.
    ends = np.empty((2 * edges + 1, 2), np.int32)  # regions, by a leaf in them
    total = np.empty(2 * edges + 1)
    weights = np.empty(2 * edges + 1)
    length = np.empty(2 * edges + 1, np.int64)
    struck = np.zeros(2 * edges + 1, np.bool_)
    became = np.full(2 * edges + 1, -1, np.int32)  # the edge that an edge was put into
    saliency = np.full(2 * edges + 1, np.inf)
    # Every region has a list of its edges: slot 2e + s is edge e at its end s; lists are joined by their tails.
    first, tail = np.full(regions, -1, np.int32), np.full(regions, -1, np.int32)
    after = np.full(2 * (2 * edges + 1), -1, np.int32)
    parents = np.arange(regions).astype(np.int32)
    node = np.arange(regions).astype(np.int32)  # the tree's node of each root
    met_by = np.full(regions, -1, np.int32)  # the merge that last met a region as neighbour, and by which edge
    met_edge = np.empty(regions, np.int32)
    children = np.empty((max(regions - 1, 0), 2), np.int32)
    heights = np.empty(max(regions - 1, 0))
    removed = np.empty(max(regions - 1, 0), np.int64)

    for edge in range(edges):
        ends[edge, 0], ends[edge, 1] = pairs[edge, 0], pairs[edge, 1]
        total[edge], length[edge] = sums[edge], lengths[edge]
        weights[edge] = sums[edge] / max(lengths[edge], 1) if mean else sums[edge]
        for side in range(2):
            _append(first, tail, after, ends[edge, side], 2 * edge + side)
    heap = [(weights[edge], length[edge], ends[edge, 0], ends[edge, 1], edge) for edge in range(edges)]
    heapq.heapify(heap)
    count, merges, height = edges, 0, -np.inf
    while len(heap) > 0:
        edge = heapq.heappop(heap)[4]
        if struck[edge]:
            continue
        struck[edge] = True
        a, b = find(parents, ends[edge, 0]), find(parents, ends[edge, 1])
        a, b = min(a, b), max(a, b)
        height = max(height, weights[edge])
        children[merges, 0], children[merges, 1] = min(node[a], node[b]), max(node[a], node[b])
        heights[merges], removed[merges] = height, length[edge]
        saliency[edge] = height
        parents[b] = a
        node[a] = regions + merges
        if first[b] >= 0:
            if first[a] < 0:
                first[a] = first[b]
            else:
                after[tail[a]] = first[b]
            tail[a] = tail[b]
        # Keep what is alive, and put together the edges that now lead to the same neighbour.
        slot = first[a]
        first[a], tail[a] = -1, -1
        while slot >= 0:
            following = after[slot]
            one = slot // 2
            if not struck[one]:
                other = find(parents, ends[one, 1 - slot % 2])
                if met_by[other] != merges:
                    met_by[other], met_edge[other] = merges, one
                    _append(first, tail, after, a, slot)
                else:
                    two = met_edge[other]
                    struck[one], struck[two] = True, True
                    became[one], became[two] = count, count
                    ends[count, 0], ends[count, 1] = min(a, other), max(a, other)
                    length[count] = length[one] + length[two]
                    if mean:
                        total[count] = total[one] + total[two]
                        weights[count] = total[count] / max(length[count], 1)
                    else:
                        total[count] = min(total[one], total[two])
                        weights[count] = total[count]
                    met_edge[other] = count
                    _append(first, tail, after, a, 2 * count + (0 if a < other else 1))
                    _append(first, tail, after, other, 2 * count + (1 if a < other else 0))
                    heapq.heappush(heap, (weights[count], length[count], ends[count, 0], ends[count, 1], count))
                    count += 1
            slot = following
        merges += 1
    for edge in range(count - 1, -1, -1):
        if became[edge] >= 0:
            saliency[edge] = saliency[became[edge]]
    return children[:merges].copy(), heights[:merges].copy(), removed[:merges].copy(), saliency[:edges].copy()


@kernel
def _append(first: Labels, tail: Labels, after: Labels, region: Scalar, slot: Scalar) -> None:
    after[slot] = -1
    if first[region] < 0:
        first[region] = slot
    else:
        after[tail[region]] = slot
    tail[region] = slot


@kernel
def contour_cells(labels: Labels, saliency: Float64s, pairs: Labels, cells: Float32s) -> None:
    """Draw a double-size map: cracks take the saliency of their pair of regions, corners the largest of their cracks.

    ``pairs`` is sorted, as :func:`boundary_edges` gives it; ``saliency`` has an entry for each. ``cells`` starts at 0.
    """
    height, width = labels.shape
    for y in range(height):
        for x in range(width):
            for step in range(2):
                v, u = y + step, x + 1 - step
                if v >= height or u >= width or labels[v, u] == labels[y, x]:
                    continue
                a, b = min(labels[y, x], labels[v, u]), max(labels[y, x], labels[v, u])
                value = np.float32(saliency[_pair_index(pairs, a, b)])
                row, column = y + v + 1, x + u + 1
                cells[row, column] = value
                for end in range(-1, 2, 2):
                    corner_row = row + (end if step == 0 else 0)
                    corner_column = column + (end if step == 1 else 0)
                    cells[corner_row, corner_column] = max(cells[corner_row, corner_column], value)


@kernel
def _pair_index(pairs: Labels, a: Scalar, b: Scalar) -> Scalar:
    low, high = 0, len(pairs)
    while low < high:
        middle = (low + high) // 2
        if pairs[middle, 0] < a or (pairs[middle, 0] == a and pairs[middle, 1] < b):
            low = middle + 1
        else:
            high = middle
    return low
