"""What ``ordering`` evaluates: systems and their sweeps, truths of either kind, regions to ask about."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hyperacuity.boundary import collect, tally
from hyperacuity.console import printable
from hyperacuity.data import find_data, holds_ucm, load_dataset, read_soft
from hyperacuity.data.datasets.bsds import files_of_people, label_names, labelled_image
from hyperacuity.data.datasets.pairing import files_in, folders_in, stem_of
from hyperacuity.data.datasets.pictures import scenes
from hyperacuity.errors import InputError, UsageError, option
from hyperacuity.evaluation.inputs import Found, Inputs, pair_files
from hyperacuity.evaluation.readers.ordering import REGIONS, OrderReader
from hyperacuity.kernels.thinning import thin
from hyperacuity.maps import boundary_marks
from hyperacuity.run.job import Cell

log = logging.getLogger(__name__)


def find(
    kind: type[OrderReader],
    systems: Mapping[str, Path],
    truth: str | Path,
    *,
    regions: Path | None = None,
    level: str | float = "best",
    transfer: bool = False,
    farther: str = "none",
    data: Path | None = None,
    glob: str = "*",
) -> Inputs:
    """Pair predictions, truths and regions by name, and find the level at which hierarchies of regions are cut."""
    if transfer and regions is None:
        raise UsageError("`transfer=True` brings predictions onto regions, so give them: `regions=DIR`")
    name = str(truth)
    source = labelled_source(name, data)
    known, photographs = known_truths(name, data, source)
    beside = None if regions is None else _by_name(Path(regions))
    points = {system: _operating_points(path) for system, path in systems.items()}
    sweeps = {s: {value: f"{s}/{value}" if value else s for value in values} for s, values in points.items()}
    paths = {sweeps[s][value]: path for s, values in points.items() for value, path in values.items()}

    def pair(system: str, predictions: Path) -> Found:
        pairing = pair_files(predictions, Path(truth), known, name=name, glob=glob)
        cells = [
            Cell(system, p.name, p.prediction, p.truths, _regions_of(p.name, beside, regions), photographs.get(p.name))
            for p in pairing.pairs
        ]
        return Found.of(pairing, cells)

    labels = None if source is None else str(source)
    reader = kind(labels, farther, given=regions is not None, transfer=transfer)
    found = Inputs(paths, pair, reader)
    found.sweeps = sweeps
    if labels is not None:
        reader = replace(reader, images=tuple(cell.image for cell in found.images()))
    if regions is not None:
        reader = replace(reader, level=_level(reader, list(found.images()), level))
    found.reader = reader
    return found


def _level(reader: OrderReader, cells: Sequence[Cell], level: str | float) -> float | None:
    """The level at which hierarchies are cut, where there are any: the one given, or that of the best boundary F."""
    hierarchies = [cell for cell in cells if _is_hierarchy(cell.extras[0][1])]
    if not hierarchies:
        return None
    if level != "best":
        try:
            return float(level)
        except ValueError as error:
            raise UsageError(f"{option('level', level)}: expected best or a number between 0 and 1") from error
    cut = best_level(reader, hierarchies)
    log.info("regions are cut at level %.3f, where their contours have the best boundary F", cut)
    return round(cut, 4)


def best_level(reader: OrderReader, cells: Iterable[Cell]) -> float:
    """The level of hierarchies at which their contours have the best boundary F against the truths' contours (ODS).

    Truths without regions are passed over, and files that cannot be read, which fail their own cell.
    """
    tallies = {}
    for cell in cells:
        try:
            soft, truths = read_soft(cell.extras[0][1]), reader.truths(cell)
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


def _operating_points(given: Path) -> dict[str, Path]:
    """A file or folder of maps as it is; of a folder of folders one operating point per folder, in the order of their numbers."""
    if given.is_file():
        return {"": given}
    folders = folders_in(given)
    if not folders or files_in(given, required=False):
        return {"": given}
    return {printable(folder.name): folder for folder in sorted(folders, key=lambda folder: _natural(folder.name))}


def _natural(name: str) -> tuple[list[float], str]:
    """A key that sorts by the numbers in a name, so that 2 comes before 10."""
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", name)], name


def _by_name(regions: Path) -> dict[str, Path]:
    if regions.is_file():
        return {"": regions}
    if not regions.is_dir():
        raise UsageError(f"{option('regions', regions)}: there is no such folder")
    return {stem_of(path): path for path in files_in(regions)}


def _regions_of(image: str, beside: Mapping[str, Path] | None, regions: Path | None) -> tuple[tuple[str, Path], ...]:
    if beside is None:
        return ()
    found = beside.get(image) or beside.get("")
    if found is None:
        raise UsageError(f"{option('regions', regions)}: holds no segmentation of {image}")
    return ((REGIONS, found),)
