"""Brush, colours, magnifier and flags, in a browser."""

from __future__ import annotations

import numpy as np
import pytest

from hyperacuity.data import write_png
from hyperacuity.studio import actions, people
from hyperacuity.studio.items import item_id, items_of
from hyperacuity.studio.label.log import read_log
from hyperacuity.studio.label.map import find_candidates
from hyperacuity.studio.label.page import LabelPage
from hyperacuity.studio.state import State

from .labelling import replay

pytestmark = pytest.mark.browser

STEP = np.zeros((40, 60), np.uint8)
STEP[:, 30:] = 200
STEP[:, 29] = 100


@pytest.fixture
def desk(tmp_path, live, visit):
    """A tab with the first of two images, a function for the edges as they are saved, and the page's address."""
    (tmp_path / "photos").mkdir()
    for name in ("one", "two"):
        write_png(tmp_path / "photos" / f"{name}.png", STEP)
    with State(tmp_path / "studio.sqlite", [people.SCHEMA, actions.SCHEMA]) as state:
        page = LabelPage(items_of(sorted((tmp_path / "photos").iterdir())), state, tmp_path / "out")
        address = live(page.page)
        tab = visit(f"{address.base}/image/{item_id('one')}", width=1024, height=800)
        tab.fill("#name", "Ada")
        tab.click("button:text-is('Start')")
        tab.wait_for_selector("#stage[data-ready]")

        def edges():
            tab.wait_for_selector("#saved[data-saved=true]")

            def look(file):
                who, digest = file.execute("SELECT person, digest FROM log_summaries").fetchone()
                return read_log(file, who, item_id("one"), digest)

            return replay(find_candidates(STEP), state.read_now(look).actions)[0]

        yield tab, edges, page, address


def test_a_wide_eraser_and_a_wide_brush_by_keys(desk):
    tab, edges, _, _ = desk
    before = find_candidates(STEP).above(find_candidates(STEP).start)
    tab.keyboard.press("e")
    for _ in range(3):
        tab.keyboard.press(".")
    assert tab.inner_text("#brush-shown") == "7 px"
    tab.keyboard.press("ArrowLeft")  # the cursor begins at row 20, column 30, beside the edge in column 29
    tab.keyboard.press("Enter")
    assert np.argwhere(before & ~edges()).tolist() == [[row, 29] for row in range(17, 24)], "seven pixels across"
    tab.keyboard.press("a")
    for _ in range(2):
        tab.keyboard.press(",")
    for _ in range(15):
        tab.keyboard.press("ArrowLeft")
    tab.keyboard.press("Enter")
    disc = [[19, 14], [20, 13], [20, 14], [20, 15], [21, 14]]
    assert np.argwhere(edges()[:, :20]).tolist() == disc, "three pixels across"
    tab.keyboard.press("z")
    assert not edges()[:, :20].any()


def test_how_edges_look_is_chosen_and_remembered(desk, looks_well):
    tab, _, _, _ = desk
    picture = tab.locator("#stage")
    shots = [picture.screenshot()]

    def differs():
        tab.wait_for_timeout(60)
        shots.append(picture.screenshot())
        return shots[-1] not in shots[:-1]

    tab.focus("#edge-colour")
    tab.keyboard.press("m")  # chooses magenta, not the tool that moves
    assert tab.get_attribute("[data-tool=move]", "aria-pressed") == "false"
    assert tab.input_value("#edge-colour") == "magenta"
    assert differs()
    tab.fill("#edge-opacity", "40")
    assert differs()
    tab.focus("#stage")
    tab.keyboard.press("g")
    assert tab.is_checked("#magnifier")
    assert differs()
    tab.fill("#edge-width", "5")
    assert differs()
    tab.fill("#brush-size", "9")
    assert tab.inner_text("#brush-shown") == "9 px"
    looks_well(tab)
    tab.reload()
    tab.wait_for_selector("#stage[data-ready]")
    assert tab.input_value("#edge-colour") == "magenta"
    assert tab.inner_text("#edge-opacity-shown") == "40 %"
    assert (tab.inner_text("#edge-width-shown"), tab.inner_text("#brush-shown")) == ("5 px", "9 px")
    assert tab.is_checked("#magnifier")
    assert (
        tab.evaluate("getComputedStyle(document.querySelector('.swatch.kept')).backgroundColor") == "rgb(255, 64, 200)"
    )


def test_tools_backgrounds_and_zoom_have_buttons_and_say_what_they_do(desk):
    tab, _, _, _ = desk
    for name in ("add", "erase", "chain", "lasso", "move", "path"):
        tab.click(f"[data-tool={name}].tool")
        assert tab.get_attribute(f"[data-tool={name}].tool", "aria-pressed") == "true"
        does = tab.get_attribute(f"[data-tool={name}].tool", "title")
        assert tab.inner_text("#where") == does
        assert does in tab.text_content("#help")
    for name in ("gradient", "plain", "image"):
        tab.click(f"[data-background={name}]")
        assert tab.get_attribute(f"[data-background={name}]", "aria-pressed") == "true"
    whole = tab.inner_text("#zoom")
    seen = [whole]
    for button in ("#zoom-in", "#zoom-in", "#zoom-out", "#fit"):
        tab.click(button)
        seen.append(tab.inner_text("#zoom"))
    assert seen[1] == seen[3] != seen[2]
    assert seen[4] == whole
    before = int(tab.input_value("#threshold"))
    tab.focus("#stage")
    for key, change in (("{", -50), ("}", 0), ("[", -5)):
        tab.keyboard.press(key)
        assert int(tab.input_value("#threshold")) == before + change


def test_a_flag_with_a_note_reaches_the_organiser(desk, serious):
    tab, _, page, address = desk
    tab.keyboard.press("!")
    tab.wait_for_selector("#flag-dialog[open]")
    assert serious(tab) == []
    tab.click("#flag-dialog button[value='']")
    assert tab.get_attribute("#flag", "aria-pressed") == "false"
    tab.click("#flag")
    tab.fill("#flag-note", "too blurred to tell")
    tab.click("#flag-dialog button[value=flag]")
    tab.wait_for_selector("#flag[aria-pressed=true]")
    tab.keyboard.press("!")
    tab.click("text=Flag and skip")
    tab.wait_for_url(f"**/image/{item_id('two')}")
    tab.click("#previous")
    tab.wait_for_url(f"**/image/{item_id('one')}")
    tab.click("#next")
    tab.wait_for_url(f"**/image/{item_id('two')}")
    tab.goto(address.base)
    assert "⚑ skipped: too blurred to tell" in tab.inner_text("#images")
    assert tab.get_attribute("a.primary", "href").endswith(item_id("two")), "the other one comes first"
    tab.goto(page.overview.supervisor.link(address))
    tab.wait_for_url("**/overview")
    assert "⚑ Ada skipped it: too blurred to tell" in tab.inner_text("#images")
    tab.goto(f"{address.base}/image/{item_id('one')}")
    tab.wait_for_selector("#stage[data-ready]")
    assert tab.get_attribute("#flag", "aria-pressed") == "true"
    tab.click("#flag")
    tab.click("#flag-remove")
    tab.wait_for_selector("#flag[aria-pressed=false]")
    tab.goto(address.base)
    assert "⚑" not in tab.inner_text("#images")
