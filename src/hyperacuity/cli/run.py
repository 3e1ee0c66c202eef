"""``hyperacuity run``: show, check, salvage, merge, export and clean up run folders."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer import Argument, Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Folder, Json
from hyperacuity.console import printable

app = typer.Typer(help="Manage run folders: show, check, salvage, merge, export, clean up.", no_args_is_help=True)

RunFolder = Annotated[Path, Argument(metavar="RUN", help="A run folder, or its run.sqlite.")]


def _print(as_json: bool, summary: dict[str, Any], *lines: str) -> None:
    """Print results as JSON or in words."""
    if as_json:
        common.print_json(summary)
    else:
        for line in lines:
            common.results.print(printable(line), markup=False)


@app.command("show")
def show(run: RunFolder, json: Json = False) -> None:
    """Show what a run holds: protocols, systems, how many cells are done, failed or waiting, and how it was computed.

    Example: [bold]hyperacuity run show runs/night[/bold]
    """
    from hyperacuity.run import open_run

    keys = ("signature", "started", "ended", "status", "command")
    with open_run(run) as opened:
        protocols: Any = [{"signature": one, "systems": opened.states(one)} for one in opened.signatures()]
        history = [{key: entry.get(key) for key in keys} for entry in opened.history()]
    lines: list[str] = []
    for protocol in protocols:
        lines.append(protocol["signature"])
        for name, counts in protocol["systems"].items():
            lines.append(f"  {name}: {', '.join(f'{count} {state}' for state, count in counts.items() if count)}")
    lines += [f"{entry['started']} {entry['status']}: {entry['command']}" for entry in history]
    _print(json, {"run": run, "protocols": protocols, "history": history}, *lines)


@app.command("check")
def check(run: RunFolder, json: Json = False) -> None:
    """Check a run folder: is the file intact, can every tally be read, does every cell point to its tally?

    Every problem is listed; exit status 1 if there is any. Failed and waiting cells are not problems of the store.

    Example: [bold]hyperacuity run check runs/night[/bold]
    """
    from hyperacuity.run import check_run

    health = check_run(run)
    for problem in health.problems:
        common.messages.print(f"[red]wrong:[/] {escape(problem)}")
    sound = f"sound: {health.cells} cells, {health.tallies} tallies, {health.failed} failed, {health.waiting} waiting"
    _print(json, {"run": run, "sound": not health.problems, **asdict(health)}, *([] if health.problems else [sound]))
    raise typer.Exit(1 if health.problems else 0)


@app.command("salvage")
def salvage(
    run: RunFolder, out: Annotated[Path, Folder(help="A new folder for what can be saved.")], json: Json = False
) -> None:
    """Salvage a damaged run: every tally whose checksum holds, and the grid as far as it can be read.

    The damaged run is not touched. Pass the new folder to the command that computed the run (--run): it reuses what was saved.

    Example: [bold]hyperacuity run salvage runs/night --out runs/saved[/bold]
    """
    from hyperacuity.run import salvage_run

    saved = salvage_run(run, out)
    grid = f"{saved.runs} runs and {saved.cells} cells of the grid, {saved.waiting} of them without a tally"
    again = "run the same command again with --run to do the rest"
    _print(json, {"run": run, "out": out, **asdict(saved)}, f"{out}: {saved.tallies} tallies, {grid}; {again} {out}")


@app.command("merge")
def merge(
    runs: Annotated[list[Path], Argument(metavar="RUN...", help="Run folders.")],
    out: Annotated[Path, Folder(help="The folder to merge into; may hold runs already.")],
    json: Json = False,
) -> None:
    """Merge several runs into one folder, for one report; results computed from different files are rejected.

    Example: [bold]hyperacuity run merge runs/monday runs/tuesday --out runs/week[/bold]
    """
    from hyperacuity.run import merge_runs

    merged = merge_runs(runs, out)
    line = f"{out}: {merged.cells} cells and {merged.tallies} tallies were added"
    _print(json, {"out": out, **asdict(merged)}, line)


@app.command("export")
def export(
    run: RunFolder,
    out: Annotated[Path, Folder(help="Folder for the tables.")] = Path("export"),
    format: Annotated[str, Option(help="parquet or csv.")] = "parquet",
    json: Json = False,
) -> None:
    """Write a run as tables: one file per protocol, a row per cell, a column per array of its tally.

    Example: [bold]hyperacuity run export runs/night --format csv --out tables[/bold]
    """
    from hyperacuity.run import export_run, open_run

    with open_run(run) as opened:
        paths = export_run(opened, common.output_folder(out), format)
    _print(json, {"run": run, "files": paths}, *map(str, paths))


@app.command("gc")
def gc(run: RunFolder, json: Json = False) -> None:
    """Delete tallies that are no longer used (older code, replaced predictions), and free the space.

    Example: [bold]hyperacuity run gc runs/night[/bold]
    """
    from hyperacuity.run import sweep_run

    swept = sweep_run(run)
    sizes = f"{swept.before / 1e6:.1f} MB before, {swept.after / 1e6:.1f} MB now"
    _print(json, {"run": run, **asdict(swept)}, f"{swept.tallies} tallies deleted: {sizes}")
