"""What ``hyperacuity ordering`` evaluates: systems and their sweeps, truths of either kind, regions to ask about."""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyperacuity.errors import InputError, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hyperacuity.data import Pairing
    from hyperacuity.maps import LabelMap
    from hyperacuity.ordering import Ordering
    from hyperacuity.run import Cell


class LabelledContours:
    """The figure/ground labels of a folder or archive, read once on first use and held in a byte or two per pixel."""

    def __init__(self, source: Path, images: Collection[str]) -> None:
        self.source = source
        self._images = images
        self._guard = threading.Lock()
        self._held: dict[str, list[tuple[NDArray[np.int8], NDArray[Any]]]] | None = None

    def __reduce__(self) -> tuple[type[LabelledContours], tuple[Path, Collection[str]]]:
        """Travel to another process without what was read, which it reads itself."""
        return LabelledContours, (self.source, self._images)

    def of(self, image: str) -> list[Ordering]:
        """What every subject said about an image."""
        import numpy as np

        from hyperacuity.ordering import Sides

        with self._guard:
            if self._held is None:
                self._held = self._read()
        if image not in self._held:
            raise InputError(f"{self.source}: has no figure/ground labels of {image}")
        return [
            Sides(np.where(small == 0, np.float32(np.nan), small.astype(np.float32)), labels.astype(np.int32))
            for small, labels in self._held[image]
        ]

    def _read(self) -> dict[str, list[tuple[NDArray[np.int8], NDArray[Any]]]]:
        import numpy as np

        from hyperacuity.data import figure_ground

        held: dict[str, list[tuple[NDArray[np.int8], NDArray[Any]]]] = {}
        for found in figure_ground(self.source, self._images):
            # Subjects mostly label the same segmentation: it is held once.
            before = [labels for _, labels in held.get(found.image, []) if np.array_equal(labels, found.segmentation)]
            small = found.segmentation.astype(np.int16 if found.segmentation.max() < 2**15 else np.int32)
            labels = before[0] if before else small
            held.setdefault(found.image, []).append((np.nan_to_num(found.order).astype(np.int8), labels))
        return held


@dataclass(frozen=True)
class OrderingInputs:
    """The grid to evaluate. ``sweeps`` has, per system, the cells' system name of each parameter value ("" without a sweep)."""

    sweeps: dict[str, dict[str, str]]
    cells: list[Cell]
    unpaired: list[Path]
    labelled: LabelledContours | None


def find_inputs(
    systems: Mapping[str, Path], truth: str, regions: Path | None, *, data: Path | None = None
) -> OrderingInputs:
    """Pair predictions, truths and regions by name."""
    from hyperacuity.run import Cell

    source = _labelled_source(truth, data)
    known, photographs = _known_truths(truth, data, source)
    beside = None if regions is None else _by_name(regions)
    sweeps: dict[str, dict[str, str]] = {}
    cells: list[Cell] = []
    unpaired: dict[Path, None] = {}
    for name, given in systems.items():
        points = _operating_points(given)
        sweeps[name] = {value: f"{name}/{value}" if value else name for value in points}
        for value, predictions in points.items():
            pairing = _paired(predictions, truth, known)
            # Most data sets are larger than what was tried on them: only a folder's own left-over truths are worth a word.
            left = pairing.unpaired_truths if known is None else ()
            unpaired.update(dict.fromkeys((*pairing.unpaired_predictions, *left)))
            for pair in pairing.pairs:
                asked = _regions_of(pair.name, beside, regions)
                picture = photographs.get(pair.name)
                cells.append(Cell(sweeps[name][value], pair.name, pair.prediction, pair.truths, asked, picture))
    labelled = None if source is None else LabelledContours(source, {cell.image for cell in cells})
    return OrderingInputs(sweeps, cells, list(unpaired), labelled)


def _paired(predictions: Path, truth: str, known: Mapping[str, Sequence[Path]] | None) -> Pairing:
    """One file with one truth, or a folder with a folder or a data set."""
    from hyperacuity.data import PairedFiles, Pairing, pair_folders, pair_truths
    from hyperacuity.data.datasets.pairing import stem_of

    path = Path(truth)
    if predictions.is_dir():
        if known is not None:
            return pair_truths(predictions, known, of=truth)
        if path.is_file():
            raise UsageError(f"{predictions} is a folder, so TRUTH must be one too, not the file {truth}")
        return pair_folders(predictions, path)
    image = stem_of(predictions)
    if known is None and not path.is_file():
        raise UsageError(f"{predictions} is one file, so TRUTH must be one file too, not {truth}")
    truths = (path,) if known is None else tuple(known.get(image, ()))
    if not truths:
        raise UsageError(f"{truth} has no truth of {image}")
    return Pairing((PairedFiles(image, predictions, truths),), (), ())


