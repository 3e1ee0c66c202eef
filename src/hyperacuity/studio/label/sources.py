"""Sources of candidates: the gradient, the network, another detector, or soft maps from files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data import read_image, read_soft
from hyperacuity.data.datasets.pairing import files_in, stem_of
from hyperacuity.detect import detector, detectors, rosin
from hyperacuity.detect.net.network import card, net, shipped
from hyperacuity.errors import InputError, UsageError, option
from hyperacuity.kernels.suppression import suppress_structured
from hyperacuity.maps import SoftMap, same_size
from hyperacuity.studio.items import Item
from hyperacuity.studio.label.map import GRADIENT, TOP, EdgeCandidates, find_candidates

NET = "net"

NET_START = 0.25
"""Threshold to start with for the network: a line that a quarter of the people are expected to draw. Its F is best near there."""

LAST = 0.02
"""Below this come, in a detector's candidates, those that only the gradient has."""

RIDGES = {"place": "the steepest gradient among the nine pixels around"}
LEVELS = {"threshold_levels": TOP, "thinning": "Guo & Hall, until nothing changes"}


@dataclass(frozen=True, eq=False)
class CandidateSource:
    """One source of candidates.

    Attributes
    ----------
    id : what logs and addresses call it. It changes when the same image would get other candidates.
    name : what the command line and the provenance call it.
    title : what the page calls it.
    settings : how the candidates are found, for the provenance.
    find : the candidates of an image. ``InputError`` where there are none to be had.
    """

    id: str
    name: str
    title: str
    settings: Mapping[str, Any]
    find: Callable[[Item], EdgeCandidates]


def gradient_source() -> CandidateSource:
    """The masks [−1 0 1], as in Abdulrahman, Magnier & Montesinos (2017), section 3.1."""
    settings = {
        "detector": "masks",
        "filter": "[-1 0 1] along rows and columns",
        "colour": "largest eigenvalue of the structure tensor over the channels",
        "suppression": "local non-maxima along the gradient",
        **LEVELS,
    }
    return CandidateSource(
        GRADIENT, GRADIENT, "Gradient", settings, lambda item: find_candidates(read_image(item.path))
    )


def net_source(*, moved: bool = True) -> CandidateSource:
    """The boundaries of the network that comes with the package, at its best setting, on the gradient's ridges.

    Strengths are absolute: the share of people expected to draw a boundary there, the same in every image. Logs of studios
    without ridges (:func:`on_ridges`) name the source that is not ``moved``.
    """
    checksum = card()["sha256"]
    settings = {
        "detector": NET,
        "setting": "best",
        "network_sha256": checksum,
        "suppression": "structured, smoothing 1, radius 1",
        **(RIDGES if moved else {}),
        **LEVELS,
    }

    def find(item: Item) -> EdgeCandidates:
        image = read_image(item.path)
        seen = net(image, setting="best")
        candidates = _candidates(seen.strength, seen.thin, start=NET_START)
        return on_ridges(candidates, find_candidates(image)) if moved else candidates

    name = f"{NET}-{checksum[:12]}"
    return CandidateSource(f"{name}-ridges" if moved else name, NET, "Network", settings, find)


def detector_source(name: str) -> CandidateSource:
    """A detector of the package by its name, options included: ``pb``, ``canny(sigma=2)``. ``UsageError`` for unknown ones.

    Strengths of ``pb``, ``gpb`` and ``gpb-ucm`` are probabilities; those of others are relative to the strongest in the image.
    The threshold starts at Rosin's corner. Candidates lie on the gradient's ridges (:func:`on_ridges`).

    >>> detector_source("canny( sigma = 2 )").title
    'canny(sigma=2.0)'
    """
    detect = detector(name)
    word = str(detect)
    settings = {"detector": word, "suppression": "local non-maxima along the gradient", **RIDGES, **LEVELS}

    def find(item: Item) -> EdgeCandidates:
        image = read_image(item.path)
        seen = detect(image)
        return on_ridges(_candidates(seen.soft, seen.thin), find_candidates(image))

    mark = hashlib.blake2s(word.encode(), digest_size=6).hexdigest()
    return CandidateSource(f"detector-{mark}", word, word, settings, find)


