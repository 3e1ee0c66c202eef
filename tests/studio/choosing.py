"""Participants of the forced choice, without a browser."""

from __future__ import annotations

import sqlite3
from contextlib import closing

TOKEN = "the-experimenters-own-token"  # noqa: S105 (of a test)
TRIALS = "SELECT question FROM choose_plan WHERE kind = 'trial' AND person = ?"


def reply(client, link, position, side="left", seconds=1.5, away=False):
    return client.post(f"{link}/answer", json={"position": position, "side": side, "seconds": seconds, "away": away})


def walk(client, link, pick=lambda question: "left", most=None):
    """Answer questions until they end; returns those that were asked."""
    asked = []
    now = client.get(f"{link}/next").json()
    while now["question"] is not None and (most is None or len(asked) < most):
        question = now["question"]
        asked.append(question)
        now = reply(client, link, question["position"], pick(question)).json()
    return asked


def rows(folder, query, *values):
    with closing(sqlite3.connect(folder / "trials" / "studio.sqlite")) as file:
        return file.execute(query, values).fetchall()
