"""A result of any task: the numbers it is judged by, with the interval of the first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from hyperacuity.evaluation.tables import closing, count, interval, new_table, number, paired
from hyperacuity.resampling import Bootstrap, blocks_of, percentile_interval

if TYPE_CHECKING:
    from hyperacuity.evaluation.result import Result


def scored(result: Result) -> dict[str, dict[str, Any]]:
    """For each system, how many images it has, its scores by name, and the interval of the first that is compared by."""
    judged = result.task.criteria(result.protocol)
    first = judged.names.index(judged.usual[0])
    found = {}
    for system in result.systems:
        tallies = [one for _, one in sorted(result.tallies(system).items())]
        if tallies:
            values = judged.overall(tallies)
            drawn = judged.resampled(tallies, blocks_of(Bootstrap(len(tallies))))[:, first]
            scores = dict(zip(judged.names, values.tolist(), strict=True))
            found[system] = {"images": len(tallies), **scores, "interval": percentile_interval(drawn)}
    return found


def summary(result: Result) -> dict[str, Any]:
    """The result for JSON."""
    return {"signature": str(result.signature), "systems": scored(result), **paired(result)}


def show(result: Result, console: Console) -> None:
    """The result as a table, the best system first."""
    judged = result.task.criteria(result.protocol)
    main = judged.usual[0]
    up = judged.senses[judged.names.index(main)] == "max"
    table = new_table("system", right=("images", main, "95 % interval", *judged.usual[1:]))
    rows = scored(result).items()
    for system, row in sorted(rows, key=lambda item: -item[1][main] if up else item[1][main]):
        images, others = count(result, system, row["images"]), (number(row[name]) for name in judged.usual[1:])
        table.add_row(escape(system), images, number(row[main]), interval(row["interval"], 4), *others)
    console.print(table)
    closing(result, console)
