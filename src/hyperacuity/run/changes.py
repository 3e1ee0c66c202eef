"""Files of a grid that are no longer those that were evaluated: old scores must not stand next to new pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hyperacuity.data.remote import LocalCopies, absolute, is_remote
from hyperacuity.errors import InputError
from hyperacuity.run.fingerprint import Digests, Recorded, combined
from hyperacuity.run.gather import Grid
from hyperacuity.run.jobs import Cell

MOST_NAMED = 3

MapEach = Callable[[str, Callable[[Any], Any], Iterable[Any]], list[Any]]


def with_changes(grid: Grid, each: MapEach) -> Grid:
    """The grid with what has changed since it was evaluated: by system and image, a sentence; and without new photographs.

    Files that are gone are not among the changes, since
    whoever wants to show them finds that out; remote files are not looked at.
    """
    digests = Digests()
    changed: dict[tuple[str, str], str] = {}
    unchecked = False
    for name, source in grid.sources.items():
        inputs = source.run.inputs(*source.key)
        cells = [cell for cell in source.run.cells(*source.key) if cell.image in inputs]
        recorded = source.run.recorded({path for cell in cells for path in cell.files})

        def look(cell: Cell, inputs: Mapping[str, bytes] = inputs, recorded: Mapping[str, Recorded] = recorded) -> str:
            return _change(cell, inputs[cell.image], recorded, digests)

        for cell, told in zip(cells, each("files", look, cells), strict=True):
            if told:
                changed[name, cell.image] = told
        unchecked = unchecked or any(is_remote(path) for cell in cells for path in cell.named_files)
    return without_new_photographs(replace(grid, changed=changed, unchecked=unchecked), digests)


def without_new_photographs(grid: Grid, digests: Digests | None = None) -> Grid:
    """The grid without the photographs that are not those which lay there when their images were evaluated.

    Only those that a run recorded can be told: neither remote ones, nor those that it does not name and a report finds.
    """
    known = digests or Digests()
    seen: dict[Path, bool] = {}
    images: dict[str, None] = {}
    for source in grid.sources.values():
        cells = [cell for cell in source.run.cells(*source.key) if cell.picture is not None]
        recorded = source.run.recorded({cell.picture for cell in cells if cell.picture is not None})
        for cell in cells:
            path: Any = cell.picture
            if path not in seen:
                seen[path] = _is_new(path, recorded, known)
            if seen[path]:
                images[cell.image] = None
    if not images:
        return grid

    def complete(cell: Cell) -> Cell:
        return replace(cell, picture=None) if cell.image in images else grid.complete(cell)

    return replace(grid, complete=complete, new_photographs=tuple(images))


def _is_new(picture: Path, recorded: Mapping[str, Recorded], digests: Digests) -> bool:
    if is_remote(picture) or str(absolute(picture)) not in recorded:
        return False
    try:
        with LocalCopies() as copies:
            return digests.now(picture, recorded, copies) != recorded[str(absolute(picture))][1]
    except InputError:
        return False


def describe_changes(grid: Grid) -> str:
    """Count the scores of files that have changed since, in a few sentences; empty where none has."""
    told = []
    if images := list(dict.fromkeys(image for _, image in grid.changed)):
        scores = "1 score is" if len(grid.changed) == 1 else f"{len(grid.changed)} scores are"
        told.append(
            f"Files have changed since they were evaluated ({_some(images)}): {scores} of the former files; evaluate again."
        )
    if grid.new_photographs:
        told.append(
            f"Photographs have changed since their images were evaluated ({_some(grid.new_photographs)}) and are not shown."
        )
    if grid.unchecked:
        told.append("Remote files are shown as they are now: whether they have changed was not checked.")
    return " ".join(told)


def _some(images: Sequence[str]) -> str:
    return ", ".join(images[:MOST_NAMED]) + (", …" if len(images) > MOST_NAMED else "")


def changed_truth(
    cell: Cell, inputs: bytes, recorded: Mapping[str, Recorded], digests: Digests, is_truth: Callable[[Path], bool]
) -> str:
    """Say in a sentence why the truth of a cell is not the one that was evaluated; empty where it is.

    ``inputs`` is the digest that the tally was computed from, ``recorded`` what the run knows of files. The prediction may have
    changed, or be gone, where the run recorded all files of the cell. ``InputError`` where a truth is gone.
    """
    known = [recorded.get(str(absolute(path))) for path in cell.files]
    before = [one[1] for one in known if one is not None]
    sure = len(before) == len(known) and combined(cell, before) == inputs
    with LocalCopies() as copies:
        if not sure:
            try:
                same = digests.of_cell(cell, recorded, copies, [])[0] == inputs
            except InputError as error:
                return f"whether the truth of {cell.image} is as it was evaluated cannot be told ({error})"
            return "" if same else f"the files of {cell.image} are not those that were evaluated"
        for path, digest in zip(cell.files, before, strict=True):
            if is_truth(path) and digests.now(path, recorded, copies) != digest:
                return f"{path.name}, the truth of {cell.image}, has changed since it was evaluated"
    return ""


def _change(cell: Cell, inputs: bytes, recorded: Mapping[str, Recorded], digests: Digests) -> str:
    if any(is_remote(path) for path in cell.files):
        return ""
    try:
        with LocalCopies() as copies:
            if digests.of_cell(cell, recorded, copies, [])[0] == inputs:
                return ""
            return f"{_which(cell, recorded, digests, copies)} changed since it was evaluated: the score is of the former file"
    except InputError:
        return ""


def _which(cell: Cell, recorded: Mapping[str, Recorded], digests: Digests, copies: LocalCopies) -> str:
    """The first file that is not as recorded, where one is."""
    for path in cell.files:
        if (before := recorded.get(str(absolute(path)))) and digests.now(path, recorded, copies) != before[1]:
            return f"{path.name} has"
    return "one of its files has"
