"""Sheets of any task: leaderboard, tests, charts across criteria and findings, from tallies and the task's columns.

A task adds its own charts, sentences and viewer by a :class:`TaskSheet`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from hyperacuity.columns import Column
from hyperacuity.compare import Table, compare, critical_difference
from hyperacuity.compare.criteria import table_of
from hyperacuity.compare.verdict import Verdict, verdicts
from hyperacuity.evaluation.export import ScoreRow
from hyperacuity.evaluation.score_tables import columns_of, ranked, score_row
from hyperacuity.report.charts import compare as charts_compare
from hyperacuity.report.sheets.sheet import NAN, NOTHING, Each, Figure, Sheet, leader, optimal_sentence, people_of
from hyperacuity.report.sheets.viewer import Viewer
from hyperacuity.run.gather import Grid

MOST_COLUMNS = 8

ImageScores = Mapping[str, Mapping[str, float]]
"""Scores by image and system."""


@dataclass(frozen=True)
class Judged:
    """Scores of all systems of a grid, the best first; tallies are read when asked for."""

    grid: Grid
    columns: tuple[Column, ...]
    tallies: Mapping[str, Mapping[str, Any]]
    scores: Mapping[str, Any]
    image_scores: ImageScores
    lines: tuple[ScoreRow, ...]
    each: Each

    @property
    def systems(self) -> list[str]:
        """The systems, the best first."""
        return [line.system for line in self.lines]

    @property
    def main(self) -> Column:
        """The score by which systems are ranked."""
        return self.columns[0]

    def number(self, system: str, image: str) -> dict[str, str]:
        """The main score of a system on an image, as a viewer prints it."""
        return {self.main.title: self.main.as_text(self.image_scores.get(image, {}).get(system, NAN))}

    @cached_property
    def people(self) -> Any:
        """The score of people against each other, on images with two annotators or more; None if nothing can be said."""
        return people_of(self.grid, self.each) if self.lines and self.grid.task.people is not None else None


def nothing(judged: Judged) -> Iterable[Any]:
    """Return nothing: the default of what a task may add."""
    return ()


@dataclass(frozen=True)
class TaskSheet:
    """Additions of a task to its part of a report; the rest is as for any task.

    Parameters
    ----------
    viewer
        What shows its images.
    figures, notes
        Charts before those that any task has, and remarks.
    curves
        ``(scores) -> figures``: those of the charts that a leaderboard of cards shows too, from the scores of systems.
    findings
        Sentences; by default who leads, who is Pareto-optimal, and the hardest image.
    title, board
        Titles of the page and of the table of systems.
    image_score, image_scores
        The score by which images are sorted; by default the main one of the image alone.
    across_criteria
        Whether charts across criteria, which any task has, are shown.
    hide_empty
        Leave out columns in which no system has a value.
    nothing
        Sentence where nothing could be evaluated.
    """

    viewer: Callable[[Judged], Viewer | None] = lambda judged: None
    figures: Callable[[Judged], Iterable[Figure]] = nothing
    findings: Callable[[Judged], Iterable[str]] = field(default=lambda judged: findings(judged))
    notes: Callable[[Judged], Iterable[str]] = nothing
    curves: Callable[[Mapping[str, Any]], Iterable[Figure]] | None = None
    title: str = ""
    board: str = "Leaderboard"
    image_score: Column | None = None
    image_scores: Callable[[Judged], ImageScores] = lambda judged: judged.image_scores
    across_criteria: bool = True
    hide_empty: bool = False
    nothing: str = NOTHING

    def make(self, grid: Grid, each: Each) -> Sheet:
        """Make the sheet of a grid."""
        judged = judge(grid, each, hide_empty=self.hide_empty)
        main, images = judged.main, self.image_scores(judged)
        highest = max((score for of in images.values() for score in of.values() if not math.isnan(score)), default=1.0)
        shown = self.image_score or Column(
            main.key, main.title, main.better, main.digits, f"{main.title} of the image alone", main.unit
        )
        chance, people = grid.task.chance, columns_of(grid.task, grid.protocol).people
        across = criteria_figures(judged.columns, judged.lines, judged.tallies, grid) if self.across_criteria else ()
        return Sheet(
            title=self.title or grid.task.title,
            grid=grid,
            columns=judged.columns,
            lines=judged.lines,
            board=self.board,
            figures=(*self.figures(judged), *across) if judged.lines else (),
            findings=tuple(self.findings(judged)) if judged.lines else (self.nothing,),
            image_score=shown,
            image_scores=images,
            image_span=max(highest, 1e-12) if highest > 1 or shown.better == "min" else 1.0,
            viewer=self.viewer(judged),
            notes=tuple(self.notes(judged)),
            people=people(judged.people).get(main.key, NAN)
            if people is not None and judged.people is not None
            else NAN,
            chance=chance(main.key, judged.tallies[judged.systems[0]]) if chance and judged.lines else NAN,
        )


def by_image(by_system: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Scores by image and system, of those by system and image."""
    scores: dict[str, dict[str, float]] = {}
    for system, of in by_system.items():
        for image, score in of.items():
            scores.setdefault(image, {})[system] = score
    return scores


