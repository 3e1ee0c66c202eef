"""The labels in the studio's file: for every person and image a log that only grows.

Actions, *undo*, *redo* and *done* are entries of the log, numbered from 1. An entry comes with the number that its page expects
it to get and a key of its own. The same entry sent twice is kept once; an entry whose number is taken by another key comes from
a page that does not know what happened elsewhere, and is refused.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyperacuity.studio.label.map import Action, in_effect
from hyperacuity.studio.state import Layout, now
from hyperacuity.studio.web import Refused

LAYOUT = Layout(
    "label",
    1,
    (
        """CREATE TABLE label_sheets (
            person TEXT NOT NULL REFERENCES people (id),
            item TEXT NOT NULL,
            picture TEXT NOT NULL,
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
        "CREATE TABLE label_folders (person TEXT PRIMARY KEY, folder TEXT NOT NULL) WITHOUT ROWID",
    ),
)

UNTOUCHED, BEGUN, DONE = "untouched", "begun", "done"


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

    ``actions`` are in effect, ``undone`` are those that redo would bring back (the next one last).
    """

    entries: int
    finished: int
    actions: tuple[Action, ...]
    undone: tuple[Action, ...]
    times: tuple[str, ...]
    seconds: float
    begun: str
    ended: str

    @property
    def state(self) -> str:
        """Whether the person has begun this image, or is done with it; what follows a *done* begins it anew."""
        return UNTOUCHED if not self.entries else DONE if self.finished == self.entries else BEGUN


def append(
    file: sqlite3.Connection, person: str, item: str, picture: str, entries: Sequence[Entry], *, limit: int = 1_000_000
) -> int:
    """Add entries to a log; how many it has then. ``Refused`` (409) where the page is behind, or the image is another one."""
    row = file.execute(
        "SELECT picture, entries, depth, redoable, finished FROM label_sheets WHERE person = ? AND item = ?",
        (person, item),
    ).fetchone()
    known, count, depth, redoable, finished = row or (picture, 0, 0, 0, 0)
    check_picture(known, picture)
    for entry in entries:
        if entry.number <= count:
            (key,) = file.execute(
                "SELECT key FROM label_entries WHERE person = ? AND item = ? AND number = ?",
                (person, item, entry.number),
            ).fetchone()
            if key == entry.key:
                continue
        if entry.number != count + 1:
            raise Refused(409, "this image was changed in another window: reload the page to go on from there")
        if count >= limit:
            raise Refused(409, f"this image has {limit:,} actions already, which is as many as one can have")
        kind = entry.action.kind
        if (kind == "undo" and not depth) or (kind == "redo" and not redoable):
            raise Refused(409, f"there is nothing to {kind}")
        count += 1
        if kind == "done":
            finished = count
        else:
            depth += -1 if kind == "undo" else 1
            redoable = redoable + 1 if kind == "undo" else redoable - 1 if kind == "redo" else 0
        runs = np.asarray(entry.action.runs, dtype="<u4").tobytes()
        file.execute(
            "INSERT INTO label_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (person, item, count, entry.key, kind, runs, entry.action.threshold, entry.seconds, now()),
        )
    file.execute(
        "INSERT OR REPLACE INTO label_sheets VALUES (?, ?, ?, ?, ?, ?, ?)",
        (person, item, picture, count, depth, redoable, finished),
    )
    return count


def check_picture(known: str, picture: str) -> None:
    """Refuse to go on with labels that were made for another image of the same name."""
    if known != picture:
        raise Refused(
            409, "the image is not the one that was labelled under this name: rename it, or bring the first one back"
        )


def read_log(file: sqlite3.Connection, person: str, item: str, picture: str, *, finished: bool = False) -> Log:
    """What a person did to an image; with ``finished`` only up to the last *done*. Empty where nothing was done."""
    row = file.execute(
        "SELECT picture, entries, finished FROM label_sheets WHERE person = ? AND item = ?", (person, item)
    ).fetchone()
    known, count, last = row or (picture, 0, 0)
    check_picture(known, picture)
    count = last if finished else count
    rows = file.execute(
        "SELECT kind, runs, threshold, seconds, made FROM label_entries"
        " WHERE person = ? AND item = ? AND number <= ? ORDER BY number",
        (person, item, count),
    ).fetchall()
    done, undone = in_effect([kind for kind, *_ in rows])

    def action(place: int) -> Action:
        kind, runs, threshold, *_ = rows[place]
        return Action(kind, tuple(np.frombuffer(runs, dtype="<u4").tolist()), threshold)

    return Log(
        entries=count,
        finished=last,
        actions=tuple(map(action, done)),
        undone=tuple(map(action, undone)),
        times=tuple(rows[place][4] for place in done),
        seconds=sum(row[3] for row in rows),
        begun=rows[0][4] if rows else "",
        ended=rows[-1][4] if rows else "",
    )


def states(file: sqlite3.Connection, person: str) -> dict[str, str]:
    """The images that a person has begun or is done with."""
    rows = file.execute("SELECT item, entries, finished FROM label_sheets WHERE person = ?", (person,))
    return {item: DONE if finished == entries else BEGUN for item, entries, finished in rows}


def finishers(file: sqlite3.Connection, item: str | None = None) -> list[tuple[str, str, str, int]]:
    """(image, id, name, entries until *done*) of all who have been done with an image (or this one), by their names."""
    rows = file.execute(
        "SELECT item, person, name, finished FROM label_sheets JOIN people ON people.id = person"
        " WHERE finished > 0 AND (?1 IS NULL OR item = ?1) ORDER BY name, item",
        (item,),
    )
    return rows.fetchall()


def folder_of(file: sqlite3.Connection, person: str, name: str) -> str:
    """The folder that a person's files go to: the name, as far as file systems take it, and a number where it is taken."""
    row = file.execute("SELECT folder FROM label_folders WHERE person = ?", (person,)).fetchone()
    if row is not None:
        return str(row[0])
    plain = "".join(letter if letter.isalnum() or letter in " -_" else "_" for letter in name)[:60].strip()
    plain = plain or "_"
    taken = {kept.casefold() for (kept,) in file.execute("SELECT folder FROM label_folders")}  # some disks ignore case
    folder, number = plain, 1
    while folder.casefold() in taken:
        number += 1
        folder = f"{plain} {number}"
    file.execute("INSERT INTO label_folders VALUES (?, ?)", (person, folder))
    return folder
