r"""Risk of a data set: how often do people judge a system's false alarm stronger than a human label?

A trial (:mod:`hyperacuity.audit.trials`) is decided by the majority of those who answered. The risk is the share of trials
that the false alarm wins: 0 for a perfect data set; from 0.5 on, false alarms cannot be distinguished from what people drew.

References
----------
Hou, Yuille & Koch (2013), section 3. Wilson (1927), Probable inference, the law of succession, and statistical inference.
Krippendorff (2011), Computing Krippendorff's alpha-reliability.
Bradley & Terry (1952), Rank analysis of incomplete block designs.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from hyperacuity.audit.strength import Strengths
from hyperacuity.audit.trials import MODES, Mode, Segment, Side, Trial, read_rows, write_rows
from hyperacuity.errors import InputError, UsageError

NAN = float("nan")


@dataclass(frozen=True)
class Answer:
    """Answer of one person in one trial, and the time it took (NaN: unknown)."""

    subject: str
    trial: str
    choice: Side
    seconds: float = NAN


@dataclass(frozen=True)
class Risk:
    """Share of trials that the false alarm won, with its 95 % interval. ``ties`` are trials without a majority, left out."""

    risk: float
    interval: tuple[float, float]
    trials: int
    ties: int = 0


@dataclass(frozen=True)
class RiskScore:
    """Risks by mode and system, their mean over systems by mode, and how far people agree (Krippendorff's alpha, by mode)."""

    risks: dict[Mode, dict[str, Risk]]
    mean: dict[Mode, Risk]
    alpha: dict[Mode, float]
    subjects: int
    seconds: float


def wilson(wins: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    r"""Wilson's score interval of a share; (0, 1) without trials.

    .. math:: \frac{p + z^2/2n}{1 + z^2/n} ± \frac{z}{1 + z^2/n} \sqrt{\frac{p(1-p)}{n} + \frac{z^2}{4n^2}}

    >>> [round(end, 4) for end in wilson(5, 10)]
    [0.2366, 0.7634]
    """
    if not 0 <= wins <= trials or not 0 < level < 1:
        raise UsageError(f"{wins} of {trials} at level {level}: expected 0 ≤ wins ≤ trials and a level between 0 and 1")
    if trials == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, shrink = wins / trials, 1 + z * z / trials
    middle = (share + z * z / (2 * trials)) / shrink
    half = z / shrink * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return (0.0 if wins == 0 else middle - half), (1.0 if wins == trials else middle + half)


def trials_needed(half_width: float, *, share: float = 0.5, level: float = 0.95) -> int:
    """The least number of trials whose Wilson interval is no wider than ± ``half_width``, if the share is as expected.

    A share of one half needs the most.

    >>> trials_needed(0.1)
    93
    >>> trials_needed(0.05, share=0.1)
    141
    """
    if not 0 < half_width < 1 or not 0 <= share <= 1:
        raise UsageError(
            f"a half width of {half_width} around {share}: expected a number between 0 and 1, around a share"
        )

    def enough(trials: int) -> bool:
        low, high = wilson(share * trials, trials, level)
        return high - low <= 2 * half_width

    most = 1
    while not enough(most):
        most *= 2
    return bisect_left(range(most), True, lo=most // 2 + 1, key=enough)


def majority(votes: Iterable[bool]) -> bool | None:
    """Majority of votes; None for a tie or without votes.

    >>> majority([True, True, False]), majority([True, False]), majority([])
    (True, None, None)
    """
    balance = sum(1 if vote else -1 for vote in votes)
    return None if balance == 0 else balance > 0


def krippendorff_alpha(ratings: ArrayLike) -> float:
    r"""Agreement of people beyond chance, for names without order: 1 perfect, 0 chance, negative for systematic disagreement.

    .. math:: α = 1 - (n - 1) \frac{\sum_{c ≠ k} o_{ck}}{\sum_{c ≠ k} n_c n_k}

    where :math:`o_{ck}` counts pairs of ratings c and k of the same thing by different people, each thing's pairs with weight
    1 / (its ratings − 1), and :math:`n_c` the ratings c that have a pair. ``ratings`` has a row per person and a column per
    thing, NaN where there is no answer. NaN when there is nothing to agree on: no pair, or one name only.

    >>> krippendorff_alpha([[0, 1, 0, 0], [0, 1, 0, 1]])
    0.5333333333333333
    """
    table = np.asarray(ratings, np.float64)
    names = np.unique(table[~np.isnan(table)])
    counts = (table[..., None] == names).sum(axis=0).astype(np.float64)  # things × names
    counts = counts[counts.sum(axis=1) > 1]
    if not len(counts):
        return NAN
    raters = counts.sum(axis=1)
    differing = ((raters**2 - (counts**2).sum(axis=1)) / (raters - 1)).sum()
    totals = counts.sum(axis=0)
    expected = totals.sum() ** 2 - (totals**2).sum()
    return NAN if expected == 0 else float(1 - (totals.sum() - 1) * differing / expected)


def risk(trials: Sequence[Trial], answers: Sequence[Answer], *, level: float = 0.95) -> RiskScore:
    """Decide each trial by majority and count what the false alarms win.

    Trials without an answer do not count; ties are counted separately. The mean weighs systems alike; its interval is Wilson's
    for as many trials as would give a share the same variance. ``InputError`` for answers to unknown trials, or two by a person.
    """
    by_name = {trial.trial: trial for trial in trials}
    votes: dict[str, dict[str, bool]] = {name: {} for name in by_name}
    for answer in answers:
        if answer.trial not in by_name:
            raise InputError(f"{answer.subject} answered trial {answer.trial!r}, which is not in the table of trials")
        if answer.subject in votes[answer.trial]:
            raise InputError(f"{answer.subject} answered trial {answer.trial!r} twice")
        votes[answer.trial][answer.subject] = answer.choice == by_name[answer.trial].false_alarm
    decided: dict[Mode, dict[str, list[bool | None]]] = {}
    for name, trial in by_name.items():
        if votes[name]:
            by_system = decided.setdefault(trial.mode, {}).setdefault(trial.system, [])
            by_system.append(majority(votes[name].values()))
    risks = {
        mode: {system: _risk(outcomes, level) for system, outcomes in sorted(decided[mode].items())}
        for mode in MODES
        if mode in decided
    }
    subjects = sorted({answer.subject for answer in answers})
    times = [answer.seconds for answer in answers if not math.isnan(answer.seconds)]
    return RiskScore(
        risks=risks,
        mean={mode: _mean(list(systems.values()), level) for mode, systems in risks.items()},
        alpha={mode: _alpha([votes[t.trial] for t in trials if t.mode == mode], subjects) for mode in risks},
        subjects=len(subjects),
        seconds=float(np.mean(times)) if times else NAN,
    )


def _risk(outcomes: Sequence[bool | None], level: float) -> Risk:
    decided = [outcome for outcome in outcomes if outcome is not None]
    wins = sum(decided)
    share = wins / len(decided) if decided else NAN
    return Risk(share, wilson(wins, len(decided), level), len(decided), len(outcomes) - len(decided))


def _mean(risks: Sequence[Risk], level: float) -> Risk:
    """Mean of systems with n₁ … n_k trials: variance Σ p(1−p) / (k² nᵢ), that of k² / Σ 1/nᵢ trials."""
    measured = [one for one in risks if one.trials]
    ties = sum(one.ties for one in risks)
    if not measured:
        return Risk(NAN, (0.0, 1.0), 0, ties)
    mean = sum(one.risk for one in measured) / len(measured)
    equivalent = len(measured) ** 2 / sum(1 / one.trials for one in measured)
    return Risk(mean, wilson(mean * equivalent, equivalent, level), sum(one.trials for one in measured), ties)


def _alpha(votes: Sequence[Mapping[str, bool]], subjects: Sequence[str]) -> float:
    if not votes or not subjects:
        return NAN
    return krippendorff_alpha(
        [[float(one[subject]) if subject in one else NAN for one in votes] for subject in subjects]
    )


def preference(worth: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
    """Probability that a piece is chosen over another one, by Bradley and Terry: worth / (worth + other worth).

    >>> float(preference(3, 1))
    0.75
    """
    first, second = np.asarray(worth, np.float64), np.asarray(other, np.float64)
    return np.asarray(first / (first + second), np.float64)


def majority_wins(chance: ArrayLike, people: int = 5) -> NDArray[np.float64]:
    """Probability that most of an odd number of people choose what each chooses with this chance.

    >>> float(majority_wins(0.5)), round(float(majority_wins(0.6, 3)), 3)
    (0.5, 0.648)
    """
    if people < 1 or people % 2 == 0:
        raise UsageError(f"{people} people can be split evenly: expected an odd number")
    p = np.asarray(chance, np.float64)
    terms = (math.comb(people, k) * p**k * (1 - p) ** (people - k) for k in range(people // 2 + 1, people + 1))
    return np.asarray(sum(terms), np.float64)


def worths_by_strength(trials: Iterable[Trial], people: Mapping[str, Strengths]) -> dict[str, tuple[float, float]]:
    """Worth of both pieces of each trial to an observer who sees strength: (false alarm, label), for simulated answers.

    A piece's worth is the mean, over its pixels, of the greatest strength there or one pixel aside. What nobody drew counts as if
    half a person had. ``people`` holds the strengths of each image.
    """
    seen = {image: ndimage.maximum_filter(labels.strongest, 3) for image, labels in people.items()}

    def worth(piece: Segment, image: str) -> float:
        rows, columns = np.array(piece.pixels).T
        return float(np.maximum(seen[image][rows, columns], 0.5 / people[image].annotators).mean())

    worths = {}
    for trial in trials:
        first, second = worth(trial.first, trial.image), worth(trial.second, trial.image)
        worths[trial.trial] = (first, second) if trial.false_alarm == "first" else (second, first)
    return worths


def simulate_answers(
    trials: Sequence[Trial],
    worths: Mapping[str, tuple[float, float]],
    *,
    people: int = 5,
    seed: int = 0,
    chance: Callable[[float, float], ArrayLike] = preference,
    name: str = "observer",
) -> list[Answer]:
    """Answers of observers who prefer the stronger piece with some chance, independently for each trial and person.

    ``worths`` holds per trial the worth of the false alarm and that of the label, for example the evidence in the picture
    (:func:`~hyperacuity.audit.observer.evidence_of_trials`) or the strengths of the labels (:func:`worths_by_strength`).
    ``chance`` turns both into the probability that the false alarm is chosen: by Bradley and Terry's rule, or as an
    :class:`~hyperacuity.audit.observer.Observer` does.
    """
    words = np.random.PCG64(np.random.SeedSequence([seed])).random_raw(len(trials) * people)
    draws = ((words >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(len(trials), people)
    answers = []
    for trial, row in zip(trials, draws, strict=True):
        chosen = float(np.asarray(chance(*worths[trial.trial])))
        other: Side = "second" if trial.false_alarm == "first" else "first"
        answers += [
            Answer(f"{name} {person}", trial.trial, trial.false_alarm if draw < chosen else other)
            for person, draw in enumerate(row, 1)
        ]
    return answers


def write_answers(path: Path, answers: Sequence[Answer]) -> Path:
    """Write answers as a table: subject, trial, choice, seconds."""
    rows = [(a.subject, a.trial, a.choice, "" if math.isnan(a.seconds) else f"{a.seconds:g}") for a in answers]
    return write_rows(path, ("subject", "trial", "choice", "seconds"), rows)


def read_answers(path: Path) -> list[Answer]:
    """The answers in a table with the columns subject, trial, choice and, if there is one, seconds."""
    answers = []
    for number, row in enumerate(read_rows(path, ("subject", "trial", "choice")), 2):
        choice: Any = row["choice"]
        if choice not in ("first", "second"):
            raise InputError(f"{path}, line {number}: the choice is {choice!r}, expected first or second")
        try:
            seconds = float(row.get("seconds") or "nan")
        except ValueError as error:
            raise InputError(f"{path}, line {number}: {row['seconds']!r} is no number of seconds") from error
        answers.append(Answer(row["subject"], row["trial"], choice, seconds))
    return answers
