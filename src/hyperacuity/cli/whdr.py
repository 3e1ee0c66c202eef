"""``hyperacuity ordering whdr``: pairs of points: which one is nearer?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Evaluation, Folder, Pred, Truth, ZeroUnknown, grouped, or_default, protocol_help

ABOUT = protocol_help("ordering/whdr/benchmark.py", "PairProtocol")


@grouped
def whdr(
    prediction: Annotated[
        Path, Pred(help="Folder of order or depth maps, or one; or a file of answers, in the form of TRUTH.")
    ],
    truth: Annotated[str, Truth(help="Pairs of points with judgments: CSV, JSON, or the files of DIW and NYU.")],
    protocol: Annotated[
        str, Option(metavar="NAME", help="whdr (pairs may be equal), or diw (one of two answers is right).")
    ] = "whdr",
    delta: Annotated[float | None, Option(min=0, help=or_default(ABOUT["delta"]))] = None,
    equality: Annotated[str | None, Option(help=or_default(ABOUT["equality"]))] = None,
    mean: Annotated[bool, Option("--mean", help="Mean over images instead of the pairs of all images.")] = False,
    farther: Annotated[bool, Option("--farther", help="The maps are depth maps, in which larger is farther.")] = False,
    zero_unknown: ZeroUnknown = False,
    images: Annotated[Path | None, Folder(help="Photographs for the report.")] = None,
    *,
    how: Evaluation,
) -> None:
    """Score ordinal depth: how often a map disagrees with people on which of two points is nearer (WHDR).

    WHDR= counts the pairs that people judged about equal, WHDR≠ the others. In maps, larger = nearer (see --farther). A pair
    without an answer is wrong.

    Example: [bold]hyperacuity ordering whdr depth DIW_test.csv --protocol diw --farther[/bold]

    Example: [bold]hyperacuity ordering whdr disparity annotations.json --protocol diw[/bold]
    """
    changes = {"delta": delta, "equality": equality, "aggregate": "mean" if mean else None}
    reading = {"farther": farther or None, "zero_unknown": zero_unknown or None, "images": images}
    result = common.evaluated("whdr", prediction, truth, how, protocol=protocol, **changes, **reading)
    common.show(result, how=how)
