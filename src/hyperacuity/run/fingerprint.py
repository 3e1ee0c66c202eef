"""Digests of input files, and of cells: the bytes of their files, in their roles, and what else says what they mean.

Files are read and hashed once per run. Only a large file whose stamp can be trusted (:func:`stands_for_contents`) is not read
again by a later run. The digest of a file written within the last two seconds is used but not recorded: file systems with coarse
clocks could hide a second change behind the same times.
"""

from __future__ import annotations

import functools
import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path

from hyperacuity.data import remote
from hyperacuity.data.files import identity
from hyperacuity.data.remote import LocalCopies, absolute, display, is_remote
from hyperacuity.errors import InputError
from hyperacuity.run.jobs import Cell

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
