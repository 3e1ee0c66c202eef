"""Contents of each page of a board, as the values that templates print."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.board.leaderboards import Contender, Leaderboard, reasons
from hyperacuity.board.names import counted, hashed, ordinal, paragraphs, short, web_link
from hyperacuity.columns import Column
from hyperacuity.console import printable
from hyperacuity.report import theme
from hyperacuity.report.sheets.sheet import interval_text, optimal_sentence, span_of

Content = dict[str, Any]
Floats = NDArray[np.float64]

MOST_CURVES = 8
"""Systems up to which curves can be told apart: the best ones are drawn."""

MOST_LISTED = 8
"""Images that a system's page lists as its best and its worst."""

FIRST_ON_INDEX = 3


def index(boards: Sequence[Leaderboard]) -> Content:
    """The front page: every leaderboard in a sentence, and what keeps those of a task apart."""
    by_task: dict[str, list[Leaderboard]] = {}
    for board in boards:
        by_task.setdefault(board.signature.task, []).append(board)
    several = [
        {
            "title": first.task.title,
            "id": f"task-{number}",
            "count": 1 + len(others),
            "apart": [{"one": other, "other": first, "reasons": reasons(other, first)} for other in others],
        }
        for number, (first, *others) in enumerate(by_task.values())
        if others
    ]
    teasers = [
        {
            "board": board,
            "first": board.contenders[:FIRST_ON_INDEX],
            "counts": f"{counted(len(board.contenders), 'system')}, {counted(len(board.images), 'image')}",
        }
        for board in boards
    ]
    return {"teasers": teasers, "several": several}


def submit(boards: Sequence[Leaderboard]) -> Content:
    """Instructions to submit a result; the example is of the first leaderboard."""
    return {"task": boards[0].signature.task, "boards": boards}


def leaderboard(board: Leaderboard, boards: Sequence[Leaderboard]) -> Content:
    """A leaderboard: the table, what was found, and how it stands to others of its task."""
    others = [other for other in boards if other.signature.task == board.signature.task and other is not board]
    values = [value for line in board.lines for value in (*line.interval, line.number(board.main.key))]
    return {
        "board": board,
        "styles": theme.systems([one.label for one in board.contenders]),
        "span": span_of(values),
        "findings": [board.sentence, *_findings(board)],
        "apart": [{"other": other, "reasons": reasons(board, other)} for other in others],
        "best_only": MOST_CURVES if len(board.contenders) > MOST_CURVES else 0,
        "hardest": [_image_row(board, place) for place in hardest_first(board)[:MOST_LISTED]],
        "apart_images": [_image_row(board, place) for place in most_apart_first(board)[:MOST_LISTED]],
        "grouped": max(one.group for one in board.contenders) > 0 and len(board.contenders) > 1,
    }


def _findings(board: Leaderboard) -> list[str]:
    sentences = []
    groups = [one.group for one in board.contenders]
    first = [one for one in board.contenders if one.group == 1]
    if len(groups) > 1 and max(groups) > 0:
        if len(first) == len(groups):
            sentences.append(
                f"On these {counted(len(board.images), 'image')} no system can be told apart from the best."
            )
        elif len(first) > 1:
            sentences.append(
                f"The first {len(first)} systems cannot be told apart; the next one is significantly worse."
            )
        else:
            others = "every other system" if first[0].line.alone else "the next system"
            sentences.append(f"{first[0].label} is significantly better than {others}.")
    if len(groups) > 1 and len(board.columns) > 1:
        sentences.append(optimal_sentence(board.lines))
    return sentences


def system(board: Leaderboard, one: Contender, boards: Sequence[Leaderboard]) -> Content:
    """A system: who made it, its scores, where it is better and worse than the others, and how to get the same numbers."""
    card, about = one.card, one.card.about
    elsewhere = [
        (other, twin)
        for other in boards
        for twin in other.contenders
        if twin is not one and twin.card.system == card.system
    ]
    link = web_link(about.link)
    return {
        "board": board,
        "one": one,
        "name": printable(card.system) or "(no name)",
        "title": short(about.title, 300) if about.title.strip() else "",
        "authors": [short(author, 120) for author in about.authors],
        "link": link,
        "unsafe_link": "" if link else printable(about.link),
        "licence": short(about.licence, 120) if about.licence.strip() else "",
        "description": paragraphs(about.description),
        "made": {part: printable(getattr(card.made, part)) for part in ("data", "command", "version", "date")},
        "standing": _standing(board, one),
        "scores": [_score(board, one, column) for column in board.columns],
        "images": _compared(board, board.contenders.index(one)),
        "elsewhere": elsewhere,
        "file": f"{one.id}.card",
    }


def _standing(board: Leaderboard, one: Contender) -> list[str]:
    main, line, count = board.main, one.line, len(board.contenders)
    value = main.as_text(line.number(main.key)) + interval_text(main, line.interval)
    place = f", {ordinal(line.rank)} of {count} systems" if count > 1 else ""
    found = [f"{main.title} {value}{place}."]
    if line.verdict is not None:
        best = board.contenders[0].label
        found.append(f"{best} is ahead by {main.as_text(line.verdict.difference)} ({line.verdict}).")
    elif line.alone:
        found.append("It is significantly better than every other system.")
    return found


def _score(board: Leaderboard, one: Contender, column: Column) -> Content:
    sign = -1 if column.better == "max" else 1
    own = sign * one.line.number(column.key)
    better = sum(sign * line.number(column.key) < own for line in board.lines)
    return {
        "column": column,
        "value": one.line.number(column.key),
        "interval": one.scoring.intervals[column.key],
        "rank": "–" if math.isnan(own) else str(1 + better),
    }


