"""The work of everyone in one SQLite file: every action is on disk before it is acknowledged.

One thread writes. Changes that arrive while it waits for the disk are committed together, so that fifty people cost little more
than one, and each is acknowledged only after the commit; with the usual commit per request everyone would wait for the disk in
turn. Readers have connections of their own and never wait for the writer (SQLite's write-ahead log). A server killed at any
moment loses nothing that it has acknowledged.

Rows carry checksums, which are verified when the file is opened: a damaged file is refused before anyone works with it.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import queue
import sqlite3
import stat
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from hyperacuity.data.files import printable
from hyperacuity.errors import UsageError

T = TypeVar("T")
Change = tuple[Callable[[sqlite3.Connection], Any], Future[Any]]

APPLICATION = 0x48595053  # "HYPS" in SQLite's header, so that `file` and we can tell whose it is
VERSION = 2

Step = str | Callable[[sqlite3.Connection], object]
"""An SQL statement, or a function of the connection."""


@dataclass(frozen=True)
class Schema:
    """The tables of one page: its name, the version of the tables, and the steps that make them.

    ``upgrades`` has, by version, the steps that lead from there to the next. Rows of ``sealed`` tables carry a checksum in a last
    column, which is added to what the steps make; write them with :func:`insert`.
    """

    name: str
    version: int
    steps: tuple[Step, ...]
    upgrades: Mapping[int, tuple[Step, ...]] = field(default_factory=dict)
    sealed: tuple[str, ...] = ()


_SUPERVISED = (
    "CREATE TABLE studio_supervisors (page TEXT PRIMARY KEY, secret TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE studio_adjudications (page TEXT, item TEXT, number INTEGER, value TEXT NOT NULL, made TEXT NOT NULL, "
    "PRIMARY KEY (page, item, number)) WITHOUT ROWID",
    "CREATE TABLE studio_flags (page TEXT, person TEXT, item TEXT, note TEXT NOT NULL, skipped INTEGER NOT NULL, "
    "made TEXT NOT NULL, PRIMARY KEY (page, person, item)) WITHOUT ROWID",
)

SHARED = Schema(
    "studio",
    3,
    (
        "CREATE TABLE studio_outputs (path BLOB PRIMARY KEY, sha256 TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE studio_addresses "
        "(page TEXT PRIMARY KEY, base TEXT NOT NULL, port INTEGER NOT NULL, token TEXT) WITHOUT ROWID",
        *_SUPERVISED,
    ),
    upgrades={1: _SUPERVISED, 2: ()},
    sealed=("studio_outputs", "studio_addresses", "studio_supervisors", "studio_adjudications", "studio_flags"),
)
"""The tables of every page: digests of the files that it wrote, the address that it was last served at, the organiser's secret
and decisions where two people differ, and flags on images."""


class StateError(UsageError):
    """The file cannot be read or written; what was acknowledged before is kept."""


def insert(
    file: sqlite3.Connection, table: str, *values: Any, conflict: Literal["ABORT", "IGNORE", "REPLACE"] = "ABORT"
) -> int:
    """Insert a row into a sealed table, with its checksum; returns how many rows were inserted."""
    row = [int(value) if isinstance(value, bool) else value for value in values]
    marks = ", ".join("?" * (len(row) + 1))
    return file.execute(f"INSERT OR {conflict} INTO {table} VALUES ({marks})", (*row, _seal(table, *row))).rowcount  # noqa: S608


def _seal(table: str, *row: Any) -> str:
    """The checksum of a row of a table."""
    return hashlib.blake2s(repr((table, *row)).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


class State:
    """The studio's file. Several pages may keep their tables in one; several servers may use it at once.

    ``UsageError`` when the file cannot be written to, belongs to another program, or has tables of another version.

    Examples
    --------
    >>> import tempfile
    >>> schema = Schema("notes", 1, ("CREATE TABLE notes (text TEXT NOT NULL)",))
    >>> with tempfile.TemporaryDirectory() as folder, State(Path(folder) / "studio.sqlite", [schema]) as state:
    ...     state.write_now(lambda file: file.execute("INSERT INTO notes VALUES ('seen')").rowcount)
    ...     state.read_now(lambda file: file.execute("SELECT text FROM notes").fetchall())
    1
    [('seen',)]
    """

    def __init__(self, path: Path | str, schemas: Sequence[Schema]) -> None:
        self.path = Path(path)
        self._local = threading.local()
        self._lock = threading.Lock()
        self._readers: list[sqlite3.Connection] = []
        self._waiting: queue.SimpleQueue[Change | None] = queue.SimpleQueue()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _keep_to_ourselves(self.path)
            self._file = _connect(self.path)
        except OSError as error:
            raise StateError(f"cannot write to {self.path}: {error}") from error
        except FAILURES as error:
            raise _failure(self.path, error) from error
        try:
            _create_tables(self._file, self.path, schemas)
        except FAILURES as error:
            self._file.close()
            raise _failure(self.path, error) from error
        except BaseException:
            self._file.close()
            raise
        self._writer = threading.Thread(target=self._write_all, name="studio writer", daemon=True)
        self._writer.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """Make a change and return what it returns, once it is on disk. A change that raises leaves no trace."""
        return await asyncio.wrap_future(self._submit(change))

    def write_now(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """As :meth:`write`, for code outside of the server's loop."""
        return self._submit(change).result()

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Look something up, without holding up the server's loop."""
        return await asyncio.to_thread(self.read_now, query)

    def read_now(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """As :meth:`read`, for code outside of the server's loop. The query sees one state of the file throughout."""
        try:
            file = self._reader()
            file.execute("BEGIN")
            try:
                return query(file)
            finally:
                file.execute("ROLLBACK")
        except FAILURES as error:
            if _is_our_mistake(error):
                raise
            raise _failure(self.path, error) from error

    def _reader(self) -> sqlite3.Connection:
        """The connection of this thread."""
        file: sqlite3.Connection | None = getattr(self._local, "file", None)
        if file is None:
            file = _connect(self.path)
            file.execute("PRAGMA query_only = ON")
            self._local.file = file
            with self._lock:
                self._readers.append(file)
        return file

    def close(self) -> None:
        """Finish what waits, then close the file. It may be called more than once."""
        self._waiting.put(None)
        self._writer.join()
        with self._lock:
            for file in self._readers:
                file.close()
            self._readers.clear()
        self._file.close()

    def _submit(self, change: Callable[[sqlite3.Connection], T]) -> Future[T]:
        future: Future[T] = Future()
        if not self._writer.is_alive():
            raise StateError(f"{self.path} is closed")
        self._waiting.put((change, future))
        return future

    def _write_all(self) -> None:
        changes: list[Change | None] = []
        while None not in changes:  # which closes the file
            changes = [self._waiting.get()]
            while not self._waiting.empty():
                changes.append(self._waiting.get())
            wanted = [one for one in changes if one is not None and one[1].set_running_or_notify_cancel()]
            if wanted:
                self._commit(wanted)

    def _commit(self, changes: Sequence[Change]) -> None:
        """All changes in one transaction, each with a savepoint of its own."""
        results: list[tuple[Any, BaseException | None]] = []
        try:
            self._file.execute("BEGIN IMMEDIATE")
            for change, _ in changes:
                self._file.execute("SAVEPOINT change")
                try:
                    results.append((change(self._file), None))
                except sqlite3.OperationalError:  # the disk is full, say: not this change's fault
                    raise
                except Exception as error:
                    self._file.execute("ROLLBACK TO change")
                    damaged = isinstance(error, FAILURES) and not _is_our_mistake(error)
                    results.append((None, _failure(self.path, error) if damaged else error))
                self._file.execute("RELEASE change")
            self._file.execute("COMMIT")
        except FAILURES as error:
            with suppress(sqlite3.Error):  # then it is over already
                self._file.execute("ROLLBACK")
            failed = _failure(self.path, error)
            results = [(None, failed)] * len(changes)
        for (_, future), (result, raised) in zip(changes, results, strict=True):
            if raised is None:
                future.set_result(result)
            else:
                future.set_exception(raised)


def _keep_to_ourselves(path: Path) -> None:
    """Create the file if missing, readable for nobody else; a killed server may have left its log behind too."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    for one in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
        with suppress(OSError):  # there is none, it is somebody else's, or the disk has no permissions
            if stat.S_IMODE(one.stat().st_mode) & 0o077:
                one.chmod(0o600)


FAILURES = (sqlite3.DatabaseError, UnicodeDecodeError)
"""Errors of SQLite; the second if a damaged file made its way into a message."""


def _is_our_mistake(error: Exception) -> bool:
    """True for an error of ours, not of the file: a query that writes, say."""
    wrong = isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError)
    return wrong or getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY


def _failure(path: Path, error: Exception) -> StateError:
    """A sentence for a file that cannot be used."""
    text = printable(str(error))
    if isinstance(error, sqlite3.OperationalError):
        return StateError(f"cannot write to {path}: {text}; what was acknowledged before is kept")
    return StateError(
        f"{path} is damaged or no SQLite file ({text}): bring back a copy, or choose another with `state=`"
    )


def now() -> str:
    """The time as it is stored: UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _connect(path: Path) -> sqlite3.Connection:
    # check_same_thread=False: a connection is used by one thread, but closed by another. isolation_level=None: we say BEGIN.
    file = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    try:
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("PRAGMA synchronous = FULL")  # an acknowledged answer survives a power cut too
        file.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        file.close()
        raise
    return file


def _create_tables(file: sqlite3.Connection, path: Path, schemas: Sequence[Schema]) -> None:
    """Create the tables that are missing; refuse a file that is not ours, or damaged."""
    file.execute("BEGIN IMMEDIATE")
    try:
        if file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            file.execute("CREATE TABLE schemas (name TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID")
            file.execute(f"PRAGMA application_id = {APPLICATION}")
            file.execute(f"PRAGMA user_version = {VERSION}")
        (application,) = file.execute("PRAGMA application_id").fetchone()
        (version,) = file.execute("PRAGMA user_version").fetchone()
        (verdict,) = file.execute("PRAGMA integrity_check(1)").fetchone()
        if application != APPLICATION:
            raise StateError(f"{path} is an SQLite file, but not the studio's: choose another with `state=`")
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)
        cached = dict(file.execute("SELECT name, version FROM schemas")) if version == VERSION else {}
        for schema in (SHARED, *schemas):
            if version != VERSION or (steps := _steps(schema, cached.get(schema.name))) is None:
                raise StateError(f"{path} was written by another version of hyperacuity: choose another with `state=`")
            for step in steps:
                step(file) if callable(step) else file.execute(step)
            for table in schema.sealed:
                (_verify_seals if cached.get(schema.name) == schema.version else _add_seals)(file, table)
            file.execute("INSERT OR REPLACE INTO schemas VALUES (?, ?)", (schema.name, schema.version))
        file.execute("COMMIT")
    except BaseException:
        file.execute("ROLLBACK")
        raise


