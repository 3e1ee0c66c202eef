"""Soft boundary and edge maps, and the maps that annotators drew; or these alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from hyperacuity.data import pair_folders, pair_truths, read_boundary_truths, read_segmentations
from hyperacuity.data.datasets.pairing import stem_of, truths_in
from hyperacuity.data.readers import count_truths
from hyperacuity.errors import UsageError
from hyperacuity.kinds import arrays
from hyperacuity.kinds.base import Cell, Found, Inputs, SoftKind
from hyperacuity.maps import EdgeMap, edge_map

if TYPE_CHECKING:
    from hyperacuity.kinds.finding import Truths

LABELS = "labels"
"""The one system of a grid that is about labels alone."""


@dataclass(frozen=True)
class ContourKind(SoftKind):
    """A soft map, or a stack of segmentations where the protocol says so. ``invert_truth``: in the truths, 0 is the edge."""

    truth_is = "edge map"

    invert_truth: bool = False

    def for_truths(self, truths: Truths) -> Self:
        """The kind for a data set in which 0 is the edge, or for others."""
        return replace(self, invert_truth=True) if truths.inverted else self

    def reading(self) -> dict[str, object]:
        """Parts for maps and truths that are read in another way."""
        return {"truth": "inverted" if self.invert_truth else None} | super().reading()

    def from_dict(self, options: Mapping[str, Any]) -> Self:
        """The inverse of ``to_dict``; an older version called ``invert_truth`` ``inverted``."""
        return super().from_dict({"invert_truth": options.get("inverted", False), **options})

    def prediction(self, cell: Cell, protocol: Any) -> Any:
        """The system's map."""
        return read_segmentations([cell.prediction]) if _takes_levels(protocol) else self.soft(cell.prediction)

    def truths(self, cell: Cell) -> list[Any]:
        """Every annotator's boundaries."""
        return read_boundary_truths(cell.truths, inverted=self.invert_truth, force=self.force)

    def annotators_of(self, cell: Cell) -> int:
        """The number of annotators of one image; a MAT file may hold several."""
        return count_truths(cell.truths, ("groundTruth",))

    def batch(self, prediction: Any, protocol: Any) -> list[Any]:
        """Maps, or stacks of segmentations where the protocol says so."""
        return arrays.stacks(prediction) if _takes_levels(protocol) else super().batch(prediction, protocol)

    def checked(self, truth: Any, protocol: Any) -> EdgeMap:
        """An edge map."""
        return edge_map(truth)


@dataclass(frozen=True)
class LabelKind(ContourKind):
    """Annotators alone; there is no prediction."""

    prediction_is = ""

    def find(
        self,
        systems: Mapping[str, Path],
        truth: str | Path,
        *,
        images: Path | None = None,
        data: Path | None = None,
        split: str | None = None,
        glob: str = "*",
        **reading: Any,
    ) -> Inputs:
        """The truths of every image; ``images`` is a folder of photographs."""
        return find_labels(systems, truth, images=images, data=data, split=split, glob=glob, **reading)[0]

    def prediction(self, cell: Cell, protocol: Any) -> Any:
        """Nothing."""
        return None


def find_labels(
    systems: Mapping[str, Path],
    truth: str | Path,
    *,
    images: Path | None = None,
    data: Path | None = None,
    split: str | None = None,
    glob: str = "*",
    **reading: Any,
) -> tuple[Inputs, Inputs]:
    """The labels, and the systems to evaluate on them: what an audit reads.

    A folder of truths is read by itself: a file with all annotators per image, or a sub-folder per annotator. Where its files
    have other names than the systems' or the photographs' (``NAME_1``, ``NAME_2``), it is paired with those.
    """
    from hyperacuity.kinds.finding import Truths

    source, path = Truths(truth, data=data, split=split, glob=glob), Path(truth)
    lone: list[Path] = []
    if source.known is None:
        if not path.is_dir():
            raise UsageError(f"{truth} is a file, expected a folder of truths")
        source.known, lone = _truths_in(path, images or next(iter(systems.values()), None))
        if images is not None:
            pairs = pair_truths(images, source.known, of=source.name).pairs
            source.pictures = {pair.name: pair.prediction for pair in pairs}
    truths, pictures = source.known, source.pictures

    def labels(system: str, folder: Path) -> Found:
        cells = [
            Cell(system, image, files[0], tuple(files), picture=pictures.get(image)) for image, files in truths.items()
        ]
        return Found(cells, lone_truths=lone)

    reading["invert_truth"] = reading.get("invert_truth", False) or source.inverted
    return Inputs({LABELS: path}, labels, LabelKind(**reading)), source.inputs(systems, ContourKind(**reading))


def _truths_in(folder: Path, reference: Path | None) -> tuple[dict[str, tuple[Path, ...]], list[Path]]:
    """The truths of a folder by image, and those that have no image in the reference folder if it had to be asked."""
    named: dict[str, list[Path]] = {}
    for file in truths_in(folder):
        named.setdefault(stem_of(file), []).append(file)
    truths = {name: tuple(files) for name, files in sorted(named.items())}
    if reference is None:
        return truths, []
    try:
        pair_truths(reference, truths)
    except UsageError:
        found = pair_folders(reference, folder)
        return {pair.name: pair.truths for pair in found.pairs}, list(found.unpaired_truths)
    return truths, []


def _takes_levels(protocol: Any) -> bool:
    """Tell protocols whose predictions are stacks of segmentations, one per level."""
    return getattr(protocol, "thresholds", None) == "levels"
