"""The orders in the studio's file: for every person and image a log of actions, undo and redo included, and a summary.

Actions are numbered from 1 by the page that sends them: one that arrives twice is kept once, and one whose number is taken by
another comes from a page that does not know what happened elsewhere, and is refused.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from hyperacuity.studio.overview.work import WorkVersion
from hyperacuity.studio.state import Schema, now
from hyperacuity.studio.web import Refused

SCHEMA = Schema(
    "order",
    2,
    (
        "CREATE TABLE order_sheets (person TEXT, item TEXT, source TEXT NOT NULL, version INTEGER NOT NULL, "
        "ordered INTEGER NOT NULL, regions INTEGER NOT NULL, tangled INTEGER NOT NULL, written INTEGER NOT NULL, "
        "complete INTEGER NOT NULL DEFAULT 1, PRIMARY KEY (person, item)) WITHOUT ROWID",
        "CREATE TABLE order_log (person TEXT, item TEXT, version INTEGER, tab TEXT NOT NULL, action TEXT NOT NULL, "
        "made TEXT NOT NULL, PRIMARY KEY (person, item, version)) WITHOUT ROWID",
    ),
    upgrades={
        1: (
            "ALTER TABLE order_sheets ADD COLUMN complete INTEGER NOT NULL DEFAULT 1",
            "UPDATE order_sheets SET complete = ordered >= regions",
        )
    },
)

ELSEWHERE = "this image was changed in another tab or browser; the page now shows how it stands"

LONGEST_PAUSE = 60.0
"""Seconds that a pause between two actions counts at most as time spent."""

Key = tuple[str, str]
"""The ids of a person and an image."""


@dataclass(frozen=True)
class OrderSummary:
    """How things stand: a digest of the regions, the number of actions, of ordered and of all regions, of contradicting ones,
    after how many actions the files were last written (0: never), and whether the order was complete then."""

    source: str
    version: int = 0
    ordered: int = 0
    regions: int = 0
    tangled: int = 0
    written: int = 0
    complete: int = 1


def read_summary(file: sqlite3.Connection, key: Key) -> OrderSummary | None:
    """How one person's order of one image stands; None where nothing was done."""
    query = "SELECT source, version, ordered, regions, tangled, written, complete FROM order_sheets WHERE person = ? AND item = ?"
    row = file.execute(query, key).fetchone()
    return None if row is None else OrderSummary(*row)


def read_overview(file: sqlite3.Connection, person: str) -> dict[str, dict[str, Any]]:
    """The images that a person has started, and how they stand."""
    query = "SELECT item, version, ordered, regions, tangled, written, complete FROM order_sheets WHERE person = ?"
    return {
        item: {
            "started": True,
            "ordered": ordered,
            "regions": regions,
            "tangled": tangled > 0,
            "written": written == version,
            "complete": bool(complete),
            "changed": 0 < written < version,
        }
        for item, version, ordered, regions, tangled, written, complete in file.execute(query, (person,))
    }


def read_actions(file: sqlite3.Connection, key: Key, before: int = 1 << 62) -> list[str]:
    """The actions of one person on one image with a number below ``before``, as JSON."""
    query = "SELECT action FROM order_log WHERE person = ? AND item = ? AND version < ? ORDER BY version"
    rows = file.execute(query, (*key, before))
    return [action for (action,) in rows]


def is_stored(file: sqlite3.Connection, key: Key, version: int, tab: str, action: str) -> bool:
    """Whether this very action, from this very tab, has been stored already. Parts of a split region were counted here."""
    query = "SELECT tab, action FROM order_log WHERE person = ? AND item = ? AND version = ?"
    row = file.execute(query, (*key, version)).fetchone()
    if row is None or row[0] != tab:
        return False
    known = json.loads(row[1])
    known.pop("parts", None)
    return bool(known == json.loads(action))


def append(
    file: sqlite3.Connection, key: Key, summary: OrderSummary, tab: str, action: str, made: str | None = None
) -> None:
    """Store an action, ``made`` at a time (now), and the summary that follows from it.

    ``Refused`` (409) if another server has stored one meanwhile.
    """
    (latest,) = file.execute("SELECT max(version) FROM order_log WHERE person = ? AND item = ?", key).fetchone()
    if summary.version != (latest or 0) + 1:
        raise Refused(409, ELSEWHERE)
    file.execute("INSERT INTO order_log VALUES (?, ?, ?, ?, ?, ?)", (*key, summary.version, tab, action, made or now()))
    file.execute("INSERT OR REPLACE INTO order_sheets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*key, *astuple(summary)))


def finished(file: sqlite3.Connection) -> list[tuple[str, str, str, str, int, str]]:
    """(image, digest of its regions, id, name, actions until *done*, when) of all who have been done with an image."""
    rows = file.execute(
        "SELECT item, source, person, name, written, order_log.made FROM order_sheets"
        " JOIN people ON people.id = person JOIN order_log USING (person, item)"
        " WHERE written > 0 AND order_log.version = written ORDER BY name, item"
    )
    return rows.fetchall()


def time_spent(file: sqlite3.Connection, key: Key, before: int = 1 << 62) -> tuple[str | None, float]:
    """When the first action was made, and the seconds from there to the last, a pause counting for at most a minute.

    Only actions with a number below ``before`` count.
    """
    query = "SELECT made FROM order_log WHERE person = ? AND item = ? AND version < ? ORDER BY version"
    rows = file.execute(query, (*key, before))
    times = [made for (made,) in rows]
    return times[0] if times else None, _spent(times)


def _spent(times: Sequence[str]) -> float:
    """The seconds between the first and the last of some times, a pause counting for at most a minute."""
    pauses = ((later - sooner).total_seconds() for sooner, later in pairwise(map(datetime.fromisoformat, times)))
    return round(sum(min(max(pause, 0.0), LONGEST_PAUSE) for pause in pauses), 3)


def versions(file: sqlite3.Connection) -> list[WorkVersion]:
    """Everyone's work on every image."""
    times: defaultdict[Key, list[str]] = defaultdict(list)
    for person, item, made in file.execute("SELECT person, item, made FROM order_log ORDER BY person, item, version"):
        times[person, item].append(made)
    rows = file.execute(
        "SELECT person, name, item, written, version, complete FROM order_sheets JOIN people ON people.id = person"
        " WHERE version > 0 ORDER BY name, item"
    )
    return [
        WorkVersion(
            person,
            name,
            item,
            number=written,
            finished=times[person, item][written - 1] if written else "",
            changed=0 < written < version,
            complete=bool(complete),
            seconds=_spent(times[person, item]),
            last=times[person, item][-1],
        )
        for person, name, item, written, version, complete in rows
    ]
