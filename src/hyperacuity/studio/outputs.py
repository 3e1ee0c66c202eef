"""Files of finished work: on disk before it is acknowledged, and written again if damaged when the studio starts.

The state file has the digest of every file that was written. One that is empty, torn or gone is written again, byte for byte,
from the state file. What a file held that the studio did not write there (half of it, or somebody's changes) is moved to
``OUT/replaced``, never thrown away.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hyperacuity.data.formats.arrays import read_npy
from hyperacuity.data.formats.images import read_pixels
from hyperacuity.data.formats.matlab import read_truth_boundaries
from hyperacuity.errors import InputError
from hyperacuity.outputs import sync_folder, write_bytes
from hyperacuity.studio.state import State, insert
from hyperacuity.studio.web import log

Outputs = Mapping[Path, bytes | None]
"""Contents of files; None for one that is not to be there."""

Watch = Callable[[list[Any]], Iterable[Any]]
"""A function that passes a list on, item by item, and shows the progress."""

_CHECKS: dict[str, Callable[[Path], Any]] = {
    ".png": read_pixels,
    ".npy": read_npy,
    ".mat": read_truth_boundaries,
    ".json": lambda path: json.loads(path.read_bytes()),
}


def write_outputs(state: State, out: Path, outputs: Outputs) -> None:
    """Write files below the folder ``out``, each whole or not at all, and on the disk when this returns.

    One that is right is left alone. ``OSError`` or ``UsageError`` where writing fails.
    """
    stored = state.read_now(lambda file: _digests(file, outputs))
    for path, data in outputs.items():
        present = _read(path)
        if present == data:
            continue
        if present and stored.get(path) != _digest(present):
            _put_aside(out, path)
        if data is None:
            path.unlink(missing_ok=True)
            sync_folder(path.parent)
        else:
            _make_folder(path.parent)
            write_bytes(path, data, synced=True)
    rows = [(_key(path), _digest(data)) for path, data in outputs.items()]
    state.write_now(lambda file: [insert(file, "studio_outputs", *row, conflict="REPLACE") for row in rows])


def are_whole(state: State, paths: Iterable[Path]) -> bool:
    """True if files are as they were written; of those whose digest was never stored, if they can be read to the end."""
    listed = list(paths)
    stored = state.read_now(lambda file: _digests(file, listed))
    return all(stored[path] == _digest(_read(path)) if path in stored else _is_readable(path) for path in listed)


def are_current(state: State, paths: Sequence[Path], number: int) -> bool:
    """True if files are whole, and the last of them, the provenance, says that they were written after the entry ``number``."""
    try:
        facts = json.loads(paths[-1].read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(facts, dict) and facts.get("entries", facts.get("actions")) == number and are_whole(state, paths)


def _digests(file: sqlite3.Connection, paths: Iterable[Path]) -> dict[Path, str]:
    query = "SELECT sha256 FROM studio_outputs WHERE path = ?"
    rows = ((path, file.execute(query, (_key(path),)).fetchone()) for path in paths)
    return {path: row[0] for path, row in rows if row is not None}


def _key(path: Path) -> bytes:
    return os.fsencode(path.resolve())


def _digest(data: bytes | None) -> str:
    """The digest of a file's bytes; the empty text for one that is not there."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _is_readable(path: Path) -> bool:
    try:
        _CHECKS.get(path.suffix, Path.read_bytes)(path)
        return path.stat().st_size > 0
    except (InputError, OSError, ValueError):
        return False


def _put_aside(out: Path, path: Path) -> None:
    first = out / "replaced" / path.relative_to(out)
    names = (first.with_name(f"{first.stem}-{number}{first.suffix}") for number in itertools.count(2))
    aside = next(one for one in itertools.chain([first], names) if not os.path.lexists(one))
    _make_folder(aside.parent)
    path.replace(aside)
    log.warning("%s: was damaged or changed; it is written again, and what it held is in %s", path, aside)


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)
