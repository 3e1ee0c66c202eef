"""The benchmark: protocol, tallies of images, and scores of a data set.

A data set's score is the mean of its images' scores, as on the Middlebury server: a large image counts no more than a small one.
Bad pixels, outliers and density are **reported in percent**, everything else in pixels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.disparity.errors import D1_PIXELS, D1_SHARE, Invalid, estimated_map, quantiles, share
from hyperacuity.disparity.masks import Mask
from hyperacuity.disparity.masks import regions as derived_regions
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels import disparity as kernels
from hyperacuity.maps import disparity_map, edge_map, same_size
from hyperacuity.resampling import mean_and_interval, weighted_mean
from hyperacuity.tally import ROUNDING, Arrays, BaseProtocol, Counts, Scores, Sums, Tally, Weights, number, protocol_of
from hyperacuity.tasks import Criteria

Masks = Literal["given", "derived", "mixed"]

PERCENTS = (50.0, 90.0, 95.0, 99.0)


@dataclass(frozen=True)
class Protocol(BaseProtocol):
    """A disparity benchmark. The regions are Middlebury's, and with δ = 1 and missing estimates bad, so is the arithmetic.

    Examples
    --------
    >>> Protocol().signature
    disparity|delta:0.5,1,2|regions:nonocc,all,disc|masks:given|invalid:bad|v:1
    >>> Protocol(deltas=(1,)).measures
    ('bad(1)', 'epe', 'rms', 'a50', 'a90', 'a95', 'a99', 'd1', 'density', 'bias')
    """

    task: ClassVar[str] = "disparity"
    deltas: tuple[float, ...] = (0.5, 1.0, 2.0)
    """Error thresholds δ in pixels: a pixel is bad if its error exceeds δ."""
    regions: tuple[str, ...] = ("nonocc", "all", "disc")
    """Regions in which errors are counted, by the names of their masks."""
    invalid: Invalid = "bad"
    """Missing estimates are ``bad``, or left out (``skip``)."""
    masks: Masks = "given"
    """Regions are ``given`` with the data, ``derived`` from the truth, or ``mixed``."""

    def __post_init__(self) -> None:
        """Validate the options."""
        if not self.deltas or len(set(self.deltas)) < len(self.deltas):
            raise UsageError(f"δ = {self.deltas}: expected at least one threshold, none of them twice")
        if not all(0 <= delta < math.inf for delta in self.deltas):
            raise UsageError(f"δ = {self.deltas}: expected thresholds in pixels, none of them negative")
        if not self.regions or len(set(self.regions)) < len(self.regions):
            raise UsageError(f"regions {self.regions}: expected at least one, none of them twice")
        for option, choices in (("invalid", get_args(Invalid)), ("masks", get_args(Masks))):
            if getattr(self, option) not in choices:
                raise UsageError(f"{option}={getattr(self, option)!r}: expected {' or '.join(choices)}")

    def parts(self) -> dict[str, object]:
        """Parts of the signature."""
        return {
            "delta": ",".join(map(number, self.deltas)),
            "regions": ",".join(self.regions),
            "masks": self.masks,
            "invalid": self.invalid,
        }

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures, in the order of every table."""
        bad = tuple(f"bad({number(delta)})" for delta in self.deltas)
        return (*bad, "epe", "rms", *(f"a{percent:g}" for percent in PERCENTS), "d1", "density", "bias")


def unit(measure: str) -> str:
    """Unit of a measure: ``"%"`` or ``"px"``."""
    return "%" if measure.startswith("bad(") or measure in ("d1", "density") else "px"


def sense(measure: str) -> str:
    """Sense of a measure: ``"min"`` or ``"max"`` is better. (Of a bias, it is the size that should be small.)"""
    return "max" if measure == "density" else "min"


@dataclass(frozen=True, eq=False)
class DisparityTally(Tally):
    """Counts of an image, one row per region. ``quantile`` is a sum over images too, ``images`` of which have one."""

    pixels: Counts
    known: Counts
    outliers: Counts
    bad: Counts
    absolute: Sums
    square: Sums
    signed: Sums
    quantile: Sums
    images: Counts

    def validate(self) -> None:
        """Require that bad pixels are no more than known ones, and that sums of errors are finite."""
        super().validate()
        protocol = protocol_of([self], Protocol)
        regions = len(protocol.regions)
        self.require_shape((regions,), "pixels", "known", "outliers", "absolute", "square", "signed", "images")
        self.require_shape((regions, len(protocol.deltas)), "bad")
        self.require_shape((regions, len(PERCENTS)), "quantile")
        self.require_at_most("pixels", "known")
        self.require_at_most("known", "outliers", "images")
        self.require_at_most(self.known[:, np.newaxis], "bad")
        self.require_finite("absolute", "square", "quantile")
        self.require(
            np.abs(self.signed) <= self.absolute * (1 + ROUNDING), "signed", "at most the sum of absolute errors"
        )

    def truth_counts(self) -> Arrays:
        """The pixels of each region."""
        return {"pixels": self.pixels}


