"""Masks and label maps, one picture or the frames of a sequence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from hyperacuity.console import printable
from hyperacuity.data import read_labels
from hyperacuity.data.datasets.pairing import files_in, folders_in, stem_of
from hyperacuity.data.files import warn
from hyperacuity.data.remote import is_remote
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kinds.base import Cell, Found, Given, Inputs, Kind
from hyperacuity.maps import VOID, LabelMap, label_map, same_size
from hyperacuity.masks import Frames

FRAME, TRUE_FRAME = "frame ", "true frame "
"""The beginning of the roles of a sequence's predicted and true frames; the frame's name follows."""

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
class MaskKind(Kind):
    """Label maps as the files have them: grey levels, or the indices of a palette image; booleans are 0 and 1."""

    prediction_is = truth_is = "label map"

    def find(
        self,
        systems: Mapping[str, Path],
        truth: str | Path,
        *,
        data: Path | None = None,
        split: str | None = None,
        glob: str = "*",
        **reading: Any,
    ) -> Inputs:
        """Two folders of pictures, or of sequences, each a folder of frames, as DAVIS lays them out.

        In sequences, an image of the grid is a whole sequence, and frames are paired by their names.
        """
        true = sequences_in(Path(truth))
        for folder in true.values():
            files_in(folder)  # a true sequence without a frame does not vanish
        of_systems = {name: sequences_in(path) for name, path in systems.items()}
        if not true and any(of_systems.values()) and Path(truth).is_dir():
            raise UsageError(f"{truth} holds pictures, but the predictions are folders of frames: expected both alike")
        if not true:
            return super().find(systems, truth, data=data, split=split, glob=glob, **reading)

        def pair(system: str, predictions: Path) -> Found:
            given = {name: path for name, path in of_systems[system].items() if fnmatchcase(name, glob)}
            found = {name: path for name, path in given.items() if files_in(path, required=False)}
            shared = [name for name in true if name in found]
            if not shared:
                raise UsageError(
                    f"no sequence in {predictions} has the name of one in {truth} (like {next(iter(true))}): "
                    "expected a folder of frames for each"
                )
            cells = [_sequence(system, name, found[name], true[name]) for name in shared]
            strangers = [path for name, path in found.items() if name not in true]
            missing = [name for name in true if name not in found]
            return Found(cells, strangers, [true[name] for name in missing], missing)

        return Inputs(systems, pair, replace(self, **reading))

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

    def checked(self, truth: Any, protocol: Any) -> Any:
        """Label maps; where one mask is meant, its pixels, whatever their label."""
        if isinstance(truth, Frames):
            return [self.checked(one, protocol) for one in truth.maps]
        labels = label_map(truth)
        if getattr(protocol, "by", "") != "binary":
            return labels
        unknown = (labels == VOID) | (labels == protocol.ignore)
        return np.where(unknown, np.int32(VOID), labels != protocol.background)


def sequences_in(folder: Path) -> dict[str, Path]:
    """The sub-folders by name, in a folder that holds no file itself; nothing for any other folder."""
    if is_remote(folder) or not folder.is_dir():
        return {}
    sequences = {printable(path.name): path for path in folders_in(folder)}
    return {} if files_in(folder, required=False) else sequences


def _sequence(system: str, name: str, predictions: Path, truths: Path) -> Cell:
    """A sequence. Its first frames stand for it; all of them are extras, since truths would count as annotators."""
    frames, true = files_in(predictions), files_in(truths)
    roles = ((FRAME, frames), (TRUE_FRAME, true))
    extras = tuple((f"{role}{stem_of(path)}", path) for role, paths in roles for path in paths)
    return Cell(system, name, frames[0], (true[0],), extras=extras)


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
