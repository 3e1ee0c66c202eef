"""Work on many pictures at a time: threads, failures by name, tallies of a grid, tables as CSV."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from rich.console import Console
from rich.progress import track

from hyperacuity.errors import InputError
from hyperacuity.outputs import write_output
from hyperacuity.run import Cell, Job, Outcome, open_store, run_grid
from hyperacuity.run.jobs import T

Item = TypeVar("Item")
Made = TypeVar("Made")
Failures = list[tuple[str, str]]
"""Names of items that failed, and why."""


@dataclass(frozen=True)
class PictureSource(Generic[Made]):
    """A picture that has not been read yet, with what belongs to it. ``load`` raises ``InputError`` if that fails."""

    name: str
    load: Callable[[], Made]


def each(
    work: Callable[[Item], Made], items: Iterable[Item], workers: int | None, title: str, *, progress: bool = True
) -> Iterator[Made]:
    """Work on all items, several at a time, with a progress bar on a terminal; results in the order of the items."""
    several = list(items)
    console = Console(stderr=True)
    quiet = not (progress and console.is_terminal)
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        found = pool.map(work, several)
        yield from track(found, title, len(several), console=console, transient=True, disable=quiet)


def attempt_each(
    work: Callable[[Item], Made], items: Iterable[Item], workers: int | None, title: str
) -> Iterator[tuple[Item, Made | InputError]]:
    """As :func:`each`, but an item whose data are bad does not stop the others: its error stands in for its result."""

    def attempt(item: Item) -> tuple[Item, Made | InputError]:
        try:
            return item, work(item)
        except InputError as error:
            return item, error

    return each(attempt, items, workers, title)


def tally_cells(job: Job[T], cells: Sequence[Cell], run: Path | None, workers: int | None) -> Outcome[T]:
    """The tallies of a grid, resumed from the run folder if there is one."""
    if run is None:
        return run_grid(job, cells, workers=workers)
    with open_store(run) as store:
        return run_grid(job, cells, store=store, workers=workers)


def failures_of(outcome: Outcome[Any]) -> Failures:
    """List what failed in a grid, as ``system: image`` and the reason."""
    return [(f"{failure.system}: {failure.image}", failure.reason) for failure in outcome.failures]


def write_csv(path: Path, records: Sequence[Mapping[str, Any]]) -> Path:
    """Write records, at least one and all with the same keys, as a CSV file with headings."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    write_output(path, text.getvalue().encode())
    return path
