"""Colours of pictures: grounds, and scales from one colour to another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import ImageColor

Picture = NDArray[np.uint8]

DARK = "#16181d"
"""The ground of overlays: yellow would be lost on white."""

FAINT = "#4a4d55"
"""Lines on dark of which nothing is said."""

UNKNOWN = "#b8bac0"

DEPTHS = ("#1f2f6b", "#4a6fae", "#9fb4c4", "#ecdcb0", "#f0a860", "#c8481e")
"""Far to near: cool to warm."""


def rgb(colour: str) -> tuple[int, ...]:
    """Red, green and blue of a colour such as ``#16181d``."""
    return ImageColor.getrgb(colour)


def plain(shape: Sequence[int], colour: str) -> Picture:
    """A picture of one colour."""
    picture = np.empty((*shape, 3), np.uint8)
    picture[:] = rgb(colour)
    return picture


def ramp(share: ArrayLike, colours: Sequence[str]) -> Picture:
    """Colours on a scale that passes the given ones from 0 to 1.

    >>> ramp([0, 0.5, 1], ("#000000", "#ff8000")).tolist()
    [[0, 0, 0], [128, 64, 0], [255, 128, 0]]
    """
    stops = np.array([rgb(colour) for colour in colours], np.float64)
    at = np.linspace(0, 1, len(stops))
    mixed = np.stack([np.interp(np.asarray(share, np.float64), at, stops[:, channel]) for channel in range(3)], axis=-1)
    return mixed.round().astype(np.uint8)
