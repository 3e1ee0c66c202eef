"""Figures of the study of Hou, Yuille & Koch (2013)."""

from __future__ import annotations

from pathlib import Path

from hyperacuity.audit.risk import RiskScore
from hyperacuity.report.charts.audit import risk_chart
from hyperacuity.report.papers.saving import save_both
from hyperacuity.studies.risk_of_trials import RISK_SIGNATURE


def draw_risk(score: RiskScore, folder: Path) -> list[Path]:
    """Risks by system and mode (Fig. 3 of Hou et al.)."""
    return save_both(risk_chart(score), folder / "risk", RISK_SIGNATURE)
