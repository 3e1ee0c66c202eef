"""Make the studio's pictures of the documentation: `python scripts/studio_pictures.py [NAME …]`, such as `label order`.

Each page is served over made scenes, used in Chromium as people would, and photographed into docs/images. Needs the extras
`studio` and `see`, playwright, and a Chromium (`CHROMIUM` names one, or it is on the path).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, sync_playwright
from playwright.sync_api import Page as Tab
from scipy import ndimage

from hyperacuity.data import read_boundary_truths, read_image
from hyperacuity.data.scenes import make_scene, name_of, write_scenes
from hyperacuity.studio import actions, people
from hyperacuity.studio.choose.page import ChoosePage
from hyperacuity.studio.choose.plan import SCHEMA as CHOOSE
from hyperacuity.studio.choose.plan import Design
from hyperacuity.studio.choose.session import Session
from hyperacuity.studio.choose.trials import load_study
from hyperacuity.studio.items import item_id, items_of
from hyperacuity.studio.label.map import GRADIENT, Action, find_candidates, replay_sources
from hyperacuity.studio.label.page import LabelPage
from hyperacuity.studio.order.page import OrderPage
from hyperacuity.studio.order.regions import find_inputs
from hyperacuity.studio.server import Address, prepared
from hyperacuity.studio.state import State
from hyperacuity.studio.web import Page

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SEEDS = (3, 4, 7)
SIZE, LEAVES = (480, 320), 7
COARSE = 0.45
"""The level of the network's regions: few enough to be seen."""
WORKERS = {"Ada": (3, 0), "Bea": (2, 1), "Cid": (1, 2)}
"""Who labels how many scenes, and whose boundaries they see there."""


class Studio:
    """A folder of scenes, and a browser to look at pages about them."""

    def __init__(self, folder: Path, browser: Browser) -> None:
        self.folder, self.browser = folder, browser
        self.images = folder / "scenes" / "images"
        write_scenes(folder / "scenes", SEEDS, size=SIZE, leaves=LEAVES)

    @contextmanager
    def served(self, page: Page) -> Iterator[Address]:
        """The page on a free port."""
        with prepared(page, token=None) as (server, listening, address):
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
            thread.start()
            try:
                yield address
            finally:
                server.should_exit = True
                thread.join()

    def tab(self, address: str, *, width: int = 1280, height: int = 800, name: str = "") -> Tab:
        """A new person's tab; they say who they are where they are asked."""
        tab = self.browser.new_context(viewport={"width": width, "height": height}, color_scheme="light").new_page()
        tab.set_default_timeout(180_000)
        tab.goto(address)
        if name:
            tab.fill("#name", name)
            tab.click("button:text-is('Start')")
        return tab


def save(name: str, tab: Tab, *, whole: bool = False) -> None:
    """A picture of a tab, or of all that can be scrolled to."""
    tab.wait_for_timeout(500)
    with Image.open(BytesIO(tab.screenshot(full_page=whole))) as taken:
        taken.convert("RGB").save(IMAGES / f"studio-{name}.jpg", quality=88, optimize=True)
    print(IMAGES / f"studio-{name}.jpg", flush=True)


def press(tab: Tab, *keys: str) -> None:
    """Press keys, one after another."""
    for key in keys:
        tab.keyboard.press(key)


def label(studio: Studio) -> None:
    """An image half labelled, with the magnifier."""
    with labels(studio) as page, studio.served(page.page) as address:
        tab = studio.tab(f"{address.base}/image/{item_id(name_of(4))}", name="Dot")
        tab.wait_for_selector("#stage[data-ready]")
        tab.fill("#threshold", "800")
        tab.fill("#edge-width", "2")
        box = tab.locator("#stage").bounding_box() or {}
        scale = min(box["width"] / SIZE[0], box["height"] / SIZE[1]) * 0.97
        left, top = box["x"] + (box["width"] - scale * SIZE[0]) / 2, box["y"] + (box["height"] - scale * SIZE[1]) / 2
        points = [(left + scale * (x + 0.5), top + scale * (y + 0.5)) for y, x in longest_border(4)]
        press(tab, "g", "p")
        for point in points[:-1]:
            tab.mouse.click(*point)
        tab.mouse.move(*points[-1])
        save("label", tab)


