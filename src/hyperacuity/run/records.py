"""The records of a run, ``run.sqlite``: their layout, and reading them while the run still writes or long after it ended.

``tallies`` keeps every tally ever computed under its full key, for reuse. ``cells`` is the grid as it was last asked for: a
cell names its files, and points at its tally, or carries the reason why it failed, or neither while it waits. ``runs`` has a
row per call of :func:`~hyperacuity.run.run_grid`, ``files`` the digests of input files.

The file carries the number of its layout. A store of an older layout can be read as it is, and is brought up to date, in one
transaction, when it is opened for writing.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from hyperacuity.console import printable
from hyperacuity.data.remote import absolute
from hyperacuity.errors import InputError, UsageError
from hyperacuity.run.jobs import Cell, Failure, T, cell_from_text
from hyperacuity.tally import BaseProtocol

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


EXPECTED = "expected"
"""Key of a run's metadata for how many images each system should have, those without a prediction included."""

V = TypeVar("V")


def open_run(path: Path) -> Run:
    """Open a run folder (or its ``run.sqlite``) for reading.

    Raises ``UsageError`` when there is no run, or when the file is damaged or something else.
    """
    return Run(file_of(path))


def file_of(path: Path) -> Path:
    """The store of a run folder, or the store itself."""
    file = path / FILE_NAME if path.is_dir() else path
    if not file.is_file():
        raise UsageError(f"there is no run in {path}: expected a folder that holds {FILE_NAME}")
    return file


def connect_to_read(file: Path) -> sqlite3.Connection:
    """A connection that sees one moment of a store, while it is written or from a copy that cannot be written to."""
    check_companions(file)
    check_owner(file)
    with clear_errors(file):
        try:
            return _look(file, "mode=ro")
        except sqlite3.OperationalError:
            # The write-ahead log needs a folder that can be written to. On a read-only copy nobody writes, so reading
            # without the log is safe, unless the copy was taken in the middle of a run: then the log is part of it.
            log = Path(f"{file}-wal")
            if log.exists() and log.stat().st_size:
                raise
            return _look(file, "immutable=1")


@dataclass(frozen=True)
class Detail:
    """A cell, the digest of its inputs, the code and the bytes of its tally, or the reason why there is none, or neither."""

    cell: Cell
    inputs: bytes | None
    code: str | None
    tally: bytes | None
    reason: str | None

    @property
    def state(self) -> str:
        """``done``, ``failed`` or ``waiting``."""
        return "done" if self.tally is not None else "waiting" if self.reason is None else "failed"


@dataclass(frozen=True)
class SystemState:
    """Progress of a system under a protocol. ``version`` is another one whenever a cell of it has changed.

    ``started`` is when the run began that asked for its cells last, in ISO 8601.
    """

    signature: str
    system: str
    done: int
    failed: int
    waiting: int
    started: str
    version: str


