"""A data set of soft or binary edge maps: tally each image at every threshold, collect mean minima, intervals and wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.edges.names import PAPER, measures
from hyperacuity.edges.thresholds import TIE, minimum, sweep, threshold_levels
from hyperacuity.errors import InputError
from hyperacuity.kernels.suppression import suppress_structured
from hyperacuity.maps import SoftMap, soft_map
from hyperacuity.resampling import Bootstrap, Draws, percentile_interval, ratio, resample
from hyperacuity.tally import ROUNDING, BaseProtocol, Counts, Scores, Sums, Tally, Weights, protocol_of, stack, total
from hyperacuity.tasks import Criteria


@dataclass(frozen=True)
class Protocol(BaseProtocol):
    """A benchmark of edge maps.

    A map with only one strength is binary and is scored as it is. Of several annotators the mean score counts.
    """

    task: ClassVar[str] = "edges"
    names: tuple[str, ...] = PAPER
    """Measures, such as ``psi``, ``sk(k=1)``, ``baddeley``; by default all."""
    thresholds: int = 101
    """Number of thresholds, evenly from 0 to 1."""
    thin: Literal["none", "structured"] = "none"
    """Soft maps are thin already (``none``), or are thinned as those of learned detectors are (``structured``)."""
    norm: Literal["max", "none"] = "max"
    """A soft map is divided by its largest value (``max``) or not (``none``)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(str(m) for m in measures(self.names)))
        threshold_levels(self.thresholds)

    def parts(self) -> dict[str, object]:
        """
        >>> Protocol().signature
        edges|measures:paper|thr:101|thin:none|norm:max|gt:mean|v:1
        """
        names = "paper" if self.names == PAPER else "+".join(self.names)
        return {"measures": names, "thr": self.thresholds, "thin": self.thin, "norm": self.norm, "gt": "mean"}

    @property
    def levels(self) -> NDArray[np.float64]:
        """The thresholds, ascending."""
        return threshold_levels(self.thresholds)


@dataclass(frozen=True, eq=False)
class EdgeTally(Tally):
    """Sums over images. A score that does not exist (NaN: Ψ and Γ of an empty truth) is left out of sum and count."""

    scores: Sums  # [measure, threshold]
    counted: Counts  # [measure, threshold]
    minimum: Sums  # [measure] each image's minimum
    images: Counts  # [measure] images that have one
    threshold: Sums  # [measure] the smallest threshold that reaches it
    swept: Counts  # [measure] images that have one: binary maps have no threshold

    def validate(self) -> None:
        """Require that scores are counted no more often than there are images, and are not below their minima."""
        super().validate()
        protocol = protocol_of([self], Protocol)
        self.require_shape((len(protocol.names), protocol.thresholds), "scores", "counted")
        self.require_shape((len(protocol.names),), "minimum", "images", "threshold", "swept")
        self.require_at_most(self.images[:, np.newaxis], "counted")
        self.require_at_most("images", "swept")
        self.require_at_most("swept", "threshold")
        for name in ("scores", "minimum"):
            self.require(~np.isnan(getattr(self, name)), name, "a number")
        self.require((self.counted > 0) | (self.scores == 0), "scores", "0 where no image has one")
        least = self.minimum[:, np.newaxis]
        fits = (self.counted < self.images[:, np.newaxis]) | (least <= self.scores + ROUNDING * (1 + np.abs(least)))
        self.require(fits, "scores", "at least the sum of the images' minima")


@dataclass(frozen=True, eq=False)
class EdgeScore:
    """One system on a data set. Arrays run over ``protocol.names``; what does not exist is NaN."""

    protocol: Protocol
    minimum: NDArray[np.float64]  # mean over images of the minimum over thresholds
    interval: NDArray[np.float64]  # [measure, 2] its bootstrap interval
    threshold: NDArray[np.float64]  # mean over images of the best threshold
    curves: NDArray[np.float64]  # [measure, threshold] mean over images
    images: int


