"""How fast the studio's forced choice answers fifty participants at once, and whether it keeps what it acknowledged.

    python benchmarks/studio.py [--participants N] [--trials N] [--pause SECONDS] [--json FILE]

A server is started as a user would (``hyperacuity studio choose``), and participants are simulated on loopback from one more
process, so that both share the machine. Each takes the page, then for every trial the photograph and, after the pause (none:
as fast as the server lets them), sends the answer. The wall-clock time of every request is taken where the participant is. In the
middle the server is killed and started again; afterwards every acknowledged answer must be in the file. The bar is a 95th
percentile of 200 ms with a pause of half a second, five times as fast as the quickest of people.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from scipy import ndimage

from hyperacuity.boundary.trials import Segment, Trial, write_trials
from hyperacuity.data import write_png

BAR = 0.2
"""Seconds, 95th percentile."""

HEIGHT, WIDTH = 321, 481


def make_study(folder: Path, trials: int, photographs: int = 20) -> None:
    """Photographs as large in bytes as real ones, and trials on them."""
    rng = np.random.default_rng(0)
    (folder / "photos").mkdir()
    (folder / "trials").mkdir()
    for number in range(photographs):
        field = ndimage.gaussian_filter(rng.normal(size=(HEIGHT, WIDTH, 3)), (9, 9, 0))
        picture = 128 + 600 * field + rng.normal(size=field.shape) * 4
        picture[60:200, 100:300] += 60
        write_png(folder / "photos" / f"p{number}.png", picture.clip(0, 255).astype(np.uint8))
    table = []
    for number in range(trials):
        row, left, right = rng.integers(20, 300), rng.integers(20, 200), rng.integers(260, 440)
        segments = [
            Segment((int(row), int(at)), tuple((int(row), int(at) + k) for k in range(10))) for at in (left, right)
        ]
        side = "first" if number % 2 else "second"
        table.append(
            Trial(f"p{number % photographs}", "canny", "hard", segments[0], segments[1], side, f"{number:04d}")
        )
    write_trials(folder / "trials", table)


@contextlib.contextmanager
def server(folder: Path, participants: int) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """The server as a process, and the invitations that it prints."""
    words = ["studio", "choose", "trials", "--images", "photos", "--participants", str(participants), "--no-browser"]
    command = [sys.executable, "-c", "from hyperacuity.cli import main; main()", *words]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        links = []
        for line in process.stderr:
            links += re.findall(r"http\S+/take/\S+", line)
            if "Ctrl-C" in line:
                break
        try:
            yield process, links
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)


async def take_part(link: str, trials: int, pause: float, times: dict[str, list[float]]) -> dict[int, str]:
    """One participant; returns the side of every answer that was acknowledged, by place. A dead server ends it."""
    dice = random.Random(link)  # noqa: S311 (people, not secrets)
    acknowledged: dict[int, str] = {}
    try:
        async with httpx.AsyncClient(timeout=60) as client:

            async def timed(kind: str, method: str, path: str, **more: Any) -> httpx.Response:
                start = time.perf_counter()
                response = await client.request(method, link + path, **more)
                times.setdefault(kind, []).append(time.perf_counter() - start)
                response.raise_for_status()
                return response

            await asyncio.sleep(dice.random() * pause)
            await timed("page", "GET", "")
            now = (await timed("next", "GET", "/next")).json()
            for _ in range(trials):
                if now["question"] is None:
                    break
                place = now["question"]["place"]
                await timed("picture", "GET", f"/picture/{place}")
                await asyncio.sleep(pause * (0.5 + dice.random()))
                side = dice.choice(("left", "right"))
                body = {"place": place, "side": side, "seconds": pause, "away": False}
                now = (await timed("answer", "POST", "/answer", json=body)).json()
                acknowledged[place] = side
    except httpx.TransportError:
        pass  # the server was killed; what it acknowledged until then counts
    return acknowledged


async def all_take_part(links: list[str], trials: int, pause: float, times: dict[str, list[float]]) -> list[Any]:
    """Everyone at once."""
    return await asyncio.gather(*(take_part(link, trials, pause, times) for link in links))


async def killed_in_the_middle(process: subprocess.Popen[str], links: list[str], pause: float) -> list[dict[int, str]]:
    """As above, but after some 200 answers the server is killed without warning."""
    times: dict[str, list[float]] = {}
    everyone = asyncio.gather(*(take_part(link, 1000, pause, times) for link in links))
    while len(times.get("answer", ())) < 4 * len(links):
        await asyncio.sleep(0.01)
    process.kill()
    return list(await everyone)


def cpu_seconds(process: subprocess.Popen[str]) -> float:
    """CPU time that a process has used so far, where the system tells (Linux); else nan."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def missing(folder: Path, acknowledged: list[dict[int, str]]) -> int:
    """How many acknowledged answers are not in the file as they were given."""
    with contextlib.closing(sqlite3.connect(folder / "trials" / "studio.sqlite")) as file:
        kept = {(p, place): side for p, place, side in file.execute("SELECT person, place, side FROM choose_answers")}
    told = {(person, place): side for person, own in enumerate(acknowledged, 1) for place, side in own.items()}
    return sum(kept.get(key) != side for key, side in told.items())


def main() -> None:
    """Measure, and print."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--participants", type=int, default=50)
    options.add_argument("--trials", type=int, default=12, help="answers per participant while times are taken")
    options.add_argument("--pause", type=float, default=0.5, help="mean seconds before an answer")
    options.add_argument("--json", type=Path)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_study(folder, trials=200)
        with server(folder, asked.participants) as (process, links):
            acknowledged = asyncio.run(killed_in_the_middle(process, links, 0.05))
        lost = missing(folder, acknowledged)
        print(f"killed after {sum(map(len, acknowledged))} acknowledged answers: {lost} lost")
        found: dict[str, Any] = {"participants": asked.participants, "lost": lost}
        with server(folder, asked.participants) as (process, links):
            for title, pause in (("as people do", asked.pause), ("without any pause", 0.0)):
                times: dict[str, list[float]] = {}
                start, used = time.perf_counter(), cpu_seconds(process)
                asyncio.run(all_take_part(links, asked.trials, pause, times))
                wall, used = time.perf_counter() - start, cpu_seconds(process) - used
                every = [one for several in times.values() for one in several]
                speed = (
                    f"{len(every) / wall:.0f} requests per second, {1e3 * used / len(every):.1f} ms of CPU time each"
                )
                print(f"\n{asked.participants} participants {title}: {speed}")
                for kind, one in [*sorted(times.items()), ("all", every)]:
                    middle, high = statistics.median(one), statistics.quantiles(one, n=20)[-1]
                    found[f"{title}, {kind}"] = {"median": middle, "p95": high, "requests": len(one)}
                    print(f"  {kind:8} {len(one):5} requests  median {1e3 * middle:6.1f} ms  p95 {1e3 * high:6.1f} ms")
        high = found["as people do, all"]["p95"]
        print(f"\nbar: p95 {1e3 * high:.0f} ms, at most {1e3 * BAR:.0f} ms: {'met' if high <= BAR else 'MISSED'}")
    if asked.json is not None:
        asked.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
