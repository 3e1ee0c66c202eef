"""Which module makes the sheet of which task. A new task plugs in with one line here and one module.

The module has a function ``sheet(grid, each) -> Sheet``: ``grid`` is what the runs hold under one signature, and
``each(title, function, items)`` maps a function over items in threads, with progress, for what takes long.
"""

from __future__ import annotations

import importlib
from typing import Any

from hyperacuity.report.sheets.sheet import Each, Sheet
from hyperacuity.run.gather import Grid

MODULES = {
    "audit": "hyperacuity.report.sheets.audit",
    "boundary": "hyperacuity.report.sheets.boundary",
    "disparity": "hyperacuity.report.sheets.disparity",
    "edges": "hyperacuity.report.sheets.edges",
    "ordering": "hyperacuity.report.sheets.ordering",
    "regions": "hyperacuity.report.sheets.regions",
    "strength": "hyperacuity.report.sheets.labels",
    "views": "hyperacuity.report.sheets.views",
}
"""Modules by the first word of a signature."""


def make_sheet(grid: Grid, each: Each) -> Sheet:
    """The sheet of a grid. A task without a module of its own gets one that says so, and what failed."""
    if grid.task not in MODULES:
        return Sheet(
            title=grid.task.capitalize(),
            grid=grid,
            columns=(),
            lines=(),
            notes=(f"There is no page for {grid.task} yet; its scores are printed by hyperacuity {grid.task}.",),
        )
    module: Any = importlib.import_module(MODULES[grid.task])
    sheet: Sheet = module.sheet(grid, each)
    return sheet
