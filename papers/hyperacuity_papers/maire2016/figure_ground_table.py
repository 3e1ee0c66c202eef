"""Figure/ground accuracy in three columns that must not be mixed up: what a system was given decides what its numbers mean.

* **image only, onto people's regions**: the system sees the photograph alone; its order comes onto people's regions by medians;
* **own regions**: the system sees the photograph alone, and its own regions are asked about;
* **given people's regions**: the system is handed the regions that people drew, which is half of the answer.

A predicted tie counts as wrong or as half; both are given, since a system with coarse regions ties often.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.data import read_labels, read_order, write_labels, write_order
from hyperacuity.detect import Orderer, orderer, split_names
from hyperacuity.errors import InputError, UsageError, option
from hyperacuity.maps import LabelMap, OrderMap
from hyperacuity.ordering import OrderingScore, OrderingTally, collect, ordering, tally_questions
from hyperacuity.ordering import Protocol as OrderingProtocol
from hyperacuity.ordering.figure_ground import ACCURACIES, Tie, with_whole_order
from hyperacuity.ordering.orderings import Ordering
from hyperacuity.outputs import is_current, output_file, output_folder
from hyperacuity.run.keeping import WRITERS, code_key, key_of, system_key
from hyperacuity.run.many import Failures, PictureSource, attempt_each
from hyperacuity.tally import total
from hyperacuity.train.figure_ground import DEVELOPMENT, LabelledPhotograph, read_labelled
from hyperacuity_papers.common.depth_pictures import Loaded, labelled_pictures

ONTO, OWN, GIVEN = "onto", "own", "given"
COLUMNS = {ONTO: "image only, onto people's regions", OWN: "own regions", GIVEN: "given people's regions"}
TIES: tuple[Tie, ...] = ("wrong", "half")
PEOPLE = "people"
"""The row of one person against the other."""

DENSE = 4
"""Pixels per region, on average, below which a map has no regions of its own."""

OTHER_IMAGES = "other 50 images"
PUBLISHED: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "Affinity CNN (Maire et al. 2016)": {
        ONTO: {"racc": 0.62, "bacc": 0.69, "bacc50": 0.72, "bacc25": 0.73},
        OWN: {"racc": 0.66, "bacc": 0.70, "bacc50": 0.69, "bacc25": 0.67},
    },
    "angular embedding (Maire 2010)": {
        ONTO: {"racc": 0.56, "bacc": 0.58, "bacc50": 0.56, "bacc25": 0.56},
        OWN: {"racc": 0.59, "bacc": 0.62, "bacc50": 0.61, "bacc25": 0.58},
    },
}
"""Table 1 of Maire, Narihira & Yu (2016), supplement: on other images than ours, both on regions of Affinity CNN where they are
a machine's. It does not say how ties count."""

Key = tuple[str, str]
"""A column, and how ties count."""


class DepthSystem(Protocol):
    """Protocol of a system in the table; an :class:`~hyperacuity.detect.Orderer` is one."""

    @property
    def takes_regions(self) -> bool:
        """True if it can be given regions."""

    def __call__(self, image: ArrayLike, labels: ArrayLike | None = None) -> OrderMap:
        """The order of an image, larger = nearer; of these regions, if there are any."""

    def regions(self, image: ArrayLike, order: OrderMap | None = None) -> LabelMap:
        """Return the system's regions; ``order`` is its map of the image, if that is at hand."""


