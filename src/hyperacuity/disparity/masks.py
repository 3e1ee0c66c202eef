"""Regions in which disparity is judged, after the Middlebury benchmark, derived from the truth and the pictures.

=============  ====================================================================================================
``all``        the truth is known
``nonocc``     known, and visible in the other view
``disc``       of those, near a jump in disparity: within a 9×9 box of one of 2 pixels or more
``untextured`` of those, where the picture hardly varies along the row: mean squared difference below 4² in a 3×3 box
=============  ====================================================================================================

Prefer the masks that a data set ships; these are for data without. Derived from the left truth alone they agree with the
shipped ones on 99 % of the pixels (nonocc) and 96–97 % (disc) of Middlebury's Teddy and Cones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import UsageError
from hyperacuity.kernels import disparity as kernels
from hyperacuity.maps import DisparityMap, disparity_map, edge_map, same_size

Mask = NDArray[np.bool_]

GAP = 2.0
"""Neighbours whose disparities differ by this much or more are on two surfaces (``disp_gap`` of StereoMatcher)."""

SCATTERED = 0.1
"""Share of known pixels that touch an unknown one above which the truth is scattered points, with no edges between them."""


def nonocc(truth: ArrayLike, *, right: ArrayLike | None = None, tolerance: float = 1.0) -> Mask:
    """Pixels of known disparity that the other view shows too.

    With the other view's disparities (``right``): those that agree with them, |d_L(x) − d_R(x − d_L(x))| ≤ tolerance. With
    one map only: those that land inside the other view, where nothing nearer by more than the tolerance lands.

    >>> left = [[1, 1, 1, 1, 1, 3, 3, 3, 1, 1, 1, 1]]
    >>> np.flatnonzero(~nonocc(left))
    array([0, 3, 4])
    >>> np.flatnonzero(~nonocc(left, right=[[1, 1, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1]]))
    array([0, 3, 4])
    """
    left = disparity_map(truth, name="truth")
    if right is None:
        other = kernels.mapped(left, GAP)
    else:
        other = disparity_map(right, name="right truth")
        same_size(other, left, names=("right truth", "truth"))
    visible: Mask = kernels.seen(left, other, float(tolerance), right is not None)
    return visible


def disc(truth: ArrayLike, *, within: ArrayLike | None = None, gap: float = GAP, width: int = 9) -> Mask:
    """Pixels near a jump in disparity, of those in ``within`` (by default :func:`nonocc`).

    Two neighbours, left-right or up-down, whose disparities differ by ``gap`` or more are a jump; so are a known and an
    unknown one, as in the masks that Middlebury ships, unless the truth is scattered or the unknown is a margin around all
    that is known. A box of ``width`` pixels grows them.

    >>> left = [[1, 1, 1, 1, 1, 3, 3, 3, 1, 1, 1, 1]]
    >>> np.flatnonzero(disc(left, width=3))
    array([5, 6, 7, 8, 9])
    """
    if width < 1 or width % 2 == 0:
        raise UsageError(f"a box of {width} pixels has no middle: expected an odd number")
    left = disparity_map(truth, name="truth")
    valid = ~np.isnan(left)
    rows, columns = np.flatnonzero(valid.any(axis=1)), np.flatnonzero(valid.any(axis=0))
    box = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    jumps = np.zeros(left.shape, dtype=bool)
    alone = kernels.grow(~valid[box], 1) & valid[box]
    dense = alone.sum() <= SCATTERED * valid.sum()
    jumps[box] = kernels.jumps(np.ascontiguousarray(left[box]), float(gap), bool(dense))
    near: Mask = kernels.grow(jumps, width // 2)
    counted = nonocc(left) if within is None else edge_map(within, name="region")
    same_size(counted, left, names=("region", "truth"))
    return near & counted


def untextured(image: ArrayLike, *, within: ArrayLike, width: int = 3, threshold: float = 4.0) -> Mask:
    """Pixels of ``within`` around which the picture hardly varies along the row, where a matcher has nothing to go by.

    The squared difference to the left or right neighbour, whichever is larger, is averaged over colour channels and a box;
    below ``threshold``² grey levels (of 255) the pixel counts as untextured.
    """
    if width < 1 or width % 2 == 0:
        raise UsageError(f"a box of {width} pixels has no middle: expected an odd number")
    counted = edge_map(within, name="region")
    pixels = picture(image)
    same_size(pixels, counted, names=("picture", "region"))
    flat: Mask = kernels.textureless(pixels, width // 2, float(threshold))
    return flat & counted


def regions(
    truth: ArrayLike,
    *,
    right: ArrayLike | None = None,
    image: ArrayLike | None = None,
    given: dict[str, Mask] | None = None,
) -> dict[str, Mask]:
    """All possible regions: those given as they are, the others derived. ``untextured`` needs the picture.

    Given masks lose the pixels of unknown truth. A given ``nonocc`` is what the derived ``disc`` and ``untextured`` lie in.

    >>> result = regions([[1, 1, 1, 1, 1, 3, 3, 3, 1, 1, 1, 1]])
    >>> {name: int(mask.sum()) for name, mask in result.items()}
    {'nonocc': 9, 'all': 12, 'disc': 9}
    """
    left: DisparityMap = disparity_map(truth, name="truth")
    valid = ~np.isnan(left)
    result = {}
    for name, mask in (given or {}).items():
        same_size(mask, left, names=(f"mask {name}", "truth"))
        result[name] = mask & valid
    result.setdefault("all", valid)
    if "nonocc" not in result:
        result["nonocc"] = nonocc(left, right=right)
    if "disc" not in result:
        result["disc"] = disc(left, within=result["nonocc"])
    if "untextured" not in result and image is not None:
        result["untextured"] = untextured(image, within=result["nonocc"])
    order = ("nonocc", "all", "disc", "untextured")
    return {name: result[name] for name in (*order, *result) if name in result}


def picture(image: ArrayLike) -> NDArray[np.float32]:
    """An image as float32 H×W×C on the scale of 8 bits, whatever its depth; floats are assumed to be on that scale already."""
    pixels = np.asarray(image)
    if pixels.ndim not in (2, 3) or pixels.dtype.kind not in "uf" or pixels.size == 0:
        raise UsageError(
            f"a picture has shape {pixels.shape} and {pixels.dtype} values, expected grey or colour pixels"
        )
    scale = 255 / np.iinfo(pixels.dtype).max if pixels.dtype.kind == "u" else 1.0
    scaled = pixels.astype(np.float32) * np.float32(scale)
    return np.ascontiguousarray(scaled if scaled.ndim == 3 else scaled[:, :, None])
