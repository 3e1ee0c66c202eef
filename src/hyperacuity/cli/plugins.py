"""Commands of other packages, which join by an entry point: ``mine = "my_package.commands:mine"``.

A package is asked for its command when that is called. The list of commands shows the one-line summary of each package, which
its metadata holds, so that no help waits for anybody's imports.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperCommand

from hyperacuity.cli import common
from hyperacuity.errors import UsageError

ENTRY_POINTS = "hyperacuity.commands"
"""The group in which installed packages offer commands: a function, or a ``typer.Typer`` with several."""


@cache
def offered() -> dict[str, EntryPoint]:
    """Find the commands of installed packages by name; of several with one name the first, with a warning of the others."""
    commands: dict[str, EntryPoint] = {}
    for point in entry_points(group=ENTRY_POINTS):
        first = commands.setdefault(point.name, point)
        if (point.value, _package(point)) != (first.value, _package(first)):
            common.warn(
                f"{_package(point)} offers a command {point.name}, which is that of {_package(first)}: left out"
            )
    return commands


def listed(built_in: Collection[str]) -> list[str]:
    """Return the names of offered commands, and warn of those that are taken."""
    for name in (taken := [name for name in offered() if name in built_in]):
        common.warn(f"{_package(offered()[name])} offers a command {name}, which is built in: left out")
    return [name for name in offered() if name not in taken]


def summary(name: str) -> TyperCommand:
    """Return a stand-in for an offered command, for the list of commands: its package's summary is its help."""
    dist = offered()[name].dist
    return TyperCommand(name, help=f"{dist.metadata['Summary'] or 'A command'} ({dist.name})." if dist else name)


def loaded(name: str) -> Any:
    """Load an offered command from its package. ``UsageError`` where that fails."""
    point = offered()[name]
    try:
        command = point.load()
        holder = typer.Typer(rich_markup_mode="rich")
        holder.callback()(lambda: None)
        if isinstance(command, typer.Typer):
            holder.add_typer(command, name=name)
        else:
            holder.command(name)(command)
        return typer.main.get_group(holder).commands[name]
    except Exception as error:  # whatever another package does at its import
        why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise UsageError(f"the command {name} of {_package(point)} cannot be loaded: {why}") from error


def _package(point: EntryPoint) -> str:
    return f"the package {point.dist.name}" if point.dist else point.value
