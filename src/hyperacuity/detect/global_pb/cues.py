"""The local cues of gPb: differences between the halves of discs, by brightness, colour and texture, at four scales each.

The paper has three; a scale twice as wide as its widest gains .004 of F on images that were not learned from. Discs, histograms
and textons are those of :mod:`~hyperacuity.detect.pb_detector`. Discs of more than :data:`COARSE` pixels are centred on every
second pixel, those of more than four times as many on every fourth, and what lies between is interpolated.

References
----------
Arbeláez, Maire, Fowlkes & Malik (2011), section 3.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.detect.detection import Float32Array, planes
from hyperacuity.detect.pb_detector import BINS, CUES, SMOOTH, channel_labels, localised
from hyperacuity.kernels.half_discs import DIRECTIONS, half_disc_gradients
from hyperacuity.kernels.planes import interpolate
from hyperacuity.maps import diagonal

COARSE = 8.0
"""Discs of a larger radius, in pixels, are looked at on every second pixel."""

FINE, MIDDLE, WIDE, WIDER, WIDEST = 0.005, 0.0085, 0.017, 0.034, 0.068
"""Radii of discs as fractions of the image diagonal: 3, 5, 10 and 20 pixels on images of 481 × 321, as in the paper, and 40."""


class LocalCue(NamedTuple):
    """A channel and the radius of its discs, as a fraction of the image diagonal."""

    channel: str
    share: float

    @property
    def name(self) -> str:
        """For files: the channel and the radius in thousandths of the diagonal, such as ``a 8.5``."""
        return f"{self.channel} {1000 * self.share:g}"


LOCAL_CUES = (
    *(LocalCue("brightness", share) for share in (FINE, MIDDLE, WIDE, WIDER)),
    *(LocalCue(channel, share) for channel in ("a", "b", "texture") for share in (MIDDLE, WIDE, WIDER, WIDEST)),
)


def local_cues(image: ArrayLike, textons: NDArray[np.float64]) -> Float32Array:
    """The localised gradients of all cues: cues × directions × H × W, 0 or more.

    A channel that never varies has none: a grey image has no gradients of colour, a flat one none at all.

    >>> local_cues(np.zeros((20, 30)), np.zeros((1, 26))).any()
    np.False_
    """
    pixels = planes(image)
    result = np.zeros((len(LOCAL_CUES), DIRECTIONS, *pixels.shape[1:]), np.float32)
    for cue, seen in each_local_cue(pixels, textons):
        result[cue] = seen
    return result


def each_local_cue(pixels: Float32Array, textons: NDArray[np.float64]) -> Iterator[tuple[int, Float32Array]]:
    """One cue of :func:`local_cues` after another, by number, of an image as planes; those without any gradient are left out."""
    shape = pixels.shape[1:]
    labels = dict(zip(CUES, channel_labels(pixels, textons), strict=True))
    for cue, (channel, share) in enumerate(LOCAL_CUES):
        seen = labels[channel]
        if seen.min() == seen.max():
            continue
        radius = max(1.0, share * diagonal(shape))
        step = 1 if radius <= COARSE else 2 if radius <= 4 * COARSE else 4
        bins, smooth = (len(textons), 0.0) if channel == "texture" else (BINS, SMOOTH)
        raw = localised(half_disc_gradients(seen, bins, radius, smooth=smooth, step=step), radius / step)
        if step == 4:
            raw = enlarged(raw, ((shape[0] + 1) // 2, (shape[1] + 1) // 2))
        yield cue, raw if step == 1 else enlarged(raw, shape)


def enlarged(values: Float32Array, shape: tuple[int, ...], *, first: float = 0.0) -> Float32Array:
    """Planes twice as large, linear between the samples, which lie at every second pixel from ``first`` on; level beyond.

    >>> enlarged(np.float32([[[0, 2]]]), (1, 4))
    array([[[0., 1., 2., 2.]]], dtype=float32)
    """
    (rows, down), (columns, along) = (
        _between(count, size, first) for count, size in zip(values.shape[1:], shape, strict=True)
    )
    result = np.empty((len(values), *shape), np.float32)
    room = np.empty(values.shape[2], np.float32)
    interpolate(np.ascontiguousarray(values, np.float32), rows, down, columns, along, room, result)
    return result


def _between(count: int, size: int, first: float) -> tuple[NDArray[np.int64], Float32Array]:
    """After which of ``count`` samples each of ``size`` pixels lies, and how far on the way to the next."""
    at = np.clip((np.arange(size) - first) / 2, 0, count - 1)
    before = np.minimum(at.astype(np.int64), max(count - 2, 0))
    return before, (at - before).astype(np.float32)
