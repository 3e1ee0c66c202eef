"""``hyperacuity report``: runs as a page, figures for a paper, and tables to paste."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer import Argument, Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Folder, Workers
from hyperacuity.errors import UsageError


def report(
    runs: Annotated[list[Path], Argument(metavar="RUN…", help="Run folders, written by --run of other commands.")],
    out: Annotated[Path | None, Folder(help="Write the page here; with --single-file, to this file or folder.")] = None,
    single_file: Annotated[bool, Option("--single-file", help="One HTML file that holds everything.")] = False,
    pictures: Annotated[Path | None, Folder(help="Photographs, if the runs do not name them; paired by name.")] = None,
    viewer: Annotated[
        bool, Option("--viewer/--no-viewer", help="Let images be opened; without, the page is smaller.")
    ] = True,
    figures: Annotated[Path | None, Folder(help="Write the charts here as PDF, SVG and PNG.")] = None,
    sheet: Annotated[
        str, Option(metavar="IMAGE,…", help="Write a picture sheet of these images to the folder of --figures.")
    ] = "",
    table: Annotated[Literal["csv", "latex", "markdown"] | None, Option(help="Print the leaderboard.")] = None,
    human: Annotated[
        bool, Option("--human", help="In that table, also score each annotator against the others.")
    ] = False,
    title: Annotated[str, Option(help="Heading of the page.")] = "",
    workers: Workers = None,
    json: Annotated[bool, Option("--json", help="Print one JSON object: what was written, and the scores.")] = False,
) -> None:
    """Build a page from one or more runs: who is better, by how much, under which protocol, and where systems go wrong.

    The page opens from disk with no network and can be put on any web server. Systems run under the same protocol share a
    leaderboard, even from several folders.

    Example: [bold]hyperacuity report runs/edges runs/boundary --out report[/bold]

    Example: [bold]hyperacuity report runs/boundary --table latex --human[/bold]

    Example: [bold]hyperacuity report runs/mine --figures paper --sheet 101087,108005[/bold]

    A table needs no plotting library; --figures adds charts.
    """
    if single_file and out is None:
        raise UsageError("--single-file needs --out FILE.html")
    if out is None and figures is None and table is None and not json:
        raise UsageError("nothing to write: name a folder for the page (--out DIR), --figures DIR or --table KIND")
    if table is not None and json:
        raise UsageError("--table and --json both write to standard output: choose one")
    if sheet and figures is None:
        raise UsageError("--sheet writes pictures for a paper: name a folder for them (--figures DIR)")
    if table is not None:
        from hyperacuity.evaluation.export import exported
        from hyperacuity.evaluation.score_tables import of_runs

        typer.echo("\n".join(exported(one, table) for one in of_runs(runs, human=human)), nl=False)
        if out is None and figures is None:
            return
    from hyperacuity.report import theme

    theme.require()
    from hyperacuity.report.chosen import write_picture_sheets
    from hyperacuity.report.figures import write_figures
    from hyperacuity.report.pages import make_sheets, page_path, write_pages

    if out is not None:
        page_path(out, single_file=single_file)  # before hours of work go into it
    how: Any = {"workers": workers, "progress": common.messages.is_terminal}
    sheets = make_sheets(runs, pictures=pictures, **how)
    written = []
    if figures is not None:
        names = [name.strip() for name in sheet.split(",") if name.strip()]
        written = write_picture_sheets(sheets, names, figures) + write_figures(sheets, figures)
    page = None
    if out is not None:
        page = write_pages(sheets, out, single_file=single_file, viewer=viewer, title=title, **how)
    if json:
        common.print_json({"page": page, "figures": written, "sheets": [sheet.as_dict() for sheet in sheets]})
        return
    if written:
        common.messages.print(f"{len(written)} figures in {figures}", markup=False)
    if page is not None:
        common.messages.print(f"open {page}", markup=False)
