"""All thresholds of a soft map in one pass, from strong to weak.

A soft map is quantised once: the *level* of a pixel is the number of thresholds it reaches. Only the levels that occur change
the thresholded map; each is one *step*. The map of a step is thinned, if asked for, and compared with the map of the step
before: pixels that appear and pixels that disappear are the step's *changes*. Per annotator, the optimal matching is then
kept up to date through the changes (:mod:`hyperacuity.kernels.assignment`), not solved from scratch at every threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from hyperacuity.kernels import (
    Flags,
    Float32s,
    Float64s,
    Int32s,
    Int64s,
    Scalar,
    Uint8s,
    Uint16s,
    Uint32s,
    Uint64s,
    kernel,
)
from hyperacuity.kernels.assignment import FREE, Matching, check, disappear, new_matching, settle
from hyperacuity.kernels.bits import (
    LOW_SIX,
    ONE,
    SIX,
    Bits,
    count_bits,
    empty,
    lowest_bit,
    pack,
    rank,
    unpack,
)
from hyperacuity.kernels.pairs import NEARNESS_CLASSES, PairCost, Pairs, Reach, Scale, find_pairs, reachable
from hyperacuity.kernels.thinning import thin_bits


class History(NamedTuple):
    """Changes of a thresholded map from step to step; step 0 is the empty map.

    ``change[first[s] : first[s + 1]]`` are the changes of step s: d + 1 when detected pixel d appears, −(d + 1) when it
    disappears. Detected pixels are numbered in raster order over ``ever``, the ``size`` pixels that are detected at some step;
    ``before`` are the ranks of that bit image. ``detected`` is the number of detected pixels at each step, ``marked`` that of the
    pixels at or above each threshold, before thinning.
    """

    step_of_threshold: Int64s
    change: Int32s
    first: Int64s
    detected: Int64s
    ever: Bits
    before: Uint32s
    size: int
    marked: Int64s


@kernel
def _quantise(soft: Float32s, thresholds: Float32s, level: Uint16s) -> None:
    """Number of thresholds (rising) that each pixel reaches: ``value ≥ threshold``."""
    n = thresholds.size
    lowest = thresholds[0]
    spread = thresholds[n - 1] - lowest
    per_value = np.float32(n - 1) / spread if spread > 0 else np.float32(0)
    for y in range(soft.shape[0]):
        for x in range(soft.shape[1]):
            value = soft[y, x]
            reached = 0
            if value >= lowest:
                # Where it would be if the thresholds were evenly spaced, and from there as many steps as it takes.
                reached = max(1, min(n, np.int64((value - lowest) * per_value) + 1))
                while reached < n and value >= thresholds[reached]:
                    reached += 1
                while value < thresholds[reached - 1]:
                    reached -= 1
            level[y, x] = reached


@kernel
def _list_differences(
    after: Bits, before: Bits, ever: Bits, y: Scalar, width: Scalar, change: Int32s, used: Scalar
) -> Scalar:
    """Append to ``change`` where two bit images differ in a row: index + 1 or −(index + 1). Returns how many it now holds.

    ``before`` becomes ``after``, and ``ever`` gains its pixels.
    """
    words = (width + 63) // 64
    for word in range(words):
        at = (y + 1) * (words + 1) + 1 + word
        now = after[at]
        differing = now ^ before[at]
        before[at] = now
        ever[at] |= now
        while differing != 0:
            bit = lowest_bit(differing)
            differing &= differing - ONE
            index = y * width + (word << 6) + np.int64(bit)
            change[used] = index + 1 if (now >> bit) & ONE != 0 else -(index + 1)
            used += 1
    return used


@kernel
def _group_by_level(level: Uint16s, begin: Int64s, cursor: Int64s, index: Int64s) -> None:
    """Pixels of level k > 0, in raster order, as ``index[begin[k] : begin[k + 1]]``; ``begin`` is zero before."""
    height, width = level.shape
    for y in range(height):
        for x in range(width):
            begin[np.int64(level[y, x]) + 1] += 1
    for k in range(1, begin.size):
        begin[k] += begin[k - 1]
        cursor[k] = begin[k]
    for y in range(height):
        for x in range(width):
            k = np.int64(level[y, x])
            if k > 0:
                index[cursor[k]] = y * width + x
                cursor[k] += 1


@kernel
def _trace(
    index: Int64s,
    begin: Int64s,
    width: Scalar,
    thin: Scalar,
    images: Uint64s,
    changed_at: Int32s,
    change: Int32s,
    first: Int64s,
    k: Scalar,
    step: Scalar,
    used: Scalar,
) -> tuple[Scalar, Scalar, Scalar]:
    """The changes, by index, from level k on, and the first of each step, as long as there is room for all that can change.

    Returns where to go on with more room: the level (0 at the end), the steps and the changes before it. ``images`` are five bit
    images: pixels that are ever detected, those above the threshold, detected ones before and after the step, and scratch.
    """
    height, words = changed_at.size - 2, (width + 63) // 64
    stride = words + 1
    ever, thresholded, before, after, spare = images[0], images[1], images[2], images[3], images[4]
    while k > 0:
        if begin[k] < begin[k + 1]:
            if used + index.size - begin[k] > change.size:
                break
            step += 1
            for i in range(begin[k], begin[k + 1]):
                y, x = index[i] // width, index[i] % width
                thresholded[(y + 1) * stride + 1 + (x >> 6)] |= ONE << np.uint64(x & 63)
            for i in range(after.size):
                after[i] = thresholded[i]
            if thin:
                thin_bits(after, height, words, changed_at, spare)
            for y in range(height):
                used = _list_differences(after, before, ever, y, width, change, used)
            first[step + 1] = used
        k -= 1
    return k, step, used


@kernel
def _number(change: Int32s, first: Int64s, ever: Bits, before: Uint32s, width: Scalar, detected: Int64s) -> None:
    """Replace indices in ``change`` by numbers of detected pixels, and count those detected at each step."""
    stride = (width + 63) // 64 + 1
    detected[0] = 0
    for step in range(1, detected.size):
        count = detected[step - 1]
        for i in range(first[step], first[step + 1]):
            index = abs(change[i]) - 1
            y, x = index // width, index % width
            at = (y + 1) * stride + 1 + (x >> 6)
            preceding = ever[at] & ((ONE << np.uint64(x & 63)) - ONE)
            number = np.int64(before[at]) + np.int64(count_bits(preceding))
            appears = change[i] > 0
            change[i] = number + 1 if appears else -(number + 1)
            count += 1 if appears else -1
        detected[step] = count


def _dropped(change: Int32s, first: Int64s, ever: Bits, without: Flags) -> tuple[Int32s, Int64s]:
    """The changes, by index, of all pixels but those of ``without``, and the first of each step; ``ever`` loses these pixels."""
    marks = np.zeros_like(ever)
    pack(without, marks)
    ever &= ~marks
    kept = ~without.ravel()[np.abs(change) - 1]
    return change[kept], np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])[first]


def trace(soft: Float32s, thresholds: Float64s, *, thin: bool, without: Flags | None = None) -> History:
    """The history of a soft map over rising thresholds, compared in single precision.

    Pixels of ``without`` take part in thinning, and are then dropped at every step.
    """
    n, (height, width) = thresholds.size, soft.shape
    level = np.empty(soft.shape, np.uint16)
    _quantise(soft, thresholds.astype(np.float32), level)
    index, begin = np.empty(level.size, np.int64), np.zeros(n + 2, np.int64)
    _group_by_level(level, begin, np.empty(n + 2, np.int64), index)
    occurs, marked = np.diff(begin)[1:] > 0, index.size - begin[1:-1]
    step_of_threshold = np.cumsum(occurs[::-1], dtype=np.int64)[::-1]
    images = np.zeros((5, empty(height, width).size), np.uint64)
    ever, changed_at = images[0], np.empty(height + 2, np.int32)
    # Without thinning pixels only appear. With it there may be more changes; room that is never written to costs no memory.
    change, first = np.empty(2 * marked[0], np.int32), np.zeros(step_of_threshold[0] + 2, np.int64)
    k, step, used = n, 0, 0
    while k > 0:
        k, step, used = _trace(index, begin, width, thin, images, changed_at, change, first, k, step, used)
        if k > 0:
            change = np.concatenate([change[:used], np.empty(change.size + index.size, np.int32)])
    change = change[:used]
    if without is not None:
        change, first = _dropped(change, first, ever, without)
    before = np.empty(ever.size, np.uint32)
    size = rank(ever, before)
    detected = np.empty(first.size - 1, np.int64)
    _number(change, first, ever, before, soft.shape[1], detected)
    return History(step_of_threshold, change, first, detected, ever, before, size, marked)


class CandidatePairs(NamedTuple):
    """The pairs of one annotator, of those detected pixels that are within reach, and the changes that matter to it.

    The pixels have numbers of their own, in raster order; ``number`` are those of the history.
    """

    pairs: Pairs
    to: Scale
    number: Int32s
    change: Int32s
    first: Int64s


@kernel
def _number_in_reach(ever: Bits, before: Uint32s, near: Bits, number: Int32s, own: Int32s) -> None:
    """The history's ``number`` of each pixel of ``near``, and the other way round one more than its ``own`` number."""
    size = 0
    for i in range(near.size):
        left = near[i]
        while left != 0:
            bit = lowest_bit(left)
            left &= left - ONE
            d = np.int64(before[i]) + np.int64(count_bits(ever[i] & ((ONE << bit) - ONE)))
            number[size] = d
            size += 1
            own[d] = size


