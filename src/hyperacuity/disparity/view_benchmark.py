"""The benchmark that needs no truth: how well a disparity map predicts pictures, tallied per image.

Pictures are brought to the scale of 8 bits, so errors are in grey levels of 255, whatever their depth. The inverse prediction
counts only pixels that, by the map itself, the other view shows too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.disparity.errors import estimated_map
from hyperacuity.disparity.masks import GAP, picture
from hyperacuity.disparity.views import forward, inverse
from hyperacuity.kernels import disparity as kernels
from hyperacuity.maps import same_size
from hyperacuity.resampling import mean_and_interval, weighted_mean
from hyperacuity.tally import Arrays, BaseProtocol, Counts, Scores, Sums, Tally, Weights, protocol_of
from hyperacuity.tasks import Criteria

WAYS = ("forward", "inverse")
MEASURES = ("mse", "rmse", "psnr", "visible")
SENSES = {"mse": "min", "rmse": "min", "psnr": "max", "visible": "max"}


@dataclass(frozen=True)
class ViewProtocol(BaseProtocol):
    """Forward and inverse prediction of the second picture of a pair.

    >>> ViewProtocol().signature
    views|ways:forward,inverse|compare:pixels|v:1
    """

    task: ClassVar[str] = "views"
    tolerant: bool = False
    """Compare 3×3 intervals in place of single pixels."""

    def parts(self) -> dict[str, object]:
        """Parts of the signature."""
        return {"ways": ",".join(WAYS), "compare": "intervals" if self.tolerant else "pixels"}


@dataclass(frozen=True, eq=False)
class ViewTally(Tally):
    """Sums of squared differences, how many were added, pixels compared and pixels there are; one entry per way."""

    square: Sums
    added: Counts
    compared: Counts
    pixels: Counts

    def validate(self) -> None:
        """Require that differences are those of 8-bit pictures, and that no more pixels are compared than there are."""
        super().validate()
        self.require_shape((len(WAYS),), *self.names())
        self.require_at_most("pixels", "compared")
        self.require_at_most(self.added * 255.0**2, "square")

    def truth_counts(self) -> Arrays:
        """The pixels of the pictures."""
        return {"pixels": self.pixels}


def tally_views(
    prediction: ArrayLike, pictures: Sequence[ArrayLike], protocol: ViewProtocol = ViewProtocol()
) -> ViewTally:
    """Draw the right picture from the left one, fetch the left from the right one, and compare both with the real ones.

    ``pictures`` are the left one and the right one; they stand in for a truth.
    """
    left, right = pictures
    first, second, shifts = picture(left), picture(right), estimated_map(prediction)
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
        protocol=protocol,
    )


def measured_views(views: ViewTally) -> NDArray[np.float64]:
    """Ways × measures of one image: mean squared error, its root, PSNR in dB, and the percentage of pixels compared."""
    rows = []
    for square, added, compared, pixels in zip(views.square, views.added, views.compared, views.pixels, strict=True):
        mse = float(square) / int(added) if added else math.nan
        psnr = math.inf if mse == 0 else 10 * math.log10(255**2 / mse) if mse > 0 else math.nan
        rows.append([mse, math.sqrt(mse), psnr, 100 * int(compared) / int(pixels) if pixels else math.nan])
    return np.array(rows)


@dataclass(frozen=True, eq=False)
class ViewScore:
    """Scores of a system, ways × measures: ``values`` of each image, their ``mean``, and its 95 % ``interval`` over images."""

    protocol: ViewProtocol
    images: tuple[str, ...]
    values: NDArray[np.float64]
    mean: NDArray[np.float64]
    interval: NDArray[np.float64]

    def named(self, values: NDArray[np.float64]) -> dict[str, dict[str, float]]:
        """Ways × measures by their names."""
        return {way: dict(zip(MEASURES, row.tolist(), strict=True)) for way, row in zip(WAYS, values, strict=True)}


def collect_views(tallies: Mapping[str, ViewTally], *, resamples: int = 1000, seed: int = 0) -> ViewScore:
    """The means over images, those without a value left out, with intervals. ``UsageError`` without images."""
    protocol = protocol_of(tallies.values(), ViewProtocol)
    values = np.array([measured_views(one) for one in tallies.values()])
    return ViewScore(
        protocol, tuple(tallies), values, *mean_and_interval(values[np.argsort(list(tallies))], resamples, seed)
    )


def criteria(protocol: ViewProtocol) -> Criteria:
    """The mean over images of every measure in both ways; systems are compared by the root of the mean squared error."""

    def rescore(tallies: Sequence[ViewTally], weights: Weights) -> Scores:
        return weighted_mean(np.array([measured_views(one).ravel() for one in tallies]), weights)

    return Criteria(
        tuple(f"{measure} {way}" for way in WAYS for measure in MEASURES),
        tuple(SENSES[measure] for _ in WAYS for measure in MEASURES),
        rescore,
        tuple(f"rmse {way}" for way in WAYS),
        "concat",
    )
