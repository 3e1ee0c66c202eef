"""The experiments of Palou & Salembier (2014): depth order from one image, on scenes and labelled photographs."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data import read_image
from hyperacuity.data.scenes import make_scene, name_of
from hyperacuity.errors import UsageError
from hyperacuity.maps import LabelMap
from hyperacuity.ordering import Ordering, OrderingScore, Sides, collect, collect_sweep, partition
from hyperacuity.studies.figure_ground import LabelledPhotograph, read_labelled
from hyperacuity.studies.palou_systems import (
    COLUMNS,
    CUES,
    SYSTEMS,
    TJC,
    OrderedPicture,
    OrderFindings,
    OrderSums,
    examine,
)
from hyperacuity.studies.running import each

Loaded = tuple[NDArray[Any], tuple[Ordering, ...], LabelMap]


@dataclass(frozen=True, eq=False)
class Palou2014:
    """What one set of pictures says: accuracies by system and reading, and a score per system over its parameter.

    ``human`` is the score of people against each other, where several labelled each picture.
    """

    name: str
    pictures: Sequence[OrderedPicture]
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
        return next(iter(self.scores.values())).protocol.signature

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
        return [
            {
                "set": self.name,
                "system": system,
                "reading": reading,
                **_rounded({"bacc": sums.bacc, "racc": sums.racc, "boundary length": sums.length, "pairs": sums.pairs}),
            }
            for (system, reading), sums in self.sums.items()
        ]

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
    sets = {"scenes": [OrderedPicture(name_of(seed), partial(_scene, seed, size)) for seed in seeds]}
    if photographs := _photographs(bsds, count):
        sets["photographs"] = photographs
    results = {}
    for name, pictures in sets.items():
        found = each(examine, pictures, workers, name)
        results[name] = collect_pictures(name, pictures, dict(zip((p.name for p in pictures), found, strict=True)))
    return results


def collect_pictures(name: str, pictures: Sequence[OrderedPicture], found: Mapping[str, OrderFindings]) -> Palou2014:
    """Add up what was found in each picture of a set."""
    people = {image: one.people for image, one in found.items() if one.people is not None}
    sums: dict[tuple[str, str], OrderSums] = {}
    for one in found.values():
        for key, more in one.sums.items():
            sums[key] = sums.get(key, OrderSums()).plus(more)
    keys = list(next(iter(found.values())).sweeps)
    scores = {
        system: collect_sweep(
            {
                parameter: {image: one.sweeps[system, parameter] for image, one in found.items()}
                for swept, parameter in keys
                if swept == system
            }
        )
        for system in SYSTEMS
    }
    return Palou2014(name, pictures, sums, scores, collect(people) if people else None)


def _scene(seed: int, size: tuple[int, int]) -> Loaded:
    scene = make_scene(seed, size=size)
    return scene.image, (partition(scene.order, scene.labels),), scene.labels


def _photographs(bsds: Path | None, count: int | None) -> list[OrderedPicture]:
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
    return [OrderedPicture(one.name, partial(_photograph, one)) for one in labelled]


def _photograph(one: LabelledPhotograph) -> Loaded:
    people = tuple(Sides(labels.order, labels.segmentation) for labels in one.people)
    return read_image(one.photograph), people, one.people[0].segmentation