@dataclass(frozen=True, eq=False)
class FigureGroundTable:
    """Scores by system, column and ties, and the tallies of each image; a column that a system cannot fill is missing."""

    images: tuple[str, ...]
    scores: Mapping[str, Mapping[Key, OrderingScore]]
    failures: Failures
    tallies: Mapping[str, Mapping[Key, Mapping[str, OrderingTally]]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return a dict for JSON."""

        def told(score: OrderingScore) -> dict[str, Any]:
            intervals = {name: list(ends) for name, ends in score.intervals.items()}
            signature = str(score.protocol.signature)
            return {**score.accuracy, "intervals": intervals, "images": score.images, "signature": signature}

        systems: dict[str, Any] = {}
        for name, found in self.scores.items():
            for (column, tie), score in found.items():
                systems.setdefault(name, {}).setdefault(column, {})[tie] = told(score)
        published = {name: {"images": OTHER_IMAGES, **columns} for name, columns in PUBLISHED.items()}
        return {"images": list(self.images), "columns": COLUMNS, "systems": systems, "published": published}

    def rows(self) -> list[tuple[str, ...]]:
        """B-ACC / R-ACC as text: a row per system, then those published; per column, ties wrong and ties half."""

        def cell(numbers: Mapping[str, float], digits: int = 3) -> str:
            return f"{numbers['bacc']:.{digits}f} / {numbers['racc']:.{digits}f}"

        found: list[tuple[str, ...]] = [
            (name, *(cell(of[key].accuracy) if key in of else "–" for key in _keys()))
            for name, of in self.scores.items()
        ]
        for name, columns in PUBLISHED.items():
            known = (columns.get(column) if tie == TIES[0] else None for column, tie in _keys())
            found.append(
                (f"{name}, {OTHER_IMAGES}", *("–" if numbers is None else cell(numbers, 2) for numbers in known))
            )
        return found

    def detail_rows(self) -> list[tuple[str, ...]]:
        """Every accuracy, ties wrong, as text: a row per system and column, 95 % intervals of the first two."""
        found: list[tuple[str, ...]] = []
        for name, of in self.scores.items():
            for (column, tie), score in of.items():
                if tie == TIES[0]:
                    ends = {key: f"{low:.3f} – {high:.3f}" for key, (low, high) in score.intervals.items()}
                    text = {key: f"{value:.3f}" for key, value in score.accuracy.items()}
                    both = (text["bacc"], ends["bacc"], text["racc"], ends["racc"])
                    found.append((name, COLUMNS[column], *both, text["bacc50"], text["bacc25"]))
        for name, columns in PUBLISHED.items():
            for column, numbers in columns.items():
                bacc, racc, *rest = (f"{numbers[key]:.2f}" for key in ("bacc", "racc", "bacc50", "bacc25"))
                found.append((f"{name}, {OTHER_IMAGES}", COLUMNS[column], bacc, "", racc, "", *rest))
        return found

    def records(self) -> list[dict[str, Any]]:
        """One record per system, column, ties and measure; those published too, without intervals."""
        found = []
        for name, of in self.scores.items():
            for (column, tie), score in of.items():
                for measure in ACCURACIES:
                    low, high = score.intervals[measure]
                    numbers = {"value": f"{score.accuracy[measure]:.5g}", "low": f"{low:.5g}", "high": f"{high:.5g}"}
                    where = {"system": name, "column": COLUMNS[column], "ties": tie, "measure": measure}
                    found.append({**where, **numbers, "images": str(score.images)})
        for name, columns in PUBLISHED.items():
            for column, given in columns.items():
                for measure, value in given.items():
                    where = {"system": name, "column": COLUMNS[column], "ties": "", "measure": measure}
                    found.append({**where, "value": f"{value:g}", "low": "", "high": "", "images": OTHER_IMAGES})
        return found


def _keys() -> list[Key]:
    return [(column, tie) for column in COLUMNS for tie in TIES]


def named_orderers(names: str) -> dict[str, Orderer]:
    """The orderers in a list with commas, by canonical name.

    >>> list(named_orderers("depth-cues, depth-order(lam=0.1)"))
    ['depth-cues', 'depth-order(lam=0.1)']
    """
    found = [orderer(name) for name in split_names(names)]
    if not found:
        raise UsageError("`names=''` names no system; for example `names='depth-cues,ownership'`")
    return {str(one): one for one in found}


def photographs_of(which: str, data: Path | None, count: int | None = None) -> list[LabelledPhotograph]:
    """Labelled photographs: those held out (``held-out``), or every fifth of those that are learned from (``dev``)."""
    if which not in ("held-out", "dev"):
        raise UsageError(f"{option('images', which)}: expected held-out or dev")
    held_out = which == "held-out"
    return read_labelled(data, held_out=held_out, step=1 if held_out else DEVELOPMENT, count=count)


def figure_ground_table(
    systems: Mapping[str, DepthSystem],
    photographs: Sequence[LabelledPhotograph],
    *,
    folders: Mapping[str, Path] | None = None,
    resume: bool = False,
    workers: int | None = None,
) -> FigureGroundTable:
    """Score systems on labelled photographs in all columns that they can fill; the last row is one person against the other.

    What a system makes of each photograph goes to its folder, if there is one; with ``resume`` what lies there is used.
    """

    return table_of_pictures(systems, labelled_pictures(photographs), folders=folders, resume=resume, workers=workers)


def table_of_pictures(
    systems: Mapping[str, DepthSystem],
    pictures: Sequence[PictureSource[Loaded]],
    *,
    folders: Mapping[str, Path] | None = None,
    resume: bool = False,
    prepare: Callable[[NDArray[Any]], None] | None = None,
    workers: int | None = None,
) -> FigureGroundTable:
    """Make the table from pictures of any kind, such as scenes; ``prepare`` is called with each before the systems look at it."""

    def work(one: PictureSource[Loaded]) -> dict[tuple[str, Key], OrderingTally]:
        image, truths, given = one.load()
        if prepare is not None:
            prepare(image)
        people = [with_whole_order(truth) for truth in truths]
        found = {(PEOPLE, key): tallied for key, tallied in _people(people).items()}
        for name, system in systems.items():
            kept = KeptMaps(system, folders[name], one.name, resume=resume) if folders else system
            found.update({(name, key): tallied for key, tallied in tally_columns(kept, image, people, given).items()})
        return found

    tallies: dict[str, dict[Key, dict[str, OrderingTally]]] = {name: {} for name in (*systems, PEOPLE)}
    failures: Failures = []
    images = []
    for one, found in attempt_each(work, pictures, workers, "figure/ground"):
        if isinstance(found, InputError):
            failures.append((one.name, str(found)))
            continue
        images.append(one.name)
        for (name, key), tallied in found.items():
            tallies[name].setdefault(key, {})[one.name] = tallied
    scores = {name: {key: collect(of) for key, of in columns.items()} for name, columns in tallies.items() if columns}
    return FigureGroundTable(tuple(images), scores, failures, tallies)


def tally_columns(
    system: DepthSystem, image: NDArray[Any], people: Sequence[Ordering], regions: LabelMap
) -> dict[Key, OrderingTally]:
    """The questions of one image in every column that the system can fill, against each person's labels.

    ``regions`` are those that the system is given in the column of that name. A map with nearly as many regions as pixels has
    no regions of its own.
    """
    order = system(image)
    own = system.regions(image, order)
    asked: dict[str, tuple[Ordering, list[LabelMap]]] = {ONTO: (ordering(order), [])}
    if DENSE * (int(own.max()) + 1) <= own.size:
        asked[OWN] = (ordering(order), [own])
    if system.takes_regions:
        asked[GIVEN] = (ordering(system(image, regions)), [])
    return {
        (column, tie): tally_questions(said, people, OrderingProtocol(question_tie=tie), regions=on)
        for column, (said, on) in asked.items()
        for tie in TIES
    }


def _people(people: Sequence[Ordering]) -> dict[Key, OrderingTally]:
    """Score each person against the others, on the regions that these labelled; nothing if there is one person only."""
    turns = [(one, [*people[:turn], *people[turn + 1 :]]) for turn, one in enumerate(people)]
    if len(turns) < 2:
        return {}
    return {
        (GIVEN, tie): total([tally_questions(one, others, OrderingProtocol(question_tie=tie)) for one, others in turns])
        for tie in TIES
    }


@dataclass(frozen=True)
class KeptMaps:
    """A system whose maps of one photograph are kept in a folder: ``image-only/``, ``given/`` and ``regions/``.

    With ``resume``, maps of the same image, system and code that lie there are read rather than made.
    """

    system: DepthSystem
    folder: Path
    photograph: str
    resume: bool = False

    @property
    def takes_regions(self) -> bool:
        """True if the system can be given regions."""
        return self.system.takes_regions

    def __call__(self, image: ArrayLike, labels: ArrayLike | None = None) -> OrderMap:
        """The order, from the file if there is one and it may be used."""
        path = self._path("image-only" if labels is None else "given", "pfm")
        key = self._key(image, labels)
        if self.resume and is_current(path, key):
            return read_order(path)
        found = self.system(image, labels)
        with output_file(path, key=key) as part:
            write_order(part, found)
        return found

    def regions(self, image: ArrayLike, order: OrderMap | None = None) -> LabelMap:
        """The system's own regions, likewise."""
        path, key = self._path("regions", "npy"), self._key(image)
        if self.resume and is_current(path, key):
            return read_labels(path)
        found = self.system.regions(image, order)
        with output_file(path, key=key) as part:
            write_labels(part, found)
        return found

    def _key(self, image: ArrayLike, labels: ArrayLike | None = None) -> str:
        """The key of the system's order of an image, or of regions; its own regions depend on nothing more."""
        code = code_key("hyperacuity.detect.registry", WRITERS)
        given = None if labels is None else np.asarray(labels)
        return key_of(code, system_key(self.system), bool(find_spec("onnxruntime")), np.asarray(image), given)

    def _path(self, kind: str, suffix: str) -> Path:
        return output_folder(self.folder / kind) / f"{self.photograph}.{suffix}"
