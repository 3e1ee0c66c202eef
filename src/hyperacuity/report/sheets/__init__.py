"""What a report shows of a task: one module each, found by the task's name.

The module has a function ``sheet(grid, each) -> Sheet``: ``grid`` is what the runs hold under one signature, and
``each(title, function, items)`` maps a function over items in threads, with progress, for what takes long. A task without a
module gets a sheet made of the criteria it is judged by. ``curves(scores)`` of a module draws the curves of a leaderboard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from hyperacuity import tasks
from hyperacuity.report.sheets.sheet import Each, Figure, Sheet
from hyperacuity.run.gather import Grid


def make_sheet(grid: Grid, each: Each) -> Sheet:
    """The sheet of a grid. One of a task that nobody registered says so, and what failed."""
    name = grid.signature.task
    if name not in tasks.names():
        note = f"No benchmark named {name} is registered here, so its scores cannot be shown."
        return Sheet(name.capitalize(), grid, columns=(), lines=(), notes=(note,))
    module = _module(name)
    if not hasattr(module, "sheet"):
        from hyperacuity.report.sheets.judged import judge, judged_sheet  # charts, which not every install has

        return judged_sheet(grid, judge(grid))
    sheet: Sheet = module.sheet(grid, each)
    return sheet


def curves_of(task: str) -> Callable[[Mapping[str, Any]], Iterable[Figure]] | None:
    """The function that draws a task's curves from scores by system; None where its module has none."""
    return getattr(_module(task), "curves", None)


def _module(task: str) -> Any:
    name = f"{__name__}.{task}"
    return import_module(name) if task.isidentifier() and find_spec(name) is not None else None
