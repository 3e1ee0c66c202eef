"""How many clicks it takes to label scenes, from the gradient's candidates and from a detector's, until Ψ is the same.

A simulated person uses the page's own tools (its JavaScript, run by node) on eight scenes: lasso, chain, erase and path. They
know the truth only to decide where to click, and do first what mends most per click. Counted are presses of the mouse, a drag
being one, until Ψ is at most 0.05, or what all sources reach; each is tried at several thresholds, and the one with the
fewest clicks counts.

    python benchmarks/label_clicks.py gradient net pb
    python benchmarks/label_clicks.py gradient net pb --unseen
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage

from hyperacuity.data.scenes import make_scene
from hyperacuity.detect import detector
from hyperacuity.edges import psi
from hyperacuity.studio import label as label_package
from hyperacuity.studio.label.map import TOP, EdgeCandidates, find_candidates
from hyperacuity.studio.label.sources import NET_START, _candidates, on_ridges

SEEDS = (1, 3, 8, 11, 12, 13, 14, 15)
"""Scenes on which the settings of the sources were chosen."""
UNSEEN = (21, 22, 23, 24, 25, 26, 27, 28)
"""Scenes on which nothing was chosen."""
SIZE, LEAVES = (240, 160), 12
TARGET = 0.05
POSITIONS = (200, 300, 400, 500, 600)
"""Positions of the threshold's slider that are tried; the level goes with the square."""
EIGHT = np.ones((3, 3), bool)

DRIVER = """
import { createInterface } from "node:readline";
import { EdgeMap } from "./label/map.js";
import { makeTools } from "./label/tools.js";
globalThis.devicePixelRatio = 1;
let map, tools, acted;
const stage = { view: { scale: 4 }, refresh() {} };
const does = {
  open({ width, height, level, survives, start }) {
    map = new EdgeMap({ width, height, start, level: Uint16Array.from(level), survives: Uint8Array.from(survives) });
    tools = makeTools(stage, map, (action) => { acted += 1; map.act(action); }, () => {});
  },
  threshold({ threshold }) { map.act({ kind: "threshold", threshold }); },
  drag({ tool, points, shift }) {
    const at = ([y, x]) => [Math.min(Math.max(Math.floor(y), 0), map.height - 1) * map.width
      + Math.min(Math.max(Math.floor(x), 0), map.width - 1), { point: [x, y], shift }];
    tools[tool].press(...at(points[0]));
    for (const point of points.slice(1)) tools[tool].drag(...at(point));
    tools[tool].release(...at(points.at(-1)));
  },
  end() { tools.path.cancel(); },
};
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  acted = 0;
  does[asked.kind](asked);
  const runs = [];
  for (let p = 0; p < map.edges.length; p++) if (map.edges[p]) runs.push(p);
  console.log(JSON.stringify({ acted, edges: runs }));
}
"""


class Page:
    """The page's tools without the page."""

    def __init__(self, folder: Path) -> None:
        static = Path(label_package.__file__).parents[1] / "static"
        shutil.copytree(static / "label", folder / "label")
        shutil.copy(static / "studio.js", folder)
        (folder / "package.json").write_text('{"type": "module"}')
        (folder / "driver.js").write_text(DRIVER)
        command = ["node", str(folder / "driver.js")]
        self.node = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, kind: str, **values: Any) -> int:
        assert self.node.stdin is not None
        assert self.node.stdout is not None
        self.node.stdin.write(json.dumps({"kind": kind, **values}) + "\n")
        self.node.stdin.flush()
        answer = json.loads(self.node.stdout.readline())
        self.edges.flat[:] = False
        self.edges.flat[answer["edges"]] = True
        return int(answer["acted"])

    def open(self, candidates: EdgeCandidates) -> None:
        height, width = candidates.level.shape
        self.edges = np.zeros((height, width), bool)
        planes = {
            "level": candidates.level.ravel().tolist(),
            "survives": candidates.survives.ravel().astype(int).tolist(),
        }
        self.send("open", width=width, height=height, start=candidates.start, **planes)

    def drag(self, tool: str, *points: Any, shift: bool = False) -> int:
        centres = [(float(row), float(column)) for row, column in points]
        if tool != "lasso":
            centres = [(row + 0.5, column + 0.5) for row, column in centres]
        return self.send("drag", tool=tool, points=centres, shift=shift)


def far_from(edges: Any, distance: float) -> Any:
    """Where the nearest edge is farther away than that."""
    return ndimage.distance_transform_edt(~edges) > distance


