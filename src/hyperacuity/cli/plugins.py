"""Commands of other packages, which join by an entry point: ``mine = "my_package.commands:mine"``.

A package is imported when its command is called. The list of commands shows the summary from each package's metadata, so that
help waits for no imports.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator
from functools import cache
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand

from hyperacuity.cli import common
from hyperacuity.errors import UsageError

ENTRY_POINTS = "hyperacuity.commands"
"""The group in which installed packages offer commands: a function, or a ``typer.Typer`` with several."""


class Offer(NamedTuple):
    """A command that a package offers: the object to load (``module:name``), the package and its summary."""

    value: str
    package: str
    summary: str


@cache
def offered() -> dict[str, Offer]:
    """Find the commands of installed packages by name; of several with one name the first, with a warning of the others."""
    commands: dict[str, Offer] = {}
    for folder in dict.fromkeys(sys.path):
        for name, offer in _in_folder(folder or os.curdir):
            first = commands.setdefault(name, offer)
            if first != offer:
                other = f"which is that of the package {first.package}"
                common.warn(f"the package {offer.package} offers a command {name}, {other}: left out")
    return commands


def _in_folder(folder: str) -> Iterator[tuple[str, Offer]]:
    """Read the entry points of packages in a folder of the path. Importing ``importlib.metadata`` takes a tenth of a start."""
    try:
        installed = sorted(
            entry.path for entry in os.scandir(folder) if entry.name.endswith((".dist-info", ".egg-info"))
        )
    except OSError:  # a zip file, or no folder
        return
    for about in installed:
        lines = _lines(about, "entry_points.txt")
        if f"[{ENTRY_POINTS}]" in lines:
            header = [line.partition(":") for line in _lines(about, "METADATA") or _lines(about, "PKG-INFO")]
            facts = {key: value.strip() for key, _, value in reversed(header)}  # the first of each key counts
            for line in lines[lines.index(f"[{ENTRY_POINTS}]") + 1 :]:
                if line.startswith("["):
                    break
                name, equals, value = line.partition("=")
                if equals and not line.startswith(("#", ";")):
                    yield (
                        name.strip(),
                        Offer(value.strip(), facts.get("Name", about), facts.get("Summary", "A command")),
                    )


def _lines(folder: str, name: str) -> list[str]:
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            return [line.strip() for line in file]
    except OSError:
        return []


def listed(built_in: Collection[str]) -> list[str]:
    """Return the names of offered commands, and warn of those that are taken."""
    for name in (taken := [name for name in offered() if name in built_in]):
        common.warn(f"the package {offered()[name].package} offers a command {name}, which is built in: left out")
    return [name for name in offered() if name not in taken]


def summary(name: str) -> TyperCommand:
    """Return a stand-in for an offered command, for the list of commands: its package's summary is its help."""
    offer = offered()[name]
    return TyperCommand(name, help=f"{offer.summary} ({offer.package}).")


def loaded(name: str) -> Any:
    """Load an offered command from its package. ``UsageError`` where that fails."""
    from importlib.metadata import EntryPoint

    offer = offered()[name]
    try:
        command = EntryPoint(name, offer.value, ENTRY_POINTS).load()
        holder = typer.Typer(rich_markup_mode="rich")
        holder.callback()(lambda: None)
        if isinstance(command, typer.Typer):
            holder.add_typer(command, name=name)
        else:
            holder.command(name)(command)
        return typer.main.get_group(holder).commands[name]
    except Exception as error:  # whatever another package does at its import
        why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise UsageError(f"the command {name} of the package {offer.package} cannot be loaded: {why}") from error
