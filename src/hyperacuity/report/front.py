"""The front page of a report of several tasks: what was found, a card for each task with its answer and the evidence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperacuity.report import theme
from hyperacuity.report.sheets.sheet import Sheet, span_of, systems_of

MOST_NAMED = 3
"""Systems, or titles of sheets, up to which all are named."""

MOST_ROWS = 7
"""Systems up to which a card shows all; of more, it shows the best."""


@dataclass(frozen=True)
class Row:
    """A line of a card's small chart; ``low`` and ``high`` are where its interval ends, or a bar begins and ends."""

    name: str
    value: float
    text: str
    low: float
    high: float
    colour: str = "currentColor"
    path: str = ""
    place: int = -1


@dataclass(frozen=True)
class Evidence:
    """A card's small chart: rows on one axis, the level of chance where there is one, and what the axis says."""

    rows: tuple[Row, ...]
    span: tuple[float, float]
    chance: float
    caption: str
    more: int = 0

    def at(self, value: float, width: float) -> float:
        """Position of a value on an axis of this width."""
        low, high = self.span
        return round(width * (value - low) / ((high - low) or 1), 1)


PEOPLE = "M0,-5L4,0L0,5L-4,0Z"


def evidence(sheet: Sheet) -> Evidence | None:
    """The main score of the systems with their intervals, people and chance; of numbers that rank nobody, shares."""
    if not sheet.lines:
        return None
    main = sheet.main
    if not main.better:
        return _shares(sheet)
    styles = theme.systems([line.system for line in sheet.lines])
    few = sheet.lines if len(sheet.lines) <= MOST_ROWS else sheet.lines[: MOST_ROWS - 1]
    rows = [
        Row(
            line.system,
            value := line.number(main.key),
            "–" if math.isnan(value) else f"{value:.{min(main.digits, 3)}f}",
            *line.interval,
            styles[line.system].colour,
            theme.MARKERS[styles[line.system].marker],
            place,
        )
        for place, line in enumerate(few)
    ]
    if not math.isnan(sheet.people):
        text = f"{sheet.people:.{min(main.digits, 3)}f}"
        rows.append(Row("people", sheet.people, text, math.nan, math.nan, "currentColor", PEOPLE))
    span = span_of([end for row in rows for end in (row.value, row.low, row.high)] + [sheet.chance])
    unit = f" ({main.unit})" if main.unit else ""
    caption = f"{main.title}{unit}, {SENSE[main.better]}"
    return Evidence(tuple(rows), span, sheet.chance, caption, len(sheet.lines) - len(few))


SENSE = {"max": "higher is better", "min": "lower is better"}


def _shares(sheet: Sheet) -> Evidence:
    """The first line's numbers of the main one's unit, as bars from 0."""
    line, main = sheet.lines[0], sheet.main
    alike = [column for column in sheet.columns if column.unit == main.unit]
    rows = [
        Row(one.title, line.number(one.key), one.as_text(line.number(one.key)), 0.0, line.number(one.key))
        for one in alike
    ]
    most = 100.0 if main.unit == "%" else max((row.value for row in rows if not math.isnan(row.value)), default=1.0)
    return Evidence(tuple(rows), (0.0, most), math.nan, "")


def levels(sheet: Sheet) -> str:
    """Compare people and chance with the best system by the main score; empty where neither is known."""
    main = sheet.main if sheet.columns else None
    if main is None or not sheet.lines:
        return ""
    best, sentences = sheet.lines[0].number(main.key), []
    if not math.isnan(sheet.people):
        gap = sheet.people - best
        side = "above" if gap > 0 else "below"
        sentences.append(f"People reach {main.as_text(sheet.people)}, {main.as_text(abs(gap))} {side} the best system.")
    if not math.isnan(sheet.chance):
        below = (best < sheet.chance) == (main.better == "max")
        sentences.append(f"Chance is {main.as_text(sheet.chance)}{': guessing would do better' if below else ''}.")
    return " ".join(sentences)


def conclusion(sheets: Sequence[Sheet]) -> str:
    """Name who leads clearly in which task, and where the lead may be chance; empty where there is one system."""
    clear: dict[str, list[str]] = {}
    chance: list[str] = []
    for sheet in sheets:
        if len(sheet.lines) < 2 or not sheet.main.better:
            continue
        if (verdict := sheet.lines[1].verdict) is not None and verdict.significant:
            clear.setdefault(sheet.lines[0].system, []).append(_lower(sheet.title))
        else:
            chance.append(_lower(sheet.title))
    sentences = [f"{system} clearly leads in {_and(where)}." for system, where in clear.items()]
    return " ".join([*sentences, *([f"The lead may be chance in {_and(chance)}."] if chance else [])])


def conclusion_targets(parts: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Link targets of the names in the conclusion: a task's page, and a leader's line on the first such page."""
    tasks: dict[str, str] = {}
    systems: dict[str, str] = {}
    for part in parts:
        tasks.setdefault(_lower(part["sheet"].title), part["file"] or f"#{part['id']}")
        for line in part["sheet"].lines[:1]:
            systems.setdefault(line.system, f"{part['file']}#{part['id']}-system-0")
    return tasks | systems


def _lower(title: str) -> str:
    """A title within a sentence."""
    return title[:1].lower() + title[1:]


def title_of(sheets: Sequence[Sheet]) -> str:
    """Title of a report: its few tasks by name; of many, who was measured in how many.

    A sheet that ranks nobody, such as one about labels, has no systems.
    """
    names = list(dict.fromkeys(sheet.title.partition(" · ")[0] for sheet in sheets))
    if len(names) <= MOST_NAMED:
        return _and([names[0], *map(_lower, names[1:])])
    ranked = [sheet for sheet in sheets if sheet.columns and sheet.main.better]
    systems = systems_of(ranked)
    who = _and(systems) if 0 < len(systems) <= MOST_NAMED else f"{len(systems)} systems"
    return f"{who} in {len(sheets)} tasks"


def _and(names: Sequence[str]) -> str:
    """Names as a phrase.

    >>> _and(["a", "b", "c"]), _and(["a"])
    ('a, b and c', 'a')
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def cards(parts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The parts as the front page wants them."""
    return [{"part": part, "levels": levels(part["sheet"]), "evidence": evidence(part["sheet"])} for part in parts]
