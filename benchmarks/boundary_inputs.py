"""Maps to match: of the BSDS500 test set where ``HYPERACUITY_DATA`` has it, of made scenes otherwise."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hyperacuity.boundary import Protocol
from hyperacuity.data import read_boundary_truths, read_image, read_soft
from hyperacuity.data.scenes import make_scene
from hyperacuity.detect import canny
from hyperacuity.kernels.suppression import suppress_structured
from hyperacuity.maps import EdgeMap, SoftMap

SIGMA = 2.0


@dataclass(frozen=True, eq=False)
class Picture:
    """A photograph or a made one, what its annotators drew, and its contour map by gPb-owt-ucm where that is known."""

    name: str
    image: np.ndarray
    truths: list[EdgeMap]
    ucm: SoftMap | None


@dataclass(frozen=True)
class Kind:
    """A kind of soft map and how it is evaluated. ``bar_ms`` is what one picture may cost us: 99 thresholds, all annotators."""

    title: str
    protocol: Protocol
    bar_ms: float


KINDS = {
    "ucm": Kind("ucm maps", Protocol(), 30),
    "suppressed": Kind("suppressed maps", Protocol(), 45),
    "thick-thinned": Kind("thick maps, thinned", Protocol(), float("nan")),
    "thick": Kind("thick maps, as they are", Protocol(thin=False), 100),
}
"""``suppressed`` stands in for the maps of a learned detector after the customary suppression: here it is applied to the gradient
magnitude at σ = 2. ``thick`` is that magnitude itself."""


def bsds500() -> Path | None:
    """The folder of BSDS500 with gPb-ucm maps of its test set, if it is there."""
    folder = Path(os.environ.get("HYPERACUITY_DATA", "")) / "bsds500"
    return folder if (folder / "ucm2" / "test").is_dir() else None


def pictures(count: int) -> Iterator[Picture]:
    """``count`` pictures spread evenly over the test set, or as many made scenes of the same size."""
    folder = bsds500()
    if folder is None:
        for seed in range(1, count + 1):
            scene = make_scene(seed, size=(481, 321))
            yield Picture(f"scene {seed}", scene.image, [one.boundaries for one in scene.annotators], None)
        return
    names = sorted(path.stem for path in (folder / "ucm2" / "test").glob("*.mat"))
    for name in names[:: max(1, len(names) // count)][:count]:
        yield Picture(
            name,
            read_image(folder / "images" / "test" / f"{name}.jpg"),
            read_boundary_truths([folder / "groundTruth" / "test" / f"{name}.mat"]),
            read_soft(folder / "ucm2" / "test" / f"{name}.mat"),
        )


def soft_map_of(picture: Picture, kind: str) -> SoftMap | None:
    """The picture's soft map of a kind; None where there is none."""
    if kind == "ucm":
        return picture.ucm
    thick = canny(picture.image, sigma=SIGMA).soft
    return suppress_structured(thick) if kind == "suppressed" else thick
