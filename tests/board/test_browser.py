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
def visit(chromium):
    """Open pages one after the other; when the test ends, nothing may have been complained about or asked of any server."""
    contexts, complaints = [], []

    def start(*, width: int = 1400, **options):
        context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(20_000)
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else complaints.append(r.url))
        tab.on("dialog", lambda dialog: complaints.append(dialog.message))
        tab.add_init_script(f"({BOOM})()")
        return tab

    yield start
    for context in contexts:
        context.close()
    assert complaints == []


def drawn(tab) -> int:
    """How many charts a page has, once all are drawn."""
    count = tab.evaluate("document.querySelectorAll('.plot').length")
    tab.wait_for_function(f"document.querySelectorAll('.plot svg.marks').length === {count}")
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


def serious(tab, *, colours: bool) -> list[tuple[str, str]]:
    """What axe has to say that is serious, with the first place it says it of. Contrast takes it longest by far."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs the package axe-playwright-python")
    options = {"preload": False, "rules": {"color-contrast": {"enabled": colours}}}
    found = axe.Axe().run(tab, options=options).response["violations"]
    return [(f["id"], f["nodes"][0]["html"][:160]) for f in found if f["impact"] in ("serious", "critical")]


def test_axe_finds_nothing_serious(site, visit):
    tab = visit()
    for name, page in kinds(site).items():
        tab.goto(page.as_uri())
        drawn(tab)
        assert serious(tab, colours=name in ("leaderboard", "image")) == [], name


@pytest.mark.repeat
def test_nor_in_the_dark(site, visit):
    tab = visit(color_scheme="dark")
    for name in ("system", "image"):
        tab.goto(kinds(site)[name].as_uri())
        assert serious(tab, colours=True) == [], name
