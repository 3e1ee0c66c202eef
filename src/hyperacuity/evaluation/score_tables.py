"""Tables of results, runs and comparisons: any task's scores by the columns it declares, with intervals, tests and ranks.

A task that declares no columns (``Task.columns``) has those of its criteria. CSV also has all criteria, what else the task says
of a score, ranks, and numbers of images.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperacuity import __version__
from hyperacuity.cards import PEOPLE
from hyperacuity.cards.making import people_tallies
from hyperacuity.columns import Column, Columns, Lines, Scored, Value
from hyperacuity.compare import optimal
from hyperacuity.compare.verdict import LEVEL, Verdict, verdicts
from hyperacuity.evaluation.export import IMAGES, SYSTEM, ScoreRow, ScoreTable
from hyperacuity.kinds.base import some
from hyperacuity.resampling import Bootstrap, blocks_of, percentile_interval
from hyperacuity.run.gather import Grid, gather
from hyperacuity.run.jobs import job_of
from hyperacuity.run.store import BySystem
from hyperacuity.tally import BaseProtocol
from hyperacuity.tasks import Criteria, Task

if TYPE_CHECKING:
    from hyperacuity.evaluation.comparison import SystemComparison
    from hyperacuity.evaluation.result import Result

FEW_IMAGES = 10

CSV_ONLY = ("rank", "pareto", "images", "expected")
"""System columns of CSV."""


def columns_of(task: Task[Any, Any, Any], protocol: BaseProtocol) -> Columns:
    """All that a task shows of its scores; by default its usual criteria, with the interval of the first."""
    if callable(task.columns):
        return task.columns(protocol)
    if task.columns is not None:
        return task.columns
    judged = task.criteria(protocol)
    senses = dict(zip(judged.names, judged.senses, strict=True))
    return Columns(tuple(Column(name, name, senses[name], interval=name == judged.usual[0]) for name in judged.usual))


def of_result(result: Result, *, complete: bool = True) -> ScoreTable:
    """The table of a result; people have a row if the result was asked for them. Without ``complete``, for a terminal."""
    return score_table(
        result.task,
        result.protocol,
        BySystem(result.scores, result.chosen_tallies),
        result.scores,
        result.verdicts,
        expected={system: result.expected(system) for system in result.scores},
        people=result.people if result.human else None,
        complete=complete,
        notes=result.notes,
        first_truth=result.first_truth,
    )


def of_runs(folders: Sequence[Path], *, human: bool = False) -> list[ScoreTable]:
    """The tables of run folders, one per protocol; with ``human``, people are scored where truths can be read."""
    return [_of_grid(grid, human) for grid in gather(folders) if grid.tallies()]


def _of_grid(grid: Grid, human: bool) -> ScoreTable:
    tallies, judged, people = grid.tallies(), grid.task.criteria(grid.protocol), None
    main = judged.names.index(judged.usual[0])
    worse = -1 if judged.senses[main] == "max" else 1
    whole = {system: worse * float(judged.overall(list(tallies[system].values()))[main]) for system in tallies}
    order = sorted(whole, key=lambda system: (math.isnan(whole[system]), whole[system]))
    if human and grid.task.people is not None:
        job = job_of(grid)
        cells = {cell.image: cell for cell in grid.cells()}
        people = job.collect_people(people_tallies(job, list(cells.values())))
    return score_table(
        grid.task,
        grid.protocol,
        tallies,
        {system: grid.task.collect(tallies[system]) for system in tallies},
        verdicts(order, tallies.__getitem__, judged),
        expected={system: grid.sources[system].expected for system in tallies},
        people=people,
    )


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
    complete: bool = True,
    notes: Sequence[str] = (),
    first_truth: Callable[[], Any] = lambda: None,
) -> ScoreTable:
    """The table of systems whose tallies (system → image → tally), scores and tests by criterion are given.

    A value is bold where tests say that it is better than every other system's. Where systems have not the same number of images,
    it is a column. Tallies are read a system at a time, and without ``complete`` only where a column needs them: such a table is
    for a terminal. Without systems, the table has no rows.
    """
    judged, shown = task.criteria(protocol), columns_of(task, protocol)
    across = shown.across(tallies) if shown.across is not None else {}
    rows = [
        score_row(
            shown,
            judged,
            system,
            partial(tallies.__getitem__, system),
            scores.get(system),
            across=across.get(system, {}),
            expected=(expected or {}).get(system),
            complete=complete,
        )
        for system in tallies
    ]
    columns = shown.scores
    by_main = tests.get(columns[0].key, ()) if columns[0].better else ()
    ranks = ranked(columns, rows, lambda order: [test for test in by_main if test.first == order[0]], pareto=complete)
    counts = {row.images for row in ranks}
    scored = Scored(
        protocol, {row.system: scores[row.system] for row in ranks if row.system in scores}, people, first_truth
    )
    people_values = shown.people(people) if shown.people is not None and people is not None else {}
    keys = dict.fromkeys((*judged.names, *(key for row in rows for key in row.values)))
    known = {column.key: column for column in (*columns, *shown.more)}
    further = (column for column in shown.more if column.key in keys)
    return ScoreTable(
        (*columns, IMAGES) if len(counts) > 1 else columns,
        (
            *(replace(row, values={**row.values, **_system_values(row, ranks[0], by_main)}) for row in ranks),
            *([ScoreRow(PEOPLE, people_values, people=True)] if people_values else []),
        ),
        caption or caption_of(task, columns[0], ranks, by_main),
        str(protocol.signature),
        more=(
            *further,
            *(Column(key, key, "") for key in keys if key not in known),
            *(column for column in SYSTEM if column.key in CSV_ONLY),
        ),
        tests=len(by_main) or None,
        unsure=frozenset(column.key for column in columns if not _is_sure(column, ranks, tests.get(column.key, ()))),
        screen=shown.screen or ("images", *(column.key for column in columns)),
        tables=tuple(shown.tables(scored)) if ranks else (),
        notes=(*_notes(shown, columns[0], ranks, by_main), *notes),
        facts=tuple(filter(None, _facts(shown, columns[0], ranks, by_main, scored))) if ranks else (),
    )


def score_row(
    shown: Columns,
    judged: Criteria,
    system: str,
    tallies: Callable[[], Mapping[str, Any]],
    score: Any,
    *,
    across: Mapping[str, float] | None = None,
    expected: int | None = None,
    complete: bool = True,
    resampled: Collection[str] = (),
) -> ScoreRow:
    """A system by its columns, with declared and ``resampled`` intervals; if ``complete``, by all criteria with their intervals.

    A number of the score replaces the criterion's of the same name, and its interval where it is another number: a system with
    a parameter may have its best values at several.
    """
    columns = shown.every.values()
    declared = {column.key: column.value(score) for column in columns if column.value is not None and score is not None}
    drawn_of = {*resampled, *(column.key for column in columns if column.interval is True)}
    every = []
    if complete or drawn_of or len(declared) < len(columns):
        every = [tally for _, tally in sorted(tallies().items())]  # resamples go by the images' names
    values: dict[str, Value] = dict(zip(judged.names, judged.overall(every).tolist(), strict=True)) if every else {}
    values |= declared | dict(across or {})
    values |= dict(shown.numbers(score, system)) if shown.numbers is not None and score is not None else {}
    intervals = {}
    if complete or drawn_of:
        whole = judged.overall(every)
        drawn = judged.resampled(every, blocks_of(Bootstrap(len(every))))
        for n, name in enumerate(judged.names):
            if math.isclose(values[name], whole[n]) and (complete or name in drawn_of):  # type: ignore[arg-type]
                intervals[name] = percentile_interval(drawn[:, n])
    for column in columns:
        if callable(column.interval) and score is not None and column.key not in intervals:
            low, high = column.interval(score)
            intervals[column.key] = (float(low), float(high))
    images = getattr(score, "images", None) if not every else len(every)
    counted = len(tallies()) if images is None else images if isinstance(images, int) else len(images)
    return ScoreRow(system, values, intervals, images=counted, expected=expected)


def ranked(
    columns: Sequence[Column],
    rows: Sequence[ScoreRow],
    test: Callable[[list[str]], Sequence[Verdict]] = lambda _: (),
    *,
    pareto: bool = True,
) -> tuple[ScoreRow, ...]:
    """The rows in the order of the first column, with ranks, tests against the best and, if asked for, Pareto membership.

    ``test`` gives the verdicts on systems, the best first. Equal scores share a rank. A system without a score is last. A first
    column that is neither good nor bad ranks nobody.
    """
    main, judged = columns[0], [column for column in columns if column.better]
    if not rows or not main.better:
        return tuple(replace(row, main=main.key) for row in rows)
    costs = [(-1 if main.better == "max" else 1) * row.number(main.key) for row in rows]
    order = sorted(range(len(rows)), key=lambda n: (math.isnan(costs[n]), costs[n], n))
    tests = {verdict.second: verdict for verdict in test([rows[n].system for n in order])}
    best = np.zeros(len(rows), np.bool_)
    if pareto:  # which loads a kernel
        scores = np.array([[row.number(column.key) for column in judged] for row in rows])
        best = optimal(scores, senses=[column.better for column in judged])
    alone = 0 < len(tests) == len(rows) - 1 and all(verdict.significant for verdict in tests.values())
    found = []
    for n in order:
        verdict = tests.get(rows[n].system)
        rank = len(rows) if math.isnan(costs[n]) else 1 + sum(cost < costs[n] for cost in costs)
        p = None if verdict is None else verdict.p
        first = alone and n == order[0]
        found.append(
            replace(rows[n], main=main.key, rank=rank, verdict=verdict, p=p, alone=first, optimal=bool(best[n]))
        )
    return tuple(found)


def _system_values(row: ScoreRow, leader: ScoreRow, tests: Sequence[Verdict]) -> dict[str, Value]:
    """Facts about a system for the columns of every task."""
    expected = math.nan if row.expected is None else row.expected
    values: dict[str, Value] = {
        "rank": row.rank or math.nan,
        "pareto": int(row.optimal),
        "images": row.images,
        "expected": expected,
    }
    test = next((test for test in tests if {test.first, test.second} == {leader.system, row.system}), None)
    return values if test is None else values | {"behind": abs(test.difference), "p": test.p}


def _notes(shown: Columns, main: Column, rows: Sequence[ScoreRow], tests: Sequence[Verdict]) -> list[str]:
    """Explanation of the column of p-values, where there is one, and how much to make of it."""
    if isinstance(shown.screen, Lines) or "p" not in shown.screen or not rows:
        return []
    many = f", with Holm's correction for {len(tests)} tests" if len(tests) > 1 else ""
    chance = f"at {LEVEL} or above, the difference may be due to chance"
    notes = [f"p: paired bootstrap of {main.title} over the images{many}; {chance}"] if tests else []
    few = min(row.images for row in rows) < FEW_IMAGES
    return [*notes, *([f"fewer than {FEW_IMAGES} images: intervals and p-values say little"] if few else [])]


def _facts(
    shown: Columns, main: Column, rows: Sequence[ScoreRow], tests: Sequence[Verdict], scored: Scored
) -> list[str]:
    """Closing lines: images, where no column counts them, what the task has to say, and who leads, where no column tests it."""
    keys = () if isinstance(shown.screen, Lines) else shown.screen
    count = ""
    if (keys and "images" not in keys) or isinstance(shown.screen, Lines):
        several = {row.coverage for row in rows}
        all_of_them = ", ".join(f"{row.system} {row.coverage}" for row in rows)
        count = f"{shown.counted}: {rows[0].coverage if len(several) == 1 else all_of_them}"
    return [count, *shown.facts(scored), "" if "p" in keys else leader_note(main.key, tests)]


def leader_note(criterion: str, tests: Sequence[Verdict]) -> str:
    """Summarize the tests of the best system against the others by one criterion; empty for one system.

    >>> leader_note("ods", [Verdict("a", "b", 0.1, 0.0, 0.2, 0.04, 0.04, 1, 9)])
    'by ods, a is ahead of b (p = 0.040; paired bootstrap)'
    """
    sure = [test for test in tests if test.first == tests[0].first and test.significant]
    unsure = [test for test in tests if test.first == tests[0].first and not test.significant]
    if not sure and not unsure:
        return ""
    parts = []
    if sure:
        sign = "=" if len(sure) == 1 else "≤"
        parts.append(f"{some([test.second for test in sure])} (p {sign} {max(test.p for test in sure):.3f}")
    if unsure:
        sign = "=" if len(unsure) == 1 else "≥"
        names = some([test.second for test in unsure])
        parts.append(f"{names}, which may be chance (p {sign} {min(test.p for test in unsure):.3f}")
    method = "paired bootstrap" + (f", Holm's correction for {tests[0].tests} tests" if tests[0].tests > 1 else "")
    return f"by {criterion}, {tests[0].first} is ahead of {'), and of '.join(parts)}; {method})"


def result_dict(result: Result) -> dict[str, Any]:
    """The scores of a result for JSON, with the tests between systems by pair and criterion."""
    shown, table = columns_of(result.task, result.protocol), of_result(result, complete=False)
    systems = {}
    rows = {row.system: row for row in table.rows if not row.people}
    for system, score in result.scores.items():
        row = rows[system]
        criteria = {
            name: row.values[name] for name in result.task.criteria(result.protocol).names if name in row.values
        }
        default = {"images": row.images, **criteria, "interval": row.ends(table.main.key)}
        systems[system] = default if shown.as_dict is None else shown.as_dict(score, system, row.values)
    found: dict[str, Any] = {"signature": str(result.signature), "images": len(result.images), "systems": systems}
    paired: dict[str, Any] = {}
    for criterion, tests in result.verdicts.items():
        for test in tests:
            values = {"difference": test.difference, "low": test.low, "high": test.high}
            values |= {"p_value": test.p, "p_single": test.p_single, "tests": test.tests, "images": test.images}
            paired.setdefault(f"{test.first} − {test.second}", {})[criterion] = values
    human = {"human": shown.people_dict(result.people)} if result.human and shown.people_dict is not None else {}
    return found | ({"paired": paired} if paired else {}) | {"notes": result.notes, **human, **shown.constants}


def _is_sure(column: Column, rows: Sequence[ScoreRow], tests: Sequence[Verdict]) -> bool:
    """True if the best system by a column is significantly better than every other one."""
    known = [row for row in rows if not math.isnan(row.number(column.key))]
    if not known or not column.better:
        return False
    pick = max if column.better == "max" else min
    best = pick(known, key=lambda row: row.number(column.key)).system
    beaten = {
        name for test in tests if test.significant and best in (pair := {test.first, test.second}) for name in pair
    }
    return beaten == {row.system for row in rows}


def caption_of(task: Task[Any, Any, Any], main: Column, rows: Sequence[ScoreRow], tests: Sequence[Verdict]) -> str:
    """A caption: the task, the number of images, and what intervals and p-values are."""
    counts = sorted({row.images for row in rows})
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
        values: dict[str, Value] = {"group": int(ranking.group[i]) + 1, "average_rank": float(ranking.average_rank[i])}
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
