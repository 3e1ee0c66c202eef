"""Predictions on one side, truths on the other: which files belong together.

Files are paired system by system, when they are asked for, so that a grid of fifty systems holds one system's list at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hyperacuity.data import load_dataset, pair_folders, pair_truths
from hyperacuity.data.datasets.layouts import LAYOUTS
from hyperacuity.data.remote import display, is_file, is_folder, is_remote
from hyperacuity.errors import UsageError
from hyperacuity.evaluation.readers import Reader
from hyperacuity.run.job import Cell

Found = tuple[list[Cell], list[Path]]
"""The cells of a system, and the files that have no partner."""


class Inputs:
    """The grid to evaluate: iterating gives its cells, system by system.

    ``sweeps`` says which cells are one system at several values of a parameter: by system, the name that the cells have for
    each value. ``agree`` completes the protocol by what only the files can tell.
    """

    def __init__(self, systems: Mapping[str, Path], pair: Callable[[str, Path], Found], reader: Reader) -> None:
        self.paths, self.reader = dict(systems), reader
        self.sweeps: dict[str, dict[str, str]] = {name: {"": name} for name in systems}
        self.agree: Callable[[Any], Any] = lambda protocol: protocol
        self._pair = pair
        self._latest: tuple[str, list[Cell]] = ("", [])
        self._counts: dict[str, int] = {}
        self._unpaired: dict[Path, None] = {}

    @property
    def systems(self) -> list[str]:
        """The names that cells have for their system."""
        return list(self.paths)

    def of(self, system: str) -> list[Cell]:
        """The cells of one system."""
        if self._latest[0] != system:
            cells, unpaired = self._pair(system, self.paths[system])
            self._latest = (system, cells)
            self._counts[system] = len(cells)
            self._unpaired.update(dict.fromkeys(unpaired))
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
        return list(self._unpaired)

    def images(self) -> Iterator[Cell]:
        """One cell of every image, whichever system's comes first."""
        seen: set[str] = set()
        for cell in self:
            if cell.image not in seen:
                seen.add(cell.image)
                yield cell


class Truths:
    """What TRUTH stands for: a file, a folder, or a known data set, with its photographs."""

    def __init__(self, truth: str | Path, *, data: Path | None = None, split: str | None = None) -> None:
        self.name, self.path = str(truth), Path(truth)
        self.known: dict[str, tuple[Path, ...]] | None = None
        self.pictures: dict[str, Path | None] = {}
        self.inverted = False
        if is_file(self.path) or is_folder(self.path):
            if split is not None:
                raise UsageError(f"--split {split} is for known data sets; {truth} is a path")
            return
        if self.name not in LAYOUTS:
            raise UsageError(f"there is no file or folder {truth}, nor a data set of that name ({', '.join(LAYOUTS)})")
        dataset = load_dataset(self.name, data, split=split)
        self.inverted = dataset.inverted
        self.known = {sample.name: sample.truths for sample in dataset.samples}
        self.pictures = {sample.name: sample.image for sample in dataset.samples}

    def pair(self, system: str, predictions: Path) -> Found:
        """A system's predictions with their truths."""
        if is_file(predictions):
            if self.known is not None or not is_file(self.path):
                raise UsageError(f"{predictions} is one file, so TRUTH must be one file too, not {self.name}")
            return [Cell(system, predictions.stem, predictions, (self.path,))], []
        if is_file(self.path):
            raise UsageError(f"{predictions} is a folder, so TRUTH must be one too, not the file {self.name}")
        found = (
            pair_folders(predictions, self.path)
            if self.known is None
            else pair_truths(predictions, self.known, of=self.name)
        )
        pictures = self.pictures
        cells = [Cell(system, p.name, p.prediction, p.truths, picture=pictures.get(p.name)) for p in found.pairs]
        return cells, [*found.unpaired_predictions, *found.unpaired_truths]


def find_plain(
    kind: type[Reader],
    systems: Mapping[str, Path],
    truth: str | Path,
    *,
    data: Path | None = None,
    split: str | None = None,
    inverted: bool = False,
    **reading: Any,
) -> Inputs:
    """Predictions and truths that need nothing else. ``inverted``: in the truths, 0 is the edge."""
    truths = Truths(truth, data=data, split=split)
    if inverted or truths.inverted:
        reading["inverted"] = True
    return Inputs(systems, truths.pair, kind(**reading))


def named_systems(given: Mapping[str, str | Path]) -> dict[str, Path]:
    """Systems by name, each a file or folder that is there."""
    systems: dict[str, Path] = {}
    for name, predictions in given.items():
        path = Path(predictions)
        if not is_folder(path) and not is_file(path):
            raise UsageError(f"there is no file or folder {display(path)}")
        systems[name] = path
    return systems


def name_of(predictions: Path) -> str:
    """What a system is called by default: the name of its folder, or the stem of its file."""
    path = predictions if is_remote(predictions) else predictions.resolve()
    return path.name if is_folder(predictions) else path.stem
