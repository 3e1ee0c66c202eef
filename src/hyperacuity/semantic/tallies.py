"""One image of the semantic benchmark: counts of every class at every threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperacuity.boundary import BoundaryTally, tolerance_in_pixels
from hyperacuity.errors import InputError
from hyperacuity.kernels.counting import sweep_counts
from hyperacuity.kernels.distances import squared_distances
from hyperacuity.kernels.pairs import reach
from hyperacuity.kernels.sweep_pairs import sweep_states
from hyperacuity.maps import EdgeMap, SoftMap, same_size, size_of
from hyperacuity.semantic.protocols import Protocol
from hyperacuity.semantic.truths import ClassMaps, SemanticTruth, cropped, framed
from hyperacuity.tally import Arrays, Counts, Tally, protocol_of


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

    def validate(self) -> None:
        """Require that pairs are no more than either side has, and no detections without a map."""
        super().validate()
        protocol = protocol_of([self], Protocol)
        classes = len(protocol.classes) or np.size(self.truth)
        self.require_shape((classes,), "truth", "shown")
        self.require_shape((classes, protocol.levels.size), "matched", "detected")
        self.require_at_most("detected", "matched")
        self.require_at_most(self.truth[:, np.newaxis], "matched")
        self.require((self.shown > 0)[:, np.newaxis] | (self.detected == 0), "detected", "0 for a class without a map")

    def truth_counts(self) -> Arrays:
        """The true pixels of each class."""
        return {"truth": self.truth}

    def of_class(self, c: int) -> BoundaryTally:
        """The counts of one class as those of the boundary benchmark."""
        matched, detected = self.matched[c], self.detected[c]
        truth = np.full(matched.size, self.truth[c], np.int64)
        protocol = protocol_of([self], Protocol).matching
        return BoundaryTally(matched, truth, matched, detected, detected, detected, protocol=protocol)


def tally(
    prediction: ClassMaps | Sequence[Any] | NDArray[Any],
    truths: Sequence[SemanticTruth | NDArray[Any]],
    protocol: Protocol = Protocol(),
) -> SemanticTally:
    """Count one image: a soft map per class against that class's boundaries.

    For each class and threshold t the map is ``prediction ≥ t``, thinned if the protocol says so; then, if it says so, pixels
    inside the class's segmentation and farther than the tolerance from its boundaries are dropped; what remains is matched one to
    one (:func:`hyperacuity.boundary.match`). A class without a map detects nothing, and ``shown`` says so. A class without truth
    has its detections counted, or nothing at all where the protocol skips it.

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
    image = SemanticImage(prediction, truths, protocol)
    counts = np.zeros((2, image.classes, levels.size), np.int64)
    truth, shown = np.zeros((2, image.classes), np.int64)
    for c in range(image.classes):
        truth[c], shown[c] = np.count_nonzero(image.edges.get(c, False)), image.maps.has(c)
        if shown[c] and (truth[c] or protocol.absent == "count"):
            part = image.part(c)
            how: Any = {"thin": protocol.thin, "without": part.without}
            counts[:, c] = sweep_counts(part.soft, part.truth, levels, reach(part.tolerance), **how)[:2]
    return SemanticTally(counts[0], counts[1], truth, shown, protocol=protocol)


class ClassPart(NamedTuple):
    """One class of one image, ready to be matched, at the benchmark's size and without the border.

    ``without`` are detected pixels to drop after thinning; None where the protocol drops nothing.
    """

    soft: SoftMap
    truth: EdgeMap
    without: EdgeMap | None
    tolerance: float


class SemanticImage:
    """One image under a protocol: how many classes there are, the boundaries of each (``edges``, by index), and its maps.

    Maps are read one class at a time (:meth:`part`).
    """

    def __init__(self, prediction: Any, truths: Sequence[Any], protocol: Protocol) -> None:
        if len(truths) != 1:
            raise InputError(f"there are {len(truths)} truths of an image, expected one label map or set of boundaries")
        self.maps, self.truth, self.protocol = ClassMaps.of(prediction), SemanticTruth.of(truths[0]), protocol
        self.classes = len(protocol.classes) or len(self.maps)
        name_all = "name all with `classes=`"
        if len(self.maps) > self.classes:
            raise InputError(f"there are maps of {len(self.maps)} classes, expected {self.classes}: {name_all}")
        self.edges = self.truth.edges(protocol)
        if self.edges and (last := max(self.edges)) >= self.classes:
            raise InputError(f"the truth has a class {last + 1}, expected up to {self.classes}: {name_all}")

    def part(self, c: int) -> ClassPart:
        """Class ``c``, which must have a map."""
        soft = self.maps[c]
        assert soft is not None  # noqa: S101  # the caller has asked
        soft = self._fitted(soft)
        edges = self.edges.get(c, np.zeros(soft.shape, np.bool_))
        tolerance = tolerance_in_pixels(soft.shape, self.protocol.tolerance)
        without = None
        if self.protocol.internal == "drop" and edges.any():
            without = self.truth.inside(c, self.protocol) & (squared_distances(edges) > tolerance * tolerance)
        return ClassPart(soft, edges, without, tolerance)

    def _fitted(self, soft: SoftMap) -> SoftMap:
        """A map at the size of the benchmark; one at half size already is not halved."""
        height, width = self.truth.size
        half = (height // 2, width // 2)
        if self.protocol.half and soft.shape == half:
            return cropped(soft, self.protocol.border)
        if self.protocol.half and soft.shape != (height, width):
            sizes = f"prediction is {size_of(soft)} but truth is {width}×{height}"
            raise InputError(f"{sizes}: expected that size, or {half[1]}×{half[0]}")
        same_size(soft, np.broadcast_to(False, (height, width)))
        return framed(soft, self.protocol)


def overlays(
    prediction: Any, truths: Sequence[Any], protocol: Protocol, classes: Sequence[int]
) -> Iterator[NDArray[np.uint8]]:
    """Outcomes of some classes as pictures: 0 nothing, 1 hit, 2 false alarm, 3 miss.

    ``classes`` are indices, from 0, of classes that have a map. Each gives thresholds × height × width, at the benchmark's size
    and without the border.
    """
    image = SemanticImage(prediction, truths, protocol)
    for c in classes:
        part = image.part(c)
        how: Any = {"thin": protocol.thin, "without": part.without}
        yield sweep_states(part.soft, [part.truth], protocol.levels, reach(part.tolerance), **how).state
