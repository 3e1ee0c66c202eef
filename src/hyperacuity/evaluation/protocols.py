"""The protocol that a caller means: a value, a name, options, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from hyperacuity.errors import UsageError
from hyperacuity.tally import BaseProtocol, Task


def agreed(task: Task[Any, Any, Any], given: Any = None, changes: Mapping[str, Any] | None = None) -> Any:
    """The protocol of a task: ``given`` (a protocol, a name of one, or options) with ``changes``.

    >>> from hyperacuity.tasks import task
    >>> agreed(task("boundary"), "nyud", {"thresholds": 19}).signature
    boundary|tol:0.011diag|nms:none|thin:guo-hall|thr:19|precision:any|v:1
    >>> agreed(task("edges"), None, {"thresold": 5})
    Traceback (most recent call last):
    hyperacuity.errors.UsageError: edges has no option 'thresold'; there are names, thresholds, thin, norm
    """
    options = dict(changes or {})
    if isinstance(given, BaseProtocol):
        if not isinstance(given, task.protocol):
            raise UsageError(f"the protocol is one of {given.task}, expected one of {task.name}")
        start = given
    elif isinstance(given, str):
        if given not in task.protocols:
            known = ", ".join(task.protocols) or "none with a name"
            raise UsageError(f"there is no protocol {given!r}; there are {known}")
        start = task.protocols[given]
    else:
        start, options = task.protocol(), dict(given or {}) | options
    names = [part.name for part in fields(task.protocol) if part.name != "reading"]
    for name in options:
        if name not in names:
            raise UsageError(f"{task.name} has no option {name!r}; there are {', '.join(names)}")
    lists = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    return replace(start, **lists)
