"""Data sets of contours: RUG (Grigorescu, Petkov & Westenberg 2003) and UDED (Soria et al. 2023)."""

from __future__ import annotations

from pathlib import Path

from hyperacuity.data.datasets.samples import Dataset, Sample, by_stem


def rug(folder: Path) -> Dataset:
    """RUG: ``*.pgm`` and ``gt/*_gt_binary.pgm``, in which 0 is the contour."""
    images = by_stem(folder / "images") or by_stem(folder)
    truths = {name.removesuffix("_gt_binary"): path for name, path in by_stem(folder / "gt").items()}
    samples = (Sample(name, images.get(name), (truth,)) for name, truth in sorted(truths.items()))
    return Dataset("rug", folder, tuple(samples), inverted=True)


def uded(folder: Path) -> Dataset:
    """UDED: ``imgs/*.png`` and ``gt/*.png``, in which 255 is the edge."""
    images = by_stem(folder / "imgs")
    samples = (Sample(name, images.get(name), (truth,)) for name, truth in sorted(by_stem(folder / "gt").items()))
    return Dataset("uded", folder, tuple(samples))
