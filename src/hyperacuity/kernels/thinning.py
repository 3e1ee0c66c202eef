"""Thinning to one-pixel lines, equal to MATLAB's ``bwmorph(…, 'thin', Inf)``.

The rule is Guo & Hall's two-subiteration thinning (CACM 1989, algorithm A1) in the form Lam, Lee & Suen (1992) give. With the
eight neighbours of a pixel numbered anticlockwise from east, x₁ … x₈, a set pixel is deleted when

* G1: its crossing number is one, that is exactly one i of 1 … 4 has x₂ᵢ₋₁ = 0 and (x₂ᵢ = 1 or x₂ᵢ₊₁ = 1);
* G2: 2 ≤ min(n₁, n₂) ≤ 3, where n₁ counts the i with x₂ᵢ₋₁ ∨ x₂ᵢ, and n₂ those with x₂ᵢ ∨ x₂ᵢ₊₁ (x₉ = x₁);
* G3: in the first subiteration (x₂ ∨ x₃ ∨ ¬x₈) ∧ x₁ = 0, in the second (x₆ ∨ x₇ ∨ ¬x₄) ∧ x₅ = 0.

All pixels of a subiteration are judged on the image as it was before it; subiterations alternate until two in a row delete
nothing. Here 64 pixels are judged at once: every xᵢ is a word, every condition a few logical operations on words. A row is
looked at again only while it or a row beside it changed since this kind of subiteration last saw it; the others cannot change.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Flags, Int32s, Scalar, Uint64s, kernel
from hyperacuity.kernels.bits import LOW_SIX, ONE, Bits, empty, pack, unpack, words_per_row


@kernel
def _deletable(above: Bits, row: Bits, below: Bits, j: Scalar, first: Scalar) -> Scalar:
    """The pixels of word ``j`` that one subiteration deletes. The pixel east of bit k is bit k + 1."""
    north, centre, south = above[j], row[j], below[j]
    east = (centre >> ONE) | (row[j + 1] << LOW_SIX)
    west = (centre << ONE) | (row[j - 1] >> LOW_SIX)
    north_east = (north >> ONE) | (above[j + 1] << LOW_SIX)
    north_west = (north << ONE) | (above[j - 1] >> LOW_SIX)
    south_east = (south >> ONE) | (below[j + 1] << LOW_SIX)
    south_west = (south << ONE) | (below[j - 1] >> LOW_SIX)

    # The four pairs that n2 counts, which G1 needs too, and the four that n1 counts.
    ne_n, nw_w, sw_s, se_e = north_east | north, north_west | west, south_west | south, south_east | east
    e_ne, n_nw, w_sw, s_se = east | north_east, north | north_west, west | south_west, south | south_east

    # G1: exactly one of four crossings.
    c1, c2, c3, c4 = ~east & ne_n, ~north & nw_w, ~west & sw_s, ~south & se_e
    one_crossing = ((c1 | c2) ^ (c3 | c4)) & ~((c1 & c2) | (c3 & c4))

    # G2: both counts at least two, and not both four.
    n1_low, n1_high = e_ne & n_nw, w_sw & s_se
    n2_low, n2_high = ne_n & nw_w, sw_s & se_e
    n1_two = n1_low | n1_high | ((e_ne | n_nw) & (w_sw | s_se))
    n2_two = n2_low | n2_high | ((ne_n | nw_w) & (sw_s | se_e))
    counts = n1_two & n2_two & ~(n1_low & n1_high & n2_low & n2_high)

    spared = (ne_n | ~south_east) & east if first else (sw_s | ~north_west) & west
    return centre & one_crossing & counts & ~spared


@kernel
def thin_bits(bits: Bits, height: Scalar, words: Scalar, changed_at: Int32s, rows: Uint64s) -> None:
    """Thin a bit image in place.

    ``changed_at`` (height + 2) and ``rows`` (2 × (words + 2)) are scratch: the subiteration in which a row last changed, and the
    row above and the row itself as they were before this subiteration.
    """
    stride = words + 1
    for y in range(height + 2):
        changed_at[y] = 0
    turn = 0
    quiet = 0
    above, centre = rows[0], rows[1]
    while quiet < 2:
        turn += 1
        first = turn & 1 == 1
        deleted_any = False
        above_is_kept = False
        above_changed_at = changed_at[0]
        for y in range(1, height + 1):
            this_changed_at = changed_at[y]
            settled = turn > 2 and max(above_changed_at, this_changed_at, changed_at[y + 1]) < turn - 2
            above_changed_at = this_changed_at
            if settled:
                above_is_kept = False
                continue
            row = bits[y * stride : y * stride + words + 2]
            below = bits[(y + 1) * stride : (y + 1) * stride + words + 2]
            if not above_is_kept:
                for j in range(words + 2):
                    above[j] = bits[(y - 1) * stride + j]
            for j in range(words + 2):
                centre[j] = row[j]
            deleted_here = np.uint64(0)
            for j in range(1, words + 1):
                deleted = _deletable(above, centre, below, j, first)
                row[j] = centre[j] & ~deleted
                deleted_here |= deleted
            above, centre = centre, above
            above_is_kept = True
            if deleted_here != 0:
                changed_at[y] = turn
                deleted_any = True
        quiet = 0 if deleted_any else quiet + 1


def thin(mask: Flags) -> Flags:
    """Thin a boolean image until nothing changes, as MATLAB's ``bwmorph(mask, 'thin', Inf)`` does; an empty one stays empty.

    >>> bar = np.zeros((5, 9), dtype=bool)
    >>> bar[1:4, 1:8] = True
    >>> thin(bar).astype(int)
    array([[0, 0, 0, 0, 0, 0, 0, 0, 0],
           [0, 0, 0, 0, 0, 0, 0, 0, 0],
           [0, 0, 1, 1, 1, 1, 1, 0, 0],
           [0, 0, 0, 0, 0, 0, 0, 0, 0],
           [0, 0, 0, 0, 0, 0, 0, 0, 0]])
    """
    height, width = mask.shape
    words = words_per_row(width)
    bits = empty(height, width)
    pack(mask, bits)
    thin_bits(bits, height, words, np.zeros(height + 2, np.int32), np.zeros((2, words + 2), np.uint64))
    thinned = np.empty(mask.shape, np.bool_)
    unpack(bits, thinned)
    return thinned
