"""The site in a browser, opened from disk: it runs nothing that cards say, asks for nothing, and can be read by everybody."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

BOOM = "() => { window.boomed = 0; window.boom = () => { window.boomed += 1; }; window.alert = window.boom; }"
BOOMED = "window.boomed"


def kinds(site: Path) -> dict[str, Path]:
    """A page of each kind."""
    boards = [path for path in (site / "boards").glob("*.html") if not path.stem.endswith("-images")]
    board = max(boards, key=lambda path: path.stat().st_size)
    return {
        "index": site / "index.html",
        "submit": site / "submit.html",
        "leaderboard": board,
        "images": board.with_name(f"{board.stem}-images.html"),
        "system": next(iter(sorted((site / "systems").iterdir()))),
        "image": next(iter(sorted((site / "images").glob(f"{board.stem}-*")))),
    }


@pytest.fixture
def visit(new_tab):
    """Open pages one after the other; when the test ends, nothing may have been complained about or asked of any server."""

    def start(*, width: int = 1400, **options):
        return new_tab(script=f"({BOOM})()", width=width, **options)

    return start


def drawn(tab) -> int:
    """How many charts a page has, once all are drawn."""
    count = tab.evaluate("document.querySelectorAll('.plot').length")
    for place in range(count):  # not by a condition in words, which the page's policy would refuse to evaluate
        tab.locator(".plot").nth(place).locator("svg.marks").wait_for(state="attached")
    return count


def test_what_cards_say_is_shown_and_never_run(nasty_site, visit):
    tab = visit()
    pages = kinds(nasty_site)
    systems = sorted((nasty_site / "systems").iterdir())
    for page in (*pages.values(), *systems):
        tab.goto(page.as_uri())
        if drawn(tab):
            tab.locator("#s0-chart-0 .mark-symbol path").nth(2).hover(force=True)
            tab.wait_for_selector("#vg-tooltip-element.visible")
        for link in tab.locator("a[href]").evaluate_all("(all) => all.map((one) => one.href)"):
            assert link.startswith(("file:", "https://example.org/")), link
        assert tab.evaluate(BOOMED) == 0, page
    tab.goto(pages["leaderboard"].as_uri())
    text = tab.inner_text("main")
    assert "onerror=boom()" in text
    assert "\u202e" not in text


def test_a_leaderboard_sorts_draws_and_marks_the_row_of_its_address(site, visit):
    tab = visit()
    page = kinds(site)["leaderboard"]
    names = "[...document.querySelectorAll('.sortable tbody .name')].map((cell) => cell.innerText.trim())"
    tab.goto(page.as_uri())
    assert drawn(tab) >= 2
    assert tab.evaluate(names) == ["good", "fair", "poor", "poorer"]
    tab.get_by_role("button", name="ODS").click()
    tab.get_by_role("button", name="ODS").click()
    assert tab.evaluate(names)[0] == "poorer"
    row = tab.locator(".sortable tbody tr").first.get_attribute("id")
    tab.goto(f"{page.as_uri()}#{row}")
    assert tab.evaluate("document.querySelector(':target th').innerText.trim()") == "poorer"


def test_on_a_phone_nothing_hangs_over(site, nasty_site, visit):
    tab = visit(width=390)
    for folder in (site, nasty_site):
        for name, page in kinds(folder).items():
            tab.goto(page.as_uri())
            assert tab.evaluate("document.documentElement.scrollWidth") == 390, name


def test_axe_finds_nothing(site, visit, clean, looks_well):
    """On a leaderboard at every width, light and dark; on the others as they are first seen."""
    tab = visit()
    for name, page in kinds(site).items():
        tab.goto(page.as_uri())
        drawn(tab)
        if name == "leaderboard":
            looks_well(tab)
        else:
            assert clean(tab, colours=name == "image") == [], name
