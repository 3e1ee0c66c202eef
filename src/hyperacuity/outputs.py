"""Output files: the package overwrites and removes nothing that it did not write.

A folder with output has a hidden file, ``.hyperacuity``, with a line of JSON for each file that was written in it or below: its
name, the digest of its bytes and, where a later run may use it again, the key of all that it depends on. A file is ours if it
is listed and its bytes have not changed since. Anything else belongs to somebody else and stays as it is: ``UsageError`` names
it. A list counts if it belongs to the user, or to the owner of the folder that it is in.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from hyperacuity.errors import InputError, UsageError

LIST = ".hyperacuity"
"""The name of a list."""

HEAD = 2000
"""Bytes at the start of a file that are searched for a mark."""

Written = dict[str, dict[str, set[str]]]
"""Digests of everything ever written to a file, by its name, each with its keys."""


class _ReadList(NamedTuple):
    """Position up to which a list was read; ``inode`` is that of the file."""

    inode: int
    end: int
    written: Written


_read: dict[Path, _ReadList] = {}
_claimed: set[Path] = set()
_guard = threading.RLock()


def output_folder(path: Path) -> Path:
    """Create a folder for output if missing, and make sure that it can be written to before hours of work go into it.

    The first such folder of a process has the list of all that is written below it.
    """
    _writable(path)
    where = path.resolve()
    with _guard:
        if not any(folder in _claimed for folder in (where, *where.parents)):
            _claimed.add(where)
    return path


def output_path(path: Path, *, mark: bytes = b"") -> Path:
    """Make sure that a file can be written before hours of work go into it; its folder is created if missing.

    ``UsageError`` if not, or if that would overwrite somebody else's file (:func:`check_output`).
    """
    check_output(path, mark=mark)
    _writable(path.parent)
    return path


def _writable(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".hyperacuity-write-test"
        probe.touch()
        probe.unlink(missing_ok=True)
    except FileExistsError as error:
        raise UsageError(f"cannot write to {path}: it is a file, expected a folder") from error
    except OSError as error:
        raise UsageError(f"cannot write to {path}: {error.strerror}") from error


def check_output(path: Path, *, mark: bytes = b"", named: bool = False) -> None:
    """Raise ``UsageError`` if writing to ``path`` would overwrite a file that the package did not write.

    An empty file may be overwritten, and devices and pipes are simply written to. Files that start with a ``mark`` are ours
    wherever they come from; with ``named``, so is every file of a name that was written here, even a damaged one.
    """
    path = _followed(path)
    try:
        facts = path.lstat()
    except OSError:
        return
    if stat.S_ISDIR(facts.st_mode):
        raise UsageError(f"{path}: is a folder, expected the name of a file")
    if not stat.S_ISREG(facts.st_mode) or facts.st_size == 0:
        return
    listed = _listed(path)
    if (named and listed) or (mark and mark in _head(path)) or (listed and digest_of(path) in listed):
        return
    changed = "was changed since hyperacuity wrote it" if listed else "was not written by hyperacuity"
    raise UsageError(f"{path}: {changed}, so it is not overwritten: write elsewhere, or move it away")


@contextmanager
def output_file(path: Path, *, key: str = "", named: bool = False) -> Iterator[Path]:
    """Give a temporary path to write to, which takes the place of ``path`` at the end: the file is written whole or not at all.

    ``key`` is the key of all that the file depends on, ``named`` that of :func:`check_output`.
    """
    path = _followed(path)
    check_output(path, named=named)
    whole = not path.exists() or path.is_file()  # a device or a pipe is written to, not replaced
    folder = path.parent if whole else _spare_folder()
    part = folder / f".{path.stem}.{os.getpid()}.part{path.suffix}"
    try:
        try:
            yield part
            if whole:
                _list(path, digest_of(part), key)
                part.replace(path)
            else:
                path.write_bytes(part.read_bytes())
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from error
    except InputError as error:
        raise InputError(str(error).replace(str(part), str(path))) from error


def write_output(path: Path, data: bytes, *, key: str = "", named: bool = False) -> None:
    """Write a file of ours whole or not at all; the options are those of :func:`output_file`."""
    with output_file(path, key=key, named=named) as part:
        part.write_bytes(data)


def write_bytes(path: Path, data: bytes, *, synced: bool = False) -> None:
    """Write a file whole or not at all, whatever was there: for those who know whose it is.

    With ``synced``, bytes and name are on the disk when this returns, so that a power cut leaves the old file or the new one.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            with part.open("wb") as file:
                file.write(data)
                if synced:
                    file.flush()
                    os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        if synced:
            sync_folder(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error


def sealed(mark: bytes, body: bytes) -> bytes:
    """Put a line with a mark and a checksum above the bytes of a file.

    >>> unsealed(b"mine", sealed(b"mine", b"abc")), unsealed(b"mine", sealed(b"mine", b"abc") + b"d"), unsealed(b"mine", b"abc")
    (b'abc', None, None)
    """
    return mark + b" " + hashlib.blake2b(body, digest_size=32).hexdigest().encode() + b"\n" + body


def unsealed(mark: bytes, data: bytes) -> bytes | None:
    """Return the bytes below such a line; None if it has another mark, or they have changed since."""
    body = data.partition(b"\n")[2]
    return body if data == sealed(mark, body) else None


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk. Only POSIX systems can be asked for that."""
    if os.name == "posix":
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def is_current(path: Path, key: str) -> bool:
    """True if the file is there, byte for byte as it was written under this key."""
    path = _followed(path)
    listed = _listed(path)
    return bool(listed) and _is_file(path) and key in listed.get(digest_of(path), ())


def remove_outputs(folder: Path, *patterns: str) -> None:
    """Remove the files of a folder that match a pattern (``data/*.js``) and are ours; all others stay."""
    with _guard:
        for place, prefix in _lists_above(folder.resolve() / LIST):
            written = _written(place)
            before = len(written)
            for name in [name for name in written if name.startswith(prefix.removesuffix(LIST))]:
                path, short = place.parent / name, name.removeprefix(prefix.removesuffix(LIST))
                ours = any(
                    fnmatchcase(short, pattern) and short.count("/") == pattern.count("/") for pattern in patterns
                )
                if ours and not path.is_symlink() and (not _is_file(path) or digest_of(path) in written[name]):
                    path.unlink(missing_ok=True)
                    del written[name]
            if len(written) == before:
                continue
            lines = [
                _line(name, digest, key) for name, of in written.items() for digest, keys in of.items() for key in keys
            ]
            write_bytes(place, b"".join(lines))
            _read.pop(place, None)


def adopt_outputs(folder: Path, front: str, *patterns: str) -> None:
    """List the files that match a pattern as ours if ``front``, by which the folder is recognised, is not listed.

    So are those of a release that had no list yet.
    """
    if not _listed(folder / front):
        for path in sorted(path for pattern in patterns for path in folder.glob(pattern)):
            if path.is_file() and not path.is_symlink():
                _list(path, digest_of(path))


def digest_of(path: Path) -> str:
    """The digest of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _listed(path: Path) -> dict[str, set[str]]:
    """The digests, each with its keys, that were written as this file."""
    found: dict[str, set[str]] = {}
    with _guard:
        for place, name in _lists_above(path.parent.resolve() / path.name):
            for digest, keys in _written(place).get(name, {}).items():
                found.setdefault(digest, set()).update(keys)
    return found


def _lists_above(path: Path) -> Iterator[tuple[Path, str]]:
    """The lists in the folders above a file, nearest first, each with the name that the file has there."""
    for folder in path.parents:
        place = folder / LIST
        with suppress(OSError):
            facts = place.lstat()
            owners = {facts.st_uid} if os.name != "posix" else {os.geteuid(), folder.stat().st_uid}
            if stat.S_ISREG(facts.st_mode) and facts.st_uid in owners:
                yield place, path.relative_to(folder).as_posix()


def _written(place: Path) -> Written:
    """Read a list; lines that cannot be read are skipped, so that their files count as foreign."""
    with place.open("rb") as file:
        facts = os.fstat(file.fileno())
        read = _read.get(place)
        if read is None or read.inode != facts.st_ino or read.end > facts.st_size:
            read = _ReadList(facts.st_ino, 0, {})
        file.seek(read.end)
        data = file.read()
    for line in data.splitlines():
        with suppress(ValueError, RecursionError, TypeError, KeyError):
            entry = json.loads(line)
            read.written.setdefault(entry["name"], {}).setdefault(entry["digest"], set()).add(entry["key"])
    _read[place] = read._replace(end=read.end + len(data))
    return read.written


def _list(path: Path, digest: str, key: str = "") -> None:
    """Add a file to the list of the folder that was claimed, or of its own, unless it is there already."""
    path = path.parent.resolve() / path.name
    with _guard:
        if key in _listed(path).get(digest, ()):
            return
        folder = next((folder for folder in path.parents if folder in _claimed), path.parent)
        place = folder / LIST
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        opened = os.open(place, flags, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise UsageError(f"{place}: is not a plain file, expected the list of what was written here")
            os.write(opened, _line(path.relative_to(folder).as_posix(), digest, key))
        finally:
            os.close(opened)


def _line(name: str, digest: str, key: str) -> bytes:
    return b"\n" + json.dumps({"name": name, "digest": digest, "key": key}).encode() + b"\n"


def _followed(path: Path) -> Path:
    """The file itself where the path is a link to one."""
    return path.resolve() if path.is_symlink() and (path.is_file() or not path.exists()) else path


def _spare_folder() -> Path:
    import tempfile  # takes a while, and is hardly ever needed

    return Path(tempfile.gettempdir())


def _is_file(path: Path) -> bool:
    with suppress(OSError):
        return path.is_file()
    return False


def _head(path: Path) -> bytes:
    with suppress(OSError), path.open("rb") as file:
        return file.read(HEAD)
    return b""


def _unwritable(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path}: cannot be written ({(error.strerror or str(error)).lower()})")
