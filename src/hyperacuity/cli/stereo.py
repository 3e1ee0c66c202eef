"""``hyperacuity stereo``: run the baseline stereo systems on pairs and write maps that ``hyperacuity disparity`` takes."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hyperacuity.cli import common
from hyperacuity.cli.options import Data, Json
from hyperacuity.errors import InputError, UsageError

if TYPE_CHECKING:
    from hyperacuity.data import Sample
    from hyperacuity.detect.stereo import Matcher

SHARE = 6
"""Without a word from the data set, disparities up to this part of the width are tried."""


def stereo(
    data_set: Annotated[
        str, typer.Argument(metavar="DATA", help="A stereo data set: its folder, or its name.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder to write to; made if need be.", show_default=False)],
    names: Annotated[str, typer.Option("--with", help="Systems, with commas: sad, census, sgm.")] = "sad,census,sgm",
    disparities: Annotated[
        int | None,
        typer.Option(
            min=1, help="How many to try (default: the data set's, or a sixth of the width).", show_default=False
        ),
    ] = None,
    data: Data = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Pairs worked on at once (default: all processors).", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Match stereo pairs and write one disparity map per scene: DIR/sad/SCENE.pfm, DIR/census/SCENE.pfm and so on.

    Options of a system stand in parentheses: --with "sad(window=5),census(check=1)". Semi-global matching needs OpenCV (the
    extra detect).

    Example: [bold]hyperacuity stereo middlebury-v2 --with sad,census --out maps[/bold]
    """
    from concurrent.futures import ThreadPoolExecutor

    from rich.progress import track

    from hyperacuity.detect.registry import split_names
    from hyperacuity.detect.stereo import matcher_named
    from hyperacuity.evaluation.disparity_inputs import stereo_samples

    scenes = stereo_samples(data_set, data)
    chosen = {str(found): found for found in map(matcher_named, split_names(names))}
    if not chosen:
        raise UsageError("--with names no system; for example --with sad,census")
    folders = {name: common.output_folder(out / name) for name in chosen}

    def work(sample: Sample) -> str | None:
        try:
            _match(sample, chosen, folders, disparities)
        except InputError as error:
            return str(error)
        return None

    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        reasons = list(
            track(
                pool.map(work, scenes.values()),
                "matching",
                len(scenes),
                console=common.messages,
                transient=True,
                disable=not common.messages.is_terminal,
            )
        )
    failed = [(name, reason) for name, reason in zip(scenes, reasons, strict=True) if reason is not None]
    status = common.tell_failures(failed)
    written = len(scenes) - len(failed)
    if json:
        common.print_json(
            {
                "scenes": written,
                "systems": {name: {"folder": folder} for name, folder in folders.items()},
                "failed": [{"scene": name, "reason": reason} for name, reason in failed],
            }
        )
    else:
        for folder in folders.values():
            common.results.print(f"{folder}: {written} map{'' if written == 1 else 's'}", markup=False)
    raise typer.Exit(status)


def _match(sample: Sample, chosen: dict[str, Matcher], folders: dict[str, Path], disparities: int | None) -> None:
    from hyperacuity.data import read_image, write_disparity

    if sample.image is None or "right" not in sample.extras:
        raise InputError("the pictures of the pair are not with the data")
    left, right = read_image(sample.image), read_image(sample.extras["right"])
    count = disparities or disparities_of(sample, left.shape[1])
    for name, find in chosen.items():
        write_disparity(folders[name] / f"{sample.name}.pfm", find(left, right, count))


def disparities_of(sample: Sample, width: int) -> int:
    """How many disparities to try: as Middlebury's ``info.txt`` or ``ndisp`` of a ``calib.txt`` says, else by the width."""
    from hyperacuity.data.datasets.stereo import largest_disparity

    info = sample.truths[0].with_name("info.txt")
    calibration = sample.extras.get("calibration")
    with contextlib.suppress(InputError):
        if info.is_file():
            return min(largest_disparity(info) + 1, width)
        if calibration is not None:
            return min(largest_disparity(calibration) + 1, width // 2)
    return max(16, width // SHARE)
