"""``hyperacuity ordering dbe``: where depth maps step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Evaluation, Pred, Truth, ZeroUnknown, grouped, or_default, protocol_help

ABOUT = protocol_help("ordering/dbe/benchmark.py", "DepthEdgeProtocol")


@grouped
def dbe(
    prediction: Annotated[Path, Pred(help="Folder of depth maps, or one.")],
    truth: Annotated[str, Truth(help="True depth edges: maps of edges, iBims-1's MAT files, or scenes.")],
    sigma: Annotated[float | None, Option(help=or_default(ABOUT["sigma"], "√2"))] = None,
    low: Annotated[float | None, Option(help=or_default(ABOUT["low"], "0.15"))] = None,
    high: Annotated[float | None, Option(help=or_default(ABOUT["high"], "0.3"))] = None,
    reach: Annotated[float | None, Option(help=or_default(ABOUT["reach"], "10"))] = None,
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
