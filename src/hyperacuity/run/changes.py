"""Which files of a grid are no longer those that were evaluated: old scores must not stand beside new pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from hyperacuity.data.remote import LocalCopies, absolute, is_remote
from hyperacuity.errors import InputError
from hyperacuity.run.fingerprint import Digests, Recorded, stamp
from hyperacuity.run.gather import Grid
from hyperacuity.run.job import Cell

MOST_NAMED = 3

MapEach = Callable[[str, Callable[[Any], Any], Iterable[Any]], list[Any]]


def with_changes(grid: Grid, each: MapEach) -> Grid:
    """The grid with what has changed since it was evaluated: by system and image, a sentence.

    A file whose size, times and inode are as recorded is not read again. Files that are gone are not among the changes, since
    whoever wants to show them finds that out; remote files are not looked at.
    """
    digests = Digests()
    changed: dict[tuple[str, str], str] = {}
    for name, source in grid.sources.items():
        inputs = source.run.inputs(*source.key)
        cells = [cell for cell in source.run.cells(*source.key) if cell.image in inputs]
        recorded = source.run.recorded({path for cell in cells for path in cell.files})

        def look(cell: Cell, inputs: Mapping[str, bytes] = inputs, recorded: Mapping[str, Recorded] = recorded) -> str:
            return _change(cell, inputs[cell.image], recorded, digests)

        for cell, told in zip(cells, each("files", look, cells), strict=True):
            if told:
                changed[name, cell.image] = told
    return replace(grid, changed=changed)


def changes_told(grid: Grid) -> str:
    """How many scores are of files that have changed since, in a sentence; empty where none has."""
    images = list(dict.fromkeys(image for _, image in grid.changed))
    if not images:
        return ""
    named = ", ".join(images[:MOST_NAMED]) + (", …" if len(images) > MOST_NAMED else "")
    scores = "1 score is" if len(grid.changed) == 1 else f"{len(grid.changed)} scores are"
    return f"Files have changed since they were evaluated ({named}): {scores} of the former files; evaluate again."


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
        seen = stamp(path)
        earlier, digest = recorded.get(str(absolute(path)), (seen, b""))
        if earlier != seen and digests.of_file(path, seen, copies)[0] != digest:
            return f"{path.name} has"
    return "one of its files has"
