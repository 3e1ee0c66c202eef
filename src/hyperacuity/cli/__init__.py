"""The command line: options and printing, one module per command.

All commands behave alike: results go to standard output (a table for people, or with ``--json`` one object and nothing else),
messages and progress to standard error; exit status 0 when all is well, 1 when some items failed (each is named), 2 for a
call that cannot be carried out. Command modules import numpy, numba, scipy and charts inside their functions, so that
``hyperacuity --help`` answers at once, and a call loads only the modules of its command.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from hyperacuity import __version__
from hyperacuity.cli.common import Commands

if TYPE_CHECKING:
    app: typer.Typer

COMMANDS = {
    "compare": "compare.compare",
    "demo": "demo.demo",
    "audit": "audit.audit",
    "board": "board.board",
    "board check": "board.check",
    "boundary": "boundary.boundary",
    "card": "card.make",
    "card show": "card.show",
    "card check": "card.check",
    "cite": "cite.cite",
    "detect": "detect.detect",
    "detect train pb": "detect.train_pb",
    "detect train depth-cues": "detect.train_depth_cues",
    "disparity": "disparity.disparity",
    "edges": "edges.edges",
    "evaluate": "evaluate.evaluate",
    "masks": "masks.masks",
    "ordering": "ordering.ordering",
    "ordering occlusion": "occlusion.occlusion",
    "ordering whdr": "whdr.whdr",
    "ordering dbe": "dbe.dbe",
    "regions": "regions.regions",
    "report": "report.report",
    "scenes": "scenes.scenes",
    "see": "see.see",
    "segment": "segment.segment",
    "semantic": "semantic.semantic",
    "semantic truth": "semantic.semantic_truth",
    "stereo": "stereo.stereo",
    "warm": "warm.warm",
    "watch": "watch.watch",
}
"""The words of each command and its function in a module of this package, in the order of the help."""

GROUPS = ("run", "studio", "train")
"""The groups of commands, each a module of this package with an ``app``."""

OBJECTS_BETWEEN_COLLECTIONS = 20_000
"""Modules and kernels create many lasting objects; looking for garbage every 700 of them takes a tenth of the start."""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hyperacuity {__version__}")
        raise typer.Exit


def _general(
    version: Annotated[
        bool, Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options before the command."""


def program(words: Sequence[str] = ()) -> typer.Typer:
    """Build the program for a call: with the commands that begin with its first word, or with all.

    It lists the commands of other packages, and loads them when they are called (:mod:`hyperacuity.cli.plugins`).

    >>> [command.name for command in program(["card", "show", "mine.card"]).registered_commands]
    ['card', 'card show', 'card check']
    >>> len(program(["crad"]).registered_commands) == len(COMMANDS)
    True
    """
    built = typer.Typer(
        name="hyperacuity",
        cls=Commands,
        help="Measure how well a vision system sees edges, boundaries, figure and ground, depth order and disparity.",
        epilog="Start with: [bold]hyperacuity demo[/bold]",
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    built.callback()(_general)
    names = {name: name.partition(" ")[0] for name in (*COMMANDS, *GROUPS)}
    called = words[0] if words and (words[0] in names.values() or _is_offered(words[0])) else None
    for name, place in COMMANDS.items():
        if called in (None, names[name]):
            module, _, function = place.partition(".")
            built.command(name)(getattr(_module(module), function))
    for name in GROUPS:
        if called in (None, name):
            built.add_typer(_module(name).app, name=name)
    return built


def _is_offered(word: str) -> bool:
    """Return True if a word is the command of another package."""
    if word.startswith("-"):
        return False
    from hyperacuity.cli import plugins

    return word in plugins.offered()


def _module(name: str) -> Any:
    return import_module(f"{__name__}.{name}")


@cache
def _whole() -> typer.Typer:
    return program()


def __getattr__(name: str) -> Any:
    """Load ``app``, the program with all commands, on first use."""
    if name == "app":
        return _whole()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> None:
    """Run the command line."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    # Work is shared out by images: threads of the matrix library would only get in each other's way.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")  # typer needs none, and looking for them takes a while
    atexit.register(gc.freeze)  # the process ends anyway: freeing its objects takes a quarter of a second
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name that the terminal's encoding lacks must not end a run
        sys.stdout.reconfigure(errors="backslashreplace")
    words = sys.argv[1:]
    program(words)()
