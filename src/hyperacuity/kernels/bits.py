"""Images of one bit per pixel, 64 pixels to a machine word.

Layout: a flat ``uint64`` array of ``(height + 2)`` rows of ``stride = words + 1`` words, where ``words = ⌈width / 64⌉``. One
zero word stands before every row (and one after the last), one zero row above and below, so that a pixel's eight neighbours
can be read by shifts without asking whether they exist. Pixel (y, x) is bit ``x & 63`` of word
``(y + 1) · stride + 1 + (x >> 6)``; the bits beyond the width are always zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from hyperacuity.kernels import Flags, Scalar, Uint8s, Uint32s, Uint64s, kernel

Bits = Uint64s

ONE = np.uint64(1)
SIX = np.uint64(6)
LOW_SIX = np.uint64(63)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def _one_instruction(emit: Callable[[Any, Any, Any], Any]) -> Callable[[Scalar], Scalar]:
    """A function of one 64-bit word that becomes a single machine instruction inside a kernel."""

    def typed(typing_context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return emit(context, builder, arguments[0])

        return types.uint64(types.uint64), generate

    compiled: Callable[[Scalar], Scalar] = intrinsic(typed)
    return compiled


lowest_bit = _one_instruction(
    lambda context, builder, word: builder.cttz(word, context.get_constant(types.boolean, False))
)
"""Position of the lowest set bit of a word that is not zero."""

count_bits = _one_instruction(lambda context, builder, word: builder.ctpop(word))
"""Number of set bits of a word."""


def words_per_row(width: int) -> int:
    """Words that hold a row's pixels, without the zero word before them."""
    return (width + 63) // 64


def empty(height: int, width: int) -> Bits:
    """An image with no pixel set."""
    return np.zeros((height + 2) * (words_per_row(width) + 1) + 1, np.uint64)


@kernel
def pack(mask: Flags, bits: Bits) -> None:
    """Set in ``bits``, which must be empty, the pixels of a boolean image."""
    height, width = mask.shape
    stride = (width + 63) // 64 + 1
    for y in range(height):
        row = (y + 1) * stride + 1
        for x in range(width):
            if mask[y, x]:
                bits[row + (x >> 6)] |= ONE << np.uint64(x & 63)


@kernel
def unpack(bits: Bits, mask: Flags) -> None:
    """Write a bit image into a boolean image, all of whose pixels are overwritten."""
    height, width = mask.shape
    stride = (width + 63) // 64 + 1
    for y in range(height):
        row = (y + 1) * stride + 1
        for x in range(width):
            mask[y, x] = (bits[row + (x >> 6)] >> np.uint64(x & 63)) & ONE != 0


def unpack_rows(words: Uint64s, count: int) -> Uint8s:
    """The first bits of each row of words, the lowest of each word first, as numbers 0 and 1."""
    return np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, bitorder="little", count=count)


@kernel
def rank(bits: Bits, before: Uint32s) -> Scalar:
    """Count the pixels before every word, in raster order; returns the number of all pixels."""
    total = 0
    for i in range(bits.size):
        before[i] = total
        total += np.int64(count_bits(bits[i]))
    return total
