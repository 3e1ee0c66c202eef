"""From what was found to a table to export: any task's scores with intervals and tests, and comparisons.

Columns are the task's (``COLUMNS`` or ``columns(protocol)`` of its module in :mod:`hyperacuity.evaluation.tables`), for a task
without such a module its criteria. CSV also has what else is known: all criteria, what ``numbers(score)`` of that module adds,
ranks, and how many images there are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperacuity import __version__
from hyperacuity.cards import PEOPLE
from hyperacuity.cards.making import people_tallies
from hyperacuity.compare import optimal
from hyperacuity.compare.verdict import Verdict, verdicts
from hyperacuity.evaluation.export import Column, ScoreRow, ScoreTable
from hyperacuity.evaluation.tables import presenter
from hyperacuity.resampling import Bootstrap, blocks_of, percentile_interval
from hyperacuity.run.gather import BySystem, Grid, gather
from hyperacuity.run.jobs import job_of
from hyperacuity.tally import BaseProtocol, Criteria, Task

if TYPE_CHECKING:
    from hyperacuity.evaluation.comparison import SystemComparison
    from hyperacuity.evaluation.result import Result

IMAGES = Column("images", "images", "", 0)

STANDING = (
    Column("rank", "rank", "", 0),
    Column("pareto", "Pareto-optimal", "", 0),
    IMAGES,
    Column("expected", "images of the truth", "", 0),
)
"""What is known of every system, whatever the task."""


def of_result(result: Result) -> ScoreTable:
    """The table of a result; people have a row where the result was asked for them."""
    chosen = BySystem(result.scores, result.chosen_tallies)
    return score_table(
        result.task,
        result.protocol,
        chosen,
        result.scores,
        result.verdicts,
        expected={system: result.expected(system) for system in result.scores},
        people=result.people if result.human else None,
    )


def of_runs(folders: Sequence[Path], *, human: bool = False) -> list[ScoreTable]:
    """The tables of run folders, one per protocol; with ``human``, people are scored where truths can be read."""
    return [_of_grid(grid, human) for grid in gather(folders) if grid.tallies()]


def _of_grid(grid: Grid, human: bool) -> ScoreTable:
    tallies, judged = grid.tallies(), grid.task.criteria(grid.protocol)
    main = judged.names.index(judged.usual[0])
    worse = -1 if judged.senses[main] == "max" else 1
    whole = {system: worse * float(judged.overall(list(tallies[system].values()))[main]) for system in tallies}
    order = sorted(whole, key=lambda system: (math.isnan(whole[system]), whole[system]))
    return score_table(
        grid.task,
        grid.protocol,
        tallies,
        {system: grid.task.collect(tallies[system]) for system in tallies},
        verdicts(order, tallies.__getitem__, judged),
        expected={system: grid.sources[system].expected for system in tallies},
        people=_people(grid) if human else None,
    )


def _people(grid: Grid) -> Any:
    if grid.task.people is None:
        return None
    job = job_of(grid)
    cells = {cell.image: cell for cell in grid.cells()}
    return job.collect_people(people_tallies(job, list(cells.values())))


def score_table(
    task: Task[Any, Any, Any],
    protocol: BaseProtocol,
    tallies: Mapping[str, Mapping[str, Any]],
    scores: Mapping[str, Any],
    tests: Mapping[str, Sequence[Verdict]],
    *,
    expected: Mapping[str, int | None] | None = None,
    people: Any = None,
    caption: str = "",
) -> ScoreTable:
    """The table of systems whose tallies (system → image → tally), scores and tests by criterion are given.

    A value is bold where tests say that it is better than every other system's. Where systems have not the same number of images,
    it is a column. Tallies are asked for a system at a time. Without systems, the table has no rows.
    """
    judged = task.criteria(protocol)
    columns = columns_of(task, protocol)
    rows = [_row(task, judged, system, tallies[system], scores.get(system)) for system in tallies]
    ranked = _ranked(columns, rows, {} if expected is None else expected)
    main = columns[0].key
    leader = ranked[0].system if ranked else ""
    p = {test.second: test.p for test in tests.get(main, ()) if test.first == leader}
    tested = [ScoreRow(row.system, row.values, row.intervals, p.get(row.system)) for row in ranked]
    if len({row.value(IMAGES.key) for row in rows}) > 1:
        columns = (*columns, IMAGES)
    shown = {column.key for column in columns}
    more = [*judged.names, *(key for row in rows for key in row.values)]
    others = (Column(key, key, "") for key in dict.fromkeys(more) if key not in shown)
    standing = {column.key for column in STANDING}
    return ScoreTable(
        columns,
        (*tested, *_people_row(task, people)),
        caption or caption_of(task, columns[0], ranked, tests.get(main, ())),
        str(protocol.signature),
        more=(*(column for column in others if column.key not in standing), *STANDING),
        tests=len(tests.get(main, ())) or None,
        unsure=frozenset(column.key for column in columns if not _sure(column, ranked, tests.get(column.key, ()))),
    )


def columns_of(task: Task[Any, Any, Any], protocol: BaseProtocol) -> tuple[Column, ...]:
    """The scores that a task's table shows, the one that counts most first."""
    module = presenter(task)
    if hasattr(module, "columns"):
        own: tuple[Column, ...] = module.columns(protocol)
        return own
    if hasattr(module, "COLUMNS"):
        fixed: tuple[Column, ...] = module.COLUMNS
        return fixed
    judged = task.criteria(protocol)
    return tuple(Column(name, name, judged.senses[judged.names.index(name)]) for name in judged.usual)


