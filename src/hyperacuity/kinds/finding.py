"""Predictions in one place, truths in another: pair files that belong together, and decide what only all of them can tell.

Whatever is decided here stands in cells or in the options of a kind, and so in the key of a tally: this code does not count.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import product
from pathlib import Path

from hyperacuity.console import printable
from hyperacuity.data import (
    PairedFiles,
    Pairing,
    find_data,
    holds_ucm,
    load_dataset,
    pair_folders,
    pair_truths,
    read_soft,
)
from hyperacuity.data.datasets.bsds import files_of_people, label_names, labelled_image
from hyperacuity.data.datasets.layouts import LAYOUTS, scenes
from hyperacuity.data.datasets.pairing import files_in, stem_of
from hyperacuity.data.remote import display, is_file, is_folder, is_remote
from hyperacuity.errors import HyperacuityError, InputError, UsageError, option
from hyperacuity.kinds.base import Cell, Found, Inputs, Kind

log = logging.getLogger(__name__)

Extras = Callable[[PairedFiles], tuple[tuple[str, Path], ...]]


class Truths:
    """The truths that a path or name stands for: a file, a folder, or a known data set, with its photographs."""

    def __init__(
        self, truth: str | Path, *, data: Path | None = None, split: str | None = None, glob: str = "*"
    ) -> None:
        self.name, self.path, self.glob = str(truth), Path(truth), glob
        self.known: Mapping[str, Sequence[Path]] | None = None
        self.pictures: Mapping[str, Path | None] = {}
        self.inverted = False
        if is_file(self.path) or is_folder(self.path):
            if split is not None:
                raise UsageError(f"{option('split', split)} is for known data sets; {truth} is a path")
            _refuse_root(self.path)
            return
        if self.name not in LAYOUTS:
            near = get_close_matches(self.name, LAYOUTS, 1)
            known = f"did you mean {near[0]}?" if near else f"there are {', '.join(LAYOUTS)}"
            raise UsageError(f"there is no file or folder {self.name}, nor a data set of that name; {known}")
        dataset = load_dataset(self.name, data, split=split)
        self.inverted = dataset.inverted
        self.known = {sample.name: sample.truths for sample in dataset.samples}
        self.pictures = {sample.name: sample.image for sample in dataset.samples}

    def inputs(self, systems: Mapping[str, Path], kind: Kind) -> Inputs:
        """The systems' predictions with their truths."""
        return paired_inputs(
            kind, systems, self.path, known=self.known, pictures=self.pictures, name=self.name, glob=self.glob
        )


def paired_inputs(
    kind: Kind,
    systems: Mapping[str, Path],
    truth: Path,
    *,
    known: Mapping[str, Sequence[Path]] | None = None,
    pictures: Mapping[str, Path | None] | None = None,
    name: str | None = None,
    glob: str = "*",
    extras: Extras = lambda _: (),
) -> Inputs:
    """Predictions paired with truths by name; of a data set, the truths of each image are ``known``, and its photographs."""

    def pair(system: str, predictions: Path) -> Found:
        found = pair_files(predictions, truth, known, name=name or str(truth), glob=glob)
        cells = [
            Cell(system, p.name, p.prediction, p.truths, extras(p), (pictures or {}).get(p.name)) for p in found.pairs
        ]
        return Found.of(found, cells)

    return Inputs(systems, pair, kind)


def pair_files(
    predictions: Path, truth: Path, known: Mapping[str, Sequence[Path]] | None, *, name: str, glob: str
) -> Pairing:
    """One file with its truth, or a folder with a folder; of a data set, the truths are ``known``."""
    if not is_file(predictions):
        if known is not None:
            return pair_truths(predictions, known, of=name, glob=glob)
        if is_file(truth):
            raise UsageError(f"{predictions} is a folder, so TRUTH must be one too, not the file {name}")
        return pair_folders(predictions, truth, glob=glob)
    image = stem_of(predictions)
    if known is None and not is_file(truth):
        raise UsageError(f"{predictions} is one file, so TRUTH must be one file too, not {name}")
    truths = (truth,) if known is None else tuple(known.get(image, ()))
    if not truths:
        raise UsageError(f"{name} has no truth of {image}")
    return Pairing((PairedFiles(image, predictions, truths),))


