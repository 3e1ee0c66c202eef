"""All pairs of truth pixels and detected pixels within the tolerance, as a sparse graph.

Nodes are numbered truth pixels first, then detected pixels, each in raster order. Every pair stands twice, once at each end:
the partners of node x are ``partner[start[x] : start[x + 1]]``, with the pairs' costs beside them.

What a matching should minimise, after having as many pairs as possible, is the sum of distances in *steps* of a hundredth
of a pixel, each rounded (as in Berkeley's benchmark). Distances on a lattice repeat, so many matchings share the least sum.
Among them, the one is chosen whose pairs have the least sum of *ties*, where a pair's tie is a hash of the two pixels' indices.
It does not depend on the order in which pixels arrive, so neither does any count. Both wishes are one number,

    cost = steps · 2^shift + tie,      2^shift > any sum of ties,

and so is the wish for more pairs: ``limit`` exceeds any sum of costs, and a pair is worth ``limit − cost``. The room that
sums need between steps and ties is left out where costs are stored, ``steps · 2^tie_bits + tie``, which mostly fits 32 bits;
:func:`cost_of` puts it back.

Detected pixels are looked up in a bit image. Those of a row within the tolerance are one run of bits, read a word at a time; the
number of a detected pixel is the count of the bits before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hyperacuity.errors import InputError
from hyperacuity.kernels import Float64s, Int64s, Scalar, Uint8s, Uint32s, Uint64s, inlined_kernel, kernel
from hyperacuity.kernels.bits import ALL, LOW_SIX, ONE, Bits, count_bits, lowest_bit, unpack
from hyperacuity.machine import SMALL, budget

STEPS_PER_PIXEL = 100

MOST_TIE_BITS = 20
_COST_BITS = 59
"""``limit`` stays below 2^59, so that sums and differences of a few of them fit 64 bits."""

NEARNESS_CLASSES = 16

EXTRA_BLOCK = 1 << 20
"""Pairs whose extra costs are computed at a time: each takes some 50 bytes while it is."""

PairCost = Callable[[Int64s, Int64s], Float64s]
"""Further cost of pairs, in pixels (≥ 0): a function of the flat indices of their truth and detected pixels."""


Costs = Uint32s | Uint64s
"""Costs as they are stored, in 64 bits where 32 do not hold them."""


class Scale(NamedTuple):
    """Bits of steps and ties in a cost, and the most a pair is worth. ``stretch`` is 2^shift − 2^tie_bits."""

    tie_bits: np.int64
    shift: np.int64
    stretch: np.int64
    limit: np.int64


class Reach(NamedTuple):
    """The disc of a tolerance: half the width of the row at each vertical offset; steps and nearness of squared distances."""

    half_width: Int64s
    steps: Int64s
    nearness: Uint8s


class Pairs(NamedTuple):
    """The candidate pairs of one truth map, as described at the top of this module; ``cost`` as it is stored."""

    start: Int64s
    partner: Uint32s
    cost: Costs


def reach(tolerance_px: float) -> Reach:
    """The offsets within ``tolerance_px`` pixels (inclusive, compared on squares) and what they cost."""
    limit = tolerance_px * tolerance_px
    radius = math.isqrt(math.floor(limit))
    half_width = [math.isqrt(math.floor(limit - dy * dy)) for dy in range(-radius, radius + 1)]
    squares = np.arange(math.floor(limit) + 1)
    return Reach(
        half_width=np.array(half_width, np.int64),
        steps=np.rint(np.sqrt(squares) * STEPS_PER_PIXEL).astype(np.int64),
        nearness=(1 + NEARNESS_CLASSES * squares // squares.size).astype(np.uint8),
    )


def scale(n_truth: int, most_steps: int) -> Scale:
    """The scale for a truth map of this many pixels: any sum of ties is below one step, any sum of costs below the limit.

    It depends on the truth and the tolerance alone, so the tie-break does not depend on what was detected.
    """
    count_width = (n_truth + 1).bit_length()
    tie_bits = min(MOST_TIE_BITS, _COST_BITS - 2 * count_width - (most_steps + 1).bit_length())
    if tie_bits < 0:
        raise InputError(
            f"{n_truth} truth pixels with up to {most_steps} steps of cost each are more than 64-bit costs hold"
        )
    shift = tie_bits + count_width
    limit = (most_steps + 1) * (n_truth + 1) << shift
    return Scale(np.int64(tie_bits), np.int64(shift), np.int64((1 << shift) - (1 << tie_bits)), np.int64(limit))


@inlined_kernel
def cost_of(stored: Scalar, to: Scale) -> Scalar:
    """The cost of a pair, from what is stored of it."""
    return np.int64(stored) + (np.int64(stored) >> to.tie_bits) * to.stretch


@kernel
def _run_in_word(x_first: Scalar, x_last: Scalar, word: Scalar) -> Scalar:
    """The bits of a row's word number ``word`` that lie between two columns (inclusive)."""
    mask = ALL
    if word == x_first >> 6:
        mask = ALL << np.uint64(x_first & 63)
    if word == x_last >> 6:
        mask &= ALL >> (LOW_SIX - np.uint64(x_last & 63))
    return mask


