"""The documentation's pictures of report, watch and board, taken in Chromium.

Run as ``python scripts/screenshots.py DEMO [OUT]``: DEMO is a folder that ``hyperacuity demo`` has filled, or fills now; OUT is
``docs/images`` by default. The board is of the cards that the package ships; the page over time is of a system that learns on
scenes, as in ``docs/watch.md``. The front page is taken on a desk, in the dark and on a phone; look at each before you commit it.
Needs playwright, and a Chromium on the path or named by ``CHROMIUM``.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

ROOT = Path(__file__).parents[1]
DESK, PHONE = (1400, 900), (390, 844)
CARDS = ROOT / "src" / "hyperacuity" / "cards" / "shipped"


def call(*words: object, folder: Path | None = None) -> None:
    subprocess.run([sys.executable, "-m", "hyperacuity", *map(str, words)], check=True, cwd=folder)  # noqa: S603


def learned(folder: Path) -> Path:
    """The run of the job in ``docs/watch.md``, with Canny beside it."""
    page = (ROOT / "docs" / "watch.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```python\n(# learn\.py.*?)```", page, re.DOTALL)
    (folder / "learn.py").write_text(script, encoding="utf-8")
    call("scenes", "scenes", "--size", "240x160", folder=folder)
    call("detect", "scenes/images", "--with", "canny", "--out", "maps", folder=folder)
    call("boundary", "maps/canny", "scenes/groundTruth", "--protocol", "biped", "--run", "run", folder=folder)
    subprocess.run([sys.executable, "learn.py"], check=True, cwd=folder)
    return folder / "run"


class Camera:
    """Opens pages and writes what is seen."""

    def __init__(self, browser: Any, out: Path) -> None:
        self.browser, self.out = browser, out

    def take(
        self,
        page: Path,
        name: str,
        *,
        size: tuple[int, int] = DESK,
        dark: bool = False,
        before: Callable[[Any], object] = lambda tab: None,
        most: int = 1800,
        until: str = "",
    ) -> None:
        """A page from its top to its end, to ``until`` or to ``most`` pixels, after ``before`` has done something to it."""
        scheme = "dark" if dark else "light"
        tab = self.browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
        tab.goto(page.as_uri())
        for chart in tab.locator(".plot:visible").all():  # the board's policy evaluates no condition in words
            chart.locator("svg.marks").wait_for(state="attached")
        before(tab)
        tab.wait_for_timeout(500)
        end = "document.documentElement.scrollHeight"
        if until:
            end = f"document.querySelector('{until}').getBoundingClientRect().top + scrollY"
        tall = int(min(most, tab.evaluate(end)))
        tab.set_viewport_size({"width": size[0], "height": tall if until else max(size[1], tall)})
        tab.wait_for_timeout(500)
        seen = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
        tab.close()
        path = self.out / name
        if path.suffix == ".png":
            seen.quantize(128).save(path, optimize=True)
        else:
            seen.save(path, quality=82)
        print(f"{path}: {seen.width} x {seen.height}, {path.stat().st_size // 1024} kB")


def looked_into(tab: Any) -> None:
    """The first image of a page is open, two systems side by side."""
    tab.locator(".images a").first.click()
    tab.wait_for_selector(".pane[data-painted]")


def main(demo: Path, out: Path = ROOT / "docs" / "images") -> None:
    """Take all pictures."""
    from playwright.sync_api import sync_playwright

    if not (demo / "report" / "index.html").exists():
        call("demo", demo)
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with TemporaryDirectory() as temporary, sync_playwright() as driver:
        folder = Path(temporary)
        call("board", *sorted(CARDS.glob("bsds500-*.card")), "--out", folder / "site")
        run = learned(folder)
        call("watch", run, "--human", "--once", "--out", folder / "watch.html")
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        camera = Camera(browser, out)
        front, task = demo / "report" / "index.html", demo / "report" / "boundary.html"
        camera.take(front, "report-front.jpg", until="#reproduce")  # which names folders of this machine
        camera.take(front, "report-front-dark.jpg", dark=True, until="#reproduce")
        camera.take(task, "report-phone.jpg", size=PHONE, most=1500)
        camera.take(task, "report-task.jpg", most=1100)
        camera.take(task, "report-viewer.jpg", before=looked_into, most=900)
        camera.take(folder / "watch.html", "watch.png")
        board = max(
            (folder / "site" / "boards").glob("*.html"),
            key=lambda path: path.stat().st_size * (not path.stem.endswith("-images")),
        )
        camera.take(board, "board.jpg", most=1450)
        browser.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
