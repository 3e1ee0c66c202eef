"""Detectors on trial: the best score of each, under each measure, on pictures as they are and disturbed on purpose.

A *picture* is an image and its truth; a *condition* is a change made to it before the trial: noise, blur, or another truth.
Anything that turns an image into a thin soft map can be tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from hyperacuity.edges.names import PAPER, measures
from hyperacuity.edges.synthetic import add_noise
from hyperacuity.edges.thresholds import Sweep, sweep
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels.distances import squared_distances
from hyperacuity.maps import EdgeMap, SoftMap, edge_map, same_size
from hyperacuity.resampling import bootstrap_weights, percentile_interval, resample

FindEdges = Callable[[NDArray[Any]], SoftMap]


@dataclass(frozen=True, eq=False)
class StudyPicture:
    """An image, grey or colour, floats in [0, 1], and its true edges."""

    name: str
    image: NDArray[np.floating[Any]]
    truth: EdgeMap


Condition = Callable[[StudyPicture], StudyPicture]


@dataclass(frozen=True, eq=False)
class DetectorTrial:
    """One picture: ``sweeps[c][d]`` is the sweep of detector d under condition c."""

    picture: str
    conditions: tuple[str, ...]
    detectors: tuple[str, ...]
    sweeps: tuple[tuple[Sweep, ...], ...]


@dataclass(frozen=True, eq=False)
class DetectorTrials:
    """Best scores and thresholds of many pictures, both as arrays [picture, condition, detector, measure]."""

    pictures: tuple[str, ...]
    conditions: tuple[str, ...]
    detectors: tuple[str, ...]
    measures: tuple[str, ...]
    minimum: NDArray[np.float64]
    threshold: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean of the best scores over pictures, [condition, detector, measure]."""
        return np.asarray(self.minimum.mean(axis=0))

    def interval(self, *, resamples: int = 1000, seed: int = 0) -> NDArray[np.float64]:
        """Bootstrap interval of :attr:`mean` over pictures, [condition, detector, measure, 2]."""
        count = len(self.pictures)
        drawn = resample(bootstrap_weights(count, resamples, seed), self.minimum.reshape(count, -1)) / count
        ends = np.array([percentile_interval(column) for column in drawn.T])
        return ends.reshape(*self.minimum.shape[1:], 2)

    def rows(self) -> list[dict[str, Any]]:
        """One row per picture, condition, detector and measure, for a CSV file."""
        return [
            {
                "picture": picture,
                "condition": condition,
                "detector": detector,
                "measure": name,
                "score": float(self.minimum[p, c, d, m]),
                "threshold": float(self.threshold[p, c, d, m]),
            }
            for p, picture in enumerate(self.pictures)
            for c, condition in enumerate(self.conditions)
            for d, detector in enumerate(self.detectors)
            for m, name in enumerate(self.measures)
        ]


def trial(
    picture: StudyPicture,
    detectors: Mapping[str, FindEdges],
    conditions: Mapping[str, Condition] | None = None,
    names: str | Iterable[str] = PAPER,
    *,
    thresholds: int = 101,
) -> DetectorTrial:
    """Let each detector find the edges of one picture under each condition, and sweep what it finds.

    Examples
    --------
    >>> image = np.zeros((8, 8)); image[:, 4:] = 1
    >>> edges = np.zeros((8, 8)); edges[:, 3] = 1
    >>> def ideal(image): return edges
    >>> found = trial(StudyPicture("step", image, edges > 0), {"ideal": ideal}, names="psi")
    >>> collect_trials([found]).minimum.item()
    0.0
    """
    names = [str(m) for m in measures(names)]
    conditions = {"as it is": unchanged} if conditions is None else conditions
    sweeps = []
    for change in conditions.values():
        changed = change(picture)
        found = (find(changed.image) for find in detectors.values())
        sweeps.append(tuple(sweep(changed.truth, thin, names, thresholds=thresholds) for thin in found))
    return DetectorTrial(picture.name, tuple(conditions), tuple(detectors), tuple(sweeps))


def collect_trials(trials: Sequence[DetectorTrial]) -> DetectorTrials:
    """The best scores and thresholds of all pictures, which must have been tried in the same way."""
    if not trials:
        raise InputError("no picture was tried, so there is nothing to collect")
    first = trials[0]
    names = first.sweeps[0][0].names
    best = [[[[s.best(name) for name in names] for s in row] for row in t.sweeps] for t in trials]
    numbers = np.array([[[[(b.score, b.threshold) for b in d] for d in c] for c in t] for t in best])
    pictures = tuple(t.picture for t in trials)
    return DetectorTrials(pictures, first.conditions, first.detectors, names, numbers[..., 0], numbers[..., 1])


def unchanged(picture: StudyPicture) -> StudyPicture:
    """The picture as it is."""
    return picture


def noisy(sigma: float, *, seed: int = 0) -> Condition:
    """Gaussian noise of a standard deviation in grey levels of 255."""
    if sigma < 0:
        raise UsageError(f"noise of {sigma:g} grey levels: expected 0 or more")
    if sigma == 0:
        return unchanged
    snr = 20 * np.log10(255 / sigma)
    return lambda picture: replace(picture, image=add_noise(picture.image, snr, definition="psnr", seed=seed))


def blurred(sigma: float) -> Condition:
    """Gaussian blur of a standard deviation in pixels."""
    if sigma < 0:
        raise UsageError(f"blur of {sigma:g} pixels: expected 0 or more")
    return lambda picture: replace(picture, image=ndimage.gaussian_filter(picture.image, sigma, axes=(0, 1)))


def speckle(shape: tuple[int, int], *, seed: int = 0) -> SoftMap:
    """Random pixels, as a soft map to be swept: the control that every detector should beat.

    The share of pixels at threshold Th is 10^(−4·Th): all of them at 0, one in ten thousand at 1.

    Examples
    --------
    >>> soft = speckle((100, 100))
    >>> [int((soft >= threshold).sum()) for threshold in (0, 0.25, 0.5)]
    [10000, 1000, 100]
    """
    words = np.random.PCG64(seed).random_raw(shape[0] * shape[1])
    rank = np.empty(len(words))
    rank[np.argsort(words, kind="stable")] = np.arange(1, len(words) + 1)
    strength = np.clip(-np.log10(rank / len(words)) / 4, 1e-6, 1)
    return np.asarray(strength.reshape(shape), np.float32)


def semi_automatic(hand: ArrayLike, found: ArrayLike, *, radius: float = 3) -> EdgeMap:
    """A hand-drawn truth redrawn on the edges of the image: a stand-in for semi-automatic labels (section 3.1).

    There a person deletes the unwanted edges and adds the ones that are missing. Here an edge is wanted
    if it lies within ``radius`` pixels of the hand-drawn truth, and what a person has drawn is added where no found edge lies
    that near. Edges that the person had left out stay out.

    Examples
    --------
    >>> hand = [[1, 0, 0, 0, 0, 0, 1]]
    >>> semi_automatic(hand, [[0, 1, 0, 0, 0, 0, 0]], radius=1).astype(int)
    array([[0, 1, 0, 0, 0, 0, 1]])
    """
    drawn, seen = edge_map(hand, name="hand-drawn truth"), edge_map(found, name="found edges")
    same_size(seen, drawn, names=("found edges", "the hand-drawn truth"))
    wanted = seen & (squared_distances(drawn) <= radius**2)
    return wanted | (drawn & (squared_distances(wanted) > radius**2))
