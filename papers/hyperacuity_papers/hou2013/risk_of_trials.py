"""The risk of a data set, from answers to forced-choice trials (Hou, Yuille & Koch 2013, section 3).

The answers are people's, or those of simulated observers who look at the pictures through a detector
(:mod:`hyperacuity.audit.observer`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperacuity.audit.observer import Observer, evidence_of_trials
from hyperacuity.audit.risk import (
    Answer,
    Risk,
    RiskScore,
    read_answers,
    risk,
    simulate_answers,
    trials_needed,
    write_answers,
)
from hyperacuity.audit.trials import Trial, read_trials
from hyperacuity.data import read_image
from hyperacuity.data.datasets.pairing import files_in, stem_of
from hyperacuity.detect import detector
from hyperacuity.errors import InputError, UsageError, option
from hyperacuity.maps import SoftMap
from hyperacuity.run.many import each

RISK_SIGNATURE = "risk|vote:majority|interval:wilson|v:1"
PEOPLE = 5
"""So many answered each trial in the paper."""


def signature_of(eyes: str, observer: Observer, people: int, seed: int) -> str:
    """The signature of risks by simulated observers, who look through the detector ``eyes``."""
    return f"{RISK_SIGNATURE}|observer:{eyes}|{observer}|people:{people}|seed:{seed}"


@dataclass(frozen=True)
class RiskStudy:
    """The risks, and how many trials of one system make an interval as narrow as asked for, by mode."""

    score: RiskScore
    needed: dict[str, int]

    def as_dict(self) -> dict[str, Any]:
        """Return a dict for JSON."""

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

    ``within`` is half the width of an interval. How many trials it takes is computed for the mean risk.
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


def answers_through(
    eyes: str,
    trials: Sequence[Trial],
    maps: Mapping[str, SoftMap],
    observer: Observer,
    *,
    people: int = PEOPLE,
    seed: int = 0,
) -> list[Answer]:
    """Simulate the answers of observers who see the pictures as the detector ``eyes`` does; ``maps`` are its maps by image."""
    return simulate_answers(
        trials, evidence_of_trials(trials, maps), people=people, seed=seed, chance=observer.chance, name=eyes
    )


def simulate_people(
    folder: Path,
    images: Path,
    *,
    eyes: str,
    observer: Observer,
    people: int = PEOPLE,
    seed: int = 0,
    workers: int | None = None,
) -> Path:
    """Let simulated observers answer the trials of a folder; writes ``answers-EYES.csv`` there and returns its path.

    ``images`` is the folder of the photographs, ``eyes`` the detector that they look through: one that is not among the systems
    of the trials, so that no system is judged by itself.
    """
    trials, look = read_trials(folder), detector(eyes)
    if own := sorted({trial.system for trial in trials if trial.system == str(look)}):
        raise UsageError(
            f"{option('observer', eyes)}: the trials hold false alarms of {own[0]}, which would judge itself"
        )
    photographs = {stem_of(path): path for path in files_in(images)}
    names = sorted({trial.image for trial in trials})
    if missing := [name for name in names if name not in photographs]:
        raise UsageError(f"{images}: holds no photograph {missing[0]}, which the trials of {folder} are about")
    seen = each(lambda name: look(read_image(photographs[name])).thin, names, workers, "looking")
    answers = answers_through(eyes, trials, dict(zip(names, seen, strict=True)), observer, people=people, seed=seed)
    return write_answers(folder / f"answers-{eyes}.csv", answers)