def _compared(board: Leaderboard, number: int) -> Content:
    """Images where a system is best and worst against the median of the others, or, alone, by its own score."""
    scores, sign = board.image_scores, 1 if board.main.better == "max" else -1
    others = np.delete(scores, number, axis=0)
    with np.errstate(invalid="ignore"):
        middle = _median(others) if len(others) else np.zeros(len(board.images))
        gain = sign * (scores[number] - middle)
    order = [int(n) for n in np.argsort(-gain, kind="stable") if math.isfinite(gain[n])]
    most = min(MOST_LISTED, len(order) // 2) if len(order) < 2 * MOST_LISTED else MOST_LISTED

    def rows(places: Sequence[int]) -> list[Content]:
        return [
            _image_row(board, n) | {"own": scores[number, n], "middle": middle[n], "gain": sign * gain[n]}
            for n in places
        ]

    return {"best": rows(order[:most]), "worst": rows(order[::-1][:most]), "compared": len(others) > 0}


def images(board: Leaderboard) -> Content:
    """The images of a leaderboard, the hardest first."""
    return {
        "board": board,
        "styles": theme.systems([one.label for one in board.contenders]),
        "rows": [_image_row(board, place) for place in hardest_first(board)],
        "span": _image_span(board),
        "few": len(board.contenders) <= MOST_CURVES,
    }


def every_image(board: Leaderboard) -> Iterator[tuple[str, Content]]:
    """The path and the content of the page of each image."""
    order = hardest_first(board)
    sign = -1 if board.main.better == "max" else 1
    span, apart = _image_span(board), {place: n + 1 for n, place in enumerate(most_apart_first(board))}
    ranks = _ranks(sign * board.image_scores)
    for number, place in enumerate(order):
        scores, at = board.image_scores[:, place].tolist(), np.argsort(ranks[:, place], kind="stable").tolist()
        rows = [(ranks[n, place], board.contenders[n], scores[n]) for n in at]
        yield (
            image_path(board, board.images[place]),
            {
                "board": board,
                "name": printable(board.images[place]),
                "row": _image_row(board, place),
                "rows": rows,
                "span": span,
                "harder": _neighbour(board, order, number - 1),
                "easier": _neighbour(board, order, number + 1),
                "hardness": f"{ordinal(number + 1)} hardest of {counted(len(order), 'image')}",
                "disagreement": f"{ordinal(apart[place])} greatest disagreement" if place in apart else "",
                "annotators": len(board.truths[board.images[place]]),
            },
        )


def image_path(board: Leaderboard, image: str) -> str:
    """Path of the page of an image, by a digest of its name."""
    return f"images/{board.id}-{hashed(image)}.html"


def hardest_first(board: Leaderboard) -> list[int]:
    """The places of the images, from the worst median over systems to the best; those without scores last."""
    sign = 1 if board.main.better == "max" else -1
    return [int(n) for n in np.argsort(sign * _median(board.image_scores), kind="stable")]


def most_apart_first(board: Leaderboard) -> list[int]:
    """The places of the images on which two systems or more have scores, from the greatest difference to the least."""
    known = np.isfinite(board.image_scores)
    low = np.where(known, board.image_scores, np.inf).min(axis=0)
    high = np.where(known, board.image_scores, -np.inf).max(axis=0)
    spread = np.where(known.any(axis=0), high - low, 0.0)
    return [int(n) for n in np.argsort(-spread, kind="stable") if known[:, n].sum() > 1]


def _image_row(board: Leaderboard, place: int) -> Content:
    scores = board.image_scores[:, place]
    known = scores[np.isfinite(scores)]
    low, high = (float(known.min()), float(known.max())) if known.size else (math.nan, math.nan)
    best, worst = (high, low) if board.main.better == "max" else (low, high)
    return {
        "name": short(board.images[place]),
        "path": image_path(board, board.images[place]),
        "median": float(np.median(known)) if known.size else math.nan,
        "best": best,
        "worst": worst,
        "spread": high - low,
        "scores": scores.tolist(),
    }


def _neighbour(board: Leaderboard, order: Sequence[int], number: int) -> Content | None:
    if not 0 <= number < len(order):
        return None
    image = board.images[order[number]]
    return {"name": short(image, 30), "path": image_path(board, image)}


def _median(scores: Floats) -> Floats:
    """The median of each column, NaN left out; NaN where nothing is left."""
    known = np.where(np.isfinite(scores), scores, np.nan)
    found = np.full(scores.shape[1], np.nan)
    some = ~np.isnan(known).all(axis=0)
    found[some] = np.nanmedian(known[:, some], axis=0)
    return found


def _ranks(costs: Floats) -> NDArray[np.int64]:
    """The rank of each row in each column, the least cost first; equal ones share it, NaN is last."""
    filled = np.where(np.isnan(costs), np.inf, costs)
    ranks: NDArray[np.int64] = 1 + (filled[None, :, :] < filled[:, None, :]).sum(axis=1)
    return ranks


def _image_span(board: Leaderboard) -> tuple[float, float]:
    """The axis of the images' scores: from 0, or the least of all, to 1, or the greatest of all."""
    low, high = span_of(board.image_scores.ravel().tolist())
    return min(low, 0.0), max(high, 1.0 if board.main.better == "max" else 1e-12)


def along(value: float, span: tuple[float, float], length: float = 100.0, start: float = 0.0) -> str:
    """Position of a value on a line of this length, for a drawing; at its ends for what lies beyond them."""
    low, high = span
    share = (value - low) / ((high - low) or 1.0) if math.isfinite(value) else 0.0
    return f"{start + length * min(max(share, 0.0), 1.0):.1f}"
