"""``hyperacuity edges``: score edge maps with the dissimilarity measures, soft ones at their best threshold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Evaluation, MapFiles, Pred, Truth, grouped, protocol_help

ABOUT = protocol_help("edges/benchmark.py")


@grouped
def edges(
    prediction: Annotated[Path, Pred(help="Edge map, or folder of edge maps.")],
    truth: Annotated[str, Truth(help="Truth, folder of truths, or a data set such as rug or uded.")],
    names: Annotated[str | None, Option("--measures", help=ABOUT["names"])] = None,
    thresholds: Annotated[int, Option(min=1, help=ABOUT["thresholds"])] = 101,
    thin: Annotated[bool, Option("--thin", help="Thin soft maps first. Without it they must be thin already.")] = False,
    *,
    maps: MapFiles,
    how: Evaluation,
) -> None:
    """Score edge maps against the truth with 21 dissimilarity measures, two of them at two parameters; 0 is perfect.

    A soft map is taken at every threshold, and its lowest score counts, as in Abdulrahman et al. (2017). A binary map is
    scored as it is. The table gives each measure's mean minimum over the images with a 95 % bootstrap interval, the mean
    threshold that reaches it, and on how many images each system is best.

    Example: [bold]hyperacuity edges maps/canny truth --measures "psi,sk(k=1)"[/bold]
    """
    from hyperacuity.edges import PAPER, Protocol, measures

    protocol = Protocol(
        names=PAPER if names is None else tuple(str(m) for m in measures(names)),
        thresholds=thresholds,
        thin="structured" if thin else "none",
    )
    result = common.evaluated("edges", prediction, truth, how, protocol=protocol, **maps.options())
    common.show(result, how=how)
