"""Noise-free scenes: what can ownership, T-junctions and convexity tell, and why not more?

    python benchmarks/plain_scenes.py [--scenes N] [--piles N] [--lessons N] [--json FILE]

Three worlds without noise: piles of evenly bright discs; the package's scenes with each sheet painted in one tone; and the same
scenes as rendered, without noise, blur, relief and shadow. Told is the share of boundary length whose nearer side is right, ties
wrong. Settings of ownership were looked at on piles 50 – 59 and scenes 101 – 108 only; the numbers are of piles from 100 and
scenes from 301. The outline cues are learned from painted scenes from 401, whose regions and order are given to them: what they
reach is a ceiling for shape.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hyperacuity.data.scenes import make_scene
from hyperacuity.data.scenes.dice import Dice
from hyperacuity.data.scenes.world import make_world
from hyperacuity.detect.depth.cue_model import CueLesson, CueWeights, learn_set
from hyperacuity.detect.depth.cues import crack_pairs, pair_cues
from hyperacuity.detect.depth.ownership import order_along_contours, probability_of_ownership
from hyperacuity.kernels.pieces import label_pieces
from hyperacuity.ordering import Neighbours, neighbours
from hyperacuity.ordering.orderings import region_medians

EXACT = {"intervals": (256,), "shifts": 1}
"""So fine that the components are the visible parts of sheets themselves."""

SETTINGS: dict[str, dict[str, Any]] = {
    "ownership, default": {},
    "κ < 0": {"curvature": "concave", "smooth": True},
    "|κ|": {"curvature": "absolute", "smooth": True},
    "|κ|, c = 16": {"curvature": "absolute", "smooth": True, "bend": 16.0},
    "κ < 0, exact components": {"curvature": "concave", "smooth": True, **EXACT},
    "|κ|, exact components": {"curvature": "absolute", "smooth": True, **EXACT},
}
OUTLINE = {
    "convexity": ("convexity",),
    "T-junctions": ("junctions",),
    "T-junctions and convexity": ("junctions", "convexity"),
    "all of the outline": ("junctions", "convexity", "size", "surround", "shape"),
}


@dataclass(frozen=True, eq=False)
class World:
    """An image, its pairs of regions, the depth of each region, the true sign of each pair, and the kind of its front sheet."""

    image: np.ndarray
    beside: Neighbours
    depth: np.ndarray
    front: np.ndarray
    kinds: list[str]


def world(image: np.ndarray, labels: np.ndarray, rank: np.ndarray, names: list[str]) -> World:
    """Put together what is known."""
    beside = neighbours(labels)
    depth = np.zeros(beside.labels.max() + 1, int)
    depth[beside.labels] = rank
    nearer = np.maximum(depth[beside.first], depth[beside.second])
    front = np.sign(depth[beside.first] - depth[beside.second])
    return World(image, beside, depth, front, [names[n] for n in nearer])


def pile(seed: int, count: int = 8, size: tuple[int, int] = (160, 240)) -> World:
    """A pile of discs, each evenly bright."""
    dice = np.random.default_rng(seed)
    height, width = size
    y, x = np.mgrid[:height, :width]
    rank = np.zeros(size, np.int32)
    for n in range(1, count + 1):
        radius = dice.uniform(0.12, 0.3) * height
        rank[np.hypot(y - dice.uniform(0, height), x - dice.uniform(0, width)) < radius] = n
    bright = dice.permutation(np.linspace(0.02, 0.98, count + 1))
    return world(bright[rank], label_pieces(rank), rank, ["disc"] * (count + 1))


def scene(seed: int, *, painted: bool) -> World:
    """A scene without noise, its sheets painted flat or as rendered."""
    made = make_scene(seed, noise=0, blur=0, texture=0, shadow=0)
    height, width = made.labels.shape
    sheets = make_world(
        Dice(seed, 0), size=(width, height), leaves=32, smallest=0.05, largest=0.34, disparities=(1.0, 20.0)
    ).sheets
    tones = np.random.default_rng(seed).permutation(np.linspace(0.02, 0.98, len(sheets)))
    image = tones[made.objects] if painted else made.image
    return world(image, made.labels, made.objects, [sheet.kind for sheet in sheets])


def junction_class(one: World) -> np.ndarray:
    """Per pair: 0 where it is the bar of a T somewhere, 1 where it is only ever the stem, 2 where it meets no third region."""
    labels = one.beside.labels
    right, below = crack_pairs(one.beside)
    around = np.stack([labels[:-1, :-1], labels[:-1, 1:], labels[1:, :-1], labels[1:, 1:]], axis=-1)
    pairs = np.stack([right[:-1, :-1], right[1:, :-1], below[:-1, :-1], below[:-1, 1:]], axis=-1)
    kind = np.full(one.beside.count, 2)
    for y, x in np.argwhere((pairs >= 0).sum(axis=-1) >= 3):
        regions = set(around[y, x].tolist())
        if len(regions) < 3:
            continue
        for p in set(pairs[y, x].tolist()) - {-1}:
            a, b = int(one.beside.first[p]), int(one.beside.second[p])
            bar = all(one.depth[c] < max(one.depth[a], one.depth[b]) for c in regions - {a, b})
            kind[p] = 0 if bar else min(kind[p], 1)
    return kind


def answers(one: World, options: dict[str, Any]) -> Iterator[tuple[str, np.ndarray]]:
    """What ownership says, read in both ways."""
    order = probability_of_ownership(one.image, **options)
    middle = region_medians(order, one.beside.labels)
    yield "median", np.sign(middle[one.beside.first] - middle[one.beside.second])
    yield "along", order_along_contours(order, one.beside)


class Shares(dict[Any, np.ndarray]):
    """Right length and length by key."""

    def add(self, key: Any, one: World, said: np.ndarray, where: np.ndarray | bool = True) -> None:
        """Count an answer."""
        length = one.beside.cracks * where
        self[key] = self.get(key, np.zeros(2)) + np.array([(length * (said == one.front)).sum(), length.sum()])

    def table(self) -> dict[str, dict[str, Any]]:
        """Rows and columns of shares."""
        rows: dict[str, dict[str, Any]] = defaultdict(dict)
        for (row, column), (right, length) in self.items():
            rows[row][column] = round(float(right / length), 3) if length else None
        return dict(rows)


def measure(piles: int, scenes: int, lessons: int) -> dict[str, Any]:
    """All tables."""
    overall, shapes, junctions = Shares(), Shares(), Shares()
    lengths = np.zeros(3)
    learned: dict[str, CueWeights] = {}
    groups = OUTLINE["all of the outline"]
    taught = []
    for seed in range(401, 401 + lessons):
        one = scene(seed, painted=True)
        taught.append(CueLesson(pair_cues(one.image, one.beside.labels, groups=groups), one.front.astype(np.int64)))
    if taught:
        learned = {name: learn_set(taught, which) for name, which in OUTLINE.items()}
    for seed in range(100, 100 + piles):
        one = pile(seed)
        for name, options in SETTINGS.items():
            for reading, said in answers(one, options):
                overall.add((name, f"discs, {reading}"), one, said)
    for seed in range(301, 301 + scenes):
        for kind, painted in (("painted", True), ("rendered", False)):
            one = scene(seed, painted=painted)
            for name, options in SETTINGS.items():
                if not painted and "exact" in name:
                    continue
                for reading, said in answers(one, options):
                    overall.add((name, f"{kind}, {reading}"), one, said)
                    if painted and name == "|κ|, exact components" and reading == "along":
                        classes = junction_class(one)
                        for sheet in set(one.kinds):
                            shapes.add((sheet, "|κ|"), one, said, np.array(one.kinds) == sheet)
                        for n in range(3):
                            junctions.add((name, n), one, said, classes == n)
                            lengths[n] += (one.beside.cracks * (classes == n)).sum()
            if painted and learned:
                cues = pair_cues(one.image, one.beside.labels, groups=groups)
                for name, weights in learned.items():
                    said = np.sign(weights.scores(cues))
                    overall.add((f"learned: {name}", "painted, along"), one, said)
                    for n in range(3):
                        junctions.add((f"learned: {name}", n), one, said, classes == n)
    return {
        "right": overall.table(),
        "by shape of the front sheet": shapes.table(),
        "length of boundary by shape": {kind: float(length) for (kind, _), (_, length) in shapes.items()},
        "by junctions (bar of a T, stem only, none)": junctions.table(),
        "share of boundary by junctions": (lengths / max(lengths.sum(), 1)).round(3).tolist(),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenes", type=int, default=12)
    parser.add_argument("--piles", type=int, default=20)
    parser.add_argument("--lessons", type=int, default=30)
    parser.add_argument("--json", type=Path, help="file to write the numbers to")
    options = parser.parse_args()
    numbers = measure(options.piles, options.scenes, options.lessons)
    for title, table in numbers.items():
        print(f"\n{title}")
        for row, value in table.items() if isinstance(table, dict) else [("", table)]:
            print(f"  {row:32} {value}")
    if options.json:
        options.json.write_text(json.dumps(numbers, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
