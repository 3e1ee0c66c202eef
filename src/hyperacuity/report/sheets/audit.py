"""An audit in a report: what becomes of systems when the labels change, and overlays on what everyone drew."""

from __future__ import annotations

from collections.abc import Mapping

from hyperacuity.audit import AuditProtocol, AuditTally, SystemAudit, collect_audit, ranking_changes, strengths
from hyperacuity.audit.findings import order_findings, system_findings
from hyperacuity.audit.rescoring import tallies_under
from hyperacuity.errors import UsageError
from hyperacuity.maps import EdgeMap
from hyperacuity.report import theme
from hyperacuity.report.charts import audit as charts_audit
from hyperacuity.report.sheets.boundary import Look, image_scores_of, protocol_as_told, tested_ods
from hyperacuity.report.sheets.sheet import Column, Each, Figure, Layer, Line, Sheet, Viewer, ranked
from hyperacuity.run.gather import Grid

COLUMNS = (
    Column("all", "F, all labels", note="Best F at one threshold for all images, as in the benchmark"),
    Column("consensus", "F, everyone", note="The same on those labels only that everyone drew"),
    Column("partial", "F, a part", better="", note="The control: an arbitrary part of the labels, of the same size"),
    Column(
        "mean", "F, mean P", note="On all labels, with the mean over annotators as precision instead of any one's word"
    ),
    Column(
        "output",
        "ρ output",
        digits=2,
        note="Rank correlation of the system's output and the strength of what it matches",
    ),
)

LAYERS = (
    Layer("match", "Match", "Hits, false alarms and misses against what everyone drew, at the threshold"),
    Layer("prediction", "Prediction", "The soft map as the system gave it; dark is strong"),
    Layer("truth", "All labels", "What people drew; the darker, the more of them agree"),
    Layer("photo", "Photograph"),
)

LEGEND = (
    ("hit", theme.HIT, "hit", "detected, and matched with what everyone drew"),
    ("false", theme.FALSE, "false alarm", "detected, but matched with nothing that everyone drew"),
    ("miss", theme.MISS, "miss", "drawn by everyone, but not detected"),
)

FEW = 3
"""Systems up to which each has sentences of its own; more are left to the charts."""


def sheet(grid: Grid, each: Each) -> Sheet:
    """The part of a report that is about systems under changing labels."""
    protocol, inverted = protocol_of(grid), bool(grid.options.get("inverted", False))
    tallies = grid.tallies(AuditTally)
    found = each("audits", lambda images: collect_audit(images, protocol), list(tallies.values()))
    audits = dict(zip(tallies, found, strict=True))
    everything = {system: tallies_under(images, 0) for system, images in tallies.items()}
    agreed = {system: tallies_under(of, len(protocol.strengths) - 1) for system, of in tallies.items()}
    tested = tested_ods(everything, grid.shared_images(), protocol.protocol)
    lines = ranked(COLUMNS, [_line(grid, system, audit) for system, audit in audits.items()], tested)
    ordered = {line.system: audits[line.system] for line in lines}
    consensus = {system: audit.consensus for system, audit in ordered.items()}
    return Sheet(
        title="Systems under other labels",
        grid=grid,
        columns=COLUMNS,
        lines=lines,
        figures=_figures(ordered) if ordered else (),
        findings=tuple(_findings(ordered, tallies)),
        image_score=Column("f", "best F", note="F on what everyone drew, at the image's own best threshold"),
        image_scores=image_scores_of(consensus),
        viewer=Viewer(LAYERS, LEGEND, _OnConsensus(protocol.protocol, inverted, consensus, agreed)),
    )


def protocol_of(grid: Grid) -> AuditProtocol:
    """The protocol that the run recorded; a run that says something else than its signature is refused."""
    told = grid.options.get("protocol")
    if not isinstance(told, Mapping):
        raise UsageError(f"the run of {grid.signature} does not say how it was set up: run it again to report it")
    protocol = AuditProtocol(
        protocol_as_told(told["protocol"]), tuple(told["strengths"]), repeats=told["repeats"], seed=told["seed"]
    )
    if grid.signature.replace("|truth:inverted", "") != protocol.signature:
        raise UsageError(f"the run says {grid.signature}, but was set up as {protocol.signature}")
    return protocol


def _line(grid: Grid, system: str, audit: SystemAudit) -> Line:
    return Line(
        system,
        {
            "all": audit.all.ods.f,
            "consensus": audit.consensus.ods.f,
            "partial": audit.partial_f["halfplane"][0],
            "mean": audit.mean.ods.f,
            "output": audit.output.spearman,
        },
        interval=audit.all.ods.interval,
        images=len(audit.all.images),
        failed=sum(failure.system == system for failure in grid.failures),
    )


def _findings(audits: Mapping[str, SystemAudit], tallies: Mapping[str, Mapping[str, AuditTally]]) -> list[str]:
    if not audits:
        return ["No image could be evaluated."]
    told = system_findings(audits)
    if len(audits) > FEW:
        told = [sentence for sentence in told if not sentence.startswith(tuple(f"{name}: " for name in audits))]
    return [*told, *order_findings(audits, ranking_changes(audits, tallies))]


def _figures(audits: Mapping[str, SystemAudit]) -> tuple[Figure, ...]:
    return (
        Figure(
            "strength",
            "Precision and recall on stronger and stronger labels",
            "Precision and recall at the best threshold against the least strength of the labels, a line for each system.",
            lambda hover: charts_audit.strength_chart(audits),
            fluid=False,
            span=8,
        ),
        Figure(
            "optimal",
            "The best F on all, agreed and arbitrary labels",
            "The best F of each system on all labels, on those that everyone drew, and on an arbitrary part of the same size.",
            lambda hover: charts_audit.optimal_chart(audits),
            fluid=False,
        ),
        Figure(
            "curves",
            "Precision over recall on all, agreed and arbitrary labels",
            "Three charts of precision over recall, a curve for each system, the best F marked.",
            lambda hover: charts_audit.curves_chart(audits),
            fluid=False,
            span=8,
        ),
        Figure(
            "output",
            "How strong are the labels that a system matches, at each level of its output?",
            "For each system and level of output, the shares of matched pixels by the strength of the label.",
            lambda hover: charts_audit.output_chart(audits),
            fluid=False,
            span=8,
        ),
    )


class _OnConsensus(Look):
    """Overlays on what everyone drew."""

    def judged_by(self, truths: list[EdgeMap]) -> list[EdgeMap]:
        """The consensus labels of each annotator."""
        return strengths(truths, self.protocol.tolerance).consensus
