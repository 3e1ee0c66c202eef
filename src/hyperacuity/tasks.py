"""The registry of benchmarks: one line each. Everything else asks here, and keeps no list of its own.

A benchmark is loaded when it is first asked for. One that lives outside this package joins by :func:`register`.

>>> task("boundary").title
'Boundaries'
>>> names()
['boundary', 'edges', 'regions', 'ordering', 'disparity', 'views', 'audit', 'strength']
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hyperacuity.errors import UsageError
from hyperacuity.tally import Task

BUILT_IN = {
    "boundary": "hyperacuity.boundary.task",
    "edges": "hyperacuity.edges.benchmark",
    "regions": "hyperacuity.regions.benchmark",
    "ordering": "hyperacuity.ordering.scores",
    "disparity": "hyperacuity.disparity.benchmark",
    "views": "hyperacuity.disparity.view_benchmark",
    "audit": "hyperacuity.audit.benchmark",
    "strength": "hyperacuity.audit.strength",
}
"""The module of each benchmark; its ``TASK`` is what the name stands for."""

_joined: dict[str, Task[Any, Any, Any]] = {}


def task(name: str) -> Task[Any, Any, Any]:
    """The benchmark of this name. ``UsageError`` when there is none."""
    if name in _joined:
        return _joined[name]
    if name not in BUILT_IN:
        raise UsageError(f"there is no benchmark {name!r}; there are {', '.join(names())}")
    found: Task[Any, Any, Any] = import_module(BUILT_IN[name]).TASK
    return found


def names() -> list[str]:
    """The names of all benchmarks."""
    return [*BUILT_IN, *(name for name in _joined if name not in BUILT_IN)]


def register(task: Task[Any, Any, Any]) -> None:
    """Add a benchmark of your own, so that every call and command knows it. One of the same name is replaced."""
    if task.name in BUILT_IN:
        raise UsageError(f"the name {task.name} belongs to a benchmark of this package: choose another")
    _joined[task.name] = task
