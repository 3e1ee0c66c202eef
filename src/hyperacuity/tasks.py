"""The registry of benchmarks: one line each. Everything else asks here, and keeps no list of its own.

A benchmark is loaded when it is first asked for. One of another package joins by an entry point, so that every process knows
it, or for the time being by :func:`register`.

>>> task("boundary").title
'Boundaries'
>>> task("chess")
Traceback (most recent call last):
hyperacuity.errors.UsageError: there is no benchmark 'chess'; there are boundary, edges, ...
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from hyperacuity.errors import UsageError
from hyperacuity.tally import Task

BUILT_IN = {
    "boundary": "hyperacuity.boundary.task",
    "edges": "hyperacuity.edges.task",
    "semantic": "hyperacuity.semantic.task",
    "regions": "hyperacuity.regions.task",
    "ordering": "hyperacuity.ordering.task",
    "occlusion": "hyperacuity.ordering.occlusion_task",
    "whdr": "hyperacuity.ordering.whdr.task",
    "dbe": "hyperacuity.ordering.dbe.task",
    "disparity": "hyperacuity.disparity.task",
    "masks": "hyperacuity.masks.task",
    "views": "hyperacuity.disparity.views_task",
    "audit": "hyperacuity.audit.task",
    "strength": "hyperacuity.audit.strength_task",
}
"""The module of each benchmark; its ``TASK`` is what the name stands for."""

ENTRY_POINTS = "hyperacuity.tasks"
"""The group in which installed packages offer theirs: ``exact = "exact:TASK"``."""

_joined: dict[str, Task[Any, Any, Any]] = {}


def task(name: str) -> Task[Any, Any, Any]:
    """The benchmark of this name. ``UsageError`` when there is none."""
    if name in _joined:
        return _joined[name]
    if name in BUILT_IN:
        found: Task[Any, Any, Any] = import_module(BUILT_IN[name]).TASK
        return found
    if name not in (offered := _offered()):
        raise UsageError(f"there is no benchmark {name!r}; there are {', '.join(names())}")
    register(offered[name].load())
    return _joined[name]


def names() -> list[str]:
    """The names of all benchmarks."""
    return list(dict.fromkeys((*BUILT_IN, *_joined, *_offered())))


def register(task: Task[Any, Any, Any]) -> None:
    """Add a benchmark of your own, which this process then knows by name. One of the same name is replaced."""
    if task.name in BUILT_IN:
        raise UsageError(f"the name {task.name} belongs to a benchmark of this package: choose another")
    _joined[task.name] = task


def _offered() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}
