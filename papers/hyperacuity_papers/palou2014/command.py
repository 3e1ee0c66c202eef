"""The experiments of Palou & Salembier (2014): ``hyperacuity study palou2014``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from hyperacuity.cli import common, output
from hyperacuity.cli.options import Folder, Json, Workers
from hyperacuity.cli.output import Figures, Out, finish, plural, print_line, print_table
from hyperacuity_papers.common.ledger import print_ledger, write_ledger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hyperacuity_papers.common.claims import LedgerRow
    from hyperacuity_papers.palou2014.study import PalouSets

LDC = ("LDC Fmax", "Fmin", "ORI", "f/g", "right side")


def conduct(
    folder: Path,
    *,
    data: Path | None = None,
    figures: bool = True,
    workers: int | None = None,
    scenes: int = 6,
    first: int = 1,
    size: tuple[int, int] = (480, 320),
    count: int | None = None,
    sights: Path | None = None,
    stand_in: bool = False,
) -> PalouSets:
    """Run the study into a folder: cached results of pictures are used again. Writes tables and figures.

    What systems see in each picture is cached in ``sights``, by default a folder of the study.
    """
    from hyperacuity.run.many import write_csv
    from hyperacuity_papers.palou2014 import study as paper

    seeds = range(first, first + scenes)
    study = paper.palou2014(
        seeds,
        size,
        bsds=data,
        count=count,
        folder=folder / "pictures",
        sights=sights or folder / "sights",
        stand_in=stand_in,
        workers=workers,
    )
    if figures:
        from hyperacuity_papers.palou2014.figures import draw_palou2014

        study = draw_palou2014(study, folder, workers=workers)
    write_csv(folder / "accuracy.csv", [record for one in study.sets.values() for record in one.accuracy_records()])
    write_csv(folder / "sweep.csv", [record for one in study.sets.values() for record in one.sweep_records()])
    return study


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
    """Judge who is in front: the paper's systems, learned cues, the network and controls, on scenes and labelled photographs.

    Gives local and global depth consistency, the over-random index, and how often the nearer side is right. Photographs are
    the images of Berkeley's figure/ground set that were never learned from; without them scenes alone are used.

    Writes accuracy.csv, sweep.csv, ledger.csv (the paper's claims and our results), charts (Figs. 7 and 8), and sheets:
    four outcomes of a scene (outcomes.png, Fig. 1), how a picture is measured (measures.png, Figs. 3 to 5), the λ series
    (lambda-series.png, Fig. 6) and the comparison (comparison.png, Fig. 9). What is found in a picture is kept in
    DIR/pictures, so a second run is quick.

    Example: [bold]hyperacuity study palou2014 --out palou2014[/bold]

    Example: [bold]hyperacuity study palou2014 --bsds datasets --out palou2014[/bold]
    """
    folder = output.figure_folder(out, figures=figures)
    from hyperacuity.cli.scenes import parse_size
    from hyperacuity.train.figure_ground import SPLIT
    from hyperacuity_papers.common.claims import read_claims

    study = conduct(
        folder,
        data=bsds,
        figures=figures,
        workers=workers,
        scenes=scenes,
        first=first,
        size=parse_size(size),
        count=count,
    )
    rows = write_ledger(folder, read_claims("palou2014").claims, study)
    results = {
        "out": folder,
        "split": SPLIT,
        "sets": {name: one.as_dict() for name, one in study.sets.items()},
        "notes": study.notes,
        "ledger": [vars(row) for row in rows],
    }
    finish(results, lambda: _print_palou2014(study, rows), json=json, failures=study.failures)


def _print_palou2014(study: PalouSets, rows: Sequence[LedgerRow]) -> None:
    from hyperacuity_papers.palou2014.order_trials import COLUMNS

    for result in study.sets.values():
        images = plural(len(result.pictures), "image")
        common.results.print(f"[bold]{result.name}[/bold], {images}: B-ACC / R-ACC, ties wrong")
        print_table(("", *COLUMNS), result.accuracy_rows())
        print_line("")
        print_table(("", "at", *LDC, "GDC Fmax", "Fmin", "ORI"), result.consistency_rows())
        print_line(f"{result.signature}\n")
    print_line("Table 1: figure/ground accuracy in per cent, the paper's (quoted there from others) and ours")
    print_table(("", "paper", "f/g at 15°", "right side", "at recall"), study.table1())
    for note in study.notes:
        print_line(note)
    print_line("")
    print_ledger(rows)
