"""How long a board takes: many systems, three tasks, made-up tallies.

Run as ``python benchmarks/board.py [SYSTEMS IMAGES]`` (default 30 200). A task's systems share their truths; each is as good as a
number of its own says, and differs from it from image to image. The site is made in a process of its own by ``hyperacuity
board``, then checked by ``board check --site``; printed are seconds, how large the front page is with what it loads, and files.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from hyperacuity import boundary, disparity, regions
from hyperacuity.boundary.tallies import BoundaryTally
from hyperacuity.cards import About, Card, Made, digest_of, write_card
from hyperacuity.disparity.benchmark import PERCENTS, DisparityTally
from hyperacuity.regions.benchmark import RegionTally
from hyperacuity.tally import Tally

THRESHOLDS, LEVELS = 99, 99
Maker = Callable[[np.random.Generator, float, int], Tally]


def boundary_tally(random: np.random.Generator, skill: float, size: int) -> Tally:
    """Counts of an image with ``size`` true pixels, of a system that finds the share ``skill`` of them at best."""
    levels = np.linspace(0, 1, THRESHOLDS)
    own = np.clip(skill + random.normal(0, 0.05), 0.05, 0.98)
    matched = (size * own * (1 - levels**2)).astype(np.int64)
    detected = matched + (3 * size * (1 - own) * (1 - levels) ** 2).astype(np.int64) + 1
    truth = np.full(THRESHOLDS, size)
    return BoundaryTally(matched, truth, matched, detected, detected * 5, detected, protocol=boundary.Protocol())


def disparity_tally(random: np.random.Generator, skill: float, size: int) -> Tally:
    """Counts of an image of ``size`` pixels, of which the share 1 − ``skill`` is bad."""
    protocol = disparity.Protocol()
    rows, deltas = len(protocol.regions), len(protocol.deltas)
    pixels = np.full(rows, 40 * size)
    bad = (pixels[:, None] * np.clip(1 - skill + random.normal(0, 0.03, (rows, deltas)), 0, 1)).astype(np.int64)
    sums = [pixels * value for value in (1 - skill, 2 - skill, 0.1)]
    quantiles = np.full((rows, len(PERCENTS)), 0.9)
    return DisparityTally(pixels, pixels, bad[:, 0], bad, *sums, quantiles, np.ones(rows, np.int64), protocol=protocol)


def region_tally(random: np.random.Generator, skill: float, size: int) -> Tally:
    """Sums of an image whose best level covers the share ``skill``."""
    levels = np.linspace(-1, 1, LEVELS)
    share = np.clip(skill - 0.3 * levels**2 + random.normal(0, 0.03), 0.01, 1)
    area = 40 * size
    return RegionTally(
        area * share,
        np.array(area),
        area * share,
        np.full(LEVELS, area),
        np.array(area * share.max()),
        share,
        3 * (1 - share),
        np.array(1),
        np.array(0),
        protocol=regions.Protocol(),
    )


MAKERS: dict[str, Maker] = {"boundary": boundary_tally, "disparity": disparity_tally, "regions": region_tally}


def write_cards(folder: Path, systems: int, images: int) -> None:
    """A card per task and system."""
    names = [f"{n:06d}" for n in range(images)]
    truths = {name: (digest_of(name),) * 5 for name in names}
    for task, make in MAKERS.items():
        for number in range(systems):
            random = np.random.default_rng((number, len(task)))
            skill = 0.4 + 0.4 * number / systems
            tallies = {name: make(random, skill, 1000 + 7 * n) for n, name in enumerate(names)}
            about = About(
                f"System {number}", ("A. Author", "B. Author"), 2000 + number, f"https://example.org/{number}"
            )
            made = Made("made-up", f"hyperacuity {task} maps/{number} made-up", "1.0", "2026-01-01")
            write_card(Card(f"system-{number:02d}", tallies, truths, about, made), folder / f"{task}-{number:03d}.card")


def timed(*words: str) -> float:
    """Seconds that a command takes, start included."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "hyperacuity", *words], check=True, capture_output=True)
    return time.perf_counter() - start


def main(systems: int, images: int) -> None:
    """Print how long the board takes, and how large it is."""
    with TemporaryDirectory() as folder:
        cards, site = Path(folder) / "cards", Path(folder) / "site"
        cards.mkdir()
        write_cards(cards, systems, images)
        sizes = [path.stat().st_size for path in cards.iterdir()]
        print(f"{len(sizes)} cards of {max(sizes) / 1e3:.0f} KB at most")
        print(f"board: {timed('board', str(cards), '--out', str(site)):.1f} s")
        print(f"board check: {timed('board', 'check', str(cards)):.1f} s")
        print(f"board check --site: {timed('board', 'check', '--site', str(site)):.1f} s")
        loaded = [site / "index.html", *(site / "assets" / name for name in ("house.css", "board.css", "page.js"))]
        print(f"front page, with what it loads: {sum(path.stat().st_size for path in loaded) / 1e3:.0f} KB")
        files = [path for path in site.rglob("*") if path.is_file()]
        print(f"{len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.1f} MB")


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (30, 200))