@kernel
def _nearest_first(
    change: Int32s, first: Int64s, own: Int32s, nearest: Uint8s, cursor: Int64s, order: Int32s, order_first: Int64s
) -> None:
    """The changes of pixels within reach, by own number: per step disappearances, then appearances, nearest to the truth first.

    The order only saves work: a pixel that lies on the truth rarely has to give way to one that does not. ``cursor`` is scratch,
    an entry for each class of nearness and two more; ``order`` has room for all changes and as much again.
    """
    used = np.int64(0)
    order_first[0] = order_first[1] = 0
    for step in range(1, first.size - 1):
        for c in range(cursor.size):
            cursor[c] = 0
        # First as they come, to the second half of the room, then from there in order. Most changes are out of reach: those are
        # overwritten by the next one, without a question that the processor would often answer wrongly.
        begin = np.uint64(change.size)
        end = begin
        for i in range(np.uint64(first[step]), np.uint64(first[step + 1])):
            d = own[np.uint64(abs(change[i]) - 1)]
            order[end] = d if change[i] > 0 else -d
            end += np.uint64(d > 0)
        for i in range(begin, end):
            d = order[i]
            c = np.uint64(nearest[np.uint64(abs(d) - 1)]) * np.uint64(d > 0)
            cursor[c + np.uint64(1)] += 1
        cursor[0] = used
        for c in range(1, cursor.size):
            cursor[c] += cursor[c - 1]
        used = cursor[cursor.size - 1]
        for i in range(begin, end):
            d = order[i]
            c = np.uint64(nearest[np.uint64(abs(d) - 1)]) * np.uint64(d > 0)
            order[np.uint64(cursor[c])] = d
            cursor[c] += 1
        order_first[step + 1] = used


