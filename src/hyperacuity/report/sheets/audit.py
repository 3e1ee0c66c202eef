"""An audit in a report: what becomes of systems when the labels change, and overlays on what everyone drew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperacuity.audit import AuditTally, SystemAudit, ranking_changes, strengths
from hyperacuity.audit.findings import order_findings, system_findings
from hyperacuity.boundary import BoundaryScore, BoundaryTally, Protocol
from hyperacuity.columns import Column
from hyperacuity.maps import EdgeMap
from hyperacuity.report.charts import audit as charts_audit
from hyperacuity.report.sheets.boundary import BoundaryViewer
from hyperacuity.report.sheets.engine import Judged, TaskSheet, by_image
from hyperacuity.report.sheets.sheet import Figure
from hyperacuity.report.sheets.viewer import PHOTO, Layer, legend

FEW = 3
"""Systems up to which each has sentences of its own; more are left to the charts."""


def _findings(judged: Judged) -> list[str]:
    audits: Mapping[str, SystemAudit] = judged.scores
    sentences = system_findings(audits)
    if len(audits) > FEW:
        sentences = [one for one in sentences if not one.startswith(tuple(f"{name}: " for name in audits))]
    return [*sentences, *order_findings(audits, ranking_changes(audits, judged.tallies))]


def _image_scores(judged: Judged) -> dict[str, dict[str, float]]:
    """The best F of each image on what everyone drew, by image and system."""
    scores = {system: audit.consensus for system, audit in judged.scores.items()}
    return by_image(
        {
            system: dict(zip(one.images, (point.f for point in one.per_image), strict=True))
            for system, one in scores.items()
        }
    )


def _figures(judged: Judged) -> Iterator[Figure]:
    audits: Mapping[str, SystemAudit] = judged.scores
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
    )

    @property
    def benchmark(self) -> Protocol:
        """The benchmark of which the labels change."""
        protocol: Protocol = self.grid.protocol.protocol
        return protocol

    def tally_of(self, system: str, image: str) -> BoundaryTally:
        """The tally of an image on what everyone drew."""
        tally: AuditTally = self.grid.tally(system, image)
        return tally.under(len(self.grid.protocol.strengths) - 1, self.benchmark)

    def score_of(self, system: str) -> BoundaryScore:
        """The score of a system on what everyone drew."""
        score: BoundaryScore = self.scores[system].consensus
        return score

    def judged_by(self, truths: list[EdgeMap]) -> list[EdgeMap]:
        """The consensus labels of each annotator."""
        return strengths(truths, self.benchmark.tolerance).consensus


SHEET = TaskSheet(
    ConsensusViewer,
    _figures,
    _findings,
    title="Systems with different labels",
    image_score=Column("f", "best F", note="F on what everyone drew, at the image's own best threshold"),
    image_scores=_image_scores,
    across_criteria=False,
)
