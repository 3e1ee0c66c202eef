"""What an image is scored against, as digests: one for each annotator's truth, and one for what else there is.

A digest is that of the arrays as the benchmark counts them, so that it is the same for a truth from files and from memory.
What a prediction has no part in and a tally depends on is in them: regions on which questions are asked, and masks that come
with the data. What is derived from the truth is not, since the truth has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from hyperacuity.cards import digest_of
from hyperacuity.errors import InputError
from hyperacuity.evaluation.arrays import truths_of
from hyperacuity.evaluation.jobs import TaskJob
from hyperacuity.maps import VOID, disparity_map, edge_map, label_map
from hyperacuity.run.job import Cell

TruthDigests = tuple[str, ...]
"""Of an image: each annotator's, and one more where the tally depends on more than these."""


def digests_of_cell(job: TaskJob, cell: Cell) -> TruthDigests:
    """The digests of an image of files. ``InputError`` for truths that cannot be read."""
    truths = job.reader.truths(cell)
    find_beside = _BESIDE.get(type(job.reader).__name__)
    beside = None if find_beside is None else find_beside(job, cell, truths)
    return (*_of_truths(job, truths), *([] if not beside else [digest_of(beside)]))


def digests_of_arrays(job: TaskJob, truths: Any) -> TruthDigests:
    """The digests of an image in memory. ``InputError`` for truths that cannot be right."""
    return _of_truths(job, truths_of(job.task, truths))


def digests_of_cells(job: TaskJob, cells: Iterable[Cell], *, workers: int | None = None) -> dict[str, TruthDigests]:
    """The digests of many images, by name, read in threads; images whose truths cannot be read are left out."""

    def read(cell: Cell) -> TruthDigests | None:
        try:
            return digests_of_cell(job, cell)
        except InputError:
            return None  # has failed its own cell

    every = list(cells)
    return {cell.image: found for cell, found in zip(every, each("truths", read, every, workers), strict=True) if found}


def each(what: str, do: Callable[[Any], Any], things: Sequence[Any], workers: int | None = None) -> list[Any]:
    """What comes of every thing, in threads, with a bar in a terminal."""
    console = Console(stderr=True)
    with ThreadPoolExecutor(workers) as pool:
        made = pool.map(do, things)
        bar = track(
            made, f"reading {what}", len(things), console=console, transient=True, disable=not console.is_terminal
        )
        return list(bar)


def _of_truths(job: TaskJob, truths: Sequence[Any]) -> TruthDigests:
    counted = _COUNTED.get(job.task.truth, lambda truth, protocol: truth)
    return tuple(digest_of(counted(truth, job.protocol)) for truth in truths)


def _ordering(truth: Any, protocol: Any) -> Any:
    from hyperacuity.ordering import Partition, Sides, ordering

    found = truth if isinstance(truth, Partition | Sides) else ordering(truth)
    return found if isinstance(found, Partition) else {"sides": found.sides, "labels": found.labels}


def _owned(truth: Any, protocol: Any) -> Any:
    from hyperacuity.ordering.occlusion import owned_contours

    found = owned_contours(truth)
    return {"pixels": found.pixels, "angle": np.where(found.pixels, found.angle, np.nan)}


def _labels(truth: Any, protocol: Any) -> Any:
    """Label maps; where one mask is meant, its pixels, whatever their label."""
    from hyperacuity.masks import Frames

    if isinstance(truth, Frames):
        return [_labels(one, protocol) for one in truth.maps]
    labels = label_map(truth)
    if getattr(protocol, "by", "") != "binary":
        return labels
    unknown = (labels == VOID) | (labels == protocol.ignore)
    return np.where(unknown, np.int32(VOID), labels != protocol.background)


def _pairs(truth: Any, protocol: Any) -> Any:
    from hyperacuity.ordering import PointPairs, point_pairs

    return truth if isinstance(truth, PointPairs) else point_pairs(truth)


def _classes(truth: Any, protocol: Any) -> Any:
    from hyperacuity.semantic import SemanticTruth

    return SemanticTruth.of(truth)


def _picture(truth: Any, protocol: Any) -> Any:
    from hyperacuity.disparity.masks import picture

    return picture(truth)


_COUNTED: dict[str, Callable[[Any, Any], Any]] = {
    "edge map": lambda truth, protocol: edge_map(truth),
    "segmentation": lambda truth, protocol: label_map(truth),
    "label map": _labels,
    "order map": _ordering,
    "owned boundaries": _owned,
    "point pairs": _pairs,
    "disparity map": lambda truth, protocol: disparity_map(truth),
    "picture": _picture,
    "class truth": _classes,
}
"""A truth as it is counted, by what it is; another task's own values as they are."""


def _regions_asked(job: TaskJob, cell: Cell, truths: Sequence[Any]) -> Any:
    regions: Any = job.reader.regions(cell)  # type: ignore[attr-defined]  # an OrderReader
    return [label_map(one) for one in regions]


def _masks_given(job: TaskJob, cell: Cell, truths: Sequence[Any]) -> Any:
    """The regions of the protocol, unless all of them are derived from the truth."""
    protocol: Any = job.protocol
    if protocol.masks == "derived":
        return None
    found: Mapping[str, Any] = job.reader.regions(cell, truths[0], protocol.regions)  # type: ignore[attr-defined]
    return {name: edge_map(found[name]) for name in protocol.regions if name in found}


_BESIDE: dict[str, Callable[[TaskJob, Cell, Sequence[Any]], Any]] = {
    "OrderReader": _regions_asked,
    "DisparityReader": _masks_given,
}
"""What else tallies are counted against, by reader."""


def told(job: TaskJob, image: str, mine: TruthDigests, theirs: TruthDigests) -> str:
    """Which truths of an image differ between here and a card, in words; empty where none does."""
    if mine == theirs:
        return ""
    word = "picture" if job.task.truth == "picture" else "annotator"
    beside = _named_beside(job)
    people = len(mine) - bool(beside)
    if len(mine) != len(theirs):
        return f"truth of {image} differs: {len(theirs) - bool(beside)} {word}s on the card, {people} here"
    apart = [n for n, (one, other) in enumerate(zip(mine, theirs, strict=True), 1) if one != other]
    numbers = ", ".join(str(n) for n in apart if n <= people)
    parts = [f": {word} {numbers} of {people}" if people > 1 else ""] if numbers else []
    parts += [f": {beside}"] if apart[-1] > people else []
    return f"truth of {image} differs{' and '.join(parts)}"


def _named_beside(job: TaskJob) -> str:
    """What the last digest of an image is of, where it is not of a truth."""
    if getattr(job.protocol, "masks", "derived") != "derived" and job.task.truth == "disparity map":
        return "the masks that come with it"
    given = dict(job.protocol.reading).get("regions", "").startswith("given")
    return "the regions that are asked about" if given else ""
