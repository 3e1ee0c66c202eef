"""The figure/ground benchmark of Maire, Narihira & Yu (2016): Table 1 and Figures 1 and 2, with the systems of this package.

Every system's order is brought by medians onto people's regions, and onto the regions of one system, as the paper does with
those of its network; and each answers for its own regions. Predicted ties are wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperacuity.detect import Orderer, orderer, orderers
from hyperacuity.errors import InputError
from hyperacuity.maps import LabelMap, OrderMap
from hyperacuity.ordering import (
    OrderingScore,
    OrderingTally,
    collect,
    ordering,
    resampled_scores,
    tally_questions,
    transfer,
)
from hyperacuity.ordering.figure_ground import (
    ACCURACIES,
    REACH,
    Neighbours,
    compare_neighbours,
    neighbours,
    with_whole_order,
)
from hyperacuity.ordering.orderings import Ordering, Partition
from hyperacuity.resampling import bootstrap_weights
from hyperacuity.run.many import Failures, PictureSource, each
from hyperacuity.systems.maps import map_folders
from hyperacuity_papers.common.depth_pictures import LEFT_OUT, Loaded, held_out_pictures, scene_pictures
from hyperacuity_papers.common.sights import kept_sights, remember_sights
from hyperacuity_papers.maire2016.figure_ground_table import (
    ONTO,
    OWN,
    PUBLISHED,
    FigureGroundTable,
    KeptMaps,
    table_of_pictures,
)

NETWORK, EMBEDDING = "depth-net", "ae"
"""The systems that stand where the paper has its network, and angular embedding (Maire 2010)."""

COMMON = "common"
SHOWN = 10
"""Number of photographs in the figures, as in the paper."""

RULE = "evenly over the photographs, sorted by the B-ACC of {} on people's regions"

SCENES, SIZE = range(1, 7), (480, 320)
BLOCKS = {ONTO: "people's regions", COMMON: "the regions of {}", OWN: "each system's own regions"}
THEIRS = {ONTO: ONTO, COMMON: OWN}
"""Published column of each block: in the paper both systems are asked about the network's regions."""


class SideSums(NamedTuple):
    """Boundary length whose owner is right, of all: where the owner lies above it, and where the owner is small."""

    lower_right: float = 0.0
    lower: float = 0.0
    small_right: float = 0.0
    small: float = 0.0

    def plus(self, other: SideSums) -> SideSums:
        """The sums of both."""
        return SideSums(*(a + b for a, b in zip(self, other, strict=True)))

    @property
    def below(self) -> float:
        """Accuracy on the lower boundaries of owners; NaN without any."""
        return self.lower_right / self.lower if self.lower else float("nan")

    @property
    def little(self) -> float:
        """Accuracy on the boundaries of small owners."""
        return self.small_right / self.small if self.small else float("nan")


class OwnerSums(NamedTuple):
    """Boundary length of people's regions that has the same owner by a system's order on other regions, of all that has one."""

    same: float = 0.0
    told: float = 0.0


