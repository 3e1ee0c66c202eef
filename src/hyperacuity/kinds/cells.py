"""Cells of a grid of systems and images, and the files they take: what finding yields and jobs read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from hyperacuity.data import Pairing
    from hyperacuity.kinds.base import Kind

MOST_NAMED = 5
"""How many images or files a sentence names."""


@dataclass(frozen=True)
class Cell:
    """One system on one image, and the files it takes: all that a tally may depend on besides the job.

    ``extras`` are further files by role (``nonocc``, ``regions``, …). ``picture`` is the photograph that a report shows; the
    tally does not depend on it, but a run notes what it is, so that no other one is shown with the score. ``meaning`` is what a
    run has its job say of the cell (:class:`~hyperacuity.run.Job`).
    """

    system: str
    image: str
    prediction: Path
    truths: tuple[Path, ...]
    extras: tuple[tuple[str, Path], ...] = ()
    picture: Path | None = None
    meaning: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that the tally depends on."""
        return (self.prediction, *self.truths, *(path for _, path in self.extras))

    @property
    def named_files(self) -> tuple[Path, ...]:
        """Every file of the cell, with the photograph."""
        return self.files if self.picture is None else (*self.files, self.picture)

    def file_of(self, role: str) -> Path | None:
        """The further file of this role, if there is one."""
        return dict(self.extras).get(role)


@dataclass(frozen=True)
class Found:
    """A system's cells, the files without a partner, and the images of the truth that it lacks."""

    cells: list[Cell]
    strangers: list[Path] = field(default_factory=list)
    lone_truths: list[Path] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, pairing: Pairing, cells: list[Cell]) -> Self:
        """The cells that were made of a pairing, and what it left over."""
        return cls(cells, list(pairing.unpaired_predictions), list(pairing.unpaired_truths), list(pairing.missing))

    def gaps(self) -> list[str]:
        """A sentence on what is missing on each side."""
        sentences = []
        if self.missing:
            sentences.append(
                f"{plural(len(self.missing), 'truth has', 'truths have')} no prediction: {some(self.missing)}"
            )
        if self.strangers:
            names = [path.name for path in self.strangers]
            sentences.append(f"{plural(len(names), 'prediction has', 'predictions have')} no truth: {some(names)}")
        return sentences


def plural(count: int, one: str, many: str) -> str:
    """A count with its word.

    >>> plural(1, "file", "files"), plural(3, "file", "files")
    ('1 file', '3 files')
    """
    return f"{count} {one if count == 1 else many}"


def some(names: Sequence[str]) -> str:
    """The first few of many names."""
    return ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")


class Inputs:
    """The grid to evaluate: iterating gives its cells, system by system.

    Files are paired when a system's cells are asked for, so that a grid of fifty systems holds one system's list at a time.
    ``sweeps`` says which cells are one system at several values of a parameter: by system, the name that the cells have for
    each value. ``agree`` completes the protocol by what only the files can tell, and ``data`` is the name of the data set.
    """

    def __init__(self, systems: Mapping[str, Path], pair: Callable[[str, Path], Found], kind: Kind) -> None:
        self.paths, self.kind = dict(systems), kind
        self.sweeps: dict[str, dict[str, str]] = {name: {"": name} for name in systems}
        self.agree: Callable[[Any], Any] = lambda protocol: protocol
        self.data = ""
        self._pair = pair
        self._latest: tuple[str, list[Cell]] = ("", [])
        self._counts: dict[str, int] = {}
        self._left: dict[str, Found] = {}

    @property
    def systems(self) -> list[str]:
        """The names that cells have for their system."""
        return list(self.paths)

    def of(self, system: str) -> list[Cell]:
        """The cells of one system."""
        if self._latest[0] != system:
            found = self._pair(system, self.paths[system])
            self._latest = (system, found.cells)
            self._counts[system] = len(found.cells)
            self._left[system] = replace(found, cells=[])
        return self._latest[1]

    def __iter__(self) -> Iterator[Cell]:
        for system in self.paths:
            yield from self.of(system)

    def __len__(self) -> int:
        return sum(self._counts[system] if system in self._counts else len(self.of(system)) for system in self.paths)

    @property
    def unpaired(self) -> list[Path]:
        """The files that have no partner."""
        len(self)
        return list(dict.fromkeys(p for left in self._left.values() for p in (*left.strangers, *left.lone_truths)))

    def expected(self, system: str) -> int:
        """The number of images that the truth has for a system, those it lacks included."""
        len(self)
        return self._counts[system] + len(self._left[system].missing)

    def gaps(self) -> list[str]:
        """A sentence on each thing that systems lack or that has no truth; systems that lack the same share one."""
        len(self)
        whose: dict[str, list[str]] = {}
        for system in self.paths:
            for sentence in self._left[system].gaps():
                whose.setdefault(sentence, []).append(system)
        several = len(self.paths) > 1
        return [f"{some(systems)}: {sentence}" if several else sentence for sentence, systems in whose.items()]

    def annotators(self) -> dict[str, int]:
        """The number of annotators of each image of the first system; nothing where no image has several."""
        counts = self.kind.annotators(cell for system in self.systems[:1] for cell in self.of(system))
        return counts if max(counts.values(), default=1) > 1 else {}

    def only(self, systems: Iterable[str]) -> Inputs:
        """The inputs of some of the systems."""
        chosen = Inputs({name: self.paths[name] for name in systems}, self._pair, self.kind)
        chosen.agree = self.agree
        return chosen

    def images(self) -> Iterator[Cell]:
        """One cell of every image, whichever system's comes first."""
        seen: set[str] = set()
        for cell in self:
            if cell.image not in seen:
                seen.add(cell.image)
                yield cell
