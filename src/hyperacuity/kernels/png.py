"""Undoing the row filters of PNG (ISO/IEC 15948, section 9).

Every byte was stored as its difference, modulo 256, from a guess made of three neighbours already known: left, above and upper
left, each one pixel away and 0 outside the picture. Adding the same guess again, in the same order, gives the byte back exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hyperacuity.kernels import allocating_kernel, kernel


@allocating_kernel
def unfilter(filters: NDArray[np.uint8], lines: NDArray[np.uint8], step: int) -> NDArray[np.uint8]:
    """The bytes of a picture from its filtered rows; ``step`` bytes make a pixel, ``filters`` holds each row's kind (0 … 4)."""
    height, width = lines.shape
    out = np.zeros((height + 1, width + step), dtype=np.uint8)  # a margin of zeros above and to the left
    for y in range(height):
        kind = filters[y]
        for x in range(width):
            # Made signed first: in numba, differences of unsigned bytes wrap around.
            left, above, corner = np.int64(out[y + 1, x]), np.int64(out[y, x + step]), np.int64(out[y, x])
            guess = np.int64(0)
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = above
            elif kind == 3:
                guess = (left + above) // 2
            elif kind == 4:
                guess = _paeth(left, above, corner)
            out[y + 1, x + step] = (lines[y, x] + guess) & 255
    return out[1:, step:].copy()


@kernel
def _paeth(left: np.int64, above: np.int64, corner: np.int64) -> np.int64:
    """Whichever neighbour is nearest to left + above − corner; ties go to left, then to above."""
    guess = left + above - corner
    to_left, to_above, to_corner = abs(guess - left), abs(guess - above), abs(guess - corner)
    if to_left <= to_above and to_left <= to_corner:
        return left
    return above if to_above <= to_corner else corner
