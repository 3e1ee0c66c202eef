"""The grid of systems × images: evaluate each cell once, keep its tally, resume after an interruption.

A caller makes :class:`Cell` values (which files belong together) and a :class:`Job` (how to turn a cell into a tally), opens a
:class:`Store` in the run folder, and calls :func:`run_grid`. Later, or meanwhile, :func:`open_run` reads the folder: that is
all a report needs.
"""

from typing import TYPE_CHECKING

from hyperacuity.syntax import on_demand

if TYPE_CHECKING:
    from hyperacuity.run.export import export_run
    from hyperacuity.run.gather import Grid
    from hyperacuity.run.grid import Filled, Outcome, fill_grid, run_grid
    from hyperacuity.run.jobs import Cell, Failure, Job
    from hyperacuity.run.records import EXPECTED, Run, open_run
    from hyperacuity.run.store import Spool, Store, open_store
    from hyperacuity.run.upkeep import check_run, merge_runs, salvage_run, sweep_run
else:
    __getattr__ = on_demand(__name__, __file__)

__all__ = [
    "EXPECTED",
    "Cell",
    "Failure",
    "Filled",
    "Grid",
    "Job",
    "Outcome",
    "Run",
    "Spool",
    "Store",
    "check_run",
    "export_run",
    "fill_grid",
    "merge_runs",
    "open_run",
    "open_store",
    "run_grid",
    "salvage_run",
    "sweep_run",
]