def _add_seals(file: sqlite3.Connection, table: str) -> None:
    """Give every row of a table its checksum, if the table has none."""
    columns = [name for _, name, *_ in file.execute(f"PRAGMA table_info({table})")]
    if f"{table}_seal" not in columns:
        file.create_function("seal", -1, _seal, deterministic=True)
        file.execute(f"ALTER TABLE {table} ADD COLUMN {table}_seal TEXT")
        file.execute(f"UPDATE {table} SET {table}_seal = seal('{table}', {', '.join(columns)})")  # noqa: S608


def _verify_seals(file: sqlite3.Connection, table: str) -> None:
    for *row, seal in file.execute(f"SELECT * FROM {table}"):  # noqa: S608
        if seal != _seal(table, *row):
            where = ", ".join(printable(str(value))[:40] for value in row[:4])
            raise sqlite3.DatabaseError(f"a row of {table} does not match its checksum: {where}")


def _steps(schema: Schema, version: int | None) -> list[Step] | None:
    """The steps that make a schema's tables of what a file has of them; None where nothing leads there."""
    if version is None:
        return list(schema.steps)
    if not isinstance(version, int) or version > schema.version:  # a damaged one may be anything
        return None
    between = range(version, schema.version)
    if any(step not in schema.upgrades for step in between):
        return None
    return [statement for step in between for statement in schema.upgrades[step]]
