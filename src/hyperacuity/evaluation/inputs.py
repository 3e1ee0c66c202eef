"""Predictions on one side, truths on the other: which files belong together.

Files are paired system by system, when they are asked for, so that a grid of fifty systems holds one system's list at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import Any, Self

from hyperacuity.console import printable
from hyperacuity.data import PairedFiles, Pairing, load_dataset, pair_folders, pair_truths
from hyperacuity.data.datasets.layouts import LAYOUTS
from hyperacuity.data.datasets.pairing import files_in, stem_of
from hyperacuity.data.remote import display, is_file, is_folder, is_remote
from hyperacuity.errors import HyperacuityError, UsageError, option
from hyperacuity.evaluation.readers import Reader
from hyperacuity.run.job import Cell

MOST_NAMED = 5
"""How many images or files a sentence names."""


@dataclass(frozen=True)
class Found:
    """What was found of a system: its cells, the files without a partner, and the images of the truth that it lacks."""

    cells: list[Cell]
    strangers: list[Path] = field(default_factory=list)
    lone_truths: list[Path] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, pairing: Pairing, cells: list[Cell]) -> Self:
        """The cells that were made of a pairing, and what it left over."""
        return cls(cells, list(pairing.unpaired_predictions), list(pairing.unpaired_truths), list(pairing.missing))

    def gaps(self) -> list[str]:
        """What is missing on either side, in a sentence each."""
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


def annotators_told(counts: Mapping[str, int]) -> str:
    """How many annotators drew each image, the usual number first; few images that have another number are named.

    >>> annotators_told({"a": 5, "b": 5, "c": 4}), annotators_told({"a": 5, "b": 5}), annotators_told({})
    ('annotators per image: 5; 4 of c', 'annotators per image: 5', '')
    """
    if not counts:
        return ""
    images: dict[int, list[str]] = {}
    for image, count in counts.items():
        images.setdefault(count, []).append(image)
    (usual, _), *others = sorted(images.items(), key=lambda item: (-len(item[1]), item[0]))
    told = "".join(f"; {count} of {some(names)}" for count, names in others)
    return f"annotators per image: {usual}{told}"


class Inputs:
    """The grid to evaluate: iterating gives its cells, system by system.

    ``sweeps`` says which cells are one system at several values of a parameter: by system, the name that the cells have for
    each value. ``agree`` completes the protocol by what only the files can tell, and ``data`` is what the data set is called.
    """

    def __init__(self, systems: Mapping[str, Path], pair: Callable[[str, Path], Found], reader: Reader) -> None:
        self.paths, self.reader = dict(systems), reader
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
        """How many images the truth has for a system, those it lacks included."""
        len(self)
        return self._counts[system] + len(self._left[system].missing)

    def gaps(self) -> list[str]:
        """What systems lack and what has no truth, a sentence each; systems that lack the same share one."""
        len(self)
        whose: dict[str, list[str]] = {}
        for system in self.paths:
            for sentence in self._left[system].gaps():
                whose.setdefault(sentence, []).append(system)
        several = len(self.paths) > 1
        return [f"{some(systems)}: {sentence}" if several else sentence for sentence, systems in whose.items()]

    def annotators(self) -> dict[str, int]:
        """How many annotators each image of the first system has; nothing where no image has several."""
        counts = self.reader.annotators(cell for system in self.systems[:1] for cell in self.of(system))
        return counts if max(counts.values(), default=1) > 1 else {}

    def only(self, systems: Iterable[str]) -> Inputs:
        """The same for some systems."""
        chosen = Inputs({name: self.paths[name] for name in systems}, self._pair, self.reader)
        chosen.agree = self.agree
        return chosen

    def images(self) -> Iterator[Cell]:
        """One cell of every image, whichever system's comes first."""
        seen: set[str] = set()
        for cell in self:
            if cell.image not in seen:
                seen.add(cell.image)
                yield cell


def unknown_data(kind: str, name: str) -> UsageError:
    """The error for a truth that is neither there nor a data set; it names the data set that was probably meant, or all."""
    near = get_close_matches(name, LAYOUTS, 1)
    known = f"did you mean {near[0]}?" if near else f"there are {', '.join(LAYOUTS)}"
    return UsageError(f"there is no {kind} {name}, nor a data set of that name; {known}")


