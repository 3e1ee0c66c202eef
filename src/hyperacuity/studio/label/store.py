"""The labels in the studio's file: for every person and image a log that only grows.

Actions, *undo*, *redo*, *offer* and *done* are entries of the log, numbered from 1. An *offer* says which sources of candidates a
page had; a log without one began with the gradient alone. An entry comes with the number that its page expects
it to get and a key of its own. The same entry sent twice is kept once; an entry whose number is taken by another key comes from
a page that does not know what happened elsewhere, and is refused.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyperacuity.studio.label.map import GRADIENT, Action, in_effect
from hyperacuity.studio.overview.work import WorkVersion
from hyperacuity.studio.state import Schema, now
from hyperacuity.studio.web import Refused

SCHEMA = Schema(
    "label",
    1,
    (
        """CREATE TABLE label_sheets (
            person TEXT NOT NULL REFERENCES people (id),
            item TEXT NOT NULL,
            digest TEXT NOT NULL,
            entries INTEGER NOT NULL,
            depth INTEGER NOT NULL,
            redoable INTEGER NOT NULL,
            finished INTEGER NOT NULL,
            PRIMARY KEY (person, item)
        ) WITHOUT ROWID""",
        """CREATE TABLE label_entries (
            person TEXT NOT NULL,
            item TEXT NOT NULL,
            number INTEGER NOT NULL,
            key TEXT NOT NULL,
            kind TEXT NOT NULL,
            runs BLOB NOT NULL,
            threshold INTEGER,
            seconds REAL NOT NULL,
            made TEXT NOT NULL,
            PRIMARY KEY (person, item, number)
        ) WITHOUT ROWID""",
    ),
)

ELSEWHERE = "this image was changed in another window: reload the page to continue from there"

NOT_STARTED, STARTED, DONE = "not started", "started", "done"


@dataclass(frozen=True)
class Entry:
    """One entry of a log, as a page sends it. ``seconds`` is how long the person worked for it."""

    number: int
    key: str
    action: Action
    seconds: float = 0.0


@dataclass(frozen=True)
class Log:
    """All that one person did to one image, up to now or up to the last *done*.

    ``actions`` are in effect, ``undone`` are those that redo would bring back (the next one last). ``offered`` are the sources of
    candidates that there were to choose from, the one that it began with first.
    """

    entries: int
    finished: int
    actions: tuple[Action, ...]
    undone: tuple[Action, ...]
    times: tuple[str, ...]
    seconds: float
    started: str
    ended: str
    offered: tuple[str, ...] = (GRADIENT,)

    @property
    def used(self) -> tuple[str, ...]:
        """The sources that it takes to replay this log, and what redo would bring back; the first is the one it began with."""
        chosen = (one for action in (*self.actions, *self.undone) if action.kind == "source" for one in action.sources)
        return tuple(dict.fromkeys((self.offered[0], *chosen)))

    @property
    def state(self) -> str:
        """Whether the person has started this image, or is done with it; what follows a *done* starts it again."""
        return NOT_STARTED if not self.entries else DONE if self.finished == self.entries else STARTED


def append(
    file: sqlite3.Connection, person: str, item: str, digest: str, entries: Sequence[Entry], *, limit: int = 1_000_000
) -> int:
    """Add entries to a log; how many it has then. ``Refused`` (409) where the page is behind, or the image is another one."""
    query = "SELECT digest, entries, depth, redoable, finished FROM label_sheets WHERE person = ? AND item = ?"
    row = file.execute(query, (person, item)).fetchone()
    known, count, depth, redoable, finished = row or (digest, 0, 0, 0, 0)
    check_digest(known, digest)
    for entry in entries:
        if entry.number <= count:
            query = "SELECT key FROM label_entries WHERE person = ? AND item = ? AND number = ?"
            (key,) = file.execute(query, (person, item, entry.number)).fetchone()
            if key == entry.key:
                continue
        if entry.number != count + 1:
            raise Refused(409, ELSEWHERE)
        if count >= limit:
            raise Refused(409, f"this image has {limit:,} actions already, which is as many as one can have")
        kind = entry.action.kind
        if (kind == "undo" and not depth) or (kind == "redo" and not redoable):
            raise Refused(409, f"there is nothing to {kind}")
        count += 1
        if kind == "done":
            finished = count
        elif kind != "offer":
            depth += -1 if kind == "undo" else 1
            redoable = redoable + 1 if kind == "undo" else redoable - 1 if kind == "redo" else 0
        runs = np.asarray(entry.action.runs, dtype="<u4").tobytes() or "\n".join(entry.action.sources).encode()
        values = (person, item, count, entry.key, kind, runs, entry.action.threshold, entry.seconds, now())
        file.execute("INSERT INTO label_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
    sheet = (person, item, digest, count, depth, redoable, finished)
    file.execute("INSERT OR REPLACE INTO label_sheets VALUES (?, ?, ?, ?, ?, ?, ?)", sheet)
    return count


def check_digest(known: str, digest: str) -> None:
    """Refuse to go on with labels that were made for another image of the same name."""
    if known != digest:
        raise Refused(409, "another image was labelled under this name: rename this one, or bring the first one back")


def read_log(
    file: sqlite3.Connection, person: str, item: str, digest: str, *, finished: bool = False, until: int | None = None
) -> Log:
    """What a person did to an image; with ``finished`` only up to the last *done*, or to the entry ``until``. Empty where nothing
    was done."""
    query = "SELECT digest, entries, finished FROM label_sheets WHERE person = ? AND item = ?"
    known, count, last = file.execute(query, (person, item)).fetchone() or (digest, 0, 0)
    check_digest(known, digest)
    count = until if until is not None else last if finished else count
    rows = file.execute(
        "SELECT kind, runs, threshold, seconds, made FROM label_entries"
        " WHERE person = ? AND item = ? AND number <= ? ORDER BY number",
        (person, item, count),
    ).fetchall()

    def action(index: int) -> Action:
        kind, runs, threshold, *_ = rows[index]
        if kind in ("source", "offer"):
            return Action(kind, sources=tuple(runs.decode().split("\n")))
        return Action(kind, tuple(np.frombuffer(runs, dtype="<u4").tolist()), threshold)

    kinds = [kind for kind, *_ in rows]
    offers = [source for index, kind in enumerate(kinds) if kind == "offer" for source in action(index).sources]

    done, undone = in_effect(kinds)
    return Log(
        entries=count,
        finished=last,
        actions=tuple(map(action, done)),
        undone=tuple(map(action, undone)),
        times=tuple(rows[index][4] for index in done),
        seconds=sum(row[3] for row in rows),
        started=rows[0][4] if rows else "",
        ended=rows[-1][4] if rows else "",
        offered=tuple(dict.fromkeys(offers if kinds[:1] == ["offer"] else (GRADIENT, *offers))),
    )


def states(file: sqlite3.Connection, person: str) -> dict[str, str]:
    """The images that a person has started or is done with."""
    rows = file.execute("SELECT item, entries, finished FROM label_sheets WHERE person = ?", (person,))
    return {item: DONE if finished == entries else STARTED for item, entries, finished in rows}


def finishers(file: sqlite3.Connection, item: str | None = None) -> list[tuple[str, str, str, int]]:
    """(image, id, name, entries until *done*) of all who have been done with an image (or this one), by their names."""
    rows = file.execute(
        "SELECT item, person, name, finished FROM label_sheets JOIN people ON people.id = person"
        " WHERE finished > 0 AND (?1 IS NULL OR item = ?1) ORDER BY name, item",
        (item,),
    )
    return rows.fetchall()


def versions(file: sqlite3.Connection) -> list[WorkVersion]:
    """Everyone's work on every image. Whether a map is complete is not known here: a map without any action is not."""
    rows = file.execute(
        "SELECT person, name, item, finished, coalesce(max(CASE WHEN number = finished THEN label_entries.made END), ''),"
        " finished > 0 AND finished < entries, depth > 0, sum(seconds), max(label_entries.made)"
        " FROM label_sheets JOIN people ON people.id = person JOIN label_entries USING (person, item)"
        " GROUP BY person, item ORDER BY name, item"
    )
    return [
        WorkVersion(person, name, item, number, finished, bool(changed), bool(complete), seconds, last)
        for person, name, item, number, finished, changed, complete, seconds, last in rows
    ]
