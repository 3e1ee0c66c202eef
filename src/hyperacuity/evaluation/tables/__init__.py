"""What a command prints of a task's result, for people and as JSON. A task without a module of its own has the plain one."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from hyperacuity.tally import Task


def presenter(task: Task[Any, Any, Any]) -> Any:
    """The module with ``summary(result)``, a mapping for JSON, and ``show(result, console)``, which prints."""
    own = f"{__name__}.{task.name}"
    known = task.name.isidentifier() and find_spec(own) is not None
    return import_module(own if known else f"{__name__}.plain")


def number(value: float, digits: int = 4) -> str:
    """Fixed decimals, so that columns align; a dash for what does not exist.

    >>> number(0.5), number(float("nan"))
    ('0.5000', '–')
    """
    return "–" if value != value else f"{value:.{digits}f}"  # only NaN is unlike itself


def interval(ends: Any, digits: int = 3) -> str:
    """The two ends of an interval.

    >>> interval((0.25, 0.5))
    '0.250 – 0.500'
    """
    low, high = ends
    return f"{number(low, digits)} – {number(high, digits)}"
