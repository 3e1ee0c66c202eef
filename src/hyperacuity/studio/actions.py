"""The log of each person's actions on each image, shared by all pages that have one.

It only grows: actions, *undo*, *redo* and *done* are entries, numbered from 1, and whatever a page shows or writes is replayed
from them. An entry comes with the number that its page expects it to get and a key of its own. The same entry sent twice is kept
once; an entry whose number is taken by another comes from a page that does not know what happened elsewhere, and is refused.
A *summary* stands with each log: how far it is, and when it was finished last.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from hyperacuity.studio.state import Schema, insert, now
from hyperacuity.studio.web import Refused

ELSEWHERE = "this image was changed in another window: reload the page to continue from there"

NOT_STARTED, STARTED, DONE = "not started", "started", "done"

LONGEST_PAUSE = 60.0
"""Longest pause between two entries, in seconds, that counts as time spent where a page does not measure it."""

NEUTRAL = ("done", "offer")
"""Kinds of entries that nothing undoes."""


class Key(NamedTuple):
    """The key of a log: the page, and the ids of a person and an image."""

    page: str
    person: str
    item: str


@dataclass(frozen=True)
class Entry:
    """An entry of a log, as a page sends it.

    ``seconds`` is how long the person worked for it; None for the time since the entry before, within :data:`LONGEST_PAUSE`.
    ``made`` is the time at which it is stored; empty for now.
    """

    number: int
    key: str
    action: Mapping[str, Any]
    seconds: float | None = 0.0
    made: str = ""


@dataclass(frozen=True)
class LogSummary:
    """Summary of a log.

    ``digest`` tells the image from others of the same name. ``entries`` are how many there are; ``depth`` actions are in effect
    and ``redoable`` can be redone; ``finished`` is the number of the last *done*, 0 for none. ``complete`` and ``facts`` are what
    the page says of it.
    """

    digest: str
    entries: int = 0
    depth: int = 0
    redoable: int = 0
    finished: int = 0
    complete: bool = True
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def state(self) -> str:
        """Progress in the words of every page; what follows a *done* starts the image again."""
        return NOT_STARTED if not self.entries else DONE if self.finished == self.entries else STARTED


class FinishedLog(NamedTuple):
    """A log with a *done*: its number and its time."""

    item: str
    person: str
    name: str
    number: int
    made: str


@dataclass(frozen=True)
class WorkVersion:
    """One person's work on one image.

    ``number`` is that of the entry that says *done* (0: never done), ``finished`` when that was, ``changed`` whether anything
    came after it; ``seconds`` were spent; ``last`` is when they last did something.
    """

    person: str
    name: str
    item: str
    number: int
    finished: str
    changed: bool
    complete: bool
    seconds: float
    last: str

    @property
    def state(self) -> str:
        """Progress in the words of every page."""
        return DONE if self.number and not self.changed else STARTED


def append(
    file: sqlite3.Connection,
    key: Key,
    digest: str,
    entries: Sequence[Entry],
    *,
    complete: bool | None = None,
    facts: Mapping[str, Any] | None = None,
    limit: int = 1_000_000,
) -> LogSummary:
    """Add entries to a log; the summary that follows. ``Refused`` (409) where the page is behind, or the image is another one.

    By default a log is complete if any action is in effect.
    """
    summary = read_summary(file, key) or LogSummary(digest)
    check_digest(summary.digest, digest)
    count, depth, redoable, finished = summary.entries, summary.depth, summary.redoable, summary.finished
    for entry in entries:
        if entry.number <= count and is_stored(file, key, entry):
            continue
        if entry.number != count + 1:
            raise Refused(409, ELSEWHERE)
        if count >= limit:
            raise Refused(409, f"this image has {limit:,} actions already, which is as many as one can have")
        kind = entry.action["kind"]
        if (kind == "undo" and not depth) or (kind == "redo" and not redoable):
            raise Refused(409, f"there is nothing to {kind}")
        made, seconds = entry.made or now(), entry.seconds
        if seconds is None:
            query = "SELECT made FROM log_entries WHERE page = ? AND person = ? AND item = ? AND number = ?"
            before = file.execute(query, (*key, count)).fetchone()
            seconds = 0.0 if before is None else pause(before[0], made)
        count += 1
        if kind == "done":
            finished = count
        elif kind not in NEUTRAL:
            depth += -1 if kind == "undo" else 1
            redoable = redoable + 1 if kind == "undo" else redoable - 1 if kind == "redo" else 0
        insert(file, "log_entries", *key, count, entry.key, _as_json(entry.action), seconds, made)
    settled = depth > 0 if complete is None else complete
    summary = LogSummary(digest, count, depth, redoable, finished, settled, facts or {})
    insert(
        file, "log_summaries", *key, *{**vars(summary), "facts": _as_json(summary.facts)}.values(), conflict="REPLACE"
    )
    return summary


def is_stored(file: sqlite3.Connection, key: Key, entry: Entry) -> bool:
    """True if this very entry is in the log. What the server added to its action when it stored it does not count."""
    query = "SELECT key, action FROM log_entries WHERE page = ? AND person = ? AND item = ? AND number = ?"
    row = file.execute(query, (*key, entry.number)).fetchone()
    if row is None or row[0] != entry.key:
        return False
    stored = json.loads(row[1])
    return all(name in stored and stored[name] == value for name, value in entry.action.items())


def check_digest(before: str, digest: str) -> None:
    """Refuse to go on with work on another image of the same name."""
    if before != digest:
        raise Refused(409, "another image was labelled under this name: rename this one, or bring the first one back")


def read_summary(file: sqlite3.Connection, key: Key) -> LogSummary | None:
    """Summary of a log; None where nothing was done."""
    return summaries(file, key.page, key.person, key.item).get(key.item)


def summaries(file: sqlite3.Connection, page: str, person: str, item: str | None = None) -> dict[str, LogSummary]:
    """The summaries of a person's logs on a page, by image."""
    rows = file.execute(
        "SELECT item, digest, entries, depth, redoable, finished, complete, facts FROM log_summaries"
        " WHERE page = ?1 AND person = ?2 AND (?3 IS NULL OR item = ?3)",
        (page, person, item),
    )
    return {
        one: LogSummary(digest, entries, depth, redoable, finished, bool(complete), json.loads(facts))
        for one, digest, entries, depth, redoable, finished, complete, facts in rows
    }


