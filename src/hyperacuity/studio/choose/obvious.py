"""Questions whose answer is plain to see, for practice and to tell who pays attention.

One mark lies on the steepest edge of a photograph, the other is the same shape laid where the photograph is flattest. Both keep
away from the marks of all trials, so that what people learn here says nothing about those.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from hyperacuity.audit.trials import EIGHT, RADIUS
from hyperacuity.detect.gradient import canny

Pixels = tuple[tuple[int, int], ...]

CONTRAST = 4.0
"""How much steeper the photograph must be along one mark than anywhere around the other."""

LONG = 12
NOISE = 0.02
"""What steepness (a step from black to white is 1) cannot be seen anyway."""


class Obvious(NamedTuple):
    """The two marks, and how much they differ."""

    contrast: float
    strong: Pixels
    weak: Pixels


def obvious_marks(picture: NDArray[np.uint8], taken: Iterable[Pixels]) -> Obvious | None:
    """A mark on the steepest edge and one where there is none, away from the pixels taken; None if the answer is not plain.

    Examples
    --------
    >>> picture = np.zeros((100, 150, 3), np.uint8)
    >>> picture[:, 40:] = 200
    >>> marks = obvious_marks(picture, [])
    >>> {column for _, column in marks.strong} <= {39, 40}, any(40 <= column <= 41 for _, column in marks.weak)
    (True, False)
    """
    seen = canny(picture, sigma=2.0, thin_norm="none")
    free = _away_from(taken, seen.thin.shape)
    strong = _steepest(np.where(free, seen.thin, np.float32(0)))
    if strong is None:
        return None
    centre, pixels = strong
    # A pixel is as flat as the steepest one around it.
    around = ndimage.maximum_filter(seen.strength, size=2 * RADIUS + 1)
    free &= _away_from([(centre,)], free.shape)
    if not free.any():
        return None
    flat = np.unravel_index(int(np.argmin(np.where(free, around, np.inf))), free.shape)
    contrast = float(np.mean(seen.strength[tuple(pixels.T)]) / (around[flat] + NOISE))
    if contrast < CONTRAST:
        return None
    return Obvious(contrast, _as_tuple(pixels), _as_tuple(pixels - np.array(centre) + np.array(flat)))


def _away_from(marks: Iterable[Pixels], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Where the window of a new mark fits into the picture and meets no window around the marks."""
    taken = np.zeros(shape, np.bool_)
    for pixels in marks:
        taken[tuple(np.array(pixels).T)] = True
    free = ~ndimage.maximum_filter(taken, size=4 * RADIUS + 1, mode="constant")
    inside = np.zeros(shape, np.bool_)
    inside[RADIUS : shape[0] - RADIUS, RADIUS : shape[1] - RADIUS] = True
    return np.asarray(free & inside)


def _steepest(ridge: NDArray[np.float32]) -> tuple[tuple[int, int], NDArray[np.int64]] | None:
    """The steepest pixel of a ridge that goes on for long enough within its window, and that piece of it."""
    for index in np.argsort(-ridge, axis=None, kind="stable")[:200]:
        row, column = (int(at) for at in np.unravel_index(int(index), ridge.shape))
        if ridge[row, column] <= NOISE:
            return None
        top, left = row - RADIUS, column - RADIUS
        window = ridge[max(top, 0) : row + RADIUS + 1, max(left, 0) : column + RADIUS + 1]
        pieces, _ = ndimage.label(window >= ridge[row, column] / 2, EIGHT)
        pixels = np.argwhere(pieces == pieces[row - max(top, 0), column - max(left, 0)])
        if len(pixels) >= LONG:
            return (row, column), pixels + np.array([max(top, 0), max(left, 0)])
    return None


def _as_tuple(pixels: NDArray[np.int64]) -> Pixels:
    return tuple((int(row), int(column)) for row, column in pixels)