def find_candidates(history: History, truth: Int64s, shape: tuple[int, int], within: Reach) -> CandidatePairs:
    """Candidate pairs of a history with one truth, given by flat indices."""
    near = reachable(truth, history.ever, shape, within)
    before = np.empty(near.size, np.uint32)
    size = rank(near, before)
    number, own = np.empty(size, np.int32), np.zeros(history.size, np.int32)
    _number_in_reach(history.ever, history.before, near, number, own)
    pairs, to, nearest = find_pairs(truth, near, before, size, shape, within)
    order, first = np.empty(2 * history.change.size + 1, np.int32), np.empty(history.first.size, np.int64)
    cursor = np.empty(NEARNESS_CLASSES + 2, np.int64)
    _nearest_first(history.change, history.first, own, nearest, cursor, order, first)
    return CandidatePairs(pairs, to, number, order[: first[-1]], first)


@kernel
def _mark(row: Uint64s, d: Scalar) -> None:
    row[np.uint64(d) >> SIX] |= ONE << (np.uint64(d) & LOW_SIX)


@kernel
def _unmark(row: Uint64s, d: Scalar) -> None:
    row[np.uint64(d) >> SIX] &= ~(ONE << (np.uint64(d) & LOW_SIX))


class Start(NamedTuple):
    """Beginning of :func:`follow`: an empty matching of one annotator, its candidates, and scratch.

    ``waiting`` is room for the truth pixels that lost their partner, ``now`` holds the marks of this annotator.
    """

    matching: Matching
    candidates: CandidatePairs
    n_truth: int
    waiting: Uint32s
    now: Uint64s


