"""The table of mistakes in the docs: each is made again, and the tool has to say what the page says, word for word."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import write_disparity, write_edges, write_soft, write_truths

PAGE = Path(__file__).parents[2] / "docs" / "mistakes.md"
NAMES = ("bear", "goat", "lion")
WIDE = {"COLUMNS": "250"}
TWO_LINES, MOST_LINES = 2 * 120, 10


def drawn(n: int) -> np.ndarray:
    """A ring, each image's of another size."""
    rows, columns = np.mgrid[:60, :80]
    return np.abs(np.hypot(rows - 30, columns - 40) - 12 - 3 * n) < 0.5


def each(change: Callable[[Path, str, int], object]) -> Callable[[], None]:
    """Replace every map of the folder ``maps``."""

    def make() -> None:
        shutil.rmtree("maps")
        Path("maps").mkdir()
        for n, name in enumerate(NAMES):
            change(Path("maps"), name, n)

    return make


def grey(values: np.ndarray, path: Path) -> None:
    Image.fromarray(values).save(path)


def thick(folder: Path, name: str, n: int) -> None:
    rows, columns = np.mgrid[:60, :80]
    away = np.abs(np.hypot(rows - 30, columns - 40) - 12 - 3 * n)
    write_soft(folder / f"{name}.png", np.exp(-away / 6).astype(np.float32))


def truths(change: Callable[[Path, str, int], object]) -> Callable[[], None]:
    def make() -> None:
        shutil.rmtree("truth")
        Path("truth").mkdir()
        for n, name in enumerate(NAMES):
            change(Path("truth"), name, n)

    return make


def many_images() -> None:
    """Twenty of two hundred."""
    for n in range(3, 200):
        write_edges(Path("truth") / f"image{n:03}.png", drawn(n % 4))
        if n < 20:
            write_soft(Path("maps") / f"image{n:03}.png", drawn(n % 4).astype(np.float32))


def bsds_root() -> None:
    for part in ("groundTruth/test", "images/test"):
        Path(f"BSDS500/data/{part}").mkdir(parents=True)
    write_truths(Path("BSDS500/data/groundTruth/test/bear.mat"), [np.ones((60, 80), np.int32)], [drawn(0)])
    Image.new("RGB", (80, 60)).save("BSDS500/data/images/test/bear.jpg")


def two_protocols() -> None:
    for tolerance in ("0.0075", "0.02"):
        run(f"hyperacuity boundary maps truth --tolerance {tolerance} --run runs")


def older_run() -> None:
    """A run that was made before runs kept their protocol."""
    run("hyperacuity boundary maps truth --run runs")
    with closing(sqlite3.connect("runs/run.sqlite")) as store, store:
        ((about,),) = store.execute("SELECT about FROM runs")
        store.execute("UPDATE runs SET about = ?", [json.dumps(json.loads(about) | {"job": {}})])


def disparities(values: Callable[[np.ndarray], np.ndarray], file: str) -> Callable[[], None]:
    """A plane that comes nearer from left to right, and a map of it."""

    def make() -> None:
        plane = np.tile(np.linspace(4, 40, 80, dtype=np.float32), (60, 1))
        write_disparity(Path("truth.pfm"), plane)
        path = Path(file)
        if path.suffix == ".npy":
            np.save(path, values(plane))
        else:
            grey(values(plane).astype(np.uint8), path)

    return make


def holes(plane: np.ndarray) -> np.ndarray:
    return np.where(np.arange(80) % 8 == 0, 0, plane)


def nothing() -> None:
    """The mistake is in the call."""


