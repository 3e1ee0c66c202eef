"""``hyperacuity demo``: a tour of everything, on scenes made for the purpose."""

from __future__ import annotations

import contextlib
import shlex
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from hyperacuity.cli import common

DETECTORS = ("masks", "sobel", "canny", "sf1", "sf5", "agk", "hk")
MEASURES = "psi,sk(k=1),baddeley,fom,d4,f_alpha"


def demo(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for scenes, maps, runs and the report.")] = Path(
        "demo-out"
    ),
    count: Annotated[int, typer.Option(min=1, help="How many scenes.")] = 12,
    size: Annotated[str, typer.Option(metavar="WxH", help="Size of a scene in pixels.")] = "480x320",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first scene.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Make scenes, run every detector and every benchmark on them, and write a report.

    Each step is a command that you can run yourself; it is shown before it runs. Nothing is downloaded.

    Example: [bold]hyperacuity demo demo-out --count 4[/bold]
    """
    folder = common.output_folder(out)
    began = time.monotonic()
    steps = []
    for words in _tour(folder, count, size, seed):
        line = "hyperacuity " + shlex.join(words)
        common.messages.print(f"\n[bold]$ {escape(line)}[/]")
        started = time.monotonic()
        status = _run(words, quiet=json)
        steps.append({"command": line, "status": status, "seconds": round(time.monotonic() - started, 1)})
    report = folder / "report" / "index.html"
    failed = [step["command"] for step in steps if step["status"]]
    common.messages.print(f"\nthe whole tour took {time.monotonic() - began:.0f} s")
    if json:
        common.print_json({"out": folder, "report": report if report.exists() else None, "steps": steps})
    elif report.exists():
        common.results.print(f"\nThe report: {report}", markup=False)
    raise typer.Exit(common.tell_failures((str(command), "see above") for command in failed))


def _tour(out: Path, count: int, size: str, seed: int) -> list[list[str]]:
    """The commands of the demo, in order."""
    scenes, maps, soft = str(out / "scenes"), str(out / "maps"), str(out / "soft")
    stereo, depth, runs = str(out / "stereo"), str(out / "depth"), str(out / "runs")
    truth = f"{scenes}/groundTruth"
    further = [word for name in DETECTORS[1:] for word in ("--system", f"{maps}/{name}")]
    audited = [word for name in ("canny", "hk") for word in ("--system", f"{maps}/{name}")]
    tasks = ("boundary", "audit", "edges", "regions", "disparity", "ordering")
    return [
        ["scenes", scenes, "--count", str(count), "--size", size, "--seed", str(seed)],
        ["detect", f"{scenes}/images", "--with", ",".join(DETECTORS), "--out", maps],
        ["boundary", f"{maps}/{DETECTORS[0]}", truth, *further, "--human", "--run", f"{runs}/boundary"],
        ["audit", truth, *audited, "--thresholds", "33", "--run", f"{runs}/audit"],
        [
            "edges",
            f"{maps}/{DETECTORS[0]}",
            f"{scenes}/boundaries",
            *further,
            "--measures",
            MEASURES,
            "--run",
            f"{runs}/edges",
        ],
        ["detect", f"{scenes}/images", "--with", "canny,sf5", "--soft", "--out", soft],
        ["regions", f"{soft}/canny", truth, "--system", f"{soft}/sf5", "--as", "soft", "--run", f"{runs}/regions"],
        ["stereo", scenes, "--with", "sad,census", "--out", stereo],
        ["disparity", f"{stereo}/sad", scenes, "--system", f"{stereo}/census", "--views", "--run", f"{runs}/disparity"],
        ["compare", f"{runs}/disparity", "--groups"],
        ["detect", f"{scenes}/images", "--with", "depth-order", "--out", depth],
        ["ordering", f"{depth}/depth-order", scenes, "--run", f"{runs}/ordering"],
        ["report", *(f"{runs}/{task}" for task in tasks), "--out", f"{out}/report", "--pictures", f"{scenes}/images"],
    ]


def _run(words: list[str], *, quiet: bool) -> int:
    """Run one command of this program; its exit status. With ``quiet``, what it prints goes to standard error."""
    from hyperacuity.cli import app

    place: Any = contextlib.redirect_stdout(sys.stderr) if quiet else contextlib.nullcontext()
    with place:
        try:
            return int(app(words, standalone_mode=False) or 0)
        except SystemExit as end:  # a wrong call: the message has been printed
            return int(end.code or 0)
