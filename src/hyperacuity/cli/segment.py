"""``hyperacuity segment``: hierarchies of regions and label maps of pictures, as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Json, Workers
from hyperacuity.cli.output import Out, finish, plural, print_line
from hyperacuity.errors import UsageError


def segment(
    images: Annotated[list[Path], Argument(help="Pictures, or folders of pictures.")],
    out: Out,
    name: Annotated[
        str, Option("--with", help="Detector whose boundaries enclose the regions, or a folder of ucm2.")
    ] = "pb",
    level: Annotated[float, Option(help="Strength at which label maps are cut: stronger boundaries remain.")] = 0.2,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Segment pictures: DIR/ucm2/NAME.mat has the hierarchy of regions, DIR/labels/NAME.png the regions at one level.

    The hierarchy is an ultrametric contour map of double size, ucm2, as Berkeley's programs read it, and so do the commands
    regions, ordering and detect --hierarchy. Labels are numbers from 0, in 16 bits.

    The heights of pb are probabilities; those of other detectors are parts of the strongest edge in the picture.

    Example: [bold]hyperacuity segment photos --out regions[/bold]

    Example: [bold]hyperacuity segment photos --with canny --level 0.3 --out regions[/bold]

    Score them: [bold]hyperacuity regions regions/ucm2 bsds500[/bold]
    """
    if not 0 <= level < 1:
        raise UsageError(f"--level {level}: expected a number from 0 to below 1")
    from hyperacuity.data.datasets.pairing import pictures_of

    pictures = pictures_of(images)

    from hyperacuity.systems.hierarchies import segment_pictures, tree_source

    source = tree_source(name, name="with")
    folder = common.output_folder(out)
    regions, failed = segment_pictures(pictures, source, folder, level, workers)

    def show() -> None:
        print_line(f"{folder / 'ucm2'}: {plural(len(regions), 'file')}")
        if regions:
            few, many = min(regions.values()), max(regions.values())
            span = plural(few, "region") if few == many else f"{few} to {many} regions"
            print_line(f"{folder / 'labels'}: {plural(len(regions), 'label map')} at level {level:g}, {span}")

    summary = {
        "images": len(regions),
        "level": level,
        "ucm2": folder / "ucm2",
        "labels": folder / "labels",
        "regions": regions,
        "failed": [{"image": path, "reason": reason} for path, reason in failed],
    }
    finish(summary, show, json=json, failures=failed)
