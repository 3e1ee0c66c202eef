"""``hyperacuity audit``: how far can the labels of a data set be trusted, and what do they do to systems?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperacuity.cli import common
from hyperacuity.cli.options import Cluster, Data, Run, Split, Workers
from hyperacuity.errors import InputError
from hyperacuity.evaluate.audit_inputs import Audited, AuditJob, StrengthJob, audit_inputs
from hyperacuity.evaluate.inputs import evaluate

if TYPE_CHECKING:
    from hyperacuity.audit import AuditTally, LabelScore, SystemAudit
    from hyperacuity.audit.rescoring import Change
    from hyperacuity.audit.trials import Skip, Trial
    from hyperacuity.boundary import Point
    from hyperacuity.run import Cell

PICTURES = 8
"""How many images are drawn with their labels coloured by strength."""


def audit(
    truth: Annotated[
        str,
        typer.Argument(
            metavar="TRUTH", help="Folder of truths, or a known data set such as bsds500.", show_default=False
        ),
    ],
    system: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=DIR", help="A system's soft boundary maps; may be repeated.", show_default=False),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Photographs: for the pictures, and for the names of images.", show_default=False
        ),
    ] = None,
    data: Data = None,
    split: Split = None,
    tolerance: Annotated[float, typer.Option(help="Fraction of the image diagonal.")] = 0.0075,
    thresholds: Annotated[int, typer.Option(min=1, help="How many thresholds between 0 and 1.")] = 99,
    partial: Annotated[int, typer.Option(min=1, help="How many partial truths of each kind, as a control.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Seed of partial labels and trials.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write a page here, and the run to DIR/run unless --run names one.", show_default=False
        ),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write charts and pictures here.", show_default=False)
    ] = None,
    trials: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write trials of the forced-choice experiment here, two per image and system.",
            show_default=False,
        ),
    ] = None,
    run: Run = None,
    workers: Workers = None,
    cluster: Cluster = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of findings.")] = False,
) -> None:
    """Ask how far the labels of a data set can be trusted: who agrees with whom, and what that does to systems.

    Without systems: which share of the boundaries one person drew alone, and which everyone drew. With systems also: precision
    and recall on stronger and stronger labels, the control with an arbitrary part of the labels, what the benchmark's precision
    gives away, whether a system's output tells strength, and whether the order of the systems changes. After Hou, Yuille & Koch
    (2013), Beyond F-measures.

    Example: [bold]hyperacuity audit bsds500 --split test --figures figures[/bold]

    Example: [bold]hyperacuity audit truth --system canny=maps/canny --out audit[/bold]
    """  # fmt: skip
    from hyperacuity.audit import AuditProtocol, collect_audit, collect_strengths, ranking_changes, rankings
    from hyperacuity.audit.findings import findings
    from hyperacuity.boundary import Protocol

    for folder in (figures, trials):
        if folder is not None:
            common.output_folder(folder)
    if figures is not None or out is not None:
        from hyperacuity.report import theme

        theme.require()
    if out is not None:
        run = _place(out, run)
    protocol = AuditProtocol(Protocol(tolerance=tolerance, thresholds=thresholds), repeats=partial, seed=seed)
    found = audit_inputs(truth, system or [], images=images, data=data, split=split)
    label_job, job = StrengthJob(tolerance, found.inverted), AuditJob(protocol, found.inverted)
    drawn = evaluate(label_job, found.labels, run=run, workers=workers, cluster=cluster)
    failures = list(drawn.failures)
    tallies: dict[str, dict[str, AuditTally]] = {}
    if found.systems.cells:
        outcome = evaluate(job, found.systems, run=run, workers=workers, cluster=cluster)
        failures += outcome.failures
        tallies = {name: of for name, of in outcome.tallies.items() if of}
    status = common.tell_failures((f"{f.system}: {f.image}", f.reason) for f in failures)
    if not drawn.tallies["labels"]:
        raise InputError("no image could be read")
    labels = collect_strengths(drawn.tallies["labels"])
    audits = {name: collect_audit(of, protocol) for name, of in tallies.items()}
    result = Result(
        label_job.signature if not audits else protocol.signature,
        labels,
        audits,
        rankings(audits),
        changes := ranking_changes(audits, tallies),
        findings(labels, audits, changes),
    )
    if figures is not None:
        write_figures(figures, result, found)
    if out is not None and run is not None:
        write_page(out, run, [label_job.signature, *([job.signature] if audits else [])], workers)
    if trials is not None:
        make_trials(trials, found, audits, seed, workers)
    if json:
        failed = [{"system": f.system, "image": f.image, "reason": f.reason} for f in failures]
        unpaired = [*found.labels.unpaired, *found.systems.unpaired]
        common.print_json(summary(result) | {"failed": failed, "unpaired": unpaired})
    else:
        print_audit(result)
    raise typer.Exit(status)


@dataclass(frozen=True, eq=False)
class Result:
    """All that an audit found."""

    signature: str
    labels: LabelScore
    systems: dict[str, SystemAudit]
    rankings: dict[str, list[str]]
    changes: list[Change]
    findings: list[str]


def _place(out: Path, run: Path | None) -> Path:
    """The run that a page is made of; a place where no page can be written is refused before hours of work go into it."""
    from hyperacuity.report.pages import RUN, place_of

    return place_of(out, single_file=False).parent / RUN if run is None else run


def write_page(out: Path, run: Path, signatures: Sequence[str], workers: int | None) -> Path:
    """The audit as a page: what a report shows of the run under these signatures."""
    from hyperacuity.report.pages import make_sheets, write_pages

    shown = common.messages.is_terminal
    sheets = make_sheets([run], workers=workers, progress=shown, signatures=signatures)
    page = write_pages(sheets, out, workers=workers, progress=shown)
    common.messages.print(f"open {page}", markup=False)
    return page


def write_figures(folder: Path, result: Result, found: Audited) -> list[Path]:
    """Charts as PDF, SVG and PNG, and the first images with their labels coloured by strength."""
    from hyperacuity.report import theme
    from hyperacuity.report.charts import audit as charts_audit
    from hyperacuity.report.figures import KINDS

    charts: dict[str, Any] = {"labels": charts_audit.label_chart(result.labels)}
    if result.labels.matrix is not None and len(result.labels.matrix) > 1:
        charts["agreement"] = charts_audit.agreement_chart(result.labels.matrix)
    if result.systems:
        charts["strength"] = charts_audit.strength_chart(result.systems)
        charts["curves"] = charts_audit.curves_chart(result.systems)
        charts["optimal"] = charts_audit.optimal_chart(result.systems)
        charts["output"] = charts_audit.output_chart(result.systems)
    paths = [
        theme.save(chart, folder / f"{name}.{suffix}", signature=result.signature)
        for name, chart in charts.items()
        for suffix in KINDS
    ]
    drawn = [cell for cell in found.labels.cells if cell.image in result.labels.images]
    return paths + [_draw(cell, folder, found) for cell in drawn[:PICTURES]]


def _draw(cell: Cell, folder: Path, found: Audited) -> Path:
    from PIL import Image

    from hyperacuity.audit import strengths
    from hyperacuity.data import read_boundary_truths, read_image
    from hyperacuity.report.charts.audit import strength_picture

    people = strengths(read_boundary_truths(cell.truths, inverted=found.inverted))
    photograph = None if cell.picture is None else read_image(cell.picture)
    if photograph is not None and (photograph.shape[:2] != people.drawn_by[0].shape or photograph.dtype != "uint8"):
        photograph = None
    path = folder / f"strength-{cell.image.replace('/', '_')}.png"
    Image.fromarray(strength_picture(people, photograph)).save(path, optimize=True)
    return path


def make_trials(
    folder: Path, found: Audited, audits: Mapping[str, SystemAudit], seed: int, workers: int | None
) -> tuple[list[Trial], list[Skip]]:
    """Draw a trial of each mode for every system and image, and write them; pictures that give none are listed."""
    from concurrent.futures import ThreadPoolExecutor

    from hyperacuity.audit.trials import MODES, Skip, Trial, candidates, draw_trial, shuffled, write_trials
    from hyperacuity.data import read_boundary_truths, read_soft

    def draw(cell: Cell) -> list[Trial | Skip]:
        audit = audits[cell.system]
        try:
            soft, truths = read_soft(cell.prediction), read_boundary_truths(cell.truths, inverted=found.inverted)
            drawn = []
            for mode in MODES:
                threshold = (audit.all if mode == "hard" else audit.consensus).ods.threshold
                choice = candidates(soft, truths, threshold, mode, audit.protocol.protocol)
                drawn.append(draw_trial(choice, image=cell.image, system=cell.system, mode=mode, seed=seed))
        except InputError as error:  # has failed its own cell already
            return [Skip(cell.image, cell.system, mode, str(error)) for mode in MODES]
        return drawn

    with ThreadPoolExecutor(workers) as pool:
        cells = [cell for cell in found.systems.cells if cell.system in audits]
        drawn = [one for several in pool.map(draw, cells) for one in several]
    trials = shuffled([one for one in drawn if isinstance(one, Trial)], seed)
    skips = [one for one in drawn if isinstance(one, Skip)]
    write_trials(folder, trials, skips)
    common.messages.print(f"{len(trials)} trials in {folder / 'trials.csv'}, {len(skips)} skipped", markup=False)
    return trials, skips


def summary(result: Result) -> dict[str, Any]:
    """The audit as JSON."""
    from hyperacuity.audit.strength import CLASSES, Shares

    labels = result.labels

    def shares(of: Shares) -> dict[str, Any]:
        return {
            "orphan": of.orphan,
            "consensus": of.consensus,
            "ci": {"orphan": of.orphan_interval, "consensus": of.consensus_interval},
        }

    return {
        "signature": result.signature,
        "images": len(labels.images),
        "annotators": {
            "fewest": min(labels.annotators),
            "most": max(labels.annotators),
            "maps": sum(labels.annotators),
        },
        "share_of_boundaries": shares(labels.boundaries),
        "share_of_pixels": shares(labels.pixels),
        "by_strength": {
            name: {"boundaries": row[0], "pixels": row[1]}
            for name, row in zip(CLASSES, labels.by_strength, strict=True)
        },
        "by_image": {name: {"orphan": of.orphan, "consensus": of.consensus} for name, of in labels.by_image.items()},
        "agreement": {"mean": labels.agreement, "matrix": labels.matrix},
        "systems": {name: _system(name, one, result.rankings) for name, one in result.systems.items()},
        "rankings": result.rankings,
        "changes": [vars(change) for change in result.changes],
        "findings": result.findings,
    }


def _system(name: str, audit: SystemAudit, rankings: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    from hyperacuity.audit.strength import CLASSES

    def point(of: Point) -> dict[str, Any]:
        return {"threshold": of.threshold, "recall": of.recall, "precision": of.precision, "f": of.f, "ci": of.interval}

    spread = audit.partial_f
    return {
        "images": len(audit.all.images),
        "all": point(audit.all.ods),
        "consensus": point(audit.consensus.ods),
        "partial": {
            kind: {"f": spread[kind][0], "sd": spread[kind][1], "repeats": [point(score.ods) for score in scores]}
            for kind, scores in audit.partial.items()
        },
        "by_strength": {
            f"{strength:g}": point(score.ods)
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


def print_audit(result: Result) -> None:
    """Findings in words, then the numbers behind them."""
    from rich.markup import escape

    for sentence in result.findings:
        common.results.print(f"• {escape(sentence)}")
    common.results.print()
    common.results.print(_label_table(result.labels))
    if result.systems:
        common.results.print()
        common.results.print(_system_table(result.systems))
    if len(result.systems) > 1:
        common.results.print()
        common.results.print(_ranking_table(result.rankings))
    common.results.print(f"\n{result.signature}", markup=False)


def _label_table(labels: LabelScore) -> Any:
    from rich.table import Table

    from hyperacuity.audit.strength import CLASSES

    table = Table(box=None, pad_edge=False)
    table.add_column("drawn by a share of the annotators")
    table.add_column("of boundaries", justify="right")
    table.add_column("of pixels", justify="right")
    for name, row in zip(CLASSES, labels.by_strength, strict=True):
        table.add_row(name.replace("[", r"\["), *(f"{100 * share:.2f} %" for share in row))
    table.add_row("one person only (orphans)", *(_percent(of.orphan) for of in (labels.boundaries, labels.pixels)))
    table.add_row("everyone (consensus)", *(_percent(of.consensus) for of in (labels.boundaries, labels.pixels)))
    return table


def _percent(share: float) -> str:
    return "–" if share != share else f"{100 * share:.2f} %"


def _system_table(systems: Mapping[str, SystemAudit]) -> Any:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("system")
    kinds = next(iter(systems.values())).partial
    bonus = ("P any", "P mean", "F mean")
    for heading in ("F all", "P", "R", "F consensus", "P", "R", *(f"F part, {k}" for k in kinds), *bonus, "ρ output"):
        table.add_column(heading, justify="right")
    for name, audit in sorted(systems.items(), key=lambda item: -item[1].all.ods.f):
        parts = [f"{f:.3f}" + ("" if sd != sd else f" ± {sd:.3f}") for f, sd in audit.partial_f.values()]
        both = [f"{v:.3f}" for of in (audit.all.ods, audit.consensus.ods) for v in (of.f, of.precision, of.recall)]
        gain = audit.bonus
        last = [f"{v:.3f}" for v in (gain.precision_any, gain.precision_mean, gain.f_mean, audit.output.spearman)]
        table.add_row(escape(name), *both, *parts, *last)
    return table


def _ranking_table(rankings: Mapping[str, Sequence[str]]) -> Any:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("order of the systems by")
    table.add_column("best first")
    usual = rankings["all"]
    for truth, order in rankings.items():
        names = (escape(name) if order[n] == usual[n] else f"[bold]{escape(name)}[/]" for n, name in enumerate(order))
        table.add_row(truth, " > ".join(names))
    return table
