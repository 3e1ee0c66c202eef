"""A data set of hierarchies or segmentations: tally each image at every level, collect covering, PRI and VI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError
from hyperacuity.regions.levels import Levels, level_thresholds
from hyperacuity.regions.measures import compare
from hyperacuity.resampling import Bootstrap, Draws, percentile_interval, resample
from hyperacuity.tally import Arrays, BaseProtocol, Counts, Scores, Sums, Tally, Weights, protocol_of, stack
from hyperacuity.tasks import Criteria


@dataclass(frozen=True)
class Protocol(BaseProtocol):
    """A benchmark of segmentations: a hierarchy is cut at several levels, a stack of segmentations is used as it is."""

    task: ClassVar[str] = "regions"
    levels: int = 99
    """Number of levels at which a hierarchy is cut."""

    def __post_init__(self) -> None:
        level_thresholds(self.levels)

    def parts(self) -> dict[str, object]:
        """
        >>> Protocol().signature
        regions|levels:99|gt:all|v:1
        """
        return {"levels": self.levels, "gt": "all"}

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """The levels at which a hierarchy is cut, rising."""
        return level_thresholds(self.levels)


@dataclass(frozen=True, eq=False)
class RegionTally(Tally):
    """Sums over images; arrays have one entry per level."""

    covered: Sums  # Σ area × best overlap over the annotators' regions
    truth_area: Counts  # ()
    covering: Sums  # the same over the machine's regions
    machine_area: Counts
    best_covered: Sums  # () each annotator's region at its best level
    rand: Sums  # mean over annotators, summed over images
    variation: Sums
    images: Counts  # ()
    stacks: Counts  # () images whose levels were given one by one, not cut from a hierarchy

    def validate(self) -> None:
        """Require that regions cover no more than their area, and that no Rand index exceeds 1."""
        super().validate()
        levels = np.size(self.covered) if np.any(self.stacks) else protocol_of([self], Protocol).levels
        self.require_shape((), "truth_area", "best_covered", "images", "stacks")
        self.require_shape((levels,), "covered", "covering", "machine_area", "rand", "variation")
        self.require_at_most("truth_area", "covered", "best_covered")
        self.require_at_most("images", "rand", "stacks")
        self.require_at_most("machine_area", "covering")
        self.require_finite("variation")

    def truth_counts(self) -> Arrays:
        """The area of all annotators' regions."""
        return {"truth_area": self.truth_area}


@dataclass(frozen=True)
class LevelSummary:
    """One measure on a data set: the best level for all images and its value (ODS), and each image at its best level (OIS)."""

    level: float
    ods: float
    ois: float
    interval: tuple[float, float]
    """Bootstrap interval of ODS over images."""


@dataclass(frozen=True, eq=False)
class RegionScore:
    """One system on a data set. ``best`` is the covering with each annotator's region at its best level."""

    protocol: Protocol
    covering: LevelSummary
    best: float
    pri: LevelSummary
    vi: LevelSummary
    levels: NDArray[np.float64]  # thresholds of a hierarchy, or 1, 2, … for a stack
    curves: NDArray[np.float64]  # [measure, level]: covering, PRI, VI
    images: int


def tally(
    prediction: Levels | Sequence[ArrayLike], truths: Sequence[ArrayLike], protocol: Protocol | None = None
) -> RegionTally:
    """Compare one image's hierarchy or stack of segmentations with all annotators.

    A hierarchy must have been cut at the protocol's levels, for example by ``ucm_levels(ucm2, protocol.thresholds)``.

    Examples
    --------
    >>> one = tally([[[0, 0, 1, 1]]], [[[1, 1, 2, 2]], [[1, 1, 1, 1]]])
    >>> one.covered, one.truth_area, one.rand
    (array([6.]), array(8), array([0.66666667]))
    """
    protocol = protocol or Protocol()
    nested = isinstance(prediction, Levels)
    if isinstance(prediction, Levels) and not np.array_equal(prediction.thresholds, protocol.thresholds):
        raise InputError(f"the hierarchy is cut at other levels than the {protocol.levels} of the protocol")
    sums = {name: np.asarray(value) for name, value in vars(compare(prediction, truths)).items()}
    return RegionTally(**sums, images=np.array(1), stacks=np.array(int(not nested)), protocol=protocol)