def read_regions(path: Path, level: float | None) -> list[LabelMap]:
    """The segmentations in a file; of an ultrametric contour map the one at ``level``."""
    from hyperacuity.data import holds_ucm, read_segmentations, read_ucm
    from hyperacuity.regions import ucm_levels

    if holds_ucm(path):
        if level is None:
            raise InputError(f"{path}: is a hierarchy; at which level are its regions meant?")
        return [ucm_levels(read_ucm(path), [level]).at(0)]
    return read_segmentations([path])


def best_level(pairs: Iterable[tuple[Path, Sequence[Ordering]]]) -> float:
    """The level of hierarchies at which their contours have the best boundary F against the truths' contours (ODS).

    ``pairs`` are files with ultrametric contour maps and the truths of the same image; truths without regions are passed over.
    """
    from hyperacuity.boundary import collect, tally
    from hyperacuity.data import read_soft
    from hyperacuity.kernels.thinning import thin
    from hyperacuity.maps import boundary_marks

    tallies = {}
    for path, truths in pairs:
        drawn = [thin(boundary_marks(truth.labels)) for truth in truths if truth.labels is not None]
        if drawn:
            tallies[str(path)] = tally(read_soft(path), drawn)
    if not tallies:
        raise UsageError("--level best needs truths with regions; give a level between 0 and 1 instead")
    return collect(tallies, resamples=0).ods.threshold


def _labelled_source(truth: str, data: Path | None) -> Path | None:
    """The folder or archive of figure/ground labels that TRUTH names, if it does."""
    from hyperacuity.data import find_data

    path = Path(truth)
    if truth == "bsds-fg" and not path.exists():
        return find_data(truth, data)
    is_archive = path.is_file() and re.search(r"\.(tar(\.\w+)?|t[gx]z)$", path.name)
    is_folder = path.is_dir() and next(path.glob("fg/*/*.fg"), None) is not None
    return path if is_archive or is_folder else None


def _known_truths(
    truth: str, data: Path | None, source: Path | None
) -> tuple[dict[str, list[Path]] | None, dict[str, Path | None]]:
    """Truths and pictures by image where TRUTH is a data set; None where it is a file or folder of maps."""
    from hyperacuity.data import load_dataset
    from hyperacuity.data.datasets.pictures import scenes

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
    import tarfile

    def image_of(name: str) -> str:
        return Path(name).stem.rpartition("-")[0]

    if source.is_dir():
        found: dict[str, list[Path]] = {}
        for path in sorted(source.glob("fg/*/*.fg")):
            found.setdefault(image_of(path.name), []).append(path)
        for path in sorted(source.glob("seg/*/*.seg")):
            if path.stem in found:
                found[path.stem].append(path)
        return found
    try:
        with tarfile.open(source) as archive:
            names = archive.getnames()
    except (tarfile.TarError, OSError, EOFError) as error:
        raise UsageError(f"{source}: is damaged or no tar archive ({error})") from error
    return {image_of(name): [source] for name in sorted(names) if name.endswith(".fg")}


def _operating_points(given: Path) -> dict[str, Path]:
    """A file or folder of maps as it is; of a folder of folders one operating point per folder, in the order of their numbers."""
    if given.is_file():
        return {"": given}
    entries = [entry for entry in given.iterdir() if not entry.name.startswith(".")]
    folders = [entry for entry in entries if entry.is_dir()]
    if not folders or any(entry.is_file() for entry in entries):
        return {"": given}
    return {folder.name: folder for folder in sorted(folders, key=lambda folder: _natural(folder.name))}


def _natural(name: str) -> tuple[list[float], str]:
    """A key that sorts by the numbers in a name, so that 2 comes before 10."""
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", name)], name


def _by_name(regions: Path) -> dict[str, Path]:
    from hyperacuity.data.datasets.pairing import files_in, stem_of

    if regions.is_file():
        return {"": regions}
    if not regions.is_dir():
        raise UsageError(f"--regions {regions}: there is no such folder")
    return {stem_of(path): path for path in files_in(regions)}


def _regions_of(image: str, beside: Mapping[str, Path] | None, regions: Path | None) -> tuple[Path, ...]:
    if beside is None:
        return ()
    found = beside.get(image) or beside.get("")
    if found is None:
        raise UsageError(f"--regions {regions}: holds no segmentation of {image}")
    return (found,)
