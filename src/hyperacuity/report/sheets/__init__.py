"""Parts of a report: one module per task that adds to what any task has, named after the task.

The module's ``SHEET`` is a :class:`~hyperacuity.report.sheets.engine.TaskSheet`. A task without a module has a leaderboard,
charts across criteria and findings, by the columns it declares.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from hyperacuity import tasks
from hyperacuity.report.sheets.sheet import Each, Sheet
from hyperacuity.run.gather import Grid

if TYPE_CHECKING:
    from hyperacuity.report.sheets.engine import TaskSheet


def make_sheet(grid: Grid, each: Each) -> Sheet:
    """The sheet of a grid. One of a task that nobody registered says so, and what failed."""
    name = grid.signature.task
    if name not in tasks.names():
        note = f"No benchmark named {name} is registered here, so its scores cannot be shown."
        return Sheet(name.capitalize(), grid, columns=(), lines=(), notes=(note,))
    return sheet_of(name).make(grid, each)


def sheet_of(task: str) -> TaskSheet:
    """Additions of a task to its part of a report."""
    from hyperacuity.report.sheets.engine import TaskSheet  # charts, which not every install has

    module = f"{__name__}.{task}"
    declared = task in tasks.BUILT_IN and find_spec(module) is not None
    sheet: TaskSheet = import_module(module).SHEET if declared else TaskSheet()
    return sheet
