"""How large a report of a whole data set is, and how soon it can be read and used: 200 images × 5 systems × 3 tasks.

Run as ``python benchmarks/report_size.py [IMAGES SCENES]`` (default 200 10). Photographs are all different: scenes of 480×320
pixels with noise of their own. Maps are those of ``SCENES`` scenes under many names, and what is computed of one is used
for all of its names, so that the report has its full size after a small part of the work. Boundaries and edges are those of
five detectors at all thresholds; disparities are the true ones with errors that grow from system to system.

Printed are the bytes of the folder, and of the parts that a reader loads; then the seconds after which Chromium, started anew,
shows a page from disk (its first heading is there) and lets it be used (a system is found by search), the median of five.
Needs Chromium and playwright for the latter.
"""

from __future__ import annotations

import functools
import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import ndimage
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import read_image, write_png
from hyperacuity.data.formats.pfm import read_pfm, write_pfm
from hyperacuity.report.sheets.viewer import Viewer
from hyperacuity.run.jobs import TaskJob

DETECTORS = ("canny", "sobel", "masks", "sf5", "hk")
FOLDERS = ("groundTruth", "boundaries", "labels", "order", "disparity", "masks/all", "masks/nonocc", "masks/disc")
OPENINGS = 5


def call(words: str) -> None:
    """Run a command of the package here, so that it uses what is remembered."""
    result = CliRunner().invoke(app, words.split())
    if result.exit_code:
        raise SystemExit(f"hyperacuity {words}\n{result.output}")


def remembered(key: Callable[..., object], work: Callable[..., Any]) -> Callable[..., Any]:
    """``work`` done once for equal keys."""
    known: dict[object, Any] = {}

    @functools.wraps(work)
    def once(*arguments: Any) -> Any:
        which = key(*arguments)
        if which not in known:
            known[which] = work(*arguments)
        return known[which]

    return once


def compute_each_map_once() -> None:
    """Tallies and pictures of a file serve all names that it has."""
    TaskJob.evaluate = remembered(lambda job, cell: (job.task.name, cell.prediction.resolve()), TaskJob.evaluate)

    def picture_key(viewer: Viewer, system: str, image: str, cell: Any, *_: Any) -> object:
        return type(viewer).__name__, system, cell.prediction.resolve()

    setattr(Viewer, "_system", remembered(picture_key, Viewer._system))  # noqa: B010


def make_data(folder: Path, images: int, scenes: int) -> None:
    """``images`` names for the files of ``scenes`` scenes and of five systems; photographs have noise of their own."""
    made, maps = folder / "made", folder / "made-maps"
    call(f"scenes {made} --count {scenes}")
    call(f"detect {made}/images --with {','.join(DETECTORS)} --out {maps}")
    stereo(made / "disparity", folder / "made-stereo")
    originals = sorted((made / "images").iterdir())
    random = np.random.default_rng(0)
    (folder / "data" / "images").mkdir(parents=True)
    shutil.copy(made / "scenes.json", folder / "data")
    sources = [(made / name, folder / "data" / name) for name in FOLDERS]
    sources += [(maps / name, folder / "maps" / name) for name in DETECTORS]
    sources += [(one, folder / "stereo" / one.name) for one in (folder / "made-stereo").iterdir()]
    for number in range(images):
        original = originals[number % scenes]
        noise = random.normal(0, 2, read_image(original).shape)
        noisy = np.clip(read_image(original) + noise, 0, 255).astype(np.uint8)
        write_png(folder / "data" / "images" / f"scene-{number + 1:04d}.png", noisy)
        for source, target in sources:
            target.mkdir(parents=True, exist_ok=True)
            (file,) = source.glob(f"{original.stem}.*")
            (target / f"scene-{number + 1:04d}{file.suffix}").symlink_to(file)


def stereo(truths: Path, out: Path) -> None:
    """Five systems that are wrong by smooth errors of growing size, and leave out ever more pixels."""
    random = np.random.default_rng(1)
    for place in range(5):
        (out / f"stereo-{place + 1}").mkdir(parents=True)
        for path in sorted(truths.iterdir()):
            true = read_pfm(path)
            wrong = ndimage.gaussian_filter(random.normal(0, 1, true.shape), 3) * 8 * (place + 1) / 2
            found = np.where(random.random(true.shape) < 0.01 * place, np.nan, true + wrong)
            write_pfm(out / f"stereo-{place + 1}" / path.name, np.maximum(found, 0.1).astype(np.float32))


def evaluate(folder: Path) -> list[Path]:
    """A run of each task."""
    runs = {task: folder / "runs" / task for task in ("boundary", "edges", "disparity")}
    first, *others = DETECTORS
    more = " ".join(f"--system {folder}/maps/{name}" for name in others)
    of_scenes = f"scenes --data {folder}/data"
    call(f"boundary {folder}/maps/{first} {of_scenes} {more} --run {runs['boundary']}")
    call(f"edges {folder}/maps/{first} {of_scenes} {more} --run {runs['edges']}")
    more = " ".join(f"--system {folder}/stereo/stereo-{n}" for n in range(2, 6))
    call(f"disparity {folder}/stereo/stereo-1 {of_scenes} {more} --run {runs['disparity']}")
    return list(runs.values())


def openings(page: Path) -> tuple[float, float]:
    """Seconds until a page from disk can be read, and until it can be used, in a Chromium that has not seen it."""
    from playwright.sync_api import sync_playwright

    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    read, used = [], []
    with sync_playwright() as driver:
        for _ in range(OPENINGS):
            browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
            tab = browser.new_page(viewport={"width": 1400, "height": 900})
            start = time.perf_counter()
            tab.goto(page.as_uri(), wait_until="commit")
            tab.wait_for_selector("h1")
            read.append(time.perf_counter() - start)
            tab.wait_for_selector("#search")
            tab.evaluate(
                "document.readyState === 'loading' && new Promise((done) => addEventListener('DOMContentLoaded', done))"
            )
            tab.fill("#search", "s")
            tab.wait_for_selector("#found a")
            used.append(time.perf_counter() - start)
            browser.close()
    return statistics.median(read), statistics.median(used)


def main(images: int = 200, scenes: int = 10, keep: str = "") -> None:
    """Make the data, the runs and the report, and measure it; with ``keep``, in this folder, which stays."""
    compute_each_map_once()
    with TemporaryDirectory() as temporary:
        folder = Path(keep or temporary)
        if not (folder / "report" / "index.html").exists():
            make_data(folder, images, scenes)
            runs = " ".join(map(str, evaluate(folder)))
            start = time.process_time()
            call(f"report {runs} --out {folder}/report")
            print(f"report made in {time.process_time() - start:.0f} s of processor time")
        sizes = {path: path.stat().st_size for path in (folder / "report").rglob("*") if path.is_file()}
        print(f"{images} images x 5 systems x 3 tasks: {sum(sizes.values()) / 1e6:.1f} MB in {len(sizes)} files")
        for name in ("index.html", "boundary.html", "edges.html", "disparity.html"):
            page = folder / "report" / name
            read, used = openings(page)
            print(f"{name}: {sizes[page] / 1e6:.2f} MB, read after {read:.2f} s, used after {used:.2f} s")


if __name__ == "__main__":
    main(*(int(word) if word.isdigit() else word for word in sys.argv[1:]))  # type: ignore[arg-type]
