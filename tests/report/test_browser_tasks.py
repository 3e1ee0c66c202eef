"""A report of every task in a browser: each page is drawn, found, read on a phone and on paper, and by everybody."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hyperacuity.report import write_report

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def every_page(every_run, tmp_path_factory) -> Path:
    """One report of all tasks."""
    return write_report(every_run, tmp_path_factory.mktemp("report"), progress=False)


@pytest.fixture(scope="module")
def every_single_page(every_run, tmp_path_factory) -> Path:
    return write_report(every_run, tmp_path_factory.mktemp("report") / "all.html", single_file=True, progress=False)


SHEETS = 11
"""Boundaries, labels, systems with different labels, edges, regions twice, masks, depth order, disparity, views, classes."""


def charted(tab):
    """Wait until every chart of the page is drawn."""
    tab.wait_for_function(
        """() => [...document.querySelectorAll(".page:not([hidden]) .plot")].every((plot) => plot.querySelector("svg.marks"))"""
    )


def pages_of(front: Path) -> list[Path]:
    """The pages of a report's tasks, in the order in which the front page has them."""
    links = re.findall(r'<h2><a href="([^"#]+)">', front.read_text(encoding="utf-8"))
    assert len(links) == SHEETS
    return [front.parent / link for link in links]


def shown(tab, sheet: int):
    """Open the first image of a sheet, by its address."""
    tab.evaluate(f"location.hash = 's{sheet}-0'")
    tab.wait_for_function(f"document.querySelector('.pane')?.dataset.painted?.startsWith('{sheet}-0-')")
    tab.wait_for_timeout(50)


@pytest.mark.parametrize("kind", ["every_page", pytest.param("every_single_page", marks=pytest.mark.repeat)])
def test_every_task_can_be_looked_at_layer_by_layer(kind, visit, request):
    tab = visit(request.getfixturevalue(kind))
    assert tab.locator(".card").count() == SHEETS
    painted = """() => { const canvas = document.querySelector(".pane canvas");
        const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        return data.some((value, at) => at % 4 < 3 && value < 200); }"""
    for sheet in range(SHEETS):
        shown(tab, sheet)
        layers = tab.evaluate("[...document.querySelectorAll('#layers input')].map((radio) => radio.value)")
        assert len(layers) == (5 if "near" in layers else 4)  # masks have two rules
        for layer in layers:
            tab.locator(f"#layers input[value={layer}]").check()
            tab.wait_for_function(f"document.querySelector('.pane').dataset.painted.includes('-{layer}-')")
            if layer not in ("errors", "orphans"):  # a perfect map has no error, and all people may agree
                assert tab.evaluate(painted), (sheet, layer)
        assert tab.inner_text("#problem") == ""


def test_the_front_page_of_every_task_is_read_in_two_screens_and_leads_on(every_page, visit):
    tab = visit(every_page, width=1400)
    assert tab.evaluate("document.documentElement.scrollHeight") <= 1800 * SHEETS / 8
    assert re.fullmatch(r"\d+ systems in \d+ tasks", tab.inner_text("h1"))
    for card in range(SHEETS):
        text = tab.locator(".card").nth(card).inner_text()
        assert len(text) > 60, text
    tab.locator(".card h2 a").first.click()
    tab.wait_for_selector(".plot svg.marks")
    assert tab.inner_text("h1") == "Boundaries"
    assert tab.locator("nav [aria-current=page]").inner_text() == "Boundaries"
    tab.mouse.wheel(0, 2000)
    tab.wait_for_function("scrollY > 300")
    assert tab.locator("nav .tasks a").first.bounding_box()["y"] >= 0  # contents stay in view
    tab.locator("nav .tasks a").first.click()
    tab.wait_for_selector(".card")


def test_the_front_page_of_the_demo_is_read_in_two_screens(make_run, world, visit, clean, tmp_path):
    """Its kinds of runs, the first with more systems than a card has room for."""
    many = make_run([f"a-detector-of-name-{n}" for n in range(8)], 1)
    runs = [many, *(world / task for task in ("audit", "edges", "soft-regions", "disparity", "ordering"))]
    tab = visit(write_report(runs, tmp_path / "demo", viewer=False, progress=False), width=1400)
    assert tab.locator(".card").count() == 8
    assert tab.evaluate("document.documentElement.scrollHeight") <= 1800
    assert tab.text_content(".evidence text title") == "a-detector-of-name-0", "what was cut can be read"
    met = """[...document.querySelectorAll(".evidence svg")].flatMap((svg) => {
        const boxes = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
        const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        return boxes.flatMap(([one, a], n) => boxes.slice(n + 1).filter(([, b]) => meet(a, b)).map(([other]) => [one, other]));
    })"""
    assert tab.evaluate(met) == [], "labels do not collide"
    tab.locator(".conclusion a").first.click()
    tab.wait_for_selector(".plot svg.marks")


def test_every_heading_is_explained(every_page):
    for page in pages_of(every_page):
        html = page.read_text(encoding="utf-8")
        heads = re.search(r'class="sortable".*?</thead>', html, re.DOTALL)[0]
        named = re.findall(r"<button[^>]*>(.*?)</button>", heads) + re.findall(r'class="graph"[^>]*>(.*?)</th>', heads)
        told = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", html))
        assert set(named) <= told.keys(), page.name
        assert not any("As the benchmark" in told[name] for name in named), page.name


