"""The benchmark: what is agreed beforehand, what is counted on an image, and the scores that follow.

A data set's score is the mean of its images' scores, as on the Middlebury server: a large image counts no more than a small one.
Bad pixels, outliers and density are **reported in percent**, everything else in pixels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.disparity.errors import D1_PIXELS, D1_SHARE, Invalid, estimated_map, quantiles, share
from hyperacuity.disparity.masks import Mask
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels import disparity as kernels
from hyperacuity.maps import disparity_map, same_size
from hyperacuity.tally import Counts, Sums, Tally, signature

VERSION = 1
"""Goes up whenever the same input would get another score."""

Masks = Literal["given", "derived", "mixed"]

PERCENTS = (50.0, 90.0, 95.0, 99.0)


@dataclass(frozen=True)
class Protocol:
    """A disparity benchmark. The regions are Middlebury's, and with δ = 1 and missing estimates bad, so is the arithmetic.

    Parameters
    ----------
    deltas
        Error thresholds δ in pixels, of which a pixel's error must exceed one to count as bad.
    regions
        Names of the masks in which errors are counted.
    invalid
        Whether a missing estimate is ``"bad"`` or left out (``"skip"``).
    masks
        Where the regions come from: ``"given"`` with the data, ``"derived"`` from the truth, or ``"mixed"``.

    Examples
    --------
    >>> Protocol().signature
    'disparity|delta:0.5,1,2|regions:nonocc,all,disc|masks:given|invalid:bad|v:1'
    >>> Protocol(deltas=(1,)).measures
    ('bad(1)', 'epe', 'rms', 'a50', 'a90', 'a95', 'a99', 'd1', 'density', 'bias')
    """

    deltas: tuple[float, ...] = (0.5, 1.0, 2.0)
    regions: tuple[str, ...] = ("nonocc", "all", "disc")
    invalid: Invalid = "bad"
    masks: Masks = "given"

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if not self.deltas or len(set(self.deltas)) < len(self.deltas):
            raise UsageError(f"δ = {self.deltas}: expected at least one threshold, none of them twice")
        if not all(0 <= delta < math.inf for delta in self.deltas):
            raise UsageError(f"δ = {self.deltas}: expected thresholds in pixels, none of them negative")
        if not self.regions or len(set(self.regions)) < len(self.regions):
            raise UsageError(f"regions {self.regions}: expected at least one, none of them twice")
        for option, choices in (("invalid", get_args(Invalid)), ("masks", get_args(Masks))):
            if getattr(self, option) not in choices:
                raise UsageError(f"{option}={getattr(self, option)!r}: expected {' or '.join(choices)}")

    @property
    def signature(self) -> str:
        """The protocol as one line, which stands beside every score."""
        return signature(
            "disparity",
            VERSION,
            delta=",".join(f"{delta:g}" for delta in self.deltas),
            regions=",".join(self.regions),
            masks=self.masks,
            invalid=self.invalid,
        )

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures, in the order of every table."""
        bad = tuple(f"bad({delta:g})" for delta in self.deltas)
        return (*bad, "epe", "rms", *(f"a{percent:g}" for percent in PERCENTS), "d1", "density", "bias")

    @classmethod
    def parse(cls, line: str) -> Protocol:
        """The protocol that a signature names.

        >>> Protocol.parse(Protocol(invalid="skip").signature)
        Protocol(deltas=(0.5, 1.0, 2.0), regions=('nonocc', 'all', 'disc'), invalid='skip', masks='given')
        """
        options: dict[str, Any] = dict(part.partition(":")[::2] for part in line.split("|"))
        try:
            deltas = tuple(float(delta) for delta in options["delta"].split(","))
            found = cls(deltas, tuple(options["regions"].split(",")), options["invalid"], options["masks"])
            if found.signature != line:
                raise ValueError
        except (KeyError, ValueError) as error:
            raise UsageError(f"{line} is no signature of a disparity benchmark that this version writes") from error
        return found


