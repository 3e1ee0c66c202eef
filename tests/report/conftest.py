"""Small runs of the boundary benchmark to report on: photographs, three annotators, systems that see more or less well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from hyperacuity.boundary import Protocol
from hyperacuity.cli.boundary import BoundaryJob
from hyperacuity.data import write_edges, write_png, write_soft
from hyperacuity.run import Cell, open_store, run_grid

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
        job = BoundaryJob(protocol or Protocol(tolerance=0.02, thresholds=19))
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