class Truths:
    """What TRUTH stands for: a file, a folder, or a known data set, with its photographs."""

    def __init__(
        self, truth: str | Path, *, data: Path | None = None, split: str | None = None, glob: str = "*"
    ) -> None:
        self.name, self.path, self.glob = str(truth), Path(truth), glob
        self.known: dict[str, tuple[Path, ...]] | None = None
        self.pictures: dict[str, Path | None] = {}
        self.inverted = False
        if is_file(self.path) or is_folder(self.path):
            if split is not None:
                raise UsageError(f"{option('split', split)} is for known data sets; {truth} is a path")
            refuse_root(self.path)
            return
        if self.name not in LAYOUTS:
            raise unknown_data("file or folder", self.name)
        dataset = load_dataset(self.name, data, split=split)
        self.inverted = dataset.inverted
        self.known = {sample.name: sample.truths for sample in dataset.samples}
        self.pictures = {sample.name: sample.image for sample in dataset.samples}

    def pair(self, system: str, predictions: Path) -> Found:
        """A system's predictions with their truths."""
        found = pair_files(predictions, self.path, self.known, name=self.name, glob=self.glob)
        pictures = self.pictures
        cells = [Cell(system, p.name, p.prediction, p.truths, picture=pictures.get(p.name)) for p in found.pairs]
        return Found.of(found, cells)


def pair_files(
    predictions: Path, truth: Path, known: Mapping[str, Sequence[Path]] | None, *, name: str, glob: str
) -> Pairing:
    """One file with its truth, or a folder with a folder; of a data set, the truths are ``known``."""
    if not is_file(predictions):
        if known is not None:
            return pair_truths(predictions, known, of=name, glob=glob)
        if is_file(truth):
            raise UsageError(f"{predictions} is a folder, so TRUTH must be one too, not the file {name}")
        return pair_folders(predictions, truth, glob=glob)
    image = stem_of(predictions)
    if known is None and not is_file(truth):
        raise UsageError(f"{predictions} is one file, so TRUTH must be one file too, not {name}")
    truths = (truth,) if known is None else tuple(known.get(image, ()))
    if not truths:
        raise UsageError(f"{name} has no truth of {image}")
    return Pairing((PairedFiles(image, predictions, truths),))


def find_plain(
    kind: type[Reader],
    systems: Mapping[str, Path],
    truth: str | Path,
    *,
    data: Path | None = None,
    split: str | None = None,
    glob: str = "*",
    **reading: Any,
) -> Inputs:
    """Predictions and truths that need nothing else."""
    truths = Truths(truth, data=data, split=split, glob=glob)
    if truths.inverted and hasattr(kind, "invert_truth"):
        reading["invert_truth"] = True
    return Inputs(systems, truths.pair, kind(**reading))


def refuse_root(folder: Path) -> None:
    """``UsageError`` for the root of a data set that has a name, which holds no truths itself."""
    if is_remote(folder) or not folder.is_dir() or files_in(folder, required=False):
        return
    for name, root in product(("bsds500", "uded", "rug"), (folder, folder / "data")):
        try:
            load_dataset(name, root)
        except HyperacuityError:
            continue
        parts = " `split='test'`" if LAYOUTS[name].splits else ""
        raise UsageError(f"{folder} looks like {name.upper()}: use {name} {option('data', root)}{parts}")


def named_systems(given: Mapping[str, str | Path]) -> dict[str, Path]:
    """Systems by name, each a file or folder that is there."""
    systems: dict[str, Path] = {}
    for name, predictions in given.items():
        path = Path(predictions)
        if not is_folder(path) and not is_file(path):
            raise UsageError(f"there is no file or folder {display(path)}")
        systems[printable(name)] = path
    return systems


def name_of(predictions: Path) -> str:
    """What a system is called by default: the name of its folder, or the stem of its file."""
    path = predictions if is_remote(predictions) else predictions.resolve()
    return printable(path.name if is_folder(predictions) else path.stem)
