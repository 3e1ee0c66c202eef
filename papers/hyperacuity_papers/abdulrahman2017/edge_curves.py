"""Scores of detectors at every threshold, on many pictures and under several truths of each: the source of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.edges.names import measure, measures
from hyperacuity.edges.thresholds import TIE, threshold_levels
from hyperacuity.errors import InputError, UsageError
from hyperacuity.maps import EdgeMap
from hyperacuity.resampling import ratio
from hyperacuity.run.keeping import Arrays, Kept
from hyperacuity.run.many import Failures, PictureSource, attempt_each
from hyperacuity_papers.abdulrahman2017.edge_sweeps import CONTROL, swept

AUTOMATIC = ("otsu", "rosin")


@dataclass(frozen=True, eq=False)
class TruthsOfPicture:
    """An image, grey or colour, floats in [0, 1], and its true edges by the name of the truth."""

    name: str
    image: NDArray[np.floating[Any]]
    truths: Mapping[str, EdgeMap]


@dataclass(frozen=True, eq=False)
class EdgeCurves:
    """``scores[p, g, d, m, t]`` of picture p under truth g, by detector d and measure m at threshold t, and what belongs to them.

    ``counts[p, g, d, :, t]`` are hits, false and missed pixels, ``pixels[p]`` the size of the picture, ``automatic[p, d]`` the
    thresholds of :data:`AUTOMATIC`, taken of the strengths that survive suppression and rounded to the thresholds swept.
    """

    pictures: tuple[str, ...]
    truths: tuple[str, ...]
    detectors: tuple[str, ...]
    measures: tuple[str, ...]
    thresholds: NDArray[np.float64]
    scores: NDArray[np.float64]
    counts: NDArray[np.int64]
    automatic: NDArray[np.float64]
    pixels: NDArray[np.int64]

    @cached_property
    def best(self) -> NDArray[np.int64]:
        """Index of the smallest threshold that reaches the minimum, [picture, truth, detector, measure]."""
        lowest = np.nanmin(self.scores, axis=-1, keepdims=True)
        return np.asarray((self.scores <= lowest + TIE * np.abs(lowest)).argmax(axis=-1))

    @cached_property
    def minimum(self) -> NDArray[np.float64]:
        """The lowest score over thresholds, [picture, truth, detector, measure]."""
        return self.at(self.best)

    def at(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        """Scores at thresholds given by their index, one per picture, truth, detector and measure (or 1 of these)."""
        wanted = np.broadcast_to(index, self.scores.shape[:-1])[..., np.newaxis]
        return np.asarray(np.take_along_axis(self.scores, wanted, axis=-1)[..., 0])

    def automatic_index(self, rule: str) -> NDArray[np.int64]:
        """The automatic threshold of a rule, as an index for :meth:`at`."""
        chosen = self.automatic[..., AUTOMATIC.index(rule)]
        return np.asarray(self.nearest(chosen)[:, np.newaxis, :, np.newaxis])

    def nearest(self, threshold: float | NDArray[np.float64]) -> NDArray[np.int64]:
        """The index of the swept threshold nearest to one."""
        return np.asarray(np.rint(np.asarray(threshold) * (len(self.thresholds) - 1)), np.int64)

    def counts_at_best(self, name: str, truth: int = 0) -> NDArray[np.int64]:
        """Hits, false and missed pixels where a measure is lowest, [picture, detector, 3]."""
        index = self.best[:, truth, :, self.number(name)][:, :, np.newaxis, np.newaxis]
        return np.asarray(np.take_along_axis(self.counts[:, truth], index, axis=-1)[..., 0])

    def number(self, name: str) -> int:
        """The number of a measure, by any spelling of its name."""
        return self.measures.index(str(measure(name)))

    def mean(self, name: str, truth: int = 0) -> dict[str, float]:
        """Mean over pictures of each detector's minimum."""
        found = self.minimum[:, truth, :, self.number(name)].mean(axis=0)
        return dict(zip(self.detectors, found.tolist(), strict=True))

    def threshold(self, name: str, truth: int = 0) -> dict[str, float]:
        """Mean over pictures of each detector's threshold at the minimum."""
        found = self.thresholds[self.best[:, truth, :, self.number(name)]].mean(axis=0)
        return dict(zip(self.detectors, found.tolist(), strict=True))

    def winner(self, name: str, truth: int = 0, *, among: Sequence[str] | None = None) -> str:
        """The detector with the lowest mean; the control does not count."""
        scores = self.mean(name, truth)
        return min(among or [d for d in self.detectors if d != CONTROL], key=scores.__getitem__)

    def rates(self, truth: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Recall, precision and rate of false pixels over all pictures together, each [detector, threshold]."""
        hits, false, missed = np.moveaxis(self.counts[:, truth].sum(axis=0), 1, 0)
        background = self.pixels.sum() - (hits + missed)
        return ratio(hits, hits + missed), ratio(hits, hits + false), ratio(false, background)

    def area(self, truth: int = 0) -> dict[str, float]:
        """Area under each detector's ROC curve, from (0, 0) to (1, 1) by straight lines.

        Suppression leaves most pixels without any strength, so the last stretch, from Th = 0 to (1, 1), is chance.
        """
        recall, _, false = self.rates(truth)
        ends = (
            [np.concatenate([[1.0], rate, [0.0]]) for rate in recall],
            [np.concatenate([[1.0], r, [0.0]]) for r in false],
        )
        return {name: float(-np.trapezoid(y, x)) for name, y, x in zip(self.detectors, *ends, strict=True)}


def edge_curves(
    sources: Iterable[PictureSource[TruthsOfPicture]],
    detectors: Sequence[str],
    names: Sequence[str],
    kept: Kept,
    workers: int | None,
    title: str,
) -> tuple[EdgeCurves, Failures]:
    """Sweep each detector on each picture under each of its truths; pictures that cannot be read are left out and named."""
    names = [str(m) for m in measures(names)]

    def work(source: PictureSource[TruthsOfPicture]) -> tuple[TruthsOfPicture, Arrays]:
        picture = source.load()
        depends = [
            "curves",
            *names,
            *detectors,
            picture.image,
            *(part for pair in picture.truths.items() for part in pair),
        ]
        return picture, kept(depends, lambda: swept(picture.image, picture.truths, detectors, names))

    found: list[tuple[TruthsOfPicture, Arrays]] = []
    failures: Failures = []
    for source, result in attempt_each(work, sources, workers, title):
        if isinstance(result, InputError):
            failures.append((source.name, str(result)))
        else:
            found.append(result)
    if not found:
        raise UsageError(f"no picture could be studied; {': '.join(failures[0])}")
    stacked = {key: np.stack([arrays[key] for _, arrays in found]) for key in found[0][1]}
    truths = tuple(found[0][0].truths)
    pictures = tuple(picture.name for picture, _ in found)
    pixels = np.array([picture.image.shape[0] * picture.image.shape[1] for picture, _ in found])
    levels = threshold_levels(101)
    return EdgeCurves(pictures, truths, tuple(detectors), tuple(names), levels, **stacked, pixels=pixels), failures
