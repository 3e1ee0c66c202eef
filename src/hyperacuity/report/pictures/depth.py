"""Pictures of one image for occlusion boundaries, pairs of points and depth boundaries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from hyperacuity.kernels.distances import squared_distances
from hyperacuity.maps import EdgeMap
from hyperacuity.ordering import Contours, LocalMatch, PointPairs
from hyperacuity.report import theme
from hyperacuity.report.pictures.colours import DARK, DEPTHS, FAINT, Picture, plain, ramp, rgb
from hyperacuity.report.pictures.ordering import MATCHED, matching_picture

LONGEST = 1200
"""Pairs of points are drawn on an enlarged image, up to 4 times as large, whose longer side keeps within this."""

SPACING, TICK = 9, 5.0
"""The side of the squares that have one tick each, and the length of a tick, both in pixels."""

RIGHT_TO_FAR = (theme.HIT, theme.INCONSISTENT, theme.FALSE)


def enlargement(shape: Sequence[int]) -> int:
    """Factor by which the picture of an image's pairs of points is larger than the image.

    >>> enlargement((100, 200)), enlargement((1500, 900))
    (4, 1)
    """
    return max(1, min(4, LONGEST // max(shape[:2])))


def owned_picture(owned: Contours) -> Picture:
    """Boundaries with ticks that point to the side in front, on dark."""
    picture = plain(owned.pixels.shape, DARK)
    picture[owned.pixels] = rgb("#c9ccd3")
    return _with_ticks(picture, owned, np.full(owned.pixels.shape, 1, np.uint8), {1: DEPTHS[-1]})


def sides_picture(found: LocalMatch) -> Picture:
    """Boundaries as :func:`matching_picture` draws them, each with ticks to the side that the system has in front."""
    return _with_ticks(matching_picture(found), found.detected, found.detected_codes(), MATCHED)


def _with_ticks(picture: Picture, owned: Contours, codes: NDArray[np.uint8], colours: dict[int, str]) -> Picture:
    """The picture with ticks from some pixels of the boundaries into the near side, coloured by their codes."""
    drawn = Image.fromarray(picture)
    pen = ImageDraw.Draw(drawn)
    ys, xs = np.nonzero(owned.pixels & ~np.isnan(owned.angle))
    squares = (ys // SPACING) * picture.shape[1] + xs // SPACING
    _, first = np.unique(squares, return_index=True)
    for y, x in zip(ys[first].tolist(), xs[first].tolist(), strict=True):
        toward = np.radians(owned.angle[y, x] + 180)
        if colour := colours.get(int(codes[y, x])):
            pen.line([x, y, round(x + TICK * np.cos(toward)), round(y + TICK * np.sin(toward))], fill=colour)
    return np.asarray(drawn)


def pairs_picture(ground: Picture, pairs: PointPairs, said: NDArray[np.int64]) -> Picture:
    """Pairs of points on a picture that is made pale: joined green where the answer is right, vermilion where it is wrong.

    The point that was judged nearer is filled; of equal ones both are open.
    """
    scale = enlargement(ground.shape)
    pale = (0.45 * ground.astype(np.float64) + 0.55 * 255).astype(np.uint8)
    large = Image.fromarray(pale).resize([scale * n for n in ground.shape[1::-1]], Image.Resampling.BILINEAR)
    pen = ImageDraw.Draw(large)
    size = max(3, max(large.size) // 150)
    right = said == pairs.relation
    # Wrong ones last, so that they are on top where there are many.
    for n in np.argsort(~right, kind="stable").tolist():
        colour = theme.HIT if right[n] else theme.FALSE
        one, other = ((pairs.first[n, ::-1] + 0.5) * scale, (pairs.second[n, ::-1] + 0.5) * scale)
        pen.line([*one, *other], fill=colour, width=max(1, size // 3))
        for (x, y), nearer in ((one, pairs.relation[n] > 0), (other, pairs.relation[n] < 0)):
            inside = colour if nearer else theme.GROUND
            pen.ellipse([x - size, y - size, x + size, y + size], fill=inside, outline=colour, width=max(1, size // 3))
    return np.asarray(large)


def edge_distance_picture(predicted: EdgeMap, true: EdgeMap, reach: float) -> Picture:
    """Depth edges on dark: predicted ones from green (on a true one) over yellow to vermilion (``reach`` pixels off or more).

    True edges are faint; blue where no predicted one is within reach.
    """
    picture = plain(true.shape, DARK)
    picture[true] = rgb(FAINT)
    picture[true & (_distances(predicted) >= reach)] = rgb(theme.MISS)
    picture[predicted] = ramp(np.minimum(_distances(true)[predicted] / reach, 1), RIGHT_TO_FAR)
    return picture


def _distances(edges: EdgeMap) -> NDArray[np.float64]:
    return np.sqrt(squared_distances(edges)) if edges.any() else np.full(edges.shape, np.inf)
