"""An audit: labels, and what they do to systems, from files to findings."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
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
from hyperacuity.audit.strength import CLASSES, Shares
from hyperacuity.audit.trials import MODES, Skip, Trial, candidates, draw_trial, shuffled, write_trials
from hyperacuity.boundary import BoundaryScore
from hyperacuity.boundary.task import point_dict
from hyperacuity.cards.against import CardLike, card_entries
from hyperacuity.columns import NOTHING, TextTable
from hyperacuity.errors import InputError, UsageError
from hyperacuity.evaluation.export import new_table, print_text_table
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
    """Findings of an audit, and the numbers behind them."""

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
        """The findings in words."""
        return findings(self.labels, self.systems, self.changes)

    def json(self) -> dict[str, Any]:
        """The audit as plain values."""
        labels, people = self.labels, self.labels.annotators

        def shares(of: Shares) -> dict[str, Any]:
            intervals = {"orphan": of.orphan_interval, "consensus": of.consensus_interval}
            return {"orphan": of.orphan, "consensus": of.consensus, "ci": intervals}

        strong = zip(CLASSES, labels.by_strength, strict=True)
        return {
            "signature": str(self.signature),
            "images": len(labels.images),
            "annotators": {"fewest": min(people), "most": max(people), "maps": sum(people)},
            "share_of_boundaries": shares(labels.boundaries),
            "share_of_pixels": shares(labels.pixels),
            "by_strength": {name: {"boundaries": row[0], "pixels": row[1]} for name, row in strong},
            "by_image": {
                name: {"orphan": of.orphan, "consensus": of.consensus} for name, of in labels.by_image.items()
            },
            "agreement": {"mean": labels.agreement, "matrix": labels.matrix},
            "systems": {name: _system_dict(name, one, self.rankings) for name, one in self.systems.items()},
            "rankings": self.rankings,
            "changes": [vars(change) for change in self.changes],
            "findings": self.findings,
        }

    def table(self, console: Console) -> None:
        """Print the findings, then the numbers behind them."""
        for sentence in self.findings:
            console.print(f"• {sentence}", markup=False)
        tables = [_label_table(self.labels)]
        tables += [_system_table(self.systems)] if self.systems else []
        for table in tables:
            console.print()
            print_text_table(table, console)
        if len(self.systems) > 1:
            console.print()
            console.print(_ranking_table(self.rankings))
        console.print(f"\n{self.signature}", markup=False)


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
                            given.prediction,
                            given.truths,
                            (audit.all if mode == "hard" else audit.consensus).ods.threshold,
                            mode,
                            benchmark,
                            people=people,
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


def _system_dict(name: str, audit: SystemAudit, rankings: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    def ods(of: BoundaryScore) -> dict[str, Any]:
        return point_dict(of.ods) | {"ci": of.ods.interval}

    spread = audit.partial_f
    return {
        "images": len(audit.all.images),
        "all": ods(audit.all),
        "consensus": ods(audit.consensus),
        "partial": {
            kind: {"f": spread[kind][0], "sd": spread[kind][1], "repeats": [ods(score) for score in scores]}
            for kind, scores in audit.partial.items()
        },
        "by_strength": {
            f"{strength:g}": ods(score)
            for strength, score in zip(audit.protocol.strengths, audit.by_strength, strict=True)
        },
        "precision_bonus": vars(audit.bonus),
        "output": {
            "classes": CLASSES,
            "shares": audit.output.shares,
            "unmatched": audit.output.unmatched,
            "spearman": audit.output.spearman,
            "ci": audit.output.interval,
            "spearman_all": audit.output.spearman_all,
        },
        "rank": {truth: order.index(name) + 1 for truth, order in rankings.items()},
    }


def _label_table(labels: LabelScore) -> TextTable:
    def percent(share: float) -> str:
        return NOTHING if share != share else f"{100 * share:.2f} %"

    both = (labels.boundaries, labels.pixels)
    rows = [
        *((name, *map(percent, row)) for name, row in zip(CLASSES, labels.by_strength, strict=True)),
        ("one person only (orphans)", *(percent(of.orphan) for of in both)),
        ("everyone (consensus)", *(percent(of.consensus) for of in both)),
    ]
    return TextTable(("drawn by a share of the annotators",), ("of boundaries", "of pixels"), rows)


def _system_table(systems: Mapping[str, SystemAudit]) -> TextTable:
    kinds = [f"F part, {kind}" for kind in next(iter(systems.values())).partial]
    rows = []
    for name, audit in sorted(systems.items(), key=lambda item: -item[1].all.ods.f):
        parts = [f"{f:.3f}" + ("" if sd != sd else f" ± {sd:.3f}") for f, sd in audit.partial_f.values()]
        both = [f"{v:.3f}" for of in (audit.all.ods, audit.consensus.ods) for v in (of.f, of.precision, of.recall)]
        gain = audit.bonus
        last = [f"{v:.3f}" for v in (gain.precision_any, gain.precision_mean, gain.f_mean, audit.output.spearman)]
        rows.append((name, *both, *parts, *last))
    bonus = ("P any", "P mean", "F mean", "ρ output")
    return TextTable(("system",), ("F all", "P", "R", "F consensus", "P", "R", *kinds, *bonus), rows)


def _ranking_table(rankings: Mapping[str, Sequence[str]]) -> Any:
    """The order of the systems under each truth; in bold, who changes places."""
    table = new_table("order of the systems by", "best first", right=())
    usual = rankings["all"]
    for truth, order in rankings.items():
        names = (escape(name) if order[n] == usual[n] else f"[bold]{escape(name)}[/]" for n, name in enumerate(order))
        table.add_row(truth, " > ".join(names))
    return table