@dataclass(frozen=True, eq=False)
class Maire2016:
    """Results: the table, scores on the regions of the system ``leading``, lower boundaries, and the photographs of the figures.

    ``owners`` are by system and image: people's regions against those of ``leading``. ``name`` is what the pictures are;
    ``folders`` have the systems' maps, ``figures`` the names of the files drawn.
    """

    name: str
    pictures: Sequence[PictureSource[Loaded]]
    table: FigureGroundTable
    leading: str
    common: Mapping[str, Mapping[str, OrderingTally]]
    sides: Mapping[str, SideSums]
    owners: Mapping[str, Mapping[str, OwnerSums]]
    systems: Mapping[str, Orderer]
    folders: Mapping[str, Path]
    figures: tuple[str, ...] = ()

    @property
    def failures(self) -> Failures:
        """The pictures that could not be read."""
        return self.table.failures

    @property
    def notes(self) -> list[str]:
        """Parts that were left out."""
        return [LEFT_OUT] if self.name == "scenes" else []

    def drawn(self, *figures: str) -> Maire2016:
        """Return the results with the names of figures that were drawn."""
        return replace(self, figures=figures)

    def tallies(self, block: str, system: str) -> Mapping[str, OrderingTally]:
        """The tallies of a system in a block, by image; none where it has no regions of its own."""
        if block == COMMON:
            return self.common[system]
        return self.table.tallies[system].get((block, "wrong"), {})

    def score(self, block: str, system: str) -> OrderingScore | None:
        """The score of a system in a block."""
        if block == COMMON:
            return collect(self.common[system]) if self.common.get(system) else None
        return self.table.scores[system].get((block, "wrong"))

    def ahead(self, block: str, first: str, second: str) -> dict[str, float]:
        """Per accuracy, in which share of 1000 resamples of the images the first system is ahead of the second."""
        one, two = self.tallies(block, first), self.tallies(block, second)
        images = [image for image in one if image in two]
        weights = bootstrap_weights(len(images))
        ours, theirs = (resampled_scores([of[image] for image in images], weights) for of in (one, two))
        return {name: float(np.mean(ours[name] > theirs[name])) for name in ACCURACIES}

    def same_owner(self, system: str) -> float:
        """The share of boundary length with the same owner on people's regions and on those of ``leading``."""
        same, told = np.sum(list(self.owners[system].values()), axis=0)
        return float(same / told) if told else float("nan")

    def less_same(self, first: str, second: str) -> float:
        """Share of 1000 resamples of the images in which the first system's :meth:`same_owner` is below the second's."""
        sums = np.array([[self.owners[system][image] for image in self.table.images] for system in (first, second)])
        weights = bootstrap_weights(sums.shape[1])
        shares = [np.divide(*(weights @ of).T) for of in sums]
        return float(np.mean(shares[0] < shares[1]))

    def shown(self) -> list[PictureSource[Loaded]]:
        """The pictures of the figures (:data:`RULE`)."""
        tallies = self.tallies(ONTO, self.leading)
        bacc = {image: collect({image: one}, resamples=0).accuracy["bacc"] for image, one in tallies.items()}
        ranked = sorted((one for one in self.pictures if one.name in bacc), key=lambda one: (bacc[one.name], one.name))
        chosen = np.unique(np.linspace(0, len(ranked) - 1, min(SHOWN, len(ranked))).round().astype(int))
        return [ranked[index] for index in chosen]

    def block_title(self, block: str) -> str:
        """Name the regions of a block."""
        return BLOCKS[block].format(self.leading)

    def rows(self, block: str) -> list[tuple[str, ...]]:
        """Table 1 on these regions as text: the four accuracies of every system, then those published."""
        found: list[tuple[str, ...]] = []
        for name in self.systems:
            if (score := self.score(block, name)) is not None:
                low, high = score.intervals["bacc"]
                numbers = [f"{score.accuracy[measure]:.3f}" for measure in ACCURACIES]
                found.append((name, *numbers, f"{low:.3f} – {high:.3f}"))
        for name, columns in PUBLISHED.items():
            if block in THEIRS:
                numbers = [f"{columns[THEIRS[block]][measure]:.2f}" for measure in ACCURACIES]
                found.append((f"{name}, published", *numbers, ""))
        return found

    def records(self) -> list[dict[str, Any]]:
        """One record per block, system and measure."""
        found = []
        for block in BLOCKS:
            for name in self.systems:
                if (score := self.score(block, name)) is None:
                    continue
                for measure in ACCURACIES:
                    low, high = score.intervals[measure]
                    where = {
                        "pictures": self.name,
                        "regions": self.block_title(block),
                        "system": name,
                        "measure": measure,
                    }
                    numbers = {"value": f"{score.accuracy[measure]:.5g}", "low": f"{low:.5g}", "high": f"{high:.5g}"}
                    published = next(iter(PUBLISHED.values())) if name == NETWORK else list(PUBLISHED.values())[-1]
                    known = name in (NETWORK, EMBEDDING) and block in THEIRS
                    theirs = f"{published[THEIRS[block]][measure]:g}" if known else ""
                    found.append({**where, **numbers, "paper": theirs, "images": str(score.images)})
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return a dict for JSON."""
        blocks = {
            self.block_title(block): {
                name: dict(score.accuracy) for name in self.systems if (score := self.score(block, name)) is not None
            }
            for block in BLOCKS
        }
        sides = {
            name: {"lower boundaries": of.below, "small owners": of.little, "same owner": self.same_owner(name)}
            for name, of in self.sides.items()
        }
        return {
            "pictures": self.name,
            "images": list(self.table.images),
            "blocks": blocks,
            "sides": sides,
            "published": {name: dict(columns) for name, columns in PUBLISHED.items()},
            "shown": [one.name for one in self.shown()],
        }


def available_systems() -> dict[str, Orderer]:
    """List all systems that order depth and can be run here, the network first."""
    names = [name for name in orderers() if name != NETWORK or find_spec("onnxruntime")]
    return {name: orderer(name) for name in sorted(names, key=lambda name: name != NETWORK)}


def maire2016(
    folder: Path,
    *,
    data: Path | None = None,
    count: int | None = None,
    systems: Mapping[str, Orderer] | None = None,
    sights: Path | None = None,
    stand_in: bool = False,
    workers: int | None = None,
) -> Maire2016:
    """Run the benchmark on the photographs held out, or on scenes where there are none.

    What each system makes of each picture is kept in ``folder/maps`` and used again for the same picture, system and code; what
    another study has seen in it is taken from ``sights``. A picture that cannot be read is left out and named; if none can,
    that is ``InputError``. Scenes take the place of photographs that a named folder lacks with ``stand_in`` only.
    """
    chosen = available_systems() if systems is None else dict(systems)
    name, pictures = "photographs", held_out_pictures(data, count, stand_in=stand_in)
    if not pictures:
        name, pictures = "scenes", scene_pictures(SCENES, SIZE)
    folders = map_folders(chosen, folder / "maps")
    prepare = partial(remember_sights, kept_sights(sights))
    table = table_of_pictures(chosen, pictures, folders=folders, resume=True, prepare=prepare, workers=workers)
    if not table.images:
        raise InputError(f"no picture could be studied; {': '.join(table.failures[0])}")
    leading = NETWORK if NETWORK in chosen else next(iter(chosen))
    good = [one for one in pictures if one.name in table.images]
    common: dict[str, dict[str, OrderingTally]] = {system: {} for system in chosen}
    sides = dict.fromkeys(chosen, SideSums())
    owners: dict[str, dict[str, OwnerSums]] = {system: {} for system in chosen}

    def work(one: PictureSource[Loaded]) -> dict[str, tuple[OrderingTally, SideSums, OwnerSums]]:
        image, truths, regions = one.load()
        people = [with_whole_order(truth) for truth in truths]
        kept = {key: KeptMaps(system, folders[key], one.name, resume=True) for key, system in chosen.items()}
        shared = kept[leading].regions(image)
        orders = {key: ordering(system(image)) for key, system in kept.items()}
        return {
            key: (
                tally_questions(said, people, regions=[shared]),
                sides_of(said, people, regions),
                owners_on(said, people, regions, shared),
            )
            for key, said in orders.items()
        }

    for one, found in zip(good, each(work, good, workers, "common regions"), strict=True):
        for system, (tallied, more, same) in found.items():
            common[system][one.name] = tallied
            sides[system] = sides[system].plus(more)
            owners[system][one.name] = same
    return Maire2016(name, good, table, leading, common, sides, owners, chosen, folders)


def owners_on(said: Ordering, people: Sequence[Ordering], labels: LabelMap, other: LabelMap) -> OwnerSums:
    """Share of the boundaries between people's regions that keep their owner when the order is brought onto other regions.

    Asked is what the benchmark asks: boundaries whose owner the truth knows. On the other regions each crack votes for the side
    in front in the nearest step across it, at most :data:`~hyperacuity.ordering.figure_ground.REACH` pixels away. Boundaries
    without an owner on either regions tell nothing.

    >>> labels = np.array([[0, 0, 0, 1, 1, 1]] * 4, np.int32)
    >>> moved = np.array([[0, 0, 0, 0, 1, 1]] * 4, np.int32)
    >>> owners_on(ordering(1.0 - labels), [ordering(labels.astype(float))], labels, moved)
    OwnerSums(same=4.0, told=4.0)
    """
    beside = neighbours(labels)
    order = said.order if isinstance(said, Partition) else said.sides
    elsewhere = np.sign(beside.add_up(_steps_across(transfer(order, other), beside)))
    count = int(beside.labels.max()) + 1
    same = told = 0.0
    for truth in people:
        asked = compare_neighbours(said, truth, labels)
        moved = elsewhere[np.isin(beside.first * count + beside.second, asked.first * count + asked.second)]
        known = (np.abs(asked.predicted) == 1) & (moved != 0)
        told += float(asked.length[known].sum())
        same += float(asked.length[known & (asked.predicted == moved)].sum())
    return OwnerSums(same, told)


def _steps_across(order: OrderMap, beside: Neighbours) -> NDArray[np.float64]:
    """Per crack, +1 where the nearest step of an order across it has the pair's first region in front, −1 the second, or 0."""
    here, there = (np.stack(np.unravel_index(at, order.shape)) for at in (beside.here, beside.there))
    limits = np.array(order.shape)[:, np.newaxis] - 1
    found = np.zeros(beside.here.size)
    for away in range(REACH + 1):
        near, far = (
            order[tuple(np.clip(at, 0, limits))] for at in (here - away * (there - here), there + away * (there - here))
        )
        found = np.where(found == 0, np.nan_to_num(np.sign(near - far)), found)
    first = beside.labels.ravel()[beside.here] == beside.first[beside.pair]
    return np.where(first, found, -found)


