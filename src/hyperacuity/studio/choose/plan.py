"""Plans and answers of the forced choice: who is asked what, in which order and on which side.

A participant's plan is drawn with the invitation, from a seed that is recorded with it, and stored as a whole: practice,
then trials in random order with attention checks anywhere among them, each mirrored or not by a random bit. An answer belongs to
a position in the plan, and the first one given there counts.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from hyperacuity.audit.trials import Side
from hyperacuity.studio.choose.session import FACTS
from hyperacuity.studio.choose.trials import Study, side_of
from hyperacuity.studio.state import Schema, State, insert, now

Kind = Literal["practice", "trial", "check"]


def _adopt_address(file: sqlite3.Connection) -> None:
    """Take over the address of versions that stored it among the settings."""
    settings = dict(file.execute("SELECT name, value FROM choose_settings"))
    if settings.get("port", "").isdecimal():
        row = ("choose", "", int(settings["port"]), settings.get("token"))
        insert(file, "studio_addresses", *row, conflict="IGNORE")


SCHEMA = Schema(
    "choose",
    3,
    (
        "CREATE TABLE choose_settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        """CREATE TABLE choose_people (
            id INTEGER PRIMARY KEY,
            token TEXT NOT NULL UNIQUE,
            seed TEXT NOT NULL,
            made TEXT NOT NULL
        )""",
        """CREATE TABLE choose_plan (
            person INTEGER NOT NULL REFERENCES choose_people (id),
            position INTEGER NOT NULL,
            kind TEXT NOT NULL CHECK (kind IN ('practice', 'trial', 'check')),
            question TEXT NOT NULL,
            mirrored INTEGER NOT NULL,
            PRIMARY KEY (person, position)
        ) WITHOUT ROWID""",
        """CREATE TABLE choose_answers (
            person INTEGER NOT NULL,
            position INTEGER NOT NULL,
            side TEXT NOT NULL CHECK (side IN ('left', 'right')),
            choice TEXT NOT NULL CHECK (choice IN ('first', 'second')),
            seconds REAL NOT NULL,
            away INTEGER NOT NULL,
            answered TEXT NOT NULL,
            PRIMARY KEY (person, position),
            FOREIGN KEY (person, position) REFERENCES choose_plan (person, position)
        ) WITHOUT ROWID""",
        FACTS,
    ),
    upgrades={1: (FACTS,), 2: (_adopt_address,)},
    sealed=("choose_settings", "choose_people", "choose_plan", "choose_answers", "choose_facts"),
)


@dataclass(frozen=True)
class Design:
    """Settings of plans: seed, trials per person (None: all), practice trials, and one attention check in so many trials."""

    seed: int = 0
    per_person: int | None = None
    practice: int = 3
    check_every: int = 20


@dataclass(frozen=True)
class PlanEntry:
    """One question of a plan: its position, what it is for, and whether the photograph is mirrored."""

    position: int
    kind: Kind
    question: str
    mirrored: bool


@dataclass(frozen=True)
class Progress:
    """Progress of a participant: the current question (None: finished), the next, and how many are done, without practice."""

    current: PlanEntry | None
    ahead: PlanEntry | None
    done: int
    total: int


def invite(state: State, study: Study, design: Design) -> str:
    """Create an invitation and its plan; returns its token.

    The plan is drawn before the transaction, for which participants wait, and drawn again if another server has invited somebody
    meanwhile.
    """
    token = secrets.token_urlsafe(24)
    while True:
        number, planned = state.read_now(lambda file: _standing(file, design))
        rows = [(number, position, *entry) for position, entry in enumerate(draw_plan(study, design, number, planned))]
        person = (number, token, f"{design.seed} {number}", now())
        if state.write_now(partial(_store_plan, person=person, rows=rows)):
            return token


def _standing(file: sqlite3.Connection, design: Design) -> tuple[int, dict[str, int]]:
    """The number of the next participant, and how often each trial was given out, where that matters."""
    (number,) = file.execute("SELECT coalesce(max(id), 0) + 1 FROM choose_people").fetchone()
    query = "SELECT question, count(*) FROM choose_plan WHERE kind = 'trial' GROUP BY question"
    return number, {} if design.per_person is None else dict(file.execute(query))


def _store_plan(file: sqlite3.Connection, person: tuple[int, str, str, str], rows: Sequence[tuple[Any, ...]]) -> bool:
    """Store an invitation and its plan; False if the number is taken."""
    if not insert(file, "choose_people", *person, conflict="IGNORE"):
        return False
    for row in rows:
        insert(file, "choose_plan", *row)
    return True


def draw_plan(study: Study, design: Design, number: int, planned: dict[str, int]) -> Iterator[tuple[Kind, str, bool]]:
    """The plan of participant ``number``. Trials that were ``planned`` least often so far go first where not all are asked."""
    words = np.random.PCG64(np.random.SeedSequence([design.seed, number]))

    def shuffled(names: Sequence[str]) -> list[str]:
        return [names[index] for index in np.argsort(words.random_raw(len(names)), kind="stable")]

    trials = [name for name in study.trials if name in study.questions]
    mixed = shuffled(trials)
    if design.per_person is not None:
        mixed = shuffled(sorted(mixed, key=lambda name: planned.get(name, 0))[: design.per_person])
    obvious = list(study.obvious)
    practice, spare = shuffled(obvious[: design.practice]), shuffled(obvious[design.practice :])
    checks = inconspicuous(study, mixed, spare)[: len(mixed) // design.check_every]
    order: list[tuple[Kind, str]] = [("practice", name) for name in practice]
    asked: list[tuple[Kind, str]] = [("check", name) for name in checks]
    asked += [("trial", name) for name in mixed]
    # Every order is as likely as any other: a position says nothing, however many checks came before it.
    order += [asked[index] for index in np.argsort(words.random_raw(len(asked)), kind="stable")]
    bits = words.random_raw(len(order)) & 1
    for (kind, name), bit in zip(order, bits.tolist(), strict=True):
        yield kind, name, bool(bit)


def inconspicuous(study: Study, trials: Sequence[str], checks: Sequence[str]) -> list[str]:
    """Checks, those first whose photographs, seen once more often than in the trials, stand out least."""
    seen = Counter(study.questions[name].image for name in trials)
    alike = Counter(seen.values())

    def telling(name: str) -> float:
        times = seen[study.questions[name].image] + 1
        return 1 / (times * (alike[times] + 1))

    return sorted(checks, key=telling)


def tokens(file: sqlite3.Connection) -> list[str]:
    """The tokens of all invitations, in order."""
    return [token for (token,) in file.execute("SELECT token FROM choose_people ORDER BY id")]


def person_of(file: sqlite3.Connection, token: str) -> int | None:
    """Number of the participant with this invitation token; None for no one's."""
    row = file.execute("SELECT id FROM choose_people WHERE token = ?", (token,)).fetchone()
    return None if row is None else int(row[0])


