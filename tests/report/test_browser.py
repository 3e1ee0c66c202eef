"""The page in a browser, opened from disk: it asks for nothing, complains of nothing, and does what it offers."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path

import pytest

from hyperacuity.report import write_report

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder_page(plain_run, tmp_path_factory) -> Path:
    return write_report([plain_run], tmp_path_factory.mktemp("report"), progress=False)


@pytest.fixture(scope="module")
def single_page(plain_run, tmp_path_factory) -> Path:
    return write_report([plain_run], tmp_path_factory.mktemp("report") / "all.html", single_file=True, progress=False)


@contextmanager
def repainted(tab, pane: int = 0):
    """Wait until a pane shows something else than before."""
    read = f"document.querySelectorAll('.pane')[{pane}].dataset.painted"
    before = tab.evaluate(read)
    yield
    tab.wait_for_function(f"(before) => {read} !== before", arg=before)


def opened(tab, place: int = 0):
    tab.locator(".images a").nth(place).click()
    tab.wait_for_selector(".pane[data-painted]")
    tab.wait_for_timeout(50)  # the numbers below the panes have come, and may have moved them
    return tab


@pytest.mark.parametrize("kind", ["folder_page", "single_page"])
def test_it_opens_from_disk_and_draws_its_charts(kind, visit, request):
    tab = visit(request.getfixturevalue(kind))
    tab.wait_for_function("document.querySelectorAll('.plot svg.marks').length === 3")
    assert "good reaches ODS" in tab.inner_text(".findings")
    opened(tab)
    assert "hits" in tab.inner_text(".pane .numbers")


def test_the_leaderboard_sorts_both_ways_by_number_and_by_name(folder_page, visit):
    tab = visit(folder_page)
    names = "[...document.querySelectorAll('.sortable tbody .name')].map((cell) => cell.innerText.trim())"
    assert tab.evaluate(names) == ["good", "fair", "poor"]
    tab.get_by_role("button", name="System").click()
    assert tab.evaluate(names) == ["fair", "good", "poor"]
    tab.get_by_role("button", name="ODS").click()
    assert tab.evaluate(names) == ["good", "fair", "poor"]
    tab.get_by_role("button", name="ODS").click()
    assert tab.evaluate(names) == ["poor", "fair", "good"]
    assert tab.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"


def test_hovering_a_curve_tells_its_threshold(folder_page, visit):
    tab = visit(folder_page)
    tab.locator("#s0-chart-0 .mark-symbol path").nth(5).hover(force=True)
    tab.wait_for_selector("#vg-tooltip-element.visible")
    assert "threshold" in tab.inner_text("#vg-tooltip-element")


def test_images_are_ordered_as_asked(folder_page, visit):
    tab = visit(folder_page)
    scores = """() => { const facts = JSON.parse(document.getElementById("facts").textContent)[0];
        return [...document.querySelectorAll(".images li")].map((item) => facts.images[item.dataset.place].scores); }"""

    def mean(row):
        return sum(row) / len(row)

    worst = [mean(row) for row in tab.evaluate(scores)]
    assert worst == sorted(worst)
    tab.select_option("[name=order]", "best")
    assert [mean(row) for row in tab.evaluate(scores)] == sorted(worst, reverse=True)
    tab.select_option("[name=order]", "apart")
    tab.select_option("[name=first]", label="good")
    tab.select_option("[name=second]", label="poor")
    apart = [abs(row[0] - row[2]) for row in tab.evaluate(scores)]
    assert apart == sorted(apart, reverse=True)


def test_the_slider_changes_the_overlay(folder_page, visit):
    tab = opened(visit(folder_page))
    slider = tab.locator(".pane input[type=range]").first
    assert slider.get_attribute("max") == "18"  # every threshold of the run has its overlay
    assert tab.locator(".pane .fewer").first.inner_text() == ""
    seen = {}
    for step in range(int(slider.get_attribute("max")) + 1):
        slider.fill(str(step))
        tab.wait_for_function(f"document.querySelector('.pane').dataset.painted.endsWith('match-{step}')")
        hits, false, _ = map(int, re.findall(r"(\d+) (?:hits|false|misses)", tab.inner_text(".pane .numbers")))
        seen[step] = (hits, false, tab.evaluate("document.querySelector('.pane canvas').toDataURL()"))
        threshold, _, best = tab.locator(".pane .at").first.inner_text().partition(", ")
        assert slider.get_attribute("aria-valuetext") == f"threshold {threshold}"
        assert best in ("", "best for the data set")
    assert len({picture for _, _, picture in seen.values()}) > 10
    false = [false for _, false, _ in seen.values()]
    assert false[0] > false[-1]  # a higher threshold, fewer false alarms


def test_what_is_drawn_is_what_is_counted(folder_page, visit):
    tab = opened(visit(folder_page))
    tab.select_option("#ground", "plain")
    with repainted(tab):
        tab.locator(".pane input[type=range]").first.fill("0")
    tab.wait_for_timeout(100)
    count = """(rgb) => { const canvas = document.querySelector(".pane canvas");
        const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        let found = 0;
        for (let at = 0; at < data.length; at += 4) found += rgb.every((value, n) => data[at + n] === value);
        return found; }"""
    hits, false, misses = map(int, re.findall(r"(\d+) (?:hits|false|misses)", tab.inner_text(".pane .numbers")))
    colours = ([0x00, 0x9E, 0x73], [0xD5, 0x5E, 0x00], [0x00, 0x72, 0xB2])
    assert [tab.evaluate(count, colour) for colour in colours] == [hits, false, misses]
    tab.get_by_label("false alarm").uncheck()
    tab.wait_for_function(f"() => ({count})([0xD5, 0x5E, 0x00]) === 0")
    assert tab.evaluate(count, colours[0]) == hits


def test_both_sides_move_together(folder_page, visit):
    tab = opened(visit(folder_page))
    transforms = "() => [...document.querySelectorAll('.pane canvas')].map((canvas) => canvas.style.transform)"
    first, second = tab.evaluate(transforms)
    assert first == second
    box = tab.locator(".window").nth(1).bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] / 2)
    tab.mouse.wheel(0, -400)
    tab.wait_for_function("document.getElementById('zoom').textContent !== '1×'")
    zoomed = tab.evaluate(transforms)
    assert zoomed[0] == zoomed[1] != first
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] / 4 + 40, box["y"] + box["height"] / 2 + 10)
    tab.mouse.up()
    moved = tab.evaluate(transforms)
    assert moved[0] == moved[1] != zoomed[0]
    tab.get_by_role("button", name="Fit").click()
    assert tab.evaluate(transforms) == [first, second]


def test_the_pixel_under_the_pointer_stays_there_when_zooming(folder_page, visit):
    tab = opened(visit(folder_page))
    box = tab.locator(".window").first.bounding_box()
    x, y = box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.55
    pixel = """([x, y]) => { const box = document.querySelector(".pane canvas").getBoundingClientRect();
        const canvas = document.querySelector(".pane canvas");
        return [(x - box.left) / box.width * canvas.width, (y - box.top) / box.height * canvas.height]; }"""
    before = tab.evaluate(pixel, [x, y])
    tab.mouse.move(x, y)
    tab.mouse.wheel(0, -300)
    tab.wait_for_function("document.getElementById('zoom').textContent !== '1×'")
    assert tab.evaluate(pixel, [x, y]) == pytest.approx(before, abs=0.1)


def test_the_keyboard_does_it_too(folder_page, visit):
    tab = visit(folder_page)
    tab.locator(".images a").first.focus()
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".pane[data-painted]")
    title = tab.inner_text("#viewer-title")
    tab.locator("#close").focus()
    with repainted(tab):
        tab.keyboard.press("ArrowRight")
    assert tab.inner_text("#viewer-title") != title
    with repainted(tab):
        tab.keyboard.press("3")
    assert tab.locator("#layers input:checked").get_attribute("value") == "truth"
    tab.keyboard.press("+")
    assert tab.inner_text("#zoom") == "1.5×"
    tab.keyboard.press("Escape")
    tab.wait_for_selector("dialog", state="hidden")
    tab.wait_for_function("location.hash === '#s0-images'")
    tab.wait_for_function("document.activeElement.closest('.images') !== null")  # back to where one came from


def test_every_layer_shows_another_picture(folder_page, visit):
    tab = opened(visit(folder_page))
    shown = set()
    for layer in ("match", "prediction", "truth", "photo"):
        tab.locator(f"#layers input[value={layer}]").check()
        tab.wait_for_function(f"document.querySelector('.pane').dataset.painted.includes('-{layer}-')")
        shown.add(tab.evaluate("document.querySelector('.pane canvas').toDataURL()"))
    assert len(shown) == 4


def test_an_image_has_an_address_of_its_own(folder_page, visit):
    tab = visit(folder_page, anchor="#s0-2")
    tab.wait_for_selector(".pane[data-painted]")
    assert tab.inner_text("#viewer-title") == "image-2"
    tab.locator("#close").click()
    tab.wait_for_selector("dialog", state="hidden")


def test_the_theme_follows_the_system_and_can_be_chosen(folder_page, visit):
    tab = visit(folder_page, color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    ink = "document.querySelector('#s0-chart-0 .role-axis-title text').getAttribute('fill')"
    assert tab.evaluate(ground) == "rgb(22, 24, 29)"
    assert tab.evaluate(ink) == "#eeeeee"
    tab.get_by_role("button", name="Theme: auto").click()
    assert tab.evaluate(ground) == "rgb(255, 255, 255)"
    tab.wait_for_function(f"{ink} === '#222222'")
    tab.get_by_role("button", name="Theme: light").click()
    assert tab.evaluate(ground) == "rgb(22, 24, 29)"
    tab.wait_for_function(f"{ink} === '#eeeeee'")


def test_on_paper_the_dark_theme_is_dark_ink_on_white(folder_page, visit):
    tab = visit(folder_page, color_scheme="dark")
    tab.wait_for_function("document.querySelectorAll('.plot svg.marks').length === 3")
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate("getComputedStyle(document.body).color") == "rgb(34, 34, 34)"
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not tab.locator("nav").is_visible()
    ground = "getComputedStyle(document.querySelector('#s0-chart-0 svg.marks')).backgroundColor"
    assert tab.evaluate(ground) == "rgb(255, 255, 255)"
    ink = "document.querySelector('#s0-chart-0 .role-axis-title text').getAttribute('fill')"
    assert tab.evaluate(ink) == "#eeeeee"
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate(ink) == "#222222"
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.evaluate(ink) == "#eeeeee"


def test_the_signature_can_be_copied(folder_page, visit):
    tab = visit(folder_page, permissions=["clipboard-read", "clipboard-write"])
    tab.get_by_role("button", name="Copy").first.click()
    tab.get_by_role("button", name="Copied").wait_for()
    assert tab.evaluate("navigator.clipboard.readText()") == tab.inner_text("#s0-signature")


def test_on_a_phone_nothing_hangs_over(folder_page, visit):
    tab = visit(folder_page, width=390, height=844, has_touch=True)
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    opened(tab)
    assert tab.evaluate("document.querySelector('dialog').scrollWidth") <= 390


def test_names_full_of_markup_do_nothing(nasty_run, visit, tmp_path):
    page = write_report([nasty_run], tmp_path, progress=False)
    tab = visit(page)
    tab.locator("#s0-chart-0 .mark-symbol path").nth(5).hover(force=True)
    opened(tab)
    tab.locator(".images a", has_text="<img").first.evaluate("(link) => link.click()")
    tab.wait_for_function("document.getElementById('viewer-title').textContent.startsWith('<img src=x')")
    tab.keyboard.press("ArrowRight")
    assert tab.evaluate("window.boomed") == 0


def test_an_image_whose_files_are_gone_says_so(make_run, visit, tmp_path):
    run = make_run(["first", "second"], 1)
    (run.parent / "0" / "0.png").unlink()
    tab = opened(visit(write_report([run], tmp_path, progress=False)))
    assert "cannot be read" in tab.locator(".pane .numbers").first.inner_text()
    assert "hits" in tab.locator(".pane .numbers").nth(1).inner_text()


def test_a_layer_that_is_not_there_says_so(make_run, visit, tmp_path):
    tab = opened(visit(write_report([make_run(["only"], 1, pictured=False)], tmp_path, progress=False)))
    assert "hits" in tab.inner_text(".pane .numbers")
    with repainted(tab):
        tab.locator("#layers input[value=photo]").check()
    assert tab.inner_text(".pane .numbers") == "there is no photograph of this image"
