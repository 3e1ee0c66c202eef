"""The experiments of Palou & Salembier (2014): depth order from one image, on scenes and labelled photographs."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data import read_image
from hyperacuity.data.scenes import make_scene, name_of
from hyperacuity.detect.depth.cues import group_of, pair_cues, quantisation_steps
from hyperacuity.detect.depth.orderers import LEVEL, region_tree, shipped_cues
from hyperacuity.detect.depth.ownership import (
    depth_partition,
    integrate,
    lightness,
    order_along_contours,
    probability_of_ownership,
)
from hyperacuity.detect.depth.region_depths import depth_of_regions
from hyperacuity.detect.net.sight import Sight, see
from hyperacuity.errors import UsageError
from hyperacuity.maps import LabelMap, OrderMap
from hyperacuity.ordering import OrderingScore, OrderingTally, collect, collect_sweep, tally, tally_humans
from hyperacuity.ordering.figure_ground import REACH, neighbours, order_of_pairs
from hyperacuity.ordering.orderings import Ordering, Partition, Sides, consecutive, partition, pieces, region_medians
from hyperacuity.regions import Hierarchy
from hyperacuity.studies.figure_ground import LabelledPhotograph, read_labelled
from hyperacuity.studies.running import PictureSource, each

Loaded = tuple[NDArray[Any], tuple[Ordering, ...], LabelMap]
"""An image, who is in front in it according to one or more people, and the regions they were asked about."""

LAMBDAS = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
STEPS = (2, 3, 4, 6, 8, 16)

OWNERSHIP, TREE, CUES, TJC = "ownership", "ownership + tree", "learned cues", "learned cues, tjc"
NETWORK = "network"
"""Left out where the extra ``see`` is not installed."""

ORACLE = "true order, own regions"
"""The ceiling: regions found by machine, ordered by the truth."""

SYSTEMS = (NETWORK, OWNERSHIP, TREE, CUES, TJC, ORACLE)

COLUMNS = tuple(f"{kind} regions, {reading}" for kind in ("true", "own") for reading in ("median", "along"))
"""Regions, and whether the order is read from their medians or along their common border."""


class OrderSums(NamedTuple):
    """Length of boundary whose nearer side is right, of all boundary; pairs of regions that are right, of all."""

    right_length: float = 0.0
    length: float = 0.0
    right_pairs: float = 0.0
    pairs: float = 0.0

    def plus(self, other: OrderSums) -> OrderSums:
        """The sums of both."""
        return OrderSums(*(a + b for a, b in zip(self, other, strict=True)))

    @property
    def bacc(self) -> float:
        """B-ACC; NaN without a question."""
        return self.right_length / self.length if self.length else float("nan")

    @property
    def racc(self) -> float:
        """R-ACC."""
        return self.right_pairs / self.pairs if self.pairs else float("nan")


@dataclass(frozen=True, eq=False)
class OrderFindings:
    """What was found in one picture; ``people`` only where there are several."""

    people: OrderingTally | None = None
    sums: dict[tuple[str, str], OrderSums] = field(default_factory=dict)
    sweeps: dict[tuple[str, str], OrderingTally] = field(default_factory=dict)


class SystemViews:
    """What the systems make of one picture; each part is computed once, when it is asked for."""

    def __init__(self, image: NDArray[Any]) -> None:
        self.image = image

    @cached_property
    def ownership(self) -> OrderMap:
        """Probability of ownership."""
        return probability_of_ownership(self.image)

    @cached_property
    def tree(self) -> Hierarchy:
        """The hierarchy of the picture's regions."""
        return region_tree(self.image)

    @cached_property
    def network(self) -> Sight | None:
        """What the network sees, where it can be run."""
        return see(self.image) if find_spec("onnxruntime") else None

    def pruned(self, lam: float) -> Partition:
        """Ownership on the tree."""
        return depth_partition(self.ownership, self.tree, lam)

    def quantised(self, steps: int) -> Partition:
        """Ownership, spread within edges and cut into this many depths of equal area."""
        smooth = integrate(self.ownership, self.image)
        cuts = np.quantile(smooth, np.arange(1, steps) / steps)
        return pieces(np.searchsorted(cuts, smooth.ravel()).reshape(smooth.shape).astype(np.float32))

    def ordered(self, regions: LabelMap, *, tjc: bool = False) -> Partition:
        """Regions in the order of the learned cues."""
        weights = shipped_cues().choose("tjc" if tjc else "all")
        groups = {group_of(name) for name in weights.names}
        cues = pair_cues(self.image, regions, groups=groups, ownership=self.ownership)
        return depth_of_regions(cues.beside, weights.advantages(cues))

    def dense(self) -> dict[str, OrderMap]:
        """Ownership, its variants, and controls that know nothing of depth."""
        light = lightness(self.image)
        rows = np.repeat(np.arange(light.shape[0], dtype=np.float32)[:, np.newaxis], light.shape[1], axis=1)
        return {
            **({NETWORK: self.network.order} if self.network else {}),
            OWNERSHIP: self.ownership,
            "ownership, |κ|": probability_of_ownership(self.image, curvature="absolute", smooth=True),
            "ownership, κ < 0": probability_of_ownership(self.image, curvature="concave", smooth=True),
            **{f"{TREE}, λ = {lam:g}": self.pruned(lam).order for lam in LAMBDAS[:4]},
            "control: ownership without curvature": probability_of_ownership(self.image, curvature="none"),
            "control: gradient": np.hypot(*np.gradient(light)).astype(np.float32),
            "control: crack density": quantisation_steps(light),
            "control: lower is nearer": rows,
        }

    def sweeps(self, truth: Ordering) -> Iterator[tuple[str, str, Partition]]:
        """Every system at every value of its parameter."""
        for steps in STEPS:
            yield OWNERSHIP, f"{steps} depths", self.quantised(steps)
        for lam in LAMBDAS:
            yield TREE, f"λ = {lam:g}", self.pruned(lam)
        for level in LEVELS:
            regions = self.tree.at(level)
            yield CUES, f"level {level:g}", self.ordered(regions)
            yield TJC, f"level {level:g}", self.ordered(regions, tjc=True)
            yield ORACLE, f"level {level:g}", truly_ordered(regions, truth)
            if self.network:
                yield NETWORK, f"level {level:g}", partition(self.network.order, self.network.regions(level))


