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

from hyperacuity.kernels import Flags, Int32s, Scalar, kernel
from hyperacuity.kernels.bits import LOW_SIX, ONE, Bits, empty, pack, unpack, words_per_row


@kernel
def _deletable(bits: Bits, i: Scalar, stride: Scalar, first: Scalar) -> Scalar:
    """The pixels of word ``i`` that one subiteration deletes. The pixel east of bit k is bit k + 1."""
    above, below = i - stride, i + stride
    north, centre, south = bits[above], bits[i], bits[below]
    east = (centre >> ONE) | (bits[i + ONE] << LOW_SIX)
    west = (centre << ONE) | (bits[i - ONE] >> LOW_SIX)
    north_east = (north >> ONE) | (bits[above + ONE] << LOW_SIX)
    north_west = (north << ONE) | (bits[above - ONE] >> LOW_SIX)
    south_east = (south >> ONE) | (bits[below + ONE] << LOW_SIX)
    south_west = (south << ONE) | (bits[below - ONE] >> LOW_SIX)

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
def _judge_rows(bits: Bits, after: Bits, stride: Scalar, top: Scalar, bottom: Scalar, first: Scalar) -> None:
    """Write to ``after`` the rows from ``top`` to ``bottom`` (exclusive) of ``bits`` after one subiteration.

    The zero words between rows are judged with the rest and stay zero, so that this is one plain loop, which the compiler turns
    into instructions on several words at once.
    """
    for i in range(top * stride + ONE, bottom * stride):
        after[i] = bits[i] & ~_deletable(bits, i, stride, first)


@kernel
def _note_changes(
    bits: Bits, after: Bits, stride: Scalar, top: Scalar, bottom: Scalar, turn: Scalar, changed_at: Int32s
) -> Scalar:
    """Set ``changed_at`` of the rows in which two bit images differ to ``turn``; true if there are any."""
    any_changed = False
    for y in range(top, bottom):
        differing = np.uint64(0)
        for i in range(y * stride + ONE, (y + ONE) * stride):
            differing |= bits[i] ^ after[i]
        if differing != 0:
            changed_at[y] = turn
            any_changed = True
    return any_changed


@kernel
def thin_bits(bits: Bits, height: Scalar, words: Scalar, changed_at: Int32s, spare: Bits) -> None:
    """Thin a bit image in place.

    ``changed_at`` (height + 2) and ``spare`` are scratch: the subiteration in which a row last changed, and a second bit image,
    whose margins must be zero. The two images take turns: one is judged, the other written. A row that is settled is the same
    in both.
    """
    stride = np.uint64(words + 1)
    for y in range(height + 2):
        changed_at[y] = 0
    now, after = bits, spare
    turn = 0
    quiet = 0
    while quiet < 2:
        turn += 1
        quiet += 1
        y = 1
        while y <= height:
            top = y
            while y <= height and max(changed_at[y - 1], changed_at[y], changed_at[y + 1]) >= turn - 2:
                y += 1
            if y > top:
                _judge_rows(now, after, stride, np.uint64(top), np.uint64(y), turn & 1 == 1)
                if _note_changes(now, after, stride, np.uint64(top), np.uint64(y), turn, changed_at):
                    quiet = 0
            y += 1
        now, after = after, now


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
    thin_bits(bits, height, words, np.zeros(height + 2, np.int32), np.zeros_like(bits))
    thinned = np.empty(mask.shape, np.bool_)
    unpack(bits, thinned)
    return thinned
