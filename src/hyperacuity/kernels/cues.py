"""Counts around the borders of regions, for the cues that show which of two neighbours is in front.

All loops run over the cracks of a segmentation: ``right[y, x]`` is the number of the pair of regions between the pixels (y, x)
and (y, x + 1), ``below[y, x]`` that of the pair between (y, x) and (y + 1, x); −1 where there is no border. Discs are whole up to
a radius of :data:`WHOLE` pixels; larger ones are sampled on a grid, which keeps the work per crack the same at every radius.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Float32s, Float64s, Int32s, Int64s, Scalar, allocating_kernel, kernel

Labels = Int32s
Sums = Float64s

WHOLE = 12
MEETING = 4  # no more than four regions meet at a corner


@kernel
def _count_in_disc(labels: Labels, y: Scalar, x: Scalar, radius: Scalar, wanted: Labels, counts: Sums) -> None:
    """Count the points of the disc about the corner (y + ½, x + ½) that lie in each of the regions ``wanted``.

    Points lie at the same distances on all four sides of the corner: a grid that did not would favour a side.
    """
    height, width = labels.shape
    step = max(1, radius // WHOLE)
    for n in range(len(wanted)):
        counts[n] = 0
    for down in range(step // 2, radius, step):
        for across in range(step // 2, radius, step):
            if (down + 0.5) ** 2 + (across + 0.5) ** 2 > radius * radius:
                break
            for v in (y - down, y + 1 + down):
                if v < 0 or v >= height:
                    continue
                for u in (x - across, x + 1 + across):
                    if u < 0 or u >= width:
                        continue
                    for n in range(len(wanted)):
                        if labels[v, u] == wanted[n]:
                            counts[n] += 1


@allocating_kernel
def convexity(labels: Labels, first: Labels, second: Labels, right: Labels, below: Labels, radius: Scalar) -> Sums:
    """Per pair, the sum over its cracks of (second − first) / (second + first), the points of either region in a disc there.

    The region that takes up less of the disc bulges into the other.
    """
    height, width = labels.shape
    sums = np.zeros(len(first))
    wanted, counts = np.empty(2, np.int32), np.empty(2)
    for y in range(height):
        for x in range(width):
            for pair in (right[y, x], below[y, x]):
                if pair >= 0:
                    wanted[0], wanted[1] = first[pair], second[pair]
                    _count_in_disc(labels, y, x, radius, wanted, counts)
                    if counts[0] + counts[1] > 0:  # a coarse grid may miss both
                        sums[pair] += (counts[1] - counts[0]) / (counts[0] + counts[1])
    return sums


@allocating_kernel
def junctions(labels: Labels, first: Labels, right: Labels, below: Labels, radius: Scalar) -> Sums:
    """Per pair, over the corners where its border meets another region: their number, and sums of two differences.

    With a and b the shares that the first and the second region have of the disc about the corner: a − b, and
    \\|b − ½\\| − \\|a − ½\\|, which is positive where the first is closer to having the half that the bar of a T has.
    """
    height, width = labels.shape
    sums = np.zeros((len(first), 3))
    wanted, counts, pairs = np.empty(MEETING, np.int32), np.empty(MEETING), np.empty(MEETING, np.int32)
    new = np.empty(MEETING, np.bool_)  # not the same region as one before it
    for y in range(height - 1):
        for x in range(width - 1):
            pairs[0], pairs[1], pairs[2], pairs[3] = right[y, x], right[y + 1, x], below[y, x], below[y, x + 1]
            wanted[0], wanted[1] = labels[y, x], labels[y, x + 1]
            wanted[2], wanted[3] = labels[y + 1, x], labels[y + 1, x + 1]
            for n in range(MEETING):
                new[n] = wanted[n] >= 0
                for m in range(n):
                    new[n] &= wanted[m] != wanted[n]
            count = 0
            for n in range(MEETING):
                count += new[n]
            if count < 3:
                continue
            _count_in_disc(labels, y, x, radius, wanted, counts)
            total = 0.0
            for n in range(MEETING):
                total += counts[n] if new[n] else 0.0
            for n in range(MEETING):
                pair = pairs[n]
                seen = pair < 0
                for m in range(n):
                    seen = seen or pairs[m] == pair
                if seen:
                    continue
                # Cracks 0 and 1 lie side by side, 2 and 3 one below the other.
                here, there = (2 * n, 2 * n + 1) if n < 2 else (n - 2, n)
                if wanted[here] != first[pair]:
                    here, there = there, here
                a, b = counts[here] / total, counts[there] / total
                sums[pair, 0] += 1
                sums[pair, 1] += a - b
                sums[pair, 2] += abs(b - 0.5) - abs(a - 0.5)
    return sums


@allocating_kernel
def beside_borders(
    labels: Labels, first: Labels, right: Labels, below: Labels, planes: Float32s, skip: Scalar, band: Scalar
) -> Sums:
    """Per pair and plane, the sum over cracks of the mean on the first region's side minus that on the second's.

    Means are over the pixels ``skip`` … ``skip + band − 1`` steps straight away from the crack that are in its region; a side
    with none of them takes its pixel at the crack.
    """
    height, width = labels.shape
    sums = np.zeros((len(first), len(planes)))
    side = np.empty((2, len(planes)))
    for y in range(height):
        for x in range(width):
            for way in range(2):
                pair = right[y, x] if way == 0 else below[y, x]
                if pair < 0:
                    continue
                dy, dx = way, 1 - way
                for far in range(2):
                    v, u, step = y + far * dy, x + far * dx, 2 * far - 1
                    region, count = labels[v, u], 0
                    for p in range(len(planes)):
                        side[far, p] = 0
                    for n in range(skip + band):
                        vv, uu = v + n * step * dy, u + n * step * dx
                        if vv < 0 or vv >= height or uu < 0 or uu >= width or labels[vv, uu] != region:
                            break
                        if n >= skip:
                            count += 1
                            for p in range(len(planes)):
                                side[far, p] += planes[p, vv, uu]
                    for p in range(len(planes)):
                        side[far, p] = side[far, p] / count if count > 0 else planes[p, v, u]
                sign = 1.0 if labels[y, x] == first[pair] else -1.0
                for p in range(len(planes)):
                    sums[pair, p] += sign * (side[0, p] - side[1, p])
    return sums


@kernel
def _hull(edge: Sums, top: Scalar, bottom: Scalar, sign: Scalar, chain: Int64s) -> None:
    """Turn the ends of a region's rows into those of its convex hull: sign +1 for left ends, −1 for right ones."""
    count = 0
    for y in range(top, bottom + 1):
        if not np.isfinite(edge[y]):
            continue
        while count > 1:
            a, b = chain[count - 2], chain[count - 1]
            if sign * ((edge[b] - edge[a]) * (y - a) - (edge[y] - edge[a]) * (b - a)) < 0:
                break
            count -= 1
        chain[count] = y
        count += 1
    for n in range(count - 1):
        a, b = chain[n], chain[n + 1]
        for y in range(a + 1, b):
            edge[y] = edge[a] + (edge[b] - edge[a]) * (y - a) / (b - a)


