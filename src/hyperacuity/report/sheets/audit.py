"""An audit in a report: what becomes of systems when the labels change, and overlays on what everyone drew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperacuity.audit import AuditTally, SystemAudit, collect_audit, ranking_changes, strengths
from hyperacuity.audit.findings import order_findings, system_findings
from hyperacuity.evaluation.tables.audit import COLUMNS, numbers
from hyperacuity.maps import EdgeMap
from hyperacuity.report.charts import audit as charts_audit
from hyperacuity.report.sheets.boundary import BoundaryViewer, image_scores_of
from hyperacuity.report.sheets.sheet import NOTHING, Column, Each, Figure, Line, Sheet, leaderboard
from hyperacuity.report.sheets.viewer import PHOTO, Layer, legend
from hyperacuity.run.gather import Grid

FEW = 3
"""Systems up to which each has sentences of its own; more are left to the charts."""


def sheet(grid: Grid, each: Each) -> Sheet:
    """The part of a report that is about systems under changing labels."""
    benchmark, last = grid.protocol.protocol, len(grid.protocol.strengths) - 1
    tallies = grid.tallies()
    audits = {system: collect_audit(tallies[system]) for system in tallies}
    lines = leaderboard(grid, COLUMNS, [_line(system, audit) for system, audit in audits.items()])
    ordered = {line.system: audits[line.system] for line in lines}
    consensus = {system: audit.consensus for system, audit in ordered.items()}
    return Sheet(
        title="Systems with different labels",
        grid=grid,
        columns=COLUMNS,
        lines=lines,
        figures=tuple(_figures(ordered)) if ordered else (),
        findings=tuple(_findings(ordered, tallies)),
        image_score=Column("f", "best F", note="F on what everyone drew, at the image's own best threshold"),
        image_scores=image_scores_of(consensus),
        viewer=ConsensusViewer(
            grid, consensus, lambda system, image: grid.tally(system, image).under(last, benchmark), benchmark
        ),
    )


def _line(system: str, audit: SystemAudit) -> Line:
    return Line(system, numbers(audit), audit.all.ods.interval, len(audit.all.images))


def _findings(audits: Mapping[str, SystemAudit], tallies: Mapping[str, Mapping[str, AuditTally]]) -> list[str]:
    if not audits:
        return [NOTHING]
    sentences = system_findings(audits)
    if len(audits) > FEW:
        sentences = [one for one in sentences if not one.startswith(tuple(f"{name}: " for name in audits))]
    return [*sentences, *order_findings(audits, ranking_changes(audits, tallies))]


def _figures(audits: Mapping[str, SystemAudit]) -> Iterator[Figure]:
    yield Figure(
        "strength",
        "Precision and recall on stronger and stronger labels",
        "Precision and recall at the best threshold against the least strength of the labels, a line for each system.",
        lambda hover: charts_audit.strength_chart(audits),
    )
    yield Figure(
        "optimal",
        "The best F on all, agreed and arbitrary labels",
        "The best F of each system on all labels, on those that everyone drew, and on an arbitrary part of the same size.",
        lambda hover: charts_audit.optimal_chart(audits),
    )
    yield Figure(
        "curves",
        "Precision over recall on all, agreed and arbitrary labels",
        "Three charts of precision over recall, a curve for each system, the best F marked.",
        lambda hover: charts_audit.label_curves_chart(audits),
    )
    yield Figure(
        "output",
        "How strong are the labels that a system matches, at each level of its output?",
        "For each system and level of output, the shares of matched pixels by the strength of the label.",
        lambda hover: charts_audit.output_chart(audits),
    )


class ConsensusViewer(BoundaryViewer):
    """Overlays on what everyone drew."""

    layers = (
        Layer("match", "Match", "Hits, false alarms and misses against what everyone drew, at the threshold"),
        BoundaryViewer.layers[1],
        Layer("truth", "All labels", "What people drew; the darker, the more of them agree"),
        PHOTO,
    )
    legend = legend(
        "detected, and matched with what everyone drew",
        "detected, but matched with nothing that everyone drew",
        "drawn by everyone, but not detected",
        names=("hit", "false alarm", "miss"),
    )

    def judged_by(self, truths: list[EdgeMap]) -> list[EdgeMap]:
        """The consensus labels of each annotator."""
        return strengths(truths, self.benchmark.tolerance).consensus
