"""``hyperacuity regions``: score hierarchies and segmentations by covering, Rand index and variation of information."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from typer import Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Evaluation, Folder, Pred, SoftFiles, Truth, grouped, protocol_help
from hyperacuity.console import folder_name
from hyperacuity.outputs import write_output

ABOUT = protocol_help("regions/benchmark.py")


@grouped
def regions(
    prediction: Annotated[Path, Pred(help="Folder of ucm2 or segmentation files, or one file.")],
    truth: Annotated[str, Truth(help="Folder of annotators' segmentations, one file, or bsds500.")],
    levels: Annotated[int, Option(min=1, help=ABOUT["levels"])] = 99,
    form: Annotated[
        Literal["auto", "ucm", "segmentations", "soft"],
        Option("--as", help="What predictions hold; soft: boundary maps to make hierarchies of; auto: ucm2 or labels."),
    ] = "auto",
    berkeley: Annotated[Path | None, Folder(help="Write Berkeley's eval_cover*.txt and eval_RI_VOI*.txt.")] = None,
    *,
    maps: SoftFiles,
    how: Evaluation,
) -> None:
    """Score segmentations: covering, probabilistic Rand index (PRI), variation of information (VI), as in BSDS500.

    ODS uses the level that is best for all images, OIS the best level of each image, best the best level of each region.

    Predictions are ultrametric contour maps (MAT files with ucm2), cells of segmentations (segs), or label maps.

    Example: [bold]hyperacuity regions gpb/ucm2 BSDS500/groundTruth/test --berkeley eval[/bold]
    """
    from hyperacuity.regions import Protocol
    from hyperacuity.regions.berkeley import berkeley_files

    folder = None if berkeley is None else common.output_folder(berkeley)
    reading = {"form": form, **maps.options()}
    result = common.evaluated("regions", prediction, truth, how, protocol=Protocol(levels), **reading)
    if folder is not None:
        for name in result.scores:
            place = folder if len(result.scores) == 1 else common.output_folder(folder / folder_name(name))
            for file, text in berkeley_files(result.tallies(name)).items():
                write_output(place / file, text.encode("ascii"))
    common.show(result, how=how)
