"""The pairs behind a sweep: the partner of each detected pixel at each threshold, and whether the two agree.

:func:`hyperacuity.kernels.sweep.sweep` only counts pairs. Here the matching is looked at after every step, for pictures, and for
benchmarks in which a pair has to agree in something besides its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from hyperacuity.kernels import Flags, Float32s, Float64s, Int64s, Uint8s
from hyperacuity.kernels.assignment import FREE
from hyperacuity.kernels.pairs import Reach
from hyperacuity.kernels.sweep import History, detected_at_each_step, follow, indices_of, start_matching, trace
from hyperacuity.machine import budget

PairJudge = Callable[[int, Int64s, Int64s], Flags]
"""Function that flags the right pairs of an annotator, given the flat indices of their detected and their true pixels."""


def _pairs_at_each_step(
    history: History, truth: Int64s, shape: tuple[int, int], within: Reach
) -> Iterator[tuple[int, Int64s, Int64s]]:
    """One annotator's matching at each step: its number, the matched detected pixels by number, and their partners' indices."""
    start = start_matching(history, truth, shape, within)
    # One step at a time, so that the matching can be looked at in between; what is counted here does not matter.
    candidates, first = start.candidates, start.candidates.first
    for step in range(1, history.first.size - 1):
        one_step = start._replace(candidates=candidates._replace(first=np.array([0, first[step], first[step + 1]])))
        follow(one_step, np.zeros(2, np.int64), np.zeros((2, start.now.size), np.uint64), False)
        mate = start.matching.mate[: truth.size]
        taken = np.flatnonzero(mate != FREE)
        yield step, candidates.number[mate[taken].astype(np.int64) - truth.size].astype(np.int64), truth[taken]


MOST_NAMED = 8
"""Most annotators whose partners are listed per pixel: a bit each of one byte."""


class States(NamedTuple):
    """The outcome of a sweep as pictures: thresholds × height × width.

    ``state`` is 0 where there is nothing, 1 for a hit, 2 for a false alarm, 3 for a miss. ``partners`` has, at hits, a bit for
    each annotator in whose pairs the pixel is, the first one's the lowest; it is ``None`` with more than eight annotators.
    """

    state: Uint8s
    partners: Uint8s | None


def sweep_states(
    soft: Float32s,
    truths: Sequence[Flags],
    thresholds: Float64s,
    within: Reach,
    *,
    thin: bool,
    judge: PairJudge | None = None,
    without: Flags | None = None,
) -> States:
    """Match as :func:`~hyperacuity.kernels.sweep.sweep` does, and show the outcome as pictures.

    A hit is a detected pixel in some annotator's pairs, a false alarm one in nobody's. A miss is a true pixel without a partner
    in the matching of any annotator who drew it, where nothing is detected. With a ``judge``, only right pairs count.
    Detected pixels of ``without`` are dropped after thinning.
    """
    history = trace(soft, thresholds, thin=thin, without=without)
    steps, kinds = history.first.size - 1, 2 if len(truths) <= MOST_NAMED else 1
    needed = steps * history.size + kinds * (steps + thresholds.size) * soft.size
    with budget.lent(needed, f"showing {soft.shape[0]}×{soft.shape[1]} pixels at {thresholds.size} thresholds"):
        states = _states(soft, truths, history, within, judge)
        for pictures in states:
            if pictures is not None:
                budget.hold(pictures)
    return states


def _states(
    soft: Float32s, truths: Sequence[Flags], history: History, within: Reach, judge: PairJudge | None
) -> States:
    every = indices_of(history, soft.shape)
    steps = history.first.size - 1
    named = len(truths) <= MOST_NAMED
    partners_of = np.zeros((steps, history.size), np.uint8)
    matched = np.zeros((steps, soft.size), np.bool_)
    for annotator, truth in enumerate(truths):
        indices = np.flatnonzero(truth)
        for step, detected, partners in _pairs_at_each_step(history, indices, soft.shape, within):
            if judge is not None:
                right = judge(annotator, every[detected], partners)
                detected, partners = detected[right], partners[right]
            partners_of[step, detected] |= np.uint8(1 << annotator if named else 1)
            matched[step, partners] = True
    drawn = np.logical_or.reduce([truth.ravel() for truth in truths])
    np.greater(drawn, matched, out=matched)  # missed; in place, as these are the largest arrays of all
    states = matched.view(np.uint8)
    states *= np.uint8(3)
    partners_at = np.zeros_like(states) if named else None
    for step, now in detected_at_each_step(history):
        partners = partners_of[step, now]
        states[step, every[now]] = np.where(partners > 0, np.uint8(1), np.uint8(2))
        if partners_at is not None:
            partners_at[step, every[now]] = partners

    def pictures(steps: Uint8s) -> Uint8s:
        return steps[history.step_of_threshold].reshape(-1, *soft.shape)

    return States(pictures(states), None if partners_at is None else pictures(partners_at))


PAIRED, RIGHT = 1, 2


class JudgedCounts(NamedTuple):
    """Counts of a sweep whose pairs can be right or wrong, one entry per threshold; the first two have a row per annotator."""

    matched: Int64s
    right: Int64s
    matched_by_any: Int64s
    right_by_any: Int64s
    detected: Int64s


def sweep_judged(
    soft: Float32s, truths: Sequence[Flags], thresholds: Float64s, within: Reach, judge: PairJudge, *, thin: bool
) -> JudgedCounts:
    """Match as :func:`~hyperacuity.kernels.sweep.sweep` does, and count the pairs that ``judge`` finds right."""
    history = trace(soft, thresholds, thin=thin)
    steps = history.first.size - 1
    with budget.lent(steps * history.size, f"judging {history.size} detected pixels at {thresholds.size} thresholds"):
        return _judged(soft, truths, history, within, judge)


def _judged(soft: Float32s, truths: Sequence[Flags], history: History, within: Reach, judge: PairJudge) -> JudgedCounts:
    every = indices_of(history, soft.shape)
    steps = history.first.size - 1
    matched, right = np.zeros((2, len(truths), steps), np.int64)
    by_any = np.zeros((steps, history.size), np.uint8)  # bits: in a pair, in a right pair
    for annotator, truth in enumerate(truths):
        indices = np.flatnonzero(truth)
        for step, detected, partners in _pairs_at_each_step(history, indices, soft.shape, within):
            agreeing = judge(annotator, every[detected], partners)
            matched[annotator, step] = detected.size
            right[annotator, step] = np.count_nonzero(agreeing)
            by_any[step, detected] |= np.uint8(PAIRED)
            by_any[step, detected[agreeing]] |= np.uint8(RIGHT)
    at = history.step_of_threshold
    paired, agreed = (
        np.array([np.count_nonzero(row & bit) for row in by_any], np.int64)[at] for bit in (PAIRED, RIGHT)
    )
    return JudgedCounts(matched[:, at], right[:, at], paired, agreed, history.detected[at])
