"""Systems under changing labels as a task."""

from hyperacuity.audit.benchmark import AuditProtocol, AuditTally, SystemAudit, collect_audit, criteria, tally_audit
from hyperacuity.audit.columns import COLUMNS
from hyperacuity.tally import Task

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