def progress(file: sqlite3.Connection, study: Study, person: int) -> Progress:
    """Progress of a participant. Questions that can no longer be shown are skipped."""
    both = "FROM choose_plan NATURAL LEFT JOIN choose_answers WHERE person = ?"
    query = f"SELECT position, kind, question, mirrored {both} AND side IS NULL ORDER BY position"
    left = file.execute(query, (person,))
    coming: list[PlanEntry] = []
    while len(coming) < 2 and (row := left.fetchone()) is not None:
        if row[2] in study.questions:
            coming.append(PlanEntry(row[0], row[1], row[2], bool(row[3])))
    left.close()
    query = f"SELECT count(side), count(*) {both} AND kind <> 'practice'"
    done, total = file.execute(query, (person,)).fetchone()
    current, ahead = [*coming, None, None][:2]
    return Progress(current, ahead, done, total)


def entry_at(file: sqlite3.Connection, person: int, position: int) -> PlanEntry | None:
    """The entry at a position of a participant's plan."""
    query = "SELECT position, kind, question, mirrored FROM choose_plan WHERE person = ? AND position = ?"
    row = file.execute(query, (person, position)).fetchone()
    return None if row is None else PlanEntry(row[0], row[1], row[2], bool(row[3]))


def record(
    file: sqlite3.Connection, study: Study, person: int, entry: PlanEntry, *, side: str, seconds: float, away: bool
) -> None:
    """Store an answer. The first one stays: the same answer may arrive twice, and counts once."""
    question = study.questions[entry.question]
    choice: Side = "first" if side_of(question, "first", entry.mirrored) == side else "second"
    insert(file, "choose_answers", person, entry.position, side, choice, seconds, away, now(), conflict="IGNORE")


def read_setting(file: sqlite3.Connection, name: str) -> str | None:
    """A stored setting; None where it was never stored."""
    row = file.execute("SELECT value FROM choose_settings WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def store_setting(file: sqlite3.Connection, name: str, value: Any) -> None:
    """Store a setting for the next time."""
    insert(file, "choose_settings", name, str(value), conflict="REPLACE")
