"""Depth maps as order maps, with what they are asked: pairs of points, or where depth steps."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyperacuity.data import read_boundary_truths, read_ibims_edges, read_order, read_point_pairs
from hyperacuity.data.files import identity
from hyperacuity.errors import InputError
from hyperacuity.evaluation.readers import Reader
from hyperacuity.maps import EdgeMap, OrderMap
from hyperacuity.ordering import PointPairs, contours, ordering, point_pairs

if TYPE_CHECKING:
    from hyperacuity.run.job import Cell

ANSWERS = frozenset({".csv", ".json", ".txt"})
"""Endings of files that answer pairs of points themselves."""


@dataclass(frozen=True)
class DepthReader(Reader):
    """``farther``: the maps are depth maps, in which larger is farther. ``zero_unknown``: 0 in them means unknown."""

    farther: bool = False
    zero_unknown: bool = False

    def reading(self) -> dict[str, object]:
        """Maps that were turned round are told apart, since the files are the same."""
        return {"farther": "pred" if self.farther else None, "zero": "unknown" if self.zero_unknown else None}

    def prediction(self, cell: Cell, protocol: Any) -> Any:
        """The map, larger = nearer."""
        return self.order(cell.prediction)

    def order(self, path: Path) -> OrderMap:
        """A file's map, larger = nearer."""
        larger: Any = "farther" if self.farther else "nearer"
        return read_order(path, larger=larger, unknown=0.0 if self.zero_unknown else None)


@dataclass(frozen=True)
class PairReader(DepthReader):
    """A map, or answers to pairs of points; and the pairs of points that were judged."""

    def prediction(self, cell: Cell, protocol: Any) -> OrderMap | PointPairs:
        """The map, or what the file says of each pair."""
        path = cell.prediction
        return judged(path, cell.image) if path.suffix.lower() in ANSWERS else self.order(path)

    def truths(self, cell: Cell) -> list[Any]:
        """The pairs of each file that judges the image."""
        return [judged(path, cell.image) for path in cell.truths]


def judged(path: Path, image: str) -> PointPairs:
    """The pairs of an image in a file, which is read once for all of its images."""
    with _guard:
        held = _held(path, identity(path))
    if image not in held:
        raise InputError(f"{path}: holds no pair of points of {image}")
    return held[image]


_guard = threading.Lock()


@lru_cache(maxsize=8)
def _held(path: Path, identity: tuple[int, ...]) -> dict[str, PointPairs]:
    """The pairs of a file by image, kept while it stays the same."""
    found = read_point_pairs(path).items()
    return {image: point_pairs(of.array(), size=of.size, name=f"{path}, {image}") for image, of in found}


@dataclass(frozen=True)
class DepthEdgeReader(DepthReader):
    """A map; and the true depth edges. ``orders``: the truths are order maps, whose contours with a step in depth are meant."""

    orders: bool = False

    def reading(self) -> dict[str, object]:
        """And so are edges that were made of order maps."""
        return super().reading() | {"truth": "orders" if self.orders else None}

    def truths(self, cell: Cell) -> list[Any]:
        """The true depth edges, one map for each file or annotator."""
        return [edges for path in cell.truths for edges in self._edges(path)]

    def _edges(self, path: Path) -> list[EdgeMap]:
        if self.orders:
            return [contours(ordering(read_order(path), name=str(path)), undirected=False).pixels]
        found = read_ibims_edges(path)
        return read_boundary_truths([path]) if found is None else [found]
