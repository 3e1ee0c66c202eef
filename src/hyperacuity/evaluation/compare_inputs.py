"""Inputs of a comparison: run folders of any task, or a CSV table, and the criteria to compare by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hyperacuity.cards.against import CardEntry
from hyperacuity.cards.rows import with_cards
from hyperacuity.compare import Table, usual_sense
from hyperacuity.compare.criteria import join, table_of
from hyperacuity.data import read_table
from hyperacuity.data.files import warn
from hyperacuity.errors import UsageError, option
from hyperacuity.run.gather import Grid, gather
from hyperacuity.tasks import Vector

TABLES = {".csv", ".tsv", ".txt"}

COVER = "density all"
"""The criterion that says how much of the picture a disparity map covers."""


def read_scores(sources: Sequence[Path], wanted: str | None, against: Sequence[CardEntry] = ()) -> tuple[Table, Vector]:
    """The table to compare by, with the criteria that were asked for, and how its task makes vectors of it.

    Cards ``against`` which runs are compared are further systems.
    """
    for source in sources:
        if not source.exists():
            raise UsageError(f"there is no file or folder {source}")
    if any(source.is_file() and source.suffix.lower() in TABLES for source in sources):
        if len(sources) > 1:
            raise UsageError(f"{len(sources)} inputs, one of them a table: expected one table, or run folders")
        if against:
            raise UsageError(f"{against[0].name}: cards are compared with runs, not with the scores of a table")
        return _csv(sources[0], wanted), "concat"
    return _runs(sources, wanted, against)


def _csv(path: Path, wanted: str | None) -> Table:
    found = read_table(path)
    names = [column.partition(":")[0] for column in found.columns]
    senses = [_sense_of(column) or usual_sense(column) for column in found.columns]
    return _chosen(Table.flat(found.names, names, found.values, senses=senses), wanted)


def _runs(folders: Sequence[Path], wanted: str | None, against: Sequence[CardEntry]) -> tuple[Table, Vector]:
    grids = gather(folders)
    _refuse_mixture(grids)
    grids = with_cards(grids, against)
    judged = {grid.task.name: grid.task.criteria(grid.protocol) for grid in grids}
    names = list(judged[grids[0].task.name].usual) if wanted is None else [name for name, _ in _listed(wanted)]
    used = [grid for grid in grids if set(names) & set(judged[grid.task.name].names)]
    if not used:
        known = ", ".join(name for one in judged.values() for name in one.names)
        raise UsageError(f"{option('criteria', wanted)}: the runs have none of these; they have {known}")
    _refuse_idle(folders, used, grids)
    for grid in used:
        _tell_missing(grid)
    joined = join([table_of(grid.tallies()) for grid in used])
    _tell_holes(joined)
    return _chosen(joined, ",".join(names) if wanted is None else wanted), judged[used[0].task.name].vector


def _refuse_mixture(grids: Sequence[Grid]) -> None:
    by_task: dict[str, list[Grid]] = {}
    for grid in grids:
        by_task.setdefault(grid.task.name, []).append(grid)
    for name, (first, *others) in by_task.items():
        if others:
            apart = "; ".join(first.signature.differences(others[0].signature))
            raise UsageError(
                f"the runs of {name} follow {len(others) + 1} protocols, and their scores cannot be compared: {apart}"
            )


def _refuse_idle(folders: Sequence[Path], used: Sequence[Grid], grids: Sequence[Grid]) -> None:
    """A run that none of the criteria comes from was given by mistake."""
    working = {origin.folder for grid in used for origin in grid.origins}
    for folder in folders:
        if folder.resolve() not in working:
            tasks = ", ".join(dict.fromkeys(grid.task.name for grid in grids))
            raise UsageError(
                f"{folder} has none of the criteria compared by; the runs are of {tasks}, "
                "which are compared together only when `criteria=` names criteria of each"
            )


def _tell_missing(grid: Grid) -> None:
    shared = grid.shared_images()
    for system, source in grid.sources.items():
        if not source.tallies:
            warn(f"{system} has no score and is left out")
        elif left := source.tallies - len(shared):
            warn(f"{left} of the {source.tallies} images of {system} are not compared: not all systems have them")


def _tell_holes(table: Table) -> None:
    """Name the systems whose disparity maps are not dense: their errors mean something else than those of the others."""
    if COVER not in table.criteria:
        return
    least = table.select(criteria=[COVER]).values[:, :, 0].min(axis=1)
    for system, share in zip(table.systems, least.tolist(), strict=True):
        if share < 100:
            warn(
                f"{system} is not dense: on one image {100 - share:.3g} % of the pixels of known truth have no estimate"
            )


def _chosen(table: Table, wanted: str | None) -> Table:
    """The criteria asked for, with the senses asked for."""
    if wanted is None:
        return table
    asked = _listed(wanted)
    chosen = table.select(criteria=[name for name, _ in asked])
    senses = tuple(sense or before for (_, sense), before in zip(asked, chosen.senses, strict=True))
    return replace(chosen, senses=senses)


def _listed(wanted: str) -> list[tuple[str, str | None]]:
    """Names in a list with commas, those in parentheses left alone, each with its sense if one stands behind a colon."""
    parts = [part.strip() for part in re.split(r",(?![^(]*\))", wanted) if part.strip()]
    if not parts:
        raise UsageError("`criteria=` names no criterion")
    return [(part if _sense_of(part) is None else part.rpartition(":")[0], _sense_of(part)) for part in parts]


def _sense_of(name: str) -> str | None:
    sense = name.rpartition(":")[2].strip()
    return sense if ":" in name and sense in ("min", "max") else None


def tolerances(epsilon: str, table: Table) -> list[float]:
    """The value of ``epsilon``: one number for all criteria, or one each."""
    try:
        numbers = [float(part) for part in epsilon.split(",")]
    except ValueError as error:
        raise UsageError(
            f"{option('epsilon', epsilon)}: expected a number, or one per criterion with commas"
        ) from error
    if len(numbers) not in (1, len(table.criteria)):
        raise UsageError(
            f"{option('epsilon', epsilon)}: expected one number or {len(table.criteria)}, one per criterion"
        )
    return numbers if len(numbers) > 1 else numbers * len(table.criteria)
