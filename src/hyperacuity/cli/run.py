"""``hyperacuity run``: what a run folder holds, whether it is sound, and what can be done with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from hyperacuity.cli import common
from hyperacuity.cli.options import Json

if TYPE_CHECKING:
    from hyperacuity.run import Run

app = typer.Typer(help="Look after run folders: show, check, merge, export, clean up.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, or its run.sqlite.")]


@app.command("show")
def show(run: Folder, json: Json = False) -> None:
    """Show what a run holds: protocols, systems, how many cells are done, failed or waiting, and how it was made.

    Example: [bold]hyperacuity run show runs/night[/bold]
    """
    from hyperacuity.run import open_run

    with open_run(run) as opened:
        protocols = [_protocol(opened, signature) for signature in opened.signatures()]
        history = [
            {key: entry.get(key) for key in ("signature", "started", "ended", "status", "command")}
            for entry in opened.history()
        ]
    if json:
        common.print_json({"run": run, "protocols": protocols, "history": history})
        return
    for protocol in protocols:
        common.results.print(protocol["signature"], markup=False)
        for name, counts in protocol["systems"].items():
            told = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
            common.results.print(f"  {name}: {told}", markup=False)
    for entry in history:
        common.results.print(f"{entry['started']} {entry['status']}: {entry['command']}", markup=False)


def _protocol(run: Run, signature: str) -> dict[str, Any]:
    systems: dict[str, dict[str, int]] = {
        name: {"done": 0, "failed": 0, "waiting": 0} for name in run.systems(signature)
    }
    for system, state, count in run.counts(signature):
        systems[system][state] = count
    return {"signature": signature, "systems": systems}


@app.command("check")
def check(run: Folder, json: Json = False) -> None:
    """Check a run folder: is the file sound, can every tally be read, does every cell point to its own?

    Exit status 1 when something is wrong; each finding is named. Cells that failed or still wait are no fault of the store.

    Example: [bold]hyperacuity run check runs/night[/bold]
    """
    from dataclasses import asdict

    from hyperacuity.run import check_run

    health = check_run(run)
    for problem in health.problems:
        common.messages.print(f"[red]wrong:[/] {escape(problem)}")
    if json:
        common.print_json({"run": run, "sound": not health.problems, **asdict(health)})
    elif not health.problems:
        common.results.print(
            f"sound: {health.cells} cells, {health.tallies} tallies, {health.failed} failed, {health.waiting} waiting",
            markup=False,
        )
    raise typer.Exit(1 if health.problems else 0)


@app.command("merge")
def merge(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where they come together; may have runs already.")],
    json: Json = False,
) -> None:
    """Bring several runs together in one folder, for one report; what was computed from other files is refused.

    Example: [bold]hyperacuity run merge runs/monday runs/tuesday --out runs/week[/bold]
    """
    from dataclasses import asdict

    from hyperacuity.run import merge_runs

    merged = merge_runs(runs, out)
    if json:
        common.print_json({"out": out, **asdict(merged)})
    else:
        common.results.print(f"{out}: {merged.cells} cells and {merged.tallies} tallies came in", markup=False)


@app.command("export")
def export(
    run: Folder,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the tables.")] = Path("export"),
    format: Annotated[str, typer.Option(help="parquet or csv.")] = "parquet",
    json: Json = False,
) -> None:
    """Write a run as tables: one file per protocol, a row per cell, a column per array of its tally.

    Example: [bold]hyperacuity run export runs/night --format csv --out tables[/bold]
    """
    from hyperacuity.run import export_run, open_run

    with open_run(run) as opened:
        paths = export_run(opened, common.output_folder(out), format)
    if json:
        common.print_json({"run": run, "files": paths})
    else:
        for path in paths:
            common.results.print(str(path), markup=False)


@app.command("gc")
def gc(run: Folder, json: Json = False) -> None:
    """Drop tallies that no cell refers to any more (older code, replaced predictions), and give the space back.

    Example: [bold]hyperacuity run gc runs/night[/bold]
    """
    from dataclasses import asdict

    from hyperacuity.run import sweep_run

    swept = sweep_run(run)
    if json:
        common.print_json({"run": run, **asdict(swept)})
    else:
        sizes = f"{swept.before / 1e6:.1f} MB before, {swept.after / 1e6:.1f} MB now"
        common.results.print(f"{swept.tallies} tallies dropped: {sizes}", markup=False)
