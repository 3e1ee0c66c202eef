"""A disk that fails when it is told to: SQLite's own layer below it, with its writes and syncs.

SQLite reaches files through a table of functions (https://www.sqlite.org/vfs.html). The usual table is copied, and the functions
that write are replaced by some that ask, and then fail or pass the call on. This needs the SQLite of Python's ``sqlite3`` as a
shared library; where it is part of the interpreter, :func:`library` is None.
"""

from __future__ import annotations

import ctypes
import importlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p, cast
from ctypes.util import find_library

FULL, IO_ERROR = 13, 10
POINTER_SIZE = ctypes.sizeof(c_void_p)

_KEPT: list[object] = []
"""Functions and tables must live as long as a file is open, and who knows how long that is."""

Write = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
Truncate = CFUNCTYPE(c_int, c_void_p, c_int64)
Sync = CFUNCTYPE(c_int, c_void_p, c_int)
Open = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)


class Methods(Structure):
    """What SQLite does with an open file (``sqlite3_io_methods``)."""

    _fields_ = [
        ("version", c_int),
        ("close", c_void_p),
        ("read", c_void_p),
        ("write", c_void_p),
        ("truncate", c_void_p),
        ("sync", c_void_p),
        ("others", c_void_p * 13),
    ]


class System(Structure):
    """What SQLite does with a file system (``sqlite3_vfs``), as far as it is used here; the rest is copied with it."""

    _fields_ = [
        ("version", c_int),
        ("file_size", c_int),
        ("longest_name", c_int),
        ("next", c_void_p),
        ("name", c_char_p),
        ("data", c_void_p),
        ("open", c_void_p),
        ("others", c_void_p * 15),
    ]


def library() -> ctypes.CDLL | None:
    """The library behind ``sqlite3``."""
    name = find_library("sqlite3")
    if name is None:
        return None
    found = ctypes.CDLL(name)
    found.sqlite3_libversion.restype = c_char_p
    found.sqlite3_vfs_find.restype = POINTER(System)
    shared = hasattr(
        importlib.import_module("_sqlite3"), "__file__"
    )  # otherwise it is in the interpreter, with its SQLite
    return found if shared and found.sqlite3_libversion().decode() == sqlite3.sqlite_version else None


@contextmanager
def faulty_disk(status: Callable[[str], int]) -> Iterator[None]:
    """While the block runs, each ``write``, ``truncate`` and ``sync`` asks for its status first, and is done if that is 0."""
    sqlite = library()
    assert sqlite is not None
    usual = sqlite.sqlite3_vfs_find(None)

    def replaced(kind: type, name: str, original: int) -> int:
        passed_on = cast(original, kind)

        def call(*values: object) -> int:
            return status(name) or passed_on(*values)

        _KEPT.append(kind(call))
        return cast(_KEPT[-1], c_void_p).value

    tables: dict[int, Methods] = {}
    _KEPT.append(tables)

    def open_file(system: int, name: int, file: int, flags: int, told: int) -> int:
        opened = cast(usual.contents.open, Open)(system, name, file, flags, told)
        place = cast(file, POINTER(c_void_p))
        if place[0]:
            if place[0] not in tables:
                methods = tables[place[0]] = Methods()
                size = ctypes.sizeof(Methods) if cast(place[0], POINTER(c_int))[0] >= 3 else 17 * POINTER_SIZE
                ctypes.memmove(ctypes.byref(methods), place[0], size)
                methods.write = replaced(Write, "write", methods.write)
                methods.truncate = replaced(Truncate, "truncate", methods.truncate)
                methods.sync = replaced(Sync, "sync", methods.sync)
            place[0] = ctypes.addressof(tables[place[0]])
        return opened

    mine = System()
    ctypes.memmove(ctypes.byref(mine), usual, ctypes.sizeof(System))
    opens = Open(open_file)
    mine.name, mine.open = b"faulty", cast(opens, c_void_p)
    sqlite.sqlite3_vfs_register(ctypes.byref(mine), 1)
    try:
        yield
    finally:
        sqlite.sqlite3_vfs_unregister(ctypes.byref(mine))
        sqlite.sqlite3_vfs_register(usual, 1)
