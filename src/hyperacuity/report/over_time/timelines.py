"""Systems that change over time, as runs hold them: for each protocol its series of points, scored once and kept.

Scores under different protocols are never on one timeline. A point is scored again only when one of its cells has changed.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hyperacuity import tasks
from hyperacuity.cards.against import CardEntry
from hyperacuity.cards.rows import with_cards
from hyperacuity.columns import Column
from hyperacuity.compare.verdict import Verdict
from hyperacuity.errors import HyperacuityError, UsageError
from hyperacuity.evaluation.score_tables import columns_of
from hyperacuity.kinds import kind_of
from hyperacuity.report.over_time.folders import WatchedFolder, watched_folders
from hyperacuity.report.over_time.scoring import (
    ComparedPoint,
    PointScore,
    PointTests,
    point_score,
    score_of,
    shown_columns,
)
from hyperacuity.report.over_time.series import Order, PointName, TimeSeries, point_names, series_of
from hyperacuity.report.pages import pictured
from hyperacuity.report.sheets.sheet import NAN, Each, people_of, protocol_differences
from hyperacuity.run import Cell, Failure, Grid
from hyperacuity.run.fingerprint import without_new_photographs
from hyperacuity.run.records import SystemState
from hyperacuity.tally import Signature


@dataclass(frozen=True)
class TimePoint:
    """A system at one moment of its history. ``waiting`` cells are not evaluated yet; ``problem`` is why it has no score."""

    name: PointName
    started: str
    failed: int
    waiting: int
    expected: int | None
    score: PointScore
    key: tuple[Any, ...]
    changed: int
    problem: str = ""

    @property
    def images(self) -> int:
        """On how many images it is scored."""
        return len(self.score.images)

    @property
    def whole(self) -> bool:
        """True if all its cells have been evaluated, and it has a score."""
        return not self.waiting and self.images > 0


@dataclass(frozen=True)
class Timeline:
    """Points of runs under one protocol: columns, points by name, series, and what failed."""

    signature: Signature
    title: str
    columns: tuple[Column, ...] = ()
    points: Mapping[str, TimePoint] = field(default_factory=dict)
    series: tuple[TimeSeries, ...] = ()
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()
    people: float = NAN
    images: tuple[str, ...] = ()
    """Every image that some point is scored on, in the order in which they were met: each keeps its index."""

    @property
    def main(self) -> Column:
        """The score that counts most."""
        return self.columns[0]

    def value(self, name: str) -> float:
        """The main score of a point."""
        return self.points[name].score.values.get(self.main.key, NAN)

    def gain(self, after: float, before: float) -> float:
        """Difference of two main scores, positive if the first is better, whatever the sense."""
        return after - before if self.main.better == "max" else before - after

    @property
    def chance(self) -> float:
        """Score of guessing; NaN where that is not known."""
        return next((p.score.chance for p in self.points.values() if not math.isnan(p.score.chance)), NAN)

    def latest(self, series: TimeSeries | None = None) -> str:
        """The last point of a series, or of the series that was added to last; whole ones go first. Empty without a score."""
        if series is None:
            moving = [one for one in self.series if not one.alone] or list(self.series)
            ends = [end for one in moving if (end := self.latest(one))]
            return max(ends, key=lambda name: (self.points[name].whole, self.points[name].started), default="")
        scored = [name for name in series.names if self.points[name].images]
        whole = [name for name in scored if self.points[name].whole]
        return (whole or scored or [""])[-1]

    def best(self, series: TimeSeries) -> str:
        """The best of the whole points of a series, of equals the first; empty without any."""
        known = [name for name in series.names if self.points[name].whole and not math.isnan(self.value(name))]
        return max(known, key=lambda name: self.gain(self.value(name), 0.0), default="")

    def series_with(self, name: str) -> TimeSeries:
        """The series of a point."""
        return next(one for one in self.series if name in one.names)

    def previous(self, name: str) -> str:
        """The scored point before this one in its series; empty for the first."""
        names = self.series_with(name).names
        return next((one for one in reversed(names[: names.index(name)]) if self.points[one].images), "")


class WatchedRuns:
    """Runs that are looked at again and again: :meth:`refresh`, then read :attr:`timelines` and :attr:`problems`.

    Parameters
    ----------
    folders
        Run folders; one that holds no run yet is waited for.
    order
        Whether the points of a series stand in the order of the numbers in their names, or of when they were run.
    against
        Cards of systems to stand beside those of the runs.
    pictures
        Folder of the photographs, for runs that do not name them.
    human
        Whether people are to be scored too, by :meth:`score_people`.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        *,
        order: Order = "name",
        against: Sequence[CardEntry] = (),
        pictures: Path | None = None,
        human: bool = False,
    ) -> None:
        self.folders = watched_folders(folders)
        self.order: Order = order
        self.human = human
        self.version = 0
        self.timelines: tuple[Timeline, ...] = ()
        self.problems: tuple[str, ...] = ()
        self._against = tuple(against)
        self._pictures = pictures
        self._people: dict[str, float] = {}
        self._cards: dict[str, Mapping[str, Mapping[str, Any]]] = {}
        self._left_out: dict[str, str] = {}
        self._tests: dict[str, PointTests] = {}
        self._images: dict[str, dict[str, None]] = {}
        self._paths: dict[tuple[str, str], Path | None] = {}
        self._guard = threading.RLock()

    def refresh(self, each: Each | None = None) -> bool:
        """Look at the runs again; whether anything has changed. ``each`` maps over the points to score, with progress."""
        with self._guard:
            changed = [folder.look() for folder in self.folders]
            if self.version and not any(changed):
                return False
            held = dict.fromkeys(state.signature for folder in self.folders for state in folder.states)
            before = {str(one.signature): one for one in self.timelines}
            ordered = [*(text for text in before if text in held), *(text for text in held if text not in before)]
            found = [self._timeline(text, before.get(text), each or _one_by_one) for text in ordered]
            self.timelines = _with_distinct_titles(found)
            self.problems = tuple(folder.problem for folder in self.folders if folder.problem)
            self.version += 1  # last, so that nobody takes the former state for this one
            return True

    def _timeline(self, text: str, before: Timeline | None, each: Each) -> Timeline:
        """Everything under one signature; points that have not changed are those of ``before``."""
        signature = Signature.parse(text)
        states = [(folder, state) for folder in self.folders for state in folder.states if state.signature == text]
        names = point_names([(folder.label, state.system) for folder, state in states])
        try:
            if not kind_of(tasks.task(signature.task)).prediction_is:
                raise UsageError(f"{signature.task} is about labels, not about systems; hyperacuity report shows it")
            columns = before.columns if before and before.columns else self._columns(states[0][0], text, states[0][1])
            if not columns:
                raise UsageError(f"{signature.task} has no score by which one system is better than another")
            fixed = self._card_points(states, columns, before)
        except HyperacuityError as error:
            title = tasks.task(signature.task).title if signature.task in tasks.names() else signature.task.capitalize()
            return Timeline(signature, title, notes=(f"{error}.",))

        def point(item: tuple[PointName, tuple[WatchedFolder, SystemState]]) -> TimePoint:
            name, (folder, state) = item
            known = before.points.get(name.name) if before else None
            return self._point(name, folder, state, known, columns)

        made = each(f"points of {signature.task}", point, list(zip(names, states, strict=True)))
        points = {one.name.name: one for one in made}
        points |= {one.name.name: one for one in fixed if one.name.name not in points}
        failures = [
            replace(failure, system=name.name)
            for name, (folder, state) in zip(names, states, strict=True)
            for failure in folder.failures.get(text, ())
            if failure.system == state.system
        ]
        times = {name: one.started for name, one in points.items()}
        series = series_of([one.name for one in points.values()], self.order, times)
        task = tasks.task(signature.task)
        notes = [self._left_out.get(text, ""), *(f"{one.problem}." for one in points.values() if one.problem)]
        people = self._people.get(text, NAN)
        images = self._images.setdefault(text, {})
        images |= {image: None for one in points.values() for image in one.score.images if image not in images}
        parts = (tuple(series), tuple(failures), tuple(filter(None, notes)), people, tuple(images))
        return Timeline(signature, task.title, columns, points, *parts)

    def _columns(self, folder: WatchedFolder, text: str, state: SystemState) -> tuple[Column, ...]:
        def read(grid: Grid) -> tuple[Column, ...]:
            columns = shown_columns(grid.task, grid.protocol)
            self._tests[text] = PointTests(grid.task.criteria(grid.protocol), columns[0].key if columns else "")
            return columns

        return folder.reading(text, [state.system], read)

    def _point(
        self,
        name: PointName,
        folder: WatchedFolder,
        state: SystemState,
        known: TimePoint | None,
        columns: Sequence[Column],
    ) -> TimePoint:
        key = (folder.path, state.signature, state.system, state.version)
        if known is not None and known.key == key:
            return known
        problem, score = "", PointScore({}, (NAN, NAN), {})
        try:
            if state.done:
                score = folder.reading(
                    state.signature, [state.system], lambda grid: point_score(grid, state.system, columns)
                )
        except HyperacuityError as error:
            problem = f"{name.name} has no score: {error}"
        expected = folder.expected(state.signature, state.system)
        about = (state.started, state.failed, state.waiting, expected)
        return TimePoint(name, *about, score, key, self.version + 1, problem)

    def _card_points(
        self, states: Sequence[tuple[WatchedFolder, SystemState]], columns: Sequence[Column], before: Timeline | None
    ) -> list[TimePoint]:
        """The points of cards, which are checked once against the truths of a system that is whole."""
        text = states[0][1].signature
        whole = [folder for folder, state in states if state.done and not state.waiting]
        if text not in self._cards and self._against and whole:
            try:
                self._cards[text] = self._card_rows(whole[0], text)
            except HyperacuityError as error:
                self._cards[text], self._left_out[text] = {}, f"{error}."
        task, found = tasks.task(Signature.parse(text).task), []
        for name, tallies in self._cards.get(text, {}).items():
            known = before.points.get(name) if before else None
            if known is None:
                score = score_of(task, next(iter(tallies.values())).protocol, tallies, columns)
                about: Any = ("", 0, 0, None, score, ("card", text, name), self.version + 1)
                known = TimePoint(PointName(name, name), *about)
            found.append(known)
        return found

    def _card_rows(self, folder: WatchedFolder, text: str) -> dict[str, Mapping[str, Any]]:
        given = [one for one in self._against if one.card.signature.task == Signature.parse(text).task]
        systems = folder.systems(text)

        def rows(grid: Grid) -> dict[str, Mapping[str, Any]]:
            (joined,) = with_cards([grid], given)
            own = joined.tallies()
            return {
                name: {image: replace(tally, protocol=grid.protocol) for image, tally in own[name].items()}
                for name in own
                if name not in systems
            }

        return folder.reading(text, systems, rows) if given else {}

    def test(self, timeline: Timeline, first: str, second: str) -> Verdict | None:
        """Test how much better the first point is than the second on the images that both have; None with fewer than two."""
        text = str(timeline.signature)
        with self._guard:
            return self._tests[text].test(self._compared(timeline, first), self._compared(timeline, second))

    def _compared(self, timeline: Timeline, name: str) -> ComparedPoint:
        point = timeline.points[name]
        if point.key[0] == "card":
            return ComparedPoint(
                name, point.key, point.score.images, lambda: self._cards[str(timeline.signature)][name]
            )
        path, text, system, _ = point.key
        folder = next(one for one in self.folders if one.path == path)

        def tallies() -> Mapping[str, Any]:
            found: Mapping[str, Any] = folder.reading(text, [system], lambda grid: grid.tallies()[system])
            return found

        return ComparedPoint(name, point.key, point.score.images, tallies)

    def score_people(self, each: Each | None = None) -> bool:
        """Score people where the truths can be read, once for each protocol; whether anything is new."""
        wanted = {str(one.signature): one for one in self.timelines if self.human and one.columns}
        news = {text: one for text, one in wanted.items() if text not in self._people}
        for text, timeline in news.items():
            self._people[text] = self._people_of(timeline, each or _one_by_one)
        if news:
            with self._guard:
                self.timelines = tuple(
                    replace(one, people=self._people.get(str(one.signature), NAN)) for one in self.timelines
                )
                self.version += 1
        return bool(news)

    def _people_of(self, timeline: Timeline, each: Each) -> float:
        if tasks.task(timeline.signature.task).people is None:
            return NAN
        text = str(timeline.signature)
        folder = next(one for one in self.folders if text in one.about)

        def score(grid: Grid) -> float:
            values_of = columns_of(grid.task, grid.protocol).people
            people = None if values_of is None else people_of(grid, each)
            return NAN if values_of is None or people is None else values_of(people).get(timeline.main.key, NAN)

        try:
            return folder.reading(text, folder.systems(text)[:1], score)
        except HyperacuityError:
            return NAN

    def picture(self, timeline: Timeline, image: str) -> Path | None:
        """The photograph of an image, if a run names it or it lies beside the truths."""
        return self.picture_paths(timeline).get(image)

    def picture_paths(self, timeline: Timeline) -> dict[str, Path]:
        """The photographs of a timeline's images, where there are any."""
        text = str(timeline.signature)
        missing = [image for image in timeline.images if (text, image) not in self._paths]
        if missing:
            with self._guard:
                self._paths |= {(text, image): None for image in missing} | self._pictures_of(timeline)
        paths = {image: self._paths.get((text, image)) for image in timeline.images}
        return {image: path for image, path in paths.items() if path is not None}

    def _pictures_of(self, timeline: Timeline) -> dict[tuple[str, str], Path | None]:
        text = str(timeline.signature)
        paths: dict[tuple[str, str], Path | None] = {}

        def read(grid: Grid) -> list[Cell]:
            return list(without_new_photographs(pictured(grid, self._pictures)).cells())

        for folder in self.folders:
            systems = folder.systems(text)
            try:
                cells = folder.reading(text, [systems[0], systems[-1]], read) if systems else []
            except HyperacuityError:  # which the next look tells
                continue
            paths |= {(text, cell.image): cell.picture for cell in cells if cell.picture is not None}
        return paths


def _one_by_one(title: str, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    return [function(item) for item in items]


def _with_distinct_titles(timelines: Sequence[Timeline]) -> tuple[Timeline, ...]:
    """Timelines of one task with what their protocols differ in, in the title and as a note."""
    titled = []
    for one in timelines:
        alike = (other.signature for other in timelines if other is not one)
        if twins := [other for other in alike if other.task == one.signature.task]:
            apart = "; ".join(one.signature.differences(twins[0]))
            note = f"Scores under different protocols are not on one curve: {apart}."
            title = f"{one.title} · {protocol_differences(one.signature, twins)}"
            one = replace(one, title=title, notes=(note, *one.notes))
        titled.append(one)
    return tuple(titled)
