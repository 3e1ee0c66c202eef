"""Bytes of files, how large these may be, and how warnings about them are given.

Every reader takes its bytes through :func:`read_bytes`. Sizes that a file *declares* are compared with the limits below before
anything is decompressed or allocated: a few kilobytes cannot ask for the machine's memory.
"""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import prod
from pathlib import Path
from typing import Literal

from hyperacuity.errors import InputError

MAX_PIXELS = 80_000_000
"""Most pixels an image may declare (an 8944×8944 picture)."""

MAX_BYTES = 1 << 30
"""Most bytes one file may hold, and one array, or one MATLAB variable with all its fields, may unpack to (1 GiB)."""


class DataWarning(UserWarning):
    """Legal but probably wrong: an inverted truth, an empty map, colours where grey was expected."""


_collected: ContextVar[list[str] | None] = ContextVar("hyperacuity-warnings", default=None)


def warn(sentence: str) -> None:
    """Warn about a file; the sentence names it."""
    collected = _collected.get()
    if collected is None:
        warnings.warn(sentence, DataWarning, stacklevel=3)
    else:
        collected.append(sentence)


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Collect the warnings of this thread instead of showing them: on another machine, nobody would see them."""
    collected: list[str] = []
    token = _collected.set(collected)
    try:
        yield collected
    finally:
        _collected.reset(token)


def read_bytes(path: Path) -> bytes:
    """The file's bytes; what cannot be read, is empty, is no plain file or is larger than ``MAX_BYTES`` is refused."""
    size = check_file(path)
    data = read_head(path)
    if len(data) < size:
        raise InputError(f"{path}: only {len(data)} of {size} bytes could be read")
    return data


def read_head(path: Path, count: int = -1) -> bytes:
    """The file's first bytes, at most ``count`` if it is given, under the same checks."""
    check_file(path)
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise _unreadable(path, error) from error


def identity(path: Path) -> tuple[int, int, int, int]:
    """Size, times (that of the last change of status cannot be set back) and inode of a plain file; others are refused."""
    try:
        facts = path.stat()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    if not stat.S_ISREG(facts.st_mode):
        raise InputError(f"{path}: is not a file")
    return facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino


def entry_kind(path: Path) -> Literal["file", "folder"] | None:
    """The kind of entry at a path; None for nothing, and ``InputError`` for what is neither, there or above it."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            raise _unreadable(path, error) from error
        if not os.path.lexists(path):
            if path.parent != path:
                entry_kind(path.parent)
            return None
        raise InputError(f"{path}: is a link to nothing; mend it or remove it") from error
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    raise InputError(f"{path}: is neither a file nor a folder; remove it")


def file_at(path: Path) -> Path | None:
    """The path, if a file lies there; None for nothing, and ``InputError`` for anything else."""
    kind = entry_kind(path)
    if kind == "folder":
        raise InputError(f"{path}: is a folder, expected a file")
    return path if kind == "file" else None


def folder_at(path: Path) -> Path | None:
    """The path, if a folder lies there; None for nothing, and ``InputError`` for anything else."""
    kind = entry_kind(path)
    if kind == "file":
        raise InputError(f"{path}: is a file, expected a folder")
    return path if kind == "folder" else None


def check_file(path: Path) -> int:
    """Size in bytes of a plain, non-empty file no larger than ``MAX_BYTES``; anything else is refused."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise _unreadable(path, error) from error
    if not stat.S_ISREG(status.st_mode):
        what = "a folder" if stat.S_ISDIR(status.st_mode) else "not a plain file"
        raise InputError(f"{path}: is {what}, expected a file")
    if status.st_size == 0:
        raise InputError(f"{path}: is empty (0 bytes)")
    check_bytes(status.st_size, str(path))
    return status.st_size


def check_bytes(count: int, name: str) -> None:
    """Refuse more than ``MAX_BYTES``."""
    if count > MAX_BYTES:
        raise InputError(f"{name}: asks for {count:,} bytes, more than the limit of {MAX_BYTES:,}")


def check_pixels(shape: tuple[int, ...], name: str) -> None:
    """Refuse a picture of more than ``MAX_PIXELS``; ``shape`` is (height, width)."""
    if prod(shape) > MAX_PIXELS:
        raise InputError(f"{name}: declares {shape[1]}×{shape[0]} pixels, more than the limit of {MAX_PIXELS:,}")


def first_line(error: Exception) -> str:
    """An error's text, as one line for a message.

    >>> first_line(ValueError("bad\\nand long")), first_line(EOFError())
    ('bad', 'EOFError')
    """
    return printable((str(error).splitlines() or [type(error).__name__])[0])


def printable(text: str) -> str:
    """Text from a file, made safe for a message: no line breaks or control characters, and not too long.

    >>> printable("depth\\x1b[2J of\\nfield")
    'depth�[2J of�field'
    """
    safe = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text[:300])
    return safe if len(text) <= 300 else f"{safe}…"


def _unreadable(path: Path, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or str(error)
    return InputError(f"{path}: cannot be read ({reason.lower()})")
