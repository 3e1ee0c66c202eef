r"""Perceptual strength: which boundaries did everyone draw, and which only one person?

An annotator's boundary pixel that M of the other N − 1 annotators drew too (their maps are matched pair by pair) has the strength
:math:`s = (M + 1) / N`. A pixel that nobody else drew is an *orphan* (M = 0), one that everybody drew is *consensus* (s = 1).

A data set's shares can be counted in two ways. Of *pixels*, every annotator's pixel counts once, so that a boundary which all
five people drew counts five times. Of *boundaries*, a pixel has the weight 1 / (M + 1), so that it counts once however many
drew it. The paper's figures are shares of boundaries.

References
----------
Hou, Yuille & Koch (2013), Boundary detection benchmarking: beyond F-measures, section 1.2.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.boundary.matching import TOLERANCE, match
from hyperacuity.errors import InputError
from hyperacuity.maps import EdgeMap, edge_map, same_size
from hyperacuity.resampling import Bootstrap, Draws, percentile_interval, resample
from hyperacuity.tally import Arrays, BaseProtocol, Counts, Scores, Tally, Weights, number, protocol_of
from hyperacuity.tasks import Criteria

CLASSES = ("[0, 0.2)", "[0.2, 0.4)", "[0.4, 0.6)", "[0.6, 0.8)", "[0.8, 1)", "1")
"""Classes of strength; each includes its lower end, and the last is consensus alone."""

ROUNDING = 1e-9
"""Strengths are fractions: 3/5 is to reach a threshold of 0.6."""

NAN = float("nan")


@dataclass(frozen=True)
class StrengthProtocol(BaseProtocol):
    """Rules by which annotators are matched with each other.

    >>> StrengthProtocol().signature
    strength|tol:0.0075diag|v:1
    """

    task: ClassVar[str] = "strength"
    tolerance: float = TOLERANCE
    """Largest distance of partners, as a fraction of the image diagonal."""
    tolerance_px: float | None = None
    """Largest distance in pixels, in place of the fraction."""

    def parts(self) -> dict[str, object]:
        """Parts of the signature."""
        pixels = self.tolerance_px
        return {"tol": f"{number(self.tolerance)}diag" if pixels is None else f"{number(pixels)}px"}


@dataclass(frozen=True, eq=False)
class StrengthTally(Tally):
    """Counts of one image, or of several with the same number N of annotators.

    Parameters
    ----------
    pixels
        N × N: how many pixels of an annotator (row) were drawn by one person, by two, … by all (column).
    agreed
        N × N: how many pixels of an annotator (row) another one (column) drew too; on the diagonal all that were drawn.
    """

    pixels: Counts
    agreed: Counts

    def validate(self) -> None:
        """Require that annotators agree with each other, and that every pixel has a strength."""
        super().validate()
        people = len(self.pixels)
        self.require_shape((people, people), "pixels", "agreed")
        drawn = np.diagonal(self.agreed)
        self.require_at_most(np.minimum(drawn, drawn[:, np.newaxis]), "agreed")
        self.require(self.agreed == self.agreed.T, "agreed", "as many pixels either way")
        self.require(self.pixels.sum(axis=1) == drawn, "pixels", "a strength for every pixel")
        others = self.agreed.sum(axis=1) - drawn
        self.require(self.pixels @ np.arange(people) == others, "pixels", "as many other annotators as agree")

    def truth_counts(self) -> Arrays:
        """All counts: there is no system."""
        return self.arrays


@dataclass(frozen=True, eq=False)
class Strengths:
    """Agreement of the annotators of one image.

    ``drawn_by`` holds a map per annotator: at each pixel of the annotator's boundaries how many people drew it (M + 1), 0
    elsewhere. ``agreed`` is as in :class:`StrengthTally`.
    """

    drawn_by: tuple[NDArray[np.int16], ...]
    agreed: Counts
    protocol: StrengthProtocol

    @property
    def annotators(self) -> int:
        """Number of people who drew the image."""
        return len(self.drawn_by)

    @property
    def maps(self) -> tuple[NDArray[np.float64], ...]:
        """The strength (M + 1) / N of each annotator's pixels, 0 elsewhere."""
        return tuple(drawn / self.annotators for drawn in self.drawn_by)

    @property
    def agreement(self) -> NDArray[np.float64]:
        """Share of an annotator's pixels (row) that another one (column) drew too; 1 on the diagonal, NaN for an empty map."""
        return _agreement(self.agreed)

    def at_least(self, strength: float) -> list[EdgeMap]:
        """Each annotator's boundaries of at least this strength. 0 keeps all, 1 keeps consensus; maps may become empty."""
        needed = max(1.0, strength * self.annotators - ROUNDING)
        return [drawn >= needed for drawn in self.drawn_by]

    @property
    def orphans(self) -> list[EdgeMap]:
        """Pixels that each annotator alone drew; none with a single annotator, whose pixels are consensus."""
        return [(drawn == 1) & (self.annotators > 1) for drawn in self.drawn_by]

    @property
    def consensus(self) -> list[EdgeMap]:
        """Pixels that everybody drew, as each annotator drew them."""
        return self.at_least(1)

    @property
    def strongest(self) -> NDArray[np.float64]:
        """One map of all annotators: at each pixel the greatest strength, 0 where nobody drew."""
        return np.asarray(np.max(self.drawn_by, axis=0) / self.annotators, np.float64)

    @property
    def boundaries(self) -> Shares:
        """The image's shares of boundaries, each counted once."""
        return _shares(_boundaries([self.tally]), None)

    @property
    def pixels(self) -> Shares:
        """The image's shares of drawn pixels."""
        return _shares(_by_class(self.tally.pixels.sum(axis=0).astype(np.float64))[None], None)

    @cached_property
    def tally(self) -> StrengthTally:
        """The counts behind a data set's statistics."""
        n = self.annotators
        pixels = [np.bincount(drawn.ravel(), minlength=n + 1)[1:] for drawn in self.drawn_by]
        return StrengthTally(np.array(pixels, np.int64), self.agreed, protocol=self.protocol)


