"""Series of systems that are one that changes over time: names that differ only in their number, in its order.

A job that scores its checkpoints names them ``epoch-01``, ``epoch-02``, or ``ckpt_1000``, ``ckpt_2000``, or ``v1.2``, ``v1.10``:
each of these is a series. A system that has the same name in several run folders is a series over the folders.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Order = Literal["name", "time"]
Number = tuple[float, ...]
"""A number, or the parts of a version."""

SHORT = {"v": "version", "ckpt": "checkpoint", "e": "epoch", "ep": "epoch", "iter": "iteration", "it": "iteration"}
"""Short names of numbers."""

NUMBER = re.compile(r"\d+(?:\.\d+)*")


@dataclass(frozen=True)
class PointName:
    """Name of a point, unlike all others; the system; and its folder, where several have such a system."""

    name: str
    system: str
    folder: str = ""


@dataclass(frozen=True)
class TimeSeries:
    """Points in their order. ``word`` says what is counted; ``numbers`` are empty where names have none."""

    title: str
    word: str
    names: tuple[str, ...]
    numbers: tuple[Number, ...] = ()

    @property
    def alone(self) -> bool:
        """True for one system that is no checkpoint of anything: its name has no number."""
        return len(self.names) == 1 and not self.numbers


def point_names(systems: Sequence[tuple[str, str]]) -> list[PointName]:
    """Names that differ, of (folder, system); with the folder where several have such a system.

    >>> [one.name for one in point_names([("a", "e-1"), ("a", "e-2"), ("b", "e-1"), ("b", "canny")])]
    ['e-1 (a)', 'e-2 (a)', 'e-1 (b)', 'canny']
    """
    count = Counter(system for _, system in systems)
    shared = {_skeleton(system) for system in count if count[system] > 1}
    return [
        PointName(f"{system} ({folder})", system, folder) if _skeleton(system) in shared else PointName(system, system)
        for folder, system in systems
    ]


def series_of(
    points: Sequence[PointName], order: Order = "name", times: Mapping[str, str] | None = None
) -> list[TimeSeries]:
    """Points as series, in the order in which they are met; by ``times`` if ``order`` says so.

    Where several numbers of a name change, and not all together, the last one counts and the others tell series apart.

    >>> [(one.title, one.names) for one in series_of([PointName(n, n) for n in ("epoch-10", "canny", "epoch-9")])]
    [('epoch-*', ('epoch-9', 'epoch-10')), ('canny', ('canny',))]
    """
    alike = Counter((_skeleton(point.system), point.folder) for point in points)
    groups: dict[tuple[str, ...], list[tuple[PointName, str]]] = {}
    for point in points:
        several = alike[_skeleton(point.system), point.folder] > 1
        key, text = _counted_in(point, several=several)
        groups.setdefault(key, []).append((point, text))
    found = [one for group in groups.values() for one in _split(group)]
    return [_by_time(one, times or {}) for one in found] if order == "time" else found


def _skeleton(text: str) -> str:
    return NUMBER.sub("*", text)


def _counted_in(point: PointName, *, several: bool) -> tuple[tuple[str, ...], str]:
    """Split a name into what its series shares and the text with its number: the system's, or its folder's if it is alone."""
    if NUMBER.search(point.system) and (several or not point.folder):
        return ("system", _skeleton(point.system), point.folder), point.system
    if NUMBER.search(point.folder):
        return ("folder", _skeleton(point.folder), point.system), point.folder
    return ("plain", point.system), ""


def _split(group: Sequence[tuple[PointName, str]]) -> list[TimeSeries]:
    """The series of names that are alike but for their numbers."""
    points = [point for point, _ in group]
    texts = [text for _, text in group]
    if not texts[0]:
        return [TimeSeries(points[0].system, "run", tuple(point.name for point in points))]
    every = [[_number(text, found) for found in NUMBER.finditer(text)] for text in texts]
    changing = [place for place in range(len(every[0])) if len({numbers[place] for numbers in every}) > 1]
    counted = changing[-1] if changing else len(every[0]) - 1
    together = _together(every, changing)
    others = [] if together else changing[:-1]
    stars = changing if together and changing else [counted]
    parts: dict[tuple[Number, ...], list[int]] = {}
    for n, numbers in enumerate(every):
        parts.setdefault(tuple(numbers[place] for place in others), []).append(n)
    return [
        _series([points[n] for n in part], [texts[n] for n in part], [every[n][counted] for n in part], stars)
        for part in parts.values()
    ]


def _together(every: Sequence[Sequence[Number]], changing: Sequence[int]) -> bool:
    """True if all numbers that change grow with the last one, as in ``epoch=3-step=1200``."""
    ordered = sorted(every, key=lambda numbers: numbers[changing[-1]]) if changing else []
    return all(
        before[changing[-1]] != after[changing[-1]] and all(before[place] <= after[place] for place in changing)
        for before, after in pairwise(ordered)
    )


def _series(
    points: Sequence[PointName], texts: Sequence[str], numbers: Sequence[Number], stars: Sequence[int]
) -> TimeSeries:
    """The points in the order of their numbers; ``stars`` are the numbers of the name that change, the counted one last."""
    order = sorted(range(len(points)), key=lambda n: (numbers[n], points[n].name))
    first, text = points[order[0]], texts[order[0]]
    places = list(NUMBER.finditer(text))
    pattern = text
    for star in reversed(stars):
        pattern = f"{pattern[: places[star].start()]}*{pattern[places[star].end() :]}"
    whole = (pattern, first.folder) if text == first.system else (first.system, pattern)
    return TimeSeries(
        f"{whole[0]} ({whole[1]})" if whole[1] else whole[0],
        _word(text[: places[stars[-1]].start()]),
        tuple(points[n].name for n in order),
        tuple(numbers[n] for n in order),
    )


def _number(text: str, found: re.Match[str]) -> Number:
    """The value of a number in a name: parts of a version after ``v`` or with two dots, else with decimals.

    >>> [_number(text, NUMBER.search(text)) for text in ("v1.10", "lr-0.25", "1.2.3", "epoch-07")]
    [(1, 10), (0.25,), (1, 2, 3), (7,)]
    """
    version = found[0].count(".") > 1 or text[: found.start()][-1:] in ("v", "V")
    if version:
        return tuple(int(part) for part in found[0].split("."))
    return (float(found[0]) if "." in found[0] else int(found[0]),)


def _word(before: str) -> str:
    """Name of what a number counts, by the letters before it.

    >>> _word("net_epoch-"), _word("v"), _word("")
    ('epoch', 'version', 'number')
    """
    found = re.search(r"([^\W\d_]+)[\W_]*$", before)
    word = found[1] if found else "number"
    return SHORT.get(word.lower(), word)


def _by_time(series: TimeSeries, times: Mapping[str, str]) -> TimeSeries:
    order = sorted(range(len(series.names)), key=lambda n: times.get(series.names[n], ""))  # stable
    numbers = tuple(series.numbers[n] for n in order) if series.numbers else ()
    return TimeSeries(series.title, "time", tuple(series.names[n] for n in order), numbers)
