"""The run folder's memory: tallies written in transactions as they arrive, found again by all that they depend on.

One driver writes (:class:`~hyperacuity.run.lock.FolderLock`), through one connection; any number of readers may look on
meanwhile (SQLite's write-ahead log). A driver killed at any moment loses the last fraction of a second and nothing before it.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import sqlite3
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import hyperacuity
from hyperacuity.errors import UsageError
from hyperacuity.run.job import Cell, Failure, files_as_text
from hyperacuity.run.lock import FolderLock
from hyperacuity.run.schema import FILE_NAME, clear_errors, create_or_check

BATCH = 200
BATCH_SECONDS = 0.2


@dataclass(frozen=True)
class Key:
    """All that a tally depends on."""

    signature: str
    system: str
    image: str
    inputs: bytes
    code: str


def open_store(folder: Path, *, metadata: Mapping[str, Any] | None = None) -> Store:
    """Open the store of a run folder for writing, making both if need be.

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
    """Made by :func:`open_store`; use it in a ``with`` statement. Writing is for one thread, :meth:`find` for all."""

    def __init__(self, folder: Path, metadata: Mapping[str, Any]) -> None:
        self.path = folder / FILE_NAME
        self._metadata = dict(metadata)
        self._guard = threading.Lock()
        self._waiting: list[tuple[str, tuple[Any, ...]]] = []
        self._written_at = time.monotonic()
        self._run = 0
        self._lock = FolderLock(folder)
        try:
            with clear_errors(self.path):
                self._connection = _connect(self.path)
        except BaseException:
            self._lock.release()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def begin(
        self, signature: str, code: str, cells: Sequence[Cell], *, workers: int, job: Mapping[str, Any] | None = None
    ) -> None:
        """Start a run: from now on these cells, all waiting, are the grid of their systems under this signature.

        ``job`` says how the job was set up, for those who read the run later.
        """
        about = {**self._metadata, **_circumstances(), "workers": workers, "job": {} if job is None else dict(job)}
        with self._transaction() as connection:
            self._run = connection.execute(
                "INSERT INTO runs (signature, code, started, status, about) VALUES (?, ?, ?, 'running', ?) RETURNING id",
                (signature, code, _now(), json.dumps(about, ensure_ascii=False, default=str)),
            ).fetchone()[0]
            connection.executemany(
                "DELETE FROM cells WHERE signature = ? AND system = ?",
                [(signature, system) for system in dict.fromkeys(cell.system for cell in cells)],
            )
            connection.executemany(
                "INSERT INTO cells (signature, system, image, run, position, files) VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (signature, cell.system, cell.image, self._run, position, files_as_text(cell))
                    for position, cell in enumerate(cells)
                ),
            )

    def find(self, key: Key) -> bytes | None:
        """The packed tally kept under this key, if there is one. May be called from any thread."""
        return self._one(
            "SELECT tally FROM tallies WHERE signature = ? AND system = ? AND image = ? AND inputs = ? AND code = ?",
            astuple(key),
        )

    def digest(self, path: str, stamp: str) -> bytes | None:
        """The digest recorded for a file, if its stamp is still the same. May be called from any thread."""
        return self._one("SELECT digest FROM files WHERE path = ? AND stamp = ?", (path, stamp))

    def add(self, key: Key, packed: bytes) -> None:
        """A tally just computed."""
        self._later(
            "INSERT INTO tallies (signature, system, image, inputs, code, tally) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET tally = excluded.tally",
            (*astuple(key), packed),
        )
        self.confirm(key)

    def confirm(self, key: Key) -> None:
        """The cell's tally is the one under this key."""
        self._later(
            "UPDATE cells SET tally = (SELECT id FROM tallies"
            " WHERE signature = ? AND system = ? AND image = ? AND inputs = ? AND code = ?)"
            " WHERE signature = ? AND system = ? AND image = ?",
            (*astuple(key), key.signature, key.system, key.image),
        )

    def fail(self, signature: str, failure: Failure) -> None:
        """The cell has no tally, for the reason given."""
        self._later(
            "UPDATE cells SET reason = ?, detail = ? WHERE signature = ? AND system = ? AND image = ?",
            (failure.reason, failure.detail, signature, failure.system, failure.image),
        )

    def remember(self, digests: Iterable[tuple[str, str, bytes]]) -> None:
        """Digests of input files, as (path, stamp, digest)."""
        for entry in digests:
            self._later("INSERT OR REPLACE INTO files (path, stamp, digest) VALUES (?, ?, ?)", entry)

    def flush(self) -> None:
        """Write everything that waits, in one transaction."""
        self._written_at = time.monotonic()
        if not self._waiting:
            return
        with self._transaction() as connection:
            for statement, values in self._waiting:
                connection.execute(statement, values)
        # Only now: a transaction that was interrupted is repeated as a whole.
        self._waiting.clear()

    def flush_if_due(self) -> None:
        """Write when a batch is full or the oldest entry has waited long enough."""
        if len(self._waiting) >= BATCH or time.monotonic() - self._written_at >= BATCH_SECONDS:
            self.flush()

    def end(self, status: str) -> None:
        """Write what waits and note how the run ended: ``finished`` or ``interrupted``."""
        self._later("UPDATE runs SET status = ?, ended = ? WHERE id = ?", (status, _now(), self._run))
        self.flush()

    def close(self) -> None:
        """Let go of the folder. Entries that :meth:`end` has not written are dropped."""
        self._connection.close()
        self._lock.release()

    def _later(self, statement: str, values: tuple[Any, ...]) -> None:
        self._waiting.append((statement, values))

    def _one(self, query: str, values: tuple[Any, ...]) -> bytes | None:
        with clear_errors(self.path), self._guard:
            row = self._connection.execute(query, values).fetchone()
        return None if row is None else bytes(row[0])

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; the guard keeps :meth:`find` in other threads from seeing half of it."""
        with clear_errors(self.path), self._guard:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise


def _connect(path: Path) -> sqlite3.Connection:
    # check_same_thread=False: every use is under the store's guard. isolation_level=None: we say BEGIN ourselves.
    connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    try:
        create_or_check(connection, path)
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


def _circumstances() -> dict[str, Any]:
    return {
        "command": shlex.join(sys.argv),
        "folder": str(Path.cwd()),
        "machine": f"{platform.platform()}, {platform.machine()}, {os.cpu_count()} processors",
        "versions": {"hyperacuity": hyperacuity.__version__, "python": platform.python_version(), **_libraries()},
    }


def _libraries() -> dict[str, str]:
    return {name: version(name) for name in ("numpy", "scipy", "numba", "pillow", "h5py")}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