def longest_border(seed: int) -> list[tuple[int, int]]:
    """A few points along the border between two regions of a scene that touch most."""
    labels = make_scene(seed, size=SIZE, leaves=LEAVES).labels
    beside = np.stack([labels[:-1], labels[1:]], axis=-1).reshape(-1, 2)
    pairs, counts = np.unique(np.sort(beside[beside[:, 0] != beside[:, 1]], axis=1), axis=0, return_counts=True)
    one, other = pairs[counts.argmax()]
    near = (labels == one) & ndimage.binary_dilation(labels == other)
    found = sorted(map(tuple, np.argwhere(near)), key=lambda pixel: pixel[1])
    return found[15 :: max(1, len(found) // 6)]


@contextmanager
def labels(studio: Studio) -> Iterator[LabelPage]:
    """The page for labels, with what three people have done."""
    folder = Path(tempfile.mkdtemp(dir=studio.folder))
    with State(folder / "studio.sqlite", [people.SCHEMA, actions.SCHEMA]) as state:
        page = LabelPage(items_of(sorted(studio.images.iterdir())), state, folder / "out")
        with studio.served(page.page) as address:
            for name, (count, eyes) in WORKERS.items():
                work(studio, address, name, count, eyes)
        yield page


def work(studio: Studio, address: Address, name: str, count: int, eyes: int) -> None:
    """Someone erases candidates that they see no boundary at, and adds boundaries without a candidate."""
    client = studio.browser.new_context(base_url=address.base).request
    client.post("/people", data={"name": name})
    for seed in SEEDS[:count]:
        candidates = find_candidates(read_image(studio.images / f"{name_of(seed)}.png"))
        seen = read_boundary_truths([studio.folder / "scenes/groundTruth" / f"{name_of(seed)}.mat"])[eyes]
        drawn = candidates.above(candidates.start)
        near = ndimage.binary_dilation(seen, np.ones((3, 3)), 2)
        missed = seen & ~ndimage.binary_dilation(drawn, np.ones((3, 3)), 2)
        actions = [("erase", drawn & ~near), ("add", missed)]
        entries = [
            {
                "number": n,
                "key": f"{name}-{seed}-{n:04}",
                "kind": kind,
                "runs": runs_of(pixels),
                "seconds": 31.0 + 9 * n * eyes,
            }
            for n, (kind, pixels) in enumerate(actions, start=1)
        ]
        base = f"/image/{item_id(name_of(seed))}"
        client.post(f"{base}/entries", data={"entries": entries}, fail_on_status_code=True)
        actions_of = [Action(one["kind"], tuple(one["runs"])) for one in entries]
        edges = replay_sources({GRADIENT: candidates}, actions_of).edges
        done = {"number": 3, "key": f"{name}-{seed}-done", "seconds": 5.0, "checksum": zlib.crc32(edges.tobytes())}
        client.post(f"{base}/done", data=done, fail_on_status_code=True)
    if count == 1:
        flag = {"note": "blurred, cannot tell", "skipped": True}
        client.post(f"/image/{item_id(name_of(SEEDS[-1]))}/flag", data=flag)


def runs_of(pixels: Any) -> list[int]:
    """Where runs of a map's pixels start, line by line, and how long they are."""
    steps = np.flatnonzero(np.diff(np.r_[0, pixels.ravel().astype(np.int8), 0]))
    return [int(one) for start, end in zip(steps[::2], steps[1::2], strict=True) for one in (start, end - start)]


def overview(studio: Studio) -> None:
    """Who did what, and how far they agree."""
    with labels(studio) as page, studio.served(page.page) as address:
        tab = studio.tab(page.overview.supervisor.link(address))
        tab.wait_for_url("**/overview")
        while tab.locator("text=Still comparing").count():
            tab.reload()
        save("overview", tab, whole=True)


def compare(studio: Studio) -> None:
    """Two versions side by side."""
    with labels(studio) as page, studio.served(page.page) as address:
        tab = studio.tab(page.overview.supervisor.link(address))
        tab.wait_for_url("**/overview")
        tab.goto(f"{address.base}/overview/{item_id(name_of(3))}")
        tab.wait_for_selector("body[data-ready]")
        press(tab, "b")
        save("compare", tab, whole=True)


@contextmanager
def orders(studio: Studio, *, net: bool = False) -> Iterator[Address]:
    """The page for orders."""
    folder = Path(tempfile.mkdtemp(dir=studio.folder))
    inputs = find_inputs(studio.images, None if net else studio.folder / "scenes/labels", net=net, level=COARSE)
    with ExitStack() as opened:
        state = opened.enter_context(State(folder / "studio.sqlite", [people.SCHEMA, actions.SCHEMA]))
        yield opened.enter_context(studio.served(OrderPage(inputs, state, folder / "out").page))


def order(studio: Studio) -> None:
    """An order half made: regions by depth, and two relations."""
    scene = make_scene(4, size=SIZE, leaves=LEAVES)
    depth = [float(scene.order[scene.labels == region][0]) for region in range(scene.labels.max() + 1)]
    nearest = sorted(range(len(depth)), key=lambda region: -depth[region])
    with orders(studio) as address:
        tab = studio.tab(f"{address.base}/items/{item_id(name_of(4))}", height=760, name="Ada")
        tab.wait_for_selector("body[data-version]")
        at = -1
        for n, region in enumerate(nearest[:-3]):
            press(tab, *["n" if region > at else "p"] * abs(region - at))
            press(tab, "Shift+Enter" if n and depth[region] == depth[nearest[n - 1]] else "Enter")
            at = region
        for before, after in ((nearest[-3], nearest[-2]), (nearest[-3], nearest[-1])):  # neither is in the list
            press(tab, *["n" if before > at else "p"] * abs(before - at), "f")
            press(tab, *["n" if after > before else "p"] * abs(after - before), "Enter")
            at = after
        tab.wait_for_selector("#pairs li >> nth=1")
        save("order", tab)


def start(studio: Studio) -> None:
    """Suggestions of the network, some of them answered."""
    with orders(studio, net=True) as address:
        tab = studio.tab(f"{address.base}/items/{item_id(name_of(4))}", height=760, name="Ada")
        tab.wait_for_selector('body[data-version="0"]')
        for n, key in enumerate("yywy", start=1):
            press(tab, key)
            tab.wait_for_selector(f'body[data-version="{n}"]')
        save("start", tab)


def choose(studio: Studio) -> None:
    """A trial of the forced choice, and the experimenter's page."""
    out = studio.folder / "choose"
    images = out / "scenes/images"
    write_scenes(out / "scenes", range(1, 9), size=SIZE)
    for call in (
        f"detect {images} --with canny,sobel --out {out}/maps",
        f"audit {out}/scenes/groundTruth --system {out}/maps/canny --system {out}/maps/sobel --thresholds 9 "
        f"--trials {out}/trials",
    ):
        subprocess.run([sys.executable, "-m", "hyperacuity", *call.split()], check=True)  # noqa: S603 (its own words)
    study = load_study(out / "trials", images)
    with State(out / "choose.sqlite", [CHOOSE]) as state:
        page = ChoosePage(study, state, Design(practice=1), fixation=0, session=Session(enlarge=True))
        tokens = page.ensure_invitations(3)
        with studio.served(page.page) as address:
            for number, token in enumerate(tokens):
                tab = studio.tab(f"{address.base}/take/{token}", width=1200, height=790)
                shown = partial(save, "choose", tab) if number == 2 else None
                answer(tab, f"{address.base}/take/{token}/next", shown)
            tab = studio.tab(address.front, width=1200)
            tab.wait_for_selector("#risks .mean")
            save("risk", tab, whole=True)


def answer(tab: Tab, following: str, shown: Callable[[], None] | None) -> None:
    """Answer all questions, mostly for the upper piece; or only some, with a picture of one of them."""
    tab.click("#begin")
    for n in range(9 if shown else 1000):
        tab.wait_for_selector("#trial[data-position], #start:visible, #end:visible")
        if tab.is_visible("#end"):
            return
        if tab.is_visible("#start"):
            tab.click("#start")
            continue
        position = tab.get_attribute("#trial", "data-position")
        if shown and n == 5:
            shown()
        question = tab.request.get(following).json()["question"]
        upper = question["left"]["square"][0] <= question["right"]["square"][0]
        tab.wait_for_timeout(500 + 40 * (n % 9))
        press(tab, "ArrowLeft" if upper == (n % 5 > 0) else "ArrowRight")
        tab.wait_for_selector(f"#trial:not([data-position='{position}'])", state="attached")


PICTURES = {one.__name__: one for one in (label, overview, compare, order, start, choose)}


def main() -> None:
    """Make the pictures that are named, or all."""
    named = os.environ.get("CHROMIUM")
    chromium = named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        driver = opened.enter_context(sync_playwright())
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        studio = Studio(folder, browser)
        for name in sys.argv[1:] or PICTURES:
            PICTURES[name](studio)
        browser.close()


if __name__ == "__main__":
    main()