def strengths(
    truths: Sequence[ArrayLike], tolerance: float = TOLERANCE, *, tolerance_px: float | None = None
) -> Strengths:
    r"""For each annotator's boundary pixel, how many annotators drew it.

    Every pair of maps is matched once (:func:`hyperacuity.boundary.match`): a pixel that takes part counts the other annotator. A
    single annotator's pixels have strength 1. Empty maps are people who drew nothing: they count in N.

    Examples
    --------
    >>> first = [[1, 1, 0, 1, 0, 0, 0, 0]]
    >>> second = [[1, 0, 0, 1, 0, 1, 0, 0]]
    >>> third = [[1, 0, 0, 0, 0, 0, 0, 0]]
    >>> result = strengths([first, second, third], tolerance_px=0)
    >>> result.drawn_by[0]
    array([[3, 1, 0, 2, 0, 0, 0, 0]], dtype=int16)
    >>> [int(people.sum()) for people in result.orphans]
    [1, 1, 0]
    >>> result.boundaries.orphan, result.boundaries.consensus
    (0.5, 0.25)
    """
    if not len(truths):
        raise InputError("there is no truth: expected at least one annotator's boundaries")
    maps = [edge_map(truth, name=f"truth of annotator {number}") for number, truth in enumerate(truths, 1)]
    for truth in maps[1:]:
        same_size(truth, maps[0], names=("an annotator's truth", "the first one's"))
    drawn_by = [truth.astype(np.int16) for truth in maps]
    agreed = np.diag([np.count_nonzero(truth) for truth in maps]).astype(np.int64)
    for one, other in itertools.combinations(range(len(maps)), 2):
        matches = match(maps[one], maps[other], tolerance, tolerance_px=tolerance_px)
        drawn_by[one].flat[matches.detected] += 1
        drawn_by[other].flat[matches.truth] += 1
        agreed[one, other] = agreed[other, one] = matches.count
    return Strengths(tuple(drawn_by), agreed, StrengthProtocol(tolerance, tolerance_px))


def tally_strengths(
    prediction: None, truths: Sequence[ArrayLike], protocol: StrengthProtocol = StrengthProtocol()
) -> StrengthTally:
    """Count who agrees with whom on one image. There is no prediction; the annotators are compared with each other."""
    result = strengths(truths, protocol.tolerance, tolerance_px=protocol.tolerance_px)
    return replace(result.tally, protocol=protocol)


@dataclass(frozen=True)
class Shares:
    """Shares of orphans and of consensus, each with its 95 % bootstrap interval over images.

    Images with a single annotator have consensus only and are left out of the orphan share, which is NaN without others.
    """

    orphan: float
    consensus: float
    orphan_interval: tuple[float, float] = (NAN, NAN)
    consensus_interval: tuple[float, float] = (NAN, NAN)


@dataclass(frozen=True, eq=False)
class LabelScore:
    """Agreement of the annotators of a data set.

    ``by_strength`` has a row per class of :data:`CLASSES`: its share of boundaries and its share of pixels. ``agreement`` is the
    share of a person's pixels that another person drew too, over all pairs. ``matrix`` has it for each pair (row, column), or
    None if images differ in their number of annotators. ``by_image`` has the shares of boundaries of each image.
    """

    images: tuple[str, ...]
    annotators: tuple[int, ...]
    boundaries: Shares
    pixels: Shares
    by_strength: NDArray[np.float64]
    agreement: float
    matrix: NDArray[np.float64] | None
    by_image: dict[str, Shares]


