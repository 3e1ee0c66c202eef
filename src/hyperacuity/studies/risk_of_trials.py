"""What the answers to forced-choice trials say about a data set (Hou, Yuille & Koch 2013, section 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperacuity.audit.risk import Risk, RiskScore, read_answers, risk, trials_needed
from hyperacuity.audit.trials import read_trials
from hyperacuity.errors import InputError

RISK_SIGNATURE = "risk|vote:majority|interval:wilson|v:1"


@dataclass(frozen=True)
class RiskStudy:
    """The risks, and how many trials of one system make an interval as narrow as asked for, by mode."""

    score: RiskScore
    needed: dict[str, int]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""

        def numbers(one: Risk) -> dict[str, Any]:
            return {"risk": one.risk, "ci": one.interval, "trials": one.trials, "ties": one.ties}

        modes: dict[str, Any] = {
            mode: {
                "systems": {name: numbers(one) for name, one in systems.items()},
                "mean": numbers(self.score.mean[mode]),
                "alpha": self.score.alpha[mode],
            }
            for mode, systems in self.score.risks.items()
        }
        more = {"needed": self.needed} if self.needed else {}
        return {**modes, "subjects": self.score.subjects, "seconds": self.score.seconds, **more}

    def rows(self) -> list[tuple[str, ...]]:
        """Mode, system, risk, its interval, trials and ties as text; the mean below the systems of each mode."""
        found: list[tuple[str, ...]] = []
        for mode, systems in self.score.risks.items():
            for name, one in [*systems.items(), ("mean", self.score.mean[mode])]:
                share = "–" if math.isnan(one.risk) else f"{one.risk:.3f}"
                interval = "{:.3f} – {:.3f}".format(*one.interval)
                found.append((mode, name, share, interval, str(one.trials), str(one.ties)))
        return found


def risk_of_trials(folder: Path, answers: Path | None = None, *, within: float | None = None) -> RiskStudy:
    """Decide the trials of a folder by the answers in a table, by default the folder's ``answers.csv``.

    ``within`` is half the width of an interval. How many trials it takes is computed for the mean risk found.
    """
    table = answers or folder / "answers.csv"
    score = risk(read_trials(folder), read_answers(table))
    if not score.risks:
        raise InputError(f"{table}: holds no answers, so there is no risk to compute")
    if within is None:
        return RiskStudy(score, {})
    found = {mode: one.risk for mode, one in score.mean.items()}
    shares = {mode: 0.5 if math.isnan(share) else share for mode, share in found.items()}
    return RiskStudy(score, {mode: trials_needed(within, share=share) for mode, share in shares.items()})
