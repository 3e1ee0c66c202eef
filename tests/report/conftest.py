"""Small runs of the boundary benchmark to report on: photographs, three annotators, systems that see more or less well."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.boundary import Protocol
from hyperacuity.cli import app
from hyperacuity.data import write_edges, write_png, write_soft
from hyperacuity.kinds.contours import ContourKind
from hyperacuity.ordering import contours, ordering
from hyperacuity.run import Cell, open_store, run_grid
from hyperacuity.run.jobs import job_for
from hyperacuity.tasks import task

HEIGHT, WIDTH = 48, 64


def draw(folder: Path, image: int) -> tuple[list[Path], Path, np.ndarray]:
    """An image's truths by three annotators, its photograph, and the map of an ideal system."""
    rng = np.random.default_rng(image)
    outline = np.zeros((HEIGHT, WIDTH), bool)
    top, left = 6 + image % 5, 8 + image % 7
    outline[top : top + 26, [left, left + 30]] = True
    outline[[top, top + 25], left : left + 31] = True
    detail = np.zeros_like(outline)
    detail[top + 12, left : left + 31] = True
    truths = []
    for person, drawn in enumerate((outline, outline | detail, np.roll(outline, 1, axis=1))):
        path = folder / "truth" / str(person) / f"image-{image}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_edges(path, drawn)
        truths.append(path)
    picture = folder / "photos" / f"image-{image}.png"
    picture.parent.mkdir(exist_ok=True)
    write_png(picture, (rng.random((HEIGHT, WIDTH, 3)) * 80 + 120 * outline[..., None]).astype(np.uint8))
    return truths, picture, (outline * 0.8 + detail * 0.5).clip(0, 1).astype(np.float32)


@pytest.fixture(scope="session")
def make_run(tmp_path_factory) -> Callable[..., Path]:
    """Make a run folder. Systems differ by noise: the first sees best. ``broken`` are (system, image) whose file is bad."""

    def make(
        systems: Sequence[str] = ("good", "fair", "poor"),
        images: Sequence[str] | int = 4,
        *,
        broken: Sequence[tuple[int, int]] = (),
        protocol: Protocol | None = None,
        pictured: bool = True,
        noise: float = 0.08,
    ) -> Path:
        folder = tmp_path_factory.mktemp("run")
        names = [f"image-{n}" for n in range(images)] if isinstance(images, int) else list(images)
        cells = []
        drawn = [draw(folder, number) for number in range(len(names))]
        for place, system in enumerate(systems):
            (folder / str(place)).mkdir()
            rng = np.random.default_rng(place)
            for number, name in enumerate(names):
                truths, picture, ideal = drawn[number]
                path = folder / str(place) / f"{number}.png"
                if (place, number) in broken:
                    path.write_bytes(b"no picture")
                else:
                    weak = rng.random(ideal.shape) < noise * (place + 1)
                    write_soft(path, np.maximum(ideal, weak * rng.random(ideal.shape) * 0.9).astype(np.float32))
                cells.append(Cell(system, name, path, tuple(truths), picture=picture if pictured else None))
        job = job_for(task("boundary"), protocol or Protocol(tolerance=0.02, thresholds=19), ContourKind())
        with open_store(folder / "run") as store:
            run_grid(job, cells, store=store, progress=False)
        return folder / "run"

    return make


@pytest.fixture(scope="session")
def plain_run(make_run) -> Path:
    """Three systems on four images, nothing wrong."""
    return make_run()


NASTY = (
    "</script><script>boom()</script>",
    "<img src=x onerror=boom()>",
    "\"' onmouseover='boom()' & {{ 7*7 }} ${boom()}",
    "$\\frac{a_b}{50%}$ | #1 ~ **bold** [x](http://example.org)",
)


@pytest.fixture(scope="session")
def nasty_run(make_run) -> Path:
    """Systems and images whose names are full of markup, in which one cell failed."""
    return make_run(NASTY, [f"{name} 図 {n}" for n, name in enumerate(NASTY)], broken=[(1, 2)])


@pytest.fixture(scope="session")
def world(made_once) -> Path:
    """Two small scenes, two detectors, and a run of each benchmark that has a page."""
    return made_once("world-of-reports", fill_world)


