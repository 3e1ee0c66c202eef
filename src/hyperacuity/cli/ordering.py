"""``hyperacuity ordering``: depth order and figure/ground, by Palou & Salembier's and Maire's measures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from typer import Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Evaluation, Folder, Human, Pred, Truth, grouped, protocol_help
from hyperacuity.cli.output import figure_folder

ABOUT = protocol_help("ordering/protocols.py")


@grouped
def ordering(
    prediction: Annotated[
        Path, Pred(help="Folder of order maps or .fg files, or one; a folder of folders is a sweep over a parameter.")
    ],
    truth: Annotated[str, Truth(help="Order maps, figure/ground labels (folder, archive), scenes, or bsds-fg.")],
    regions: Annotated[
        Path | None, Folder(help="Segmentations to ask about (default: the truth's): label maps, .seg, or ucm2.")
    ] = None,
    level: Annotated[str, Option(help="Level at which ucm2 regions are cut; best: of the best boundary F.")] = "best",
    transfer: Annotated[
        bool, Option("--transfer", help="Transfer predictions to the regions for LDC and GDC too.")
    ] = False,
    farther: Annotated[
        Literal["none", "pred", "truth", "both"], Option(help="Whose maps are depth maps, in which larger is farther.")
    ] = "none",
    radius: Annotated[float, Option(min=0, help=ABOUT["radius"])] = 3.0,
    angle: Annotated[float, Option(min=0, max=180, help=ABOUT["angle"])] = 15.0,
    cost: Annotated[str, Option(help=ABOUT["cost"])] = "distance",
    annotators: Annotated[str, Option(help=ABOUT["annotators"])] = "bsds",
    tie: Annotated[str, Option(help=ABOUT["question_tie"])] = "wrong",
    mean: Annotated[bool, Option("--mean", help="Mean over images instead of counts of all images.")] = False,
    detail: Annotated[
        bool, Option("--detail", help="Also say why contours are inconsistent: rough direction, or wrong side.")
    ] = False,
    human: Human = False,
    charts: Annotated[Path | None, Folder(help="Write charts (SVG) of all systems here.")] = None,
    pictures: Annotated[Path | None, Folder(help="Write a picture of every image here.")] = None,
    *,
    how: Evaluation,
) -> None:
    """Score depth orders: local and global depth consistency (LDC, GDC), the over-random index, R-ACC and B-ACC.

    F max counts detections, F min only those in the right order; ORI is 0 for an order by chance and 1 for a right one.

    In order maps, larger = nearer (see --farther). Labelled contours (.fg) order neighbours; where their regions are known, GDC
    takes the whole order that contradicts them least.

    Example: [bold]hyperacuity ordering depth scenes --system po=maps/po[/bold]

    --detail splits the contours that LDC counts as inconsistent: rough direction (right side in front, but more than --angle
    off), or wrong side in front (more than 90° off).

    Example: [bold]hyperacuity ordering depth bsds-fg --regions ucm2 --human --tie half[/bold]

    Occlusion boundaries, ordinal depth and depth boundaries have commands of their own: hyperacuity --help.
    """
    for folder in (charts, pictures):
        if folder is not None:
            figure_folder(folder, figures=folder is charts)
    protocol = {"radius": radius, "angle": angle, "cost": cost, "annotators": annotators, "question_tie": tie}
    protocol["aggregate"] = "mean" if mean else "pooled"
    reading = {"regions": regions, "level": level, "transfer": transfer, "farther": farther}
    result = common.evaluated("ordering", prediction, truth, how, protocol=protocol, human=human, **reading)
    if human and result.people is None:
        common.warn("no image has two annotators, so there is no human performance")
    if charts is not None and result.scores:
        from hyperacuity.report.figures import write_ordering_charts

        write_ordering_charts(charts, result.scores, result.people if human else None, result.signature)
    if pictures is not None:
        from hyperacuity.report.figures import write_ordering_pictures

        write_ordering_pictures(pictures, result.job, result.cells)
    if detail and not how.json and not how.prints(how.json):
        from hyperacuity.evaluation.export import print_text_table
        from hyperacuity.ordering.task import detail_table

        print_text_table(detail_table(result.scores), common.results)
    common.show(result, how=how)
