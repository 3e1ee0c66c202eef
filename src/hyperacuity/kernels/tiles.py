"""Sets of pixels in tiles of 8 × 8, a bit each, and the disc about a pixel as a mask of such tiles.

A tile is one word, so that the members of a set within 37 pixels of another pixel (4300 places) are found by looking at some 90
words. A *position* is ``64 · tile + bit``. Tiles are numbered row by row over a grid with an empty margin as wide as the disc, so
that no disc leaves it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from hyperacuity.kernels import Flags, Int32s, Int64s, Scalar, Uint64s, kernel
from hyperacuity.kernels.bits import LOW_SIX, ONE
from hyperacuity.kernels.pairs import Reach

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
