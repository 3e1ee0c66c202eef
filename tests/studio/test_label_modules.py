"""The page's own arithmetic, run in Chromium and compared with what others make of the same input."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from scipy import ndimage
from starlette.responses import HTMLResponse
from starlette.routing import Route

from hyperacuity.kernels.thinning import thin
from hyperacuity.studio.label.map import Action, checksum, find_candidates, pixels
from hyperacuity.studio.web import Page

from .labelling import replay

pytestmark = pytest.mark.browser


@pytest.fixture
def javascript(live, visit):
    """``javascript(module, "m => m.toRuns([1])", argument)``: what a function of a module of the page answers."""

    async def nothing(request):
        return HTMLResponse('<!doctype html><link rel="icon" href="data:,">')

    tab = visit(live(Page("Empty", [Route("/", nothing)])).front)

    def run(module, function, argument=None):
        return tab.evaluate(
            f"async (given) => ({function})(await import('/static/label/{module}.js'), given)", argument
        )

    return run


def given(seed, *, shape=(24, 31)):
    """A random image's candidates, and the same as the page gets them."""
    image = ndimage.gaussian_filter(np.random.default_rng(seed).random(shape), 1.5)
    found = find_candidates((255 * image / image.max()).astype(np.uint8))
    height, width = shape
    facts = {"width": width, "height": height, "start": found.start}
    return found, facts | {
        "level": found.level.ravel().tolist(),
        "survives": found.survives.ravel().astype(int).tolist(),
    }


MAP = "const map = new m.EdgeMap({...given, level: Uint16Array.from(given.level), survives: Uint8Array.from(given.survives)});"


def test_both_sides_replay_to_the_same_map(javascript):
    rng = np.random.default_rng(1)
    for seed in range(5):
        found, facts = given(seed)
        actions = []
        for kind in rng.choice(["add", "path", "erase", "chain", "lasso", "threshold"], 12):
            start = int(rng.integers(0, 600))
            runs = () if kind == "threshold" else (start, int(rng.integers(1, 40)), start + 60, 3)
            actions.append(Action(str(kind), runs, int(rng.integers(1, 65536)) if kind == "threshold" else None))
        sent = [{"kind": a.kind, "runs": a.runs, "threshold": a.threshold} for a in actions]
        crcs = javascript(
            "map",
            f"(m, given) => {{ {MAP} for (const a of given.actions) map.act(a); const all = map.checksum();"
            " for (let i = 0; i < 5; i++) map.undo(); const some = map.checksum();"
            " for (let i = 0; i < 5; i++) map.redo();"
            " return [all, some, map.checksum(), map.count, map.edges.reduce((a, b) => a + b)]; }",
            facts | {"actions": sent},
        )
        full, part = replay(found, actions)[0], replay(found, actions[:-5])[0]
        assert crcs == [checksum(full), checksum(part), checksum(full), full.sum(), full.sum()]


def test_the_page_thins_as_the_server_does(javascript):
    rng = np.random.default_rng(2)
    for density in (0.1, 0.3, 0.5, 0.7, 0.95):
        drawn = rng.random((19, 23)) < density
        drawn[:4] = True
        sent = {"edges": drawn.ravel().astype(int).tolist()}
        thinned = javascript("thin", "(m, given) => [...m.thin(Uint8Array.from(given.edges), 23, 19)]", sent)
        assert np.array_equal(np.reshape(thinned, drawn.shape), thin(drawn))


def test_the_live_wire_is_the_cheapest_path(javascript):
    """Against networkx, with the costs that the documentation gives."""
    for seed in range(3):
        found, facts = given(seed)
        height, width = found.level.shape
        levels = np.sort(found.level[found.survives])
        below = (np.searchsorted(levels, found.level, "left") + np.searchsorted(levels, found.level, "right")) / 2
        rank = below / levels.size
        cost = 100 - np.floor(90 * rank + 0.5) + 60 * ~found.survives
        graph = nx.DiGraph()
        for row in range(height):
            for column in range(width):
                for down, right in ((r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)):
                    to = row + down, column + right
                    if 0 <= to[0] < height and 0 <= to[1] < width:
                        graph.add_edge((row, column), to, weight=(7 if down and right else 5) * cost[to])
        ends = [5 * width + 3, 20 * width + 28, 0, 23 * width]
        paths = javascript(
            "wire",
            "async (w, given) => { const m = await import('/static/label/map.js');"
            f"{MAP} const wire = new w.Wire(map); wire.begin(given.ends[0]); return given.ends.map((end) => wire.to(end)); }}",
            facts | {"ends": ends},
        )
        for end, path in zip(ends, paths, strict=True):
            steps = [divmod(pixel, width) for pixel in path]
            assert (path[0], path[-1]) == (ends[0], end)
            spent = sum(graph.edges[a, b]["weight"] for a, b in pairwise(steps))
            assert spent == nx.dijkstra_path_length(graph, divmod(ends[0], width), divmod(end, width))


def test_a_lasso_holds_the_pixels_whose_centres_lie_inside(javascript):
    measure = pytest.importorskip("skimage.measure", reason="needs the package scikit-image")
    rng = np.random.default_rng(3)
    centres = np.stack(np.meshgrid(np.arange(20) + 0.5, np.arange(15) + 0.5), axis=-1).reshape(-1, 2)
    for _ in range(20):
        angles = np.sort(rng.uniform(0, 2 * np.pi, 9))  # a star about the middle does not cross itself
        corners = np.stack([10 + 12 * rng.random(9) * np.cos(angles), 7.5 + 9 * rng.random(9) * np.sin(angles)], axis=1)
        runs = javascript("runs", "(m, given) => m.insideOf(given, 20, 15)", corners.tolist())
        inside = measure.points_in_poly(centres, corners)
        assert pixels(runs).tolist() == np.flatnonzero(inside).tolist()


def test_chains_end_where_edges_meet(javascript):
    drawing = ["..........", ".########.", "....#.....", "....#...#.", "....#..#..", "......#..."]
    edges = np.array([[letter == "#" for letter in line] for line in drawing])
    sent = {"edges": edges.ravel().astype(int).tolist(), "width": 10, "height": 6}

    def found(name, row, column):
        call = f"(m, given) => m.{name}({{...given, edges: Uint8Array.from(given.edges)}}, {row * 10 + column})"
        return sorted(divmod(pixel, 10) for pixel in javascript("chain", call, sent))

    assert found("chain", 1, 1) == [(1, 1), (1, 2), (1, 3)]
    assert found("chain", 1, 8) == [(1, 5), (1, 6), (1, 7), (1, 8)]
    assert found("chain", 4, 4) == [(2, 4), (3, 4), (4, 4)]
    assert found("chain", 1, 4) == [(1, 4)], "the meeting point itself"
    assert found("chain", 5, 6) == [(3, 8), (4, 7), (5, 6)]
    assert found("chain", 0, 0) == []
    whole = ndimage.label(edges, np.ones((3, 3)))[0] == 1
    assert found("connected", 4, 4) == [tuple(pixel) for pixel in np.argwhere(whole)]


def test_runs_are_made_of_pixels_in_any_order(javascript):
    chosen = np.random.default_rng(4).integers(0, 300, 200).tolist()
    runs = javascript("runs", "(m, given) => m.toRuns(given)", chosen)
    assert pixels(runs).tolist() == sorted(set(chosen))
