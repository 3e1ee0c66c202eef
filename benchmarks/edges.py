"""How long the edge measures take: a sweep over 101 thresholds against the same scores threshold by threshold.

    python benchmarks/edges.py [SOFT TRUTH] [--json FILE]

CPU time of the whole process, best of several runs, warm. Without files, Canny's thin map of a made scene of 481×321 is swept
against the scene's true edges. Three ways to the same scores, which must agree to 1e-9:

*sweep*: all measures at all thresholds in one call; *evaluate*: one call per threshold, its measures sharing distance maps;
*plain*: one call per threshold and measure, as a reader of the paper would write it (exact distances by our own kernel, which
is itself compared with scipy's and OpenCV's).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import cv2
import numpy as np
from scipy import ndimage

from hyperacuity.data import read_edges, read_soft
from hyperacuity.data.scenes import make_scene
from hyperacuity.detect import canny
from hyperacuity.edges import PAPER, edges_at, evaluate, measures, sweep
from hyperacuity.kernels.distances import squared_distances
from measuring import cpu_ms

BAR = 15
"""A sweep must be this many times as fast as the plain functions."""


def made_maps() -> tuple[np.ndarray, np.ndarray]:
    """A thin soft map and the truth, from a made scene."""
    scene = make_scene(1, size=(481, 321))
    return canny(scene.image).thin, scene.boundaries


def main() -> None:
    """Measure, print a table, and write the numbers where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("soft", type=Path, nargs="?", help="a thin soft map; that of a made scene if absent")
    parser.add_argument("truth", type=Path, nargs="?", help="its truth")
    parser.add_argument("--json", type=Path, help="file to write the numbers to")
    options = parser.parse_args()
    if (options.soft is None) != (options.truth is None):
        parser.error("a soft map needs its truth")
    thin, truth = (read_soft(options.soft), read_edges(options.truth)) if options.soft else made_maps()

    swept = sweep(truth, thin)
    maps = [edges_at(thin, threshold) for threshold in swept.thresholds]
    plain_scores = np.array([[measure(truth, edges) for edges in maps] for measure in measures(PAPER)])
    np.testing.assert_allclose(swept.scores, plain_scores, rtol=1e-9, atol=1e-12)

    cv2.setNumThreads(1)
    edges = maps[len(maps) // 4]
    background = (~edges).astype(np.uint8)
    numbers = {
        "image": f"{truth.shape[1]}×{truth.shape[0]}",
        "true pixels": int(truth.sum()),
        "thin pixels": int((thin > 0).sum()),
        "thresholds": len(swept.thresholds),
        "measures": len(PAPER),
        "sweep ms": cpu_ms(lambda: sweep(truth, thin), repeats=7),
        "evaluate ms": cpu_ms(lambda: [evaluate(truth, edges) for edges in maps], repeats=2),
        "plain ms": cpu_ms(lambda: [[m(truth, edges) for edges in maps] for m in measures(PAPER)], repeats=2),
        "distance map ms": {
            "hyperacuity": cpu_ms(lambda: squared_distances(edges), repeats=9),
            "scipy": cpu_ms(lambda: ndimage.distance_transform_edt(background), repeats=9),
            "OpenCV": cpu_ms(lambda: cv2.distanceTransform(background, cv2.DIST_L2, cv2.DIST_MASK_PRECISE), repeats=9),
        },
    }
    numbers["plain / sweep"] = numbers["plain ms"] / numbers["sweep ms"]
    numbers["evaluate / sweep"] = numbers["evaluate ms"] / numbers["sweep ms"]

    print(f"{numbers['image']}, {numbers['measures']} measures × {numbers['thresholds']} thresholds, CPU ms")
    for name in ("sweep", "evaluate", "plain"):
        ratio = f"{numbers[f'{name} / sweep']:6.1f} ×" if name != "sweep" else ""
        print(f"  {name:10}{numbers[f'{name} ms']:9.1f}  {ratio}")
    print("one exact distance map, CPU ms")
    for name, value in numbers["distance map ms"].items():
        print(f"  {name:12}{value:7.2f}")
    met = numbers["plain / sweep"] >= BAR
    print(f"bar: plain / sweep at least {BAR}: {'met' if met else 'NOT met'}")
    if options.json:
        options.json.write_text(json.dumps(numbers, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
