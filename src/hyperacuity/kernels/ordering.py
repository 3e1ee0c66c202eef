"""Scans over ordered partitions: contours with the direction of their depth step, overlaps of regions, orders of pairs.

A *crack* is the line between two pixels that are neighbours in a row or column. Contours run along cracks, so lengths, signs and
directions are counted on them, in whole numbers. The sum of a contour's crack normals between two points is the normal of
the chord from one to the other, whichever way the pixels staircase: summing normals in a window is the exact way to average
them.

Pairs of regions are counted without visiting them: the regions that belong to one true region are sorted by depth once,
then two such lists are compared by one walk along both.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Flags, Float32s, Float64s, Int8s, Int32s, Int64s, Scalar, allocating_kernel, kernel

NO_CRACK, UNDIRECTED = 0, 2
"""Codes of a crack besides +1 (its left or upper pixel is nearer) and −1 (its right or lower one is)."""


@kernel
def _code(label: Scalar, other_label: Scalar, order: Scalar, other: Scalar, same: Scalar) -> Scalar:
    if label == other_label or label < 0 or other_label < 0:
        return NO_CRACK
    if order - other > same:
        return 1
    if other - order > same:
        return -1
    return UNDIRECTED  # a tie, or unknown on either side (NaN compares false)


@kernel
def find_cracks(labels: Int32s, order: Float64s, same: Scalar, right: Int8s, below: Int8s) -> None:
    """Write the code of the crack to the right of and below each pixel."""
    height, width = labels.shape
    for y in range(height):
        for x in range(width):
            right[y, x] = below[y, x] = NO_CRACK
            if x + 1 < width:
                right[y, x] = _code(labels[y, x], labels[y, x + 1], order[y, x], order[y, x + 1], same)
            if y + 1 < height:
                below[y, x] = _code(labels[y, x], labels[y + 1, x], order[y, x], order[y + 1, x], same)


@kernel
def mark_cracks(right: Int8s, below: Int8s, marks: Flags) -> None:
    """Mark a pixel when any crack within the 2×2 square of which it is the upper left corner is there (BSDS's rule)."""
    height, width = right.shape
    for y in range(height):
        for x in range(width):
            yy, xx = min(y + 1, height - 1), min(x + 1, width - 1)
            marks[y, x] = (right[y, x] | below[y, x] | right[yy, x] | below[y, xx]) != NO_CRACK


@kernel
def _list_own_pairs(y: Scalar, x: Scalar, labels: Int32s, right: Int8s, below: Int8s, own: Int32s) -> Scalar:
    """Write the pairs of regions that meet at directed cracks in the 2×2 square of a pixel, and each crack's normal (x, y).

    Returns how many there are, four at most.
    """
    n = 0
    last_y, last_x = min(y + 1, labels.shape[0] - 1), min(x + 1, labels.shape[1] - 1)
    for yy in range(y, last_y + 1):
        if right[yy, x] & 1:
            own[n, 0], own[n, 1], own[n, 2], own[n, 3] = labels[yy, x], labels[yy, x + 1], right[yy, x], 0
            n += 1
    for xx in range(x, last_x + 1):
        if below[y, xx] & 1:
            own[n, 0], own[n, 1], own[n, 2], own[n, 3] = labels[y, xx], labels[y + 1, xx], 0, below[y, xx]
            n += 1
    return n


@kernel
def _is_own(a: Scalar, b: Scalar, own: Int32s, n: Scalar) -> Scalar:
    is_own = False
    for k in range(n):
        is_own |= (own[k, 0] == a and own[k, 1] == b) or (own[k, 0] == b and own[k, 1] == a)
    return is_own


@kernel
def _sum_normals(
    y: Scalar, x: Scalar, radius: Scalar, labels: Int32s, right: Int8s, below: Int8s, own: Int32s, n: Scalar
) -> tuple[Scalar, Scalar]:
    """Twice the sum of the normals of a pixel's own contours in the window around its lower right corner."""
    vx, vy = 0, 0
    height, width = labels.shape
    top, bottom = y - radius, y + radius + 1
    left, far = x - radius, x + radius + 1
    for yy in range(max(top, 0), min(bottom + 1, height)):
        for xx in range(max(left, 0), min(far + 1, width)):
            if right[yy, xx] & 1 and xx < far and _is_own(labels[yy, xx], labels[yy, xx + 1], own, n):
                vx += right[yy, xx] * (1 if yy in (top, bottom) else 2)
            if below[yy, xx] & 1 and yy < bottom and _is_own(labels[yy, xx], labels[yy + 1, xx], own, n):
                vy += below[yy, xx] * (1 if xx in (left, far) else 2)
    return vx, vy


@kernel
def find_directions(
    pixels: Int64s, labels: Int32s, right: Int8s, below: Int8s, radius: Scalar, own: Int32s, vectors: Int32s
) -> None:
    """For each contour pixel a vector (x, y) along the sum of crack normals, near to far, in the window around it.

    The window is 2·radius + 1 pixels wide and high, around the pixel's lower right corner, where its contour passes. Cracks
    across its rim lie half inside and count half. Only cracks between the same two regions count as those that meet
    within the pixel's 2×2 square: other contours that pass have directions of their own. Without a directed crack in the square
    the vector is (0, 0). Where normals cancel (a line one or two pixels wide), smaller windows decide, at last the first
    crack of the square. ``own`` is scratch, 4 × 4.
    """
    width = labels.shape[1]
    for i in range(pixels.size):
        y, x = pixels[i] // width, pixels[i] % width
        n = _list_own_pairs(y, x, labels, right, below, own)
        vx, vy = 0, 0
        for r in range(radius if n > 0 else -1, -1, -1):
            vx, vy = _sum_normals(y, x, r, labels, right, below, own, n)
            if vx != 0 or vy != 0:
                break
        if n > 0 and vx == 0 and vy == 0:
            vx, vy = own[0, 2], own[0, 3]
        vectors[i, 0], vectors[i, 1] = vx, vy


@kernel
def _select(values: Float32s, count: Scalar, k: Scalar) -> None:
    """Rearrange the first ``count`` values so that those before k are no larger than value k, and those after it no smaller.

    Hoare's way; numpy's would take seconds to compile.
    """
    low, high = 0, count - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            return


@allocating_kernel
def middle_values(values: Float32s, pixels: Int64s, start: Int64s, low: Scalar) -> Float64s:
    """Median of the known values of each region, NaN where none is known; of two middle ones their mean, or the lower."""
    medians = np.full(start.size - 1, np.nan)
    known = np.empty(pixels.size, np.float32)
    for r in range(start.size - 1):
        n = 0
        for i in range(start[r], start[r + 1]):
            value = values[pixels[i]]
            if not np.isnan(value):
                known[n] = value
                n += 1
        if n == 0:
            continue
        least, most = known[0], known[0]
        for i in range(1, n):
            least, most = min(least, known[i]), max(most, known[i])
        if least == most:
            medians[r] = least
            continue
        half = n // 2
        _select(known, n, half)
        upper = np.float64(known[half])
        lower = upper
        if n % 2 == 0:
            lower = np.float64(known[0])
            for i in range(1, half):
                lower = max(lower, np.float64(known[i]))
        medians[r] = lower if low else (lower + upper) / 2
    return medians


@allocating_kernel
def best_overlaps(pixels: Int64s, start: Int64s, truth: Int32s, areas: Int64s) -> Int64s:
    """For each region the true region of largest Jaccard index, −1 where it meets none; void pixels of the truth do not count.

    Fractions are compared by cross-multiplication, so ties are ties: the larger intersection wins, then the smaller label.
    """
    best = np.full(start.size - 1, -1, np.int64)
    shared = np.zeros(areas.size, np.int64)
    met = np.empty(areas.size, np.int64)
    for r in range(start.size - 1):
        n_met, area = 0, 0
        for i in range(start[r], start[r + 1]):
            g = truth[pixels[i]]
            if g >= 0:
                if shared[g] == 0:
                    met[n_met] = g
                    n_met += 1
                shared[g] += 1
                area += 1
        best_shared, best_union = 0, 1
        for k in range(n_met):
            g = met[k]
            common, union = shared[g], area + areas[g] - shared[g]
            shared[g] = 0
            gain = common * best_union - best_shared * union
            if gain == 0:
                gain = common - best_shared
                if gain == 0:
                    gain = best[r] - g
            if gain > 0:
                best[r], best_shared, best_union = g, common, union
    return best


@kernel
def _count_order(
    depth: Float64s, a: Scalar, a_end: Scalar, b: Scalar, b_end: Scalar, same: Scalar, order: Scalar
) -> Scalar:
    """Pairs (k, l) of two sorted runs of ``depth`` whose order sgn(k − l) is ``order``; apart by at most ``same`` is equal."""
    below, within = b, b  # first l that is not clearly less than k; first l that is clearly more
    less, more = 0, 0
    for k in range(a, a_end):
        while below < b_end and depth[k] - depth[below] > same:
            below += 1
        while within < b_end and depth[within] - depth[k] <= same:
            within += 1
        more += below - b
        less += b_end - within
    if order > 0:
        return more
    if order < 0:
        return less
    return (a_end - a) * (b_end - b) - more - less


@kernel
def compare_pairs(
    depth: Float64s,
    start: Int64s,
    truth: Float64s,
    size_class: Int64s,
    same: Scalar,
    leave_ties: Scalar,
    agreeing: Int64s,
    pairs: Int64s,
) -> None:
    """All pairs of matched true regions: how many pairs of the system's regions agree with their order.

    ``depth[start[i] : start[i + 1]]`` are the depths, sorted, of the regions matched to true region i of depth ``truth[i]``. The
    share of agreeing pairs has the denominator nᵢ·nⱼ; numerators are added up by the classes of nᵢ and nⱼ, numbers of true
    pairs in ``pairs``. With ``leave_ties`` true pairs of equal depth are passed over.
    """
    for i in range(truth.size):
        for j in range(i + 1, truth.size):
            order = 0
            if truth[i] - truth[j] > same:
                order = 1
            elif truth[j] - truth[i] > same:
                order = -1
            if order == 0 and leave_ties:
                continue
            alike = _count_order(depth, start[i], start[i + 1], start[j], start[j + 1], same, order)
            agreeing[size_class[i], size_class[j]] += alike
            pairs[size_class[i], size_class[j]] += 1


@kernel
def count_unequal(depth: Float64s, start: Int64s, same: Scalar) -> Scalar:
    """Pairs of different depth within the runs of ``depth``, which are sorted."""
    total = 0
    for i in range(start.size - 1):
        first = start[i]
        for k in range(start[i], start[i + 1]):
            while depth[k] - depth[first] > same:
                first += 1
            total += first - start[i]
    return total


@kernel
def nearest_steps(labels: Int32s, sides: Float32s, reach: Scalar, votes: Int8s) -> None:
    """For the crack right of each pixel, where regions meet: which side a labelled step nearby says is the figure.

    ``sides`` is +1 and −1 on either side of a labelled contour, NaN elsewhere. Along the row, the step nearest to the crack
    and at most ``reach`` pixels away decides: +1 the left side, −1 the right one, 0 where there is none. Two steps of equal
    distance that contradict each other do not count. For cracks below pixels, transpose the maps.
    """
    height, width = labels.shape
    for y in range(height):
        for x in range(width - 1):
            votes[y, x] = 0
            if labels[y, x] < 0 or labels[y, x + 1] < 0 or labels[y, x] == labels[y, x + 1]:
                continue
            for distance in range(reach + 1):
                vote = _step(sides, y, x - distance)
                if distance > 0:
                    vote += _step(sides, y, x + distance)
                if vote != 0:
                    votes[y, x] = 1 if vote > 0 else -1
                    break
        votes[y, width - 1] = 0


@kernel
def _step(sides: Float32s, y: Scalar, x: Scalar) -> Scalar:
    """The labelled step between a pixel and its right neighbour: +1 figure on the left, −1 on the right, 0 no step."""
    if x < 0 or x + 1 >= sides.shape[1] or not sides[y, x] * sides[y, x + 1] < 0:
        return 0
    return 1 if sides[y, x] > 0 else -1
