"""``hyperacuity stereo``: run the built-in stereo systems on pairs and write maps for ``hyperacuity disparity``."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Data, Json
from hyperacuity.cli.output import Out, finish, plural, print_line
from hyperacuity.errors import UsageError

SYSTEMS = ("sad", "ssd", "census", "adaptive-weights", "cost-filter", "dp", "sgm", "bp", "sgm-opencv")
"""Names of :mod:`hyperacuity.detect.stereo.systems`, which help does not import."""


def stereo(
    data_set: Annotated[str, Argument(metavar="DATA", help="A stereo data set: its folder, or its name.")],
    out: Out,
    names: Annotated[str, Option("--with", help=f"Systems, with commas: {', '.join(SYSTEMS)}.")] = "sad,census,sgm",
    disparities: Annotated[
        int | None, Option(min=1, help="Number of disparities (default: the data's, or width / 6).")
    ] = None,
    data: Data = None,
    jobs: Annotated[int | None, Option(min=1, help="Pairs in parallel (default: one per processor).")] = None,
    json: Json = False,
) -> None:
    """Match stereo pairs and write one disparity map per scene: DIR/sad/SCENE.pfm, DIR/census/SCENE.pfm and so on.

    Options of a system go in parentheses: --with "sad(window=5),census(check=1)". Only sgm-opencv, a control, needs OpenCV
    (the extra detect).

    Example: [bold]hyperacuity stereo middlebury-v2 --with sad,census --out maps[/bold]

    Example: [bold]hyperacuity stereo middlebury-v2 --with "sgm(fill=1)" --out maps[/bold]
    """
    from hyperacuity.detect.registry import split_names
    from hyperacuity.detect.stereo import matcher_named
    from hyperacuity.kinds.disparity import stereo_samples
    from hyperacuity.systems.maps import match_scenes

    scenes = stereo_samples(data_set, data)
    chosen = list({str(one): one for one in map(matcher_named, split_names(names))}.values())
    if not chosen:
        raise UsageError("--with names no system; for example --with sad,census")
    matched = match_scenes(scenes, chosen, common.output_folder(out), jobs, disparities=disparities)
    folders, failed = matched.folders, matched.failures
    written = len(scenes) - len(failed)
    summary = {
        "scenes": written,
        "systems": {
            name: {"folder": folder, "seconds": matched.mean_seconds(name)} for name, folder in folders.items()
        },
        "failed": [{"scene": name, "reason": reason} for name, reason in failed],
    }
    lines = "\n".join(
        f"{folder}: {plural(written, 'map')}, {matched.mean_seconds(name):.2f} s each"
        for name, folder in folders.items()
    )
    finish(summary, lambda: print_line(lines), json=json, failures=failed)
