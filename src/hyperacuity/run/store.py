"""The run folder's memory: tallies written in transactions as they arrive, found again by all that they depend on.

One driver writes (:class:`~hyperacuity.run.lock.FolderLock`), through one connection; any number of readers may read
meanwhile (SQLite's write-ahead log). A driver killed at any moment loses the last fraction of a second and nothing before it.
Without a run folder, tallies lie in a :class:`Spool` until they are collected.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import hyperacuity
from hyperacuity.console import printable
from hyperacuity.data.remote import absolute
from hyperacuity.errors import UsageError
from hyperacuity.run.code import library_versions
from hyperacuity.run.jobs import Cell, Failure, T, cell_from_text, files_as_text
from hyperacuity.run.lock import FolderLock
from hyperacuity.run.records import FILE_NAME, check_companions, check_owner, clear_errors, create_or_update
from hyperacuity.tally import BaseProtocol

BATCH = 200
BATCH_SECONDS = 0.2
PAGE = 500

V = TypeVar("V")


def given_twice(cell: Cell) -> UsageError:
    """Error for a grid that names a cell twice."""
    return UsageError(f"the image {cell.image} of the system {cell.system} is given twice")


def nothing_to_evaluate() -> UsageError:
    """Error for a grid without cells."""
    return UsageError("there is nothing to evaluate: no system has an image")


def open_store(folder: Path, *, metadata: Mapping[str, Any] | None = None) -> Store:
    """Open the store of a run folder for writing; both are created if missing.

    ``metadata`` (seeds, options; anything JSON can say) is recorded with each run, beside the command line and versions,
    which are recorded anyway. Raises ``UsageError`` when the folder cannot be written to, when another driver holds it, and
    when ``run.sqlite`` is damaged or something else.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the run folder {folder}: {error.strerror}") from error
    return Store(folder, {} if metadata is None else metadata)