def _row(task: Task[Any, Any, Any], judged: Criteria, system: str, images: Mapping[str, Any], score: Any) -> ScoreRow:
    """A system by all criteria, with the interval of each, and by what else its score says.

    A number of the score replaces the criterion's of the same name, and its interval where it is another number: a system with
    a parameter may have its best values at several.
    """
    every = [images[image] for image in sorted(images)]
    values = dict(zip(judged.names, judged.overall(every).tolist(), strict=True))
    drawn = judged.resampled(every, blocks_of(Bootstrap(len(every))))
    ends = {name: percentile_interval(drawn[:, n]) for n, name in enumerate(judged.names)}
    numbers: Mapping[str, float] = getattr(presenter(task), "numbers", lambda _: {})(score)
    same = {name: math.isclose(numbers.get(name, value), value) for name, value in values.items()}
    known = {name: own for name, own in ends.items() if same[name] and not math.isnan(values[name])}
    return ScoreRow(system, {**values, **numbers, "images": len(every)}, known)


def _people_row(task: Task[Any, Any, Any], people: Any) -> tuple[ScoreRow, ...]:
    """The row of people, where there is anything to say."""
    told = getattr(presenter(task), "people_numbers", None)
    numbers = told(people) if told is not None and people is not None else {}
    return (ScoreRow(PEOPLE, numbers, people=True),) if numbers else ()


def _ranked(columns: Sequence[Column], rows: Sequence[ScoreRow], expected: Mapping[str, int | None]) -> list[ScoreRow]:
    """The rows, best first, with ranks, Pareto membership and how many images there should be; equal scores share a rank."""
    if not rows:
        return []
    main, judged = columns[0], [column for column in columns if column.better]
    costs = [(-1 if main.better == "max" else 1) * row.value(main.key) for row in rows]
    best = optimal(
        np.array([[row.value(column.key) for column in judged] for row in rows]),
        senses=[column.better for column in judged],
    )
    found = []
    for n in sorted(range(len(rows)), key=lambda n: (math.isnan(costs[n]), costs[n], n)):
        rank = len(rows) if math.isnan(costs[n]) else 1 + sum(cost < costs[n] for cost in costs)
        there = expected.get(rows[n].system)
        standing = {"rank": rank, "pareto": int(best[n]), "expected": math.nan if there is None else there}
        found.append(ScoreRow(rows[n].system, {**rows[n].values, **standing}, rows[n].intervals))
    return found


def _sure(column: Column, rows: Sequence[ScoreRow], tests: Sequence[Verdict]) -> bool:
    """Whether the best system by a column is significantly better than every other one."""
    known = [row for row in rows if not math.isnan(row.value(column.key))]
    if not known or not column.better:
        return False
    pick = max if column.better == "max" else min
    best = pick(known, key=lambda row: row.value(column.key)).system
    beaten = {
        name for test in tests if test.significant and best in (pair := {test.first, test.second}) for name in pair
    }
    return beaten == {row.system for row in rows}


def caption_of(task: Task[Any, Any, Any], main: Column, rows: Sequence[ScoreRow], tests: Sequence[Verdict]) -> str:
    """What the table shows: the task, how many images, what intervals and p-values are."""
    counts = sorted({int(row.value("images")) for row in rows})
    images = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0] if counts else 0)
    said = [
        f"{task.title}, {images} image{'' if images == '1' else 's'}.",
        f"95 % interval of {main.title}: bootstrap over images.",
    ]
    if tests:
        many = f", with Holm's correction for {len(tests)} tests" if len(tests) > 1 else ""
        said.append(
            f"p: paired bootstrap of {main.title} against the best system{many}, over the images that both have."
        )
        said.append("Bold: significantly better than every other system.")
    return " ".join([*said, f"Measured with hyperacuity {__version__}:"])


def of_comparison(found: SystemComparison) -> ScoreTable:
    """The table of a comparison: group, average rank and place of each system, and how it scores by every component."""
    ranking = found.ranking
    columns = [
        Column("group", "group", "", 0),
        Column("average_rank", "average rank", "", 2),
        Column("place", "place", "", 0),
    ]
    if found.stable is not None:
        columns.append(Column("in_optimal_set", "in the optimal set, resampled", "", 0, unit="%"))
    components = [Column(name, name, sense, 4) for name, sense in zip(ranking.components, ranking.senses, strict=True)]
    rows = []
    for i in np.lexsort((ranking.average_rank, ranking.group)).tolist():
        values: dict[str, float] = {"group": int(ranking.group[i]) + 1, "average_rank": float(ranking.average_rank[i])}
        values |= {"place": int(ranking.place[i])}
        values |= {} if found.stable is None else {"in_optimal_set": 100 * float(found.stable[i])}
        values |= dict(zip(ranking.components, ranking.values[i].tolist(), strict=True))
        rows.append(ScoreRow(ranking.systems[i], values))
    few = len(columns) + len(components) <= 8
    caption = f"{ranking.interpretation} Group 1 is the optimal set. Measured with hyperacuity {__version__}:"
    return ScoreTable(
        (*columns, *(components if few else ())),
        tuple(rows),
        caption,
        ranking.signature,
        "tab:comparison",
        more=() if few else tuple(components),
    )