@kernel
def _mark_reachable(truth: Int64s, height: Scalar, width: Scalar, half_width: Int64s, bits: Bits) -> None:
    """Set in ``bits`` all pixels within reach of a truth pixel."""
    radius = half_width.size // 2
    stride = (width + 63) // 64 + 1
    for g in range(truth.size):
        y, x = truth[g] // width, truth[g] % width
        for yy in range(max(0, y - radius), min(height, y + radius + 1)):
            half = half_width[yy - y + radius]
            x_first, x_last = max(0, x - half), min(width - 1, x + half)
            row = (yy + 1) * stride + 1
            for word in range(x_first >> 6, (x_last >> 6) + 1):
                bits[row + word] |= _run_in_word(x_first, x_last, word)


def reachable(truth: Int64s, detected: Bits, shape: tuple[int, int], within: Reach) -> Bits:
    """The detected pixels that have a truth pixel within reach: the others, often most of them, can have no partner."""
    near = np.zeros_like(detected)
    _mark_reachable(truth, *shape, within.half_width, near)
    near &= detected
    return near


@kernel
def _count_partners(
    truth: Int64s, bits: Bits, height: Scalar, width: Scalar, half_width: Int64s, start: Int64s
) -> None:
    """Write the truth pixels' part of ``start``, running numbers of partners."""
    radius = half_width.size // 2
    stride = (width + 63) // 64 + 1
    total = np.int64(0)
    start[0] = 0
    for g in range(truth.size):
        y, x = truth[g] // width, truth[g] % width
        for yy in range(max(0, y - radius), min(height, y + radius + 1)):
            half = half_width[yy - y + radius]
            x_first, x_last = max(0, x - half), min(width - 1, x + half)
            row = (yy + 1) * stride + 1
            for word in range(x_first >> 6, (x_last >> 6) + 1):
                total += np.int64(count_bits(bits[row + word] & _run_in_word(x_first, x_last, word)))
        start[g + 1] = total


@kernel
def _tie(truth_index: Scalar, detected_index: Scalar, bits: Scalar) -> Scalar:
    """A well-mixed number below 2^bits for a pair of pixels (a multiply–xorshift hash, the same on every machine)."""
    x = (np.uint64(detected_index) << np.uint64(32)) ^ np.uint64(truth_index)
    x *= np.uint64(0x9E3779B97F4A7C15)
    x ^= x >> np.uint64(29)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    return np.int64((x >> np.uint64(32)) >> np.uint64(32 - bits))


@kernel
def _list_partners(
    truth: Int64s,
    bits: Bits,
    before: Uint32s,
    height: Scalar,
    width: Scalar,
    within: Reach,
    to: Scale,
    degree: Int64s,
    nearest: Uint8s,
    partner: Uint32s,
    cost: Costs,
) -> None:
    """Write the truth pixels' halves of all pairs; per detected pixel count its pairs and note its nearest truth pixel."""
    half_width, steps, nearness = within.half_width, within.steps, within.nearness
    radius = half_width.size // 2
    stride = (width + 63) // 64 + 1
    at = np.uint64(0)
    for g in range(truth.size):
        y, x = truth[g] // width, truth[g] % width
        for yy in range(max(0, y - radius), min(height, y + radius + 1)):
            dy = yy - y
            half = half_width[dy + radius]
            x_first, x_last = max(0, x - half), min(width - 1, x + half)
            row = (yy + 1) * stride + 1
            for word in range(x_first >> 6, (x_last >> 6) + 1):
                i = np.uint64(row + word)
                run = bits[i] & _run_in_word(x_first, x_last, word)
                # The run's pixels follow each other in number, so that only the first one's is looked up.
                d = np.uint64(before[i]) + count_bits(bits[i] & ~run & (run - ONE))
                while run != 0:
                    xx = (word << 6) + np.int64(lowest_bit(run))
                    run &= run - ONE
                    square = np.uint64(dy * dy + (xx - x) * (xx - x))
                    partner[at] = np.uint64(truth.size) + d
                    cost[at] = (steps[square] << to.tie_bits) + _tie(truth[g], yy * width + xx, to.tie_bits)
                    at += ONE
                    degree[d] += 1
                    nearest[d] = min(nearest[d], nearness[square])
                    d += ONE