def collect(tallies: Mapping[str, RegionTally], *, resamples: int = 1000, seed: int = 0) -> RegionScore:
    """Scores of a data set, as Berkeley's benchmark forms them, with bootstrap intervals (NaN with ``resamples=0``).

    Covering sums areas over images before it divides; PRI and VI are means over images.

    Examples
    --------
    >>> score = collect({"a": tally([[[0, 0, 1, 1]]], [[[1, 1, 2, 2]], [[1, 1, 1, 1]]])})
    >>> score.covering.ods, score.best, score.vi.ods
    (0.75, 0.75, 0.5)
    """
    levels, every = level_names(tallies), [tallies[image] for image in sorted(tallies)]
    covered, areas = stack(every, "covered"), stack(every, "truth_area")[:, np.newaxis]
    rand, variation = stack(every, "rand"), stack(every, "variation")
    images = np.ones_like(areas)
    weights: Draws = Bootstrap(len(every), resamples, seed) if resamples else np.empty((0, len(every)), np.int64)

    def summary(sums: NDArray[np.float64], counts: NDArray[np.int64], best: Literal["max", "min"]) -> LevelSummary:
        curve = _ratio(sums.sum(axis=0), counts.sum(axis=0))
        drawn = _ratio(resample(weights, sums), resample(weights, counts))
        chosen = getattr(np, f"arg{best}")(curve)
        return LevelSummary(
            level=float(levels[chosen]),
            ods=float(curve[chosen]),
            ois=float(_ratio(getattr(sums, best)(axis=1).sum(), counts.sum())),
            interval=percentile_interval(getattr(drawn, best)(axis=1)),
        )

    return RegionScore(
        protocol_of(every, Protocol),
        covering=summary(covered, areas, "max"),
        best=float(_ratio(stack(every, "best_covered").sum(), areas.sum())),
        pri=summary(rand, images, "max"),
        vi=summary(variation, images, "min"),
        levels=levels,
        curves=np.array([_ratio(covered.sum(axis=0), areas.sum()), rand.mean(axis=0), variation.mean(axis=0)]),
        images=len(every),
    )


def level_names(tallies: Mapping[str, RegionTally]) -> NDArray[np.float64]:
    """Names of the levels of these tallies: thresholds of hierarchies, or 1, 2, … for stacks; the two do not mix."""
    protocol = protocol_of(tallies.values(), Protocol)
    (first, one), *others = tallies.items()
    for image, other in others:
        if len(other.covered) != len(one.covered) or other.stacks != one.stacks:
            raise InputError(
                f"{image} has {_described(other)} but {first} has {_described(one)}: "
                "all images of a system must have the same levels"
            )
    return np.arange(1.0, len(one.covered) + 1) if one.stacks else protocol.thresholds


def _described(one: RegionTally) -> str:
    return f"{len(one.covered)} {'segmentations' if one.stacks else 'levels of a hierarchy'}"


def _ratio(sums: ArrayLike, counts: ArrayLike) -> NDArray[np.float64]:
    """Sums over counts; 0 where nothing was counted, as in Berkeley's benchmark."""
    return np.divide(sums, np.maximum(counts, 1), dtype=np.float64)


def criteria(protocol: Protocol) -> Criteria:
    """Covering, PRI and VI at the level that is best for all images."""

    def rescore(tallies: Sequence[RegionTally], weights: Weights) -> Scores:
        images = np.maximum(weights.sum(axis=1), 1)[:, None]
        areas = np.maximum(resample(weights, stack(tallies, "truth_area")), 1)[:, None]
        covering = resample(weights, stack(tallies, "covered")) / areas
        rand, variation = (resample(weights, stack(tallies, name)) / images for name in ("rand", "variation"))
        return np.column_stack([covering.max(axis=1), rand.max(axis=1), variation.min(axis=1)])

    names = ("covering", "pri", "vi")
    return Criteria(names, ("max", "max", "min"), rescore, names)