def boxes_of_clutter(clutter: Any, near_truth: Any, *, fewest: int) -> list[list[int]]:
    """Rectangles (top, bottom, left, right) that hold clutter and nothing near the truth, those with the most first."""
    clutter, boxes = clutter.copy(), []
    while True:
        best: tuple[int, list[int] | None] = (fewest - 1, None)
        for row, column in np.argwhere(clutter)[::9]:
            box, grown = [int(row), int(row) + 1, int(column), int(column) + 1], True
            while grown:
                grown = False
                for side, step in ((0, -4), (1, 4), (2, -4), (3, 4)):
                    wider = box.copy()
                    wider[side] = int(np.clip(wider[side] + step, 0, clutter.shape[side // 2]))
                    if wider != box and not near_truth[wider[0] : wider[1], wider[2] : wider[3]].any():
                        box, grown = wider, True
            count = int(clutter[box[0] : box[1], box[2] : box[3]].sum())
            best = max(best, (count, box), key=lambda found: found[0])
        if best[1] is None:
            return boxes
        top, bottom, left, right = best[1]
        clutter[top:bottom, left:right] = False
        boxes.append(best[1])


def walk(pixels: set[Any], start: Any) -> list[Any]:
    """The shortest way within a set of pixels from one to that farthest away."""
    came: dict[Any, Any] = {start: None}
    for pixel in (queue := [start]):
        for row, column in ((r, c) for r in (-1, 0, 1) for c in (-1, 0, 1)):
            beside = (pixel[0] + row, pixel[1] + column)
            if beside in pixels and beside not in came:
                came[beside] = pixel
                queue.append(beside)
    way = [queue[-1]]
    while came[way[-1]] is not None:
        way.append(came[way[-1]])
    return way[::-1]


def ways_along(mask: Any, *, step: int, shortest: int) -> list[list[Any]]:
    """Points along each connected piece of a thin mask, from one end to the other, some pixels apart; the longest piece first."""
    pieces, count = ndimage.label(mask, EIGHT)
    ways = []
    for piece in range(1, count + 1):
        pixels = {(int(row), int(column)) for row, column in np.argwhere(pieces == piece)}
        if len(pixels) >= shortest:
            way = walk(pixels, walk(pixels, min(pixels))[-1])
            ways.append([*way[:-1:step], way[-1]])
    return sorted(ways, key=len, reverse=True)


Task = tuple[float, str, list[list[Any]], bool]
"""Pixels that are mended per click, the tool, the points of each press or drag, and whether Shift is held."""


def tasks(edges: Any, truth: Any, near: Any, step: int) -> list[Task]:
    """What is left to do: clutter in boxes, whole pieces of clutter, bits of it, and missing boundaries."""
    clutter, found = edges & ~near, []
    for top, bottom, left, right in boxes_of_clutter(clutter, near, fewest=8):
        corners = [(top, left), (top, right), (bottom, right), (bottom, left), (top, left)]
        found.append((float(clutter[top:bottom, left:right].sum()), "lasso", [corners], False))
        clutter[top:bottom, left:right] = False
    pieces, count = ndimage.label(edges, EIGHT)
    for piece in range(1, count + 1):
        here = pieces == piece
        if not (near & here).any() and (clutter & here).any():
            found.append((float((clutter & here).sum()), "chain", [[np.argwhere(here)[0]]], True))
            clutter &= ~here
    for way in ways_along(clutter, step=1, shortest=1):
        found.append((float(len(way)), "erase", [way], False))
    for way in ways_along(truth & far_from(edges, 1.5), step=step, shortest=3):
        found.append((step * (len(way) - 1) / len(way), "path", [[point] for point in way], False))
    return found


def label(page: Page, candidates: EdgeCandidates, truth: Any, position: int) -> list[float]:
    """Label until Ψ is small enough, or nothing is left to do: Ψ after each click, the first of which sets the threshold."""
    page.open(candidates)
    page.send("threshold", threshold=max(1, round(TOP * (position / 1000) ** 2)))
    near = ~far_from(truth, 1.5)
    scores = [float(psi(truth, page.edges))]
    for step in (10, 5, 5):  # the second time with a closer look
        for _, tool, points, shift in sorted(tasks(page.edges, truth, near, step), key=lambda task: -task[0]):
            if scores[-1] <= TARGET:
                return scores
            for stroke in points:
                page.drag(tool, *stroke, shift=shift)
                scores.append(float(psi(truth, page.edges)))
            page.send("end")
    return scores


def clicks_to(target: float, tries: list[list[float]]) -> int:
    """The fewest clicks after which Ψ is at most the target."""
    return min(
        next(n for n, score in enumerate(scores, 1) if score <= target) for scores in tries if min(scores) <= target
    )


def candidates_of(source: str, image: Any) -> EdgeCandidates:
    """The candidates of a source, as the page has them."""
    if source == "gradient":
        return find_candidates(image)
    seen = detector(source)(image)
    return on_ridges(
        _candidates(seen.soft, seen.thin, start=NET_START if source == "net" else None), find_candidates(image)
    )


def main() -> None:
    """Print the clicks of every scene and source until Ψ is what all sources reach."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sources", nargs="*", default=["gradient", "net"], help="where candidates come from")
    parser.add_argument("--unseen", action="store_true", help="eight other scenes, on which nothing was chosen")
    asked = parser.parse_args()
    sources = asked.sources
    total = dict.fromkeys(sources, 0)
    with tempfile.TemporaryDirectory() as folder:
        page = Page(Path(folder))
        for seed in UNSEEN if asked.unseen else SEEDS:
            scene = make_scene(seed, size=SIZE, leaves=LEAVES)
            tries = {}
            for source in sources:
                found = candidates_of(source, scene.image)
                tries[source] = [label(page, found, scene.boundaries, position) for position in POSITIONS]
            target = max(TARGET, *(min(map(min, one)) for one in tries.values()))
            counts = {source: clicks_to(target, one) for source, one in tries.items()}
            print(
                f"seed {seed}: Ψ {target:.3f}", *(f"{source} {count}" for source, count in counts.items()), flush=True
            )
            total = {source: total[source] + count for source, count in counts.items()}
    print("clicks in all:", *(f"{source} {count}" for source, count in total.items()))


if __name__ == "__main__":
    main()