def sides_of(said: Ordering, people: Sequence[Ordering], labels: LabelMap) -> SideSums:
    """Accuracy of the owners of boundaries that lie below their owner, and of small owners.

    Small are the regions of at most the picture's median area.

    >>> truth = ordering([[2, 2], [2, 2], [1, 1]])
    >>> sides_of(truth, [truth], truth.labels)
    SideSums(lower_right=2.0, lower=2.0, small_right=0.0, small=0.0)
    """
    beside = neighbours(labels)
    area = np.bincount(beside.labels[beside.labels >= 0])
    little = area <= np.median(area)
    found = SideSums()
    for truth in people:
        asked = compare_neighbours(said, truth, labels)
        front = np.where(asked.true > 0, asked.first, asked.second)
        right = asked.correct()
        lower = _below(beside.labels, asked.first, asked.second, front)
        small = asked.length * little[front]
        sums = (right @ lower, lower.sum(), right @ small, small.sum())
        found = found.plus(SideSums(*map(float, sums)))
    return found


def _below(
    labels: LabelMap, first: NDArray[np.int64], second: NDArray[np.int64], front: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Per question, the cracks of the common boundary above which the region in front lies."""
    count = int(labels.max()) + 1
    upper, lower = labels[:-1].ravel().astype(np.int64), labels[1:].ravel().astype(np.int64)
    known = (upper >= 0) & (lower >= 0) & (upper != lower)
    cracks = np.unique(upper[known] * count + lower[known], return_counts=True)
    behind = first + second - front
    wanted = front * count + behind
    at = np.searchsorted(cracks[0], wanted)
    at = np.minimum(at, max(cracks[0].size - 1, 0))
    if cracks[0].size == 0:
        return np.zeros(front.size)
    return np.where(cracks[0][at] == wanted, cracks[1][at], 0).astype(np.float64)