class Run:
    """A run as it stood when it was opened; use it in a ``with`` statement, and open it again to see more.

    One :class:`Run` is one moment, so that the numbers of a report agree with each other while the run goes on.
    Systems and images come in the order in which they were given to :func:`~hyperacuity.run.run_grid`. Without a ``with``
    statement, the file is closed when the last reference is gone.
    """

    def __init__(self, file: Path) -> None:
        self.path = file
        self._guard = threading.Lock()
        self._connection = connect_to_read(file)
        self._close = weakref.finalize(self, self._connection.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._close()

    def signatures(self) -> list[str]:
        """The protocols that were run here."""
        return self._column("SELECT signature FROM cells GROUP BY signature ORDER BY min(run)")

    def systems(self, signature: str) -> list[str]:
        """The systems evaluated under a protocol."""
        query = "SELECT system FROM cells WHERE signature = ? GROUP BY system ORDER BY min(run), min(position)"
        return self._column(query, signature)

    def images(self, signature: str) -> list[str]:
        """The images evaluated under a protocol, by any system."""
        query = "SELECT image FROM cells WHERE signature = ? GROUP BY image ORDER BY min(run), min(position)"
        return self._column(query, signature)

    def images_of(self, signature: str, system: str, *, done: bool = False) -> list[str]:
        """The images that a system was given, or with ``done`` those it has a tally of."""
        query = "SELECT image FROM cells WHERE signature = ? AND system = ? AND (tally IS NOT NULL OR ?) ORDER BY run, position"
        return [sys.intern(image) for image in self._column(query, signature, system, not done)]

    def tallies(self, signature: str, system: str, tally_type: type[T], protocol: BaseProtocol) -> dict[str, T]:
        """The tallies of a system, by image; cells that failed or still wait are not among them."""
        return self._by_image(signature, system, lambda data: tally_type.unpack(data, protocol))

    def tally(self, signature: str, system: str, image: str, tally_type: type[T], protocol: BaseProtocol) -> T | None:
        """The tally of one cell; None where it failed or still waits."""
        query = (
            "SELECT tallies.tally FROM cells JOIN tallies ON tallies.id = cells.tally"
            " WHERE cells.signature = ? AND cells.system = ? AND cells.image = ?"
        )
        rows = self._column(query, signature, system, image)
        return tally_type.unpack(rows[0], protocol) if rows else None

    def packed(self, signature: str, system: str) -> dict[str, bytes]:
        """The tallies of a system as bytes, by image, where their type is not known."""
        return self._by_image(signature, system, bytes)

    def _by_image(self, signature: str, system: str, read: Callable[[bytes], V]) -> dict[str, V]:
        query = (
            "SELECT cells.image, tallies.tally FROM cells JOIN tallies ON tallies.id = cells.tally"
            " WHERE cells.signature = ? AND cells.system = ? ORDER BY run, position"
        )
        with clear_errors(self.path), self._guard:
            rows = self._connection.execute(query, (signature, system))
            return {sys.intern(image): read(data) for image, data in rows}  # one string for all systems

    def cells(self, signature: str, system: str | None = None, image: str | None = None) -> list[Cell]:
        """Every cell with its files, as full paths, or those of a system, or of an image of it; they may have moved since."""
        values = [value for value in (signature, system, image) if value is not None]
        where = " AND ".join(("signature = ?", "system = ?", "image = ?")[: len(values)])
        query = f"SELECT system, image, files FROM cells WHERE {where} ORDER BY run, position"  # noqa: S608 (our own words)
        return [cell_from_text(*row) for row in self._rows(query, *values)]

    def details(self, signature: str) -> Iterator[Detail]:
        """Every cell with all that is known of it, one at a time: for those who copy or export."""
        query = (
            "SELECT cells.system, cells.image, files, inputs, code, tallies.tally, reason FROM cells"
            " LEFT JOIN tallies ON tallies.id = cells.tally WHERE cells.signature = ? ORDER BY run, position"
        )
        with clear_errors(self.path):
            for row in self._connection.execute(query, (signature,)):
                yield Detail(cell_from_text(*row[:3]), *row[3:])

    def inputs(self, signature: str, system: str) -> dict[str, bytes]:
        """The digest of the files from which each tally of a system was computed, by image."""
        query = (
            "SELECT cells.image, inputs FROM cells JOIN tallies ON tallies.id = cells.tally"
            " WHERE cells.signature = ? AND cells.system = ? ORDER BY run, position"
        )
        return {image: bytes(inputs) for image, inputs in self._rows(query, signature, system)}

    def recorded(self, paths: Iterable[Path]) -> dict[str, tuple[str, bytes]]:
        """The stamps and digests recorded for files, by full path."""
        query = "SELECT stamp, digest FROM files WHERE path = ?"
        found = {path: self._rows(query, printable(path)) for path in {str(absolute(path)) for path in paths}}
        return {path: (rows[0][0], bytes(rows[0][1])) for path, rows in found.items() if rows}

    def fingerprint(self, signature: str) -> str:
        """One short name for the contents of all input files that were evaluated: equal names, equal data.

        It is a hash over systems, images and the hashes of their files, so neither the order of the cells nor where the
        files lie matters.
        """
        query = (
            "SELECT cells.system, cells.image, hex(inputs) FROM cells JOIN tallies ON tallies.id = cells.tally"
            " WHERE cells.signature = ? ORDER BY cells.system, cells.image"
        )
        found, separator = hashlib.blake2b(b"[", digest_size=8), ""  # of a list in JSON, a row at a time
        with clear_errors(self.path), self._guard:
            for row in self._connection.execute(query, (signature,)):
                found.update(f"{separator}{json.dumps(row)}".encode())
                separator = ", "
        found.update(b"]")
        return found.hexdigest()

    def states(self, signature: str) -> dict[str, dict[str, int]]:
        """Number of cells of each system that are ``done``, ``failed`` and ``waiting``."""
        rows = self._rows(
            "SELECT system, count(tally), sum(tally IS NULL AND reason IS NOT NULL), sum(tally IS NULL AND reason IS NULL)"
            " FROM cells WHERE signature = ? GROUP BY system ORDER BY min(run), min(position)",
            signature,
        )
        return {system: dict(zip(("done", "failed", "waiting"), counts, strict=True)) for system, *counts in rows}

    def system_states(self) -> list[SystemState]:
        """Progress of every system under every protocol, without reading a tally: for those who look again and again."""
        rows = self._rows(
            "SELECT signature, system, count(tally), sum(tally IS NULL AND reason IS NOT NULL),"
            " sum(tally IS NULL AND reason IS NULL), max(run), max(tally), total(tally)"
            " FROM cells GROUP BY signature, system ORDER BY min(run), min(position)"
        )
        times = dict(self._rows("SELECT id, started FROM runs"))
        return [
            SystemState(
                signature, system, done, failed, waiting, times.get(run, ""), f"{done}-{failed}-{waiting}-{run}-{ids}"
            )
            for signature, system, done, failed, waiting, run, *ids in rows
        ]

    def failures(self, signature: str) -> list[Failure]:
        """The cells that failed, each with its reason."""
        sql = "SELECT system, image, reason, detail FROM cells WHERE reason IS NOT NULL AND signature = ? ORDER BY run, position"
        return [Failure(*row) for row in self._rows(sql, signature)]

    def waiting(self, signature: str) -> list[tuple[str, str]]:
        """(system, image) of the cells not evaluated yet: the run continues, or was interrupted."""
        query = "SELECT system, image FROM cells WHERE signature = ? AND tally IS NULL AND reason IS NULL ORDER BY run, position"
        return self._rows(query, signature)

    def history(self) -> list[dict[str, Any]]:
        """One entry per call of ``run_grid``, oldest first.

        Each has ``signature``, ``code``, ``started``, ``ended``, ``status`` (``running``, ``finished`` or ``interrupted``),
        ``command``, ``folder``, ``machine``, ``versions``, ``workers``, ``job`` (how the job was set up: its protocol and other
        options), and what the caller gave as metadata.
        """
        rows = self._rows("SELECT id, signature, code, started, ended, status, about FROM runs ORDER BY id")
        names = ("signature", "code", "started", "ended", "status")
        return [
            dict(zip(names, row, strict=True)) | description(number, about, self.path) for number, *row, about in rows
        ]

    def metadata(self, signature: str) -> dict[str, Any]:
        """The last entry of :meth:`history` for a protocol; of what is expected of systems, it knows all entries' words."""
        entries = [entry for entry in self.history() if entry["signature"] == signature]
        if not entries:
            raise InputError(f"{self.path}: holds no run of {signature}")
        expected = {system: count for entry in entries for system, count in entry.get(EXPECTED, {}).items()}
        return entries[-1] | ({EXPECTED: expected} if expected else {})

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with clear_errors(self.path), self._guard:
            return self._connection.execute(query, values).fetchall()

    def _column(self, query: str, *values: Any) -> list[Any]:
        return [row[0] for row in self._rows(query, *values)]


def description(number: int, about: Any, file: Path) -> dict[str, Any]:
    """Parse the text in which a store keeps how a run was made. ``InputError`` for one that was damaged."""
    try:
        found = json.loads(about)
    except (ValueError, TypeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{file}: run {number}: its description cannot be read: the file is damaged; see run salvage")
    return found


def _look(file: Path, how: str) -> sqlite3.Connection:
    uri = f"{file.absolute().as_uri()}?{how}"
    connection = sqlite3.connect(uri, uri=True, timeout=30, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("BEGIN")  # one snapshot for the life of the connection, taken by the first read
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        check(connection, file)
    except BaseException:
        connection.close()
        raise
    return connection
