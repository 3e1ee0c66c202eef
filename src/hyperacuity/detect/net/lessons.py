"""Lessons for the network: photographs, the boundaries that people drew, and the sides of them that they saw in front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

Bytes = NDArray[np.uint8]
Values = NDArray[np.float32]

RIDGE = 1.25
"""Standard deviation of a line's profile in the target, in pixels."""

BAND = 3.0
"""Distance from a labelled contour up to which the ownership vector is learned, in pixels."""

NORMAL = 2.0
"""Standard deviation by which labels are smoothed before their gradient gives a contour's normal."""


@dataclass(frozen=True, eq=False)
class Lesson:
    """One photograph and what people said of it.

    Attributes
    ----------
    name
        Of the photograph, without suffix.
    image
        uint8 H×W×3.
    boundary
        uint8 H×W: the share of people who drew a boundary here (:func:`boundary_target`), times 255.
    towards
        int8 H×W×2: the unit vector (x, y) from ground to figure, times 127.
    sure
        uint8 H×W: how much ``towards`` counts, times 255; 0 away from labelled contours and where people disagree.
    segments
        int16 H×W: the regions that were labelled; −1 without figure/ground labels.
    figures
        Regions that are in front of nearly all their neighbours: they can be cut out and pasted elsewhere.
    """

    name: str
    image: Bytes
    boundary: Bytes
    towards: NDArray[np.int8]
    sure: Bytes
    segments: NDArray[np.int16]
    figures: tuple[int, ...] = ()

    @property
    def has_owners(self) -> bool:
        """True if it has figure/ground labels."""
        return bool(self.sure.any())


def lesson(
    name: str,
    image: Bytes,
    drawn: Sequence[ArrayLike],
    owners: Sequence[ArrayLike] = (),
    segments: ArrayLike | None = None,
) -> Lesson:
    """A lesson from boundary maps, and figure/ground labels of ``segments``: +1 figure, −1 ground, 0 or NaN neither."""
    colour = np.repeat(image[..., None], 3, 2) if image.ndim == 2 else image[..., :3]
    towards, sure = ownership_target(owners, colour.shape[:2])
    labelled = np.full(colour.shape[:2], -1, np.int16)
    figures: tuple[int, ...] = ()
    if segments is not None and len(owners):
        labelled = np.unique(np.asarray(segments), return_inverse=True)[1].reshape(colour.shape[:2]).astype(np.int16)
        figures = figures_of(labelled, owners)
    target = np.rint(255 * boundary_target(drawn)).astype(np.uint8)
    return Lesson(
        name,
        np.ascontiguousarray(colour),
        target,
        np.rint(127 * towards).astype(np.int8),
        np.rint(255 * sure).astype(np.uint8),
        labelled,
        figures,
    )


def boundary_target(drawn: Sequence[ArrayLike], *, ridge: float = RIDGE) -> Values:
    r"""The strength of boundary to be learned at each pixel: the mean over people of

    .. math:: e^{-d_k(x)^2 / 2σ^2}

    with the distance d to the nearest boundary pixel that person k drew. A line all drew in the same pixels has 1 along it; lines
    a pixel or two apart add up to one ridge between them. Somebody who drew nothing counts with 0 everywhere.

    >>> boundary_target([[[0, 0, 1, 0, 0]], [[0, 0, 0, 0, 0]]], ridge=1.0).round(2)
    array([[0.07, 0.3 , 0.5 , 0.3 , 0.07]], dtype=float32)
    """
    maps = [np.asarray(one) > 0 for one in drawn]
    total = np.zeros(maps[0].shape, np.float32)
    for one in maps:
        if one.any():
            distance = ndimage.distance_transform_edt(~one)
            total += np.exp(-(distance**2) / (2 * ridge**2)).astype(np.float32)
    return total / np.float32(len(maps))


def ownership_target(owners: Sequence[ArrayLike], shape: tuple[int, int]) -> tuple[Values, Values]:
    """The unit vector (x, y) from ground to figure at each pixel, H×W×2, and how much it counts, H×W.

    People whose vectors agree to 60° count fully; where one alone labelled, half; where they disagree, nothing does.

    >>> towards, sure = ownership_target([[[0, -1, 1, 0]]], (1, 4))
    >>> towards[0, 1], sure[0, 1]
    (array([1., 0.], dtype=float32), np.float32(0.5))
    """
    fields, known = [], []
    for one in owners:
        labels = np.nan_to_num(np.asarray(one, np.float32))
        slope = [ndimage.gaussian_filter(labels, NORMAL, order=order) for order in ((0, 1), (1, 0))]
        size = np.hypot(*slope)
        near = ndimage.distance_transform_edt(labels == 0) <= BAND if labels.any() else np.zeros(shape, bool)
        seen = near & (size > 1e-4)
        fields.append(np.stack(slope, -1) / np.maximum(size, 1e-6)[..., None] * seen[..., None])
        known.append(seen)
    if not fields:
        return np.zeros((*shape, 2), np.float32), np.zeros(shape, np.float32)
    total, voices = np.sum(fields, axis=0), np.sum(known, axis=0)
    size = np.hypot(total[..., 0], total[..., 1])
    agreed = size >= 0.866 * np.maximum(voices, 1)
    sure = np.where(agreed & (voices > 0), np.where(voices > 1, 1.0, 0.5), 0.0)
    return (total / np.maximum(size, 1e-6)[..., None]).astype(np.float32), sure.astype(np.float32)


def figures_of(segments: NDArray[np.int16], owners: Sequence[ArrayLike], *, share: float = 0.85) -> tuple[int, ...]:
    """Regions whose labelled outline is mostly figure, that cover 1 to 40 % of the picture and hardly touch its frame.

    >>> y, x = np.mgrid[-20:21, -20:21]
    >>> disc = (np.hypot(y, x) < 8).astype(np.int16)
    >>> figures_of(disc, [np.where(disc, 1, -1)])
    (1,)
    """
    count = int(segments.max()) + 1
    votes = np.nan_to_num(np.sum([np.nan_to_num(np.asarray(one, np.float32)) for one in owners], axis=0))
    known = segments >= 0
    flat = segments[known]
    area = np.bincount(flat, minlength=count)
    front = np.bincount(flat, (votes > 0)[known], count)
    labelled = np.bincount(flat, (votes != 0)[known], count)
    frame = np.concatenate([segments[0], segments[-1], segments[:, 0], segments[:, -1]])
    touching = np.bincount(frame[frame >= 0], minlength=count)
    fits = (area > 0.01 * segments.size) & (area < 0.4 * segments.size)
    fits &= (front >= share * labelled) & (labelled > 0) & (touching < 0.3 * np.sqrt(area))
    return tuple(int(number) for number in np.flatnonzero(fits))