def unit(measure: str) -> str:
    """In what a measure is reported: ``"%"`` or ``"px"``."""
    return "%" if measure.startswith("bad(") or measure in ("d1", "density") else "px"


def sense(measure: str) -> str:
    """Whether less or more of a measure is better: ``"min"`` or ``"max"``. (Of a bias, it is the size that should be small.)"""
    return "max" if measure == "density" else "min"


@dataclass(frozen=True, eq=False)
class DisparityTally(Tally):
    """What was counted, one row per region. ``quantile`` is a sum over images too, of which ``images`` have one."""

    pixels: Counts
    known: Counts
    outliers: Counts
    bad: Counts
    absolute: Sums
    square: Sums
    signed: Sums
    quantile: Sums
    images: Counts


def tally(estimate: ArrayLike, truth: ArrayLike, masks: Mapping[str, Mask], protocol: Protocol) -> DisparityTally:
    """Count the errors of one disparity map in each region of the protocol.

    ``masks`` holds the regions by name (:func:`hyperacuity.disparity.masks.regions`); one that is missing has no pixels, and
    its scores are NaN.
    """
    true, guess = disparity_map(truth, name="truth"), estimated_map(estimate)
    same_size(guess, true, names=("estimate", "truth"))
    rows = []
    for name in protocol.regions:
        mask = masks.get(name, np.zeros(true.shape, dtype=bool))
        same_size(mask, true, names=(f"mask {name}", "truth"))
        counts, sums, sizes = kernels.errors(true, guess, mask, np.array(protocol.deltas), D1_PIXELS, D1_SHARE)
        found = np.nan_to_num(quantiles(sizes, PERCENTS))
        rows.append((counts[0], counts[1], counts[2], counts[3:], *sums, found, len(sizes) > 0))
    pixels, known, outliers, bad, absolute, square, signed, quantile, images = zip(*rows, strict=True)
    return DisparityTally(
        np.array(pixels, np.int64),
        np.array(known, np.int64),
        np.array(outliers, np.int64),
        np.array(bad, np.int64),
        np.array(absolute, np.float64),
        np.array(square, np.float64),
        np.array(signed, np.float64),
        np.array(quantile, np.float64),
        np.array(images, np.int64),
    )


def measured(errors: DisparityTally, protocol: Protocol) -> NDArray[np.float64]:
    """Regions × measures of one image as they are reported; NaN where nothing can be said."""
    if errors.bad.shape != (len(protocol.regions), len(protocol.deltas)):
        raise InputError(f"the tally has {errors.bad.shape} counts of bad pixels, which is not {protocol.signature}")
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
    """Scores of a system: ``images[i, r, m]`` on image i, in region r, by measure m; ``mean[r, m]`` over the images."""

    signature: str
    regions: tuple[str, ...]
    measures: tuple[str, ...]
    images: NDArray[np.float64]
    mean: NDArray[np.float64]

    def value(self, measure: str, region: str) -> float:
        """One number of the mean."""
        return float(self.mean[self.regions.index(region), self.measures.index(measure)])

    def named(self, values: NDArray[np.float64]) -> dict[str, dict[str, float]]:
        """Regions × measures by their names."""
        return {
            region: dict(zip(self.measures, row.tolist(), strict=True))
            for region, row in zip(self.regions, values, strict=True)
        }


def collect(tallies: Sequence[DisparityTally], protocol: Protocol) -> DisparityScore:
    """The scores of a system on a data set: those of its images, and their mean. Images without a score are left out of it.

    No tallies give NaN throughout.
    """
    shape = (len(protocol.regions), len(protocol.measures))
    images = np.array([measured(one, protocol) for one in tallies]).reshape(-1, *shape)
    known = ~np.isnan(images)
    sums, counts = np.where(known, images, 0).sum(axis=0), known.sum(axis=0)
    mean = np.divide(sums, counts, out=np.full(shape, np.nan), where=counts > 0)
    return DisparityScore(protocol.signature, protocol.regions, protocol.measures, images, mean)
