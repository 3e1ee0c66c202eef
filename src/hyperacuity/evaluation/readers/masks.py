"""Masks and label maps, one picture or the frames of a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperacuity.data import read_labels
from hyperacuity.data.files import warn
from hyperacuity.errors import InputError
from hyperacuity.evaluation.readers import Given, Reader
from hyperacuity.maps import LabelMap, same_size
from hyperacuity.masks import Frames

if TYPE_CHECKING:
    from hyperacuity.run.job import Cell

FRAME, TRUE_FRAME = "frame ", "true frame "
"""What the roles of a sequence's predicted and true frames start with; the frame's name follows."""

MOST_VALUES = 8
"""A picture of a binary mask with more values than this is probably a soft map."""


class FrameFiles(Sequence[Any]):
    """The label maps of files, each read when it is asked for."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = tuple(paths)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int | slice) -> Any:
        return FrameFiles(self.paths[index]) if isinstance(index, slice) else read_map(self.paths[index])


@dataclass(frozen=True)
class MaskReader(Reader):
    """Label maps as the files have them: grey levels, or the indices of a palette image; booleans are 0 and 1."""

    def prediction(self, cell: Cell, protocol: Any) -> Any:
        """The system's label map, or those of a sequence's frames."""
        frames, true = frames_of(cell, FRAME), frames_of(cell, TRUE_FRAME)
        if not true:
            return read_map(cell.prediction)
        absent = [name for name in true if name not in frames]
        if absent:
            raise InputError(
                f"{cell.prediction.parent}: {len(absent)} of the {len(true)} frames have no prediction, "
                f"the first is {absent[0]}"
            )
        return Frames(FrameFiles([frames[name] for name in true]))

    def truths(self, cell: Cell) -> list[Any]:
        """The true label map, or those of a sequence's frames."""
        if true := frames_of(cell, TRUE_FRAME):
            return [Frames(FrameFiles(list(true.values())))]
        return [read_map(path) for path in cell.truths]

    def extras(self, cell: Cell, protocol: Any, given: Given) -> dict[str, Any]:
        """Nothing; but a word about what looks like a mistake."""
        truth, found = first_map(given.truths[0]), first_map(given.prediction)
        same_size(found, truth, names=(str(cell.prediction), str(cell.truths[0])))
        if protocol.by == "binary":
            _doubt_binary(cell, found, truth, protocol)
        return {}


def frames_of(cell: Cell, role: str) -> dict[str, Path]:
    """The predicted or the true frames of a sequence by name; none where the cell is a single picture."""
    return {named.removeprefix(role): path for named, path in cell.extras if named.startswith(role)}


def read_map(path: Path) -> LabelMap:
    """One label map. A picture in colours is refused: which label a colour stands for, it does not say."""
    return read_labels(path, colours=False)


def first_map(given: Any) -> LabelMap:
    """The map, or the first of a sequence."""
    found: LabelMap = given.maps[0] if isinstance(given, Frames) else given
    return found


def _doubt_binary(cell: Cell, found: LabelMap, truth: LabelMap, protocol: Any) -> None:
    labels = [one for one in np.unique(truth).tolist() if one not in (protocol.background, protocol.ignore)]
    if len(labels) > 1:
        shown = ", ".join(map(str, labels[:3])) + (", …" if len(labels) > 3 else "")
        warn(
            f"{cell.truths[0]}: holds the labels {shown}, which count as one mask; use `by='instance'` or `by='label'`"
        )
    elif (values := np.unique(found).size) > MOST_VALUES:
        warn(f"{cell.prediction}: holds {values} values, a soft map? All but {protocol.background} count as the mask")
