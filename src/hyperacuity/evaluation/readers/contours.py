"""Soft boundary and edge maps, and the maps that annotators drew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hyperacuity.data import read_boundary_truths, read_segmentations, read_soft
from hyperacuity.evaluation.readers import Reader

if TYPE_CHECKING:
    from hyperacuity.run.job import Cell


@dataclass(frozen=True)
class ContourReader(Reader):
    """A soft map, or a stack of segmentations where the protocol says so. ``inverted``: in the truths, 0 is the edge."""

    inverted: bool = False

    def reading(self) -> dict[str, object]:
        """Truths read the other way round are told apart, since their files are the same."""
        return {"truth": "inverted"} if self.inverted else {}

    def prediction(self, cell: Cell, protocol: Any) -> Any:
        """The system's map."""
        if getattr(protocol, "thresholds", None) == "levels":
            return read_segmentations([cell.prediction])
        return read_soft(cell.prediction)

    def truths(self, cell: Cell) -> list[Any]:
        """Every annotator's boundaries."""
        return read_boundary_truths(cell.truths, inverted=self.inverted)


@dataclass(frozen=True)
class LabelReader(ContourReader):
    """Annotators alone; there is no prediction."""

    def prediction(self, cell: Cell, protocol: Any) -> Any:
        """Nothing."""
        return None
