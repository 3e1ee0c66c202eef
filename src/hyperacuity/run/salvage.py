"""Take what is whole out of a damaged store.

SQLite refuses a file with one bad page, though most of the others are as they were. A tally carries its own checksum and stands
in its row with all that it depends on, so it can be trusted wherever it is found. The pages of the file and of its write-ahead
log are therefore read one by one, without the tree above them: every leaf of a table has its rows in it, and a row that runs
over into other pages names them. A row of ``tallies`` whose checksum holds is kept, from a freed page too; the rest is skipped.

The grid and the history are read through SQLite as far as it gets. They need not be whole: the command that made the run asks
for its cells again, and finds the tallies.

The format of pages and records: https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

import contextlib
import sqlite3
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperacuity.errors import InputError, UsageError
from hyperacuity.run.job import cell_from_text
from hyperacuity.run.records import description, file_of
from hyperacuity.run.schema import DAMAGE, FILE_NAME, check_companions
from hyperacuity.run.store import open_store
from hyperacuity.tally import unpacked_arrays

TABLE_LEAF = 0x0D
FILE_HEADER = 100
LOG_HEADER, FRAME_HEADER = 32, 24
USUAL_PAGE = 4096
PAGE_SIZES = {1 << bits for bits in range(9, 17)}
INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
MOST_BYTES = 1 << 28
"""No row is larger: a damaged length asks for no more memory."""

Row = tuple[int, list[Any]]
"""The number of a row, and its values."""


@dataclass(frozen=True)
class Salvaged:
    """How many tallies, cells and runs were taken over, and how many cells are without their tally."""

    tallies: int
    cells: int
    runs: int
    waiting: int


def salvage_run(folder: Path, out: Path) -> Salvaged:
    """Write the whole tallies of a damaged store to a new run folder, with as much of the grid as can be read.

    The damaged store is only read. ``UsageError`` where there is none, or where there is a run in ``out`` already.
    """
    file = file_of(folder)
    if (out / FILE_NAME).exists():
        raise UsageError(f"{out} holds a run already: salvage into another folder")
    check_companions(file)
    pages = pages_of(file)
    with open_store(out) as store, store.writing() as target:
        numbers = _take_tallies(pages, target)
        runs, cells, waiting = _take_grid(file, target, numbers)
        (tallies,) = target.execute("SELECT count(*) FROM tallies").fetchone()
    return Salvaged(tallies, cells, runs, waiting)


def pages_of(file: Path) -> dict[int, bytes]:
    """The pages of a store by number from 1 on; those in its write-ahead log, which are later, in place of the file's."""
    data = file.read_bytes()
    size = _page_size(data)
    pages = {1 + start // size: data[start : start + size] for start in range(0, len(data) - size + 1, size)}
    log = Path(f"{file}-wal")
    if log.is_file():
        pages.update(_log_pages(log.read_bytes()))
    return pages


def _page_size(data: bytes) -> int:
    if len(data) < FILE_HEADER:
        return USUAL_PAGE
    (declared,) = struct.unpack_from(">H", data, 16)
    size = 65536 if declared == 1 else declared
    return size if size in PAGE_SIZES else USUAL_PAGE


def _log_pages(log: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and bytes of the pages in a write-ahead log, oldest first, without frames of an earlier use of the file."""
    if len(log) < LOG_HEADER:
        return
    _, _, size, _, salt1, salt2 = struct.unpack_from(">6I", log)
    if size not in PAGE_SIZES:
        return
    for start in range(LOG_HEADER, len(log) - FRAME_HEADER - size + 1, FRAME_HEADER + size):
        number, _, *salts = struct.unpack_from(">4I", log, start)
        if salts == [salt1, salt2]:
            yield number, log[start + FRAME_HEADER : start + FRAME_HEADER + size]


def rows_of(pages: dict[int, bytes]) -> Iterator[Row]:
    """Every row that stands in a leaf of a table and can be read whole; from page to page, in any table."""
    for number, page in pages.items():
        start = FILE_HEADER if number == 1 else 0
        if len(page) <= start + 8 or page[start] != TABLE_LEAF:
            continue
        (count,) = struct.unpack_from(">H", page, start + 3)
        for index in range(min(count, (len(page) - start - 8) // 2)):
            (place,) = struct.unpack_from(">H", page, start + 8 + 2 * index)
            with contextlib.suppress(IndexError, ValueError, struct.error):
                yield _row(page, place, pages)


def _row(page: bytes, place: int, pages: dict[int, bytes]) -> Row:
    length, place = _varint(page, place)
    number, place = _varint(page, place)
    if length > MOST_BYTES:
        raise ValueError(f"a row of {length} bytes")
    return number, _values(_payload(page, place, length, pages))


def _payload(page: bytes, place: int, length: int, pages: dict[int, bytes]) -> bytes:
    """The bytes of a row: those in its leaf, then those in the pages that it runs over into."""
    size = len(page)
    most, least = size - 35, (size - 12) * 32 // 255 - 23
    if length <= most:
        here = length
    else:
        rest = least + (length - least) % (size - 4)
        here = rest if rest <= most else least
    parts = [page[place : place + here]]
    if len(parts[0]) < here:
        raise ValueError("a row beyond the end of its page")
    missing = length - here
    (following,) = struct.unpack_from(">I", page, place + here) if missing else (0,)
    while missing > 0:
        more = pages.get(following)
        if more is None:
            raise ValueError(f"a row that runs over into page {following}, which is not there")
        (following,) = struct.unpack_from(">I", more)
        parts.append(more[4 : 4 + missing])
        missing -= len(parts[-1])
    return b"".join(parts)


def _values(record: bytes) -> list[Any]:
    """The columns of a record."""
    header, place = _varint(record, 0)
    kinds = []
    while place < header:
        kind, place = _varint(record, place)
        kinds.append(kind)
    values = []
    for kind in kinds:
        value, place = _value(record, place, kind)
        values.append(value)
    return values


def _value(record: bytes, place: int, kind: int) -> tuple[Any, int]:
    if kind == 0:
        return None, place
    if kind in (8, 9):
        return kind - 8, place
    size = INTEGER_BYTES.get(kind, 8 if kind == 7 else (kind - 12) // 2)
    data = record[place : place + size]
    if size < 0 or len(data) < size:
        raise ValueError("a record shorter than its columns")
    if kind == 7:
        return struct.unpack(">d", data)[0], place + size
    if kind in INTEGER_BYTES:
        return int.from_bytes(data, "big", signed=True), place + size
    return (data.decode() if kind % 2 else data), place + size


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number of one to nine bytes, and the place after it."""
    number = 0
    for index in range(8):
        byte = data[place + index]
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, place + index + 1
    return number << 8 | data[place + 8], place + 9


def _take_tallies(pages: dict[int, bytes], target: sqlite3.Connection) -> dict[int, int]:
    """Write the whole tallies; their numbers in the damaged store, and here. A number that two rows have tells nothing."""
    numbers: dict[int, int] = {}
    twice: set[int] = set()
    for number, values in rows_of(pages):
        if not _is_tally(values):
            continue
        _, *key, tally = values
        row = target.execute(
            "INSERT INTO tallies (signature, system, image, inputs, code, tally) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET tally = excluded.tally RETURNING id",
            (*key, tally),
        ).fetchone()
        if numbers.setdefault(number, row[0]) != row[0]:
            twice.add(number)
    return {number: here for number, here in numbers.items() if number not in twice}


def _is_tally(values: list[Any]) -> bool:
    """Whether these are the columns of a tally, with its checksum in order."""
    if [type(value) for value in values] != [type(None), str, str, str, bytes, str, bytes]:
        return False
    try:
        unpacked_arrays(values[-1])
    except InputError:
        return False
    return True


def _take_grid(file: Path, target: sqlite3.Connection, numbers: dict[int, int]) -> tuple[int, int, int]:
    """Take over runs and cells as far as SQLite reads them; how many, and how many cells wait for their tally."""
    runs = cells = waiting = 0
    with contextlib.closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as source:
        known = set()
        for row in _readable(source, "runs", "id, signature, code, started, ended, status, about"):
            with contextlib.suppress(InputError):
                description(row[0], row[-1], file)
                target.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", row)
                known.add(row[0])
        runs = len(known)
        columns = "signature, system, image, run, position, files, tally, reason, detail"
        for signature, system, image, run, *rest, tally, reason, detail in _readable(source, "cells", columns):
            if run not in known or not _named(rest[-1]):
                continue
            kept = _own(target, numbers.get(tally), (signature, system, image))
            cells += 1
            waiting += kept is None and reason is None
            target.execute(
                "INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (signature, system, image, run, *rest, kept, reason, detail),
            )
    return runs, cells, waiting


def _named(files: Any) -> bool:
    """Whether a cell's list of files can be read."""
    try:
        cell_from_text("", "", files)
    except InputError:
        return False
    return True


def _own(target: sqlite3.Connection, tally: int | None, key: tuple[str, str, str]) -> int | None:
    """The tally, if it is that of the cell."""
    query = "SELECT id FROM tallies WHERE id = ? AND signature = ? AND system = ? AND image = ?"
    row = target.execute(query, (tally, *key)).fetchone()
    return row[0] if row else None


def _readable(source: sqlite3.Connection, table: str, columns: str) -> list[tuple[Any, ...]]:
    """The rows from the first on until one cannot be read, and from the last on backwards; each once."""
    found: dict[tuple[Any, ...], None] = {}
    for order in ("", " DESC"):
        keys = "id" if table == "runs" else "signature, system, image"
        by = ", ".join(f"{key}{order}" for key in keys.split(", "))
        with contextlib.suppress(*DAMAGE):
            for row in source.execute(f"SELECT {columns} FROM {table} ORDER BY {by}"):  # noqa: S608 (our own words)
                found[row] = None
    return list(found)
