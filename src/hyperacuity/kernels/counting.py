"""The number of pixels of two maps that can be paired, at all thresholds of a soft map, and nothing else.

The exact matching of :mod:`hyperacuity.kernels.sweep` has as many pairs as possible and, among those, the least distance. Which
pairs they are matters where several annotators share a detected pixel, and to those who look at them; where one truth is counted,
the number is all. It takes no prices: a matching is largest when no augmenting path is left (Berge 1957), and each is found by a
breadth-first search. At every threshold,

1. detected pixels appear, one by one, while those that will disappear are still there: an augmenting path, if there is one now,
   starts at the new pixel;
2. the others disappear, all at once; then an augmenting path, if there is one, starts at a truth pixel that lost its partner.

(The other way round, a new pixel might take a truth pixel that just became free from one that waited for it, and the path from
that to a third would be missed.)

A search from a detected pixel that fails has reached a set of truth pixels that are all taken, by detected pixels that have no
other partners (a Hall set). No search that enters it can succeed, so it is closed to later ones, until a pixel that has a
partner disappears. In the same way, what a search from a truth pixel has reached in vain is closed until pixels appear.

No pair is ever stored. The pixels that a search may still go to are a set of bits, in tiles of 8 × 8. A tile is one word, so
that the members of a set within 37 pixels of another pixel (4300 places) are found by looking at some 90 words. A *position* is
``64 · tile + bit``. Tiles are numbered row by row over a grid with an empty margin as wide as the disc, so that no disc leaves
it. Those within the tolerance are found in some words of it, nearest first, and taken out as they are reached. So a search
looks at every pixel once, however many pairs there are, and memory grows with the picture, not with the tolerance.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from hyperacuity.kernels import Flags, Float32s, Float64s, Int32s, Int64s, Scalar, Uint64s, inlined_kernel, kernel
from hyperacuity.kernels.bits import LOW_SIX, ONE, lowest_bit
from hyperacuity.kernels.pairs import Reach
from hyperacuity.kernels.sweep import History, indices_of, trace

SIDE = 8


class TileGrid(NamedTuple):
    """Layout of the tiles of a picture: tiles in a row, tiles in all, and the width of the margin; margins included."""

    stride: int
    tiles: int
    margin: int


class Disc(NamedTuple):
    """Tiles that a tolerance covers, by their distance from the one in the middle, nearest first, and the mask of each.

    ``offset[k]`` is the tile's number less that of the middle one, ``mask[b, k]`` what a pixel at the
    middle one's bit b covers of it.
    """

    offset: Int64s
    mask: Uint64s


def grid_of(shape: tuple[int, int], within: Reach) -> TileGrid:
    """The grid for pictures of a shape, with a margin that discs of this reach do not leave."""
    margin = -(-(within.half_width.size // 2) // SIDE)
    rows, columns = (-(-n // SIDE) + 2 * margin for n in shape)
    return TileGrid(columns, rows * columns, margin)


def disc(within: Reach, grid: TileGrid) -> Disc:
    """The tiles that the disc about a pixel of the middle tile covers, for each of its 64 pixels."""
    rows, columns, mask = _masks(tuple(within.half_width.tolist()), grid.margin)
    return Disc(rows * grid.stride + columns, mask)


@lru_cache(maxsize=32)
def _masks(half_width: tuple[int, ...], margin: int) -> tuple[Int64s, Int64s, Uint64s]:
    """The covered tiles' rows and columns from the middle one, and their masks; the same for all pictures of a size."""
    count = 2 * margin + 1
    radius = len(half_width) // 2
    half = np.full(2 * SIDE * count + 1, -1)
    half[SIDE * count - radius : SIDE * count + radius + 1] = half_width
    places = np.arange(count * SIDE) - margin * SIDE
    masks = np.empty((64, count, count), np.uint64)
    for bit in range(64):
        dy, dx = places - bit // SIDE, places - bit % SIDE
        masks[bit] = pack_tiles(np.abs(dx) <= half[dy + SIDE * count][:, None])
    rows, columns = np.nonzero(masks.any(axis=0))
    nearest_first = np.argsort((rows - margin) ** 2 + (columns - margin) ** 2, kind="stable")
    rows, columns = rows[nearest_first], columns[nearest_first]
    return rows - margin, columns - margin, np.ascontiguousarray(masks[:, rows, columns])


