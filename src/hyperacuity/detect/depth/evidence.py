r"""Evidence for who is in front: from a field of ownership to pairs of regions, and back.

A field of ownership is a vector v at each pixel, (x, y) with x to the right and y down, that points from ground to figure near
boundaries: across a contour with unit normal n, v·n is the log-odds that the side n points to is in front.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError
from hyperacuity.kernels.borders import crack_normals
from hyperacuity.maps import OrderMap, same_size
from hyperacuity.ordering.figure_ground import Neighbours, neighbours

Values = NDArray[np.float64]
Field = NDArray[np.float32]
"""float32 H×W×2."""

SIGMA = 2.0
"""Standard deviation by which the normal of a border is smoothed, in pixels: one crack knows four directions only."""


def ownership_vectors(field: ArrayLike, *, name: str = "ownership field") -> Field:
    """A field of ownership, validated: H×W×2 finite numbers.

    >>> ownership_vectors(np.zeros((4, 5))).shape
    Traceback (most recent call last):
    hyperacuity.errors.InputError: ownership field: has shape (4, 5), expected height × width × 2
    """
    values = np.ascontiguousarray(field, dtype=np.float32)
    if values.ndim != 3 or values.shape[2] != 2 or values.size == 0:
        raise InputError(f"{name}: has shape {values.shape}, expected height × width × 2")
    if not np.isfinite(values).all():
        raise InputError(f"{name}: holds NaN or infinite values, expected finite ones")
    return values


def border_normals(borders: Neighbours, *, sigma: float = SIGMA) -> Values:
    """The unit normal (x, y) of the border at each of its cracks, towards the pair's first region; 0 at corners.

    It is the gradient of the two regions' membership, smoothed with ``sigma``.

    >>> from hyperacuity.ordering import neighbours
    >>> border_normals(neighbours([[0, 0, 1, 1]]))
    array([[-1.,  0.]])
    """
    normals = np.zeros((len(borders.here), 2))
    straight = borders.straight
    toward = borders.first[borders.pair[straight]]
    normals[straight] = crack_normals(
        borders.labels, borders.here[straight], borders.there[straight], toward, float(sigma), int(np.ceil(2 * sigma))
    )
    return normals


def crack_lengths(borders: Neighbours, normals: Values) -> Values:
    """Length of the border for which each crack stands: a slanted line has more cracks than it is long."""
    level = borders.there == borders.here + 1
    return np.where(borders.straight, np.abs(np.where(level, normals[:, 0], normals[:, 1])), 0.0)


def pair_evidence(field: ArrayLike, borders: Neighbours, *, sigma: float = SIGMA) -> Values:
    r"""Log-odds that each pair's first region is in front: the mean of v·n along the common border.

    .. math:: s_{ab} = \frac{1}{|Γ_{ab}|} \int_{Γ_{ab}} v · n \, dΓ

    n points to the first region. A pair whose regions touch only at corners has 0; without a pair there is nothing.

    >>> from hyperacuity.ordering import neighbours
    >>> left = np.zeros((3, 4, 2)); left[..., 0] = -2  # everywhere the figure is to the left
    >>> pair_evidence(left, neighbours([[0, 0, 1, 1]] * 3)).round(6)
    array([2.])
    """
    vectors = ownership_vectors(field)
    same_size(vectors[..., 0], borders.labels, names=("ownership field", "segmentation"))
    normals = border_normals(borders, sigma=sigma)
    flat = vectors.reshape(-1, 2)
    across = ((flat[borders.here] + flat[borders.there]) * normals).sum(axis=1) / 2
    lengths = crack_lengths(borders, normals)
    total = borders.add_up(lengths)
    return np.divide(borders.add_up(lengths * across), total, out=np.zeros(borders.count), where=total > 0)


def evidence_field(borders: Neighbours, evidence: ArrayLike) -> Field:
    """The field of ownership that pairs of regions make: at each border their log-odds, in the direction of the normal.

    It is 0 where no border is near. A pixel at several cracks has their mean.

    >>> from hyperacuity.ordering import neighbours
    >>> borders = neighbours([[0, 0, 1, 1]] * 3)
    >>> evidence_field(borders, [2.0])[1, :, 0]
    array([ 0., -2., -2.,  0.], dtype=float32)
    """
    given = np.asarray(evidence, np.float64)
    if given.shape != (borders.count,):
        raise InputError(f"evidence: has shape {given.shape}, expected {borders.count} numbers, one per pair")
    vectors = border_normals(borders) * given[borders.pair, np.newaxis]
    pixels, twice = np.concatenate([borders.here, borders.there]), np.concatenate([vectors, vectors])
    size = borders.labels.size
    count = np.bincount(pixels, np.tile(borders.straight, 2), size)
    sums = np.stack([np.bincount(pixels, twice[:, axis], size) for axis in (0, 1)], axis=1)
    return (sums / np.maximum(count, 1)[:, np.newaxis]).reshape(*borders.labels.shape, 2).astype(np.float32)


def border_heights(ucm2: ArrayLike, borders: Neighbours) -> Values:
    """The mean height of an ultrametric contour map of double size along each common border.

    >>> from hyperacuity.ordering import neighbours
    >>> from hyperacuity.regions import merge_boundaries
    >>> tree = merge_boundaries([[0, 0, 1]], [[0, 0.25, 0]], [[0, 0, 0]])
    >>> border_heights(tree.ucm2(), neighbours(tree.labels))
    array([0.25])
    """
    cells = np.asarray(ucm2)
    height, width = borders.labels.shape
    if cells.shape != (2 * height + 1, 2 * width + 1):
        raise InputError(f"ucm2 has shape {cells.shape}, expected double size, {2 * height + 1} × {2 * width + 1}")
    (y, x), (v, u) = np.divmod(borders.here, width), np.divmod(borders.there, width)
    crack = np.where(borders.straight, cells[y + v + 1, x + u + 1], 0).astype(np.float64)
    return borders.add_up(crack) / np.maximum(borders.cracks, 1)


def pixel_heights(ucm2: ArrayLike) -> NDArray[np.float32]:
    """An ultrametric contour map at image size: each pixel has the highest of its four cracks.

    >>> from hyperacuity.regions import hierarchy
    >>> pixel_heights(hierarchy([[0, 0.5, 0]]).ucm2())
    array([[0. , 0.5, 0.5]], dtype=float32)
    """
    cells = np.asarray(ucm2, np.float32)
    if cells.ndim != 2 or min(cells.shape) < 3 or cells.shape[0] % 2 == 0 or cells.shape[1] % 2 == 0:
        raise InputError(f"ucm2 has shape {cells.shape}, expected double size, 2H+1 × 2W+1")
    sides = (cells[0:-2:2, 1::2], cells[2::2, 1::2], cells[1::2, 0:-2:2], cells[1::2, 2::2])
    highest: NDArray[np.float32] = np.max(sides, axis=0)
    return highest


def owned_sides(field: ArrayLike, labels: ArrayLike) -> OrderMap:
    """The sides of all borders of a segmentation by a field of ownership: +1 on the owner's, −1 on the other, NaN elsewhere.

    The owner of the border between two regions is the one for which the mean log-odds along it speak (:func:`pair_evidence`);
    a border of log-odds 0 is nobody's. Where a pixel lies on several borders, the surest decides. Berkeley's figure/ground
    labels have this form (:class:`~hyperacuity.ordering.Sides`).

    >>> left = np.zeros((2, 4, 2)); left[..., 0] = -2  # everywhere the figure is to the left
    >>> owned_sides(left, [[0, 0, 1, 1]] * 2)
    array([[nan,  1., -1., nan],
           [nan,  1., -1., nan]], dtype=float32)
    """
    borders = neighbours(labels)
    evidence = pair_evidence(field, borders)[borders.pair]
    surest_last = np.argsort(np.abs(evidence), kind="stable")
    surest_last = surest_last[evidence[surest_last] != 0]
    first, regions = borders.first[borders.pair], borders.labels.ravel()
    sides = np.full(borders.labels.size, np.nan, np.float32)
    pixels = np.stack([borders.here, borders.there], axis=1)[surest_last]
    owned = (regions[pixels] == first[surest_last, np.newaxis]) == (evidence[surest_last, np.newaxis] > 0)
    sides[pixels.ravel()] = np.where(owned, 1, -1).ravel()
    return sides.reshape(borders.labels.shape)
