"""Images of the semantic benchmark: a soft map for each class, and a truth that gives each class its boundaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError
from hyperacuity.kernels.thinning import thin
from hyperacuity.maps import EdgeMap, LabelMap, SoftMap, edge_map, label_map, same_size, soft_map
from hyperacuity.semantic.masks import NONE, class_edges
from hyperacuity.semantic.protocols import Protocol

IGNORED = -1
"""Label of an unknown pixel in label maps given as arrays."""


class ClassMaps:
    """A system's soft maps of an image, one per class; a class may have none. A map can be a function, called on demand.

    >>> maps = ClassMaps([None, lambda: np.ones((4, 5), np.float32)])
    >>> len(maps), maps[0] is None, maps[1].shape
    (2, True, (4, 5))
    """

    def __init__(self, maps: Sequence[SoftMap | Callable[[], SoftMap] | None]) -> None:
        self._maps = list(maps)

    def __len__(self) -> int:
        return len(self._maps)

    def __getitem__(self, index: int) -> SoftMap | None:
        item = self._maps[index]
        return item() if callable(item) else item

    def has(self, index: int) -> bool:
        """True if a class has a map; does not read it."""
        return index < len(self._maps) and self._maps[index] is not None

    @classmethod
    def of(cls, prediction: Any) -> ClassMaps:
        """Convert a prediction: class maps, or a list or array of maps, classes first."""
        if isinstance(prediction, cls):
            return prediction
        if isinstance(prediction, np.ndarray) and prediction.ndim != 3:
            raise InputError(f"prediction: has shape {prediction.shape}, expected a soft map per class, C×H×W")
        return cls([None if one is None else soft_map(one, name=f"map {n}") for n, one in enumerate(prediction, 1)])


@dataclass(frozen=True, eq=False)
class SemanticTruth:
    """True classes of an image.

    Parameters
    ----------
    labels
        The index of each pixel's class, from 0; −1 where there is none. None if there are only boundaries.
    objects
        The number of the object that each pixel belongs to, if there are objects.
    ignored
        Pixels next to which labels make no boundary.
    drawn, drawn_objects
        Boundaries by the index of the class as the data have them: of the class as a whole, and of all its objects.
    """

    labels: LabelMap | None = None
    objects: LabelMap | None = None
    ignored: EdgeMap | None = None
    drawn: Mapping[int, EdgeMap] | None = None
    drawn_objects: Mapping[int, EdgeMap] | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        maps = [self.labels, *(self.drawn or {}).values(), *(self.drawn_objects or {}).values()]
        first = next((one for one in maps if one is not None), None)
        if first is None:
            raise InputError("the truth has neither labels nor boundaries")
        return first.shape[0], first.shape[1]

    @classmethod
    def of(cls, truth: Any) -> SemanticTruth:
        """Convert a truth: a value of this class, or a label map (see :func:`semantic_truth`)."""
        return truth if isinstance(truth, cls) else semantic_truth(truth)

    def edges(self, protocol: Protocol) -> dict[int, EdgeMap]:
        """The boundaries of each class that has any, at the size and with the border that the protocol says."""
        stored = (self.drawn_objects if protocol.instances else None) or self.drawn
        if self.labels is None:
            stored = stored or self.drawn_objects
        if stored is not None and (protocol.truth == "thin" or self.labels is None):
            together = (
                protocol.truth == "thin" and stored is self.drawn_objects
            )  # where objects touch, lines lie side by side
            by_class = {c: thin(edges) if together and edges.any() else edges for c, edges in stored.items()}
            return {c: framed(edges, protocol) for c, edges in by_class.items()}
        return self._from_labels(protocol)

    def _from_labels(self, protocol: Protocol) -> dict[int, EdgeMap]:
        """Boundaries of the label map: thin ones at the size of the benchmark, raw ones before they are halved."""
        assert self.labels is not None  # noqa: S101  # the caller knows
        step = slice(1, None, 2) if protocol.half and protocol.truth == "thin" else slice(None)
        objects = None if self.objects is None or not protocol.instances else self.objects[step, step]
        ignored = None if self.ignored is None else self.ignored[step, step]
        by_class = class_edges(self.labels[step, step], objects, ignored, protocol.radius)
        if protocol.truth == "thin":
            return {c: cropped(thin(edges), protocol.border) for c, edges in by_class.items()}
        return {c: framed(edges, protocol) for c, edges in by_class.items()}

    def inside(self, c: int, protocol: Protocol) -> EdgeMap:
        """Pixels that the label map gives to class ``c``. ``InputError`` without a label map."""
        if self.labels is None:
            raise InputError(
                "dropping what is detected inside objects needs a label map, but there are only boundaries"
            )
        return framed(self.labels == c, protocol)


def semantic_truth(labels: ArrayLike, *, instances: ArrayLike | None = None) -> SemanticTruth:
    """A truth from a label map: 0 is of no class, k is class k (the first is 1), −1 is unknown and makes no boundary.

    >>> semantic_truth([[0, 1], [2, -1]]).labels
    array([[-1,  0],
           [ 1, -1]], dtype=int32)
    """
    given = label_map(labels, name="truth")
    ignored = given == IGNORED
    objects = None if instances is None else label_map(instances, name="instances")
    if objects is not None:
        same_size(objects, given, names=("the map of instances", "the label map"))
    index = np.where(ignored, NONE, given - 1).astype(np.int32)
    return SemanticTruth(index, objects, ignored if ignored.any() else None)


def drawn_truth(boundaries: Sequence[ArrayLike]) -> SemanticTruth:
    """A truth from one boundary map per class.

    >>> drawn_truth(np.eye(4)[np.newaxis]).drawn[0].sum()
    np.int64(4)
    """
    maps = {c: edge_map(one, name=f"boundaries of class {c + 1}") for c, one in enumerate(boundaries)}
    for one in maps.values():
        same_size(one, maps[0], names=("the boundaries of one class", "those of another"))
    return SemanticTruth(drawn=maps)


def framed(values: NDArray[Any], protocol: Protocol) -> NDArray[Any]:
    """A map at the size of the benchmark, without the border."""
    return cropped(values[1::2, 1::2] if protocol.half else values, protocol.border)


def cropped(values: NDArray[Any], border: int) -> NDArray[Any]:
    """A map without ``border`` pixels at each side. ``InputError`` where nothing would be left."""
    height, width = values.shape
    if min(height, width) <= 2 * border:
        raise InputError(f"the image is {width}×{height}, too small to cut {border} pixels off each side")
    return np.ascontiguousarray(values[border : height - border, border : width - border])