def test_in_one_file_pages_are_turned_by_their_address(every_single_page, visit):
    tab = visit(every_single_page)
    visible = "[...document.querySelectorAll('.page')].filter((page) => !page.hidden).map((page) => page.id)"
    assert tab.evaluate(visible) == ["front"]
    tab.locator(".card h2 a").nth(3).click()
    tab.wait_for_selector("#s3 .plot svg.marks")
    assert tab.evaluate(visible) == ["s3"]
    assert tab.locator("nav [aria-current=page]").get_attribute("data-turn") == "s3"
    tab.go_back()
    tab.wait_for_selector(".card")
    tab.evaluate("location.hash = 'reproduce'")
    tab.wait_for_function("document.getElementById('reproduce').getBoundingClientRect().top < innerHeight")
    assert tab.evaluate(visible) == ["front"]


def test_names_lead_to_where_they_are(every_page, visit):
    """From a finding on the front page to the system's line, which is where the keyboard goes on."""
    tab = visit(every_page)
    link = tab.locator(".card .answer a").first
    name = link.inner_text()
    link.click()
    tab.wait_for_selector("tr:target")
    assert tab.locator("tr:target .name").inner_text().strip() == name
    tab.wait_for_function("document.activeElement === document.querySelector('tr:target')")
    tab.locator(".findings a", has_text="image-").first.click()
    tab.wait_for_selector(".pane[data-painted]")


@pytest.mark.parametrize("kind", ["every_page", pytest.param("every_single_page", marks=pytest.mark.repeat)])
def test_search_finds_systems_and_images_of_every_task_by_the_keyboard(kind, visit, request):
    tab = visit(request.getfixturevalue(kind))
    tab.keyboard.press("/")
    tab.keyboard.type("SOBEL")
    found = tab.locator("#found a")
    assert all(text.startswith("sobel system, ") for text in found.all_inner_texts())
    assert found.count() > 1
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowDown")
    target = tab.evaluate("document.activeElement.hash")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("tr:target")
    assert tab.evaluate("location.hash") == target
    tab.keyboard.press("/")
    tab.locator("#search").fill("image-2")
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".pane[data-painted]")
    assert tab.inner_text("#viewer-title") == "image-2"
    tab.keyboard.press("Escape")
    tab.locator("#search").fill("no such thing")
    assert tab.inner_text("#found p") == "No matches"
    tab.locator("#search").press("Escape")
    assert tab.locator("#found").is_hidden()


def test_a_class_can_be_chosen(every_page, visit):
    tab = visit(every_page)
    shown(tab, SHEETS - 1)
    assert tab.locator("#kinds").is_visible()
    first, *_, last = tab.evaluate("[...document.querySelectorAll('#kind option')].map((option) => option.value)")
    hits = [tab.get_attribute(".pane", "data-hits")]
    tab.select_option("#kind", last)
    tab.wait_for_function("(before) => document.querySelector('.pane').dataset.hits !== before", arg=hits[0])
    assert f", {last}, " in tab.get_attribute(".pane .window", "aria-label")
    tab.select_option("#kind", first)
    tab.wait_for_function("(before) => document.querySelector('.pane').dataset.hits === before", arg=hits[0])
    shown(tab, 0)
    assert tab.locator("#kinds").is_hidden()


def test_nothing_of_any_task_hangs_over_on_a_phone(every_page, visit):
    tab = visit(every_page, width=390, height=844, has_touch=True)
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    for sheet in range(SHEETS):
        shown(tab, sheet)
        charted(tab)
        assert tab.evaluate("document.documentElement.scrollWidth") == 390, sheet
        assert tab.evaluate("document.querySelector('dialog').scrollWidth") <= 390
        if tab.inner_text(f"#s{sheet}-title") == "Disparity":  # the map is the truth itself
            box = tab.locator(".pane canvas").bounding_box()
            tab.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            tab.wait_for_function("document.querySelector('.readout').textContent.includes('estimate about')")
            told = re.search(
                r"estimate about (.*?) px · truth about (.*?) px · off by about 0.00 px", tab.inner_text(".readout")
            )
            assert told[1] == told[2]


def test_charts_of_a_fixed_size_share_rows_and_fill_them(every_page, visit):
    tab = visit(every_page.parent / "audit.html", width=1400)
    charted(tab)
    rows: dict[float, float] = {}
    boxes = tab.evaluate(
        """[...document.querySelectorAll(".charts .fixed")].map((figure) => {
            const box = figure.getBoundingClientRect(); return [Math.round(box.top), box.width]; })"""
    )
    assert len(boxes) == 4
    for top, width in boxes:
        rows[top] = rows.get(top, 0) + width
    room = tab.evaluate("document.querySelector('.charts').clientWidth")
    assert len(rows) == 2
    assert all(0.9 * room < filled <= room for filled in rows.values())


def test_everything_fits_on_paper(every_page, visit):
    tab = visit(every_page, width=718)
    wide = """[...document.querySelectorAll("table, .plot svg.marks, .images, .findings, .card")]
        .filter((part) => part.getBoundingClientRect().right > 719).map((part) => part.outerHTML.slice(0, 80))"""
    for page in (every_page, *pages_of(every_page)):
        tab.emulate_media(media="screen")
        tab.goto(page.as_uri())
        charted(tab)
        tab.emulate_media(media="print")
        assert tab.evaluate(wide) == []


def test_axe_finds_nothing(every_page, visit, clean, looks_well):
    """On the front page and the first task's at every width, light and dark; on the others as they are first seen."""
    tab = visit(every_page)
    tab.fill("#search", "canny")
    looks_well(tab)
    for sheet, page in enumerate(pages_of(every_page)):
        tab.goto(page.as_uri())
        charted(tab)
        if sheet == 0:
            looks_well(tab)
        else:
            assert clean(tab, colours=False) == [], sheet
        shown(tab, sheet)
        assert clean(tab, "dialog", colours=sheet == 0) == [], sheet
