"""The experiments of Palou & Salembier (2014): depth order from one image, on scenes and labelled photographs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hyperacuity.errors import InputError
from hyperacuity.ordering import OrderingScore, OrderingTally, Outcomes, collect, collect_sweep
from hyperacuity.run.keeping import Kept
from hyperacuity.run.many import Failures, PictureSource, attempt_each
from hyperacuity_papers.common.depth_pictures import LEFT_OUT, Loaded, held_out_pictures, scene_pictures
from hyperacuity_papers.common.sights import kept_sights
from hyperacuity_papers.palou2014.depth_views import AE, CUES, OWNERSHIP, SYSTEMS, TJC, TREE, UCM_TJ
from hyperacuity_papers.palou2014.order_trials import COLUMNS, MatchSums, OrderFindings, OrderSums, examine_kept

PUBLISHED = {"BPT+TJC [17]": 71.3, "UCM+TJC [17]": 69.3, "[9]": 69.1, "[18]": 68.9}
"""Table 1: figure/ground accuracy in per cent, each quoted by the paper from another one."""

SCENES, PHOTOGRAPHS = "scenes", "photographs"

PAPERS = (TREE, OWNERSHIP, AE, UCM_TJ)
"""The systems of the paper that are here: the proposed one, PO, AE and UCM + TJC."""

RULES = ("LDC F(1)", "LDC F(0)", "GDC F(1)", "GDC F(0)")
"""The numbers by which one outcome may be better than another."""


@dataclass(frozen=True, eq=False)
class Palou2014:
    """Results on one set of pictures: accuracies by system and reading, and a score per system over its parameter.

    ``human`` is the score of people against each other, where several labelled each picture. Of ``labellings`` of neighbours,
    ``contradicted`` agree with no order of the regions. ``found`` are the results on each picture.
    """

    name: str
    pictures: Sequence[PictureSource[Loaded]]
    sums: dict[tuple[str, str], OrderSums]
    scores: dict[str, OrderingScore]
    human: OrderingScore | None
    contradicted: int = 0
    labellings: int = 0
    found: Mapping[str, OrderFindings] = field(default_factory=dict)

    @property
    def systems(self) -> list[str]:
        """Those with an accuracy: those that were given the regions first, controls last."""
        names = dict.fromkeys(system for system, _ in self.sums)
        first = (CUES, TJC, UCM_TJ)
        return [*first, *(name for name in names if name not in first)]

    @property
    def signature(self) -> str:
        """The protocol of the scores."""
        return str(next(iter(self.scores.values())).protocol.signature)

    def inconsistency(self, system: str) -> dict[str, float] | None:
        """Shares of a system's contours at its best F(1): consistent, and why the others are not."""
        ldc = self.scores[system].ldc
        if ldc is None or ldc.inconsistency is None or ldc.best.index < 0:
            return None
        why, at = ldc.inconsistency, ldc.best.index
        parts = {
            "consistent": why.consistent,
            "rough direction": why.rough,
            "wrong side": why.wrong_side,
            "no direction": why.undirected,
        }
        matched = max(float(why.matched[at]), 1.0)
        return {name: float(part[at]) / matched for name, part in parts.items()} | {
            "right side": float(why.right_side[at])
        }

    def chosen(self, system: str) -> str:
        """The value of a system's parameter at its best F(1) of LDC in all pictures."""
        score = self.scores[system]
        return score.parameters[score.chosen]

    def outcomes(self, picture: str, system: str, parameter: str | None = None) -> tuple[Outcomes, Outcomes]:
        """Outcomes of contours (LDC) and of pairs of regions (GDC) in one picture; by default at :meth:`chosen`."""
        tallied = self.found[picture].sweeps[system, parameter or self.chosen(system)]
        contours, pairs = tallied.contours, tallied.pairs
        return Outcomes(*contours[:4], recalled_consistent=contours[4], recalled_inconsistent=contours[5]), Outcomes(
            *pairs[:4]
        )

    def marks(self, picture: str, system: str) -> tuple[float, ...]:
        """Worth of a system's outcome in one picture by each of :data:`RULES`."""
        return tuple(float(part.f(beta)) for part in self.outcomes(picture, system) for beta in (1, 0))

    def undecided(self) -> list[str]:
        """The pictures in which no outcome of the paper's systems is the best by all :data:`RULES`."""

        def best_by_all(picture: str) -> bool:
            marks = np.nan_to_num([self.marks(picture, system) for system in PAPERS])
            return bool((marks == marks.max(axis=0)).all(axis=1).any())

        return [picture for picture in self.found if not best_by_all(picture)]

    def matched(self) -> dict[str, MatchSums]:
        """Count the true regions that have a region that stands for them, by level of the hierarchy."""
        sums: dict[str, MatchSums] = {}
        for one in self.found.values():
            for level, more in one.matches.items():
                sums[level] = sums.get(level, MatchSums()).plus(more)
        return sums

    def as_dict(self) -> dict[str, Any]:
        """Return a dict for JSON."""

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
            "systems": {
                name: {**scored(score), "inconsistency": self.inconsistency(name)}
                for name, score in self.scores.items()
            },
            "human": None if self.human is None else {**scored(self.human), **self.human.accuracy},
        }

    def accuracy_rows(self) -> list[tuple[str, ...]]:
        """B-ACC / R-ACC as text, a row per system and a column per reading."""
        sums = {system: [self.sums[system, column] for column in COLUMNS] for system in self.systems}
        return [(name, *(f"{one.bacc:.3f} / {one.racc:.3f}" for one in row)) for name, row in sums.items()]

    def consistency_rows(self) -> list[tuple[str, ...]]:
        """Parameter, local (five numbers) and global depth consistency (three) as text, a row per system."""

        def numbers(part: Any, *names: str) -> list[str]:
            return ["–" if part is None else f"{getattr(part.best, name):.3f}" for name in names]

        rows = []
        for name, score in {**self.scores, **({"people": self.human} if self.human else {})}.items():
            local, whole = numbers(score.ldc, "fmax", "fmin", "ori", "fg"), numbers(score.gdc, "fmax", "fmin", "ori")
            why = self.inconsistency(name) if name in self.scores else None
            side = "–" if why is None else f"{why['right side']:.3f}"
            rows.append((name, score.parameters[score.chosen], *local, side, *whole))
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
                why = part.inconsistency
                unknown = np.full(len(score.parameters), np.nan)
                for reason in ("rough", "wrong_side", "undirected", "right_side"):
                    columns[reason] = unknown if why is None else getattr(why, reason)
                for index, parameter in enumerate(score.parameters):
                    where = {"set": self.name, "system": system, "parameter": parameter, "measure": measure}
                    records.append({**where, **_rounded({name: float(c[index]) for name, c in columns.items()})})
        return records


