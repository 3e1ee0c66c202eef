"""Soft boundary maps with directions, and boundaries that have an owner."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hyperacuity.data import PairedFiles, read_directions, read_order
from hyperacuity.data.datasets.pairing import stem_of
from hyperacuity.data.datasets.samples import by_stem
from hyperacuity.data.formats.directions import Direction
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kinds.base import Cell, Inputs, SoftKind
from hyperacuity.kinds.orders import labelled, names_of_labels, subjects_of
from hyperacuity.ordering import Contours, OcclusionMap, occlusion_map, ordering
from hyperacuity.ordering.occlusion import owned_contours

ANGLES = "angles"
"""The role of a map of angles among a cell's files, and the folder next to soft maps that holds them."""


@dataclass(frozen=True)
class OcclusionKind(SoftKind):
    """Occlusion maps and owned boundaries.

    Parameters
    ----------
    direction, truth_direction
        What the angles of predictions and of truths are (:mod:`hyperacuity.data.formats.directions`).
    labels, images
        The folder or archive of figure/ground labels, where the truths are these, and which images of it are of interest.
    orders
        Whether the truths are order maps, whose contours are meant.
    """

    prediction_is = "occlusion map"
    truth_is = "owned boundaries"

    direction: Direction = "normal"
    truth_direction: Direction = "normal"
    labels: str | None = None
    orders: bool = False
    images: tuple[str, ...] = ()

    def find(  # type: ignore[override]  # options of its own
        self,
        systems: Mapping[str, Path],
        truth: str | Path,
        *,
        direction: Direction = "normal",
        truth_direction: Direction = "normal",
        invert_prediction: bool = False,
        value_range: tuple[float, float] | None = None,
        force: bool = False,
        data: Path | None = None,
        glob: str = "*",
    ) -> Inputs:
        """Pair occlusion maps with owned boundaries: maps of angles, a folder of scenes, or figure/ground labels.

        Angles in files of their own lie in a folder ``angles`` next to the soft maps.
        """
        from hyperacuity.kinds.finding import known_truths, labelled_source, paired_inputs

        source = labelled_source(str(truth), data)
        known, photographs = known_truths(str(truth), data, source)
        kind = type(self)(
            invert_prediction,
            value_range,
            force,
            direction,
            truth_direction,
            labels=None if source is None else str(source),
            orders=known is not None and source is None,
        )

        def angles_of(found: PairedFiles) -> tuple[tuple[str, Path], ...]:
            folder = found.prediction.parent / ANGLES
            angles = by_stem(folder)
            if not angles:
                return ()
            if found.name not in angles and stem_of(found.prediction) not in angles:
                raise UsageError(f"{folder}: holds no angles of {found.name}")
            return ((ANGLES, angles.get(found.name) or angles[stem_of(found.prediction)]),)

        inputs = paired_inputs(
            kind, systems, Path(truth), known=known, pictures=photographs, glob=glob, extras=angles_of
        )
        if source is not None:
            inputs.kind = replace(kind, images=tuple(cell.image for cell in inputs.images()))
        return inputs

    def reading(self) -> dict[str, object]:
        """Parts for angles that were converted and contours of order maps, since the files are the same."""
        said = {"direction": self.direction, "truth-direction": self.truth_direction}
        angles = {name: None if kind == "normal" else kind for name, kind in said.items()}
        return super().reading() | angles | {"truth": "orders" if self.orders else None}

    def meaning(self, cell: Cell) -> tuple[str, ...]:
        """The names by which labels and segmentations go together."""
        return () if self.labels is None else names_of_labels(cell.truths)

    def prediction(self, cell: Cell, protocol: Any) -> OcclusionMap:
        """The soft map and its angles, in one file or two."""
        path, angles = cell.prediction, cell.file_of(ANGLES)
        if angles is not None:
            (_, angle), *_ = read_directions(angles, direction=self.direction)
            return occlusion_map(self.soft(path), angle, name=str(path))
        (soft, angle), *others = read_directions(path, direction=self.direction)
        if soft is None or others:
            held = f"{len(others) + 1} maps" if others else "one channel"
            raise InputError(
                f"{path}: holds {held}, expected a soft map and its angles, or the angles in {path.parent / ANGLES}"
            )
        return occlusion_map(soft, angle, name=str(path))

    def annotators(self, cells: Iterable[Cell]) -> dict[str, int]:
        """The number of annotators of each image; of figure/ground labels, the subjects who gave them."""
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

    def checked(self, truth: Any, protocol: Any) -> Any:
        """The pixels of boundaries, and their angles."""
        found = owned_contours(truth)
        return {"pixels": found.pixels, "angle": np.where(found.pixels, found.angle, np.nan)}
