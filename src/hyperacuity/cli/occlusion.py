"""``hyperacuity ordering occlusion``: soft boundaries with the side that is in front."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Option

from hyperacuity.cli import common
from hyperacuity.cli.options import (
    Evaluation,
    Human,
    Pred,
    SoftFiles,
    Truth,
    grouped,
    or_default,
    protocol_help,
    thresholds_of,
)

Direction = Literal["normal", "tangent", "vector"]


ABOUT = protocol_help("ordering/occlusion.py", "OcclusionProtocol")


@grouped
def occlusion(
    prediction: Annotated[
        Path,
        Pred(help="Folder of soft boundary maps with angles (NPY, MAT; or soft maps and a folder angles), or one."),
    ],
    truth: Annotated[str, Truth(help="Maps of angles, figure/ground labels (folder, archive), scenes, or bsds-fg.")],
    protocol: Annotated[
        str, Option(metavar="NAME", help="occlusion (OPR as defined), or doobnet (as published numbers are counted).")
    ] = "occlusion",
    direction: Annotated[
        Direction, Option(help="What the maps' angles are: normal, tangent (DOC, DOOBNet …), or vector.")
    ] = "normal",
    truth_direction: Annotated[Direction, Option(help="What the truth's angles are.")] = "normal",
    angle: Annotated[float | None, Option(min=0, max=180, help=or_default(ABOUT["angle"]))] = None,
    recall: Annotated[str | None, Option(help=or_default(ABOUT["recall"]))] = None,
    tolerance: Annotated[float | None, Option(help=or_default(ABOUT["tolerance"]))] = None,
    nms: Annotated[
        str | None,
        Option(metavar="KIND", help=or_default(ABOUT["nms"])),
    ] = None,
    thin: Annotated[bool | None, Option("--thin/--no-thin", help=or_default(ABOUT["thin"]))] = None,
    thresholds: Annotated[
        str, Option(metavar="N", help=ABOUT["thresholds"].replace("rising.", "rising: 0.2,0.5,0.8."))
    ] = "99",
    human: Human = False,
    *,
    maps: SoftFiles,
    how: Evaluation,
) -> None:
    """Score occlusion boundaries: soft boundary maps that also say which side is in front (OPR and AOR).

    Boundaries are matched as by [bold]hyperacuity boundary[/bold]; a pair is right when the directions, from the near side to the
    far one, are at most 90° apart. OPR is precision and recall of right pairs, AOR the share of right ones among those matched.

    Angles are degrees from near to far, 0 right and 90 down (normal); or radians along the boundary with the near side on the
    left (tangent: DOC, DOOBNet, OFNet, P2ORM); or two channels x and y of a vector from near to far (vector).

    Example: [bold]hyperacuity ordering occlusion maps/mine scenes --system b=maps/b[/bold]

    Example: [bold]hyperacuity ordering occlusion doobnet bsds-fg --direction tangent[/bold]
    """
    changes: dict[str, Any] = {"angle": angle, "recall": recall, "tolerance": tolerance, "nms": nms, "thin": thin}
    changes["thresholds"] = thresholds_of(thresholds)
    reading = {"direction": direction, "truth_direction": truth_direction, **maps.options()}
    result = common.evaluated("occlusion", prediction, truth, how, protocol=protocol, human=human, **changes, **reading)
    if human and not result.people.images:
        common.warn("no image has two annotators, so there is no human performance")
    common.show(result, how=how)
