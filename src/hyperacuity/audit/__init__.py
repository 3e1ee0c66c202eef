"""Audits of labels: who drew what, and what that does to the score of a system.

:func:`strengths` says how many people drew each boundary; :func:`tally_audit` and :func:`collect_audit` what that does to a
system's score. :mod:`~hyperacuity.audit.trials` and :mod:`~hyperacuity.audit.risk` are the forced-choice experiment.

References
----------
Hou, Yuille & Koch (2013), Boundary detection benchmarking: beyond F-measures.
"""

from typing import TYPE_CHECKING

from hyperacuity.syntax import on_demand

if TYPE_CHECKING:
    from hyperacuity.audit.benchmark import (
        AuditProtocol,
        AuditTally,
        SystemAudit,
        collect_audit,
        ranking_changes,
        rankings,
        tally_audit,
    )
    from hyperacuity.audit.partial import partial_labels
    from hyperacuity.audit.strength import (
        LabelScore,
        StrengthProtocol,
        Strengths,
        StrengthTally,
        collect_strengths,
        strengths,
        tally_strengths,
    )
else:
    __getattr__ = on_demand(__name__, __file__)

__all__ = [
    "AuditProtocol",
    "AuditTally",
    "LabelScore",
    "StrengthProtocol",
    "StrengthTally",
    "Strengths",
    "SystemAudit",
    "collect_audit",
    "collect_strengths",
    "partial_labels",
    "ranking_changes",
    "rankings",
    "strengths",
    "tally_audit",
    "tally_strengths",
]
