"""Run folders brought together: one grid of systems × images per protocol, wherever its parts were run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

from hyperacuity.errors import UsageError
from hyperacuity.run.jobs import Cell, Failure
from hyperacuity.run.records import EXPECTED, Run, open_run
from hyperacuity.run.store import BySystem
from hyperacuity.tally import BaseProtocol, Signature
from hyperacuity.tasks import Task, task


@dataclass(frozen=True)
class Origin:
    """Origin of a part of a grid: the run folder, how it was made, and a fingerprint of the data."""

    folder: Path
    about: Mapping[str, Any]
    fingerprint: str


@dataclass(frozen=True, eq=False)
class Source:
    """Source of a system's tallies: an open run, signature and system in it, how many there are, and should be."""

    run: Run
    key: tuple[str, str]
    tallies: int
    expected: int | None = None


@dataclass(frozen=True, eq=False)
class Grid:
    """Everything runs hold under one signature. Tallies and cells stay in the runs until they are asked for.

    The runs stay open, so that all that is read is of one moment. ``complete`` adds to a cell what its run does not name.
    ``changed`` says, by system and image, what is no longer as it was evaluated, where somebody looked
    (:func:`~hyperacuity.run.fingerprint.with_changes`); ``new_photographs`` are images whose photograph is another one, which
    ``complete`` takes away, and ``unchecked`` says that there are remote files, which nobody looked at.
    """

    signature: Signature
    sources: Mapping[str, Source]
    failures: tuple[Failure, ...] = ()
    waiting: int = 0
    origins: tuple[Origin, ...] = ()
    complete: Callable[[Cell], Cell] = lambda cell: cell
    changed: Mapping[tuple[str, str], str] = field(default_factory=dict)
    new_photographs: tuple[str, ...] = ()
    unchecked: bool = False

    @property
    def task(self) -> Task[Any, Any, Any]:
        """The benchmark that was run. ``UsageError`` for one that this package does not know."""
        return task(self.signature.task)

    @cached_property
    def protocol(self) -> Any:
        """The protocol that the run recorded. ``UsageError`` if it recorded none, or not the one of its signature."""
        given = self.options.get("protocol")
        if not isinstance(given, Mapping):
            raise UsageError(
                f"the run of {self.signature.task} does not say how it was set up: run it again to report it"
            )
        protocol: BaseProtocol = self.task.protocol.from_dict(given)
        if protocol.signature != self.signature:
            raise UsageError(f"the run says {self.signature}, but was set up as {protocol.signature}")
        return protocol

    @property
    def options(self) -> Mapping[str, Any]:
        """Set-up of the job: its protocol and other options."""
        options: Mapping[str, Any] = self.origins[0].about.get("job", {}) if self.origins else {}
        return options

    @cached_property
    def images(self) -> list[str]:
        """Every image that some system was given, in the order of the runs."""
        return list(dict.fromkeys(image for system in self.sources for image in self._images_of(system)))

    def shared_images(self) -> list[str]:
        """The images that every system with any tally has one of."""
        done = self.tallies()
        each = (set(self._images_of(system, done=True)) for system in done)
        shared = reduce(set.intersection, each) if done else set()
        return [image for image in self.images if image in shared]

    def done_images(self) -> set[str]:
        """The images that some system has a tally of."""
        return {image for system in self.tallies() for image in self._images_of(system, done=True)}

    def _images_of(self, system: str, *, done: bool = False) -> list[str]:
        source = self.sources[system]
        return source.run.images_of(*source.key, done=done)

    def tallies(self) -> BySystem[dict[str, Any]]:
        """The tallies by system and image, read a system at a time. Systems of which every image failed are not among them."""

        def read(system: str) -> dict[str, Any]:
            source = self.sources[system]
            return source.run.tallies(*source.key, self.task.tally_type, self.protocol)

        return BySystem((system for system, source in self.sources.items() if source.tallies), read)

    def tally(self, system: str, image: str) -> Any:
        """The tally of a system on an image; None where there is none."""
        source = self.sources[system]
        return source.run.tally(*source.key, image, self.task.tally_type, self.protocol)

    def cells(self) -> Iterator[Cell]:
        """Every cell, a system's after the other's."""
        for source in self.sources.values():
            yield from map(self.complete, source.run.cells(*source.key))

    def cells_of(self, image: str) -> dict[str, Cell]:
        """The cells of an image, by system."""
        return {
            system: self.complete(cell)
            for system, source in self.sources.items()
            for cell in source.run.cells(*source.key, image)
        }


def gather(folders: Sequence[Path]) -> list[Grid]:
    """Open run folders; protocols stand in the order in which they are met.

    Systems of the same name under one protocol, from different folders, are distinguished by the name of their folder.
    """
    if not folders:
        raise UsageError("there is no run to report: name at least one run folder")
    runs: dict[str, dict[Path, Run]] = {}
    for folder, given in {path.resolve(): path for path in folders}.items():
        run = open_run(given)
        signatures = run.signatures()
        if not signatures:
            raise UsageError(f"{folder}: the run holds no cell yet")
        for signature in signatures:
            runs.setdefault(signature, {})[folder] = run
    return [_grid(signature, found) for signature, found in runs.items()]


def _grid(signature: str, runs: Mapping[Path, Run]) -> Grid:
    states = {folder: run.states(signature) for folder, run in runs.items()}
    count = Counter(system for of in states.values() for system in of)
    sources: dict[str, Source] = {}
    failures: list[Failure] = []
    for folder, run in runs.items():
        names, expected = {}, run.metadata(signature).get(EXPECTED, {})
        for system, state in states[folder].items():
            name = system if count[system] == 1 else f"{system} ({folder.name})"
            while name in sources:
                name += "′"
            names[system] = name
            sources[name] = Source(run, (signature, system), state["done"], expected.get(system))
        failures += [replace(failure, system=names[failure.system]) for failure in run.failures(signature)]
    return Grid(
        Signature.parse(signature),
        sources,
        tuple(failures),
        sum(state["waiting"] for of in states.values() for state in of.values()),
        tuple(Origin(folder, run.metadata(signature), run.fingerprint(signature)) for folder, run in runs.items()),
    )