@allocating_kernel
def hulls(labels: Labels, boxes: Int64s, start: Int64s, others: Labels, pairs: Labels, inside: Sums) -> Sums:
    """The area of each region's convex hull; and in ``inside[p, 0]`` how much of pair p's second region lies in the first's hull,
    in ``inside[p, 1]`` how much of its first in the second's, in pixels.

    The neighbours of region r are ``others[start[r]:start[r + 1]]``, in the pairs ``pairs`` at the same indices; ``boxes`` are
    those of :func:`hyperacuity.kernels.ownership.bounding_boxes`.
    """
    height = labels.shape[0]
    area = np.zeros(len(boxes))
    left, right, chain = np.empty(height), np.empty(height), np.empty(height, np.int64)
    counts = np.zeros(len(boxes), np.int64)
    for region in range(len(boxes)):
        top, bottom, west, east = boxes[region, 0], boxes[region, 1], boxes[region, 2], boxes[region, 3]
        for y in range(top, bottom + 1):
            left[y], right[y] = np.inf, -np.inf
            for x in range(west, east + 1):
                if labels[y, x] == region:
                    left[y], right[y] = min(left[y], x), max(right[y], x)
        _hull(left, top, bottom, np.int64(1), chain)  # plain numbers would be types of their own
        _hull(right, top, bottom, np.int64(-1), chain)
        for y in range(top, bottom + 1):
            for x in range(int(np.ceil(left[y] - 1e-9)), int(np.floor(right[y] + 1e-9)) + 1):
                area[region] += 1
                if labels[y, x] >= 0:
                    counts[labels[y, x]] += 1
        for n in range(start[region], start[region + 1]):
            inside[pairs[n], 0 if region < others[n] else 1] = counts[others[n]]
        for y in range(top, bottom + 1):
            for x in range(west, east + 1):
                if labels[y, x] >= 0:
                    counts[labels[y, x]] = 0
    return area
