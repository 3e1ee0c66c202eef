"""One picture swept: what the studies of edge measures keep. It depends on this module's code and all below it, and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.detect import detector, otsu, rosin
from hyperacuity.edges.thresholds import sweep
from hyperacuity.maps import EdgeMap, SoftMap
from hyperacuity.run.keeping import Arrays
from hyperacuity_papers.abdulrahman2017.edge_trials import speckle

CONTROL = "speckle"
"""Random pixels in place of a detector."""

MODULES = ("hyperacuity_papers.abdulrahman2017.edge_sweeps", "hyperacuity_papers.abdulrahman2017.edge_trials")
"""Modules whose code makes the cached results."""


def finder(name: str) -> Callable[[NDArray[Any]], SoftMap]:
    """Return the function that turns an image into a thin soft map: a detector by name, or the control."""
    if name == CONTROL:
        return lambda image: speckle(image.shape[:2])
    find = detector(name)
    return lambda image: find(image).thin


def swept(image: NDArray[Any], truths: Mapping[str, EdgeMap], detectors: Iterable[str], names: Sequence[str]) -> Arrays:
    """Scores and counts at 101 thresholds, [truth, detector, …, threshold], and the thresholds of Otsu and Rosin."""
    thin = [finder(name)(image) for name in detectors]
    found = [[sweep(truth, soft, names) for soft in thin] for truth in truths.values()]
    return {
        "scores": np.array([[one.scores for one in row] for row in found]),
        "counts": np.array([[(one.hits, one.false, one.missed) for one in row] for row in found]),
        "automatic": np.array([[rule(soft[soft > 0]) for rule in (otsu, rosin)] for soft in thin]).clip(0, 1),
    }


def lowest(image: NDArray[Any], truth: EdgeMap, detectors: Iterable[str], names: Sequence[str]) -> Arrays:
    """The lowest score over 101 thresholds, [detector, measure]."""
    thin = (finder(name)(image) for name in detectors)
    return {"lowest": np.array([np.nanmin(sweep(truth, soft, names).scores, axis=1) for soft in thin])}