def collect_strengths(tallies: Mapping[str, StrengthTally], *, resamples: int = 1000, seed: int = 0) -> LabelScore:
    """The label statistics of a data set. ``UsageError`` without images; shares of a data set without a label are NaN.

    Examples
    --------
    >>> strip = [[[1, 1, 0, 1, 0, 0, 0, 0]], [[1, 0, 0, 1, 0, 1, 0, 0]], [[1, 0, 0, 0, 0, 0, 0, 0]]]
    >>> score = collect_strengths({"strip": strengths(strip, tolerance_px=0).tally}, resamples=0)
    >>> score.boundaries.orphan, score.boundaries.consensus
    (0.5, 0.25)
    >>> round(score.pixels.orphan * 7), round(score.pixels.consensus * 7)
    (2, 3)
    """
    protocol_of(tallies.values(), StrengthProtocol)
    every = list(tallies.values())
    people = [len(tally.pixels) for tally in every]
    pixels = np.array([_by_class(tally.pixels.sum(axis=0).astype(np.float64)) for tally in every])
    boundaries = _boundaries(every)
    weights, by_name = Bootstrap(len(every), resamples, seed) if resamples else None, np.argsort(list(tallies))
    matrix = _agreement(np.sum([tally.agreed for tally in every], axis=0)) if len(set(people)) == 1 else None
    labels = [np.diagonal(tally.agreed).sum() for tally in every]
    could = sum(int(count) * (n - 1) for count, n in zip(labels, people, strict=True))
    agreed = sum(int(tally.agreed.sum()) for tally in every) - int(sum(labels))
    shares = np.stack([_share(part.sum(axis=0)[:6], part[:, :6].sum()) for part in (boundaries, pixels)], axis=1)
    return LabelScore(
        images=tuple(tallies),
        annotators=tuple(people),
        boundaries=_shares(boundaries[by_name], weights),
        pixels=_shares(pixels[by_name], weights),
        by_strength=shares,
        agreement=agreed / could if could else NAN,
        matrix=matrix,
        by_image={image: _shares(row[None], None) for image, row in zip(tallies, boundaries, strict=True)},
    )


def _boundaries(tallies: Sequence[StrengthTally]) -> NDArray[np.float64]:
    """Boundaries of each image by class (:func:`_by_class`), each counted once."""
    drawn = [tally.pixels.sum(axis=0) for tally in tallies]
    return np.array([_by_class(counts / np.arange(1, counts.size + 1)) for counts in drawn])


def criteria(protocol: StrengthProtocol) -> Criteria:
    """The shares of boundaries that one person drew, and that everyone drew."""

    def rescore(tallies: Sequence[StrengthTally], weights: Weights) -> Scores:
        return np.column_stack(_orphan_and_consensus(resample(weights, _boundaries(tallies))))

    return Criteria(("orphan", "consensus"), ("min", "max"), rescore, ("orphan", "consensus"))


def strength_class(drawn_by: NDArray[np.int64], annotators: int) -> NDArray[np.int64]:
    """The index in :data:`CLASSES` of pixels that this number of annotators drew.

    >>> strength_class(np.array([1, 2, 3, 4, 5]), 5)
    array([1, 2, 3, 4, 5])
    >>> strength_class(np.array([1, 2, 5, 6]), 6)
    array([0, 1, 4, 5])
    """
    return np.minimum(5 * drawn_by / annotators + ROUNDING, 5).astype(np.int64)


def _by_class(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums by class of strength, then those of orphans, and of everything that could be one."""
    n = counts.size
    classes = np.bincount(strength_class(np.arange(1, n + 1), n), counts, minlength=6)
    return np.array([*classes, *((counts[0], counts.sum()) if n > 1 else (0, 0))])


def _shares(parts: NDArray[np.float64], weights: Draws | None) -> Shares:
    orphan, consensus = _orphan_and_consensus(parts.sum(axis=0))
    spread = () if weights is None else _orphan_and_consensus(resample(weights, parts))
    return Shares(float(orphan), float(consensus), *map(percentile_interval, spread))


def _orphan_and_consensus(sums: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The two shares from sums as :func:`_by_class` makes them."""
    return _share(sums[..., 6], sums[..., 7]), _share(sums[..., 5], sums[..., :6].sum(axis=-1))


def _share(part: NDArray[np.float64], whole: ArrayLike) -> NDArray[np.float64]:
    whole = np.asarray(whole, np.float64)
    return np.asarray(part / np.where(whole == 0, NAN, whole), np.float64)


def _agreement(agreed: Counts) -> NDArray[np.float64]:
    return _share(agreed.astype(np.float64), np.diagonal(agreed)[:, None])
