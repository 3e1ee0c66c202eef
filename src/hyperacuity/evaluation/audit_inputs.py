"""What an audit reads: truths of every image, all annotators of each, with or without systems."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperacuity.data import load_dataset, pair_folders, pair_truths
from hyperacuity.data.datasets.layouts import LAYOUTS
from hyperacuity.data.datasets.pairing import files_in, stem_of
from hyperacuity.errors import UsageError
from hyperacuity.evaluation.inputs import Found, Inputs, unknown_data
from hyperacuity.evaluation.readers.contours import ContourReader, LabelReader
from hyperacuity.run.job import Cell

TruthFiles = Mapping[str, tuple[Path, ...]]

LABELS = "labels"
"""The one system of a grid that is about labels alone."""


def find_labels(kind: type[LabelReader], systems: Mapping[str, Path], truth: str | Path, **options: Any) -> Inputs:
    """The labels alone."""
    return find(systems, truth, **options)[0]


def find(
    systems: Mapping[str, Path],
    truth: str | Path,
    *,
    images: Path | None = None,
    data: Path | None = None,
    split: str | None = None,
    glob: str = "*",
    **reading: Any,
) -> tuple[Inputs, Inputs]:
    """The labels, and the systems to evaluate on them.

    A folder of truths is read by itself: a file with all annotators per image, or a sub-folder per annotator. Where its files
    have other names than the systems' or the photographs' (``NAME_1``, ``NAME_2``), it is paired with those.
    """
    path, name = Path(truth), str(truth)
    inverted = False
    pictures: dict[str, Path] = {}
    unpaired: list[Path] = []
    if path.exists():
        if split is not None:
            raise UsageError(f"--split {split} is for known data sets; {truth} is a path")
        if not path.is_dir():
            raise UsageError(f"{truth} is a file, expected a folder of truths")
        truths, unpaired = _truths_in(path, images or next(iter(systems.values()), None))
        if images is not None:
            pictures = {pair.name: pair.prediction for pair in pair_truths(images, truths, of=name).pairs}
    elif name in LAYOUTS:
        dataset = load_dataset(name, data, split=split)
        inverted = dataset.inverted
        truths = {sample.name: sample.truths for sample in dataset.samples}
        pictures = {sample.name: sample.image for sample in dataset.samples if sample.image is not None}
    else:
        raise unknown_data("folder", name)

    def labels(system: str, folder: Path) -> Found:
        cells = [Cell(system, image, files[0], files, picture=pictures.get(image)) for image, files in truths.items()]
        return Found(cells, lone_truths=unpaired)

    def pair(system: str, folder: Path) -> Found:
        found = pair_truths(folder, truths, of=name, glob=glob)
        cells = [Cell(system, p.name, p.prediction, p.truths, picture=pictures.get(p.name)) for p in found.pairs]
        return Found.of(found, cells)

    reading["invert_truth"] = reading.get("invert_truth", False) or inverted
    return Inputs({LABELS: path}, labels, LabelReader(**reading)), Inputs(systems, pair, ContourReader(**reading))


def _truths_in(folder: Path, reference: Path | None) -> tuple[TruthFiles, list[Path]]:
    """The truths of a folder by image, and those that have no image in the reference folder if it had to be asked."""
    places = [folder]
    if not files_in(folder, required=False):
        places = sorted(place for place in folder.iterdir() if place.is_dir())
    named: dict[str, list[Path]] = {}
    for place in places:
        for file in files_in(place, required=False):
            named.setdefault(stem_of(file), []).append(file)
    if not named:
        raise UsageError(f"{folder}: neither the folder nor its sub-folders hold a file")
    truths = {name: tuple(files) for name, files in sorted(named.items())}
    if reference is None:
        return truths, []
    try:
        pair_truths(reference, truths)
    except UsageError:
        found = pair_folders(reference, folder)
        return {pair.name: pair.truths for pair in found.pairs}, list(found.unpaired_truths)
    return truths, []
