"""A sheet for any task: leaderboard, tests, charts across criteria and findings, from tallies and the task's criteria alone.

A task adds its own charts and viewer to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperacuity.compare import Table, compare, critical_difference
from hyperacuity.compare.criteria import table_of
from hyperacuity.report.charts import compare as charts_compare
from hyperacuity.report.sheets.sheet import NAN, NOTHING, Column, Figure, Line, Sheet, leader, leaderboard
from hyperacuity.report.sheets.viewer import Viewer
from hyperacuity.resampling import Bootstrap, blocks_of, percentile_interval
from hyperacuity.run.gather import Grid
from hyperacuity.tally import Criteria, Scores

MOST_COLUMNS = 8


@dataclass(frozen=True)
class Judged:
    """What was found of a grid: each system's scores, and the table of shared images; tallies are read when asked for."""

    columns: tuple[Column, ...]
    tallies: Mapping[str, Mapping[str, Any]]
    image_scores: Mapping[str, Mapping[str, float]]
    lines: tuple[Line, ...]
    table: Table | None

    @property
    def systems(self) -> list[str]:
        """The systems, the best first."""
        return [line.system for line in self.lines]

    def number(self, system: str, image: str) -> dict[str, str]:
        """The main score of a system on an image, as a viewer prints it."""
        main = self.columns[0]
        return {main.title: main.as_text(self.image_scores.get(image, {}).get(system, NAN))}


def judge(grid: Grid, columns: Sequence[Column] = ()) -> Judged:
    """Score every system by the task's criteria, on its own images, and test each against the best."""
    known = grid.task.criteria(grid.protocol)
    senses = dict(zip(known.names, known.senses, strict=True))
    shown = tuple(columns) or tuple(
        Column(name, name, better=senses[name], note=f"{name}, over all images") for name in known.usual[:MOST_COLUMNS]
    )
    tallies = grid.tallies()
    lines: list[Line] = []
    image_scores: dict[str, dict[str, float]] = {}
    main = known.names.index(shown[0].key)
    for system in tallies:
        images, overall, drawn, alone = _scored(known, tallies[system])
        for image, score in zip(images, alone[:, main].tolist(), strict=True):
            image_scores.setdefault(image, {})[system] = score
        values = {column.key: float(overall[known.names.index(column.key)]) for column in shown}
        lines.append(Line(system, values, percentile_interval(drawn[:, main]), len(images)))
    table = table_of(tallies) if tallies and grid.shared_images() else None
    return Judged(shown, tallies, image_scores, leaderboard(grid, shown, lines), table)


def _scored(known: Criteria, tallies: Mapping[str, Any]) -> tuple[list[str], Scores, Scores, Scores]:
    """The images of a system, and its scores on them, on resamples of them, and on each alone."""
    every = [tallies[image] for image in sorted(tallies)]
    drawn = known.resampled(every, blocks_of(Bootstrap(len(every))))
    return sorted(tallies), known.overall(every), drawn, known.alone(every)


def judged_sheet(grid: Grid, judged: Judged, *, figures: Iterable[Figure] = (), viewer: Viewer | None = None) -> Sheet:
    """The sheet of what was found, with the task's own charts before those that any task has."""
    known = [score for of in judged.image_scores.values() for score in of.values() if not math.isnan(score)]
    highest = max(known, default=1.0)
    main = judged.columns[0]
    chance = grid.task.chance
    return Sheet(
        title=grid.task.title,
        grid=grid,
        columns=judged.columns,
        lines=judged.lines,
        figures=(*figures, *(criteria_figures(judged) if judged.lines else ())),
        findings=tuple(findings(judged)),
        image_score=Column(main.key, main.title, better=main.better, note=f"{main.title} of the image alone"),
        image_scores=judged.image_scores,
        image_span=max(highest, 1e-12) if highest > 1 or main.better == "min" else 1.0,
        viewer=viewer,
        chance=chance(main.key, judged.tallies[judged.systems[0]]) if chance and judged.lines else NAN,
    )


def criteria_figures(judged: Judged) -> Iterator[Figure]:
    """Charts for several systems: all criteria side by side, and average ranks with what the images can tell apart."""
    table = judged.table
    if table is None or len(table.systems) < 2:
        return
    order = [system for system in judged.systems if system in table.systems]
    chosen = table.select(systems=order, criteria=[column.key for column in judged.columns if column.better])
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
            f"Average rank by {judged.columns[0].title}",
            "Average ranks over images; systems that the images cannot tell apart are joined by a bar.",
            lambda hover: charts_compare.critical_difference_chart(order, ranks, width=520),
        )


def findings(judged: Judged) -> list[str]:
    """Who leads and whether that may be chance, who is best in some respect, and on which image things go wrong."""
    lines = judged.lines
    if not lines:
        return [NOTHING]
    sentences = [leader(lines, judged.columns[0])]
    best = [line.system for line in lines if line.optimal]
    if len(lines) > 1 and len(judged.columns) > 1:
        alone = f"By every criterion shown, {best[0]} is as good as any other system or better."
        several = f"{len(best)} of {len(lines)} systems are Pareto-optimal: no other is as good by every score."
        sentences.append(alone if len(best) == 1 else several)
    return [*sentences, *_hardest(judged)]


def _hardest(judged: Judged) -> list[str]:
    main = judged.columns[0]
    sign = 1 if main.better == "max" else -1
    whole = {i: of for i, of in judged.image_scores.items() if len(of) == len(judged.lines)}
    known = {image: of for image, of in whole.items() if not any(math.isnan(score) for score in of.values())}
    if len(known) < 2:
        return []
    hardest = min(known, key=lambda image: max(sign * score for score in known[image].values()))
    best = sign * max(sign * score for score in known[hardest].values())
    return [f"The hardest image is {hardest}, where the best {main.title} is {main.as_text(best)}."]
