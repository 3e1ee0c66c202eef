"""Soft boundary and edge maps, and the maps that annotators drew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from hyperacuity.data import read_boundary_truths, read_segmentations
from hyperacuity.data.readers import count_truths
from hyperacuity.evaluation.readers.soft import SoftReader

if TYPE_CHECKING:
    from hyperacuity.run.job import Cell


@dataclass(frozen=True)
class ContourReader(SoftReader):
    """A soft map, or a stack of segmentations where the protocol says so. ``invert_truth``: in the truths, 0 is the edge."""

    invert_truth: bool = False

    def reading(self) -> dict[str, object]:
        """And so are truths."""
        return {"truth": "inverted" if self.invert_truth else None} | super().reading()

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Self:
        """As before; an older version called ``invert_truth`` ``inverted``."""
        return super().from_dict({"invert_truth": options.get("inverted", False), **options})

    def prediction(self, cell: Cell, protocol: Any) -> Any:
        """The system's map."""
        levels = getattr(protocol, "thresholds", None) == "levels"
        return read_segmentations([cell.prediction]) if levels else self.soft(cell.prediction)

    def annotators_of(self, cell: Cell) -> int:
        """How many annotators one image has; a MAT file may hold several."""
        return count_truths(cell.truths, ("groundTruth",))

    def truths(self, cell: Cell) -> list[Any]:
        """Every annotator's boundaries."""
        return read_boundary_truths(cell.truths, inverted=self.invert_truth, force=self.force)


@dataclass(frozen=True)
class LabelReader(ContourReader):
    """Annotators alone; there is no prediction."""

    def prediction(self, cell: Cell, protocol: Any) -> Any:
        """Nothing."""
        return None