def truly_ordered(regions: LabelMap, truth: Ordering) -> Partition:
    """Regions in the order that the truth gives to neighbours; where it has none they are level."""
    beside = neighbours(regions)
    front = order_of_pairs(truth, beside, reach=REACH)
    return depth_of_regions(beside, front * (np.abs(front) == 1))


def examine(picture: PictureSource[Loaded]) -> OrderFindings:
    """Try all systems on one picture. A truth of labelled contours knows neighbours only; then pairs of regions do not count."""
    image, truths, true_regions = picture.load()
    views = SystemViews(image)
    dense = views.dense()
    found = OrderFindings(tally_humans(truths) if len(truths) > 1 else None)
    for regions, kind, reach in ((true_regions, "true", 0), (views.tree.at(LEVEL), "own", REACH)):
        labels = consecutive(regions)
        beside = neighbours(labels)
        orders = {**dense, CUES: views.ordered(labels).order, TJC: views.ordered(labels, tjc=True).order}
        for truth in truths:
            true = order_of_pairs(truth, beside, reach=reach)
            for system, order in orders.items():
                middle = region_medians(np.asarray(order, np.float32), beside.labels)
                answers = {
                    "median": np.sign(middle[beside.first] - middle[beside.second]),
                    "along": order_along_contours(order, beside),
                }
                for reading, answer in answers.items():
                    key = (system, f"{kind} regions, {reading}")
                    found.sums[key] = found.sums.get(key, OrderSums()).plus(_sums(answer, true, beside.cracks))
    for system, parameter, ordered in views.sweeps(truths[0]):
        found.sweeps[system, parameter] = tally(ordered, truths)
    return found


def _sums(answer: NDArray[Any], true: NDArray[np.int64], length: NDArray[np.float64]) -> OrderSums:
    asked = np.abs(true) == 1
    right = asked & (answer == true)
    return OrderSums(float(length[right].sum()), float(length[asked].sum()), float(right.sum()), float(asked.sum()))


