"""Finding images and looking into them in a browser: filters, tags, the pixel readout, and the leaderboard on a phone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from hyperacuity.data import read_soft
from hyperacuity.report import write_report

pytestmark = pytest.mark.browser

IMAGES = 6


@pytest.fixture(scope="module")
def run(make_run) -> Path:
    return make_run(["good", "fair"], IMAGES, noise=0.15)


@pytest.fixture(scope="module")
def page(run, tmp_path_factory) -> Path:
    return write_report([run], tmp_path_factory.mktemp("report"), progress=False)


@pytest.fixture(scope="module")
def tab(page, chromium):
    """One page that all tests here share; each begins where it likes."""
    context = chromium.new_context(
        viewport={"width": 1400, "height": 900}, permissions=["clipboard-read", "clipboard-write"]
    )
    tab = context.new_page()
    tab.set_default_timeout(20_000)
    tab.goto(page.as_uri())
    yield tab
    context.close()


@pytest.fixture
def fresh(tab, page):
    """The page as it is when it was just opened."""
    tab.goto("about:blank")
    tab.goto(page.as_uri())
    tab.wait_for_selector(".plot svg.marks")
    return tab


@pytest.fixture(scope="module")
def scores(page) -> dict[str, list[float]]:
    """The scores of each image, as the page has them."""
    facts = json.loads(re.search(r'id="facts">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)[1])
    return {image["name"]: image["scores"] for image in facts[0]["images"]}


def listed(tab) -> set[str]:
    names = "[...document.querySelectorAll('.images li:not([hidden]) .caption')].map((part) => part.textContent)"
    return set(tab.evaluate(names))


def test_images_are_filtered_by_who_wins_by_score_and_by_disagreement(fresh, scores):
    fresh.locator(".filters summary").click()
    fresh.select_option("[name=winner]", label="fair")
    won = {name for name, (good, fair) in scores.items() if fair > good}
    assert listed(fresh) == won
    fresh.select_option("[name=loser]", label="good")
    assert listed(fresh) == won
    assert fresh.inner_text("[name=count]") == (f"{len(won)} of {IMAGES} images")
    fresh.get_by_role("button", name="Show all").click()
    fresh.wait_for_function(f"document.querySelectorAll('.images li:not([hidden])').length === {IMAGES}")
    means = {name: sum(of) / 2 for name, of in scores.items()}
    middle = sorted(means.values())[IMAGES // 2]
    fresh.fill("[name=least]", str(middle - 1e-9))
    assert listed(fresh) == {name for name, mean in means.items() if mean >= middle}
    fresh.fill("[name=least]", "")
    fresh.fill("[name=most]", str(middle - 1e-9))
    assert listed(fresh) == {name for name, mean in means.items() if mean < middle}
    fresh.fill("[name=most]", "")
    gaps = {name: abs(good - fair) for name, (good, fair) in scores.items()}
    far = sorted(gaps.values())[-2]
    fresh.fill("[name=apart]", str(far - 1e-9))
    found = {name for name, gap in gaps.items() if gap >= far}
    assert listed(fresh) == found
    fresh.get_by_role("button", name="Copy names").click()
    fresh.get_by_role("button", name="Copied").wait_for()
    assert set(fresh.evaluate("navigator.clipboard.readText()").split(",")) == found
    fresh.locator(".images li:not([hidden]) a").first.click()
    fresh.wait_for_selector(".pane[data-painted]")
    for _ in range(len(found)):  # the viewer goes through what the filter left, and comes round
        assert fresh.inner_text("#viewer-title") in found
        before = fresh.inner_text("#viewer-title")
        fresh.locator("#next").click()
        fresh.wait_for_function(
            "(before) => document.getElementById('viewer-title').textContent !== before", arg=before
        )
    fresh.keyboard.press("Escape")


def test_a_choice_that_is_not_seen_does_not_count(fresh, scores):
    """Who was chosen for another order, and is hidden now, changes neither range nor disagreement."""
    fresh.locator(".filters summary").click()
    fresh.select_option("[name=first]", label="fair")
    fresh.select_option("[name=order]", "name")
    assert fresh.locator(".images .caption").all_inner_texts() == sorted(scores)
    means = {name: sum(of) / 2 for name, of in scores.items()}
    middle = sorted(means.values())[IMAGES // 2]
    fresh.fill("[name=least]", str(middle - 1e-9))
    assert listed(fresh) == {name for name, mean in means.items() if mean >= middle}
    assert fresh.inner_text(".whose").strip() == "of all systems"
    fresh.select_option("[name=order]", "best")
    assert fresh.inner_text(".whose").strip() == "of fair"
    assert listed(fresh) == {name for name, (_, fair) in scores.items() if fair >= middle - 1e-9}


def test_every_tool_of_the_viewer_does_what_it_says(fresh):
    fresh.evaluate("location.hash = 's0-0'")
    fresh.wait_for_selector(".pane[data-painted]")
    seen = "document.querySelector('.pane canvas').toDataURL()"

    def another(act):
        before = fresh.evaluate(seen)
        act()
        fresh.wait_for_function(f"(before) => {seen} !== before", arg=before)

    for box in ("hit", "miss"):
        another(lambda box=box: fresh.get_by_label(box, exact=False).first.uncheck())
        another(lambda box=box: fresh.get_by_label(box, exact=False).first.check())
    for ground in ("full", "plain", "faded"):
        another(lambda ground=ground: fresh.select_option("#ground", ground))
    another(lambda: fresh.locator(".pane .system").first.select_option(label="fair"))
    title = fresh.inner_text("#viewer-title")
    another(lambda: fresh.locator("#next").click())
    another(lambda: fresh.locator("#previous").click())
    assert fresh.inner_text("#viewer-title") == title
    fresh.locator("#pair").click()
    assert fresh.locator(".pane").count() == 1
    assert fresh.get_attribute("#pair", "aria-pressed") == "false"
    fresh.locator("#pair").click()
    assert fresh.locator(".pane").count() == 2
    for act, zoom in (("in", "1.5×"), ("in", "2.3×"), ("out", "1.5×"), ("fit", "1×")):
        fresh.locator(f"#{act}").click()
        assert fresh.inner_text("#zoom") == zoom
    for key, zoom in (("+", "1.5×"), ("+", "2.3×"), ("-", "1.5×"), ("0", "1×")):
        fresh.keyboard.press(key)
        assert fresh.inner_text("#zoom") == zoom
    fresh.keyboard.press("Escape")


def test_what_reproduces_it_is_copied_and_links_lead_within_the_page(fresh):
    fresh.locator("[data-copy=commands]").click()
    fresh.get_by_role("button", name="Copied").wait_for()
    assert fresh.evaluate("navigator.clipboard.readText()") == fresh.text_content("#commands")
    details = fresh.locator("#reproduce details")
    assert details.get_attribute("open") is not None, "of one task, it is open"
    details.locator("summary").click()
    assert fresh.locator("#reproduce dl").is_hidden()
    for link in fresh.locator(".within a").all():
        link.click()
        target = fresh.evaluate("location.hash")
        fresh.wait_for_function(f"document.querySelector('{target}').getBoundingClientRect().top < innerHeight")
    fresh.evaluate("scrollTo(0, 0); document.activeElement.blur()")
    fresh.locator(".home").click()
    assert fresh.evaluate("location.hash") == "#main"
    fresh.locator(".skip").focus()
    fresh.keyboard.press("Enter")
    assert fresh.evaluate("location.hash") == "#main"


def test_tags_are_kept_and_can_be_filtered_by(fresh):
    fresh.evaluate("location.hash = 's0-1'")
    fresh.wait_for_selector(".pane[data-painted]")
    fresh.fill("#tags", "texture, hard 3, texture")
    fresh.keyboard.press("Tab")
    fresh.keyboard.press("Escape")
    fresh.wait_for_selector("dialog", state="hidden")
    fresh.wait_for_function("location.hash === '#s0-images'")  # else the viewer would open again
    assert fresh.inner_text(".images li:has(.caption:text-is('image-1')) .tags") == "texture, hard 3"
    fresh.reload()
    fresh.locator(".filters summary").click()
    fresh.select_option("[name=tag]", "hard 3")
    assert listed(fresh) == {"image-1"}
    fresh.evaluate("localStorage.clear()")


def test_a_pixel_tells_its_value_its_state_and_the_nearest_label(fresh, run):
    fresh.evaluate("location.hash = 's0-0'")
    fresh.wait_for_selector(".pane[data-painted]")
    x, y = 20, 3  # two pixels above the outline of image 0, whose top is in row 6
    window = fresh.locator(".window").first
    window.focus()
    fresh.keyboard.press("Shift+ArrowRight")  # begins in the middle
    fresh.wait_for_function("document.querySelector('.readout').textContent.startsWith('x 33, y 24')")
    for _ in range(33 - x):
        fresh.keyboard.press("Shift+ArrowLeft")
    for _ in range(24 - y):
        fresh.keyboard.press("Shift+ArrowUp")
    fresh.wait_for_function(f"document.querySelector('.readout').textContent.startsWith('x {x}, y {y} ')")
    texts = fresh.locator(".readout").all_inner_texts()
    assert all("nearest label 3.0 px away, by all 3 people" in text for text in texts)
    assert fresh.locator(".window .mark").first.is_visible()
    soft = read_soft(run.parent / "0" / "0.png")
    told = float(re.search(r"value about ([\d.]+)", texts[0])[1])
    assert told == pytest.approx(float(soft[y, x]), abs=0.1)
    for _ in range(3):
        fresh.keyboard.press("Shift+ArrowDown")
    fresh.wait_for_function("document.querySelector('.readout').textContent.includes('label here')")
    assert "hit, matched with all 3 people" in fresh.locator(".readout").first.inner_text()
    # The second person alone drew a line through the middle, in row 18.
    for _ in range(18 - 6):
        fresh.keyboard.press("Shift+ArrowDown")
    fresh.wait_for_function("document.querySelector('.readout').textContent.endsWith('label here, by person 2 of 3')")
    box = fresh.locator(".pane canvas").first.bounding_box()
    fresh.mouse.move(box["x"] + box["width"] * 10.5 / 64, box["y"] + box["height"] * 40.5 / 48)
    fresh.wait_for_function("document.querySelector('.readout').textContent.startsWith('x 10, y 40 ')")
    fresh.keyboard.press("Escape")


def test_the_slider_goes_to_the_images_own_best_threshold(fresh, page, scores):
    fresh.evaluate("location.hash = 's0-2'")
    fresh.wait_for_selector(".pane[data-painted]")
    fresh.locator(".pane input[type=range]").first.fill("0")
    fresh.get_by_role("button", name="Best threshold here").first.click()
    best = max(scores["image-2"][:1])
    fresh.wait_for_function(
        f"document.querySelector('.pane .numbers').textContent.includes('F {np.round(best, 3):.3f}')"
    )
    fresh.locator(".pane input[type=range]").first.fill("0")
    fresh.locator("#close").focus()
    fresh.keyboard.press("B")
    fresh.wait_for_function(
        f"document.querySelector('.pane .numbers').textContent.includes('F {np.round(best, 3):.3f}')"
    )
    fresh.keyboard.press("Escape")


def test_on_a_phone_the_leaderboard_is_read_without_scrolling_sideways(page, chromium):
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    tab = context.new_page()
    tab.goto(page.as_uri())
    tab.fill("#search", "image")
    found = tab.locator("#found").bounding_box()
    assert 0 <= found["x"] < found["x"] + found["width"] <= 390
    tab.locator("#search").press("Escape")
    board = tab.locator(".board .scroll")
    assert board.evaluate("(box) => box.scrollWidth <= box.clientWidth")
    label = "getComputedStyle(document.querySelector('.sortable tbody td[data-label=ODS]'), '::before').content"
    assert tab.evaluate(label) == '"ODS"'
    tab.get_by_role("button", name="System").tap()
    names = "[...document.querySelectorAll('.sortable tbody .name')].map((cell) => cell.innerText.trim())"
    assert tab.evaluate(names) == ["fair", "good"]
    tab.get_by_text("What the columns mean").tap()
    assert tab.get_by_text("F with the best threshold for each image; higher is better.").is_visible()
    assert tab.get_by_role("table").get_by_role("row").count() == 3  # still a table for those who hear it
    assert tab.locator(".sortable thead .sense").first.is_visible()
    tab.evaluate("location.hash = 's0-0'")
    tab.wait_for_selector(".pane[data-painted]")
    assert tab.locator("#legend .meaning").first.is_visible()
    tab.locator(".window").first.scroll_into_view_if_needed()
    box = tab.locator(".pane canvas").first.bounding_box()
    tab.touchscreen.tap(box["x"] + box["width"] * 10.5 / 64, box["y"] + box["height"] * 40.5 / 48)
    tab.wait_for_function("document.querySelector('.readout').textContent.startsWith('x 10, y 40 ')")
    context.close()


def test_a_chart_is_saved_as_pdf_alone_with_its_signature(fresh, run):
    fresh.evaluate("window.print = () => { window.printed = document.title; }")
    fresh.locator("#s0-chart-0 summary").focus()
    fresh.keyboard.press("Enter")
    fresh.get_by_role("button", name="Save as PDF").first.focus()
    fresh.keyboard.press("Enter")
    fresh.wait_for_function("window.printed")
    assert fresh.inner_text("#s0-signature") == fresh.text_content("#paper p")
    made = fresh.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", made)) == 1
    box = [float(side) for side in re.search(rb"/MediaBox\s*\[([^\]]*)\]", made)[1].split()]
    picture = fresh.locator("#s0-chart-0 svg.marks").bounding_box()
    assert box[2] == pytest.approx((picture["width"] + 24) * 0.75, abs=2)  # 96 pixels are 72 points
    assert box[3] == pytest.approx((picture["height"] + 60) * 0.75, abs=2)
    fresh.wait_for_selector("#paper", state="detached")  # when it was printed
