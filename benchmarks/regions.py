"""Regions and depth: how long they take, and how often ownership knows the nearer side.

    python benchmarks/regions.py [--bsds DIR] [--figure-ground FILE] [--images N] [--json FILE]

Without data, times are taken on a made scene of 481×321: CPU time, best of several, warm. ``--bsds`` names a BSDS500 folder with
``ucm2/test``: then the region benchmark is timed on its first images against one that labels and counts each level anew with
scipy. ``--figure-ground`` names Berkeley's labels (folder or tar.xz; the photographs are read from ``--bsds``): then the accuracy
of ownership and of controls is measured on the images that were not used to choose its defaults (all but every third by name).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage

from hyperacuity.data import figure_ground, read_image, read_segmentations, read_ucm
from hyperacuity.data.bsds import FigureGround
from hyperacuity.data.scenes import make_scene
from hyperacuity.detect import canny, depth_order, region_tree
from hyperacuity.detect.order import LEVEL
from hyperacuity.ordering import Sides, neighbours, order_of_pairs
from hyperacuity.ordering.orderings import region_medians
from hyperacuity.ordering.ownership import (
    depth_partition,
    lightness,
    order_along_contours,
    probability_of_ownership,
)
from hyperacuity.regions import (
    Protocol,
    compare,
    hierarchy,
    piecewise_constant,
    prune,
    pruning_path,
    tally,
    ucm_levels,
)


def cpu_ms(work: Callable[[], Any], *, repeats: int = 5) -> float:
    """CPU milliseconds of the fastest of several calls."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times) * 1e3


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


def orders_of(image: np.ndarray) -> dict[str, np.ndarray]:
    """Dense orders of one image: ownership, its variants, and controls that know nothing of depth."""
    light = lightness(image)
    order = probability_of_ownership(image)
    steps = np.zeros_like(light)
    for count in (4, 8, 16, 32):
        for shift in (0.0, 0.5):
            bins = np.floor(light * count + shift)
            steps[:, 1:] += bins[:, 1:] != bins[:, :-1]
            steps[1:] += bins[1:] != bins[:-1]
    rows = np.repeat(np.arange(light.shape[0], dtype=np.float32)[:, np.newaxis], light.shape[1], axis=1)
    return {
        "ownership": order,
        "ownership on the tree": depth_partition(order, region_tree(image), 0.1).order,
        "ownership, |κ|": probability_of_ownership(image, curvature="absolute", smooth=True),
        "ownership without curvature": probability_of_ownership(image, curvature="none"),
        "gradient": np.hypot(*np.gradient(light)),
        "crack density": steps,
        "lower is nearer": rows,
    }


def accuracy(labels: Path, photographs: Path, most: int | None) -> dict[str, dict[str, float]]:
    """B-ACC and R-ACC of each order on people's and on our own segmentations; ties are wrong."""
    by_image: dict[str, list[FigureGround]] = {}
    for one in figure_ground(labels):
        by_image.setdefault(one.image, []).append(one)
    held_out = [name for n, name in enumerate(sorted(by_image)) if n % 3][:most]

    def answers(name: str) -> Iterator[tuple[str, str, list[float]]]:
        image = read_image(photographs / f"{name}.jpg")
        orders = orders_of(image)
        own_regions = region_tree(image).at(LEVEL)
        for one in by_image[name]:
            for regions, reach in ((one.segmentation, 0), (own_regions, 3)):
                beside = neighbours(regions)
                true = order_of_pairs(Sides(one.order), beside, reach=reach)
                asked = np.abs(true) == 1
                for system, order in orders.items():
                    middle = region_medians(np.asarray(order, np.float32), beside.labels)
                    median = np.sign(middle[beside.first] - middle[beside.second])
                    along = order_along_contours(order, beside)
                    for reading, found in (("median", median), ("along", along)):
                        right = (found == true) & asked
                        sums = [(beside.cracks * right).sum(), (beside.cracks * asked).sum(), right.sum(), asked.sum()]
                        yield system, f"{'true' if reach == 0 else 'own'} regions, {reading}", sums

    totals: dict[str, dict[str, np.ndarray]] = {}
    with ThreadPoolExecutor() as pool:
        for found in pool.map(lambda name: list(answers(name)), held_out):
            for system, column, sums in found:
                row = totals.setdefault(system, {})
                row[column] = row.get(column, np.zeros(4)) + sums
    return {
        system: {
            f"{column}, {measure}": float(sums[k] / sums[k + 1])
            for column, sums in row.items()
            for measure, k in (("B-ACC", 0), ("R-ACC", 2))
        }
        for system, row in totals.items()
    }


def main() -> None:
    """Measure, print tables, and write the numbers where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bsds", type=Path, help="folder of BSDS500")
    parser.add_argument("--figure-ground", type=Path, help="figure/ground labels, a folder or the tar.xz")
    parser.add_argument("--images", type=int, help="use no more than this many images")
    parser.add_argument("--json", type=Path, help="file to write the numbers to")
    options = parser.parse_args()
    numbers: dict[str, Any] = {}
    if options.figure_ground:
        numbers["accuracy"] = accuracy(options.figure_ground, options.bsds / "images" / "train", options.images)
        columns = list(next(iter(numbers["accuracy"].values())))
        print("B-ACC / R-ACC  " + " | ".join(dict.fromkeys(column.rpartition(", ")[0] for column in columns)))
        for system, row in numbers["accuracy"].items():
            values = list(row.values())
            print(
                f"{system:30}" + "".join(f"{a:10.3f}/{b:.3f}" for a, b in zip(values[::2], values[1::2], strict=True))
            )
    else:
        numbers["CPU ms"] = speed()
        for name, value in numbers["CPU ms"].items():
            print(f"{name:30}{value:9.1f}")
        if options.bsds:
            numbers["region benchmark"] = region_benchmark(options.bsds, options.images or 20)
            for name, value in numbers["region benchmark"].items():
                print(f"{name:30}{value:9.1f}")
    if options.json:
        options.json.write_text(json.dumps(numbers, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
