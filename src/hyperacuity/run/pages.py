"""Rows of a damaged SQLite file, read from its pages one by one.

SQLite refuses a file with one bad page, though most of the others are as they were. So pages of the file and of its write-ahead
log are read without the tree above them: every leaf of a table has its rows in it, and a row that runs over into other pages
names them.

The format of pages and records: https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