def _refuse_root(folder: Path) -> None:
    """Refuse the root of a data set that has a name, which holds no truths itself (``UsageError``)."""
    if is_remote(folder) or not folder.is_dir() or files_in(folder, required=False):
        return
    for name, root in product(("bsds500", "uded", "rug"), (folder, folder / "data")):
        try:
            load_dataset(name, root)
        except HyperacuityError:
            continue
        parts = " `split='test'`" if LAYOUTS[name].splits else ""
        raise UsageError(f"{folder} looks like {name.upper()}: use {name} {option('data', root)}{parts}")


def named_systems(given: Mapping[str, str | Path]) -> dict[str, Path]:
    """Systems by name, each a file or folder that is there."""
    systems: dict[str, Path] = {}
    for name, predictions in given.items():
        path = Path(predictions)
        if not is_folder(path) and not is_file(path):
            raise UsageError(f"there is no file or folder {display(path)}")
        systems[printable(name)] = path
    return systems


def name_of(predictions: Path) -> str:
    """The default name of a system: that of its folder, or the stem of its file."""
    path = predictions if is_remote(predictions) else predictions.resolve()
    return printable(path.name if is_folder(predictions) else path.stem)


def level_of(kind: Kind, cells: Sequence[Cell], level: str | float) -> float | None:
    """The level at which hierarchies are cut, where there are any: the one given, or that of the best boundary F."""
    hierarchies = [cell for cell in cells if _is_hierarchy(cell.extras[0][1])]
    if not hierarchies:
        return None
    if level != "best":
        try:
            return float(level)
        except ValueError as error:
            raise UsageError(f"{option('level', level)}: expected best or a number between 0 and 1") from error
    cut = best_level(kind, hierarchies)
    log.info("regions are cut at level %.3f, where their contours have the best boundary F", cut)
    return round(cut, 4)


def best_level(kind: Kind, cells: Iterable[Cell]) -> float:
    """The level of hierarchies at which their contours have the best boundary F against the truths' contours (ODS).

    Truths without regions are passed over, and files that cannot be read, which fail their own cell.
    """
    from hyperacuity.boundary import collect, tally
    from hyperacuity.kernels.thinning import thin
    from hyperacuity.maps import boundary_marks

    tallies = {}
    for cell in cells:
        try:
            soft, truths = read_soft(cell.extras[0][1]), kind.truths(cell)
        except InputError:
            continue
        drawn = [thin(boundary_marks(truth.labels)) for truth in truths if truth.labels is not None]
        if drawn:
            tallies[cell.image] = tally(soft, drawn)
    if not tallies:
        raise UsageError("`level='best'` needs truths with regions; give a level between 0 and 1 instead")
    return collect(tallies, resamples=0).ods.threshold


def _is_hierarchy(path: Path) -> bool:
    try:
        return holds_ucm(path)
    except InputError:
        return False  # fails its own cell, by name


def labelled_source(truth: str, data: Path | None) -> Path | None:
    """The folder or archive of figure/ground labels that TRUTH names, if it does."""
    path = Path(truth)
    if truth == "bsds-fg" and not path.exists():
        return find_data(truth, data)
    is_archive = path.is_file() and re.search(r"\.(tar(\.\w+)?|t[gx]z)$", path.name)
    is_folder = path.is_dir() and next(path.glob("fg/*/*.fg"), None) is not None
    return path if is_archive or is_folder else None


def known_truths(
    truth: str, data: Path | None, source: Path | None
) -> tuple[dict[str, list[Path]] | None, dict[str, Path | None]]:
    """Truths and pictures by image where TRUTH is a data set; None where it is a file or folder of maps."""
    path = Path(truth)
    if source is not None:
        return _labelled_images(source), {}
    if (path / "scenes.json").is_file():
        dataset = scenes(path)
    elif not path.exists():
        if truth != "scenes":
            raise UsageError(
                f"there is no file or folder {truth}, nor a data set of that name with orders: bsds-fg, scenes"
            )
        dataset = load_dataset(truth, data)
    else:
        return None, {}
    samples = [sample for sample in dataset.samples if "order" in sample.extras]
    return {one.name: [one.extras["order"]] for one in samples}, {one.name: one.image for one in samples}


def _labelled_images(source: Path) -> dict[str, list[Path]]:
    """The files that say something about each image: the labels and segmentations, or the archive that holds them all."""
    found: dict[str, list[Path]] = {}
    for path in label_names(source):
        found.setdefault(labelled_image(path), []).append(Path(path))
    if not source.is_dir():
        return {image: [source] for image in found}
    for path in files_of_people(source / "seg", ".seg"):
        if labelled_image(path) in found:
            found[labelled_image(path)].append(path)
    return found
