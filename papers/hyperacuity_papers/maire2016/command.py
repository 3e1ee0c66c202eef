"""The commands ``hyperacuity study maire2016``, ``figure-ground`` and ``whole-orders``: figure/ground in photographs."""

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
    from hyperacuity_papers.maire2016.figure_ground_table import FigureGroundTable
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
    systems are listed too. Photographs are the images of Berkeley's figure/ground set that were never learned from; without
    them scenes are used.

    Writes table1.csv, ledger.csv (the paper's claims and our results), figure1.png (people's regions) and figure2.png (the
    network's): photograph, filled true order, each system's order, and its owners in green and red, for ten photographs,
    evenly over those sorted by the network's B-ACC. Maps are cached in DIR/maps, so a second run is quick.

    Example: [bold]hyperacuity study maire2016 --out maire2016[/bold]

    Example: [bold]hyperacuity study maire2016 --data datasets --count 5 --out maire2016[/bold]
    """
    folder = output.figure_folder(out, figures=figures)
    from hyperacuity_papers.common.claims import read_claims

    study = conduct(folder, data=data, figures=figures, workers=workers, count=count)
    rows = write_ledger(folder, read_claims("maire2016").claims, study)
    results = {**study.as_dict(), "notes": study.notes, "out": folder, "ledger": [vars(row) for row in rows]}
    finish(results, lambda: _print_maire2016(study, rows), json=json, failures=study.failures)


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


def figure_ground(
    out: Out,
    names: Annotated[
        str, Option("--with", help="Systems that order depth, with commas.")
    ] = "depth-cues,depth-order,ownership",
    data: Annotated[Path | None, Folder(help="Folder of BSDS500 and bsds-fg.")] = None,
    images: Annotated[
        str, Option(help="The photographs held out (held-out), or some of the others to develop with (dev).")
    ] = "held-out",
    count: Annotated[int | None, Option(min=1, help="Only the first photographs.")] = None,
    resume: Annotated[bool, Option("--resume", help="Use the maps that an earlier run left in --out.")] = False,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Judge who is in front on photographs that people labelled, by what the systems were given.

    Three columns: the photograph only, its order brought onto people's regions; the photograph only, on the system's
    regions; and with people's regions handed to the system, which is half of the answer. Predicted ties count as wrong and as
    half. Published numbers stand below; they are of other images.

    Develop with --images dev, every fifth of the images that are learned from, so that those held out stay unseen. (The network
    that comes with the package learned from these, and looks better on them than it is.)

    Writes figure-ground.csv and the maps: DIR/SYSTEM/image-only, given and regions.

    Example: [bold]hyperacuity study figure-ground --out table[/bold]

    Example: [bold]hyperacuity study figure-ground --images dev --out table[/bold]
    """
    from hyperacuity.run.many import write_csv
    from hyperacuity.systems.maps import map_folders
    from hyperacuity_papers.maire2016 import figure_ground_table as study

    systems = study.named_orderers(names)
    photographs = study.photographs_of(images, data, count)
    folder = common.output_folder(out)
    folders = map_folders(systems, folder)
    table = study.figure_ground_table(systems, photographs, folders=folders, resume=resume, workers=workers)
    write_csv(folder / "figure-ground.csv", table.records())
    results = {**table.as_dict(), "part": images, "out": folder}
    finish(results, lambda: _print_figure_ground(table), json=json, failures=table.failures)


def _print_figure_ground(table: FigureGroundTable) -> None:
    from hyperacuity_papers.maire2016.figure_ground_table import COLUMNS

    print_line(f"{plural(len(table.images), 'photograph')}: B-ACC / R-ACC, predicted ties wrong, and half right")
    headings = [text for column in COLUMNS.values() for text in (column, "half")]
    print_table(("", *headings), table.rows())
    print_line("\nties wrong, 95 % intervals over photographs")
    details = ("B-ACC", "interval", "R-ACC", "interval", "B-ACC-50", "B-ACC-25")
    print_table(("", "", *details), table.detail_rows(), left=(0, 1))
    signatures = {str(score.protocol.signature): None for of in table.scores.values() for score in of.values()}
    print_line("\n" + "\n".join(signatures))


def whole_orders(
    out: Out,
    data: Annotated[Path | None, Folder(help="Folder of bsds-fg.")] = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Make one order of all regions from each person's figure/ground labels, and say how much of the labels it contradicts.

    People say which of two neighbouring regions is in front. The order contradicts as little boundary length as possible;
    it is what GDC, B-ACC-50 and B-ACC-25 take as the truth. Writes whole-orders.csv, a line per image and person.

    Example: [bold]hyperacuity study whole-orders --out whole-orders[/bold]
    """
    from hyperacuity.run.many import write_csv
    from hyperacuity_papers.maire2016.whole_orders import shares
    from hyperacuity_papers.maire2016.whole_orders import whole_orders as study

    folder = common.output_folder(out)
    results = study(data, workers=workers)
    records, whole = [one.record() for one in results], shares(results)
    write_csv(folder / "whole-orders.csv", records)

    def show() -> None:
        wrong = [record for record in records if record["violated_pairs"]]
        columns = ("image", "subject", "regions", "layers", "pairs", "violated_pairs", "length", "violated_length")
        texts = [
            [f"{record[column]:g}" if column[0] in "rlpv" else record[column] for column in columns] for record in wrong
        ]
        print_table([column.replace("_", " ") for column in columns], texts, left=(0, 1))
        labels = (
            f"{whole['contradicted_labels']} of {whole['labels']} people's labels of {plural(whole['images'], 'image')}"
        )
        print_line(
            f"contradicted: {100 * whole['length']:.2f} % of boundary length, {100 * whole['pairs']:.2f} % of pairs, in {labels}"
        )

    finish({**whole, "records": records, "out": folder}, show, json=json)
