"""Make cards of run folders, and read what their makers say of a system."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from hyperacuity.cards.card import PEOPLE, About, Card, Made
from hyperacuity.cards.digests import TruthDigests, digests_of_cell, each
from hyperacuity.console import printable
from hyperacuity.data.datasets.layouts import LAYOUTS
from hyperacuity.errors import HyperacuityError, InputError, UsageError, option
from hyperacuity.kinds.base import some
from hyperacuity.run.fingerprint import Digests, changed_truth
from hyperacuity.run.gather import Grid, Source, gather
from hyperacuity.run.jobs import Cell, TaskJob, job_of
from hyperacuity.small_files import read_text

LARGEST_ABOUT = 1_000_000
"""No file about a system has more bytes than this."""

PREDICTED = ("frame ", "class_", "angles")
"""Beginnings of the roles of further files that are part of a prediction."""


def card_of_run(
    folder: Path,
    system: str | None = None,
    *,
    signature: str | None = None,
    about: About | None = None,
    data: str = "",
    people: bool = False,
    workers: int | None = None,
) -> Card:
    """The card of a system of a run folder; of the only one where there is one only.

    Truths are read again for their digests, and must be those that were evaluated. ``signature`` chooses among several protocols,
    by the whole line or a part of it; ``people`` makes the card of the annotators, each held against the others; ``data`` is what
    the data set is called, where the run does not say. ``UsageError`` where the choice is not clear or truths have changed.
    """
    grid = grid_of(folder, signature)
    name = PEOPLE if people else _system_of(grid, system)
    job = job_of(grid)
    tallies = {} if people else dict(grid.tallies().get(name, {}))
    pairs = [pair for pair in evaluated_cells(grid, None if people else name) if people or pair[1].image in tallies]
    truths = recorded_truths(job, pairs, workers=workers)
    if people:
        tallies = people_tallies(job, [cell for _, cell in pairs if cell.image in truths], workers)
    made = _made(grid, data)
    expected = None if people else grid.sources[name].expected
    return card_of(job, name, tallies, truths, about=about, made=made, expected=expected, people=people)


def card_of(
    job: TaskJob, system: str, tallies: Mapping[str, Any], truths: Mapping[str, TruthDigests], **more: Any
) -> Card:
    """The card of a system under its own protocol, where systems are treated each in its own way."""
    own = job.protocol.for_system(system)
    counted = {image: replace(tally, protocol=own) for image, tally in tallies.items()}
    absent = [image for image in counted if image not in truths]
    if absent:
        raise UsageError(f"{system}: the truth of {some(absent)} cannot be read, and a card has its digest")
    about = more.pop("about") or About()
    if (expected := more.get("expected")) is not None:
        more["expected"] = max(expected, len(counted))
    return Card(system, counted, {image: truths[image] for image in counted}, about, **more)


def people_tallies(job: TaskJob, cells: Sequence[Cell], workers: int | None = None) -> dict[str, Any]:
    """The tallies of annotators, each held against the others, of the images that have several."""
    refuse_no_people(job)
    found = zip((cell.image for cell in cells), each("annotators", job.people, cells, workers), strict=True)
    return {image: tally for image, tally in found if tally is not None}


def refuse_no_people(job: TaskJob) -> None:
    if job.task.people is None:
        raise UsageError(f"{job.task.name} does not hold annotators against each other, so people have no card")


def grid_of(folder: Path, signature: str | None = None) -> Grid:
    """The grid of a run under one protocol, chosen by its signature, its task or a part of it, where there are several."""
    grids = gather([folder])
    lines = "; ".join(str(grid.signature) for grid in grids)
    if signature is None:
        if len(grids) > 1:
            raise UsageError(f"{folder} holds {len(grids)} protocols, choose one with `signature=`: {lines}")
        return grids[0]
    chosen = (
        [grid for grid in grids if str(grid.signature) == signature]
        or [grid for grid in grids if grid.signature.task == signature]
        or [grid for grid in grids if signature in str(grid.signature)]
    )
    if len(chosen) != 1:
        found = "several protocols" if chosen else "no protocol"
        raise UsageError(f"{option('signature', signature)}: {folder} has {found} of that name, but {lines}")
    return chosen[0]


def _system_of(grid: Grid, system: str | None) -> str:
    known = list(grid.tallies())
    if system is None and len(known) == 1:
        return known[0]
    named = (
        f"{option('system', system)}: there is no such system"
        if system
        else "a card is of one system: choose with `system=`"
    )
    if system not in known:
        raise UsageError(f"{named}; {f'there are {some_systems(known)}' if known else 'none has a tally'}")
    return system


def some_systems(names: Sequence[str]) -> str:
    """All names of a short list, the first of a long one."""
    return ", ".join(names) if len(names) <= 20 else some(names)


def evaluated_cells(grid: Grid, system: str | None = None) -> list[tuple[Source, Cell]]:
    """The cells of a system with where they lie, or one of every image of any."""
    found: dict[str, tuple[Source, Cell]] = {}
    for source in grid.sources.values() if system is None else [grid.sources[system]]:
        done = set(source.run.images_of(*source.key, done=True))
        for cell in source.run.cells(*source.key):
            if cell.image in done:
                found.setdefault(cell.image, (source, grid.complete(cell)))
    return list(found.values())


def recorded_truths(
    job: TaskJob, cells: Iterable[tuple[Source, Cell]], *, workers: int | None = None
) -> dict[str, TruthDigests]:
    """The digests of the truths of cells that were evaluated. ``UsageError`` where truths are no longer as they were."""
    digests = Digests()
    by_source: dict[int, list[tuple[Source, Cell]]] = {}
    for pair in cells:
        by_source.setdefault(id(pair[0]), []).append(pair)
    found: dict[str, TruthDigests] = {}
    for pairs in by_source.values():
        source, own = pairs[0][0], [cell for _, cell in pairs]
        inputs = source.run.inputs(*source.key)
        recorded = source.run.recorded({path for cell in own for path in cell.files})

        def read(cell: Cell, inputs: Any = inputs, recorded: Any = recorded) -> TruthDigests:
            predicted = {cell.prediction, *(path for role, path in cell.extras if role.startswith(PREDICTED))}
            changed = changed_truth(
                cell, inputs[cell.image], recorded, digests, lambda path: path in cell.truths or path not in predicted
            )
            if changed:
                raise UsageError(f"{changed}: evaluate again, so that scores and truths belong together")
            return digests_of_cell(job, cell)

        found |= dict(zip((cell.image for cell in own), each("truths", read, own, workers), strict=True))
    return found


def _made(grid: Grid, data: str) -> Made:
    """The provenance of a run, without the places of its files on a machine."""
    about = grid.origins[0].about
    command = redact_paths(str(about.get("command", "")))
    versions: Any = about.get("versions") or {}
    return Made(
        data=data or str(about.get("data") or "") or _data_in(command),
        command=command,
        version=str(versions.get("hyperacuity", "")),
        date=str(about.get("started", ""))[:10],
    )


def redact_paths(command: str) -> str:
    """A command line without the places where files lie on a machine: of full paths and addresses, the last part.

    >>> redact_paths("/usr/bin/hyperacuity boundary /home/me/maps bsds500 --system hk=/data/hk")
    'hyperacuity boundary maps bsds500 --system hk=hk'
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    if words and Path(words[0]).name == "__main__.py":
        words[0] = "hyperacuity"
    return printable(shlex.join(_redacted(word) for word in words))


