"""Pictures of maps, small enough for a sheet: edges in the colours of hits and misses, objects each in a colour of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.maps import VOID, LabelMap, edge_map, same_size
from hyperacuity.report import theme
from hyperacuity.report.pictures.colours import UNKNOWN, plain, rgb

TINTS = ("#56B4E9", "#CC79A7", "#E69F00", "#8F7BC6", "#5DA06A", "#B5651D", "#9AA5B1", "#6E6E9E")
"""Colours that neighbouring ids differ in; hits, false alarms and misses have others."""


def edge_picture(truth: ArrayLike, detected: ArrayLike, *, side: int | None = None) -> NDArray[np.uint8]:
    """Hits, false and missed pixels of an edge map on white, H×W×3.

    With ``side``, the picture is made smaller so that neither side is longer: each of its pixels stands for a block and
    shows the block's hits before its false, and its false before its missed pixels, so that thin lines do not fade.

    Examples
    --------
    >>> edge_picture([[1, 0, 1]], [[1, 1, 0]])[0].tolist() == [list(rgb(c)) for c in (
    ...     theme.HIT, theme.FALSE, theme.MISS)]
    True
    """
    true, found = edge_map(truth, name="truth"), edge_map(detected, name="detection")
    same_size(found, true, names=("detection", "truth"))
    block = 1 if side is None else -(-max(true.shape) // side)
    picture = plain(_any(true, block).shape, theme.GROUND)
    for where, colour in ((true & ~found, theme.MISS), (found & ~true, theme.FALSE), (true & found, theme.HIT)):
        picture[_any(where, block)] = rgb(colour)
    return picture


def _any(where: NDArray[np.bool_], block: int) -> NDArray[np.bool_]:
    """True for blocks with any true pixel; blocks at the right and bottom border may be cut off."""
    height, width = where.shape
    padded = np.pad(where, ((0, -height % block), (0, -width % block)))
    rows, columns = padded.shape[0] // block, padded.shape[1] // block
    return np.asarray(padded.reshape(rows, block, columns, block).any(axis=(1, 3)))


def label_picture(labels: LabelMap, *, left_out: NDArray[np.bool_] | None = None) -> NDArray[np.uint8]:
    """Objects in colours by their id, H×W×3; −1 is white, and what is left out grey.

    >>> label_picture(np.array([[-1, 1, 9]], np.int32))[0].tolist()
    [[255, 255, 255], [204, 121, 167], [204, 121, 167]]
    """
    picture = plain(labels.shape, theme.GROUND)
    colours = np.array([rgb(colour) for colour in TINTS], np.uint8)
    inside = labels != VOID
    picture[inside] = colours[labels[inside] % len(TINTS)]
    if left_out is not None:
        picture[left_out] = rgb(UNKNOWN)
    return picture
