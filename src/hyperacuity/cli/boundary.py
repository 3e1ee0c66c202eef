"""``hyperacuity boundary``: the Berkeley boundary benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from hyperacuity.cli import common
from hyperacuity.cli.options import (
    Evaluation,
    Folder,
    Human,
    MapFiles,
    Pred,
    Split,
    Truth,
    grouped,
    or_default,
    protocol_help,
    thresholds_of,
)
from hyperacuity.console import folder_name
from hyperacuity.errors import UsageError

ABOUT = protocol_help("boundary/protocols.py")


@grouped
def boundary(
    prediction: Annotated[Path, Pred(help="Folder of soft boundary maps (png, npy, mat …), or one.")],
    truth: Annotated[str, Truth(help="Folder of truths, one truth, or a data set such as bsds500.")],
    protocol: Annotated[
        str,
        Option(
            metavar="NAME",
            help="bsds, nyud (tolerance 0.011), crisp (no thinning), biped (suppression), pascal-context, nyud-multitask, "
            "multicue-edge, multicue-boundary.",
        ),
    ] = "bsds",
    tolerance: Annotated[float | None, Option(help=or_default(ABOUT["tolerance"]))] = None,
    nms: Annotated[
        list[str] | None,
        Option(
            metavar="KIND",
            help=or_default(f"{ABOUT['nms']} NAME=KIND for one system"),
        ),
    ] = None,
    thin: Annotated[bool | None, Option("--thin/--no-thin", help=or_default(ABOUT["thin"]))] = None,
    thresholds: Annotated[
        str, Option(metavar="N", help=ABOUT["thresholds"].replace("rising.", "rising: 0.2,0.5,0.8."))
    ] = "99",
    segmentations: Annotated[
        bool, Option("--segmentations", help="Predictions are stacks of segmentations, a level each (segs).")
    ] = False,
    precision: Annotated[str, Option(help=ABOUT["precision"])] = "any",
    human: Human = False,
    split: Split = None,
    berkeley: Annotated[Path | None, Folder(help="Write eval_bdry*.txt as Berkeley's benchmark does.")] = None,
    *,
    maps: MapFiles,
    how: Evaluation,
) -> None:
    """Score soft boundary maps against human boundaries: ODS, OIS, AP and R50 with Berkeley's rules.

    Pixels are matched one to one within the tolerance, exactly: as many pairs as possible, then the least distance. ODS is the
    best F at one threshold for all images, OIS with a threshold for each; intervals are 95 % bootstrap over images.

    Example: [bold]hyperacuity boundary maps/canny truth --system hk=maps/hk[/bold]

    Example: [bold]hyperacuity boundary maps/ucm bsds500 --split test --human[/bold]

    Example: [bold]hyperacuity boundary maps/mine bsds500 --against gpb-ucm.card[/bold]
    """
    from hyperacuity.boundary import protocol as named
    from hyperacuity.boundary import write_berkeley

    changes: dict[str, Any] = {"tolerance": tolerance, "thin": thin, "precision": precision, **_suppressions(nms or [])}
    changes["thresholds"] = "levels" if segmentations else thresholds_of(thresholds)
    agreed = named(protocol, **{name: value for name, value in changes.items() if value is not None})
    folder = None if berkeley is None else common.output_folder(berkeley)
    more = {"human": human, "split": split, **maps.options()}
    result = common.evaluated("boundary", prediction, truth, how, protocol=agreed, **more)
    if folder is not None:
        for name, score in result.scores.items():
            single = len(result.scores) == 1
            write_berkeley(score, folder if single else common.output_folder(folder / folder_name(name)))
    common.show(result, how=how)


def _suppressions(given: Sequence[str]) -> dict[str, Any]:
    """``--nms KIND`` and ``--nms NAME=KIND`` as options of the protocol."""
    of_systems = dict(text.rsplit("=", 1) for text in given if "=" in text)
    for_all = [text for text in given if "=" not in text]
    if len(for_all) > 1:
        raise UsageError(f"--nms {for_all[1]}: there is --nms {for_all[0]} already; use --nms NAME=KIND for one system")
    return {"nms_of": of_systems} | ({"nms": for_all[0]} if for_all else {})
