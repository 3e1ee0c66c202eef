"""Objects of two label maps, and their pairs; in a picture, or in the frames of a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import find_objects
from scipy.optimize import linear_sum_assignment

from hyperacuity.errors import InputError
from hyperacuity.maps import VOID, LabelMap, label_map, same_size
from hyperacuity.masks.protocols import LABELS, Protocol

Window = tuple[slice, slice]

FEW_IDS = 4096
"""Objects with smaller ids are looked up without sorting all pixels."""


@dataclass(frozen=True)
class Frames:
    """The label maps of a sequence, in order: one prediction or one truth, as a picture's single map is.

    ``maps`` may be any sequence, such as one that reads files on demand; each map is read twice.
    """

    maps: Sequence[Any]


Labels: TypeAlias = ArrayLike | Frames
"""Input of the comparison: a label map, a mask, or the frames of a sequence."""


@dataclass(frozen=True)
class ObjectPair:
    """A true object and the predicted one that belongs to it, by their ids; None where there is none."""

    truth: int | None
    prediction: int | None


class Frame:
    """One picture: predicted and true objects by id, everything else −1."""

    def __init__(self, prediction: ArrayLike, truth: ArrayLike, protocol: Protocol) -> None:
        predicted, true = label_map(prediction, name="prediction"), label_map(truth, name="truth")
        same_size(predicted, true)
        left_out = (true == VOID) | (true == protocol.ignore)
        self.prediction = _objects(predicted, left_out, protocol, "prediction")
        self.truth = _objects(true, left_out, protocol, "truth")
        self.radius, self.width = protocol.radius(true.shape), protocol.band_width(true.shape)

    @cached_property
    def _windows(self) -> tuple[dict[int, Window], dict[int, Window]]:
        return windows(self.truth), windows(self.prediction)

    @property
    def ids(self) -> tuple[set[int], set[int]]:
        """The true and the predicted objects of this picture."""
        true, predicted = self._windows
        return set(true), set(predicted)

    def masks(self, pair: ObjectPair) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Window]:
        """The predicted and the true mask of a pair, cut out of the picture with a border, and where.

        Neither contours nor bands change by that: beyond the border there is nothing of either.
        """
        true, predicted = self._windows
        window = _around([true.get(pair.truth), predicted.get(pair.prediction)], self.truth.shape)  # type: ignore[arg-type]  # None is no id
        return self._mask(self.prediction, pair.prediction, window), self._mask(self.truth, pair.truth, window), window

    @staticmethod
    def _mask(labels: LabelMap, which: int | None, window: Window) -> NDArray[np.bool_]:
        inside = labels[window]
        return np.zeros(inside.shape, np.bool_) if which is None else np.asarray(inside == which)


class Film(Sequence[Frame]):
    """The frames of a sequence, each read on demand: a minute of video does not fit into memory."""

    def __init__(self, prediction: Sequence[Any], truth: Sequence[Any], protocol: Protocol) -> None:
        self.prediction, self.truth, self.protocol = prediction, truth, protocol

    def __len__(self) -> int:
        return len(self.truth)

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> Film: ...
    def __getitem__(self, index: int | slice) -> Frame | Film:
        both = self.prediction[index], self.truth[index]
        return Film(*both, self.protocol) if isinstance(index, slice) else Frame(*both, self.protocol)


def frames_of(prediction: Labels, truth: Labels, protocol: Protocol) -> Sequence[Frame]:
    """The pictures to compare: one, or those of a sequence."""
    if not isinstance(prediction, Frames) and not isinstance(truth, Frames):
        return [Frame(prediction, truth, protocol)]
    if not isinstance(prediction, Frames) or not isinstance(truth, Frames):
        raise InputError(
            "one of prediction and truth is a sequence, the other a single map: expected two sequences or two maps"
        )
    if len(prediction.maps) != len(truth.maps):
        raise InputError(f"the prediction has {len(prediction.maps)} frames but the truth {len(truth.maps)}")
    if len(truth.maps) < (fewest := 3 if protocol.frames == "inner" else 1):
        raise InputError(f"the sequence has {len(truth.maps)} frames, expected at least {fewest}")
    return Film(prediction.maps, truth.maps, protocol)


def pairs_of(frames: Sequence[Frame], protocol: Protocol) -> list[ObjectPair]:
    """The objects of a picture or a sequence: the truth's in the order of their ids, then predicted ones without a partner.

    A binary mask is one object, there or not. Predicted ones are left out where the protocol ignores them. In a sequence, all
    frames count for this, even those that are not evaluated.
    """
    if protocol.by == "binary":
        return [ObjectPair(1, 1)]
    ids = [frame.ids for frame in frames]
    true, predicted = (sorted(set().union(*(of[side] for of in ids))) for side in (0, 1))
    partners = _best_partners(frames, true, predicted) if protocol.pair == "iou" else {one: one for one in true}
    ids_predicted = set(predicted)
    pairs = [ObjectPair(one, partner if (partner := partners.get(one)) in ids_predicted else None) for one in true]
    taken = {pair.prediction for pair in pairs}
    extras = [ObjectPair(None, one) for one in predicted if one not in taken] if protocol.extra == "count" else []
    return pairs + extras


def _best_partners(frames: Sequence[Frame], true: list[int], predicted: list[int]) -> dict[int, int]:
    """The assignment of predicted to true objects with the greatest sum of region IoU, over all frames together."""
    common = np.zeros((len(true) + 1, len(predicted) + 1), np.int64)  # the last row and column: nothing
    for frame in frames:
        rows, columns = _ranks(frame.truth, true), _ranks(frame.prediction, predicted)
        common += np.bincount(rows * common.shape[1] + columns, minlength=common.size).reshape(common.shape)
    area = common.sum(axis=1)[:-1, None] + common.sum(axis=0)[None, :-1] - common[:-1, :-1]
    iou = common[:-1, :-1] / np.maximum(area, 1)
    pairs = zip(*linear_sum_assignment(iou, maximize=True), strict=True)
    return {true[row]: predicted[column] for row, column in pairs if iou[row, column] > 0}


def _ranks(labels: LabelMap, ids: list[int]) -> NDArray[np.int64]:
    """The index of every pixel's object in the sorted ids, which hold all objects; their number for pixels without one."""
    flat = labels.ravel()
    return np.where(flat == VOID, len(ids), np.searchsorted(ids, flat) if ids else 0)


