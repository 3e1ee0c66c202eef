"""Pictures of edge maps: hits, false and missed pixels in the colours they have everywhere, small enough for a sheet."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.maps import edge_map, same_size
from hyperacuity.report import theme
from hyperacuity.report.pictures.colours import plain, rgb


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