def _redacted(word: str) -> str:
    start, equals, place = word.rpartition("=")
    if re.match(r"([A-Za-z]:)?[\\/]|~|[a-z0-9+.-]+://", place):
        return start + equals + re.split(r"[\\/]", place.rstrip("\\/"))[-1]
    return word


def _data_in(command: str) -> str:
    """The data set that a command names, with its part."""
    words = command.split()
    name = next((word for word in words if word in LAYOUTS), "")
    options = {word[2:]: value for word, value in pairwise(words) if word.startswith("--")}
    return f"{name} {options.get('split', '')}".rstrip() if name else ""


def read_about(path: Path) -> About:
    """Read what makers say of their system from a TOML file. ``InputError`` names the file and the key.

    Keys are ``title``, ``authors`` (a list), ``year``, ``link``, ``licence``, ``description`` and ``bibtex``.
    """
    text = read_text(path, "a few lines of TOML", most=LARGEST_ABOUT)
    try:
        given = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is no TOML ({printable(str(error))})") from error
    known = [part.name for part in fields(About)]
    for key in given:
        if key not in known:
            raise InputError(f"{path}: has the key {key!r}, expected only {', '.join(known)}")
    if not isinstance(given.get("authors", []), list):
        raise InputError(f"{path}: authors is no list, expected a list of names in quotes")
    try:
        return About(**given)
    except HyperacuityError as error:
        raise InputError(f"{path}: {error}") from error
