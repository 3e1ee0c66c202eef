"""An audit: labels, and what they do to systems, from files to findings."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from hyperacuity.audit import (
    AuditProtocol,
    LabelScore,
    StrengthProtocol,
    Strengths,
    SystemAudit,
    ranking_changes,
    rankings,
    strengths,
)
from hyperacuity.audit.benchmark import Change
from hyperacuity.audit.findings import findings
from hyperacuity.audit.trials import MODES, Mode, Skip, Trial, candidates, draw_trial, shuffled, write_trials
from hyperacuity.cards.against import CardLike, card_entries
from hyperacuity.errors import InputError, UsageError
from hyperacuity.evaluation.front import evaluate_inputs, name_of_data
from hyperacuity.evaluation.result import Result
from hyperacuity.kinds import Kind
from hyperacuity.kinds.contours import LABELS, find_labels
from hyperacuity.kinds.finding import named_systems
from hyperacuity.run import Cell, Failure
from hyperacuity.tally import Signature
from hyperacuity.tasks import task

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class AuditFindings:
    """What an audit found."""

    signature: Signature
    labels: LabelScore
    systems: dict[str, SystemAudit]
    changes: list[Change]

    @cached_property
    def rankings(self) -> dict[str, list[str]]:
        """The systems from best to worst under each truth."""
        return rankings(self.systems)

    @cached_property
    def findings(self) -> list[str]:
        """The same in words."""
        return findings(self.labels, self.systems, self.changes)


@dataclass(frozen=True, eq=False)
class Audit(AuditFindings):
    """The findings, and the results they are made of; without systems, the first only."""

    labelled: Result
    evaluated: Result | None

    @property
    def results(self) -> list[Result]:
        """One or two."""
        return [self.labelled, *([] if self.evaluated is None else [self.evaluated])]

    @property
    def failures(self) -> list[Failure]:
        """The images of which the labels, or a system's map, could not be evaluated."""
        return [failure for result in self.results for failure in result.failures]

    @property
    def unpaired(self) -> list[Path]:
        """The files that had no partner."""
        return [path for result in self.results for path in result.unpaired]


def audit(
    truth: str | Path,
    systems: Mapping[str, str | Path] | None = None,
    protocol: AuditProtocol = AuditProtocol(),
    *,
    run: Path | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    against: CardLike | Iterable[CardLike] | None = None,
    progress: bool = True,
    strict: bool = False,
    **reading: Any,
) -> Audit:
    """Ask how far labels can be trusted, and what they do to systems. ``InputError`` when no image can be read.

    ``against`` are cards of audits; ``reading`` says how files are found and read. Both are as in :func:`hyperacuity.evaluate`;
    ``images=`` is a folder of photographs.
    """
    others = card_entries(against)
    if (asked := [one for one in others if not one.optional]) and not systems:
        raise UsageError(f"{asked[0].name}: there is no system to compare with it: `systems={{NAME: DIR}}`")
    label_inputs, inputs = find_labels(named_systems(systems or {}), truth, **reading)
    label_inputs.data = inputs.data = name_of_data(truth, reading.get("split"))
    how: dict[str, Any] = {"run": run, "workers": workers, "cluster": cluster, "progress": progress, "strict": strict}
    labelled = evaluate_inputs(task("strength"), label_inputs, StrengthProtocol(protocol.protocol.tolerance), **how)
    evaluated = evaluate_inputs(task("audit"), inputs, protocol, against=others, **how) if systems else None
    if LABELS not in labelled.scores:
        raise InputError("no image could be read")
    labels: LabelScore = labelled.score(LABELS)
    audits: dict[str, SystemAudit] = {} if evaluated is None else evaluated.scores
    changes = [] if evaluated is None else ranking_changes(audits, evaluated.by_system)
    signature = labelled.signature if evaluated is None or not audits else evaluated.signature
    return Audit(signature, labels, audits, changes, labelled, evaluated)


def make_trials(
    folder: Path, found: Audit, seed: int = 0, workers: int | None = None
) -> tuple[list[Trial], list[Skip]]:
    """Draw a trial of each mode for every system and image, and write them; pictures that give none are listed."""
    if found.evaluated is None:
        return [], []
    trials, skips = draw_trials(found.evaluated.cells, found.evaluated.job.kind, found.systems, seed, workers)
    write_trials(folder, trials, skips)
    log.info("%d trials in %s, %d skipped", len(trials), folder / "trials.csv", len(skips))
    return trials, skips


def draw_trials(
    cells: Iterable[Cell],
    kind: Kind,
    audits: Mapping[str, SystemAudit],
    seed: int = 0,
    workers: int | None = None,
    *,
    progress: bool = False,
) -> tuple[list[Trial], list[Skip]]:
    """A trial of each mode for every cell of the audited systems, shuffled, and what gave none.

    Depends on the seed and the cells, not on ``workers``. The annotators of an image are compared with each other once, for all
    its cells.
    """
    known = [cell for cell in cells if cell.system in audits]
    by_image: dict[tuple[Path, ...], list[Cell]] = {}
    for cell in known:
        by_image.setdefault(cell.truths, []).append(cell)

    def draw(cells: list[Cell]) -> dict[Cell, list[Trial | Skip]]:
        people: Strengths | None = None
        drawn: dict[Cell, list[Trial | Skip]] = {}
        for cell in cells:
            audit = audits[cell.system]
            benchmark = audit.protocol.protocol
            try:
                given = kind.read(cell, benchmark)
                people = people or strengths(given.truths, benchmark.tolerance)
                drawn[cell] = [
                    draw_trial(
                        candidates(
                            given.prediction, given.truths, _threshold(audit, mode), mode, benchmark, people=people
                        ),
                        image=cell.image,
                        system=cell.system,
                        mode=mode,
                        seed=seed,
                    )
                    for mode in MODES
                ]
            except InputError as error:  # has failed its own cell already
                drawn[cell] = [Skip(cell.image, cell.system, mode, str(error)) for mode in MODES]
        return drawn

    console = Console(stderr=True)
    quiet = not (progress and console.is_terminal)
    found: dict[Cell, list[Trial | Skip]] = {}
    with ThreadPoolExecutor(workers) as pool:
        made = pool.map(draw, by_image.values())
        for one in track(made, "drawing trials", len(by_image), console=console, transient=True, disable=quiet):
            found |= one
    drawn = [one for cell in known for one in found[cell]]
    trials = shuffled([one for one in drawn if isinstance(one, Trial)], seed)
    return trials, [one for one in drawn if isinstance(one, Skip)]


def _threshold(audit: SystemAudit, mode: Mode) -> float:
    """Where a system stands in a trial: at its best on all labels in the hard mode, on consensus labels in the easy one."""
    return (audit.all if mode == "hard" else audit.consensus).ods.threshold
