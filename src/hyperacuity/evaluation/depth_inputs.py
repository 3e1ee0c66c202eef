"""What occlusion boundaries, pairs of points and depth boundaries are evaluated on: predictions with their truths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hyperacuity.data import Pairing, pair_truths, read_point_pairs
from hyperacuity.data.datasets.pairing import PairedFiles, files_in, stem_of
from hyperacuity.data.datasets.samples import by_stem
from hyperacuity.data.formats.directions import Direction
from hyperacuity.data.remote import is_file
from hyperacuity.errors import UsageError
from hyperacuity.evaluation.inputs import Found, Inputs, pair_files
from hyperacuity.evaluation.ordering_inputs import known_truths, labelled_source
from hyperacuity.evaluation.readers.depth import ANSWERS, DepthEdgeReader, PairReader
from hyperacuity.evaluation.readers.occlusion import ANGLES, OcclusionReader
from hyperacuity.run.job import Cell

Extras = Callable[[PairedFiles], tuple[tuple[str, Path], ...]]


def find_occlusion(
    kind: type[OcclusionReader],
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

    Angles in files of their own lie in a folder ``angles`` beside the soft maps.
    """
    source = labelled_source(str(truth), data)
    known, photographs = known_truths(str(truth), data, source)
    reader = kind(
        invert_prediction,
        value_range,
        force,
        direction,
        truth_direction,
        labels=None if source is None else str(source),
        orders=known is not None and source is None,
    )

    def angles_of(found: PairedFiles) -> tuple[tuple[str, Path], ...]:
        beside = by_stem(found.prediction.parent / ANGLES)
        if not beside:
            return ()
        if found.name not in beside and stem_of(found.prediction) not in beside:
            raise UsageError(f"{found.prediction.parent / ANGLES}: holds no angles of {found.name}")
        return ((ANGLES, beside.get(found.name) or beside[stem_of(found.prediction)]),)

    inputs = _inputs(reader, systems, truth, known, photographs, glob, angles_of)
    if source is not None:
        inputs.reader = replace(reader, images=tuple(cell.image for cell in inputs.images()))
    return inputs


def find_pairs(
    kind: type[PairReader],
    systems: Mapping[str, Path],
    truth: str | Path,
    *,
    farther: bool = False,
    zero_unknown: bool = False,
    images: Path | None = None,
    glob: str = "*",
) -> Inputs:
    """Pair depth maps, or files of answers, with the images of a file of point pairs; ``images`` holds their photographs."""
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
        cells = [Cell(system, p.name, p.prediction, p.truths, picture=photographs.get(p.name)) for p in pairing.pairs]
        if not cells:
            raise UsageError(f"{predictions}: answers no pair of points of {truth}; are these the same images?")
        return Found(cells, list(pairing.unpaired_predictions), missing=list(pairing.missing))

    return Inputs(systems, pair, kind(farther, zero_unknown))


def find_depth_edges(
    kind: type[DepthEdgeReader],
    systems: Mapping[str, Path],
    truth: str | Path,
    *,
    zero_unknown: bool = False,
    data: Path | None = None,
    glob: str = "*",
) -> Inputs:
    """Pair depth maps with true depth edges: a folder of edge maps or of iBims-1's files, or a folder of scenes."""
    known, photographs = known_truths(str(truth), data, None)
    return _inputs(kind(zero_unknown=zero_unknown, orders=known is not None), systems, truth, known, photographs, glob)


def _inputs(
    reader: Any,
    systems: Mapping[str, Path],
    truth: str | Path,
    known: Mapping[str, list[Path]] | None,
    photographs: Mapping[str, Path | None],
    glob: str,
    extras: Extras = lambda _: (),
) -> Inputs:
    def pair(system: str, predictions: Path) -> Found:
        pairing = pair_files(predictions, Path(truth), known, name=str(truth), glob=glob)
        cells = [
            Cell(system, p.name, p.prediction, p.truths, extras(p), photographs.get(p.name)) for p in pairing.pairs
        ]
        return Found.of(pairing, cells)

    return Inputs(systems, pair, reader)
