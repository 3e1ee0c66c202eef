"""Run folders brought together: one grid of systems × images per protocol, wherever its parts were run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hyperacuity.errors import UsageError
from hyperacuity.run.job import Cell, Failure
from hyperacuity.run.records import Run, open_run
from hyperacuity.tally import BaseProtocol, Signature, Task
from hyperacuity.tasks import task


@dataclass(frozen=True)
class Origin:
    """Where a part of a grid comes from: the run folder, how it was made, and a fingerprint of the data."""

    folder: Path
    about: Mapping[str, Any]
    fingerprint: str


@dataclass(frozen=True, eq=False)
class Grid:
    """Everything runs hold under one signature. Tallies are packed until they are asked for."""

    signature: Signature
    packed: Mapping[str, Mapping[str, bytes]]
    cells: Mapping[str, Mapping[str, Cell]]
    failures: tuple[Failure, ...] = ()
    waiting: tuple[tuple[str, str], ...] = ()
    origins: tuple[Origin, ...] = field(default=())

    @property
    def task(self) -> Task[Any, Any, Any]:
        """The benchmark that was run. ``UsageError`` for one that this package does not know."""
        return task(self.signature.task)

    @cached_property
    def protocol(self) -> Any:
        """The protocol that the run recorded. ``UsageError`` if it recorded none, or not the one of its signature."""
        given = self.options.get("protocol")
        if not isinstance(given, Mapping):
            raise UsageError(f"the run of {self.signature} does not say how it was set up: run it again to report it")
        protocol: BaseProtocol = self.task.protocol.from_dict(given)
        if protocol.signature != self.signature:
            raise UsageError(f"the run says {self.signature}, but was set up as {protocol.signature}")
        return protocol

    @property
    def images(self) -> list[str]:
        """Every image that some system was given, in the order of the runs."""
        return list(dict.fromkeys(image for cells in self.cells.values() for image in cells))

    @property
    def options(self) -> Mapping[str, Any]:
        """How the job was set up: its protocol and other options."""
        options: Mapping[str, Any] = self.origins[0].about.get("job", {}) if self.origins else {}
        return options

    def tallies(self) -> dict[str, dict[str, Any]]:
        """The tallies by system and image. Systems of which every image failed are not among them."""
        kind, protocol = self.task.tally_type, self.protocol
        return {
            system: {image: kind.unpack(data, protocol) for image, data in images.items()}
            for system, images in self.packed.items()
            if images
        }

    def shared_images(self) -> list[str]:
        """The images that every system with any tally has one of."""
        done = [images for images in self.packed.values() if images]
        return [image for image in self.images if done and all(image in images for images in done)]


def gather(folders: Sequence[Path]) -> list[Grid]:
    """Read run folders; protocols stand in the order in which they are met.

    Systems of the same name under one protocol, from different folders, are distinguished by the name of their folder.
    """
    if not folders:
        raise UsageError("there is no run to report: name at least one run folder")
    parts: dict[str, list[tuple[Path, Grid]]] = {}
    for folder in dict.fromkeys(path.resolve() for path in folders):
        with open_run(folder) as run:
            signatures = run.signatures()
            if not signatures:
                raise UsageError(f"{folder}: the run holds no cell yet")
            for signature in signatures:
                parts.setdefault(signature, []).append((folder, _read(run, folder, signature)))
    return [_joined(signature, found) for signature, found in parts.items()]


def _read(run: Run, folder: Path, signature: str) -> Grid:
    cells: dict[str, dict[str, Cell]] = {system: {} for system in run.systems(signature)}
    for cell in run.cells(signature):
        cells[cell.system][cell.image] = cell
    return Grid(
        signature=Signature.parse(signature),
        packed={system: run.packed(signature, system) for system in cells},
        cells=cells,
        failures=tuple(run.failures(signature)),
        waiting=tuple(run.waiting(signature)),
        origins=(Origin(folder, run.metadata(signature), run.fingerprint(signature)),),
    )


def _joined(signature: str, parts: Sequence[tuple[Path, Grid]]) -> Grid:
    if len(parts) == 1:
        return parts[0][1]
    count = Counter(system for _, grid in parts for system in grid.packed)
    packed: dict[str, Mapping[str, bytes]] = {}
    cells: dict[str, Mapping[str, Cell]] = {}
    failures: list[Failure] = []
    waiting: list[tuple[str, str]] = []
    for folder, grid in parts:
        names = {}
        for system in grid.packed:
            name = system if count[system] == 1 else f"{system} ({folder.name})"
            while name in packed:
                name += "′"
            names[system] = name
            packed[name], cells[name] = grid.packed[system], grid.cells[system]
        failures += [Failure(names[f.system], f.image, f.reason, f.detail) for f in grid.failures]
        waiting += [(names[system], image) for system, image in grid.waiting]
    origins = tuple(origin for _, grid in parts for origin in grid.origins)
    return Grid(Signature.parse(signature), packed, cells, tuple(failures), tuple(waiting), origins)
