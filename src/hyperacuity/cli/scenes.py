"""``hyperacuity scenes``: generate a data set of paper scenes with exact truth."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Json
from hyperacuity.cli.output import finish, plural, print_line, print_table
from hyperacuity.errors import UsageError


def scenes(
    out: Annotated[Path, Argument(help="Folder to write to; created if missing.")],
    count: Annotated[int, Option(min=1, help="How many scenes.")] = 12,
    size: Annotated[str, Option(help="Width x height in pixels, 64 to 2048 each.")] = "480x320",
    seed: Annotated[int, Option(min=0, help="Seed of the first scene; the others follow.")] = 1,
    leaves: Annotated[int, Option(min=1, max=400, help="Cut-outs per scene.")] = 32,
    blur: Annotated[float, Option(min=0, max=8, help="Blur of the lens: standard deviation in pixels.")] = 0.6,
    noise: Annotated[float, Option(min=0, max=64, help="Noise of the sensor: deviation in grey levels.")] = 1.5,
    max_disparity: Annotated[float | None, Option(help="Of the nearest sheet, px [default: width / 24].")] = None,
    annotators: Annotated[int, Option(min=1, max=20, help="Simulated annotators per scene.")] = 5,
    jobs: Annotated[int, Option(min=1, help="Scenes generated in parallel; the files are the same.")] = 2,
    json: Json = False,
) -> None:
    """Generate scenes of layered paper cut-outs with exact truth.

    Each scene has a picture, region labels, boundaries and who owns them, depth order, a stereo pair with disparity and
    occlusion masks, and several simulated annotators. The same seed gives the same scene on any machine.

    Example: [bold]hyperacuity scenes my-scenes --count 3 --seed 1[/bold]
    """
    from rich.progress import Progress

    width, height = parse_size(size)
    folder = common.output_folder(out)
    options: Any = {"size": (width, height), "leaves": leaves, "max_disparity": max_disparity}
    options |= {"blur": blur, "noise": noise, "annotators": annotators}
    from hyperacuity.data.scenes import write_scenes

    with Progress(console=common.messages, transient=True, disable=not common.messages.is_terminal) as progress:
        task = progress.add_task("scenes", total=count)
        options["done"] = lambda facts: progress.advance(task)
        summary = write_scenes(folder, range(seed, seed + count), jobs=jobs, **options)

    def show() -> None:
        headings = ("sheets", "regions", "boundary px", "annotators' regions", "disparity px", "occluded")
        print_table(("scene", *headings), [_row(fact) for fact in summary["scenes"]])
        print_line(f"{plural(count, 'scene')} of {width}×{height} in {out}")

    finish({"folder": out, **summary}, show, json=json)


def parse_size(text: str) -> tuple[int, int]:
    """Parse width and height, such as ``480x320`` (or ``480×320``)."""
    match = re.fullmatch(r"\s*(\d{1,6})\s*[xX×]\s*(\d{1,6})\s*", text)
    if not match:
        raise UsageError(f"--size {text}: expected width x height in pixels, for example 480x320")
    return int(match[1]), int(match[2])


def _row(fact: dict[str, Any]) -> tuple[str, ...]:
    low, high = fact["disparity"]
    counts = (str(fact[name]) for name in ("sheets", "regions", "boundary_pixels"))
    people = " ".join(str(regions) for regions in fact["annotators"])
    return (fact["name"], *counts, people, f"{low:.1f} – {high:.1f}", f"{fact['occluded']:.1%}")
