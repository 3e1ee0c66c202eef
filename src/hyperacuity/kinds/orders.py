"""Order maps, labelled contours, and the regions on which figure/ground questions are asked."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.console import printable
from hyperacuity.data import figure_ground, holds_ucm, read_order, read_segmentations, read_ucm
from hyperacuity.data.datasets.bsds import FigureGround, figure_ground_of, label_names, labelled_image
from hyperacuity.data.datasets.pairing import files_in, folders_in, stem_of
from hyperacuity.data.files import identity, warn
from hyperacuity.errors import InputError, UsageError, option
from hyperacuity.kinds.base import Cell, Found, Given, Inputs, Kind
from hyperacuity.maps import LabelMap, label_map
from hyperacuity.ordering import Ordering, Partition, Sides, ordering
from hyperacuity.regions import ucm_levels
from hyperacuity.tally import number

REGIONS = "regions"
"""The role of segmentations among a cell's files."""

Held = tuple[NDArray[np.int8], NDArray[Any]]


@dataclass(frozen=True)
class OrderKind(Kind):
    """Order maps, and truths of either form.

    Parameters
    ----------
    labels, images
        The folder or archive of figure/ground labels, where the truths are these, and which images of it are of interest.
    farther
        Whose maps are depth maps, in which larger is farther: ``none``, ``pred``, ``truth`` or ``both``.
    level
        Level at which hierarchies are cut into regions.
    given, transfer
        Whether regions are given, and whether predictions are brought onto them.
    """

    prediction_is = truth_is = "order map"

    labels: str | None = None
    farther: str = "none"
    level: float | None = None
    given: bool = False
    transfer: bool = False
    images: tuple[str, ...] = ()

    def find(  # type: ignore[override]  # options of its own
        self,
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
        from hyperacuity.kinds.finding import known_truths, labelled_source, level_of, pair_files

        if transfer and regions is None:
            raise UsageError("`transfer=True` brings predictions onto regions, so give them: `regions=DIR`")
        name = str(truth)
        source = labelled_source(name, data)
        known, photographs = known_truths(name, data, source)
        segmentations = None if regions is None else _by_name(Path(regions))
        points = {system: _operating_points(path) for system, path in systems.items()}
        sweeps = {s: {value: f"{s}/{value}" if value else s for value in values} for s, values in points.items()}
        paths = {sweeps[s][value]: path for s, values in points.items() for value, path in values.items()}

        def pair(system: str, predictions: Path) -> Found:
            pairing = pair_files(predictions, Path(truth), known, name=name, glob=glob)
            cells = [
                Cell(system, p.name, p.prediction, p.truths, regions_of(p.name), photographs.get(p.name))
                for p in pairing.pairs
            ]
            return Found.of(pairing, cells)

        def regions_of(image: str) -> tuple[tuple[str, Path], ...]:
            if segmentations is None:
                return ()
            found = segmentations.get(image) or segmentations.get("")
            if found is None:
                raise UsageError(f"{option('regions', regions)}: holds no segmentation of {image}")
            return ((REGIONS, found),)

        labels = None if source is None else str(source)
        kind = replace(self, labels=labels, farther=farther, given=regions is not None, transfer=transfer)
        found = Inputs(paths, pair, kind)
        found.sweeps = sweeps
        if labels is not None:
            kind = replace(kind, images=tuple(cell.image for cell in found.images()))
        if regions is not None:
            kind = replace(kind, level=level_of(kind, list(found.images()), level))
        found.kind = kind
        return found

    def reading(self) -> dict[str, object]:
        """Parts for regions and for depth maps, which make other arrays of the same files."""
        asked = "given" if self.given else "truth"
        asked += "" if self.level is None else f",level{number(self.level)}"
        asked += ",transfer" if self.transfer else ""
        return {"regions": asked, **({} if self.farther == "none" else {"farther": self.farther})}

    def meaning(self, cell: Cell) -> tuple[str, ...]:
        """The names by which labels and segmentations go together."""
        return () if self.labels is None else names_of_labels(cell.truths)

    def prediction(self, cell: Cell, protocol: Any) -> Ordering:
        """The system's ordering."""
        return _read(cell.prediction, self.farther in ("pred", "both"))

    def annotators(self, cells: Iterable[Cell]) -> dict[str, int]:
        """The number of annotators of each image; of figure/ground labels, the subjects who gave them."""
        return super().annotators(cells) if self.labels is None else subjects_of(Path(self.labels), cells)

    def truths(self, cell: Cell) -> list[Any]:
        """Every annotator's ordering."""
        if self.labels is not None:
            return list(labelled(cell.truths, cell.image, tuple(self.images)))
        return [_read(path, self.farther in ("truth", "both")) for path in cell.truths]

    def regions(self, cell: Cell) -> list[LabelMap]:
        """The segmentations to ask about; none where each annotator's own are meant."""
        return [labels for role, path in cell.extras if role == REGIONS for labels in read_regions(path, self.level)]

    def extras(self, cell: Cell, protocol: Any, given: Given) -> dict[str, Any]:
        """The regions, and what they are for."""
        found = given.prediction
        if isinstance(found, Partition) and not self.transfer and 4 * found.regions > found.labels.size:
            # Without the file's name, so that a folder of such maps is warned about once.
            warn(
                "an order map has nearly as many regions as pixels: as contours and regions they mean little. "
                "Bring dense orders onto segmentations with `regions=DIR` `transfer=True`"
            )
        return {"regions": self.regions(cell), "on_regions": self.transfer}

    def checked(self, truth: Any, protocol: Any) -> Any:
        """A partition, or the sides of labelled contours."""
        found = truth if isinstance(truth, Partition | Sides) else ordering(truth)
        return found if isinstance(found, Partition) else {"sides": found.sides, "labels": found.labels}

    def counted_too(self, cell: Cell, truths: list[Any], protocol: Any) -> Any:
        """The regions that are asked about."""
        return [label_map(one) for one in self.regions(cell)]

    def counted_too_is(self, protocol: Any) -> str:
        """Words for the regions, where they are given."""
        given = dict(protocol.reading).get("regions", "").startswith("given")
        return "the regions that are asked about" if given else ""


def _read(path: Path, farther: bool) -> Ordering:
    return ordering(read_order(path, larger="farther" if farther else "nearer"), name=str(path))


def read_regions(path: Path, level: float | None) -> list[LabelMap]:
    """The segmentations in a file; of an ultrametric contour map the one at ``level``."""
    if not holds_ucm(path):
        return read_segmentations([path])
    if level is None:
        raise InputError(f"{path}: is a hierarchy; at which level are its regions meant?")
    return [ucm_levels(read_ucm(path), [level]).at(0)]


def names_of_labels(files: Sequence[Path]) -> tuple[str, ...]:
    """The names by which labels find their segmentations, ``fg/SEGMENTER/IMAGE-SUBJECT.fg``; those of an archive are in it."""
    return tuple("/".join(path.parts[-3:]) for path in files if path.suffix in (".fg", ".seg"))


def subjects_of(source: Path, cells: Iterable[Cell]) -> dict[str, int]:
    """The number of times each image was labelled: by the files of its cell, or by an archive of figure/ground labels."""
    if source.is_dir():
        return {cell.image: sum(path.suffix == ".fg" for path in cell.truths) for cell in cells}
    counts = Counter(map(labelled_image, label_names(source)))
    return {cell.image: counts[cell.image] for cell in cells}


def labelled(files: Sequence[Path], image: str, images: tuple[str, ...]) -> list[Sides]:
    """The answers of every subject on an image, by the files of its labels and segmentations or the archive that holds them.

    An archive is read once for all ``images``. ``InputError`` where none of the files says anything about the image.
    """
    if not files:
        raise InputError(f"there are no figure/ground labels of {image}")
    source = files[0]
    if source.suffix == ".fg":
        held = _held(figure_ground_of(files))
    else:
        with _guard:
            held = _archive(source, images, identity(source))
    if image not in held:
        raise InputError(f"{source}: has no figure/ground labels of {image}")
    return [
        Sides(np.where(small == 0, np.float32(np.nan), small.astype(np.float32)), labels.astype(np.int32))
        for small, labels in held[image]
    ]


def _held(every: Iterable[FigureGround]) -> dict[str, list[Held]]:
    """Labels in a byte or two per pixel."""
    held: dict[str, list[Held]] = {}
    for found in every:
        # Subjects mostly label the same segmentation: it is held once.
        before = [labels for _, labels in held.get(found.image, []) if np.array_equal(labels, found.segmentation)]
        small = found.segmentation.astype(np.int16 if found.segmentation.max() < 2**15 else np.int32)
        labels = before[0] if before else small
        held.setdefault(found.image, []).append((np.nan_to_num(found.order).astype(np.int8), labels))
    return held


_guard = threading.Lock()


@lru_cache(maxsize=1)
def _archive(source: Path, images: tuple[str, ...], identity: tuple[int, ...]) -> dict[str, list[Held]]:
    """The labels of an archive, kept while it stays the same."""
    return _held(figure_ground(source, images or None))


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
