"""Order maps, labelled contours, and the regions on which figure/ground questions are asked."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data import figure_ground, holds_ucm, read_order, read_segmentations, read_ucm
from hyperacuity.data.datasets.bsds import FigureGround, figure_ground_of, label_names, labelled_image
from hyperacuity.data.files import identity, warn
from hyperacuity.errors import InputError
from hyperacuity.evaluation.readers import Given, Reader
from hyperacuity.maps import LabelMap
from hyperacuity.ordering import Ordering, Partition, Sides, ordering
from hyperacuity.regions import ucm_levels
from hyperacuity.tally import number

if TYPE_CHECKING:
    from hyperacuity.run.job import Cell

REGIONS = "regions"
"""The role of segmentations among a cell's files."""

Held = tuple[NDArray[np.int8], NDArray[Any]]


@dataclass(frozen=True)
class OrderReader(Reader):
    """How orders are read.

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

    labels: str | None = None
    farther: str = "none"
    level: float | None = None
    given: bool = False
    transfer: bool = False
    images: tuple[str, ...] = ()

    def reading(self) -> dict[str, object]:
        """Other readings of the same files are told apart."""
        asked = "given" if self.given else "truth"
        asked += "" if self.level is None else f",level{number(self.level)}"
        asked += ",transfer" if self.transfer else ""
        return {"regions": asked, **({} if self.farther == "none" else {"farther": self.farther})}

    def meaning(self, cell: Cell) -> tuple[str, ...]:
        """Which labels and segmentations go together."""
        return () if self.labels is None else names_of_labels(cell.truths)

    def prediction(self, cell: Cell, protocol: Any) -> Ordering:
        """The system's ordering."""
        return _read(cell.prediction, self.farther in ("pred", "both"))

    def annotators(self, cells: Iterable[Cell]) -> dict[str, int]:
        """How many annotators each image has; of figure/ground labels, the subjects who gave them."""
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
    """How many times each image was labelled: by the files of its cell, or by what an archive of figure/ground labels holds."""
    if source.is_dir():
        return {cell.image: sum(path.suffix == ".fg" for path in cell.truths) for cell in cells}
    counts = Counter(map(labelled_image, label_names(source)))
    return {cell.image: counts[cell.image] for cell in cells}


def labelled(files: Sequence[Path], image: str, images: tuple[str, ...]) -> list[Sides]:
    """What every subject said about an image, by the files of its labels and segmentations or the archive that holds them.

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
