"""Keys that mean the same on every page, in a browser."""

from __future__ import annotations

import shutil
from contextlib import ExitStack

import numpy as np
import pytest

from hyperacuity.data import write_png
from hyperacuity.studio import actions, people
from hyperacuity.studio.items import item_id, items_of
from hyperacuity.studio.label.map import find_candidates
from hyperacuity.studio.label.page import LabelPage
from hyperacuity.studio.order.page import OrderPage
from hyperacuity.studio.order.regions import find_inputs
from hyperacuity.studio.state import State

pytestmark = pytest.mark.browser

STEP = np.repeat(np.where(np.arange(60) < 30, 0, 200).astype(np.uint8)[None], 40, axis=0)


@pytest.fixture
def label_page(tmp_path):
    (tmp_path / "photos").mkdir()
    for name in ("one", "two"):
        write_png(tmp_path / "photos" / f"{name}.png", STEP)
    with State(tmp_path / "labels.sqlite", [people.SCHEMA, actions.SCHEMA]) as state:
        yield LabelPage(items_of(sorted((tmp_path / "photos").iterdir())), state, tmp_path / "out")


@pytest.fixture
def open_two(world, label_page, live, visit, client_of, finish_label):
    """By page: opens the first of two images; a tab, the paths of both, keys that change something, what *done* shows."""
    with ExitStack() as opened:

        def label():
            address = live(label_page.page)
            paths = [f"/image/{item_id(name)}" for name in ("one", "two")]
            return enter(visit(address.base + paths[0])), paths, ("a", "Enter"), "#finished[open]"

        def order():
            for folder in ("images", "labels"):
                shutil.copy(world / folder / "squares.png", world / folder / "tiles.png")
            state = opened.enter_context(State(world / "orders.sqlite", [people.SCHEMA, actions.SCHEMA]))
            page = OrderPage(find_inputs(world / "images", world / "labels"), state, world / "out")
            paths = [f"/items/{item_id(name)}" for name in ("squares", "tiles")]
            tab = enter(visit(live(page.page).base + paths[0]))
            return tab, paths, ("ArrowRight", "Enter", "ArrowRight", "Enter"), "#incomplete[open]"

        def compare():
            for person, runs in (("Ada", [(5, 9)]), ("Bea", [(5, 9), (30 * 60 + 40, 12)])):
                client = client_of(label_page.page)
                client.post("/people", json={"name": person})
                for name in ("one", "two"):
                    assert finish_label(client, find_candidates(STEP), item_id(name), *runs).status_code == 200
            tab = visit(label_page.overview.supervisor.link(live(label_page.page)))
            tab.wait_for_url("**/overview")
            tab.click("text=Compare >> nth=0")
            return tab, [f"/overview/{item_id(name)}" for name in ("one", "two")], ("b",), "text=Written: 0 from Ada"

        yield {"label": label, "order": order, "compare": compare}


def enter(tab):
    tab.fill("#name", "Ada")
    tab.click("button:text-is('Start')")
    return tab


@pytest.mark.parametrize("page", ["label", "order", "compare"])
def test_keys_that_every_page_has(open_two, page):
    tab, (first, second), change, done = open_two[page]()
    ready = "#stage[data-ready], body[data-version], body[data-ready]"

    def press(*keys):
        for key in keys:
            tab.keyboard.press(key)

    def picture():
        return tab.locator("#stage, #side-b").screenshot()

    tab.wait_for_selector(ready)
    press("?")
    assert tab.is_visible("#help")
    press("Escape")
    tab.wait_for_selector("#help", state="hidden")
    press("0")
    whole = picture()
    press("+", "+")
    close = picture()
    press("-")
    assert len({whole, close, picture()}) == 3
    press("0")
    assert picture() == whole
    press(*change)
    tab.wait_for_selector("#undo:not([disabled])")
    steps = 2 if page == "order" else 1
    press(*"z" * steps)
    tab.wait_for_selector("#undo[disabled]")
    press(*["Shift+Z"] * steps)
    tab.wait_for_selector("#redo[disabled]")
    press("d")
    tab.wait_for_selector(done)
    press("Escape")
    if page != "compare":
        press("!")
        assert tab.is_visible("#flag-dialog")
        press("Escape")
    for key, path in (("PageDown", second), ("PageUp", first)):
        press(key)
        tab.wait_for_url(f"**{path}")
        tab.wait_for_selector(ready)