def read_entries(file: sqlite3.Connection, key: Key, until: int = 1 << 62) -> list[Entry]:
    """The entries of a log up to a number."""
    rows = file.execute(
        "SELECT number, key, action, seconds, made FROM log_entries"
        " WHERE page = ? AND person = ? AND item = ? AND number <= ? ORDER BY number",
        (*key, until),
    )
    return [Entry(number, one, json.loads(action), seconds, made) for number, one, action, seconds, made in rows]


def in_effect(kinds: Sequence[str]) -> tuple[list[int], list[int]]:
    """The entries of a log that are in effect, and those that redo would bring back (the next one last), by their indices.

    >>> in_effect(["add", "erase", "undo", "path", "undo", "done", "undo", "redo"])
    ([0], [3])
    """
    done: list[int] = []
    undone: list[int] = []
    for index, kind in enumerate(kinds):
        if kind == "undo":
            undone.append(done.pop())
        elif kind == "redo":
            done.append(undone.pop())
        elif kind not in NEUTRAL:
            done.append(index)
            undone.clear()
    return done, undone


def finished_logs(file: sqlite3.Connection, page: str, item: str | None = None) -> list[FinishedLog]:
    """All logs of a page (or of an image) with a *done*, by name and image."""
    rows = file.execute(
        "SELECT item, person, name, finished, log_entries.made FROM log_summaries"
        " JOIN people ON people.id = person JOIN log_entries USING (page, person, item)"
        " WHERE page = ?1 AND (?2 IS NULL OR item = ?2) AND finished > 0 AND number = finished ORDER BY name, item",
        (page, item),
    )
    return [FinishedLog(*row) for row in rows]


def versions(file: sqlite3.Connection, page: str) -> list[WorkVersion]:
    """Everyone's work on every image of a page."""
    rows = file.execute(
        "SELECT person, name, item, finished, coalesce(max(CASE WHEN number = finished THEN log_entries.made END), ''),"
        " finished > 0 AND finished < entries, complete, round(sum(seconds), 3), max(log_entries.made)"
        " FROM log_summaries JOIN people ON people.id = person JOIN log_entries USING (page, person, item)"
        " WHERE page = ? GROUP BY person, item ORDER BY name, item",
        (page,),
    )
    return [
        WorkVersion(person, name, item, number, finished, bool(changed), bool(complete), seconds, last)
        for person, name, item, number, finished, changed, complete, seconds, last in rows
    ]


def pause(sooner: str, later: str) -> float:
    """The seconds between two times, :data:`LONGEST_PAUSE` at most."""
    seconds = (datetime.fromisoformat(later) - datetime.fromisoformat(sooner)).total_seconds()
    return min(max(seconds, 0.0), LONGEST_PAUSE)


