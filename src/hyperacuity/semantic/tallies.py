"""One image of the semantic benchmark: counts of every class at every threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperacuity.boundary import BoundaryTally, tolerance_in_pixels
from hyperacuity.errors import InputError
from hyperacuity.kernels.distances import squared_distances
from hyperacuity.kernels.pairs import reach
from hyperacuity.kernels.sweep import sweep, sweep_states
from hyperacuity.maps import EdgeMap, SoftMap, same_size, size_of
from hyperacuity.semantic.protocols import Protocol
from hyperacuity.semantic.truths import ClassMaps, SemanticTruth, cropped, framed
from hyperacuity.tally import Counts, Tally, protocol_of


@dataclass(frozen=True, eq=False)
class SemanticTally(Tally):
    """Counts of one image (or, added up, of many); classes first, then thresholds.

    Parameters
    ----------
    matched, detected
        Detected pixels that have a true partner, and all of them; classes × thresholds.
    truth
        True pixels of each class.
    shown
        How many images the system has a map of each class for.
    """

    matched: Counts
    detected: Counts
    truth: Counts
    shown: Counts

    def of_class(self, c: int) -> BoundaryTally:
        """The counts of one class as those of the boundary benchmark."""
        matched, detected = self.matched[c], self.detected[c]
        truth = np.full(matched.size, self.truth[c], np.int64)
        protocol = protocol_of([self], Protocol).matching
        return BoundaryTally(matched, truth, matched, detected, detected, detected, protocol=protocol)


def tally(
    prediction: ClassMaps | Sequence[Any] | NDArray[Any],
    truths: Sequence[SemanticTruth | NDArray[Any]],
    protocol: Protocol = Protocol(),  # noqa: B008  # a frozen value
    *,
    checked: bool = False,
) -> SemanticTally:
    """Count one image: a soft map per class against that class's boundaries.

    For each class and threshold t the map is ``prediction ≥ t``, thinned if the protocol says so; then, if it says so, pixels
    inside the class's segmentation and farther than the tolerance from its boundaries are dropped; what remains is matched one to
    one (:func:`hyperacuity.boundary.match`). A class without a map detects nothing, and ``shown`` says so. A class without truth
    has its detections counted, or nothing at all where the protocol skips it. ``checked`` verifies that matchings are optimal.

    Examples
    --------
    >>> from hyperacuity.semantic import drawn_truth
    >>> soft = np.zeros((1, 8, 12), np.float32)
    >>> soft[0, :, 5] = 0.5
    >>> counts = tally(soft, [drawn_truth(soft)], Protocol(thresholds=(0.25, 0.75)))
    >>> counts.matched.tolist(), counts.detected.tolist(), counts.truth.tolist()
    ([[8, 0]], [[8, 0]], [8])
    """
    levels = protocol.levels
    parts = list(class_parts(prediction, truths, protocol))
    counts = np.zeros((2, len(parts), levels.size), np.int64)
    truth, shown = np.zeros((2, len(parts)), np.int64)
    for c, part in enumerate(parts):
        image = part()
        truth[c], shown[c] = np.count_nonzero(image.truth), image.soft is not None
        if image.soft is not None and (truth[c] or protocol.absent == "count"):
            maps = [image.truth] if truth[c] else []
            within = reach(image.tolerance)
            how: Any = {"thin": protocol.thin, "checked": checked, "without": image.without}
            found = sweep(image.soft, maps, levels, within, **how)
            counts[:, c] = found.matched_by_any, found.detected
    return SemanticTally(counts[0], counts[1], truth, shown, protocol=protocol)


class ClassPart(NamedTuple):
    """One class of one image, ready to be matched. ``soft`` is None without a map, ``without`` where nothing is dropped."""

    soft: SoftMap | None
    truth: EdgeMap
    without: EdgeMap | None
    tolerance: float


def class_parts(prediction: Any, truths: Sequence[Any], protocol: Protocol) -> Iterator[Any]:
    """A function for each class that makes its :class:`ClassPart`, so that one class is held at a time."""
    if len(truths) != 1:
        raise InputError(f"there are {len(truths)} truths of an image, expected one label map or one set of boundaries")
    maps, truth = ClassMaps.of(prediction), SemanticTruth.of(truths[0])
    count = len(protocol.classes) or len(maps)
    if len(maps) > count:
        raise InputError(f"there are maps of {len(maps)} classes, expected {count}: name all with --classes FILE")
    edges = truth.edges(protocol)
    if edges and max(edges) >= count:
        raise InputError(
            f"the truth has a class {max(edges) + 1}, expected up to {count}: name all with --classes FILE"
        )
    for c in range(count):
        yield lambda c=c: _part(c, maps[c] if c < len(maps) else None, truth, edges, protocol)


def _part(
    c: int, soft: SoftMap | None, truth: SemanticTruth, edges: dict[int, EdgeMap], protocol: Protocol
) -> ClassPart:
    """Class ``c``, cut to the frame of the benchmark."""
    if soft is not None:
        soft = _fitted(soft, truth, protocol)
    found = edges.get(c)
    if found is None:
        shape = framed(np.broadcast_to(False, truth.size), protocol).shape if soft is None else soft.shape
        found = np.zeros(shape, np.bool_)
    tolerance = tolerance_in_pixels(found.shape, protocol.tolerance)
    without = None
    if soft is not None and protocol.internal == "drop" and found.any():
        without = truth.inside(c, protocol) & (squared_distances(found) > tolerance * tolerance)
    return ClassPart(soft, found, without, tolerance)


def _fitted(soft: SoftMap, truth: SemanticTruth, protocol: Protocol) -> SoftMap:
    """A map at the size of the benchmark; one at half size already is not halved."""
    height, width = truth.size
    if protocol.half and soft.shape == (height // 2, width // 2):
        return cropped(soft, protocol.border)
    if soft.shape != truth.size and protocol.half:
        raise InputError(
            f"prediction is {size_of(soft)} but truth is {width}×{height}: expected that size, or {width // 2}×{height // 2}"
        )
    same_size(soft, np.broadcast_to(False, truth.size))
    return framed(soft, protocol)


def overlays(prediction: Any, truths: Sequence[Any], protocol: Protocol, c: int) -> NDArray[np.uint8]:
    """What :func:`tally` counts of class ``c`` as pictures, one per threshold: 0 nothing, 1 hit, 2 false alarm, 3 miss.

    A class without a map has misses alone. Pictures have the benchmark's size, without the border.
    """
    part = list(class_parts(prediction, truths, protocol))[c]()
    levels = protocol.levels
    if part.soft is None:
        return np.repeat(np.where(part.truth, np.uint8(3), np.uint8(0))[np.newaxis], levels.size, axis=0)
    within = reach(part.tolerance)
    return sweep_states(part.soft, [part.truth], levels, within, thin=protocol.thin, without=part.without)
