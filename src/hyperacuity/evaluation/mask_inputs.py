"""Masks: two folders of pictures, or two folders of sequences, each a folder of frames, as DAVIS lays them out."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from hyperacuity.console import printable
from hyperacuity.data.datasets.pairing import files_in, folders_in, stem_of
from hyperacuity.data.remote import is_remote
from hyperacuity.errors import UsageError
from hyperacuity.evaluation.inputs import Found, Inputs, find_plain
from hyperacuity.evaluation.readers import Reader
from hyperacuity.evaluation.readers.masks import FRAME, TRUE_FRAME
from hyperacuity.run.job import Cell


def find(
    kind: type[Reader],
    systems: Mapping[str, Path],
    truth: str | Path,
    *,
    data: Path | None = None,
    split: str | None = None,
    glob: str = "*",
    **reading: Any,
) -> Inputs:
    """Masks and their truths. In sequences, an image of the grid is a whole sequence, and frames are paired by their names."""
    true = sequences_in(Path(truth))
    for folder in true.values():
        files_in(folder)  # a true sequence without a frame does not vanish
    of_systems = {name: sequences_in(path) for name, path in systems.items()}
    if not true and any(of_systems.values()) and Path(truth).is_dir():
        raise UsageError(f"{truth} holds pictures, but the predictions are folders of frames: expected both alike")
    if not true:
        return find_plain(kind, systems, truth, data=data, split=split, glob=glob, **reading)

    def pair(system: str, predictions: Path) -> Found:
        given = {name: path for name, path in of_systems[system].items() if fnmatchcase(name, glob)}
        found = {name: path for name, path in given.items() if files_in(path, required=False)}
        shared = [name for name in true if name in found]
        if not shared:
            raise UsageError(
                f"no sequence in {predictions} has the name of one in {truth} (like {next(iter(true))}): "
                "expected a folder of frames for each"
            )
        cells = [_cell(system, name, found[name], true[name]) for name in shared]
        strangers = [path for name, path in found.items() if name not in true]
        missing = [name for name in true if name not in found]
        return Found(cells, strangers, [true[name] for name in missing], missing)

    return Inputs(systems, pair, kind(**reading))


def sequences_in(folder: Path) -> dict[str, Path]:
    """The sub-folders by name, in a folder that holds no file itself; nothing for any other folder."""
    if is_remote(folder) or not folder.is_dir():
        return {}
    sequences = {printable(path.name): path for path in folders_in(folder)}
    return {} if files_in(folder, required=False) else sequences


def _cell(system: str, name: str, predictions: Path, truths: Path) -> Cell:
    """A sequence. Its first frames stand for it; all of them are extras, since truths would count as annotators."""
    frames, true = files_in(predictions), files_in(truths)
    roles = ((FRAME, frames), (TRUE_FRAME, true))
    extras = tuple((f"{role}{stem_of(path)}", path) for role, paths in roles for path in paths)
    return Cell(system, name, frames[0], (true[0],), extras=extras)
