"""Regions and depth: how long they take.

    python benchmarks/regions.py [--bsds DIR] [--images N] [--json FILE]

Without data, times are taken on a made scene of 481×321: CPU time, best of several, warm. ``--bsds`` names a BSDS500 folder: then
the way from photograph to depth order is timed too, the slowest of ten photographs; and the region benchmark on the contour maps
in ``ucm2/test``, against one that labels and counts each level anew with scipy. How often depth order is right is told by
``hyperacuity study palou2014``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage

from hyperacuity.data import read_image, read_segmentations, read_ucm
from hyperacuity.data.scenes import make_scene
from hyperacuity.detect import canny, depth_cues, depth_order
from hyperacuity.detect.depth.ownership import depth_partition, probability_of_ownership
from hyperacuity.regions import Protocol, compare, hierarchy, piecewise_constant, prune, pruning_path, tally, ucm_levels
from measuring import cpu_ms


def speed() -> dict[str, float]:
    """CPU milliseconds on a made scene."""
    image = make_scene(1, size=(481, 321)).image
    seen = canny(image, sigma=3.0)
    tree = hierarchy(seen.soft, direction=seen.direction)
    order = probability_of_ownership(image)
    energy = piecewise_constant(tree, order)
    return {
        "leaves": tree.leaves,
        "hierarchy": cpu_ms(lambda: hierarchy(seen.soft)),
        "hierarchy, oriented": cpu_ms(lambda: hierarchy(seen.soft, direction=seen.direction)),
        "contour map": cpu_ms(tree.ucm2),
        "99 levels of a contour map": cpu_ms(lambda: ucm_levels(tree.ucm2())),
        "pruning, one λ": cpu_ms(lambda: prune(tree, energy, 1.0)),
        "pruning, all λ": cpu_ms(lambda: pruning_path(tree, energy)),
        "ownership": cpu_ms(lambda: probability_of_ownership(image), repeats=2),
        "image to depth order": cpu_ms(lambda: depth_order(image), repeats=2),
        "image to depth by cues": cpu_ms(lambda: depth_cues(image), repeats=2),
    }


def region_benchmark(folder: Path, count: int) -> dict[str, float]:
    """CPU milliseconds per image of the region benchmark, ours and level by level."""
    protocol = Protocol()
    names = [path.stem for path in sorted((folder / "ucm2" / "test").glob("*.mat"))][:count]

    def read(name: str) -> tuple[Any, Any]:
        truths = read_segmentations([folder / "groundTruth" / "test" / f"{name}.mat"])
        return read_ucm(folder / "ucm2" / "test" / f"{name}.mat"), truths

    def ours() -> None:
        for name in names:
            cells, truths = read(name)
            tally(ucm_levels(cells, protocol.thresholds), truths, protocol)

    def plain() -> None:
        cells, truths = read(names[0])
        for threshold in protocol.thresholds:
            labels = ndimage.label(cells <= threshold, structure=np.ones((3, 3)))[0]
            compare([labels[1::2, 1::2]], truths)

    ours()
    return {
        "images": len(names),
        "per image": cpu_ms(ours, repeats=2) / len(names),
        "level by level": cpu_ms(plain, repeats=1),
    }


def photographs(folder: Path, count: int) -> dict[str, float]:
    """CPU milliseconds of the steps from photograph to depth order, the most that any of the first test images takes."""
    most: dict[str, float] = {}
    for path in sorted((folder / "images" / "test").glob("*.jpg"))[:count]:
        image = read_image(path)
        seen = canny(image, sigma=3.0)
        tree = hierarchy(seen.soft, direction=seen.direction)
        order = probability_of_ownership(image)
        steps: dict[str, Callable[[], Any]] = {
            "soft map": lambda image=image: canny(image, sigma=3.0),
            "hierarchy": lambda seen=seen: hierarchy(seen.soft, direction=seen.direction),
            "contour map": tree.ucm2,
            "ownership": lambda image=image: probability_of_ownership(image),
            "pruning and depth": lambda order=order, tree=tree: depth_partition(order, tree, 0.5),
            "photograph to depth order": lambda image=image: depth_order(image),
            "photograph to depth by cues": lambda image=image: depth_cues(image),
        }
        for name, work in steps.items():
            most[name] = max(most.get(name, 0.0), cpu_ms(work, repeats=3))
    return most


def main() -> None:
    """Measure, print tables, and write the numbers where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bsds", type=Path, help="folder of BSDS500")
    parser.add_argument("--images", type=int, help="use no more than this many images")
    parser.add_argument("--json", type=Path, help="file to write the numbers to")
    options = parser.parse_args()
    numbers: dict[str, Any] = {}
    numbers["CPU ms"] = speed()
    if options.bsds:
        numbers["CPU ms, photographs"] = photographs(options.bsds, min(options.images or 10, 10))
        numbers["region benchmark"] = region_benchmark(options.bsds, options.images or 20)
    for title, table in numbers.items():
        print(title)
        for name, value in table.items():
            print(f"  {name:30}{value:9.1f}")
    if options.json:
        options.json.write_text(json.dumps(numbers, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
