"""Results so far: the risk as it comes in, how far people agree, who paid attention; and tables to download."""

from __future__ import annotations

import csv
import io
import math
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from hyperacuity.audit.risk import Answer, Risk, RiskScore, risk
from hyperacuity.outputs import write_output
from hyperacuity.studio.choose.trials import Study
from hyperacuity.studio.state import State

COLUMNS = ("subject", "trial", "choice", "seconds", "side", "mirrored", "position", "away", "answered")
"""Columns of the table of answers; the first four are those that ``hyperacuity study risk`` reads."""


@dataclass(frozen=True)
class RecordedAnswer:
    """An answer with all that was recorded about it."""

    person: int
    position: int
    kind: str
    question: str
    mirrored: int
    side: str
    choice: str
    seconds: float
    away: int
    answered: str


Answers = Sequence[RecordedAnswer]


@dataclass(frozen=True)
class Participant:
    """Progress of a participant, and how they did on attention checks."""

    number: int
    token: str
    done: int
    total: int
    checks: int
    checks_right: int
    seconds: float
    last: str
    hasty: int = 0


def subject(number: int) -> str:
    """Name of a participant in results."""
    return f"P{number:02d}"


def all_answers(file: sqlite3.Connection) -> list[RecordedAnswer]:
    """Every answer, by person and position."""
    rows = file.execute(
        "SELECT person, position, kind, question, mirrored, side, choice, seconds, away, answered"
        " FROM choose_plan NATURAL JOIN choose_answers ORDER BY person, position"
    )
    return [RecordedAnswer(*row) for row in rows]


def participants(file: sqlite3.Connection, study: Study, answers: Answers, *, hasty: float = 0.0) -> list[Participant]:
    """Everybody who was invited, in the order of invitation. Answers to trials faster than ``hasty`` seconds are counted."""
    invited = file.execute(
        "SELECT id, token, count(*) FILTER (WHERE kind <> 'practice') FROM choose_people"
        " LEFT JOIN choose_plan ON person = id GROUP BY id ORDER BY id"
    ).fetchall()
    by_person: dict[int, list[RecordedAnswer]] = {}
    for row in answers:
        by_person.setdefault(row.person, []).append(row)
    people = []
    for number, token, total in invited:
        theirs = by_person.get(number, [])
        checks = [row for row in theirs if row.kind == "check"]
        times = [row.seconds for row in theirs if row.kind == "trial"]
        done = sum(row.kind != "practice" for row in theirs)
        right = sum(row.choice == study.obvious.get(row.question, row.choice) for row in checks)
        seconds = median(times) if times else math.nan
        last = max((row.answered for row in theirs), default="")
        fast = sum(time < hasty for time in times)
        people.append(Participant(number, token, done, total, len(checks), right, seconds, last, fast))
    return people


def score(study: Study, answers: Answers, people: Iterable[Participant], *, attentive: float = 0.0) -> RiskScore:
    """The risk by the answers to trials of people who got at least this share of their attention checks right."""
    counted = _counted(people, attentive)
    taken = [
        Answer(subject(row.person), row.question, "first" if row.choice == "first" else "second", row.seconds)
        for row in answers
        if row.kind == "trial" and row.person in counted
    ]
    return risk(list(study.trials.values()), taken)


def _counted(people: Iterable[Participant], attentive: float) -> set[int]:
    """The numbers of people who got at least this share of their attention checks right."""
    return {one.number for one in people if one.checks_right >= attentive * one.checks}


def summary(study: Study, answers: Answers, people: Sequence[Participant], *, attentive: float) -> dict[str, Any]:
    """Everything on the results page."""
    of = score(study, answers, people, attentive=attentive)
    counted = _counted(people, attentive)
    return {
        "answers": sum(row.kind == "trial" and row.person in counted for row in answers),
        "subjects": of.subjects,
        "seconds": _or_none(of.seconds),
        "modes": [
            {
                "mode": mode,
                "alpha": _or_none(of.alpha[mode]),
                "rows": [_risk(name, one) for name, one in systems.items()],
                "mean": _risk("mean", of.mean[mode]),
            }
            for mode, systems in of.risks.items()
        ],
        "people": [
            {
                "subject": subject(one.number),
                "link": f"/take/{one.token}",
                "done": one.done,
                "total": one.total,
                "checks": one.checks,
                "right": one.checks_right,
                "seconds": _or_none(one.seconds),
                "hasty": one.hasty,
                "last": one.last,
            }
            for one in people
        ],
        "failed": [{"trial": trial, "reason": why} for trial, why in sorted(study.failed.items())],
    }


def answer_table(answers: Answers) -> str:
    """The answers to trials as CSV: what ``hyperacuity study risk --answers`` reads."""
    return as_csv(COLUMNS, [_line(row) for row in answers if row.kind == "trial"])


def export(state: State, path: Path) -> None:
    """Write :func:`answer_table` to a file. ``UsageError`` where that fails."""
    write_output(path, answer_table(state.read_now(all_answers)).encode())


def full_table(study: Study, answers: Answers) -> str:
    """Everything that was recorded, practice and attention checks too, as CSV. Checks say whether they were passed."""
    rows = []
    for row in answers:
        right = study.obvious.get(row.question)
        passed = "" if right is None else ("yes" if row.choice == right else "no")
        rows.append((*_line(row), row.kind, passed))
    return as_csv((*COLUMNS, "kind", "passed"), rows)


def _line(row: RecordedAnswer) -> tuple[Any, ...]:
    mirrored, away = ("yes" if flag else "no" for flag in (row.mirrored, row.away))
    answer = (row.question, row.choice, f"{row.seconds:.4f}", row.side, mirrored, row.position, away, row.answered)
    return subject(row.person), *answer


def as_csv(heading: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows(rows)
    return text.getvalue()


def _risk(name: str, one: Risk) -> dict[str, Any]:
    low, high = one.interval
    return {"name": name, "risk": _or_none(one.risk), "low": low, "high": high, "trials": one.trials, "ties": one.ties}


def _or_none(number: float) -> float | None:
    return None if math.isnan(number) else number
