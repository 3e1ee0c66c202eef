"""Run folders that are looked at again and again, while others write to them.

A folder is read only when its store has changed, as one moment, by a connection that cannot write and is closed at once: who
writes is never held up. What cannot be read says so in a sentence, and what was read before stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from hyperacuity.errors import HyperacuityError, UsageError
from hyperacuity.run import EXPECTED, Failure, Grid, open_run
from hyperacuity.run.gather import Origin, Source
from hyperacuity.run.records import SystemState, file_of
from hyperacuity.tally import Signature

V = TypeVar("V")
Stamp = tuple[tuple[int, ...], ...]

STORE = "run.sqlite"


@dataclass
class WatchedFolder:
    """A run folder as it was read last. ``problem`` is why it could not be read, in a sentence."""

    path: Path
    label: str
    states: Sequence[SystemState] = ()
    about: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    failures: Mapping[str, Sequence[Failure]] = field(default_factory=dict)
    problem: str = ""
    _stamp: Stamp | None = None

    def look(self) -> bool:
        """Read what has changed; whether anything has."""
        stamp = stamp_of(self.path)
        if stamp == self._stamp:
            return False
        before = (self.states, self.failures, self.problem)
        self._stamp = stamp
        if not stamp:
            self.problem = f"No run in {self.path} yet. The page will update when a job writes to it."
        else:
            self._read()
        return before != (self.states, self.failures, self.problem)

    def _read(self) -> None:
        try:
            with open_run(self.path) as run:
                states = run.system_states()
                signatures = list(dict.fromkeys(state.signature for state in states))
                about = {signature: run.metadata(signature) for signature in signatures}
                failures = {signature: run.failures(signature) for signature in signatures}
        except HyperacuityError as error:
            self.problem = str(error)
            self._stamp = None  # look again, also where the file stays as it is: it may have been busy
        else:
            self.states, self.about, self.failures = states, about, failures
            self.problem = "" if states else f"{self.path}: the run holds no cell yet"

    def expected(self, signature: str, system: str) -> int | None:
        """Number of images a system should have, those without a prediction included, where the run knows."""
        found: int | None = self.about[signature].get(EXPECTED, {}).get(system)
        return found

    def systems(self, signature: str) -> list[str]:
        """The systems that were run under a protocol."""
        return [state.system for state in self.states if state.signature == signature]

    def reading(self, signature: str, systems: Sequence[str], read: Callable[[Grid], V]) -> V:
        """Call ``read`` with the grid of some systems, whose run is open meanwhile."""
        origin = Origin(self.path, self.about[signature], "")
        with open_run(self.path) as run:
            sources = {name: Source(run, (signature, name), 1, self.expected(signature, name)) for name in systems}
            return read(Grid(Signature.parse(signature), sources, origins=(origin,)))


def stamp_of(folder: Path) -> Stamp:
    """Mark of a store that changes when it is written to: size, time and identity of its file and log; empty without a store."""
    try:
        file = file_of(folder)
    except UsageError:
        return ()
    marks = []
    for path in (file, Path(f"{file}-wal")):
        try:
            at = path.stat()
        except OSError:
            continue
        if at.st_size:  # an empty log comes and goes with those who read
            marks.append((at.st_size, at.st_mtime_ns, at.st_ino))
    return tuple(marks)


def watched_folders(paths: Sequence[Path]) -> list[WatchedFolder]:
    """Folders, each once, under the shortest names that tell them apart. ``UsageError`` without any."""
    if not paths:
        raise UsageError("there is no run to watch: name at least one run folder")
    known = {path.resolve(): path for path in paths}
    folders = [path.parent if path.name == STORE else path for path in known]
    labels = ["/".join(folder.parts[-1:]) for folder in folders]
    for parts in range(2, 1 + max(len(folder.parts) for folder in folders)):
        labels = [
            "/".join(folder.parts[-parts:]) if labels.count(label) > 1 else label
            for folder, label in zip(folders, labels, strict=True)
        ]
    return [WatchedFolder(path, label) for path, label in zip(known.values(), labels, strict=True)]
