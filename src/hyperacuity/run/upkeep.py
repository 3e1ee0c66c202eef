"""Upkeep of run folders: check a store, merge several, drop what no cell refers to, save what is whole of a damaged one."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from hyperacuity.console import printable
from hyperacuity.errors import InputError, UsageError
from hyperacuity.run.jobs import cell_from_text
from hyperacuity.run.pages import pages_of, rows_of
from hyperacuity.run.records import (
    DAMAGE,
    FILE_NAME,
    StoreError,
    check,
    check_companions,
    clear_errors,
    connect_to_read,
    description,
    file_of,
)
from hyperacuity.run.store import open_store
from hyperacuity.tally import Signature, unpacked_arrays
from hyperacuity.tasks import task

MOST_PROBLEMS = 100


@dataclass(frozen=True)
class Health:
    """Result of a check. ``problems`` are sentences, none when the store is sound; unfinished work is not a problem."""

    layout: int
    runs: int
    cells: int
    tallies: int
    failed: int
    waiting: int
    problems: tuple[str, ...]


def check_run(path: Path) -> Health:
    """Read a whole store and say what is wrong with it: the file, the tallies, and what points to what.

    Tallies of known benchmarks are validated, too.

    ``UsageError`` when there is no run; a file that cannot be read at all is a problem like any other.
    """
    file = file_of(path)
    try:
        connection = connect_to_read(file)
    except StoreError as error:
        return Health(0, 0, 0, 0, 0, 0, (str(error),))
    try:
        problems = []
        for problem in _problems(connection, file):
            problems.append(problem)
            if len(problems) == MOST_PROBLEMS:
                problems.append("and more")
                break
        tables = ["runs", "cells", "tallies"]
        tables += ["cells WHERE reason IS NOT NULL", "cells WHERE reason IS NULL AND tally IS NULL"]
        counts = (connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables)  # noqa: S608
        runs, cells, tallies, failed, waiting = counts
        return Health(check(connection, file), runs, cells, tallies, failed, waiting, tuple(problems))
    except DAMAGE as error:
        return Health(0, 0, 0, 0, 0, 0, (*problems, f"{file} is damaged ({error})"))
    finally:
        connection.close()


def _problems(connection: sqlite3.Connection, file: Path) -> Iterator[str]:
    execute = connection.execute

    @cache
    def unpacker(signature: str) -> Callable[[bytes], Any]:
        """Read the tallies under a signature as those of its task, where the run says how that was set up."""
        query = "SELECT id, about FROM runs WHERE signature = ? ORDER BY id DESC"
        with contextlib.suppress(InputError, UsageError, KeyError, TypeError):
            number, text = execute(query, (signature,)).fetchone()
            known, about = task(Signature.parse(signature).task), description(number, text, file)
            return partial(known.tally_type.unpack, protocol=known.protocol.from_dict(about["job"]["protocol"]))
        return unpacked_arrays

    for (line,) in execute("PRAGMA integrity_check"):
        if line != "ok":
            yield f"the file is damaged: {line}"
    for system, image, tally, missing in execute(
        "SELECT cells.system, cells.image, cells.tally, tallies.id IS NULL FROM cells"
        " LEFT JOIN tallies ON tallies.id = cells.tally WHERE cells.tally IS NOT NULL AND (tallies.id IS NULL"
        " OR (tallies.signature, tallies.system, tallies.image) != (cells.signature, cells.system, cells.image))"
    ):
        what = "which is not there" if missing else "which is another cell's"
        yield f"{system}: {image}: points to tally {tally}, {what}"
    for system, image, run in execute("SELECT system, image, run FROM cells WHERE run NOT IN (SELECT id FROM runs)"):
        yield f"{system}: {image}: belongs to run {run}, which is not there"
    for system, image in execute("SELECT system, image FROM cells WHERE tally IS NOT NULL AND reason IS NOT NULL"):
        yield f"{system}: {image}: has a tally and a reason why it has none"
    for signature, system, image, tally in execute("SELECT signature, system, image, tally FROM tallies"):
        try:
            unpacker(signature)(tally if isinstance(tally, bytes) else b"")
        except InputError as error:
            yield f"{system}: {image}: {error} ({signature})"
    for system, image, files in execute("SELECT system, image, files FROM cells"):
        try:
            cell_from_text(system, image, files)
        except InputError as error:
            yield str(error)
    for number, about in execute("SELECT id, about FROM runs"):
        try:
            description(number, about, file)
        except InputError as error:
            yield str(error)


@dataclass(frozen=True)
class Merged:
    """Counts of the runs, cells and tallies that came into a store and were not there before."""

    runs: int
    cells: int
    tallies: int


def merge_runs(sources: Sequence[Path], out: Path) -> Merged:
    """Bring the runs of several folders together in one, which is created if missing and may have runs already.

    A cell that several have keeps a tally before a failure and a failure before nothing; of equals, the later source's. What
    was computed from different files under the same name is refused with ``UsageError``, and then nothing is written; so are
    different tallies of the same files, which means that one of them is damaged.
    """
    files = [file_of(source) for source in sources]
    if any((out / file.name).exists() and file.samefile(out / file.name) for file in files):
        raise UsageError(f"{out} cannot be merged into itself")
    total = Merged(0, 0, 0)
    with open_store(out) as store, store.writing() as target:
        for file in files:
            source = connect_to_read(file)
            try:
                with clear_errors(file):
                    came = _merge(source, target, file)
            finally:
                source.close()
            total = Merged(total.runs + came.runs, total.cells + came.cells, total.tallies + came.tallies)
    return total


def _merge(source: sqlite3.Connection, target: sqlite3.Connection, file: Path) -> Merged:
    runs, (tallies, new) = _merge_runs(source, target, file), _merge_tallies(source, target, file)
    cells = 0
    for signature, system, image, run, position, names, tally, reason, detail in source.execute(
        "SELECT signature, system, image, run, position, files, tally, reason, detail FROM cells"
    ):
        key = (signature, system, image)
        query = "SELECT tally, reason IS NOT NULL FROM cells WHERE signature = ? AND system = ? AND image = ?"
        there = target.execute(query, key).fetchone()
        merged = None if tally is None else tallies[tally]
        if there is not None:
            _refuse_other_inputs(target, there[0], merged, key, file)
            if (there[0] is not None, there[1]) > (merged is not None, reason is not None):
                continue
        target.execute(
            "INSERT OR REPLACE INTO cells (signature, system, image, run, position, files, tally, reason, detail)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*key, runs[run], position, names, merged, reason, detail),
        )
        cells += there is None
    return Merged(len(runs), cells, new)


def _merge_runs(source: sqlite3.Connection, target: sqlite3.Connection, file: Path) -> dict[int, int]:
    """The runs of the source, by their number there: their numbers in the target."""
    numbers: dict[int, int] = {}
    for number, signature, code, started, ended, status, about in source.execute(
        "SELECT id, signature, code, started, ended, status, about FROM runs ORDER BY id"
    ):
        described = json.dumps(
            {**description(number, about, file), "merged from": str(file.absolute())}, ensure_ascii=False
        )
        left = "interrupted" if status == "running" else status
        row = target.execute(
            "INSERT INTO runs (signature, code, started, ended, status, about) VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
            (signature, code, started, ended, left, described),
        ).fetchone()
        numbers[number] = row[0]
    return numbers


def _merge_tallies(source: sqlite3.Connection, target: sqlite3.Connection, file: Path) -> tuple[dict[int, int], int]:
    """The tallies of the source, by their number there: their numbers in the target; how many are new."""
    numbers: dict[int, int] = {}
    new = 0
    for number, *key, tally in source.execute("SELECT id, signature, system, image, inputs, code, tally FROM tallies"):
        query = (
            "SELECT id, tally FROM tallies WHERE signature = ? AND system = ? AND image = ? AND inputs = ? AND code = ?"
        )
        there = target.execute(query, key).fetchone()
        if there is None:
            there = target.execute(
                "INSERT INTO tallies (signature, system, image, inputs, code, tally) VALUES (?, ?, ?, ?, ?, ?)"
                " RETURNING id, tally",
                (*key, tally),
            ).fetchone()
            new += 1
        if there[1] != tally:
            raise UsageError(
                f"{file}: {key[1]}: {key[2]}: another tally of the same files is there already, so one of them is damaged; "
                "ask: hyperacuity run check"
            )
        numbers[number] = there[0]
    return numbers, new


def _refuse_other_inputs(
    target: sqlite3.Connection, first: int | None, second: int | None, key: tuple[str, str, str], file: Path
) -> None:
    if first is None or second is None or first == second:
        return
    inputs = target.execute("SELECT count(DISTINCT inputs) FROM tallies WHERE id IN (?, ?)", (first, second)).fetchone()
    if inputs[0] > 1:
        raise UsageError(f"{file}: {key[1]}: {key[2]}: was computed from other files than the one already there")


@dataclass(frozen=True)
class Swept:
    """Counts of what a clean-up took away, and the size of the file before and after."""

    tallies: int
    files: int
    before: int
    after: int


def sweep_run(folder: Path) -> Swept:
    """Drop the tallies that nobody asks for and the digests of files that no cell names, and free the space.

    Such tallies are those of replaced predictions, of older code and of images that are no longer asked for. They would be
    found again if these came back; after this they are computed again. A cell without a tally, because its run was stopped or
    because it failed, still asks for the tallies that it had: these stay.
    """
    file = file_of(folder)
    before = file.stat().st_size
    with open_store(file.parent) as store:
        with store.writing() as connection:
            tallies = connection.execute(
                "DELETE FROM tallies WHERE id NOT IN (SELECT tally FROM cells WHERE tally IS NOT NULL)"
                " AND (signature, system, image) NOT IN (SELECT signature, system, image FROM cells WHERE tally IS NULL)"
            ).rowcount
            connection.execute("CREATE TEMP TABLE named (path TEXT PRIMARY KEY) WITHOUT ROWID")
            for (text,) in connection.execute("SELECT files FROM cells"):
                paths = [(printable(str(path)),) for path in cell_from_text("", "", text).named_files]
                connection.executemany("INSERT OR IGNORE INTO named VALUES (?)", paths)
            files = connection.execute("DELETE FROM files WHERE path NOT IN (SELECT path FROM named)").rowcount
            connection.execute("DROP TABLE named")
        store.compact()
    return Swept(tallies, files, before, file.stat().st_size)


@dataclass(frozen=True)
class Salvaged:
    """Counts of the tallies, cells and runs that were taken over, and of the cells without their tally."""

    tallies: int
    cells: int
    runs: int
    waiting: int


def salvage_run(folder: Path, out: Path) -> Salvaged:
    """Write the whole tallies of a damaged store to a new run folder, with as much of the grid as can be read.

    A tally carries its own checksum and stands in its row with all that it depends on, so it can be trusted wherever it is, on a
    freed page too (:mod:`hyperacuity.run.pages`). The grid and the history are read through SQLite as far as it gets. They need
    not be whole: the command that made the run asks for its cells again, and takes up the tallies.

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
    """True for the columns of a tally whose checksum holds."""
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
            try:
                cell_from_text(system, image, rest[-1])
            except InputError:
                continue
            if run not in known:
                continue
            query = "SELECT id FROM tallies WHERE id = ? AND signature = ? AND system = ? AND image = ?"
            (kept,) = target.execute(query, (numbers.get(tally), signature, system, image)).fetchone() or (None,)
            cells += 1
            waiting += kept is None and reason is None
            target.execute(
                "INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (signature, system, image, run, *rest, kept, reason, detail),
            )
    return runs, cells, waiting


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
