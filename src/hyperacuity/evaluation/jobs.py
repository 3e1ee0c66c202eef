"""A task's job: read the files of a cell in the reader's way, tally them under the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from hyperacuity.errors import InputError, UsageError
from hyperacuity.evaluation.readers import Reader
from hyperacuity.run.gather import Grid
from hyperacuity.run.job import Cell
from hyperacuity.tally import BaseProtocol, Task

READERS = {
    ("soft map", "edge map"): "contours.ContourReader",
    ("", "edge map"): "contours.LabelReader",
    ("segmentations", "segmentation"): "regions.RegionReader",
    ("label map", "label map"): "masks.MaskReader",
    ("order map", "order map"): "ordering.OrderReader",
    ("order map", "point pairs"): "depth.PairReader",
    ("order map", "edge map"): "depth.DepthEdgeReader",
    ("occlusion map", "owned boundaries"): "occlusion.OcclusionReader",
    ("disparity map", "disparity map"): "disparity.DisparityReader",
    ("disparity map", "picture"): "disparity.ViewReader",
    ("class maps", "class truth"): "semantic.SemanticReader",
}
"""Who reads a task's files, by what its prediction and its truth are."""


@dataclass(frozen=True)
class TaskJob:
    """One prediction and its truths, read and tallied. The signature says how they were read."""

    task: Task[Any, Any, Any]
    protocol: BaseProtocol
    reader: Reader

    @property
    def tally_type(self) -> type[Any]:
        """What :meth:`evaluate` returns."""
        return self.task.tally_type

    @property
    def sources(self) -> tuple[str, ...]:
        """The modules whose code makes the tally."""
        made_by = (type(self), type(self.reader), self.task.tally, self.task.tally_type, self.task.protocol)
        return tuple(part.__module__ for part in made_by)

    def meaning(self, cell: Cell) -> tuple[str, ...]:
        """What the reader knows of a cell's files that neither they nor the signature tell."""
        return self.reader.meaning(cell)

    def evaluate(self, cell: Cell) -> Any:
        """Tally one cell."""
        given, own = self.reader.read(cell, self.protocol), self.protocol.for_system(cell.system)
        name = {"image": cell.image} if self.task.by_name else {}
        tally = self.task.tally(given.prediction, given.truths, own, **given.extras, **name)
        return replace(tally, protocol=self.protocol)

    def people(self, cell: Cell) -> Any:
        """The tally of a cell's annotators, each held against the others; None where there is none or only one can be read."""
        try:
            drawn = self.reader.truths(cell) if self.task.people is not None else ()
        except InputError:
            return None  # has failed its own cell
        return self.task.people(drawn, self.protocol) if self.task.people is not None and len(drawn) > 1 else None

    def collect_people(self, tallies: Mapping[str, Any]) -> Any:
        """The score of annotators from their tallies by image, of which some may be None; None where nothing can be said."""
        found = {image: tally for image, tally in tallies.items() if tally is not None}
        if self.task.collect_people is not None:
            return self.task.collect_people(list(found.values()))
        return self.task.collect(found) if found else None

    def as_dict(self) -> dict[str, Any]:
        """What a run keeps of it, for those who read the run later."""
        return {"protocol": self.protocol.to_dict(), "reader": self.reader.to_dict()}


def job_for(task: Task[Any, Any, Any], protocol: BaseProtocol, reader: Reader) -> TaskJob:
    """The job of a task; its protocol tells how the reader reads."""
    return TaskJob(task, protocol.read_as(**reader.reading()), reader)


def job_of(grid: Grid) -> TaskJob:
    """The job that a run recorded: the same protocol, and a reader that reads as it did."""
    reader = reader_type(grid.task).from_dict(grid.options.get("reader", {}))
    return TaskJob(grid.task, grid.protocol, reader)


def reader_type(task: Task[Any, Any, Any]) -> type[Reader]:
    """The class that reads a task's files."""
    kinds = (task.prediction, task.truth)
    if kinds not in READERS:
        known = "; ".join(f"{prediction or 'nothing'} and {truth}" for prediction, truth in READERS)
        raise UsageError(f"{task.name} compares {' and '.join(kinds)}, which no reader reads; there are: {known}")
    module, _, name = READERS[kinds].partition(".")
    found: type[Reader] = getattr(import_module(f"hyperacuity.evaluation.readers.{module}"), name)
    return found
