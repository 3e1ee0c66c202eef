"""Soft boundary maps with directions, and boundaries that have an owner."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperacuity.data import read_directions, read_order
from hyperacuity.data.formats.directions import Direction
from hyperacuity.errors import InputError
from hyperacuity.evaluation.readers.ordering import labelled, names_of_labels, subjects_of
from hyperacuity.evaluation.readers.soft import SoftReader
from hyperacuity.ordering import Contours, OcclusionMap, occlusion_map, ordering

if TYPE_CHECKING:
    from hyperacuity.run.job import Cell

ANGLES = "angles"
"""The role of a map of angles among a cell's files, and the folder beside soft maps that holds them."""


@dataclass(frozen=True)
class OcclusionReader(SoftReader):
    """How occlusion maps and owned boundaries are read.

    Parameters
    ----------
    direction, truth_direction
        What the angles of predictions and of truths are (:mod:`hyperacuity.data.formats.directions`).
    labels, images
        The folder or archive of figure/ground labels, where the truths are these, and which images of it are of interest.
    orders
        Whether the truths are order maps, whose contours are meant.
    """

    direction: Direction = "normal"
    truth_direction: Direction = "normal"
    labels: str | None = None
    orders: bool = False
    images: tuple[str, ...] = ()

    def reading(self) -> dict[str, object]:
        """Angles that were converted and contours of order maps are told apart, since the files are the same."""
        said = {"direction": self.direction, "truth-direction": self.truth_direction}
        angles = {name: None if kind == "normal" else kind for name, kind in said.items()}
        return super().reading() | angles | {"truth": "orders" if self.orders else None}

    def meaning(self, cell: Cell) -> tuple[str, ...]:
        """Which labels and segmentations go together."""
        return () if self.labels is None else names_of_labels(cell.truths)

    def prediction(self, cell: Cell, protocol: Any) -> OcclusionMap:
        """The soft map and its angles, in one file or two."""
        path, beside = cell.prediction, cell.file_of(ANGLES)
        if beside is not None:
            (_, angle), *_ = read_directions(beside, direction=self.direction)
            return occlusion_map(self.soft(path), angle, name=str(path))
        (soft, angle), *others = read_directions(path, direction=self.direction)
        if soft is None or others:
            held = f"{len(others) + 1} maps" if others else "one channel"
            raise InputError(
                f"{path}: holds {held}, expected a soft map and its angles, or the angles in {path.parent / ANGLES}"
            )
        return occlusion_map(soft, angle, name=str(path))

    def annotators(self, cells: Iterable[Cell]) -> dict[str, int]:
        """How many annotators each image has; of figure/ground labels, the subjects who gave them."""
        return super().annotators(cells) if self.labels is None else subjects_of(Path(self.labels), cells)

    def truths(self, cell: Cell) -> list[Any]:
        """Every annotator's owned boundaries."""
        if self.labels is not None:
            return list(labelled(cell.truths, cell.image, tuple(self.images)))
        if self.orders:
            return [ordering(read_order(path), name=str(path)) for path in cell.truths]
        return [truth for path in cell.truths for truth in self._owned(path)]

    def _owned(self, path: Path) -> list[Any]:
        """The boundaries of a file with their angles; angles alone where the file has one channel."""
        found = read_directions(path, direction=self.truth_direction)
        return [angle if drawn is None else Contours(np.asarray(drawn > 0), angle % 360) for drawn, angle in found]
