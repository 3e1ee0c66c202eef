"""How long a disparity map of 6 megapixels takes: masks, all measures, predicted views; and the baseline systems.

    python benchmarks/disparity.py [--json FILE]

CPU time of the whole process, best of several calls, warm, on a made map of 3000×2000 pixels: slanted planes that overlap, with
holes in the truth and in the estimate. The bar is 2 s for masks and measures together.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hyperacuity.detect.stereo import census, sad
from hyperacuity.disparity import Protocol, ViewProtocol, collect, distances, regions, stereo_views, tally, tally_views
from measuring import cpu_seconds

BAR = 2.0
"""Seconds for the masks and all measures of 6 megapixels."""


def made_pair(height: int, width: int) -> dict[str, np.ndarray]:
    """Truth, estimate and pictures: rectangles of random slant, each in front of those before it."""
    random = np.random.default_rng(0)
    y, x = np.mgrid[:height, :width].astype(np.float32)
    truth = 20 + 10 * x / width
    for step in range(60):
        top, left = random.integers(0, height), random.integers(0, width)
        bottom, right = top + random.integers(50, height // 3), left + random.integers(50, width // 3)
        slope = random.normal(0, 5, 2)
        plane = 30 + 2 * step + slope[0] * (x / width - 0.5) + slope[1] * (y / height - 0.5)
        truth[top:bottom, left:right] = plane[top:bottom, left:right]
    truth = truth.astype(np.float32)
    estimate = truth + random.normal(0, 0.7, truth.shape).astype(np.float32)
    estimate[random.random(truth.shape) < 0.03] += 20
    estimate[random.random(truth.shape) < 0.05] = np.nan
    truth[:, :30] = np.nan
    picture = random.integers(0, 256, (height, width, 3)).astype(np.uint8)
    return {"truth": truth, "estimate": estimate, "left": picture, "right": np.roll(picture, -20, axis=1)}


def main() -> None:
    """Measure, print a table, and write the numbers where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="file to write the numbers to")
    options = parser.parse_args()
    small, large = made_pair(200, 300), made_pair(2000, 3000)
    protocol = Protocol(regions=("nonocc", "all", "disc", "untextured"))

    def steps(pair: dict[str, np.ndarray]) -> dict[str, Callable[[], Any]]:
        masks = regions(pair["truth"], image=pair["left"])
        return {
            "masks": lambda: regions(pair["truth"], image=pair["left"]),
            "measures": lambda: collect({"pair": tally(pair["estimate"], pair["truth"], protocol, masks=masks)}),
            "views": lambda: tally_views(pair["estimate"], [pair["left"], pair["right"]], ViewProtocol()),
            "consistency": lambda: distances(stereo_views(pair["estimate"], pair["estimate"])),
        }

    for work in steps(small).values():
        work()
    sad(small["left"], small["right"], 16), census(small["left"], small["right"], 16)
    seconds = {name: cpu_seconds(work, repeats=3) for name, work in steps(large).items()}
    part = {name: large[name][:375, :450].copy() for name in ("left", "right")}
    for system in (sad, census):
        name = f"{system.__name__}, 450×375, 60 disparities"
        seconds[name] = cpu_seconds(lambda system=system: system(part["left"], part["right"], 60), repeats=5)
    for name, value in seconds.items():
        print(f"{name:38}{value:8.3f} s")
    total = seconds["masks"] + seconds["measures"]
    print(f"{'masks and measures':38}{total:8.3f} s   bar {BAR:g} s: {'met' if total < BAR else 'missed'}")
    if options.json:
        options.json.write_text(json.dumps({"unit": "CPU seconds", "bar": BAR, "seconds": seconds}, indent=1))


if __name__ == "__main__":
    main()
