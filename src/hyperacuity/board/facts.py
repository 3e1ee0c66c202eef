"""A board as JSON for programs, and as a table to paste (:func:`table_of`).

``board.json`` has the leaderboards, and ``boards/ID.json`` the scores of each image.

``board.json`` is one object::

    {"schema": "hyperacuity board 1", "boards": [{
        "id", "title", "task", "signature", "data" (fingerprint of the truths), "images" (how many), "page", "scores",
        "criteria": [{"name", "better": "max" | "min"}],                the first one ranks
        "systems": [{
            "id", "digest", "name", "rank", "group", "pareto", "p" (of the best system against it, Holm; null for the best),
            "scores": {criterion: number}, "intervals": {criterion: [low, high]},       95 %, bootstrap over images
            "expected", "page", "card", "about": {…}, "made": {…}}]}]}

and ``boards/ID.json`` is ``{"schema": "hyperacuity images 1", "criterion", "images": [name], "systems": {id: [score]}}``. What
does not exist is ``null``. Names and the like are as the cards have them: escape them before you show them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hyperacuity.board.leaderboards import Contender, Leaderboard
from hyperacuity.evaluation.export import ScoreTable
from hyperacuity.evaluation.score_tables import caption_of
from hyperacuity.tally import plain

SCHEMA = "hyperacuity board 1"
IMAGES_SCHEMA = "hyperacuity images 1"


def board_facts(boards: Sequence[Leaderboard]) -> dict[str, Any]:
    """Contents of ``board.json``."""
    found: dict[str, Any] = plain({"schema": SCHEMA, "boards": [_board(board) for board in boards]})
    return found


def image_facts(board: Leaderboard) -> dict[str, Any]:
    """Contents of ``boards/ID.json``."""
    systems = {one.id: one.scoring.alone for one in board.contenders}
    found: dict[str, Any] = plain(
        {"schema": IMAGES_SCHEMA, "criterion": board.main.key, "images": board.images, "systems": systems}
    )
    return found


def as_json(facts: dict[str, Any]) -> bytes:
    """The facts as the bytes of their file: one that ``diff`` can work with."""
    return (json.dumps(facts, allow_nan=False, indent=1) + "\n").encode()


def _board(board: Leaderboard) -> dict[str, Any]:
    return {
        "id": board.id,
        "title": board.title,
        "task": board.signature.task,
        "signature": str(board.signature),
        "data": board.fingerprint,
        "images": len(board.images),
        "page": f"boards/{board.id}.html",
        "scores": f"boards/{board.id}.json",
        "criteria": [{"name": column.key, "better": column.better} for column in board.columns],
        "systems": [_system(one) for one in board.contenders],
    }


def _system(one: Contender) -> dict[str, Any]:
    line, card = one.line, one.card
    return {
        "id": one.id,
        "digest": card.digest,
        "name": card.system,
        "rank": line.rank,
        "group": one.group,
        "pareto": line.optimal,
        "p": None if line.verdict is None else line.verdict.p,
        "scores": one.scoring.overall,
        "intervals": one.scoring.intervals,
        "expected": card.expected,
        "page": f"systems/{one.id}.html",
        "card": f"cards/{one.id}.card",
        "about": asdict(card.about),
        "made": asdict(card.made),
    }


def table_of(board: Leaderboard) -> ScoreTable:
    """The systems of a leaderboard with scores, intervals and p-values, the best first; the signature is in the caption.

    A value is bold where it is the best by the main score, and significantly better than every other.
    """
    tests = [line.verdict for line in board.lines if line.verdict is not None]
    alone = bool(board.lines) and board.lines[0].alone
    return ScoreTable(
        (*board.columns, *board.further),
        board.lines,
        caption_of(board.task, board.main, board.lines, tests),
        board.protocol,
        label=f"tab:{board.id}",
        tests=len(tests) or None,
        unsure=frozenset(
            column.key for column in (*board.columns, *board.further) if not (alone and column is board.main)
        ),
    )
