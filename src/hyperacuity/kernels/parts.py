"""A soft map against many truths that are parts of the same annotators' maps, whose candidate pairs are listed once.

The pairs of a part are those of the whole truth whose true pixel is in it. So the part is swept over the pairs of the whole, its
other pixels *absent*: at the price :data:`~hyperacuity.kernels.assignment.ABSENT` they are worth nobody's bid, and no path
leads over them. What is left is the problem of the part alone, with the same distances and ties. Only the scale may differ, by
which distances and ties become one cost: it depends on the number of true pixels. A larger one than need be has the same
optimum, as long as ties have as many bits. Where they have not, in truths of tens of thousands of pixels, a part gets
pairs of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hyperacuity.kernels import Flags, Int64s, Uint8s
from hyperacuity.kernels.assignment import ABSENT, new_matching
from hyperacuity.kernels.bits import unpack_rows
from hyperacuity.kernels.pairs import Reach, scale
from hyperacuity.kernels.sweep import (
    Counts,
    History,
    Start,
    detected_at_each_step,
    follow,
    indices_of,
    start_matching,
    trace,
)

Part = Sequence[Flags]
"""For each annotator a flag per pixel drawn: true if it is in the part."""


class PartSweep(NamedTuple):
    """The counts of each part, as of :func:`~hyperacuity.kernels.sweep.sweep`, and partners at chosen steps of the first.

    ``partners`` has a row per chosen step: in how many annotators' pairs each detected pixel is.
    """

    counts: list[Counts]
    partners: Uint8s


def sweep_parts(
    history: History,
    truths: Sequence[Int64s],
    parts: Sequence[Part],
    shape: tuple[int, int],
    within: Reach,
    *,
    chosen: Sequence[int] = (),
) -> PartSweep:
    """Match a history with several parts of the annotators' truths, which are given by flat indices in raster order."""
    steps, words = history.first.size - 1, (history.size + 63) // 64
    matched = np.zeros((len(parts), len(truths), steps), np.int64)
    by_any = np.zeros((len(parts), steps, words), np.uint64)
    partners = np.zeros((len(chosen), history.size), np.min_scalar_type(len(truths)))
    for annotator, truth in enumerate(truths):
        whole = start_matching(history, truth, shape, within)
        for number, part in enumerate(parts):
            start = _start_of_part(whole, history, truth, part[annotator], shape, within)
            if number == 0 and len(chosen):
                marks = np.zeros((steps, words), np.uint64)
                follow(start, matched[0, annotator], marks, False)
                by_any[0] |= marks
                partners += unpack_rows(marks[list(chosen)], history.size)
            else:
                follow(start, matched[number, annotator], by_any[number], False)
    at = history.step_of_threshold
    matched_by_any = np.bitwise_count(by_any).sum(axis=2, dtype=np.int64)
    counts = [
        Counts(each[:, at], by[at], history.detected[at], history.marked)
        for each, by in zip(matched, matched_by_any, strict=True)
    ]
    return PartSweep(counts, partners)


def _start_of_part(
    whole: Start, history: History, truth: Int64s, part: Flags, shape: tuple[int, int], within: Reach
) -> Start:
    """The empty matching of a part of a truth: over the pairs of the whole, if ties have as many bits there."""
    most = int(within.steps[-1])
    if scale(int(np.count_nonzero(part)), most).tie_bits != scale(truth.size, most).tie_bits:
        return start_matching(history, truth[part], shape, within)
    matching = new_matching(whole.candidates.pairs, truth.size)
    matching.price[: truth.size][~part] = ABSENT
    return whole._replace(matching=matching, now=np.zeros_like(whole.now))


def partners_at_levels(history: History, partners: Uint8s, chosen: Sequence[int], level: Uint8s, people: int) -> Int64s:
    """Count the pixels of each level by the number of annotators in whose pairs they are: levels × (people + 1).

    ``chosen`` has the step at which just the pixels of each level or above are marked, the lowest level (1) first; ``partners``
    are those of these steps. ``level`` is 0 where nothing is marked.
    """
    level_of = level.ravel()[indices_of(history, (level.shape[0], level.shape[1]))]
    table = np.zeros((len(chosen), people + 1), np.int64)
    for step, detected in detected_at_each_step(history):
        for row in (row for row, at in enumerate(chosen) if at == step):
            table[row] = np.bincount(partners[row, detected & (level_of == row + 1)], minlength=people + 1)
    return table


def partners_by_level(level: Uint8s, truths: Sequence[Flags], levels: int, within: Reach, *, thin: bool) -> Int64s:
    """Count the pixels of each level by the number of truths that hold a partner: levels × (annotators + 1).

    ``level`` is 0 where nothing is marked, else 1 … ``levels``. What is detected at a level are the pixels of that level or
    above, thinned if asked for and matched with each truth; counted are those of exactly that level.
    """
    history = trace(level.astype(np.float32), np.arange(1, levels + 1, dtype=np.float64), thin=thin)
    steps = history.first.size - 1
    partners = np.zeros((steps, history.size), np.min_scalar_type(len(truths)))
    for truth in truths:
        start = start_matching(history, np.flatnonzero(truth), level.shape, within)
        marks = np.zeros((steps, start.now.size), np.uint64)
        follow(start, np.zeros(steps, np.int64), marks, False)
        del start
        partners += unpack_rows(marks, history.size)
    level_of = level.ravel()[indices_of(history, level.shape)]
    table = np.zeros((levels, len(truths) + 1), np.int64)
    for step, detected in detected_at_each_step(history):
        if step == 0:
            continue
        k = int(np.flatnonzero(history.step_of_threshold == step)[-1])
        table[k] = np.bincount(partners[step, detected & (level_of == k + 1)], minlength=len(truths) + 1)
    return table
