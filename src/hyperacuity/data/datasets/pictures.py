"""Pictures and truths in folders of their own: RUG (Grigorescu, Petkov & Westenberg 2003), UDED (Soria et al. 2023), scenes."""

from __future__ import annotations

from pathlib import Path

from hyperacuity.data.datasets.samples import Dataset, by_stem, samples_of

_SCENE_PARTS = ("right", "labels", "boundaries", "order", "ownership", "disparity")
_SCENE_MASKS = ("nonocc", "all", "disc")


def rug(folder: Path) -> Dataset:
    """RUG: ``*.pgm`` and ``gt/*_gt_binary.pgm``, in which 0 is the contour."""
    truths = {name.removesuffix("_gt_binary"): path for name, path in by_stem(folder / "gt").items()}
    return Dataset("rug", folder, samples_of(by_stem(folder / "images") or by_stem(folder), truths), inverted=True)


def uded(folder: Path) -> Dataset:
    """UDED: ``imgs/*.png`` and ``gt/*.png``, in which 255 is the edge."""
    return Dataset("uded", folder, samples_of(by_stem(folder / "imgs"), by_stem(folder / "gt")))


def scenes(folder: Path) -> Dataset:
    """A folder that ``hyperacuity scenes`` wrote: ``images``, annotators in ``groundTruth``, other truths as extras."""
    extras = {part: by_stem(folder / part) for part in _SCENE_PARTS}
    extras |= {mask: by_stem(folder / "masks" / mask) for mask in _SCENE_MASKS}
    return Dataset("scenes", folder, samples_of(by_stem(folder / "images"), by_stem(folder / "groundTruth"), extras))
