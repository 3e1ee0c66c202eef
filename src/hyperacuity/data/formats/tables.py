"""Tables of numbers: CSV with a header line, names in the first column, and comments after ``#``.

Read with the standard library's csv: a table library would not say which cell is wrong, and is no dependency otherwise.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.files import first_line, printable, read_bytes
from hyperacuity.errors import InputError
from hyperacuity.outputs import write_bytes

_MAX_BYTES = 1 << 26
"""Most bytes of a table (64 MiB); a cell takes a few of them in the file and some fifty in memory while it is read."""

_MISSING = {"", "-", "–", "nan", "na", "n/a"}


@dataclass(frozen=True, eq=False)
class NamedTable:
    """Named rows of numbers: ``values[i, j]`` is column ``columns[j]`` of row ``names[i]``; NaN where the cell is empty."""

    names: tuple[str, ...]
    columns: tuple[str, ...]
    values: NDArray[np.float64]

    def column(self, name: str) -> NDArray[np.float64]:
        """One column by name."""
        if name not in self.columns:
            raise InputError(f"there is no column {name}, expected one of {', '.join(self.columns)}")
        column: NDArray[np.float64] = self.values[:, self.columns.index(name)]
        return column


def read_table(path: Path | str) -> NamedTable:
    """Read a table. Lines that start with ``#`` and empty lines are skipped; comma, semicolon or tab separates."""
    path = Path(path)
    data = read_bytes(path)
    if len(data) > _MAX_BYTES:
        raise InputError(f"{path}: is a table of {len(data):,} bytes, more than the limit of {_MAX_BYTES:,}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text, expected a CSV table") from error
    return parse_table(text, str(path))


def parse_table(text: str, name: str) -> NamedTable:
    """The table in a text.

    >>> table = parse_table("# two systems\\nname,bad1,bad2\\nA,1.5,2\\nB,,3e-1\\n", "example")
    >>> table.names, table.columns
    (('A', 'B'), ('bad1', 'bad2'))
    >>> table.values
    array([[1.5, 2. ],
           [nan, 0.3]])
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if len(lines) < 2:
        raise InputError(f"{name}: holds {len(lines)} lines besides comments, expected a header and at least one row")
    # Names may hold the characters that separate, so the most frequent one outside quotes is a guess.
    guess, *others = sorted(",;\t", key=re.sub('"[^"]*"', "", lines[0]).count, reverse=True)
    try:
        return _separated(lines, guess, name)
    except InputError:
        for separator in others:
            with suppress(InputError):
                return _separated(lines, separator, name)
        raise


def _separated(lines: list[str], separator: str, name: str) -> NamedTable:
    """The table in lines whose cells are separated in this way."""
    try:
        header, *rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator)]
    except csv.Error as error:
        raise InputError(f"{name}: is not a CSV table ({first_line(error)})") from error
    if len(header) < 2:
        raise InputError(f"{name}: has one column, expected names and at least one column of numbers")
    if not rows:
        raise InputError(f"{name}: holds no row below its header (is a quote open?)")
    for i, row in enumerate(rows):
        if len(row) != len(header):
            where = printable(row[0]) if row else i + 1
            raise InputError(f"{name}: row {where} has {len(row)} cells, expected {len(header)}")
    values = np.empty((len(rows), len(header) - 1))
    for i, row in enumerate(rows):
        for j, cell in enumerate(row[1:]):
            try:
                values[i, j] = np.nan if cell.lower() in _MISSING else float(cell)
            except ValueError as error:
                what, where = printable(repr(cell)), printable(f"row {row[0]}, column {header[j + 1]}")
                raise InputError(f"{name}: {what} in {where}, is not a number") from error
    for kind, entries in (("row", [row[0] for row in rows]), ("column", header[1:])):
        if repeated := [entry for entry, count in Counter(entries).items() if count > 1]:
            raise InputError(f"{name}: the {kind} {printable(min(repeated))} appears twice")
    return NamedTable(tuple(row[0] for row in rows), tuple(header[1:]), values)


def write_table(path: Path | str, table: NamedTable) -> None:
    """Write a table as CSV; numbers in the shortest form that reads back exactly, NaN as an empty cell."""
    path = Path(path)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["name", *table.columns])
    for name, row in zip(table.names, table.values, strict=True):
        writer.writerow([name, *("" if np.isnan(value) else repr(float(value)) for value in row)])
    write_bytes(path, text.getvalue().encode())
