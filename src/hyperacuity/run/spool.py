"""The tallies of a grid that are not to be kept: in memory while they are few, else in a temporary file of SQLite's."""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from hyperacuity.errors import UsageError
from hyperacuity.run.job import Cell, T
from hyperacuity.run.store import given_twice
from hyperacuity.tally import BaseProtocol


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