@kernel
def follow_steps(
    start: Start, matched: Int64s, matched_detected: Uint64s, step: Scalar, last: Scalar, size: Scalar
) -> Scalar:
    """Keep a matching of ``size`` pairs optimal from one step to another (inclusive); returns how many pairs it has then."""
    m, candidates, n_truth, waiting, now = start
    pairs, to, number, change, first = candidates
    while step <= last:
        n_waiting = 0
        for i in range(first[step], first[step + 1]):
            if change[i] > 0:
                d = change[i] - 1
                end, end_is_free = settle(m, pairs, to, n_truth + d)
                _mark(now, number[d])
                if end_is_free:
                    size += 1
                else:
                    _unmark(now, number[np.int64(end) - n_truth])
            else:
                d = -change[i] - 1
                if m.mate[n_truth + d] != FREE:
                    _unmark(now, number[d])
                    size -= 1
                g = disappear(m, n_truth + d)
                if g != FREE:
                    waiting[n_waiting] = g
                    n_waiting += 1
        for i in range(n_waiting):
            g = waiting[i]
            if m.mate[g] == FREE and m.price[g] > 0:
                end, end_is_free = settle(m, pairs, to, np.int64(g))
                if end_is_free:
                    _mark(now, number[np.int64(end) - n_truth])
                    size += 1
        matched[step] += size
        for j in range(now.size):
            matched_detected[step, j] |= now[j]
        step += 1
    return size


def follow(start: Start, matched: Int64s, matched_detected: Uint64s, checked: bool) -> int:
    """Keep one annotator's matching optimal through all steps.

    Adds the number of pairs at each step to ``matched`` and marks the matched detected pixels, a bit each, in that step's row of
    ``matched_detected``. With ``checked`` the certificate is verified after every step; returns the number of the line that is
    broken, or 0.
    """
    last = start.candidates.first.size - 2
    if not checked:
        follow_steps(start, matched, matched_detected, 1, last, 0)
        return 0
    size = 0
    for step in range(1, last + 1):
        size = follow_steps(start, matched, matched_detected, step, step, size)
        if broken := check(start.matching, start.candidates.pairs, start.candidates.to):
            return int(broken)
    return 0