MADE: dict[str, Callable[[], object]] = {
    "named a folder that is not there": nothing,
    "named an empty folder": lambda: Path("empty").mkdir(),
    "used another data set's truths": truths(lambda f, name, n: write_edges(f / f"{1000 + n}.png", drawn(n))),
    "named the root of BSDS500": bsds_root,
    "misspelled a data set": nothing,
    "have the data set somewhere else": nothing,
    "asked for a part of a plain folder": nothing,
    "gave a file for a folder": nothing,
    "saved maps as NAME_pred.png": each(
        lambda f, name, n: write_soft(f / f"{name}_pred.png", drawn(n).astype(np.float32))
    ),
    "have two files for each image": lambda: [
        np.save(f"maps/{name}.npy", drawn(n) * 0.9) for n, name in enumerate(NAMES)
    ],
    "ran a tenth of the images": many_images,
    "want that to be an error": many_images,
    "have maps of images without truth": lambda: shutil.copy("maps/bear.png", "maps/zebra.png"),
    "saved edges black on white": each(
        lambda f, name, n: write_soft(f / f"{name}.png", 1 - drawn(n).astype(np.float32))
    ),
    "have truths black on white": truths(lambda f, name, n: write_edges(f / f"{name}.png", ~drawn(n))),
    "saved logits": each(lambda f, name, n: np.save(f / f"{name}.npy", drawn(n) * 9.0 - 4)),
    "saved floats from 0 to 255": each(lambda f, name, n: np.save(f / f"{name}.npy", drawn(n) * 255.0)),
    "saved 0 and 1 as PNG": each(lambda f, name, n: grey(drawn(n).astype(np.uint8), f / f"{name}.png")),
    "saved maps with NaN": each(lambda f, name, n: np.save(f / f"{name}.npy", np.where(drawn(n), 0.9, np.nan))),
    "saved nothing but zeros": each(lambda f, name, n: write_soft(f / f"{name}.png", np.zeros((60, 80), np.float32))),
    "saved tensors with torch.save": each(lambda f, name, n: (f / f"{name}.pt").write_bytes(b"\x80\x02}q\x00.")),
    "have an incomplete download": lambda: Path("maps/goat.png").write_bytes(Path("maps/goat.png").read_bytes()[:60]),
    "cut off a pixel": each(lambda f, name, n: write_soft(f / f"{name}.png", drawn(n)[:-1].astype(np.float32))),
    "swapped width and height": each(lambda f, name, n: write_soft(f / f"{name}.png", drawn(n).T.astype(np.float32))),
    "have truths in JPEG": truths(lambda f, name, n: grey(drawn(n).astype(np.uint8) * 255, f / f"{name}.jpg")),
    "have truths in colour": truths(
        lambda f, name, n: grey(
            np.stack([drawn(n) * 255, drawn(n) * 0, drawn(n) * 90], 2).astype(np.uint8), f / f"{name}.png"
        )
    ),
    "did not suppress non-maxima": each(thick),
    "gave the tolerance in pixels": nothing,
    "misspelled a protocol": nothing,
    "gave two systems the same name": nothing,
    "compared scores of two protocols": two_protocols,
    "reported a folder without a run": nothing,
    "have something else in the run folder": lambda: (
        Path("runs").mkdir() or Path("runs/run.sqlite").write_text("not a run")
    ),
    "reported a run of an older version": older_run,
    "saved holes of disparity as 0": disparities(holes, "map.npy"),
    "saved disparities in 8 bits": disparities(lambda plane: plane * 4, "map.png"),
    "passed soft maps as segmentations": each(thick),
}


def run(command: str) -> tuple[int, list[str]]:
    """The exit status of a command and what it says besides results and progress."""
    program, *words = shlex.split(command)
    assert program == "hyperacuity"
    done = CliRunner().invoke(app, words, env=WIDE)
    said = [line for line in done.stderr.splitlines() if not re.match(r"\w+: \d+ of \d+ cells|compiling kernels", line)]
    said += [line for line in done.stdout.splitlines() if "look thick" in line]
    return done.exit_code, said


def rows() -> dict[str, tuple[str, str, list[str]]]:
    """The page's table: what you did, the command, the exit status and the message."""
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 4 and cells[0] in MADE:
            found[cells[0]] = (cells[1].strip("`"), cells[2], re.findall(r"`([^`]*)`", cells[3]))
    return found


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Three images with truths and good maps."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HYPERACUITY_DATA", raising=False)
    for folder in ("maps", "truth", "other"):
        Path(folder).mkdir()
    for n, name in enumerate(NAMES):
        write_edges(Path("truth") / f"{name}.png", drawn(n))
        for folder in ("maps", "other"):
            write_soft(Path(folder) / f"{name}.png", drawn(n).astype(np.float32) * 0.9)


def test_the_page_has_every_mistake():
    assert list(rows()) == list(MADE)
    assert len(MADE) >= 30


@pytest.mark.parametrize("mistake", MADE)
def test_the_tool_says_what_the_page_says(world, mistake):
    command, status, told = rows()[mistake]
    MADE[mistake]()
    exit_status, said = run(command)
    assert (sorted(said), str(exit_status)) == (sorted(told), status)  # threads read files in any order
    assert len(said) <= MOST_LINES
    assert max(map(len, said), default=0) <= TWO_LINES


if __name__ == "__main__":  # prints the table, for whoever adds a row
    import os
    import tempfile

    COMMANDS = {mistake: command for mistake, (command, _, _) in rows().items()}
    for mistake, make in MADE.items():
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            for name in ("maps", "truth", "other"):
                Path(name).mkdir()
            for n, name in enumerate(NAMES):
                write_edges(Path("truth") / f"{name}.png", drawn(n))
                for place in ("maps", "other"):
                    write_soft(Path(place) / f"{name}.png", drawn(n).astype(np.float32) * 0.9)
            make()
            status, said = run(COMMANDS[mistake])
            told = "<br>".join(f"`{line}`" for line in said) or "nothing; it works"
            print(f"| {mistake} | `{COMMANDS[mistake]}` | {status} | {told} |")
