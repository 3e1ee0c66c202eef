"""``hyperacuity scenes``: make a data set of paper scenes with exact truth."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperacuity.cli import common
from hyperacuity.cli.options import Json
from hyperacuity.errors import UsageError


def scenes(
    out: Annotated[Path, typer.Argument(help="Folder to write to; made if need be.", show_default=False)],
    count: Annotated[int, typer.Option(min=1, help="How many scenes.")] = 12,
    size: Annotated[str, typer.Option(help="Width x height in pixels, 64 to 2048 each.")] = "480x320",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first scene; the others follow.")] = 1,
    leaves: Annotated[int, typer.Option(min=1, max=400, help="Cut-outs per scene.")] = 32,
    blur: Annotated[float, typer.Option(min=0, max=8, help="Blur of the lens: standard deviation in pixels.")] = 0.6,
    noise: Annotated[float, typer.Option(min=0, max=64, help="Noise of the sensor: deviation in grey levels.")] = 1.5,
    max_disparity: Annotated[
        float | None,
        typer.Option(help="Disparity of the nearest sheet in pixels [default: width / 24].", show_default=False),
    ] = None,
    annotators: Annotated[int, typer.Option(min=1, max=20, help="Simulated annotators per scene.")] = 5,
    jobs: Annotated[int, typer.Option(min=1, help="Scenes made at the same time; the files are the same.")] = 2,
    json: Json = False,
) -> None:
    """Make scenes of layered paper cut-outs whose truth is known exactly.

    Each scene has a picture, region labels, boundaries and who owns them, depth order, a stereo pair with disparity and
    occlusion masks, and several simulated annotators. The same seed gives the same scene on any machine.

    Example: [bold]hyperacuity scenes my-scenes --count 3 --seed 1[/bold]
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    width, height = parse_size(size)
    folder = common.output_folder(out)
    from hyperacuity.data.scenes import write_scenes

    columns = (TextColumn("scenes"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=common.messages, transient=True, disable=not common.messages.is_terminal
    ) as progress:
        task = progress.add_task("scenes", total=count)
        summary = write_scenes(
            folder,
            range(seed, seed + count),
            jobs=jobs,
            done=lambda facts: progress.advance(task),
            size=(width, height),
            leaves=leaves,
            max_disparity=max_disparity,
            blur=blur,
            noise=noise,
            annotators=annotators,
        )
    if json:
        common.print_json({"folder": out, **summary})
    else:
        common.results.print(_table(summary["scenes"]))
        common.results.print(f"{count} scene{'s' if count > 1 else ''} of {width}×{height} in {out}", markup=False)


def parse_size(text: str) -> tuple[int, int]:
    """Width and height out of ``480x320`` (or ``480×320``)."""
    found = re.fullmatch(r"\s*(\d{1,6})\s*[xX×]\s*(\d{1,6})\s*", text)
    if not found:
        raise UsageError(f"--size {text}: expected width x height in pixels, for example 480x320")
    return int(found[1]), int(found[2])


def _table(facts: list[dict[str, Any]]) -> Any:
    from rich.table import Table

    table = Table("scene", box=None, pad_edge=False)
    for heading in ("sheets", "regions", "boundary px", "annotators' regions", "disparity px", "occluded"):
        table.add_column(heading, justify="right")
    for fact in facts:
        low, high = fact["disparity"]
        table.add_row(
            fact["name"],
            str(fact["sheets"]),
            str(fact["regions"]),
            str(fact["boundary_pixels"]),
            " ".join(str(regions) for regions in fact["annotators"]),
            f"{low:.1f} – {high:.1f}",
            f"{fact['occluded']:.1%}",
        )
    return table