def _as_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _adopt_earlier(file: sqlite3.Connection) -> None:
    """Take over the logs of versions in which each page had tables of its own."""
    earlier = dict(file.execute("SELECT name, version FROM schemas"))
    try:
        if "label" in earlier:
            _adopt_labels(file)
        if "order" in earlier:
            _adopt_orders(file, "complete" if earlier["order"] > 1 else "ordered >= regions")
    except (LookupError, TypeError, ValueError) as error:
        raise sqlite3.DatabaseError(f"a log of an earlier version cannot be read: {error}") from error


def _adopt_labels(file: sqlite3.Connection) -> None:
    def action_of(kind: str, runs: bytes, threshold: int | None) -> dict[str, Any]:
        if kind in ("source", "offer"):
            return {"kind": kind, "runs": [], "threshold": None, "sources": runs.decode().split("\n")}
        return {"kind": kind, "runs": np.frombuffer(runs, dtype="<u4").tolist(), "threshold": threshold}

    earlier = file.execute("SELECT person, item, digest, entries, finished, depth > 0 FROM label_sheets").fetchall()
    for person, item, digest, count, finished, complete in earlier:
        query = (
            "SELECT number, key, kind, runs, threshold, seconds, made FROM label_entries WHERE person = ? AND item = ?"
        )
        entries = [
            Entry(number, key, action_of(kind, runs, threshold), seconds, made)
            for number, key, kind, runs, threshold, seconds, made in file.execute(
                f"{query} ORDER BY number", (person, item)
            )
        ]
        summary = LogSummary(digest, count, finished=finished, complete=bool(complete))
        _adopt(file, Key("label", person, item), summary, entries)
    for statement in (
        "DROP TABLE label_entries",
        "DROP TABLE label_sheets",
        "DELETE FROM schemas WHERE name = 'label'",
    ):
        file.execute(statement)


def _adopt_orders(file: sqlite3.Connection, complete_if: str) -> None:
    query = f"SELECT person, item, source, version, written, {complete_if}, ordered, regions, tangled FROM order_sheets"  # noqa: S608
    for person, item, digest, count, written, complete, ordered, regions, tangled in file.execute(query).fetchall():
        query = "SELECT version, tab, action, made FROM order_log WHERE person = ? AND item = ? ORDER BY version"
        entries: list[Entry] = []
        for number, tab, action, made in file.execute(query, (person, item)):
            seconds = pause(entries[-1].made, made) if entries else 0.0
            entries.append(Entry(number, tab, json.loads(action), seconds, made))
        facts = {"ordered": ordered, "regions": regions, "tangled": tangled}
        summary = LogSummary(digest, count, finished=written, complete=bool(complete), facts=facts)
        _adopt(file, Key("order", person, item), summary, entries)
    for statement in ("DROP TABLE order_log", "DROP TABLE order_sheets", "DELETE FROM schemas WHERE name = 'order'"):
        file.execute(statement)


def _adopt(file: sqlite3.Connection, key: Key, summary: LogSummary, entries: Sequence[Entry]) -> None:
    for one in entries:
        row = (*key, one.number, one.key, _as_json(one.action), one.seconds, one.made)
        file.execute("INSERT INTO log_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    done, undone = in_effect([one.action["kind"] for one in entries])
    values = {**vars(summary), "depth": len(done), "redoable": len(undone), "facts": _as_json(summary.facts)}
    file.execute("INSERT INTO log_summaries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*key, *values.values()))


SCHEMA = Schema(
    "log",
    1,
    (
        """CREATE TABLE log_summaries (
            page TEXT NOT NULL,
            person TEXT NOT NULL,
            item TEXT NOT NULL,
            digest TEXT NOT NULL,
            entries INTEGER NOT NULL,
            depth INTEGER NOT NULL,
            redoable INTEGER NOT NULL,
            finished INTEGER NOT NULL,
            complete INTEGER NOT NULL,
            facts TEXT NOT NULL,
            PRIMARY KEY (page, person, item)
        ) WITHOUT ROWID""",
        """CREATE TABLE log_entries (
            page TEXT NOT NULL,
            person TEXT NOT NULL,
            item TEXT NOT NULL,
            number INTEGER NOT NULL,
            key TEXT NOT NULL,
            action TEXT NOT NULL,
            seconds REAL NOT NULL,
            made TEXT NOT NULL,
            PRIMARY KEY (page, person, item, number)
        ) WITHOUT ROWID""",
        _adopt_earlier,
    ),
    sealed=("log_summaries", "log_entries"),
)
