"""Depth maps as order maps, with what they are asked: pairs of points, or where depth steps."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from hyperacuity.data import (
    PairedFiles,
    Pairing,
    pair_truths,
    read_boundary_truths,
    read_ibims_edges,
    read_order,
    read_point_pairs,
)
from hyperacuity.data.datasets.pairing import files_in, stem_of
from hyperacuity.data.files import identity
from hyperacuity.data.remote import is_file
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kinds.base import Cell, Found, Inputs, Kind
from hyperacuity.maps import EdgeMap, OrderMap, edge_map
from hyperacuity.ordering import PointPairs, contours, ordering, point_pairs

ANSWERS = frozenset({".csv", ".json", ".txt"})
"""Endings of files that answer pairs of points themselves."""


@dataclass(frozen=True)
class DepthKind(Kind):
    """``farther``: the maps are depth maps, in which larger is farther. ``zero_unknown``: 0 in them means unknown."""

    prediction_is = "order map"

    farther: bool = False
    zero_unknown: bool = False

    def reading(self) -> dict[str, object]:
        """Parts for maps that were turned round, since the files are the same."""
        return {"farther": "pred" if self.farther else None, "zero": "unknown" if self.zero_unknown else None}

    def prediction(self, cell: Cell, protocol: Any) -> Any:
        """The map, larger = nearer."""
        return self.order(cell.prediction)

    def order(self, path: Path) -> OrderMap:
        """A file's map, larger = nearer."""
        larger: Any = "farther" if self.farther else "nearer"
        return read_order(path, larger=larger, unknown=0.0 if self.zero_unknown else None)


@dataclass(frozen=True)
class PairKind(DepthKind):
    """A map, or answers to pairs of points; and the pairs of points that were judged."""

    truth_is = "point pairs"

    def find(  # type: ignore[override]  # options of its own
        self,
        systems: Mapping[str, Path],
        truth: str | Path,
        *,
        farther: bool = False,
        zero_unknown: bool = False,
        images: Path | None = None,
        glob: str = "*",
    ) -> Inputs:
        """Pair depth maps, or files of answers, with the images of a file of point pairs; ``images`` has their photographs."""
        from hyperacuity.kinds.finding import pair_files

        path = Path(truth)
        if not path.is_file():
            raise UsageError(f"there is no file {truth}; expected pairs of points as CSV or JSON")
        known = dict.fromkeys(read_point_pairs(path), (path,))
        photographs: dict[str, Path | None] = {} if images is None else {stem_of(p): p for p in files_in(Path(images))}

        def pair(system: str, predictions: Path) -> Found:
            if is_file(predictions) and predictions.suffix.lower() in ANSWERS:
                answered = read_point_pairs(predictions)
                pairs = [PairedFiles(image, predictions, (path,)) for image in known if image in answered]
                pairing = Pairing(tuple(pairs), missing=tuple(image for image in known if image not in answered))
            elif is_file(predictions):
                pairing = pair_files(predictions, path, known, name=str(truth), glob=glob)
            else:
                pairing = pair_truths(predictions, known, of=str(truth), glob=glob)
            cells = [
                Cell(system, p.name, p.prediction, p.truths, picture=photographs.get(p.name)) for p in pairing.pairs
            ]
            if not cells:
                raise UsageError(f"{predictions}: answers no pair of points of {truth}; are these the same images?")
            return Found(cells, list(pairing.unpaired_predictions), missing=list(pairing.missing))

        return Inputs(systems, pair, replace(self, farther=farther, zero_unknown=zero_unknown))

    def prediction(self, cell: Cell, protocol: Any) -> OrderMap | PointPairs:
        """The map, or what the file says of each pair."""
        path = cell.prediction
        return judged(path, cell.image) if path.suffix.lower() in ANSWERS else self.order(path)

    def truths(self, cell: Cell) -> list[Any]:
        """The pairs of each file that judges the image."""
        return [judged(path, cell.image) for path in cell.truths]

    def checked(self, truth: Any, protocol: Any) -> PointPairs:
        """Pairs of points."""
        return truth if isinstance(truth, PointPairs) else point_pairs(truth)


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
class DepthEdgeKind(DepthKind):
    """A map; and the true depth edges. ``orders``: the truths are order maps, whose contours with a step in depth are meant."""

    truth_is = "edge map"

    orders: bool = False

    def find(  # type: ignore[override]  # options of its own
        self,
        systems: Mapping[str, Path],
        truth: str | Path,
        *,
        zero_unknown: bool = False,
        data: Path | None = None,
        glob: str = "*",
    ) -> Inputs:
        """Pair depth maps with true depth edges: a folder of edge maps or of iBims-1's files, or a folder of scenes."""
        from hyperacuity.kinds.finding import known_truths, paired_inputs

        known, photographs = known_truths(str(truth), data, None)
        kind = replace(self, zero_unknown=zero_unknown, orders=known is not None)
        return paired_inputs(kind, systems, Path(truth), known=known, pictures=photographs, glob=glob)

    def reading(self) -> dict[str, object]:
        """Parts for edges that were made of order maps, too."""
        return super().reading() | {"truth": "orders" if self.orders else None}

    def truths(self, cell: Cell) -> list[Any]:
        """The true depth edges, one map for each file or annotator."""
        return [edges for path in cell.truths for edges in self._edges(path)]

    def _edges(self, path: Path) -> list[EdgeMap]:
        if self.orders:
            return [contours(ordering(read_order(path), name=str(path)), undirected=False).pixels]
        found = read_ibims_edges(path)
        return read_boundary_truths([path]) if found is None else [found]

    def checked(self, truth: Any, protocol: Any) -> EdgeMap:
        """An edge map."""
        return edge_map(truth)