def _objects(labels: LabelMap, left_out: NDArray[np.bool_], protocol: Protocol, name: str) -> LabelMap:
    """The labels with −1 for what is no object; of a binary mask, 1 for what is."""
    nothing = left_out | (labels == VOID) | (labels == protocol.ignore)
    if protocol.background is not None:
        nothing |= labels == protocol.background
    if protocol.by == "binary":
        return np.where(nothing, np.int32(VOID), np.int32(1))
    cleaned = np.where(nothing, np.int32(VOID), labels)
    if protocol.by == "label" and (most := int(cleaned.max())) >= LABELS:
        raise InputError(
            f"{name}: has the label {most}, expected 0 to {LABELS - 1}; are these instances (by instance)?"
        )
    return cleaned


def windows(labels: LabelMap) -> dict[int, Window]:
    """Smallest rectangle around each object.

    >>> windows(np.array([[-1, 7, 7], [-1, -1, 70000]], np.int32))
    {7: (slice(0, 1, None), slice(1, 3, None)), 70000: (slice(1, 2, None), slice(2, 3, None))}
    """
    if labels.max() < FEW_IDS:
        return {one: window for one, window in enumerate(find_objects(labels + 1)) if window is not None}
    ids, ranks = np.unique(labels, return_inverse=True)
    boxes = find_objects(ranks.reshape(labels.shape).astype(np.int32) + 1)
    return {int(one): window for one, window in zip(ids, boxes, strict=True) if one != VOID}


def _around(parts: Sequence[Window | None], shape: tuple[int, ...]) -> Window:
    """The least rectangle that holds all parts, and a border of one pixel where the picture has one; one pixel for nothing."""
    windows_ = [part for part in parts if part is not None]
    if not windows_:
        return slice(0, 1), slice(0, 1)

    def span(axis: int) -> slice:
        start = min(part[axis].start for part in windows_)
        stop = max(part[axis].stop for part in windows_)
        return slice(max(start - 1, 0), min(stop + 1, shape[axis]))

    return span(0), span(1)