def maps_source(folder: Path) -> CandidateSource:
    """Soft maps in a folder, named as the images; suppressed as the network's are."""
    files = {stem_of(file): file for file in files_in(folder)}
    settings = {"detector": "maps", "folder": folder.name, "suppression": "structured, smoothing 1, radius 1", **LEVELS}

    def find(item: Item) -> EdgeCandidates:
        if item.name not in files:
            raise InputError(f"{item.path}: has no map in {folder.name}")
        strength = read_soft(files[item.name])
        image = read_image(item.path)
        plane = image if image.ndim == 2 else image[..., 0]
        same_size(strength, plane, names=(f"the map in {folder.name}", "the image"))
        return _candidates(strength, suppress_structured(strength))

    mark = hashlib.blake2s(folder.name.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    title = folder.name.encode("utf-8", "replace").decode()
    return CandidateSource(f"maps-{mark}", title, title, settings, find)


def sources_of(words: Sequence[str]) -> tuple[CandidateSource, ...]:
    """Sources by name: ``gradient``, ``net``, other detectors, or folders. ``UsageError`` for anything else.

    >>> [source.title for source in sources_of(["gradient", "gradient"])]
    ['Gradient']
    """
    sources: dict[str, CandidateSource] = {}
    for word in dict.fromkeys(words):
        if word == NET:
            shipped()  # fail at once where onnxruntime is missing
            source = net_source()
        elif word == GRADIENT:
            source = gradient_source()
        elif Path(word).is_dir() and word not in detectors():
            source = maps_source(Path(word).resolve())
        else:
            try:
                source = detector_source(word)
            except UsageError as error:
                expected = f"expected gradient, a detector ({', '.join(detectors())}), or a folder of soft maps"
                raise UsageError(f"{option('candidates', word)}: {expected}") from error
        if source.id in sources and source.id.startswith("maps-"):
            raise UsageError(f"`candidates=`: two folders are called {source.title}: rename one")
        sources[source.id] = source
    return tuple(sources.values())


def known_sources(offered: Iterable[CandidateSource]) -> dict[str, CandidateSource]:
    """All sources that a log may name, by id: those offered, and those that need no file."""
    return {source.id: source for source in (gradient_source(), net_source(moved=False), net_source(), *offered)}


def _candidates(strength: SoftMap, thin: NDArray[np.float32], *, start: float | None = None) -> EdgeCandidates:
    """Candidates where something survives suppression, as strong as the map itself: suppression fades what is near the frame.

    >>> strength = np.zeros((12, 12), np.float32); strength[:, 5] = 0.5
    >>> _candidates(strength, strength, start=0.4).above(round(0.4 * TOP)).any(axis=0).nonzero()[0]
    array([5])
    """
    survives = (thin > 0) & (strength > 0)
    level = np.maximum(np.rint(strength.astype(np.float64) * TOP), survives).astype(np.uint16)
    if start is None:
        start = rosin(level[survives]) / TOP if survives.any() else 1.0
    return EdgeCandidates(level, survives, min(TOP, max(1, round(start * TOP))))


def on_ridges(candidates: EdgeCandidates, gradient: EdgeCandidates) -> EdgeCandidates:
    """A detector's candidates, moved to where the gradient is steepest: it knows which edges matter, the gradient where they are.

    Each candidate moves to the strongest of the gradient's candidates among the nine pixels around it, and stays where there is
    none. The gradient's other candidates come last, below :data:`LAST` and by strength, so that a path follows them too. Without
    candidates of the detector there are only those.

    >>> step = np.zeros((5, 12), np.uint8); step[:, 6:] = 200
    >>> gradient = find_candidates(step)
    >>> beside = np.zeros((5, 12), np.float32); beside[:, 4] = 0.8
    >>> moved = on_ridges(_candidates(beside, beside), gradient)
    >>> np.argwhere(gradient.above(TOP))[0, 1], np.argwhere(moved.above(TOP // 2))[0, 1]
    (np.int64(5), np.int64(5))
    """
    rows, columns = np.nonzero(candidates.survives)
    steepness = np.pad(np.where(gradient.survives, gradient.level, 0).astype(np.int64), 1)
    around = [(0, 0), *((down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0))]
    steep = np.stack([steepness[rows + 1 + down, columns + 1 + right] for down, right in around])
    best = np.array(around)[steep.argmax(axis=0)] * (steep.max(axis=0) > 0)[:, None]
    level = np.minimum(gradient.level * LAST, LAST * TOP).astype(np.uint16)
    level[gradient.survives & (level == 0)] = 1
    places = (rows + best[:, 0], columns + best[:, 1])
    np.maximum.at(level, places, candidates.level[rows, columns])
    survives = gradient.survives.copy()
    survives[places] = True
    return EdgeCandidates(level, survives, candidates.start)
