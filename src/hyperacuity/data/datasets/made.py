"""The data set this package makes itself: a folder that ``hyperacuity scenes`` wrote (:mod:`hyperacuity.data.scenes`)."""

from __future__ import annotations

from pathlib import Path

from hyperacuity.data.datasets.samples import Dataset, Sample, by_stem

_EXTRAS = {
    "right": "right",
    "labels": "labels",
    "boundaries": "boundaries",
    "order": "order",
    "ownership": "ownership",
    "disparity": "disparity",
    "nonocc": "masks/nonocc",
    "all": "masks/all",
    "disc": "masks/disc",
}


def made_scenes(folder: Path) -> Dataset:
    """Scenes: ``images``, the annotators in ``groundTruth``, and every other truth among the extras."""
    images = by_stem(folder / "images")
    extras = {role: by_stem(folder / part) for role, part in _EXTRAS.items()}
    samples = (
        Sample(name, images.get(name), (truth,), {role: files[name] for role, files in extras.items() if name in files})
        for name, truth in sorted(by_stem(folder / "groundTruth").items())
    )
    return Dataset("scenes", folder, tuple(samples))
