"""The command line: options and printing, one module per command.

Manners every command keeps: results go to standard output (a table for people, or with ``--json`` one object and nothing else),
messages and progress to standard error; exit status 0 when all is well, 1 when some items failed (each is named), 2 for a
call that cannot be carried out. Command modules import numpy, numba, scipy and charts inside their functions, so that
``hyperacuity --help`` answers at once.
"""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer
from typer import Option

from hyperacuity import __version__
from hyperacuity.cli import (
    audit,
    board,
    boundary,
    card,
    cite,
    compare,
    demo,
    depth,
    detect,
    disparity,
    edges,
    evaluate,
    masks,
    ordering,
    regions,
    report,
    run,
    scenes,
    see,
    segment,
    semantic,
    stereo,
    studio,
    study,
    train,
    warm,
    watch,
)
from hyperacuity.cli.common import Commands

app = typer.Typer(
    name="hyperacuity",
    cls=Commands,
    help="Measure how well a vision system sees edges, boundaries, figure and ground, depth order and disparity.",
    epilog="Start with: [bold]hyperacuity demo[/bold]",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hyperacuity {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options before the command."""


app.command("compare")(compare.compare)
app.command("demo")(demo.demo)
app.command("audit")(audit.audit)
app.command("board")(board.board)
app.command("board check")(board.check)
app.command("boundary")(boundary.boundary)
app.command("card")(card.make)
app.command("card show")(card.show)
app.command("card check")(card.check)
app.command("cite")(cite.cite)
app.command("detect")(detect.detect)
app.command("detect train pb")(detect.train_pb)
app.command("detect train depth-cues")(detect.train_depth_cues)
app.command("disparity")(disparity.disparity)
app.command("edges")(edges.edges)
app.command("evaluate")(evaluate.evaluate)
app.command("masks")(masks.masks)
app.command("ordering")(ordering.ordering)
app.command("ordering occlusion")(depth.occlusion)
app.command("ordering whdr")(depth.whdr)
app.command("ordering dbe")(depth.dbe)
app.command("regions")(regions.regions)
app.command("report")(report.report)
app.command("scenes")(scenes.scenes)
app.command("see")(see.see)
app.command("segment")(segment.segment)
app.command("semantic")(semantic.semantic)
app.command("semantic truth")(semantic.semantic_truth)
app.command("stereo")(stereo.stereo)
app.command("warm")(warm.warm)
app.command("watch")(watch.watch)
app.add_typer(run.app, name="run")
app.add_typer(study.app, name="study")
app.add_typer(studio.app, name="studio")
app.add_typer(train.app, name="train")


def main() -> None:
    """Run the command line."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name that the terminal's encoding lacks must not end a run
        sys.stdout.reconfigure(errors="backslashreplace")
    app()
