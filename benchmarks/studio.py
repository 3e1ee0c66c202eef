"""How fast the studio's forced choice answers fifty participants at once, and whether it keeps what it acknowledged.

    python benchmarks/studio.py [--participants N] [--trials N] [--pause SECONDS] [--json FILE]

A server is started as a user would (``hyperacuity studio choose``), and participants are simulated on loopback from one more
process, so that both share the machine. Each takes the page, then for every trial the photograph and, after the pause (none:
as fast as the server lets them), sends the answer. The wall-clock time of every request is taken where the participant is. In the
middle the server is killed and started again; afterwards every acknowledged answer must be in the file. The bar is a 95th
percentile of 200 ms with a pause of half a second, five times as fast as the quickest of people.

Times mean something only on a machine with nothing else to do. How much it has shows in how long a mere 5 ms of computing take,
which a third process measures alongside; the server's CPU time per request does not depend on it.
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
from urllib.parse import urlsplit

import numpy as np
from scipy import ndimage

from hyperacuity.audit.trials import Segment, Trial, write_trials
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


class Line:
    """A participant's connection: requests one after the other over plain streams, so that asking costs next to nothing."""

    def __init__(self, link: str) -> None:
        parts = urlsplit(link)
        self._host, self._port, self._path = parts.hostname, parts.port, parts.path
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        """The body of the answer; ``ConnectionError`` when the server is gone."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port)
        reader, writer = self._streams
        head = f"{method} {self._path}{path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\nContent-Length: {len(body)}\r\n"
        writer.write(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
        try:
            status, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
            length = next(int(line.partition(":")[2]) for line in lines if line.startswith("content-length:"))
            answer = await reader.readexactly(length)
        except asyncio.IncompleteReadError as error:
            raise ConnectionResetError from error
        assert status.split()[1] == "200", (status, answer)
        if "connection: close" in lines:
            writer.close()
            self._streams = None
        return answer


async def take_part(link: str, trials: int, pause: float, times: dict[str, list[float]]) -> dict[int, str]:
    """One participant; returns the side of every answer that was acknowledged, by position. A dead server ends it."""
    dice = random.Random(link)  # noqa: S311 (people, not secrets)
    line = Line(link)
    acknowledged: dict[int, str] = {}

    async def timed(kind: str, method: str, path: str, body: bytes = b"") -> bytes:
        start = time.perf_counter()
        answer = await line.ask(method, path, body)
        times.setdefault(kind, []).append(time.perf_counter() - start)
        return answer

    try:
        await asyncio.sleep(dice.random() * pause)
        await timed("page", "GET", "")
        now = json.loads(await timed("next", "GET", "/next"))
        for _ in range(trials):
            if now["question"] is None:
                break
            position = now["question"]["position"]
            await timed("picture", "GET", f"/picture/{position}")
            await asyncio.sleep(pause * (0.5 + dice.random()))
            side = dice.choice(("left", "right"))
            body = json.dumps({"position": position, "side": side, "seconds": pause, "away": False}).encode()
            now = json.loads(await timed("answer", "POST", "/answer", body))
            acknowledged[position] = side
    except ConnectionError:
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


BURST = """
import time
while True:
    start, used = time.perf_counter(), time.process_time()
    while time.process_time() - used < 0.005:
        pass
    print(time.perf_counter() - start, flush=True)
    time.sleep(0.1)
"""


@contextlib.contextmanager
def bursts() -> Iterator[list[float]]:
    """How long 5 ms of computing took, again and again while the block ran: on an idle machine, 5 ms."""
    took: list[float] = []
    with subprocess.Popen([sys.executable, "-c", BURST], stdout=subprocess.PIPE, text=True) as process:
        yield took
        process.kill()
        took += [float(line) for line in process.communicate()[0].split()]


def missing(folder: Path, acknowledged: list[dict[int, str]]) -> int:
    """How many acknowledged answers are not in the file as they were given."""
    with contextlib.closing(sqlite3.connect(folder / "trials" / "studio.sqlite")) as file:
        kept = {
            (p, position): side
            for p, position, side in file.execute("SELECT person, position, side FROM choose_answers")
        }
    told = {(person, position): side for person, own in enumerate(acknowledged, 1) for position, side in own.items()}
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
                with bursts() as took:
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
                middle, high = statistics.median(took), statistics.quantiles(took, n=20)[-1]
                found[f"{title}, 5 ms of computing"] = {"median": middle, "p95": high}
                print(f"  meanwhile 5 ms of computing took {1e3 * middle:.0f} ms, p95 {1e3 * high:.0f} ms")
        high = found["as people do, all"]["p95"]
        print(f"\nbar: p95 {1e3 * high:.0f} ms, at most {1e3 * BAR:.0f} ms: {'met' if high <= BAR else 'MISSED'}")
    if asked.json is not None:
        asked.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
