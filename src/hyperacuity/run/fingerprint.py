"""Digests of input files, and of cells: the bytes of their files, in their roles, and what else says what they mean.

Files are read and hashed once per run. Only a large file whose stamp can be trusted (:func:`stands_for_contents`) is not read
again by a later run. The digest of a file written within the last two seconds is used but not recorded: file systems with coarse
clocks could hide a second change behind the same times.

By the same digests a report knows which files of a grid are no longer those that were evaluated: old scores must not stand
next to new pictures.
"""

from __future__ import annotations

import functools
import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyperacuity.data import remote
from hyperacuity.data.files import identity
from hyperacuity.data.remote import LocalCopies, absolute, display, is_remote
from hyperacuity.errors import InputError
from hyperacuity.run.jobs import Cell

if TYPE_CHECKING:
    from hyperacuity.run.gather import Grid

SECOND = 1_000_000_000
SETTLED_NS = 2 * SECOND
MOST_DIGESTS = 10_000
LARGE = 1 << 20
"""Bytes up to which a file is always read: that takes a millisecond, and no stamp is as good as the contents."""

_UNDATED = " (without a mark of change)"

Recorded = tuple[str, bytes]
"""A file's stamp and digest, as a store remembers them."""


def stamp(path: Path) -> str:
    """Size, times and inode of a file as one string: while it stays the same, so do the contents."""
    if is_remote(path):
        seen, dated = remote.stamp(path)
        return seen if dated else f"{seen}{_UNDATED}"
    return ":".join(map(str, identity(path)))


def stands_for_contents(seen: str) -> bool:
    """True for the stamp of a large file whose contents cannot well have changed while the stamp stays the same.

    Some writes leave no trace in it: those through a memory map, on some file systems, and those to images of file systems in
    which all files have one date. Both leave whole seconds, or two equal times. A server's mark of change (an ETag) is trusted.

    >>> stands_for_contents("2000000:1700000000123456789:1700000007123456789:12")
    True
    >>> stands_for_contents("2000000:1700000000123456789:1700000000123456789:12")  # ordinary writes make such, too
    False
    """
    if ":" not in seen:
        return not seen.endswith(_UNDATED)
    size, modified, changed, _ = map(int, seen.split(":"))
    return size > LARGE and modified != changed and modified % SECOND > 0 and changed % SECOND > 0


class Digests:
    """Content hashes of files, each file read once however many cells and threads ask for it.

    The last ``MOST_DIGESTS`` of them are remembered; a store remembers them all.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._known: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._reading: dict[tuple[str, str], Future[bytes]] = {}

    def of_cell(
        self, cell: Cell, recorded: Mapping[str, Recorded], copies: LocalCopies, read: list[tuple[str, str, bytes]]
    ) -> tuple[bytes, tuple[str, ...]]:
        """The hash of all inputs of a cell in their roles, and the stamp of each file at that moment.

        ``recorded`` are digests known from earlier. Those of files that had to be read and are worth recording are added to
        ``read``, as (path, stamp, digest).
        """
        stamps = tuple(stamp(path) for path in cell.files)
        digests = []
        for path, seen in zip(cell.files, stamps, strict=True):
            digest, is_new = self._now(path, seen, recorded, copies)
            if is_new:
                read.append((str(absolute(path)), seen, digest))
            digests.append(digest)
        return combined(cell, digests), stamps

    def note_picture(
        self, cell: Cell, recorded: Mapping[str, Recorded], copies: LocalCopies, read: list[tuple[str, str, bytes]]
    ) -> None:
        """Add the digest of a cell's photograph to ``read``, so that a report shows no other one beside the score.

        A photograph that is remote or cannot be read is passed over: no tally depends on it. One written just now has no stamp,
        and is read again by whoever wants to compare it.
        """
        path = cell.picture
        if path is None or is_remote(path) or path in cell.files:
            return
        try:
            seen = stamp(path)
            digest, is_new = self._now(path, seen, recorded, copies)
        except InputError:
            return
        if is_new or not _is_settled(seen, time.time_ns()):
            read.append((str(absolute(path)), seen if is_new else "", digest))

    def now(self, path: Path, recorded: Mapping[str, Recorded], copies: LocalCopies) -> bytes:
        """The hash of a file as it is now."""
        return self._now(path, stamp(path), recorded, copies)[0]

    def _now(self, path: Path, seen: str, recorded: Mapping[str, Recorded], copies: LocalCopies) -> tuple[bytes, bool]:
        """The hash of a file whose stamp is ``seen``, and whether it is to be recorded."""
        earlier, digest = recorded.get(str(absolute(path)), ("", b""))
        if earlier == seen and stands_for_contents(seen):
            return digest, False
        found, is_new = self.of_file(path, seen, copies)
        return found, is_new and (earlier, digest) != (seen, found)

    def of_file(self, path: Path, seen: str, copies: LocalCopies) -> tuple[bytes, bool]:
        """The hash of one file whose stamp is ``seen``, and whether it was read just now and may be recorded."""
        key = (str(absolute(path)), seen)
        settled = False
        with self._guard:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key], False
            promised = self._reading.get(key)
            mine = promised is None
            if promised is None:
                promised = self._reading[key] = Future()
        if mine:
            try:
                digest, settled = _read(path, seen, copies)
                with self._guard:
                    self._known[key] = digest
                    if len(self._known) > MOST_DIGESTS:
                        self._known.popitem(last=False)
                promised.set_result(digest)
            except BaseException as error:  # not remembered: the next cell may try again, file servers have bad moments
                promised.set_exception(error)
            finally:
                with self._guard:
                    del self._reading[key]
        return promised.result(), settled


def combined(cell: Cell, digests: Sequence[bytes]) -> bytes:
    """One digest for a cell from those of its files, their roles and suffixes, and its meaning."""
    parts = hashlib.blake2b(digest_size=20)
    roles = f": {json.dumps([role for role, _ in cell.extras])}" if cell.extras else ""
    meaning = f", {json.dumps(cell.meaning)}" if cell.meaning else ""
    parts.update(f"{len(cell.truths)} truths, {len(cell.extras)} extras{roles}{meaning}\n".encode())
    for path, digest in zip(cell.files, digests, strict=True):
        # Readers choose the format by content or by suffix, so the suffix is an input like the content.
        parts.update(f"{path.suffix.lower()}\n".encode() + digest)
    return parts.digest()


def _read(path: Path, seen: str, copies: LocalCopies) -> tuple[bytes, bool]:
    """The hash of a file, and whether it may be recorded under its stamp."""
    started = time.time_ns()
    try:
        with copies.copy_of(path).open("rb") as file:
            digest = hashlib.file_digest(file, functools.partial(hashlib.blake2b, digest_size=20)).digest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    refuse_changed((path,), (seen,))
    if is_remote(path):
        return digest, not seen.endswith(_UNDATED)
    return digest, _is_settled(seen, started)


def _is_settled(seen: str, moment: int) -> bool:
    """True if a local file had not been written for a while at a moment, so that its stamp stands for its contents."""
    _, modified, changed, _ = map(int, seen.split(":"))
    return max(modified, changed) + SETTLED_NS < moment


def refuse_changed(files: tuple[Path, ...], stamps: tuple[str, ...]) -> None:
    """Raise ``InputError`` if a file is no longer what it was: a tally of half-old input must not be kept."""
    for path, seen in zip(files, stamps, strict=True):
        if stamp(path) != seen:
            raise InputError(f"{display(path)}: changed while it was being evaluated; run again when it is complete")


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