@dataclass(frozen=True, eq=False)
class Palou2014:
    """What was found in one set of pictures: accuracies by system and reading, and a score per system over its parameter.

    ``human`` is the score of people against each other, where several labelled each picture.
    """

    name: str
    pictures: Sequence[PictureSource[Loaded]]
    sums: dict[tuple[str, str], OrderSums]
    scores: dict[str, OrderingScore]
    human: OrderingScore | None

    @property
    def systems(self) -> list[str]:
        """Those with an accuracy: the learned first, controls last."""
        names = dict.fromkeys(system for system, _ in self.sums)
        return [CUES, TJC, *(name for name in names if name not in (CUES, TJC))]

    @property
    def signature(self) -> str:
        """The protocol of the scores."""
        return str(next(iter(self.scores.values())).protocol.signature)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""

        def consistency(part: Any) -> Any:
            best = None if part is None else part.best
            return best and {"fmax": best.fmax, "fmin": best.fmin, "ori": best.ori, "fg": best.fg}

        def scored(score: OrderingScore) -> dict[str, Any]:
            at = score.parameters[score.chosen]
            return {"at": at, "ldc": consistency(score.ldc), "gdc": consistency(score.gdc)}

        return {
            "images": len(self.pictures),
            "signature": self.signature,
            "accuracy": {
                system: {
                    column: {"bacc": self.sums[system, column].bacc, "racc": self.sums[system, column].racc}
                    for column in COLUMNS
                }
                for system in self.systems
            },
            "systems": {name: scored(score) for name, score in self.scores.items()},
            "human": None if self.human is None else {**scored(self.human), **self.human.accuracy},
        }

    def accuracy_rows(self) -> list[tuple[str, ...]]:
        """B-ACC / R-ACC as text, a row per system and a column per reading."""
        sums = {system: [self.sums[system, column] for column in COLUMNS] for system in self.systems}
        return [(name, *(f"{one.bacc:.3f} / {one.racc:.3f}" for one in row)) for name, row in sums.items()]

    def consistency_rows(self) -> list[tuple[str, ...]]:
        """Parameter, local (four numbers) and global depth consistency (three) as text, a row per system."""

        def numbers(part: Any, *names: str) -> list[str]:
            return ["–" if part is None else f"{getattr(part.best, name):.3f}" for name in names]

        rows = []
        for name, score in {**self.scores, **({"people": self.human} if self.human else {})}.items():
            local, whole = numbers(score.ldc, "fmax", "fmin", "ori", "fg"), numbers(score.gdc, "fmax", "fmin", "ori")
            rows.append((name, score.parameters[score.chosen], *local, *whole))
        return rows

    def accuracy_records(self) -> list[dict[str, Any]]:
        """One record per system and reading."""
        records = []
        for (system, reading), of in self.sums.items():
            numbers = {"bacc": of.bacc, "racc": of.racc, "boundary length": of.length, "pairs": of.pairs}
            records.append({"set": self.name, "system": system, "reading": reading, **_rounded(numbers)})
        return records

    def sweep_records(self) -> list[dict[str, Any]]:
        """One record per system, measure and parameter."""
        records = []
        for system, score in self.scores.items():
            for measure, part in (("ldc", score.ldc), ("gdc", score.gdc)):
                if part is None:
                    continue
                o = part.outcomes
                columns = {
                    f"{name}{suffix}": np.atleast_1d(function(beta))
                    for beta, suffix in ((1, ""), (0, "0"))
                    for name, function in (("recall", o.recall), ("precision", o.precision), ("f", o.f))
                }
                columns["accuracy"] = np.atleast_1d(o.accuracy)
                for index, parameter in enumerate(score.parameters):
                    where = {"set": self.name, "system": system, "parameter": parameter, "measure": measure}
                    records.append({**where, **_rounded({name: float(c[index]) for name, c in columns.items()})})
        return records


def _rounded(values: Mapping[str, float]) -> dict[str, str]:
    return {name: f"{value:.5g}" for name, value in values.items()}


def palou2014(
    seeds: Iterable[int], size: tuple[int, int], *, bsds: Path | None, count: int | None, workers: int | None
) -> dict[str, Palou2014]:
    """Examine the systems on scenes and, where the data exist, on photographs that were never learned from.

    ``bsds`` is the folder of BSDS500 and its figure/ground labels; ``count`` takes the first photographs only, 0 none.
    """
    sets = {"scenes": [PictureSource(name_of(seed), partial(_scene, seed, size)) for seed in seeds]}
    if photographs := _photographs(bsds, count):
        sets["photographs"] = photographs
    results = {}
    for name, pictures in sets.items():
        found = each(examine, pictures, workers, name)
        results[name] = collect_pictures(name, pictures, dict(zip((p.name for p in pictures), found, strict=True)))
    return results


def collect_pictures(
    name: str, pictures: Sequence[PictureSource[Loaded]], found: Mapping[str, OrderFindings]
) -> Palou2014:
    """Add up what was found in each picture of a set."""
    people = {image: one.people for image, one in found.items() if one.people is not None}
    sums: dict[tuple[str, str], OrderSums] = {}
    for one in found.values():
        for key, more in one.sums.items():
            sums[key] = sums.get(key, OrderSums()).plus(more)
    sweeps: dict[str, dict[str, dict[str, OrderingTally]]] = {system: {} for system in SYSTEMS}
    for image, one in found.items():
        for (system, parameter), counts in one.sweeps.items():
            sweeps[system].setdefault(parameter, {})[image] = counts
    scores = {system: collect_sweep(sweep) for system, sweep in sweeps.items() if sweep}
    return Palou2014(name, pictures, sums, scores, collect(people) if people else None)


def _scene(seed: int, size: tuple[int, int]) -> Loaded:
    scene = make_scene(seed, size=size)
    return scene.image, (partition(scene.order, scene.labels),), scene.labels


def _photographs(bsds: Path | None, count: int | None) -> list[PictureSource[Loaded]]:
    """The photographs that were held out; none where the data are missing and nobody asked for them."""
    if count == 0:
        return []
    try:
        labelled = read_labelled(bsds, held_out=True, count=count)
    except UsageError as error:
        if bsds is not None:
            raise
        logging.getLogger(__name__).info("scenes only: %s", error)
        return []
    return [PictureSource(one.name, partial(_photograph, one)) for one in labelled]


def _photograph(one: LabelledPhotograph) -> Loaded:
    people = tuple(Sides(labels.order, labels.segmentation) for labels in one.people)
    return read_image(one.photograph), people, one.people[0].segmentation