def tally(prediction: ArrayLike, truths: Sequence[ArrayLike], protocol: Protocol | None = None) -> EdgeTally:
    """Score one image's edge map, soft or binary, at every threshold.

    Examples
    --------
    >>> one = tally([[0.8, 0.2, 0]], [[[1, 0, 0]]], Protocol(names=("psi",)))
    >>> float(one.minimum[0]), float(one.threshold[0])
    (0.0, 0.26)
    """
    protocol = protocol or Protocol()
    soft = soft_map(prediction, name="prediction")
    if not truths:
        raise InputError("no truth was given, expected at least one annotator")
    binary = is_binary(soft)
    thin, levels = prepared(soft, protocol)
    curves = np.mean([sweep(truth, thin, protocol.names, thresholds=levels).scores for truth in truths], axis=0)
    starts = np.array([minimum(curve)[0] for curve in curves])
    reached = starts >= 0
    scores = np.repeat(curves, protocol.thresholds, axis=1) if binary else curves
    return EdgeTally(
        scores=np.nan_to_num(scores, nan=0.0, posinf=np.inf),
        counted=(~np.isnan(scores)).astype(np.int64),
        minimum=np.where(reached, curves[np.arange(len(curves)), starts], 0.0),
        images=reached.astype(np.int64),
        threshold=np.where(reached, levels[starts], 0.0),
        swept=(reached & (not binary)).astype(np.int64),
        protocol=protocol,
    )


def collect(tallies: Mapping[str, EdgeTally], *, resamples: int = 1000, seed: int = 0) -> EdgeScore:
    """Means over images, and bootstrap intervals of the mean minimum; ``resamples=0`` leaves these out (NaN).

    Examples
    --------
    >>> score = collect({"a": tally([[1, 0]], [[[1, 0]]], Protocol(names=("psi",)))})
    >>> score.minimum.tolist(), score.interval.tolist()
    ([0.0], [[0.0, 0.0]])
    """
    protocol, every = protocol_of(tallies.values(), Protocol), [tallies[image] for image in sorted(tallies)]
    whole = total(every)
    weights: Draws = Bootstrap(len(every), resamples, seed) if resamples else np.empty((0, len(every)), np.int64)
    drawn = ratio(resample(weights, stack(every, "minimum")), resample(weights, stack(every, "images")))
    return EdgeScore(
        protocol,
        minimum=ratio(whole.minimum, whole.images),
        interval=np.array([percentile_interval(column) for column in drawn.T]),
        threshold=ratio(whole.threshold, whole.swept),
        curves=ratio(whole.scores, whole.counted),
        images=len(every),
    )


def wins(systems: Mapping[str, Mapping[str, EdgeTally]]) -> dict[str, NDArray[np.float64]]:
    """On how many of the images that all systems share each system has the lowest minimum, per measure.

    Systems that tie share the image, so the wins of all systems add up to the number of shared images with a score.
    """
    rows: dict[str, dict[str, int]] = {}
    minima: dict[str, NDArray[np.float64]] = {}  # [image, measure]
    for system, tallies in systems.items():  # tallies may be read from a store, one system at a time
        rows[system] = {image: row for row, image in enumerate(tallies)}
        minima[system] = np.array([ratio(one.minimum, one.images) for one in tallies.values()])
    first, *others = rows.values()
    shared = [image for image in first if all(image in images for images in others)]
    if not shared:
        measures = max(len(scores[0]) if len(scores) else 0 for scores in minima.values())
        return {system: np.zeros(measures) for system in minima}
    minima = {system: minima[system][[rows[system][image] for image in shared]] for system in minima}
    lowest = reduce(np.minimum, minima.values())  # NaN where the image has no score
    best = {system: scores <= lowest + TIE * np.abs(lowest) for system, scores in minima.items()}
    winners = np.maximum(np.sum(list(best.values()), axis=0), 1)
    shares = {system: won / winners for system, won in best.items()}
    # Added in the order of the images, so that the last bit is the same for any number of measures.
    return {system: np.cumsum(share, axis=0)[-1] for system, share in shares.items()}


def is_binary(soft: SoftMap) -> bool:
    """True if all edges of the map have the same strength.

    >>> is_binary(soft_map([[0, 0.5, 0.5]])), is_binary(soft_map([[0, 0.5, 0.6]]))
    (True, False)
    """
    highest = soft.max()
    return bool(np.all((soft == 0) | (soft == highest)))


def prepared(soft: SoftMap, protocol: Protocol) -> tuple[SoftMap, NDArray[np.float64]]:
    """The map to threshold, and the thresholds. A binary map stays as it is; its only threshold is 0."""
    if is_binary(soft):
        return soft, np.zeros(1)
    thin = suppress_structured(soft) if protocol.thin == "structured" else soft
    highest = thin.max()
    return thin / highest if protocol.norm == "max" and highest > 0 else thin, protocol.levels


def criteria(protocol: Protocol) -> Criteria:
    """The mean of each measure's minimum over the images that have one."""

    def rescore(tallies: Sequence[EdgeTally], weights: Weights) -> Scores:
        return ratio(resample(weights, stack(tallies, "minimum")), resample(weights, stack(tallies, "images")))

    return Criteria(protocol.names, ("min",) * len(protocol.names), rescore, protocol.names)