class Store:
    """Made by :func:`open_store`; use it in a ``with`` statement, in one thread: the driver's."""

    def __init__(self, folder: Path, metadata: Mapping[str, Any]) -> None:
        self.path = folder / FILE_NAME
        self._metadata = dict(metadata)
        self._waiting: list[tuple[str, tuple[Any, ...]]] = []
        self._written_at = time.monotonic()
        self._run = 0
        self._signature = self._code = ""
        self._count = 0
        self._known: set[str] = set()  # systems that have tallies under this signature and code
        self._about: dict[str, Any] = {}
        self._lock = FolderLock(folder)
        try:
            check_companions(self.path)
            check_owner(self.path)
            with clear_errors(self.path):
                self._connection = _connect(self.path)
        except BaseException:
            self._lock.release()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def begin(self, signature: str, code: str, cells: Iterable[Cell], *, workers: int, job: Mapping[str, Any]) -> int:
        """Start a run: from now on these cells are the grid of their systems under this signature.

        A cell that was there with the same files and a tally of the same code keeps it until it has been looked at again, so
        that a run that is stopped early leaves what an earlier one finished; the others wait. The cells are written as they
        come and not held in memory; their number is returned. ``job`` says how the job was set up, for those who read the run
        later. ``UsageError``: no cell, or the same one twice.
        """
        self._about = {**self._metadata, **_circumstances(), "workers": workers, "job": dict(job)}
        self._signature, self._code, self._count = signature, code, 0
        with self.writing() as connection:
            self._run = connection.execute(
                "INSERT INTO runs (signature, code, started, status, about) VALUES (?, ?, ?, 'running', ?) RETURNING id",
                (signature, code, _now(), self._as_text(self._about)),
            ).fetchone()[0]
            systems: set[str] = set()
            for cell in cells:
                systems.add(cell.system)
                self._ask_for(connection, cell)
            if not self._count:
                raise nothing_to_evaluate()
            known = "SELECT DISTINCT system FROM tallies WHERE signature = ? AND code = ?"
            self._known = {system for (system,) in connection.execute(known, (signature, code))}
            gone = [(signature, system, self._run) for system in systems]
            connection.executemany("DELETE FROM cells WHERE signature = ? AND system = ? AND run != ?", gone)
        return self._count

    def _ask_for(self, connection: sqlite3.Connection, cell: Cell) -> None:
        """Put a cell on the grid; a row of this very run is not touched, which tells that the cell is given twice."""
        written = connection.execute(
            "INSERT INTO cells (signature, system, image, run, position, files) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET run = excluded.run, position = excluded.position, files = excluded.files,"
            " reason = NULL, detail = NULL, tally = CASE WHEN files = excluded.files"
            " AND (SELECT code FROM tallies WHERE id = cells.tally) = ? THEN tally END"
            " WHERE run != excluded.run",
            (self._signature, cell.system, cell.image, self._run, self._count, files_as_text(cell), self._code),
        ).rowcount
        if not written:
            raise given_twice(cell)
        self._count += 1

    def to_do(self, treated: Callable[[str], object]) -> Iterator[tuple[int, Cell, dict[bytes, bytes]]]:
        """Position and cell of all that waits, in order, with the tallies kept from before, by the digest of their inputs.

        A system without any may be one of another name: it is offered the tallies that others have of the image, of those that
        are ``treated`` alike (what the protocol is for a system, where it tells systems apart by name).
        """
        others = cache(lambda system: [one for one in sorted(self._known) if treated(one) == treated(system)])
        for start in range(0, self._count, PAGE):
            with clear_errors(self.path):
                rows = self._connection.execute(
                    "SELECT position, cells.system, cells.image, files, inputs, tallies.tally FROM cells"
                    " LEFT JOIN tallies ON tallies.signature = cells.signature AND tallies.system = cells.system"
                    " AND tallies.image = cells.image AND tallies.code = ?"
                    " WHERE run = ? AND position >= ? AND position < ? ORDER BY position",
                    (self._code, self._run, start, start + PAGE),
                ).fetchall()
            for _, same in groupby(rows, key=itemgetter(0)):
                alike = list(same)
                position, system, image, files = alike[0][:4]
                kept = {bytes(row[4]): bytes(row[5]) for row in alike if row[4] is not None}
                if system not in self._known:
                    kept = self._of_others(image, others(system))
                yield position, cell_from_text(system, image, files), kept

    def _of_others(self, image: str, systems: Iterable[str]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        with clear_errors(self.path):
            for system in systems:
                query = (
                    "SELECT inputs, tally FROM tallies WHERE signature = ? AND system = ? AND image = ? AND code = ?"
                )
                found.update(self._connection.execute(query, (self._signature, system, image, self._code)).fetchall())
        return found

    def recorded(self, paths: Iterable[Path]) -> dict[str, tuple[str, bytes]]:
        """The stamps and digests recorded for files, by full path."""
        found: dict[str, tuple[str, bytes]] = {}
        with clear_errors(self.path):
            for path in {str(absolute(path)) for path in paths}:
                query = "SELECT stamp, digest FROM files WHERE path = ?"
                row = self._connection.execute(query, (printable(path),)).fetchone()
                if row is not None:
                    found[path] = (row[0], bytes(row[1]))
        return found

    def keep(self, cell: Cell, inputs: bytes, packed: bytes) -> None:
        """A tally that was kept, for this system or under another name."""
        if cell.system in self._known:
            self.confirm(cell, inputs)
        else:
            self.add(cell, inputs, packed)

    def add(self, cell: Cell, inputs: bytes, packed: bytes) -> None:
        """A tally just computed."""
        self._later(
            "INSERT INTO tallies (signature, system, image, inputs, code, tally) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET tally = excluded.tally",
            (self._signature, cell.system, cell.image, inputs, self._code, packed),
        )
        self.confirm(cell, inputs)

    def confirm(self, cell: Cell, inputs: bytes) -> None:
        """The cell's tally is the one computed from these inputs."""
        key = (self._signature, cell.system, cell.image)
        self._later(
            "UPDATE cells SET tally = (SELECT id FROM tallies"
            " WHERE signature = ? AND system = ? AND image = ? AND inputs = ? AND code = ?)"
            " WHERE signature = ? AND system = ? AND image = ?",
            (*key, inputs, self._code, *key),
        )

    def fail(self, failure: Failure) -> None:
        """The cell has no tally, for the reason given."""
        self._later(
            "UPDATE cells SET tally = NULL, reason = ?, detail = ? WHERE signature = ? AND system = ? AND image = ?",
            (printable(failure.reason), _storable(failure.detail), self._signature, failure.system, failure.image),
        )

    def remember(self, digests: Iterable[tuple[str, str, bytes]]) -> None:
        """Digests of input files, as (path, stamp, digest)."""
        for path, seen, digest in digests:
            entry = (printable(path), seen, digest)
            self._later("INSERT OR REPLACE INTO files (path, stamp, digest) VALUES (?, ?, ?)", entry)

    def flush(self) -> None:
        """Write everything that waits, in one transaction."""
        self._written_at = time.monotonic()
        if not self._waiting:
            return
        with self.writing() as connection:
            for statement, values in self._waiting:
                connection.execute(statement, values)
        # Only now: a transaction that was interrupted is repeated as a whole.
        self._waiting.clear()

    def flush_if_due(self) -> None:
        """Write when a batch is full or the oldest entry has waited long enough."""
        if len(self._waiting) >= BATCH or time.monotonic() - self._written_at >= BATCH_SECONDS:
            self.flush()

    def end(self, status: str, again: Sequence[Mapping[str, str]] = ()) -> None:
        """Write what waits and note how the run ended: ``finished`` or ``interrupted``, and which cells were tried again."""
        about = {**self._about, "tried again": list(again)}
        self._later(
            "UPDATE runs SET status = ?, ended = ?, about = ? WHERE id = ?",
            (status, _now(), self._as_text(about), self._run),
        )
        self.flush()

    def compact(self) -> None:
        """Give back the space of what was deleted."""
        with clear_errors(self.path):
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Release the folder. Entries that :meth:`end` has not written are dropped."""
        try:
            self._connection.close()
        finally:
            self._lock.release()

    def _later(self, statement: str, values: tuple[Any, ...]) -> None:
        self._waiting.append((statement, values))

    @staticmethod
    def _as_text(about: Mapping[str, Any]) -> str:
        """Metadata as JSON; a command line may hold bytes that are no text."""
        text = json.dumps(about, ensure_ascii=False, default=str)
        return text if text.isascii() or printable(text) == text else json.dumps(about, default=str)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All or nothing."""
        with clear_errors(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise


def _connect(path: Path) -> sqlite3.Connection:
    # isolation_level=None: we say BEGIN ourselves.
    connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    try:
        create_or_update(connection, path)
        # We hold the folder, so a run that still counts as running was killed. (And a file that cannot be written to is
        # found out now.)
        connection.execute("UPDATE runs SET status = 'interrupted' WHERE status = 'running'")
        connection.execute("PRAGMA journal_mode = WAL")
        # Without a wait for the disk at each commit: a power cut may cost the last commits, never the file.
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _storable(text: str) -> str:
    """Lines of text as UTF-8 can say them."""
    return text.encode("utf-8", "backslashreplace").decode()


def _command() -> str:
    """The call as it can be typed again: that of ``python -m hyperacuity`` begins with the name of a file."""
    program, *words = sys.argv
    called = Path(program)
    if (called.parent.name, called.name) == ("hyperacuity", "__main__.py"):
        program = "hyperacuity"
    return shlex.join([program, *words])


def _circumstances() -> dict[str, Any]:
    return {
        "command": _command(),
        "folder": str(Path.cwd()),
        "machine": f"{platform.platform()}, {platform.machine()}, {os.cpu_count()} processors",
        "versions": {"hyperacuity": hyperacuity.__version__, "python": platform.python_version(), **library_versions()},
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class BySystem(Mapping[str, V], Generic[V]):
    """Values by system, such as its tallies: read when they are asked for, and not held."""

    def __init__(self, systems: Iterable[str], read: Callable[[str], V]) -> None:
        self._systems, self._read = dict.fromkeys(systems), read

    def __getitem__(self, system: str) -> V:
        if system not in self._systems:
            raise KeyError(system)
        return self._read(system)

    def __iter__(self) -> Iterator[str]:
        return iter(self._systems)

    def __len__(self) -> int:
        return len(self._systems)


class Spool:
    """Packed tallies by system and position. SQLite writes what does not fit in its cache to a file without a name."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        with _clear_errors():
            self._connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
            self._connection.execute("PRAGMA cache_size = -65536")  # 64 MB
            self._connection.execute(
                "CREATE TABLE tallies (system TEXT, image TEXT, position INTEGER, tally BLOB, PRIMARY KEY (system, image))"
            )

    def add(self, cell: Cell, position: int, packed: bytes) -> None:
        """Keep the tally of a cell. ``UsageError`` if it has one."""
        try:
            with self._guard, _clear_errors():
                row = (cell.system, cell.image, position, packed)
                self._connection.execute("INSERT INTO tallies VALUES (?, ?, ?, ?)", row)
        except sqlite3.IntegrityError as error:
            raise given_twice(cell) from error

    def tallies(self, system: str, tally_type: type[T], protocol: BaseProtocol) -> dict[str, T]:
        """The tallies of a system by image, in the order of the grid."""
        query = "SELECT image, tally FROM tallies WHERE system = ? ORDER BY position"
        with self._guard, _clear_errors():
            rows = self._connection.execute(query, (system,))
            return {sys.intern(image): tally_type.unpack(data, protocol) for image, data in rows}


@contextmanager
def _clear_errors() -> Iterator[None]:
    """Say in a sentence that there is no room, on the disk of temporary files or in memory."""
    try:
        yield
    except (sqlite3.OperationalError, MemoryError) as error:
        reason = str(error) or "out of memory"
        raise UsageError(f"cannot use a temporary file for results in {tempfile.gettempdir()}: {reason}") from error
