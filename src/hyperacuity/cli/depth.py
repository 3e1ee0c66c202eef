"""``hyperacuity ordering occlusion``, ``whdr`` and ``dbe``: owned boundaries, pairs of points, and where depth steps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Evaluation, Folder, Human, Pred, SoftFiles, Truth, grouped, thresholds_of

Direction = Literal["normal", "tangent", "vector"]
Farther = Annotated[bool, Option("--farther", help="The maps are depth maps, in which larger is farther.")]
ZeroUnknown = Annotated[bool, Option("--zero-unknown", help="In the maps, 0 means unknown.")]


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
    angle: Annotated[
        float | None, Option(min=0, max=180, help="How far apart directions may be, in degrees (default: 90).")
    ] = None,
    recall: Annotated[
        str | None, Option(help="What OPR's recall counts: right pairs, or all that were found (default: right).")
    ] = None,
    tolerance: Annotated[float | None, Option(help="Fraction of the image diagonal (default: 0.0075).")] = None,
    nms: Annotated[
        str | None,
        Option(metavar="KIND", help="Suppress non-maxima first: structured (default), structured-s0-r2, none."),
    ] = None,
    thin: Annotated[
        bool | None, Option("--thin/--no-thin", help="Thin every thresholded map (default: the protocol's).")
    ] = None,
    thresholds: Annotated[str, Option(metavar="N", help="How many between 0 and 1, or a list: 0.2,0.5,0.8.")] = "99",
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
        common.warn("no image has two annotators, so nothing can be said about people")
    common.show(result, how=how)


@grouped
def whdr(
    prediction: Annotated[
        Path, Pred(help="Folder of order or depth maps, or one; or a file of answers, in the form of TRUTH.")
    ],
    truth: Annotated[str, Truth(help="Pairs of points with judgments: CSV, JSON, or the files of DIW and NYU.")],
    protocol: Annotated[
        str, Option(metavar="NAME", help="whdr (pairs may be equal), or diw (one of two answers is right).")
    ] = "whdr",
    delta: Annotated[
        float | None, Option(min=0, help="About equal: the larger is less than 1 + this times the smaller (0.02).")
    ] = None,
    equality: Annotated[
        str | None, Option(help="What delta bounds: the ratio (default), or the difference, in the map's units.")
    ] = None,
    mean: Annotated[bool, Option("--mean", help="Mean over images instead of the pairs of all images.")] = False,
    farther: Farther = False,
    zero_unknown: ZeroUnknown = False,
    images: Annotated[Path | None, Folder(help="Photographs for the report.")] = None,
    *,
    how: Evaluation,
) -> None:
    """Score ordinal depth: how often a map disagrees with people on which of two points is nearer (WHDR).

    WHDR= counts the pairs that people found about equal, WHDR≠ the others. Maps have larger = nearer (see --farther). A pair
    on which the map says nothing is wrong.

    Example: [bold]hyperacuity ordering whdr depth DIW_test.csv --protocol diw --farther[/bold]

    Example: [bold]hyperacuity ordering whdr disparity annotations.json --protocol diw[/bold]
    """
    changes = {"delta": delta, "equality": equality, "aggregate": "mean" if mean else None}
    reading = {"farther": farther or None, "zero_unknown": zero_unknown or None, "images": images}
    result = common.evaluated("whdr", prediction, truth, how, protocol=protocol, **changes, **reading)
    common.show(result, how=how)


@grouped
def dbe(
    prediction: Annotated[Path, Pred(help="Folder of depth maps, or one.")],
    truth: Annotated[str, Truth(help="True depth edges: maps of edges, iBims-1's MAT files, or scenes.")],
    sigma: Annotated[float | None, Option(help="Gaussian of the edge detector, in pixels (default: √2).")] = None,
    low: Annotated[float | None, Option(help="Lower threshold of its hysteresis (default: 0.15).")] = None,
    high: Annotated[float | None, Option(help="Upper threshold of its hysteresis (default: 0.3).")] = None,
    reach: Annotated[float | None, Option(help="Where distances are cut off, in pixels (default: 10).")] = None,
    zero_unknown: ZeroUnknown = False,
    *,
    how: Evaluation,
) -> None:
    """Score where depth maps step: the depth boundary errors of iBims-1, accuracy and completeness in pixels.

    Edges of the map (Canny, on depth scaled to 0 … 1) are compared with the true ones. Accuracy is the mean distance of those
    near a true edge, completeness that of all edges on either side; distances are cut off at 10 pixels.

    Example: [bold]hyperacuity ordering dbe depth ibims1_core_mat --zero-unknown[/bold]
    """
    changes = {"sigma": sigma, "low": low, "high": high, "reach": reach}
    reading = {"zero_unknown": zero_unknown or None}
    result = common.evaluated("dbe", prediction, truth, how, **changes, **reading)
    common.show(result, how=how)
