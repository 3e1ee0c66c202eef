"""``hyperacuity demo``: a tour of everything, on generated scenes."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer import Argument, Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Json
from hyperacuity.errors import UsageError, not_installed

TOUR = """
scenes {out}/scenes --count {count} --size {size} --seed {seed}
detect {out}/scenes/images --with masks,sobel,canny,sf1,sf5,agk,hk --out {out}/maps
boundary {out}/maps/masks {out}/scenes/groundTruth {others} --human --run {out}/runs/boundary
report {out}/runs/boundary --out {out}/report --pictures {out}/scenes/images --no-viewer
audit {out}/scenes/groundTruth --system {out}/maps/canny --system {out}/maps/hk --thresholds 33 --run {out}/runs/audit
edges {out}/maps/masks {out}/scenes/boundaries {others} --measures psi,sk(k=1),baddeley,fom,d4,f_alpha --run {out}/runs/edges
detect {out}/scenes/images --with canny,sf5 --soft --out {out}/soft
regions {out}/soft/canny {out}/scenes/groundTruth --system {out}/soft/sf5 --as soft --run {out}/runs/regions
stereo {out}/scenes --with sad,census --out {out}/stereo
disparity {out}/stereo/sad {out}/scenes --system {out}/stereo/census --views --run {out}/runs/disparity
compare {out}/runs/disparity --groups
detect {out}/scenes/images --with depth-order --out {out}/depth
ordering {out}/depth/depth-order {out}/scenes --run {out}/runs/ordering
see {seen} --setting fast --out {out}/seen
report {runs} --out {out}/report --pictures {out}/scenes/images
"""
"""The commands, in order. There is a page to look at after the first benchmark; the last command makes one of all."""

AHEAD = ("filters", "sweep", "edges", "audit", "regions", "stereo", "disparity", "depth", "ordering")
"""Steps whose kernels are compiled next to the first command on a new machine, in the order in which they are needed."""

OTHERS = " ".join(f"--system {{out}}/maps/{name}" for name in ("sobel", "canny", "sf1", "sf5", "agk", "hk"))
PHOTOGRAPHS = ("103070", "37073")
"""Two of BSDS500's validation images, shown if the data set is installed."""

RUNS = " ".join(f"{{out}}/runs/{task}" for task in ("boundary", "audit", "edges", "regions", "disparity", "ordering"))


def demo(
    out: Annotated[Path, Argument(metavar="OUT", help="Output folder.")] = Path("demo-out"),
    count: Annotated[int, Option(min=1, help="How many scenes.")] = 12,
    size: Annotated[str, Option(metavar="WxH", help="Size of a scene in pixels.")] = "480x320",
    seed: Annotated[int, Option(min=0, help="Seed of the first scene.")] = 1,
    json: Json = False,
) -> None:
    """Generate scenes, run every detector and every benchmark on them, and write a report.

    Each step is a command that you can run yourself; it is shown before it runs. Nothing is downloaded. The page is written
    after the first benchmark, and again at the end with all benchmarks and every picture.

    Example: [bold]hyperacuity demo demo-out --count 4[/bold]
    """
    folder = common.output_folder(out)
    began = time.monotonic()
    steps = []
    seen = [f"{folder}/scenes/images/scene-{seed:04d}.png", *_photographs()]
    with _compiling_ahead():
        for words in _tour(out=folder, count=count, size=size, seed=seed, seen=seen):
            if words[0] == "see" and (missing := _cannot_see()):
                common.messages.print(f"\n{missing}", markup=False)
                continue
            line = "hyperacuity " + shlex.join(words)
            common.messages.print(f"\n[bold]$ {escape(line)}[/]")
            started = time.monotonic()
            status = _run(words, quiet=json)
            steps.append({"command": line, "status": status, "seconds": round(time.monotonic() - started, 1)})
    report, sheets = folder / "report" / "index.html", folder / "seen" / "sheets"
    failed = [step["command"] for step in steps if step["status"]]
    common.messages.print(f"\nthe whole tour took {time.monotonic() - began:.0f} s")
    if json:
        pages = {"report": report if report.exists() else None, "sheets": sheets if sheets.exists() else None}
        common.print_json({"out": folder, **pages, "steps": steps})
    else:
        if sheets.exists():
            common.results.print(f"\nWhat is seen in a picture: {sheets}", markup=False)
        if report.exists():
            common.results.print(f"\nThe report: {report}", markup=False)
    raise typer.Exit(common.report_failures((str(command), "see above") for command in failed))


def _tour(*, seen: list[str], **values: object) -> list[list[str]]:
    """The words of each command. They are split before values are filled in, so that a path may hold spaces."""
    text = TOUR.strip().replace("{others}", OTHERS).replace("{runs}", RUNS)
    return [
        [filled for word in line.split() for filled in (seen if word == "{seen}" else [word.format(**values)])]
        for line in text.splitlines()
    ]


@contextlib.contextmanager
def _compiling_ahead() -> Iterator[None]:
    """Compile the kernels of later commands in another process while the block runs, unless they are compiled already."""
    from hyperacuity.kernels import cache_folder

    if cache_folder("hyperacuity.kernels.ordering").exists() or (os.cpu_count() or 1) < 2:
        yield
        return
    call = [sys.executable, "-m", "hyperacuity", "warm", *AHEAD, "--workers", "1"]
    with subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # noqa: S603
        try:
            yield
        finally:
            process.terminate()


def _photographs() -> list[str]:
    """Two photographs, if they are available."""
    from hyperacuity.data import find_data

    try:
        folder = find_data("bsds500") / "images" / "val"
    except UsageError:
        return []
    return [str(file) for name in PHOTOGRAPHS if (file := folder / f"{name}.jpg").is_file()]


def _cannot_see() -> str:
    """Reason why the network cannot be run; empty if it can."""
    if find_spec("onnxruntime") is not None:
        return ""
    return str(not_installed("hyperacuity see is left out, for it needs onnxruntime", "see"))


def _run(words: list[str], *, quiet: bool) -> int:
    """Run one command of this program; its exit status. With ``quiet``, what it prints goes to standard error."""
    from hyperacuity.cli import program

    target: Any = contextlib.redirect_stdout(sys.stderr) if quiet else contextlib.nullcontext()
    with target:
        try:
            return int(program(words)(words, standalone_mode=False) or 0)
        except SystemExit as end:  # a wrong call: the message has been printed
            return int(end.code or 0)