def judge(grid: Grid, each: Each, *, hide_empty: bool = False) -> Judged:
    """Score every system by the task's columns, on its own images, and test each against the best."""
    criteria, shown = grid.task.criteria(grid.protocol), columns_of(grid.task, grid.protocol)
    shown = replace(shown, scores=shown.scores[:MOST_COLUMNS], more=(), numbers=shown.numbers)
    main, tallies = shown.scores[0].key, grid.tallies()
    scores: dict[str, Any] = {}
    alone: dict[str, dict[str, float]] = {}

    def row_of(system: str) -> ScoreRow:  # whose tallies nobody holds when the next system's are read
        images = dict(sorted(tallies[system].items()))
        scores[system] = grid.task.collect(images)
        of_images = criteria.alone(list(images.values()))[:, criteria.names.index(main)]
        alone[system] = dict(zip(images, of_images.tolist(), strict=True))
        row = score_row(shown, criteria, system, lambda: images, scores[system], complete=False, resampled=(main,))
        failed = sum(failure.system == system for failure in grid.failures)
        return replace(row, images=len(images), failed=failed, expected=grid.sources[system].expected)

    rows = [row_of(system) for system in tallies]

    def test(systems: list[str]) -> Sequence[Verdict]:
        return verdicts(systems, tallies.__getitem__, criteria, [main])[main]

    columns = tuple(
        column
        for column in shown.scores
        if column.key == main or not hide_empty or not all(math.isnan(row.number(column.key)) for row in rows)
    )
    lines = ranked(columns, rows, test)
    by_rank = {line.system: scores[line.system] for line in lines}
    return Judged(grid, columns, tallies, by_rank, by_image(alone), lines, each)


def criteria_figures(
    columns: Sequence[Column],
    lines: Sequence[ScoreRow],
    tallies: Mapping[str, Mapping[str, Any]],
    grid: Grid | None = None,
) -> Iterator[Figure]:
    """Charts for several systems: all criteria side by side, and average ranks with what the images can tell apart."""
    if len(lines) < 2 or not columns[0].better or (grid is not None and not grid.shared_images()):
        return
    table: Table = table_of(tallies)
    order = [line.system for line in lines if line.system in table.systems]
    keys = [column.key for column in columns if column.better and column.key in table.criteria]
    chosen = table.select(systems=order, criteria=keys)
    if len(chosen.criteria) > 1 and len(order) > 2:  # of two systems, one is best and one worst on every axis
        ranking = compare(chosen, vector="mean")
        yield Figure(
            "criteria",
            "By every criterion",
            f"{len(order)} systems by {len(chosen.criteria)} criteria, each axis from its best value to its worst.",
            lambda hover: charts_compare.parallel_chart(ranking, width=520),
        )
    scores = chosen.values[:, :, 0]
    if len(order) > 2 and len(table.images) > 1 and not np.isnan(scores).any(axis=0).all():
        ranks = critical_difference(scores, sense=chosen.senses[0])
        yield Figure(
            "ranks",
            f"Average rank by {columns[0].title}",
            "Average ranks over images; systems that the images cannot tell apart are joined by a bar.",
            lambda hover: charts_compare.critical_difference_chart(order, ranks, width=520),
        )


def findings(judged: Judged) -> list[str]:
    """Sentences on who leads and whether that may be chance, who is Pareto-optimal, and on the hardest image."""
    lines, main = judged.lines, judged.main
    sentences = [leader(lines, main)]
    if len(lines) > 1 and len(judged.columns) > 1:
        sentences.append(optimal_sentence(lines))
    sign = 1 if main.better == "max" else -1
    whole = {image: of for image, of in judged.image_scores.items() if len(of) == len(lines)}
    known = {image: of for image, of in whole.items() if not any(math.isnan(score) for score in of.values())}
    if len(known) < 2:
        return sentences
    hardest = min(known, key=lambda image: max(sign * score for score in known[image].values()))
    score = sign * max(sign * score for score in known[hardest].values())
    return [*sentences, f"The hardest image is {hardest}, where the best {main.title} is {main.as_text(score)}."]