def pack_tiles(flags: Flags) -> Uint64s:
    """A map whose sides are multiples of 8 as a matrix of tiles.

    >>> pack_tiles(np.eye(8, dtype=bool)).item() == sum(1 << 9 * n for n in range(8))
    True
    """
    rows, columns = (n // SIDE for n in flags.shape)
    tiles = flags.reshape(rows, SIDE, columns, SIDE).swapaxes(1, 2).reshape(rows, columns, SIDE * SIDE)
    return np.packbits(tiles, axis=2, bitorder="little").view("<u8")[..., 0].astype(np.uint64)


def positions(index: Int64s, width: int, grid: TileGrid) -> Int32s:
    """The positions of pixels given by flat indices."""
    at = np.empty(index.size, np.int32)
    _locate(index, width, grid.stride, grid.margin, at)
    return at


@kernel
def _locate(index: Int64s, width: Scalar, stride: Scalar, margin: Scalar, at: Int32s) -> None:
    for i in range(index.size):
        y = index[i] // width
        x = index[i] - y * width
        tile = ((y >> 3) + margin) * stride + (x >> 3) + margin
        at[i] = (tile << 6) + ((y & 7) << 3) + (x & 7)


@kernel
def insert(tiles: Uint64s, at: Scalar) -> None:
    """Put a position into a set."""
    tiles[at >> 6] |= ONE << (np.uint64(at) & LOW_SIX)


@kernel
def remove(tiles: Uint64s, at: Scalar) -> None:
    """Take a position out of a set."""
    tiles[at >> 6] &= ~(ONE << (np.uint64(at) & LOW_SIX))


@kernel
def insert_all(tiles: Uint64s, at: Int32s) -> None:
    """Put positions into a set."""
    for i in range(at.size):
        insert(tiles, at[i])


FREE = np.int32(-1)


class _Side(NamedTuple):
    """One of the two maps: the partner of each pixel, by position; the pixels a search may reach, and those without a partner.

    ``closed`` lists those that were reached in vain and are not to be reached again for now.
    """

    mate: Int32s
    open: Uint64s
    free: Uint64s
    closed: Int32s


@kernel
def _flip(own: Int32s, other: Int32s, came_from: Int32s, end: Scalar) -> None:
    """Exchange the pairs along the path that ends at a free pixel of the other side."""
    y = end
    while y != FREE:
        x = came_from[y]
        after = own[x]
        own[x] = y
        other[y] = x
        y = after


@inlined_kernel
def _augment(own: _Side, other: _Side, around: Disc, came_from: Int32s, queue: Int32s, root: Scalar) -> Scalar:
    """Look for an augmenting path from a free pixel, and flip it. Returns −1 if there was one.

    If there is none, the pixels of the other side that were reached are closed: returned is how many, and their partners are
    ``queue[1:]``.
    """
    queue[0] = root
    first, last = 0, 1
    while first < last:
        x = np.int64(queue[first])
        first += 1
        tile, bit = x >> 6, x & 63
        for k in range(around.offset.size):
            at = tile + around.offset[k]
            reached = other.open[at] & around.mask[bit, k]
            if reached == 0:
                continue
            ends = reached & other.free[at]
            if ends != 0:
                for i in range(1, last):
                    insert(other.open, own.mate[queue[i]])
                y = (at << 6) + np.int64(lowest_bit(ends))
                came_from[y] = x
                _flip(own.mate, other.mate, came_from, y)
                remove(other.free, y)
                remove(own.free, root)
                return -1
            other.open[at] ^= reached
            while reached != 0:
                y = (at << 6) + np.int64(lowest_bit(reached))
                reached &= reached - ONE
                came_from[y] = x
                queue[last] = other.mate[y]
                last += 1
    return last - 1


@kernel
def _close(own: _Side, other: _Side, queue: Int32s, count: Scalar, closed: Scalar) -> Scalar:
    """Note the pixels that were reached in vain; returns how many such there are now."""
    for i in range(count):
        other.closed[closed + i] = own.mate[queue[i + 1]]
    return closed + count


@kernel
def _reopen(side: _Side, closed: Scalar) -> None:
    for i in range(closed):
        insert(side.open, side.closed[i])


@kernel
def _count(
    truth: _Side,
    detected: _Side,
    around: Disc,
    change: Int32s,
    at: Int32s,
    first: Int64s,
    came_from: Int32s,
    queue: Int32s,
    waiting: Int32s,
    matched: Int64s,
) -> None:
    """The number of pairs at each step; ``at`` are the positions of the detected pixels."""
    size, none = 0, np.int64(0)  # a plain 0 would be a type of its own
    truth_closed = none
    for step in range(1, first.size - 1):
        for i in range(first[step], first[step + 1]):
            if change[i] > 0:
                d = at[change[i] - 1]
                insert(detected.open, d)
                insert(detected.free, d)
                in_vain = _augment(detected, truth, around, came_from, queue, d)
                if in_vain < 0:
                    size += 1
                else:
                    truth_closed = _close(detected, truth, queue, in_vain, truth_closed)
        n_waiting = 0
        for i in range(first[step], first[step + 1]):
            if change[i] < 0:
                d = at[-change[i] - 1]
                remove(detected.open, d)
                remove(detected.free, d)
                g = detected.mate[d]
                if g != FREE:
                    detected.mate[d] = FREE
                    truth.mate[g] = FREE
                    insert(truth.free, g)
                    waiting[n_waiting] = g
                    n_waiting += 1
                    size -= 1
        if n_waiting > 0:
            _reopen(truth, truth_closed)
            truth_closed = none
            detected_closed = none
            for i in range(n_waiting):
                in_vain = _augment(truth, detected, around, came_from, queue, waiting[i])
                if in_vain < 0:
                    size += 1
                else:
                    detected_closed = _close(truth, detected, queue, in_vain, detected_closed)
            _reopen(detected, detected_closed)
        matched[step] = size


def _new_side(tiles: int, at: Int32s, pairs: int) -> _Side:
    """A map of pixels without partners; there will be ``pairs`` at most."""
    open_ = np.zeros(tiles, np.uint64)
    insert_all(open_, at)
    return _Side(np.full(64 * tiles, FREE, np.int32), open_, open_.copy(), np.empty(pairs, np.int32))


def count_pairs(history: History, truth: Int64s, shape: tuple[int, int], within: Reach) -> Int64s:
    """The number of pairs at each step of a history; ``truth`` are flat indices."""
    grid = grid_of(shape, within)
    truth_side = _new_side(grid.tiles, positions(truth, shape[1], grid), truth.size)
    detected_side = _new_side(grid.tiles, np.empty(0, np.int32), truth.size)
    at = positions(indices_of(history, shape), shape[1], grid)
    came_from, queue = np.empty(64 * grid.tiles, np.int32), np.empty(truth.size + 1, np.int32)
    waiting, matched = np.empty(truth.size, np.int32), np.zeros(history.first.size - 1, np.int64)
    around = disc(within, grid)
    _count(truth_side, detected_side, around, history.change, at, history.first, came_from, queue, waiting, matched)
    return matched


def sweep_counts(
    soft: Float32s, truth: Flags, thresholds: Float64s, within: Reach, *, thin: bool, without: Flags | None = None
) -> tuple[Int64s, Int64s, Int64s]:
    """Count at every threshold (rising) detected pixels with a partner in one truth map, all of them, and those before thinning.

    The same numbers as those of :func:`hyperacuity.kernels.sweep.sweep`. An empty truth gives no pairs.
    """
    history = trace(soft, thresholds, thin=thin, without=without)
    at = history.step_of_threshold
    indices = np.flatnonzero(truth)
    matched = count_pairs(history, indices, soft.shape, within)
    return matched[at], history.detected[at], history.marked