def start_matching(history: History, truth: Int64s, shape: tuple[int, int], within: Reach) -> Start:
    """The empty matching of one annotator, whose truth is given by flat indices, ready to be followed."""
    candidates = find_candidates(history, truth, shape, within)
    waiting, now = np.empty(truth.size, np.uint32), np.zeros((history.size + 63) // 64, np.uint64)
    return Start(new_matching(candidates.pairs, truth.size), candidates, truth.size, waiting, now)


def detected_at_each_step(history: History) -> Iterator[tuple[int, Flags]]:
    """Iterate over steps and flags of the pixels detected there, of those ever detected; the array is reused."""
    detected = np.zeros(history.size, np.bool_)
    for step in range(history.first.size - 1):
        changes = history.change[history.first[step] : history.first[step + 1]]
        detected[changes[changes > 0] - 1] = True
        detected[-changes[changes < 0] - 1] = False
        yield step, detected


def indices_of(history: History, shape: tuple[int, int]) -> Int64s:
    """The flat index of each pixel that is detected at some step."""
    ever = np.empty(shape, np.bool_)
    unpack(history.ever, ever)
    return np.flatnonzero(ever)


class Counts(NamedTuple):
    """Counts of a sweep, one entry per threshold; ``matched`` has one row per annotator."""

    matched: Int64s
    matched_by_any: Int64s
    detected: Int64s
    marked: Int64s


def sweep(
    soft: Float32s,
    truths: Sequence[Flags],
    thresholds: Float64s,
    within: Reach,
    *,
    thin: bool,
    checked: bool = False,
    without: Flags | None = None,
) -> Counts:
    """Match a soft map with every annotator's truth at all thresholds (rising).

    ``matched[a, t]`` is the number of pairs of annotator a at threshold t, ``matched_by_any[t]`` the number of detected pixels
    that are in some annotator's pairs, ``detected[t]`` that of all detected pixels, ``marked[t]`` that before thinning.
    ``checked`` verifies that all is optimal.
    Detected pixels of ``without`` are dropped after thinning.
    """
    history = trace(soft, thresholds, thin=thin, without=without)
    steps = history.first.size - 1
    matched = np.zeros((len(truths), steps), np.int64)
    matched_detected = np.zeros((steps, (history.size + 63) // 64), np.uint64)
    for annotator, truth in enumerate(truths):
        start = start_matching(history, np.flatnonzero(truth), soft.shape, within)
        broken = follow(start, matched[annotator], matched_detected, checked)
        del start  # before the next one is made: pairs are the largest arrays here
        if broken:
            raise AssertionError(f"the matching of annotator {annotator} is not optimal: line ({broken}) is broken")
    matched_by_any = np.bitwise_count(matched_detected).sum(axis=1, dtype=np.int64)
    at = history.step_of_threshold
    return Counts(matched[:, at], matched_by_any[at], history.detected[at], history.marked)


def match_maps(
    detected: Flags,
    truth: Flags,
    within: Reach,
    *,
    extra: PairCost | None = None,
    extra_most: float = 0.0,
    checked: bool = False,
) -> tuple[Int64s, Int64s]:
    """The optimal matching of two maps: flat indices of the matched detected pixels, in raster order, and of their partners."""
    history = trace(detected.astype(np.float32), np.array([0.5]), thin=False)
    indices = np.flatnonzero(truth)
    pairs, to, _ = find_pairs(
        indices, history.ever, history.before, history.size, detected.shape, within, extra, extra_most
    )
    m = new_matching(pairs, indices.size)
    _appear_all(m, pairs, to, indices.size, history.size)
    if checked and (broken := check(m, pairs, to)):
        raise AssertionError(f"the matching is not optimal: line ({broken}) is broken")
    mate = m.mate[indices.size :]
    chosen = np.flatnonzero(mate != FREE)
    return np.flatnonzero(detected)[chosen], indices[mate[chosen].astype(np.int64)]


@kernel
def _appear_all(m: Matching, pairs: Pairs, to: Scale, n_truth: Scalar, n_detected: Scalar) -> None:
    for d in range(n_detected):
        settle(m, pairs, to, n_truth + d)
