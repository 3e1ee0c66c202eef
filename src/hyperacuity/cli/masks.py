"""``hyperacuity masks``: outlines of segmented objects, by DAVIS' boundary measure, Boundary IoU and exact matching."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Evaluation, Pred, Truth, grouped
from hyperacuity.errors import UsageError


@grouped
def masks(
    prediction: Annotated[Path, Pred(help="Folder of masks or label maps (png, npy …), of sequences, or one map.")],
    truth: Annotated[str, Truth(help="Folder of true masks or label maps, of sequences, or one map.")],
    protocol: Annotated[str, Option(metavar="NAME", help="binary, labels, davis2016 or davis2017.")] = "binary",
    by: Annotated[
        str | None, Option(help="What an object is: binary (all but the background), label, or instance.")
    ] = None,
    pair: Annotated[str | None, Option(help="Instances belong together by id, or by iou (best overlap).")] = None,
    extra: Annotated[str | None, Option(help="Predicted objects without a true one: count (score 0), ignore.")] = None,
    background: Annotated[str | None, Option(metavar="LABEL", help="The label that is no object, or none.")] = None,
    ignore: Annotated[
        str | None, Option(metavar="LABEL", help="Leave out pixels where the truth has this label: 255, or none.")
    ] = None,
    frames: Annotated[str | None, Option(help="Of sequences: all frames, or inner: not the first and last.")] = None,
    tolerance: Annotated[
        float | None, Option(help="Fraction of the image diagonal, rounded up to pixels (default: 0.008).")
    ] = None,
    band: Annotated[
        float | None, Option(help="Width of Boundary IoU's band, a fraction of the diagonal (default: 0.02).")
    ] = None,
    *,
    how: Evaluation,
) -> None:
    """Score masks: DAVIS' boundary F, the same matched one to one, Boundary IoU, region IoU (J), and the mean of J and F.

    DAVIS counts contour pixels that lie near the other contour, however many share a partner. Matched one to one within the same
    tolerance, each pixel needs a partner of its own, so F is never higher; ragged or doubled outlines show in the difference.

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
