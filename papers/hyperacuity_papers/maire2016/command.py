"""The benchmark of Maire, Narihira & Yu (2016): ``hyperacuity study maire2016``."""

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

    from hyperacuity_papers.common import LedgerRow
    from hyperacuity_papers.maire2016.study import Maire2016


def conduct(
    folder: Path,
    *,
    data: Path | None = None,
    figures: bool = True,
    workers: int | None = None,
    count: int | None = None,
    sights: Path | None = None,
    stand_in: bool = False,
) -> Maire2016:
    """Run the study into a folder: maps that lie there are used again, and so is what ``sights`` holds of photographs.

    Writes the table and the figures.
    """
    from hyperacuity.run.many import write_csv
    from hyperacuity_papers.maire2016 import study as paper

    study = paper.maire2016(folder, data=data, count=count, sights=sights, stand_in=stand_in, workers=workers)
    if figures:
        from hyperacuity_papers.maire2016.figures import draw_maire2016

        study = draw_maire2016(study, folder, workers=workers)
    write_csv(folder / "table1.csv", study.records())
    return study


def maire2016(
    out: Out,
    data: Annotated[Path | None, Folder(help="Folder of BSDS500 and bsds-fg.")] = None,
    count: Annotated[int | None, Option(min=0, help="Use this many photographs; 0: scenes (default: all).")] = None,
    figures: Figures = True,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Judge who owns the boundaries: Table 1 and Figures 1 and 2 of the Affinity CNN's supplement, with all systems here.

    Orders are brought onto people's regions, and onto the network's own, and asked who is in front of whom; the two published
    systems stand beside. Photographs are the images of Berkeley's figure/ground set that were never learned from; without
    them scenes are used.

    Writes table1.csv, ledger.csv (the paper's claims beside what is found), figure1.png (people's regions) and figure2.png (the
    network's): photograph, filled true order, each system's order, and its owners in green and red, for ten photographs,
    evenly over those sorted by the network's B-ACC. Maps are kept in DIR/maps, so a second run is quick.

    Example: [bold]hyperacuity study maire2016 --out maire2016[/bold]

    Example: [bold]hyperacuity study maire2016 --data datasets --count 5 --out maire2016[/bold]
    """
    folder = output.figure_folder(out, figures=figures)
    from hyperacuity_papers.common.claims import read_claims

    study = conduct(folder, data=data, figures=figures, workers=workers, count=count)
    rows = write_ledger(folder, read_claims("maire2016").claims, study)
    found = {**study.as_dict(), "notes": study.notes, "out": folder, "ledger": [vars(row) for row in rows]}
    finish(found, lambda: _print_maire2016(study, rows), json=json, failures=study.failures)


def _print_maire2016(study: Maire2016, rows: Sequence[LedgerRow]) -> None:
    from hyperacuity_papers.maire2016.study import BLOCKS, COMMON, RULE

    common.results.print(
        f"[bold]Table 1[/bold], {plural(len(study.table.images), study.name.removesuffix('s'))}, ties wrong"
    )
    for block in BLOCKS:
        headings = ("", "R-ACC", "B-ACC", "B-ACC-50", "B-ACC-25", "interval of B-ACC")
        print_line(f"\non {study.block_title(block)}")
        print_table(headings, study.rows(block))
    print_line("\nB-ACC on people's regions: lower boundaries of owners, and owners of at most median area;")
    print_line(f"and how much of their length has the same owner on {study.block_title(COMMON)}")
    shares = [(n, f"{of.below:.3f}", f"{of.little:.3f}", f"{study.same_owner(n):.3f}") for n, of in study.sides.items()]
    print_table(("", "below", "small", "same owner"), shares)
    if study.figures:
        print_line(f"figures: {RULE.format(study.leading)}: {', '.join(one.name for one in study.shown())}")
    for note in study.notes:
        print_line(note)
    print_line("")
    print_ledger(rows)