def fill_world(folder: Path) -> None:
    scenes, maps = folder / "scenes", folder / "maps"
    both = f"--system {maps}/canny --system {maps}/sobel"
    for words in (
        f"scenes {scenes} --count 2 --size 96x64 --leaves 6",
        f"detect {scenes}/images --with canny,sobel --out {maps}",
        f"audit {scenes}/groundTruth {both} --thresholds 9 --partial 2 --run {folder}/audit",
        f"edges {maps}/canny scenes --data {scenes} --system {maps}/sobel --measures psi,fom --run {folder}/edges",
        f"regions {scenes}/labels {scenes}/groundTruth --run {folder}/regions",
        f"regions {maps}/canny {scenes}/groundTruth --as soft --run {folder}/soft-regions",
        f"masks {scenes}/labels {scenes}/labels --by instance --run {folder}/masks",
        f"ordering {scenes}/order {scenes} --run {folder}/ordering",
        f"semantic truth {scenes}/labels --out {folder}/class-edges",
        f"semantic {folder}/class-edges {scenes}/labels --thresholds 3 --run {folder}/semantic",
        f"disparity {scenes}/disparity scenes --data {scenes} --views --run {folder}/disparity",
        f"ordering dbe {scenes}/disparity {scenes} --run {folder}/dbe",
    ):
        result = CliRunner().invoke(app, words.split())
        assert result.exit_code == 0, (words, result.output)
    (folder / "owned").mkdir()
    for path in sorted((scenes / "order").iterdir()):
        found = contours(ordering(np.load(path)))
        np.save(folder / "owned" / path.name, np.stack([found.pixels, np.nan_to_num(found.angle)]))
    pairs = ["image,x1,y1,x2,y2,nearer", *(f"scene-000{n},1,1,90,60,{way}" for n in (1, 2) for way in "1=2")]
    (folder / "pairs.csv").write_text("\n".join(pairs))
    for words in (
        f"ordering occlusion {folder}/owned {scenes} --nms none --thresholds 9 --run {folder}/occlusion",
        f"ordering whdr {scenes}/order {folder}/pairs.csv --images {scenes}/images --run {folder}/whdr",
    ):
        result = CliRunner().invoke(app, words.split())
        assert result.exit_code == 0, (words, result.output)


TASKS = ("audit", "edges", "regions", "soft-regions", "masks", "ordering", "disparity", "semantic")


@pytest.fixture(scope="session")
def every_run(world, plain_run) -> list[Path]:
    """A run of everything that has a page."""
    return [plain_run, *(world / task for task in TASKS)]


BOOM = "() => { window.boomed = 0; window.boom = () => { window.boomed += 1; }; }"


@pytest.fixture
def visit(new_tab):
    """Open a page; when the test ends, nothing may have been complained about and nothing asked of any server.

    (The browser's advice on reading canvases back is for the tests themselves, which do; the page does not. And that a
    heading does not get the focus because something has it already is no fault: it depends on which is drawn first.)
    """

    def go(page: Path, *, anchor: str = "", **options):
        tab = new_tab(
            harmless=("willReadFrequently", "Autofocus processing was blocked"), script=f"({BOOM})()", **options
        )
        tab.goto(page.as_uri() + anchor)
        tab.wait_for_selector(".plot svg.marks, #front:not([hidden]) .card")
        return tab

    return go


FIELDS = {"where", "many", "into", "when"}


@pytest.fixture(scope="session")
def unpacked() -> Callable[..., np.ndarray]:
    """A layer as pictures again."""

    def unpack(layer, shape):
        """As the page's script does it, byte by byte."""
        streams = {name: list(zlib.decompress(base64.b64decode(layer[name]))) for name in layer.keys() & FIELDS}
        size = shape[-2] * shape[-1]
        places = [at for at in range(size) if streams["where"][at >> 3] & (128 >> (at & 7))]
        if layer["kind"] == "strength":
            found = np.zeros(size, np.uint8)
            found[places] = streams["many"]
            return found.reshape(shape)
        into = iter(streams["into"])
        changes = []
        state, going = [0] * len(places), []
        for pixel in range(len(places)):
            first, second = divmod(next(into), 4)
            changes.append((pixel, 0, first))
            state[pixel] = first
            going.append((pixel, second))
        while going := [(pixel, target) for pixel, target in going if target != state[pixel]]:
            for pixel, target in going:
                changes.append((pixel, state[pixel], target))
                state[pixel] = target
            going = [(pixel, next(into)) for pixel, _ in going]
        assert next(into, None) is None
        when = iter(streams["when"])
        times = {}
        for kind in [(source, target) for source in range(4) for target in range(4)]:
            times.update({n: next(when) for n, change in enumerate(changes) if change[1:] == kind})
        assert next(when, None) is None
        found = np.zeros((layer["count"], size), np.uint8)
        for n, (pixel, _, target) in enumerate(changes):
            found[times[n] :, places[pixel]] = target
        return found[::-1].reshape(shape)

    return unpack
