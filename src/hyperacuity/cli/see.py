"""``hyperacuity see``: boundaries, regions, who owns each boundary and depth order of photographs, and a picture sheet."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Json
from hyperacuity.cli.output import Out, finish, plural, print_line
from hyperacuity.errors import UsageError


def see(
    images: Annotated[list[Path], Argument(help="Photographs, or folders of photographs.")],
    out: Out = Path("seen"),
    setting: Annotated[
        Literal["fast", "best"], Option(help="One pass, or three sizes and mirrored: sharper but slower.")
    ] = "best",
    level: Annotated[float, Option(help="Strength at which regions are cut: stronger boundaries remain.")] = 0.25,
    model: Annotated[Path | None, Option(metavar="FILE", help="Another network, from train net.")] = None,
    sheets: Annotated[bool, Option("--sheets/--no-sheets", help="Draw the picture sheets.")] = True,
    jobs: Annotated[int | None, Option(min=1, help="Photographs at a time (default: one per processor).")] = None,
    json: Json = False,
) -> None:
    """See photographs: boundaries, regions, who owns each boundary, depth order, and a picture sheet.

    Example: [bold]hyperacuity see photo.jpg --out seen[/bold]

    DIR/sheets/NAME.png is for you. The maps are for the other commands: boundaries/NAME.png (16 bit) for boundary, ucm2/NAME.mat
    for regions, order/NAME.pfm (larger = nearer) and ownership/NAME.pfm (+1 on the side of the owner, -1 on the other) for
    ordering; field/NAME.npy has the vectors from ground to figure.

    Example: [bold]hyperacuity see photos --setting fast --no-sheets --out seen[/bold]

    Score them: [bold]hyperacuity boundary seen/boundaries bsds500 --nms structured-s1-r1-8bit[/bold]

    This needs onnxruntime, which the extra see installs.
    """
    if model is not None and not model.is_file():
        raise UsageError(f"--model {model}: there is no such file")
    from hyperacuity.data.datasets.pairing import pictures_of

    pictures = pictures_of(images)

    from hyperacuity.report.pictures.sight import sight_sheet
    from hyperacuity.systems.seeing import FOLDERS, Seeing, see_pictures

    how = Seeing(setting, "" if model is None else str(model), level)
    draw = partial(sight_sheet, level=level, note=f"setting {setting}") if sheets else None
    folder = common.output_folder(out)
    seen, failed = see_pictures(pictures, folder, how, draw=draw, workers=jobs)
    folders = {name: folder / name for name in FOLDERS if sheets or name != "sheets"}

    def show() -> None:
        print_line(f"{plural(len(seen), 'photograph')} seen: {folder}/{{{','.join(folders)}}}")
        if sheets and seen:
            print_line(f"look at {folders['sheets'] / next(iter(seen))}.png")

    summary = {
        "images": len(seen),
        "setting": setting,
        "level": level,
        "folders": folders,
        "seen": seen,
        "failed": [{"image": path, "reason": reason} for path, reason in failed],
    }
    finish(summary, show, json=json, failures=failed)
