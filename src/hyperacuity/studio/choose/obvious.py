"""Questions whose answer is plain to see, for practice and to tell who pays attention.

One mark lies on a steep edge of a photograph; the other has the shape of some edge too, but lies where the photograph is flat.
Both keep away from the marks of all trials, so that what people learn here says nothing about those. Apart from the answer, such
a question imitates a trial of another photograph: its marks are about as long, and lie about where that trial's do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from hyperacuity.audit.partial import number_of
from hyperacuity.audit.trials import RADIUS
from hyperacuity.detect.gradient import canny
from hyperacuity.kernels.thinning import thin

Pixels = tuple[tuple[int, int], ...]
Points = NDArray[np.int64]
Form = tuple[int, int, int]
"""Number of pixels of a mark, its height and its width."""

CONTRAST = 4.0
"""Least ratio of the photograph's steepness along one mark to that anywhere around the other."""

STEEP = 0.6
"""Least steepness of an edge that is marked, as a share of the steepest."""

NOISE = 0.02
"""Steepness that nobody can see (a step from black to white is 1)."""

TRIED = 100
"""Around how many pixels a piece of the right form is looked for."""


class Obvious(NamedTuple):
    """The two marks, and how much they differ."""

    contrast: float
    strong: Pixels
    weak: Pixels


class Imitated(NamedTuple):
    """A trial to imitate: the forms of its two marks, and where they lie, as shares of the picture's height and width."""

    forms: tuple[Form, Form] = ((12, 12, 12), (12, 12, 12))
    places: tuple[tuple[float, float], tuple[float, float]] = ((0.5, 0.5), (0.5, 0.5))


ANYTHING = Imitated()


def obvious_marks(
    picture: NDArray[np.uint8], taken: Iterable[Pixels], like: Imitated = ANYTHING, *, name: str = ""
) -> Obvious | None:
    """A mark on a steep edge and one where there is none, away from the pixels taken; None if the answer is not plain.

    The marks are like those of a trial as far as the photograph allows. ``name`` is what chance depends on.

    Examples
    --------
    >>> picture = np.zeros((100, 150, 3), np.uint8)
    >>> picture[:, 40:] = 200
    >>> marks = obvious_marks(picture, [])
    >>> {column for _, column in marks.strong} <= {39, 40}, any(40 <= column <= 41 for _, column in marks.weak)
    (True, False)
    """
    words = np.random.PCG64(np.random.SeedSequence(number_of(name)))
    turns = (words.random_raw(3) & 1).astype(bool)
    seen = canny(picture, sigma=2.0, thin_norm="none")
    ridge = np.where(thin(seen.thin > NOISE), seen.thin, np.float32(0))
    shape = ridge.shape
    one, other = (0, 1) if turns[0] else (1, 0)
    free = _away_from(taken, shape)
    steep = np.where(free, ridge, np.float32(0))
    if min(shape) <= 2 * RADIUS or not steep.any():
        return None
    candidates = _by_distance(steep >= STEEP * steep.max(), like.places[one])
    centre, strong = _best_piece(ridge, candidates, like.forms[one])
    anywhere = np.argwhere(ridge)
    shuffled = anywhere[np.argsort(words.random_raw(len(anywhere)), kind="stable")]
    middle, pixels = _best_piece(ridge, shuffled, like.forms[other])
    outline = (pixels - middle) * np.where(turns[1:3], 1, -1)
    strength = float(np.mean(seen.strength[tuple(strong.T)]))
    # A pixel is as flat as the steepest one around it.
    around = ndimage.maximum_filter(seen.strength, size=2 * RADIUS + 1)
    flat = (
        free
        & _away_from([_as_tuple(centre[None])], shape)
        & (CONTRAST * (around + NOISE) <= strength)
        & _fits(outline, shape)
    )
    places = _by_distance(flat, like.places[other])
    if not len(places):
        return None
    return Obvious(
        strength / float(around[tuple(places[0])] + NOISE), _as_tuple(strong), _as_tuple(outline + places[0])
    )


def form_of(pixels: Sequence[tuple[int, int]]) -> Form:
    """The form of a mark."""
    height, width = np.ptp(pixels, axis=0) + 1
    return len(pixels), int(height), int(width)


def _away_from(marks: Iterable[Pixels], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Map of the pixels at which the window of a new mark meets no window around the marks."""
    taken = np.zeros(shape, np.bool_)
    for pixels in marks:
        taken[tuple(np.array(pixels).T)] = True
    return np.asarray(~ndimage.maximum_filter(taken, size=4 * RADIUS + 1, mode="constant"))


def _fits(outline: Points, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Map of the pixels at which an outline fits into the picture."""
    inside = np.zeros(shape, np.bool_)
    low, high = outline.min(axis=0), outline.max(axis=0)
    inside[max(-low[0], 0) : shape[0] - max(high[0], 0), max(-low[1], 0) : shape[1] - max(high[1], 0)] = True
    return inside


def _by_distance(where: NDArray[np.bool_], place: tuple[float, float]) -> Points:
    """The pixels of a map, those nearest to a place first."""
    points = np.argwhere(where)
    gaps = np.abs(points - np.array(place) * where.shape).max(axis=1)
    return points[np.argsort(gaps, kind="stable")]


def _best_piece(ridge: NDArray[np.float32], centres: Points, form: Form) -> tuple[Points, Points]:
    """One of the centres, and the piece of a ridge around it: the one most like a form."""
    pieces = [_piece(ridge, centre, form[0]) for centre in centres[:TRIED]]
    misfits = [np.abs(np.subtract(form_of(pixels), form)).sum() for pixels in pieces]
    best = int(np.argmin(misfits))
    return centres[best], np.array(pieces[best])


def _piece(ridge: NDArray[np.float32], centre: Points, size: int) -> list[tuple[int, int]]:
    """The pixels of a ridge that are connected with a pixel within its window, ``size`` at most, the nearest on the way first."""
    corner = np.maximum(centre - RADIUS, 0)
    window = ridge[tuple(slice(low, at + RADIUS + 1) for low, at in zip(corner, centre, strict=True))]
    left = {(row, column) for row, column in (np.argwhere(window >= ridge[tuple(centre)] / 4) + corner).tolist()}
    reached = [(int(centre[0]), int(centre[1]))]
    for row, column in reached:  # which grows meanwhile
        around = {(row + down, column + across) for down in (-1, 0, 1) for across in (-1, 0, 1)} & left
        left -= around
        reached += sorted(around - {reached[0]})
        if len(reached) >= size:
            break
    return reached[:size]


def _as_tuple(pixels: Points) -> Pixels:
    return tuple(sorted((int(row), int(column)) for row, column in pixels))