@kernel
def _mirror(n_truth: Scalar, start: Int64s, cursor: Int64s, partner: Uint32s, cost: Costs) -> None:
    """Write the detected pixels' halves of all pairs from those of the truth pixels. ``cursor`` is a copy of their starts."""
    for g in range(n_truth):
        for e in range(start[g], start[g + 1]):
            d = np.int64(partner[e]) - n_truth
            at = cursor[d]
            partner[at] = g
            cost[at] = cost[e]
            cursor[d] = at + 1


def find_pairs(
    truth: Int64s,
    detected: Bits,
    before: Uint32s,
    n_detected: int,
    shape: tuple[int, int],
    within: Reach,
    extra: PairCost | None = None,
    extra_most: float = 0.0,
) -> tuple[Pairs, Scale, Uint8s]:
    """All pairs within reach, their scale, and each detected pixel's nearness class (1 is on the truth).

    A pixel out of reach has a class beyond the last one.

    ``truth`` are flat indices in raster order, ``before`` the ranks (:func:`hyperacuity.kernels.bits.rank`) of the bit image
    ``detected``. ``extra`` is a further cost of at most ``extra_most`` pixels.
    """
    height, width = shape
    n_truth = truth.size
    extra_steps = math.ceil(extra_most * STEPS_PER_PIXEL)
    most_steps = int(within.steps[-1]) + extra_steps
    to = scale(n_truth, most_steps)
    stored: type[np.unsignedinteger] = np.uint32 if most_steps.bit_length() + to.tie_bits <= 32 else np.uint64
    start = np.empty(n_truth + n_detected + 1, np.int64)
    _count_partners(truth, detected, height, width, within.half_width, start)
    half = int(start[n_truth])
    bytes_needed = 2 * half * (4 + np.dtype(stored).itemsize)
    if bytes_needed > SMALL:
        budget.lend(
            bytes_needed, f"matching {half:.2g} pairs of pixels within {within.half_width.size // 2} px of each other"
        )
    partner = np.empty(2 * half, np.uint32)
    cost = np.empty(2 * half, stored)
    if bytes_needed > SMALL:
        budget.bind(cost, bytes_needed)
    degree = np.zeros(n_detected, np.int64)
    nearest = np.full(n_detected, NEARNESS_CLASSES + 1, np.uint8)
    _list_partners(truth, detected, before, height, width, within, to, degree, nearest, partner, cost)
    if extra is not None:
        mask = np.empty(shape, np.bool_)
        unpack(detected, mask)
        detected_pixels = np.flatnonzero(mask)
        for block in range(0, half, EXTRA_BLOCK):
            part = slice(block, min(block + EXTRA_BLOCK, half))
            both = _pixels_of_pairs(truth, detected_pixels, start, partner, part)
            cost[part] += (_extra_steps(extra, extra_steps, *both) << to.tie_bits).astype(stored)
    np.cumsum(degree, out=start[n_truth + 1 :])
    start[n_truth + 1 :] += half
    _mirror(n_truth, start, start[n_truth:].copy(), partner, cost)
    return Pairs(start, partner, cost), to, nearest


def _pixels_of_pairs(
    truth: Int64s, detected: Int64s, start: Int64s, partner: Uint32s, part: slice
) -> tuple[Int64s, Int64s]:
    """The true and the detected pixels of some of the pairs."""
    starts = np.clip(start[: truth.size + 1], part.start, part.stop)
    return np.repeat(truth, np.diff(starts)), detected[partner[part].astype(np.int64) - truth.size]


def _extra_steps(extra: PairCost, most: int, truth: Int64s, detected: Int64s) -> Int64s:
    costs = extra(truth, detected)
    steps = np.rint(np.asarray(costs, np.float64) * STEPS_PER_PIXEL).astype(np.int64)
    if steps.size and (steps.min() < 0 or steps.max() > most):
        span = f"{steps.min() / STEPS_PER_PIXEL:g} to {steps.max() / STEPS_PER_PIXEL:g}"
        raise InputError(f"extra pair costs run from {span} pixels, expected 0 to {most / STEPS_PER_PIXEL:g}")
    return steps
