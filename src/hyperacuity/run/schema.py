"""The layout of ``run.sqlite``, and what is said of a file that does not have it.

``tallies`` keeps every tally ever computed under its full key, for reuse. ``cells`` is the grid as it was last asked for: a
cell names its files, and points at its tally, or carries the reason why it failed, or neither while it waits. ``runs`` has a
row per call of :func:`~hyperacuity.run.run_grid`, ``files`` the digests of input files.

The file carries the number of its layout. A store of an older layout can be read as it is, and is brought up to date, in one
transaction, when it is opened for writing.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hyperacuity.errors import UsageError

FILE_NAME = "run.sqlite"
APPLICATION = 0x48595041  # "HYPA" in SQLite's header, so that `file` and we can tell whose it is
VERSION = 3
OLDEST = 2

_LAYOUT = (
    """CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        signature TEXT NOT NULL,
        code TEXT NOT NULL,
        started TEXT NOT NULL,
        ended TEXT,
        status TEXT NOT NULL,
        about TEXT NOT NULL
    )""",
    """CREATE TABLE tallies (
        id INTEGER PRIMARY KEY,
        signature TEXT NOT NULL,
        system TEXT NOT NULL,
        image TEXT NOT NULL,
        inputs BLOB NOT NULL,
        code TEXT NOT NULL,
        tally BLOB NOT NULL,
        UNIQUE (signature, system, image, inputs, code)
    )""",
    """CREATE TABLE cells (
        signature TEXT NOT NULL,
        system TEXT NOT NULL,
        image TEXT NOT NULL,
        run INTEGER NOT NULL REFERENCES runs (id),
        position INTEGER NOT NULL,
        files TEXT NOT NULL,
        tally INTEGER REFERENCES tallies (id),
        reason TEXT,
        detail TEXT,
        PRIMARY KEY (signature, system, image)
    ) WITHOUT ROWID""",
    """CREATE TABLE files (
        path TEXT PRIMARY KEY,
        stamp TEXT NOT NULL,
        digest BLOB NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX cells_in_order ON cells (run, position)",
)

_STEPS: dict[int, tuple[str, ...]] = {
    # A grid too large for memory is read back from the store in the order in which it was given.
    2: ("CREATE INDEX cells_in_order ON cells (run, position)",)
}
"""Statements that bring a layout to the next one."""


DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)
"""Errors raised by reading a damaged file: SQLite's message may quote bytes of it that are no text."""


class StoreError(UsageError):
    """The store cannot be read or written: the run as a whole cannot continue."""


@contextmanager
def clear_errors(path: Path) -> Iterator[None]:
    """Say SQLite's errors in a sentence that names the file and the way out."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StoreError(f"cannot use {path}: {error}; what was written before is kept") from error
    except DAMAGE as error:
        raise StoreError(f"{path} is damaged or not a run store ({error}): move it away to start over") from error
    except MemoryError as error:
        raise StoreError(f"cannot use {path}: out of memory; what was written before is kept") from error


COMPANIONS = ("-wal", "-shm", "-journal")
"""Endings of the names of files that SQLite keeps next to a store."""

MAGIC = b"SQLite format 3\0"


def check_companions(path: Path) -> None:
    """Refuse what is no file beside a store under a name that SQLite opens: a named pipe there would make it wait forever."""
    for companion in (Path(f"{path}{ending}") for ending in COMPANIONS):
        if os.path.lexists(companion) and not companion.is_file():
            raise StoreError(f"{companion} is not a file, as SQLite expects it beside {path.name}: move it away")


def check_owner(path: Path) -> None:
    """Refuse to write where SQLite would overwrite somebody's files: beside no database, or one that is none."""
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
        if start not in (b"", MAGIC):
            raise StoreError(
                f"{path} is damaged or not a run store (file is not a database): move it away to start over"
            )
        return
    for companion in (Path(f"{path}{ending}") for ending in COMPANIONS):
        if companion.is_file() and companion.stat().st_size:
            raise StoreError(f"{companion} belongs to no run here, and SQLite would overwrite it: move it away")


def create_or_update(connection: sqlite3.Connection, path: Path) -> None:
    """Lay out an empty file, bring an older one up to date; refuse one that is not ours."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            for statement in _LAYOUT:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        for version in range(check(connection, path), VERSION):
            for statement in _STEPS[version]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {version + 1}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite itself takes a transaction back when the disk is full
            connection.execute("ROLLBACK")
        raise


def check(connection: sqlite3.Connection, path: Path) -> int:
    """The layout of a store; an SQLite file of another program or of a layout that cannot be read is refused."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
        raise StoreError(f"{path} is empty: its run was stopped before it started; start it again")
    if application != APPLICATION:
        raise StoreError(f"{path} is an SQLite file, but not a run store: choose another folder")
    if version > VERSION:
        raise StoreError(
            f"{path} has layout {version}, made by a later version of hyperacuity (this one reads up to {VERSION}): update it"
        )
    if version < OLDEST:
        raise StoreError(
            f"{path} has layout {version}, older than any release of hyperacuity (this one reads from {OLDEST}): evaluate again"
        )
    return int(version)
