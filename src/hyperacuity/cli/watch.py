"""``hyperacuity watch``: scores over time, on a page that follows a run while a job writes to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Against, Folder, grouped
from hyperacuity.cli.output import print_line, print_table
from hyperacuity.cli.studio import Server
from hyperacuity.errors import UsageError

if TYPE_CHECKING:
    from hyperacuity.report.over_time.timelines import Timeline, WatchedRuns


@grouped
def watch(
    runs: Annotated[
        list[Path], Argument(metavar="RUN…", help="Run folders; one that a job has yet to make is waited for.")
    ],
    order: Annotated[
        Literal["name", "time"], Option(help="Points by the number in their names, or by when they were run.")
    ] = "name",
    once: Annotated[
        bool, Option("--once", help="No server: print the points, or write them to --out, and exit.")
    ] = False,
    out: Annotated[Path | None, Option(metavar="FILE", help="Write the page as one HTML file, and exit.")] = None,
    against: Against = None,
    pictures: Annotated[Path | None, Folder(help="Photographs, if the runs do not name them; paired by name.")] = None,
    human: Annotated[
        bool, Option("--human", help="Also score each annotator against the others: how well do people do?")
    ] = False,
    title: Annotated[str, Option(help="Heading of the page.")] = "",
    every: Annotated[float, Option(min=0.2, max=3600, help="Seconds after which the page looks again.")] = 2.0,
    json: Annotated[bool, Option("--json", help="Print one JSON object, and exit.")] = False,
    *,
    server: Server,
) -> None:
    """Follow systems over time: checkpoints of a network, or versions of a detector, as curves that grow with the run.

    Systems whose names differ only in their number, such as epoch-01 and epoch-02, are a series; so is a system of the same name
    in several runs. The page shows what got better and what got worse between any two points, image by image, and whether that
    may be chance. It refreshes by itself while a job writes to the run, and never holds the job up. Scores under different
    protocols are never on one curve.

    Example: [bold]hyperacuity watch runs/training[/bold]

    Example: [bold]hyperacuity watch runs/v1 runs/v2 --against gpb-ucm.card[/bold]

    Example: [bold]hyperacuity watch runs/training --once --out over-time.html[/bold]
    """
    from hyperacuity.report import theme

    theme.require()
    ends = once or out is not None or json
    if not ends:
        server.require()
    from hyperacuity.cards.against import card_entries
    from hyperacuity.report.over_time.facts import summary
    from hyperacuity.report.over_time.pages import page_file, read_now, write_page
    from hyperacuity.report.over_time.timelines import WatchedRuns
    from hyperacuity.report.pages import mapper

    if out is not None:
        page_file(out)
    watched = WatchedRuns(runs, order=order, against=card_entries(against), pictures=pictures, human=human)
    progress = common.messages.is_terminal
    if ends:
        read_now(watched, progress=progress)
        page = write_page(watched, out, title=title) if out is not None else None
        if json:
            common.print_json({"page": page, **summary(watched)})
        elif page is None:
            for timeline in watched.timelines:
                show(watched, timeline)
        else:
            common.messages.print(f"open {page}", markup=False)
        return
    for run in runs:
        if run.is_file() and run.name != "run.sqlite":
            raise UsageError(f"{run} is a file, expected a run folder, as --run of other commands makes it")
    watched.refresh(mapper(progress=progress))
    for problem in watched.problems:
        common.warn(problem)
    from hyperacuity.studio.watch import WatchPage

    with WatchPage(watched, title=title, every=every) as served:
        server.serve(served.page, note="Ctrl-C stops the page; the run goes on.")


def show(watched: WatchedRuns, timeline: Timeline) -> None:
    """Print the points of a timeline, and what was found."""
    from hyperacuity.report.over_time.facts import findings
    from hyperacuity.report.sheets.sheet import NAN

    print_line(timeline.title)
    if timeline.columns:
        first, *others = timeline.columns
        headings = ["point", first.heading, "95 % interval", *(column.heading for column in others), "images"]
        rows = []
        for name in (name for series in timeline.series for name in series.names):
            point = timeline.points[name]
            low, high = (timeline.main.number(end) for end in point.score.interval)
            own, *more = (column.number(point.score.values.get(column.key, NAN)) for column in timeline.columns)
            left = f" of {point.images + point.failed + point.waiting}" if point.waiting or point.failed else ""
            rows.append([name, own, f"{low} – {high}", *more, f"{point.images}{left}"])
        print_table(headings, rows)
        print_line("\n" + "\n".join(findings(watched, timeline)))
    for note in timeline.notes:
        print_line(note)
    common.report_failures((f"{f.system}: {f.image}", f.reason) for f in timeline.failures)
    print_line(f"{timeline.signature}\n")
