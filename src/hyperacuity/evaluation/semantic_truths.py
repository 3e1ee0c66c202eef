"""Boundaries made of label maps, as files: a truth for ``semantic``, or labels to learn from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hyperacuity.data import write_png
from hyperacuity.data.datasets.semantic import semantic_samples
from hyperacuity.errors import InputError
from hyperacuity.kinds.class_maps import SemanticKind
from hyperacuity.outputs import output_file
from hyperacuity.run.jobs import Cell
from hyperacuity.semantic.protocols import Protocol


@dataclass(frozen=True)
class LabelTruths:
    """Images with a truth, and how their files are read."""

    cells: Sequence[Cell]
    kind: SemanticKind

    def __len__(self) -> int:
        return len(self.cells)


@dataclass
class WrittenBoundaries:
    """Written boundaries: images, classes by name with the number of images that show each, and the reasons of failures."""

    images: list[str] = field(default_factory=list)
    classes: dict[str, int] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


def label_truths(truth: Path, *, split: str | None = None, **reading: Any) -> LabelTruths:
    """The truths of a folder, in any layout that ``semantic`` knows."""
    samples = semantic_samples(truth, split=split)
    cells = [Cell("", one.name, one.truths[0], one.truths, tuple(one.extras.items())) for one in samples]
    return LabelTruths(cells, SemanticKind(**reading))


def write_boundaries(
    truths: LabelTruths, protocol: Protocol, folder: Path, *, done: Callable[[], None] = lambda: None
) -> WrittenBoundaries:
    """Write the boundaries of each class as ``class_001/NAME.png``, where an image shows it.

    An image that cannot be read fails alone. ``done`` is called after each.
    """
    made = WrittenBoundaries()
    for cell in truths.cells:
        try:
            (truth,) = truths.kind.truths(cell)
            edges = truth.edges(protocol)
            names = protocol.names(max(edges, default=0) + 1)
            if edges and max(edges) >= len(names):
                raise InputError(f"{cell.truths[0]}: has a class {max(edges) + 1}, expected up to {len(names)}")
        except InputError as error:
            made.failures[cell.image] = str(error)
            done()
            continue
        for c, marks in sorted(edges.items()):
            if marks.any():
                place = folder / f"class_{c + 1:03d}"
                place.mkdir(parents=True, exist_ok=True)
                with output_file(place / f"{cell.image}.png") as part:
                    write_png(part, np.uint8(255) * marks.astype(np.uint8))
                made.classes[names[c]] = made.classes.get(names[c], 0) + 1
        made.images.append(cell.image)
        done()
    return made
