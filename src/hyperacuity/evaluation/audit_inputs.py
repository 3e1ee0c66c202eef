"""What an audit reads: truths of every image, all annotators of each, with or without systems."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperacuity.data import pair_folders, pair_truths
from hyperacuity.data.datasets.pairing import stem_of, truths_in
from hyperacuity.errors import UsageError
from hyperacuity.evaluation.inputs import Found, Inputs, Truths
from hyperacuity.evaluation.readers.contours import ContourReader, LabelReader
from hyperacuity.run.job import Cell

LABELS = "labels"
"""The one system of a grid that is about labels alone."""


def find_labels(
    kind: type[LabelReader],
    systems: Mapping[str, Path],
    truth: str | Path,
    *,
    images: Path | None = None,
    data: Path | None = None,
    split: str | None = None,
    glob: str = "*",
    **reading: Any,
) -> Inputs:
    """The labels alone."""
    return find(systems, truth, images=images, data=data, split=split, glob=glob, **reading)[0]


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
    source, path = Truths(truth, data=data, split=split, glob=glob), Path(truth)
    lone: list[Path] = []
    if source.known is None:
        if not path.is_dir():
            raise UsageError(f"{truth} is a file, expected a folder of truths")
        source.known, lone = _truths_in(path, images or next(iter(systems.values()), None))
        if images is not None:
            pairs = pair_truths(images, source.known, of=source.name).pairs
            source.pictures = {pair.name: pair.prediction for pair in pairs}
    truths, pictures = source.known, source.pictures

    def labels(system: str, folder: Path) -> Found:
        cells = [Cell(system, image, files[0], files, picture=pictures.get(image)) for image, files in truths.items()]
        return Found(cells, lone_truths=lone)

    reading["invert_truth"] = reading.get("invert_truth", False) or source.inverted
    return (
        Inputs({LABELS: path}, labels, LabelReader(**reading)),
        Inputs(systems, source.pair, ContourReader(**reading)),
    )


def _truths_in(folder: Path, reference: Path | None) -> tuple[dict[str, tuple[Path, ...]], list[Path]]:
    """The truths of a folder by image, and those that have no image in the reference folder if it had to be asked."""
    named: dict[str, list[Path]] = {}
    for file in truths_in(folder):
        named.setdefault(stem_of(file), []).append(file)
    truths = {name: tuple(files) for name, files in sorted(named.items())}
    if reference is None:
        return truths, []
    try:
        pair_truths(reference, truths)
    except UsageError:
        found = pair_folders(reference, folder)
        return {pair.name: pair.truths for pair in found.pairs}, list(found.unpaired_truths)
    return truths, []
