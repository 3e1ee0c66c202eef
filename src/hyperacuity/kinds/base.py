"""A kind of data: how predictions and truths are found, read, taken from arrays, checked, compared and described.

A kind is a frozen value with the options that decide what a file means (which way round a truth is drawn, at what level a
hierarchy is cut). A run keeps it as a dictionary with the protocol. Its code is part of what a stored tally depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from hyperacuity.data import Pairing, read_soft
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kinds import arrays
from hyperacuity.maps import SoftMap
from hyperacuity.tally import number

if TYPE_CHECKING:
    from hyperacuity.tasks import Task

MOST_NAMED = 5
"""Images or files that a sentence names, at most."""


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


@dataclass(frozen=True)
class Given:
    """The arguments of a task's ``tally``, besides the protocol."""

    prediction: Any
    truths: list[Any]
    extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Kind:
    """Base of every kind of data.

    A kind says what a prediction and a truth are, and reads them: :meth:`prediction` and :meth:`truths`. All else has a default
    that serves maps H×W in files of equal names. Its fields are the options of reading.

    ``prediction_is`` and ``truth_is`` are nouns for sentences; without a prediction, annotators are compared with each other.
    ``people_are`` is what an image has several of, and ``dimensions`` those of one prediction or truth as an array.
    """

    prediction_is: ClassVar[str] = "map"
    truth_is: ClassVar[str] = "map"
    people_are: ClassVar[str] = "annotator"
    dimensions: ClassVar[int] = 2

    def describe(self) -> str:
        """A sentence on what is compared with what.

        >>> Kind().describe()
        'A prediction is a map, a truth is a map.'
        """
        predicted = f"A prediction is {_a(self.prediction_is)}, a" if self.prediction_is else "A"
        return f"{predicted} truth is {_a(self.truth_is)}."

    # Found in folders.

    def find(
        self,
        systems: Mapping[str, Path],
        truth: str | Path,
        *,
        data: Path | None = None,
        split: str | None = None,
        glob: str = "*",
        **reading: Any,
    ) -> Inputs:
        """Pair the systems' files with truths; keyword-only parameters are the options, ``reading`` the fields of the kind."""
        from hyperacuity.kinds.finding import Truths

        truths = Truths(truth, data=data, split=split, glob=glob)
        return truths.inputs(systems, replace(self, **reading).for_truths(truths))

    def for_truths(self, truths: Any) -> Self:
        """The kind as a known data set has to be read."""
        return self

    # Read from files.

    def prediction(self, cell: Cell, protocol: Any) -> Any:
        """A system's prediction of an image."""
        raise NotImplementedError

    def truths(self, cell: Cell) -> list[Any]:
        """The truths of an image, one per annotator."""
        raise NotImplementedError

    def extras(self, cell: Cell, protocol: Any, given: Given) -> dict[str, Any]:
        """Further arguments of the task's ``tally``, by name."""
        return {}

    def read(self, cell: Cell, protocol: Any) -> Given:
        """Everything of a cell."""
        given = Given(self.prediction(cell, protocol), self.truths(cell))
        return Given(given.prediction, given.truths, self.extras(cell, protocol, given))

    def reading(self) -> dict[str, object]:
        """The parts of the signature on how files were read, where that makes other arrays of the same files."""
        return {}

    def meaning(self, cell: Cell) -> tuple[str, ...]:
        """Whatever decides how a cell's files are read besides their contents, roles and suffixes, and no signature prints.

        Names of files that say what they hold, a table of the data set, a check that was waived: a stored tally is reused where
        these are equal, too.
        """
        return ()

    def annotators(self, cells: Iterable[Cell]) -> dict[str, int]:
        """The number of annotators of each image, without reading what they drew; unreadable files are left out."""
        counts: dict[str, int] = {}
        for cell in cells:
            with suppress(InputError):  # which fails the image's own cell
                counts[cell.image] = self.annotators_of(cell)
        return counts

    def annotators_of(self, cell: Cell) -> int:
        """The number of annotators of one image."""
        return len(cell.truths)

    def to_dict(self) -> dict[str, Any]:
        """The options as JSON can say them."""
        return asdict(self)

    def from_dict(self, options: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`to_dict`; options of another version are left out."""
        return replace(self, **{part.name: options[part.name] for part in fields(self) if part.name in options})

    # Taken from arrays and tensors.

    def batch(self, prediction: Any, protocol: Any) -> list[Any]:
        """The predictions of a batch, or the only one."""
        return arrays.maps(prediction) if self.dimensions == 2 else arrays.several(prediction, self.dimensions)

    def people(self, truths: Any, name: str = "truths") -> list[Any]:
        """The truths of one image, one per annotator."""
        if self.dimensions == 2:
            return arrays.annotators(truths, name)
        return arrays.several(truths, self.dimensions, name)

    def truths_of_images(self, truths: Any, count: int) -> list[Any]:
        """The truths of each of ``count`` images."""
        return arrays.split(truths, count, "truths", self.dimensions + 1)

    def is_one_image(self, given: Any) -> bool:
        """Tell a bare map, or a value of a task's own, from several."""
        if isinstance(given, Mapping) or given is None:
            return False
        if isinstance(given, list | tuple) or hasattr(given, "shape"):
            return arrays.rank(given) == self.dimensions
        return not isinstance(given, Iterable)

    def from_arrays(self, prediction: Any, truths: Any, extras: Mapping[str, Any], protocol: Any) -> list[Given]:
        """The images of an update: one, or those of a batch.

        ``extras`` are given in the way of the prediction: of a batch, one for each image, or a mapping of names to batches;
        numbers and words hold for all. ``InputError`` for arrays of any other form.
        """
        if (prediction is None) == bool(self.prediction_is):
            wanted = (
                _a(self.prediction_is) if self.prediction_is else "None, since annotators are held against each other"
            )
            raise InputError(f"prediction: is {'None' if prediction is None else 'something'}, expected {wanted}")
        prediction = arrays.opened(prediction, "prediction", self.dimensions)
        truths = arrays.opened(truths, "truths", self.dimensions)
        if prediction is None:
            predictions: list[Any] = [None] * (len(truths) if arrays.holds_several_images(truths) else 1)
        else:
            predictions = self.batch(prediction, protocol)
        count = len(predictions)
        of_each = [truths] if count == 1 else self.truths_of_images(truths, count)
        names = ["truths"] if count == 1 else [f"truths of image {number}" for number in range(1, count + 1)]
        return [
            Given(one, self.people(of, name), {key: arrays.extra_of(it, key, n, count) for key, it in extras.items()})
            for n, (one, of, name) in enumerate(zip(predictions, of_each, names, strict=True))
        ]

    # Checked and digested.

    def checked(self, truth: Any, protocol: Any) -> Any:
        """A truth as the benchmark counts it, the same from files and from memory. ``InputError`` for what cannot be right."""
        return truth

    def counted_too(self, cell: Cell, truths: list[Any], protocol: Any) -> Any:
        """Whatever else an image's tally is counted against, such as regions that come with the data; None for nothing."""
        return None

    def counted_too_is(self, protocol: Any) -> str:
        """Words for :meth:`counted_too`, where there is something."""
        return ""


@dataclass(frozen=True)
class SoftKind(Kind):
    """Base of kinds whose predictions are soft maps.

    ``invert_prediction``: 0 is the edge. ``value_range``: the values that stand for no edge and a sure one, where these are not
    the file format's own. ``force``: take files that are almost surely a mistake, such as truths in JPEG.
    """

    prediction_is = "soft map"

    invert_prediction: bool = False
    value_range: tuple[float, float] | None = None
    force: bool = False

    def reading(self) -> dict[str, object]:
        """Parts for files that are read in another way, since the files are the same."""
        return {
            "prediction": "inverted" if self.invert_prediction else None,
            "range": None if self.value_range is None else ",".join(map(number, self.value_range)),
            "checks": "off" if self.force else None,
        }

    def from_dict(self, options: Mapping[str, Any]) -> Self:
        """The inverse of ``to_dict``, also after a way through JSON, which has lists for tuples."""
        found = super().from_dict(options)
        ends = found.value_range
        return found if ends is None else replace(found, value_range=(ends[0], ends[1]))

    def soft(self, path: Path) -> SoftMap:
        """The soft map of a file."""
        return read_soft(path, inverted=self.invert_prediction, value_range=self.value_range, force=self.force)


def _a(noun: str) -> str:
    """A noun with its article; in the plural, without one.

    >>> _a("edge map"), _a("soft map"), _a("class maps")
    ('an edge map', 'a soft map', 'class maps')
    """
    return noun if noun.endswith("s") else f"a{'n' if noun[:1] in 'aeiou' else ''} {noun}"


BUILT_IN = {
    "contours": "contours.ContourKind",
    "labels": "contours.LabelKind",
    "regions": "regions.RegionKind",
    "masks": "masks.MaskKind",
    "orders": "orders.OrderKind",
    "point pairs": "depth.PairKind",
    "depth edges": "depth.DepthEdgeKind",
    "occlusion": "occlusion.OcclusionKind",
    "disparity": "disparity.DisparityKind",
    "views": "disparity.ViewKind",
    "class maps": "class_maps.SemanticKind",
}
"""The class of each kind; loaded when it is asked for."""

ENTRY_POINTS = "hyperacuity.kinds"
"""The group in which installed packages offer theirs: ``horizons = "horizons:HorizonKind"``."""


def kind(name: str) -> Kind:
    """The kind of this name, with its default options. ``UsageError`` when there is none."""
    if name in BUILT_IN:
        module, _, member = BUILT_IN[name].partition(".")
        found: Kind = getattr(import_module(f"hyperacuity.kinds.{module}"), member)()
        return found
    offered = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if name not in offered:
        raise UsageError(f"there is no kind of data {name!r}; there are {', '.join(names())}")
    loaded = offered[name].load()
    return loaded() if isinstance(loaded, type) else loaded  # type: ignore[no-any-return]  # what the package offers


def names() -> list[str]:
    """The names of all kinds."""
    return list(dict.fromkeys((*BUILT_IN, *(point.name for point in entry_points(group=ENTRY_POINTS)))))


def kind_of(task: Task[Any, Any, Any]) -> Kind:
    """The kind of a task's data, with its default options."""
    return kind(task.kind) if isinstance(task.kind, str) else task.kind