def tally(
    prediction: ArrayLike,
    truths: ArrayLike | Sequence[ArrayLike],
    protocol: Protocol = Protocol(),
    *,
    masks: Mapping[str, Mask] | None = None,
) -> DisparityTally:
    """Count the errors of one disparity map in each region of the protocol.

    ``truths`` is the true map, or a list of it alone. ``masks`` holds the regions by name; one that is missing has no pixels,
    and its scores are NaN. Without ``masks`` they are derived from the truth (:func:`hyperacuity.disparity.regions`), and the
    protocol of the tally says so.
    """
    array = np.asarray(truths)
    if array.ndim == 3 and len(array) != 1:
        raise InputError(f"{len(array)} truths were given, expected one disparity map")
    true, guess = disparity_map(array[0] if array.ndim == 3 else array, name="truth"), estimated_map(prediction)
    same_size(guess, true, names=("prediction", "truth"))
    if masks is None:
        masks, protocol = derived_regions(true), replace(protocol, masks="derived")
    rows = []
    for name in protocol.regions:
        mask = edge_map(masks[name], name=f"mask {name}") if name in masks else np.zeros(true.shape, dtype=bool)
        same_size(mask, true, names=(f"mask {name}", "truth"))
        counts, sums, sizes = kernels.errors(true, guess, mask, np.array(protocol.deltas), D1_PIXELS, D1_SHARE)
        percentiles = np.nan_to_num(quantiles(sizes, PERCENTS))
        rows.append((counts[0], counts[1], counts[2], counts[3:], *sums, percentiles, len(sizes) > 0))
    types = [np.int64] * 4 + [np.float64] * 4 + [np.int64]
    columns: list[Any] = [np.array(column, kind) for column, kind in zip(zip(*rows, strict=True), types, strict=True)]
    return DisparityTally(*columns, protocol=protocol)


def measured(errors: DisparityTally) -> NDArray[np.float64]:
    """Regions × measures of one image as they are reported; NaN where nothing can be said."""
    protocol = protocol_of([errors], Protocol)
    rows = []
    for r in range(len(protocol.regions)):
        pixels, known = int(errors.pixels[r]), int(errors.known[r])
        of_known = [errors.absolute[r], errors.square[r], errors.signed[r]]
        absolute, square, signed = (float(s) / known if known else math.nan for s in of_known)
        quantile = errors.quantile[r] / errors.images[r] if errors.images[r] else np.full(len(PERCENTS), np.nan)
        wrong = [100 * share(int(count), pixels, known, protocol.invalid) for count in errors.bad[r]]
        outliers = 100 * share(int(errors.outliers[r]), pixels, known, protocol.invalid)
        density = 100 * known / pixels if pixels else math.nan
        rows.append([*wrong, absolute, math.sqrt(square), *quantile, outliers, density, signed])
    return np.array(rows)


@dataclass(frozen=True, eq=False)
class DisparityScore:
    """Scores of a system: ``values[i, r, m]`` on image i, in region r, by measure m; ``mean[r, m]`` over the images.

    ``interval[r, m]`` is the 95 % bootstrap interval of the mean over images; NaN where it was left out.
    """

    protocol: Protocol
    images: tuple[str, ...]
    values: NDArray[np.float64]
    mean: NDArray[np.float64]
    interval: NDArray[np.float64]

    @property
    def regions(self) -> tuple[str, ...]:
        """The names of the regions."""
        return self.protocol.regions

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return self.protocol.measures

    def value(self, measure: str, region: str) -> float:
        """One number of the mean."""
        return float(self.mean[self.regions.index(region), self.measures.index(measure)])

    def named(self, values: NDArray[np.float64]) -> dict[str, dict[str, float]]:
        """Regions × measures by their names."""
        return {
            region: dict(zip(self.measures, row.tolist(), strict=True))
            for region, row in zip(self.regions, values, strict=True)
        }


def collect(tallies: Mapping[str, DisparityTally], *, resamples: int = 1000, seed: int = 0) -> DisparityScore:
    """The scores of a system on a data set: those of its images, their mean, and the interval of that.

    Images without a score are left out of a mean. ``resamples=0`` leaves the intervals out. ``UsageError`` without images.
    """
    protocol = protocol_of(tallies.values(), Protocol)
    values = np.array([measured(one) for one in tallies.values()])
    return DisparityScore(
        protocol, tuple(tallies), values, *mean_and_interval(values[np.argsort(list(tallies))], resamples, seed)
    )


def criteria(protocol: Protocol) -> Criteria:
    """The mean over images of every measure in every region; systems are compared by bad pixels."""
    bad = f"bad({number(1 if 1 in protocol.deltas else protocol.deltas[0])})"

    def rescore(tallies: Sequence[DisparityTally], weights: Weights) -> Scores:
        return weighted_mean(np.array([measured(one).ravel() for one in tallies]), weights)

    return Criteria(
        tuple(f"{measure} {region}" for region in protocol.regions for measure in protocol.measures),
        tuple(sense(measure) for _ in protocol.regions for measure in protocol.measures),
        rescore,
        tuple(f"{bad} {region}" for region in protocol.regions),
        "concat",
    )
