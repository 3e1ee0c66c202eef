"""A sheet for any task whose criteria are known: leaderboard, tests, charts across criteria and findings, from tallies alone.

A task adds its own charts and viewer to it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.compare import Table, compare, critical_difference
from hyperacuity.compare.criteria import Criteria, criteria, table_of
from hyperacuity.compare.significance import Pairwise, pairwise_of_samples
from hyperacuity.report.charts import compare as charts_compare
from hyperacuity.report.sheets.sheet import (
    Column,
    Figure,
    Line,
    Sheet,
    Viewer,
    enough_weights,
    lead,
    ranked,
    told_chance,
)
from hyperacuity.resampling import bootstrap_weights, percentile_interval
from hyperacuity.run.gather import Grid

MOST_COLUMNS = 8


@dataclass(frozen=True)
class Judged:
    """What was found of a grid: tallies by system, the criteria, each system's scores, and the table of shared images."""

    criteria: Criteria
    columns: tuple[Column, ...]
    tallies: Mapping[str, Mapping[str, Any]]
    image_scores: Mapping[str, Mapping[str, float]]
    lines: tuple[Line, ...]
    table: Table | None
    tested: Pairwise | None


def judge(grid: Grid, columns: Sequence[Column] = ()) -> Judged:
    """Score every system by the task's criteria, on its own images; test differences on the images that all share."""
    known = criteria(grid.signature, grid.options)
    shown = tuple(columns) or tuple(
        Column(name, name, better=known.senses[known.names.index(name)]) for name in known.usual[:MOST_COLUMNS]
    )
    tallies: dict[str, dict[str, Any]] = grid.tallies(known.tally_type)
    lines: list[Line] = []
    image_scores: dict[str, dict[str, float]] = {}
    main = known.names.index(shown[0].key)
    for system, images in tallies.items():
        every = list(images.values())
        overall = known.rescore(every, np.ones((1, len(every)), np.int64))[0]
        drawn = known.rescore(every, bootstrap_weights(len(every)))[:, main]
        alone = known.rescore(every, np.eye(len(every), dtype=np.int64))[:, main]
        for image, score in zip(images, alone.tolist(), strict=True):
            image_scores.setdefault(image, {})[system] = score
        lines.append(
            Line(
                system,
                {column.key: float(overall[known.names.index(column.key)]) for column in shown},
                interval=percentile_interval(drawn),
                images=len(every),
                failed=sum(failure.system == system for failure in grid.failures),
            )
        )
    shared = grid.shared_images()
    table = table_of(grid.signature, tallies, grid.options) if tallies and shared else None
    tested = _tested(table, shown[0]) if table is not None and len(tallies) > 1 and len(shared) > 1 else None
    return Judged(known, shown, tallies, image_scores, ranked(shown, lines, tested), table, tested)


def judged_sheet(
    grid: Grid,
    judged: Judged,
    *,
    title: str,
    figures: Sequence[Figure] = (),
    viewer: Viewer | None = None,
) -> Sheet:
    """The sheet of what was found, with the task's own charts before those that any task has."""
    highest = max(
        (score for of in judged.image_scores.values() for score in of.values() if score == score), default=1.0
    )
    main = judged.columns[0]
    return Sheet(
        title=title,
        grid=grid,
        columns=judged.columns,
        lines=judged.lines,
        figures=(*figures, *(_figures(judged) if judged.lines else ())),
        findings=tuple(findings(judged)),
        image_score=Column(main.key, main.title, better=main.better, note=f"{main.title} of the image alone"),
        image_scores=judged.image_scores,
        image_span=max(highest, 1e-12) if highest > 1 or main.better == "min" else 1.0,
        viewer=viewer,
    )


def _tested(table: Table, column: Column) -> Pairwise:
    """Paired bootstrap of one criterion for all pairs of systems."""
    chosen = table.select(criteria=[column.key])
    sign = 1.0 if column.better == "max" else -1.0
    parts = enough_weights(len(table.images), len(table.systems))
    samples: NDArray[np.float64] = sign * np.concatenate([chosen.resampled(part)[:, :, 0] for part in parts])
    observed = sign * chosen.overall()[:, 0]
    return pairwise_of_samples(samples, observed[:, None] - observed[None])


def _figures(judged: Judged) -> list[Figure]:
    """Charts for several systems: all criteria side by side, and average ranks with what the images can tell apart."""
    table = judged.table
    if table is None or len(table.systems) < 2:
        return []
    order = [line.system for line in judged.lines if line.system in table.systems]
    chosen = table.select(systems=order, criteria=[column.key for column in judged.columns if column.better])
    found = []
    if len(chosen.criteria) > 1:
        ranking = compare(chosen, vector="mean")
        found.append(
            Figure(
                "criteria",
                "By every criterion",
                f"{len(order)} systems by {len(chosen.criteria)} criteria, each axis from its best value to its worst.",
                lambda hover: charts_compare.parallel_chart(ranking, width=520),
                fluid=False,
                span=6,
            )
        )
    scores = chosen.values[:, :, 0]
    if len(order) > 2 and len(table.images) > 1 and not np.isnan(scores).any(axis=0).all():
        ranks = critical_difference(scores, sense=chosen.senses[0])
        found.append(
            Figure(
                "ranks",
                f"Average rank by {judged.columns[0].title}",
                "Average ranks over images; systems that the images cannot tell apart are joined by a bar.",
                lambda hover: charts_compare.critical_difference_chart(order, ranks, width=520),
                fluid=False,
                span=6,
            )
        )
    return found


def findings(judged: Judged) -> list[str]:
    """Who leads and whether that may be chance, who is best in some respect, and on which image things go wrong."""
    lines, main = judged.lines, judged.columns[0]
    if not lines:
        return ["No image could be evaluated."]
    first = lines[0]
    low, high = first.interval
    value = first.values[main.key]
    told = f"{first.system} reaches {main.title} {main.told(value)}"
    told += f" (95 % interval {low:.{main.digits}f} to {main.told(high)})" if not math.isnan(low) else ""
    if len(lines) > 1:
        second = lines[1]
        told += f", {lead(first, second, main)}"
        if judged.tested is not None and value != second.values[main.key]:
            order = list(judged.tallies)
            p = float(judged.tested.corrected[order.index(first.system), order.index(second.system)])
            told += told_chance(p, len(lines))
    sentences = [told + "."]
    optimal = [line.system for line in lines if line.optimal]
    if len(lines) > 1 and len(judged.columns) > 1:
        if len(optimal) == 1:
            sentences.append(f"By every criterion shown, {optimal[0]} is as good as any other system or better.")
        else:
            sentences.append(
                f"{len(optimal)} of {len(lines)} systems are Pareto-optimal: no other is as good by every score."
            )
    worst = _hardest(judged)
    if worst:
        sentences.append(worst)
    return sentences


def _hardest(judged: Judged) -> str:
    main = judged.columns[0]
    sign = 1 if main.better == "max" else -1
    whole = {i: of for i, of in judged.image_scores.items() if len(of) == len(judged.lines)}
    known = {image: of for image, of in whole.items() if not any(math.isnan(score) for score in of.values())}
    if len(known) < 2:
        return ""
    hardest = min(known, key=lambda image: max(sign * score for score in known[image].values()))
    best = sign * max(sign * score for score in known[hardest].values())
    return f"The hardest image is {hardest}, where the best {main.title} is {main.told(best)}."
