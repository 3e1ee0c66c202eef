"""An audit as people and programs read it: findings in words, then the numbers behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from hyperacuity.audit import LabelScore, SystemAudit
from hyperacuity.audit.strength import CLASSES, Shares
from hyperacuity.boundary import BoundaryScore
from hyperacuity.evaluation.export import Column
from hyperacuity.evaluation.tables import new_table
from hyperacuity.evaluation.tables.boundary import point

if TYPE_CHECKING:
    from hyperacuity.evaluation.audits import AuditFindings

COLUMNS = (
    Column("all", "F, all labels", note="Best F at one threshold for all images, as in the benchmark"),
    Column("consensus", "F, everyone", note="The same on those labels only that everyone drew"),
    Column(
        "partial", "F, random subset", better="", note="The control: a random subset of the labels, of the same size"
    ),
    Column("mean", "F, mean P", note="On all labels, with the mean over annotators as precision, not any one's word"),
    Column("output", "ρ output", digits=2, note="Rank correlation of the output and the strength of what it matches"),
)


def summary(result: AuditFindings) -> dict[str, Any]:
    """The audit as JSON."""
    labels, people = result.labels, result.labels.annotators

    def shares(of: Shares) -> dict[str, Any]:
        return {
            "orphan": of.orphan,
            "consensus": of.consensus,
            "ci": {"orphan": of.orphan_interval, "consensus": of.consensus_interval},
        }

    return {
        "signature": str(result.signature),
        "images": len(labels.images),
        "annotators": {"fewest": min(people), "most": max(people), "maps": sum(people)},
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
    def ods(of: BoundaryScore) -> dict[str, Any]:
        return point(of.ods) | {"ci": of.ods.interval}

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


def numbers(audit: SystemAudit) -> dict[str, float]:
    """What a row of a table says of a system."""
    return {
        "all": audit.all.ods.f,
        "consensus": audit.consensus.ods.f,
        "partial": audit.partial_f["halfplane"][0],
        "mean": audit.mean.ods.f,
        "output": audit.output.spearman,
    }


def show(result: AuditFindings, console: Console) -> None:
    """Findings in words, then the numbers behind them."""
    for sentence in result.findings:
        console.print(f"• {escape(sentence)}")
    console.print()
    console.print(_label_table(result.labels))
    if result.systems:
        console.print()
        console.print(_system_table(result.systems))
    if len(result.systems) > 1:
        console.print()
        console.print(_ranking_table(result.rankings))
    console.print(f"\n{result.signature}", markup=False)


def _label_table(labels: LabelScore) -> Any:
    table = new_table("drawn by a share of the annotators", right=("of boundaries", "of pixels"))
    for name, row in zip(CLASSES, labels.by_strength, strict=True):
        table.add_row(name.replace("[", r"\["), *(f"{100 * share:.2f} %" for share in row))
    table.add_row("one person only (orphans)", *(_percent(of.orphan) for of in (labels.boundaries, labels.pixels)))
    table.add_row("everyone (consensus)", *(_percent(of.consensus) for of in (labels.boundaries, labels.pixels)))
    return table


def _percent(share: float) -> str:
    return "–" if share != share else f"{100 * share:.2f} %"


def _system_table(systems: Mapping[str, SystemAudit]) -> Any:
    parts = [f"F part, {kind}" for kind in next(iter(systems.values())).partial]
    bonus = ("P any", "P mean", "F mean", "ρ output")
    table = new_table("system", right=("F all", "P", "R", "F consensus", "P", "R", *parts, *bonus))
    for name, audit in sorted(systems.items(), key=lambda item: -item[1].all.ods.f):
        parts = [f"{f:.3f}" + ("" if sd != sd else f" ± {sd:.3f}") for f, sd in audit.partial_f.values()]
        both = [f"{v:.3f}" for of in (audit.all.ods, audit.consensus.ods) for v in (of.f, of.precision, of.recall)]
        gain = audit.bonus
        last = [f"{v:.3f}" for v in (gain.precision_any, gain.precision_mean, gain.f_mean, audit.output.spearman)]
        table.add_row(escape(name), *both, *parts, *last)
    return table


def _ranking_table(rankings: Mapping[str, Sequence[str]]) -> Any:
    table = new_table("order of the systems by", "best first", right=())
    usual = rankings["all"]
    for truth, order in rankings.items():
        names = (escape(name) if order[n] == usual[n] else f"[bold]{escape(name)}[/]" for n, name in enumerate(order))
        table.add_row(truth, " > ".join(names))
    return table
