"""Partial labels: the control for "are strong boundaries detected better than others?"

Consensus labels are few, and with fewer labels any detector's precision falls. The control takes as many pixels away from each
annotator, but without looking at the picture: what is left is a part of the labels, not the strong ones.

References
----------
Hou, Yuille & Koch (2013), section 5 and Fig. 5.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hyperacuity.errors import UsageError
from hyperacuity.maps import EdgeMap

PARTIAL_KINDS = ("halfplane", "window", "random")
"""Kinds of parts: the side of a line across the picture, a box that grows from a corner, or pixels drawn one by one."""


def partial_labels(
    truths: Sequence[EdgeMap], keep: Sequence[int], *, kind: str = "halfplane", seed: Sequence[int] = (0,)
) -> list[EdgeMap]:
    """Keep a number of pixels of each annotator's map, chosen without looking at the picture.

    Parameters
    ----------
    truths, keep
        The maps, and how many pixels to keep of each (at most all).
    kind
        ``"halfplane"``: those farthest along a random direction. ``"window"``: those in the box of the picture's proportions that
        grows from a random corner. Direction and corner are the same for all annotators of the image. ``"random"``: any.
    seed
        Whole numbers that name the draw. Equal ones give equal parts, on any machine.

    Examples
    --------
    >>> truth = np.ones((4, 4), dtype=bool)
    >>> [int(part.sum()) for part in partial_labels([truth, truth], [3, 0])]
    [3, 0]
    >>> partial_labels([truth], [4], kind="window", seed=(1,))[0].astype(int)
    array([[0, 0, 0, 0],
           [0, 0, 0, 0],
           [0, 0, 1, 1],
           [0, 0, 1, 1]])
    """
    if kind not in PARTIAL_KINDS:
        raise UsageError(f"partial labels of kind {kind!r}: expected one of {', '.join(PARTIAL_KINDS)}")
    words = np.random.PCG64(np.random.SeedSequence([*seed, PARTIAL_KINDS.index(kind)]))
    first: NDArray[np.float64] | NDArray[np.int64]
    if kind == "halfplane":
        first = _against_direction(truths[0].shape, *_direction(words))
    elif kind == "window":
        first = _from_corner(truths[0].shape, int(words.random_raw()) & 3)
    parts = []
    for truth, count in zip(truths, keep, strict=True):
        indices = np.flatnonzero(truth)
        order = words.random_raw(indices.size) if kind == "random" else first.ravel()[indices]
        part = np.zeros(truth.shape, np.bool_)
        part.flat[indices[np.argsort(order, kind="stable")[:count]]] = True
        parts.append(part)
    return parts


def number_of(name: str) -> int:
    """A whole number for a name (of an image, say), as part of a seed: the same on any machine, in any order of images.

    >>> number_of("100007")
    12229343571416629471
    """
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()[:8], "big")


def _direction(words: np.random.PCG64) -> tuple[int, int]:
    """A random direction in whole numbers, so that projections are exact: a point of the disc, all angles alike."""
    while True:
        down, across = (int(word) % 2001 - 1000 for word in words.random_raw(2))
        if 0 < down * down + across * across <= 1000 * 1000:
            return down, across


def _against_direction(shape: tuple[int, ...], down: int, across: int) -> NDArray[np.int64]:
    y, x = np.ogrid[: shape[0], : shape[1]]
    return np.asarray(-(y * down + x * across), np.int64)


def _from_corner(shape: tuple[int, ...], corner: int) -> NDArray[np.int64]:
    """The size of the box from a corner that a pixel is the first to be in, in whole numbers."""
    height, width = shape
    y, x = np.ogrid[:height, :width]
    y, x = (height - 1 - y if corner & 1 else y), (width - 1 - x if corner & 2 else x)
    return np.asarray(np.maximum((y + 1) * width, (x + 1) * height), np.int64)
