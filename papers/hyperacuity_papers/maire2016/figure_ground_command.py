"""The commands ``hyperacuity study figure-ground`` and ``whole-orders``: figure/ground in labelled photographs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Folder, Json, Workers
from hyperacuity.cli.output import Out, finish, plural, print_line, print_table

if TYPE_CHECKING:
    from hyperacuity_papers.maire2016.figure_ground_table import FigureGroundTable


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

    Three columns: the photograph only, its order brought onto people's regions; the photograph only, on the system's own
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
    found = {**table.as_dict(), "part": images, "out": folder}
    finish(found, lambda: _print_figure_ground(table), json=json, failures=table.failures)


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
    found = study(data, workers=workers)
    records, whole = [one.record() for one in found], shares(found)
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
