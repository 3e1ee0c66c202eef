"""The experiments of Palou & Salembier (2014): ``hyperacuity study palou2014``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from hyperacuity.cli import common, output
from hyperacuity.cli.options import Folder, Json, Workers
from hyperacuity.cli.output import Figures, Out, finish, plural, print_line, print_table

if TYPE_CHECKING:
    from hyperacuity.studies.palou2014 import Palou2014


def palou2014(
    out: Out,
    bsds: Annotated[Path | None, Folder(help="Folder of BSDS500 and bsds-fg.")] = None,
    scenes: Annotated[int, Option(min=1, help="How many scenes.")] = 6,
    first: Annotated[int, Option("--seed", min=0, help="Seed of the first scene.")] = 1,
    size: Annotated[str, Option(help="Width x height of the scenes in pixels.")] = "480x320",
    count: Annotated[int | None, Option(min=0, help="Use this many photographs; 0: none (default: all).")] = None,
    figures: Figures = True,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Who is in front? Ownership, ownership on the tree, learned cues and controls, on scenes and on labelled photographs.

    Gives local and global depth consistency, the over-random index, and how often the nearer side is right. Photographs are
    the images of Berkeley's figure/ground set that were never learned from; without them scenes alone are used.

    Writes accuracy.csv, sweep.csv, charts, the λ series (lambda-series.png, Fig. 6) and the comparison (comparison.png, Fig. 9).

    Example: [bold]hyperacuity study palou2014 --out palou2014[/bold]

    Example: [bold]hyperacuity study palou2014 --bsds datasets --out palou2014[/bold]
    """
    folder = output.figure_folder(out, figures=figures)
    from hyperacuity.cli.scenes import parse_size
    from hyperacuity.studies import palou2014 as paper
    from hyperacuity.studies.figure_ground import SPLIT
    from hyperacuity.studies.running import write_csv

    seeds = range(first, first + scenes)
    results = paper.palou2014(seeds, parse_size(size), bsds=bsds, count=count, workers=workers)
    if figures:
        from hyperacuity.report.papers.palou2014 import draw_palou2014

        draw_palou2014(results, folder)
    write_csv(folder / "accuracy.csv", [record for one in results.values() for record in one.accuracy_records()])
    write_csv(folder / "sweep.csv", [record for one in results.values() for record in one.sweep_records()])
    found = {"out": folder, "split": SPLIT, "sets": {name: one.as_dict() for name, one in results.items()}}
    finish(found, lambda: _print_palou2014(results.values()), json=json)


def _print_palou2014(results: Iterable[Palou2014]) -> None:
    from hyperacuity.studies.palou2014 import COLUMNS

    for result in results:
        images = plural(len(result.pictures), "image")
        common.results.print(f"[bold]{result.name}[/bold], {images}: B-ACC / R-ACC, ties wrong")
        print_table(("", *COLUMNS), result.accuracy_rows())
        print_line("")
        print_table(("", "at", "LDC Fmax", "Fmin", "ORI", "f/g", "GDC Fmax", "Fmin", "ORI"), result.consistency_rows())
        print_line(f"{result.signature}\n")
