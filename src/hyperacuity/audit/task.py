"""Systems under changing labels as a task, and the columns of its tables."""

from __future__ import annotations

from hyperacuity.audit.benchmark import AuditProtocol, AuditTally, SystemAudit, collect_audit, criteria, tally_audit
from hyperacuity.columns import Column, Columns
from hyperacuity.tasks import Task

COLUMNS = Columns(
    (
        Column(
            "all",
            "F, all labels",
            note="Best F at one threshold for all images, as in the benchmark",
            value=lambda score: score.all.ods.f,
            interval=lambda score: score.all.ods.interval,
        ),
        Column(
            "consensus",
            "F, everyone",
            note="The same on those labels only that everyone drew",
            value=lambda score: score.consensus.ods.f,
            interval=lambda score: score.consensus.ods.interval,
        ),
        Column(
            "partial",
            "F, random subset",
            "",
            note="The control: a random subset of the labels, of the same size",
            value=lambda score: score.partial_f["halfplane"][0],
        ),
        Column(
            "mean",
            "F, mean P",
            note="On all labels, with the mean over annotators as precision, not any one's word",
            value=lambda score: score.mean.ods.f,
        ),
        Column(
            "output",
            "ρ output",
            digits=2,
            note="Rank correlation of the output and the strength of what it matches",
            value=lambda score: score.output.spearman,
        ),
    )
)


TASK: Task[AuditProtocol, AuditTally, SystemAudit] = Task(
    "audit",
    "Audit",
    AuditProtocol,
    AuditTally,
    tally_audit,
    collect_audit,
    criteria,
    by_name=True,
    references=("hou2013", "martin2004"),
    examples=lambda scene: [(scene.soft, [person.boundaries for person in scene.annotators], {})],
    columns=COLUMNS,
)
