"""A person's labels of an image, read from the action log.

An *offer* says which sources of candidates a page had; a log without one began with the gradient alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hyperacuity.studio import actions
from hyperacuity.studio.label.map import GRADIENT, Action

PAGE = "label"


@dataclass(frozen=True)
class Log:
    """One person's work on one image, up to now or up to an entry.

    ``actions`` are in effect, ``undone`` are those that redo would bring back (the next one last). ``offered`` are the sources of
    candidates that there were to choose from, the one that it began with first.
    """

    entries: int
    state: str
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


def read_log(
    file: sqlite3.Connection, person: str, item: str, digest: str, *, finished: bool = False, until: int | None = None
) -> Log:
    """A person's work on an image; with ``finished`` only up to the last *done*, or to the entry ``until``. Empty where nothing
    was done."""
    key = actions.Key(PAGE, person, item)
    summary = actions.read_summary(file, key) or actions.LogSummary(digest)
    actions.check_digest(summary.digest, digest)
    count = until if until is not None else summary.finished if finished else summary.entries
    entries = actions.read_entries(file, key, count)
    done, undone = actions.in_effect([one.action["kind"] for one in entries])
    offers = [source for one in entries if one.action["kind"] == "offer" for source in one.action["sources"]]
    begins_with_offer = bool(entries) and entries[0].action["kind"] == "offer"
    return Log(
        entries=count,
        state=summary.state,
        actions=tuple(action_of(entries[index].action) for index in done),
        undone=tuple(action_of(entries[index].action) for index in undone),
        times=tuple(entries[index].made for index in done),
        seconds=sum(one.seconds or 0.0 for one in entries),
        started=entries[0].made if entries else "",
        ended=entries[-1].made if entries else "",
        offered=tuple(dict.fromkeys(offers if begins_with_offer else (GRADIENT, *offers))),
    )


def action_of(stored: Mapping[str, Any]) -> Action:
    """An action as it is stored, and as pages get it."""
    return Action(stored["kind"], tuple(stored["runs"]), stored["threshold"], tuple(stored.get("sources", ())))


def as_dict(action: Action) -> dict[str, Any]:
    """An action as it is stored, and as pages get it: its sources only if it has any."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in vars(action).items()
        if name != "sources" or value
    }