def _rounded(values: Mapping[str, float]) -> dict[str, str]:
    return {name: f"{value:.5g}" for name, value in values.items()}


@dataclass(frozen=True, eq=False)
class PalouSets:
    """Results on scenes and, where there are labels, on photographs; and the names of figures that were drawn.

    ``failures`` are the pictures that could not be read; ``sights`` is the cache of what systems see in pictures.
    """

    sets: Mapping[str, Palou2014]
    failures: Failures
    figures: tuple[str, ...] = ()
    sights: Kept | None = None

    @property
    def notes(self) -> list[str]:
        """Parts that were left out."""
        return [] if PHOTOGRAPHS in self.sets else [LEFT_OUT]

    def table1(self) -> list[tuple[str, ...]]:
        """Table 1: figure/ground accuracy in per cent, the paper's first, then ours on the last set: at 15° and at 90°."""
        ours = list(self.sets.values())[-1]
        rows: list[tuple[str, ...]] = [(name, f"{value:.1f}", "–", "–", "–") for name, value in PUBLISHED.items()]
        for name, score in ours.scores.items():
            if (why := ours.inconsistency(name)) is not None and score.ldc is not None:
                recall = float(np.atleast_1d(score.ldc.outcomes.recall(1))[score.ldc.best.index])
                numbers = (score.ldc.best.fg, why["right side"], recall)
                rows.append((f"{name}, {ours.name}", "–", *(f"{100 * value:.1f}" for value in numbers)))
        return rows

    def drawn(self, *figures: str) -> PalouSets:
        """Return the results with the names of figures that were drawn."""
        return replace(self, figures=figures)


def palou2014(
    seeds: Iterable[int],
    size: tuple[int, int],
    *,
    bsds: Path | None = None,
    count: int | None = None,
    folder: Path | None = None,
    sights: Path | None = None,
    stand_in: bool = False,
    workers: int | None = None,
) -> PalouSets:
    """Examine the systems on scenes and, where the data exist, on photographs that were never learned from.

    ``bsds`` is the folder of BSDS500 and its figure/ground labels; ``count`` takes the first photographs only, 0 none. What is
    found in each picture is kept in ``folder``, and used again while picture and code are the same; what systems see, for figures
    and for other studies, in ``sights``. A picture that cannot be
    read is left out and named. With ``stand_in``, scenes alone do where a folder was named that lacks the photographs.
    """
    sets = {SCENES: scene_pictures(seeds, size)}
    if photographs := held_out_pictures(bsds, count, stand_in=stand_in):
        sets[PHOTOGRAPHS] = photographs
    results, failures, kept = {}, [], kept_sights(sights)
    for name, pictures in sets.items():
        found: dict[str, OrderFindings] = {}
        for one, result in attempt_each(partial(examine_kept, folder=folder, sights=kept), pictures, workers, name):
            if isinstance(result, InputError):
                failures.append((one.name, str(result)))
            else:
                found[one.name] = result
        if found:
            results[name] = collect_pictures(name, [one for one in pictures if one.name in found], found)
    return PalouSets(results, failures, sights=kept)


def collect_pictures(
    name: str, pictures: Sequence[PictureSource[Loaded]], found: Mapping[str, OrderFindings]
) -> Palou2014:
    """Add up the results on the pictures of a set."""
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
    contradicted = sum(one.contradicted for one in found.values())
    labellings = sum(one.labellings for one in found.values())
    human = collect(people) if people else None
    return Palou2014(name, pictures, sums, scores, human, contradicted, labellings, found)
