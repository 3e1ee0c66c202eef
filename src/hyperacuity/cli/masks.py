"""``hyperacuity masks``: outlines of segmented objects, by DAVIS' boundary measure, Boundary IoU and exact matching."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Evaluation, Pred, Truth, grouped, or_default, protocol_help
from hyperacuity.errors import UsageError

ABOUT = protocol_help("masks/protocols.py")


@grouped
def masks(
    prediction: Annotated[Path, Pred(help="Folder of masks, label maps (png, npy …) or sequences, or one map.")],
    truth: Annotated[str, Truth(help="Folder of true masks, label maps or sequences, or one map.")],
    protocol: Annotated[str, Option(metavar="NAME", help="binary, labels, davis2016 or davis2017.")] = "binary",
    by: Annotated[str | None, Option(help=or_default(ABOUT["by"]))] = None,
    pair: Annotated[str | None, Option(help=or_default(ABOUT["pair"]))] = None,
    extra: Annotated[str | None, Option(help=or_default(ABOUT["extra"]))] = None,
    background: Annotated[str | None, Option(metavar="LABEL", help=or_default(ABOUT["background"]))] = None,
    ignore: Annotated[str | None, Option(metavar="LABEL", help=or_default(ABOUT["ignore"]))] = None,
    frames: Annotated[str | None, Option(help=or_default(ABOUT["frames"]))] = None,
    tolerance: Annotated[float | None, Option(help=or_default(ABOUT["tolerance"]))] = None,
    band: Annotated[float | None, Option(help=or_default(ABOUT["band"]))] = None,
    *,
    how: Evaluation,
) -> None:
    """Score masks: DAVIS' boundary F, the same matched one to one, Boundary IoU, region IoU (J), and the mean of J and F.

    DAVIS counts contour pixels that lie near the other contour, however many share a partner. Matched one to one within the same
    tolerance, no two pixels share a partner, so F is never higher; ragged or doubled outlines show in the difference.

    Files are label images (of palette images, the indices), boolean masks or arrays. Folders of folders are sequences of
    frames, whose objects are averaged over frames first, as in DAVIS.

    Example: [bold]hyperacuity masks masks/mine truth[/bold]

    Example: [bold]hyperacuity masks mine DAVIS/Annotations/480p --protocol davis2017[/bold]

    Example: [bold]hyperacuity masks mine truth --by instance --pair iou --ignore 255[/bold]
    """
    from hyperacuity.masks import protocol as named

    given: dict[str, Any] = {"by": by, "pair": pair, "extra": extra, "frames": frames}
    given |= {"tolerance": tolerance, "band": band}
    changes = {name: value for name, value in given.items() if value is not None}
    changes |= {
        name: _label(name, text) for name, text in (("background", background), ("ignore", ignore)) if text is not None
    }
    result = common.evaluated("masks", prediction, truth, how, protocol=named(protocol, **changes))
    common.show(result, how=how)


def _label(option: str, text: str) -> int | None:
    """A label, or none."""
    if text == "none":
        return None
    if not text.isdecimal() or len(text) > 18:
        raise UsageError(f"--{option} {text}: expected a label such as 255, or none")
    return int(text)
