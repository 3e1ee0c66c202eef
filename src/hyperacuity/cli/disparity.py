"""``hyperacuity disparity``: errors of disparity maps in the regions of the Middlebury benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Evaluation, Folder, Named, Pred, Truth, grouped, numbers, protocol_help
from hyperacuity.errors import UsageError

ALL = "all"
"""Name of all cards of the package."""


ABOUT = protocol_help("disparity/benchmark.py")


@grouped
def disparity(
    prediction: Annotated[Path, Pred(help="Folder of maps: SCENE.png, pfm, npy …, or SCENE/…; or one map.")],
    truth: Annotated[str, Truth(help="A stereo data set (its folder or name), a folder of maps, or one map.")],
    delta: Annotated[str, Option(metavar="LIST", help=ABOUT["deltas"])] = "0.5,1,2",
    region: Annotated[
        str, Option(metavar="LIST", help=f"{ABOUT['regions']} Such as nonocc, all, disc, untextured.")
    ] = "nonocc,all,disc",
    mask: Annotated[list[str] | None, Named(help="Another region: SCENE.png files, white inside it.")] = None,
    invalid: Annotated[str, Option(help=ABOUT["invalid"])] = "bad",
    scale: Annotated[float | None, Option(help="Grey levels per pixel of the maps (default: the data's).")] = None,
    truth_scale: Annotated[
        float | None, Option(help="Grey levels per pixel of the truth (default: the data's).")
    ] = None,
    zero: Annotated[str | None, Option(help="0 in arrays and PFM files: unknown (as in pictures) or known.")] = None,
    views: Annotated[bool, Option("--views", help="Also predict one picture from the other, and compare.")] = False,
    pictures: Annotated[Path | None, Folder(help="Write a picture of each map's errors here.")] = None,
    *,
    how: Evaluation,
) -> None:
    """Score disparity maps: bad pixels, mean and RMS error, quantiles, outliers, density and bias, in each region.

    A pixel is bad when its error exceeds δ. Bad pixels, outliers and density are in percent, the rest in pixels; a data
    set's score is the mean over its scenes. Masks that come with the data are used; where there are none, they are derived.

    Example: [bold]hyperacuity disparity maps/sgm middlebury-v2 --system sad=maps/sad[/bold]

    Example: [bold]hyperacuity disparity disp_est.png disp_gt.png --delta 3[/bold]
    """
    from hyperacuity.disparity import Protocol

    regions = tuple(part.strip() for part in region.split(",") if part.strip())
    deltas = numbers("--delta", delta, "numbers with commas, such as 0.5,1,2")
    protocol = Protocol(deltas, regions, invalid)  # type: ignore[arg-type]  # checked by the class itself
    folder = None if pictures is None else common.output_folder(pictures)
    scales = {"masks": _masks(mask or []), "scale": scale, "truth_scale": truth_scale, "zero": zero}
    of_views = _cards_of_views(how.against or []) if views else []
    of_errors = [card for card in how.against or [] if card not in of_views or card == ALL]
    errors, pairs = replace(how, against=of_errors), replace(how, against=of_views)
    result = common.evaluated("disparity", prediction, truth, errors, protocol=protocol, **scales)
    viewed = common.evaluated("views", prediction, truth, pairs, **scales) if views else None
    if folder is not None:
        from hyperacuity.report.figures import write_error_pictures

        write_error_pictures(folder, result.job, result.cells)
    common.show(result, viewed, how=how, more={} if viewed is None else {"views": viewed.json()["systems"]})


def _cards_of_views(cards: Sequence[str]) -> list[str]:
    """The cards that predicted views are compared with; the others are of errors."""
    from hyperacuity.cards import read_card

    return [card for card in cards if card == ALL or read_card(Path(card)).signature.task == "views"]


def _masks(options: Sequence[str]) -> dict[str, Path]:
    masks: dict[str, Path] = {}
    for option in options:
        name, equals, folder = option.partition("=")
        if not name or not equals or not Path(folder).is_dir():
            raise UsageError(f"--mask {option}: expected NAME=DIR, a folder that holds SCENE.png")
        masks[name] = Path(folder)
    return masks
