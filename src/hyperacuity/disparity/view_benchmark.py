"""The benchmark that needs no truth: how well a disparity map predicts pictures, tallied per image.

Pictures are brought to the scale of 8 bits, so errors are in grey levels of 255, whatever their depth. The inverse prediction
counts only pixels that, by the map itself, the other view shows too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.disparity.errors import estimated_map
from hyperacuity.disparity.masks import GAP, picture
from hyperacuity.disparity.views import forward, inverse
from hyperacuity.errors import InputError
from hyperacuity.kernels import disparity as kernels
from hyperacuity.maps import same_size
from hyperacuity.tally import Counts, Sums, Tally, signature

VERSION = 1
"""Goes up whenever the same input would get another score."""

WAYS = ("forward", "inverse")
MEASURES = ("mse", "rmse", "psnr", "visible")
SENSES = {"mse": "min", "rmse": "min", "psnr": "max", "visible": "max"}


@dataclass(frozen=True)
class ViewProtocol:
    """Forward and inverse prediction of the second picture of a pair; ``tolerant`` compares 3×3 intervals.

    >>> ViewProtocol().signature
    'views|ways:forward,inverse|compare:pixels|v:1'
    """

    tolerant: bool = False

    @property
    def signature(self) -> str:
        """The protocol as one line, which stands beside every score."""
        return signature("views", VERSION, ways=",".join(WAYS), compare="intervals" if self.tolerant else "pixels")

    @classmethod
    def parse(cls, line: str) -> ViewProtocol:
        """The protocol that a signature names."""
        for found in (cls(False), cls(True)):
            if found.signature == line:
                return found
        raise InputError(f"{line} is no signature of view prediction that this version writes")


@dataclass(frozen=True, eq=False)
class ViewTally(Tally):
    """Sums of squared differences, how many were added, pixels compared and pixels there are; one entry per way."""

    square: Sums
    added: Counts
    compared: Counts
    pixels: Counts


def tally_views(disparity: ArrayLike, left: ArrayLike, right: ArrayLike, protocol: ViewProtocol) -> ViewTally:
    """Draw the right picture from the left one, fetch the left from the right one, and compare both with the real ones."""
    first, second, shifts = picture(left), picture(right), estimated_map(disparity)
    same_size(shifts, first, names=("disparity map", "left picture"))
    same_size(second, first, names=("right picture", "left picture"))
    drawn, where = forward(first, shifts)
    fetched, inside = inverse(second, shifts)
    inside &= kernels.seen(shifts, kernels.mapped(shifts, GAP), 1.0, False)
    add_up = partial(kernels.squared_gap, radius=1) if protocol.tolerant else kernels.squared_error
    sums = [add_up(second, drawn, where), add_up(first, fetched, inside)]
    return ViewTally(
        np.array([square for square, _ in sums], np.float64),
        np.array([added for _, added in sums], np.int64),
        np.array([where.sum(), inside.sum()], np.int64),
        np.full(2, shifts.size, np.int64),
    )


def measured_views(views: ViewTally) -> NDArray[np.float64]:
    """Ways × measures of one image: mean squared error, its root, PSNR in dB, and the percentage of pixels compared."""
    rows = []
    for square, added, compared, pixels in zip(views.square, views.added, views.compared, views.pixels, strict=True):
        mse = float(square) / int(added) if added else math.nan
        psnr = math.inf if mse == 0 else 10 * math.log10(255**2 / mse) if mse > 0 else math.nan
        rows.append([mse, math.sqrt(mse), psnr, 100 * int(compared) / int(pixels) if pixels else math.nan])
    return np.array(rows)


def collect_views(tallies: Sequence[ViewTally]) -> NDArray[np.float64]:
    """Ways × measures of a data set: the means over its images, those without a value left out; NaN if there is none."""
    images = np.array([measured_views(one) for one in tallies]).reshape(-1, len(WAYS), len(MEASURES))
    known = ~np.isnan(images)
    sums, counts = np.where(known, images, 0).sum(axis=0), known.sum(axis=0)
    mean: NDArray[np.float64] = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return mean
