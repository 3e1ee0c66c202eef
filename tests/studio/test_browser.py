"""What all pages share, in a browser: the way in, the theme, problems told."""

from __future__ import annotations

import pytest
from starlette.routing import Route

from hyperacuity.studio.people import SCHEMA, People
from hyperacuity.studio.state import State
from hyperacuity.studio.web import Page, render

pytestmark = pytest.mark.browser

TOKEN = "a-token-nobody-guesses"  # noqa: S105 (of a test)


@pytest.fixture
def page(tmp_path):
    with State(tmp_path / "studio.sqlite", [SCHEMA]) as state:
        people = People(state, "hall")

        async def front(request):
            person = await people.find(request)
            if person is None:
                return await people.welcome(request, title="The hall")
            return render(request, "refusal.html.j2", sentence=f"hello {person.name}")

        yield Page("The hall", [Route("/", front), *people.routes])


def test_a_name_opens_the_page_and_is_known_again(page, live, visit):
    tab = visit(live(page).front)
    tab.fill("#name", "Zoë <b>")
    tab.keyboard.press("Enter")
    tab.get_by_text("Hello Zoë <b>.").wait_for()
    tab.reload()
    tab.get_by_text("Hello Zoë <b>.").wait_for()


def test_their_own_link_lets_someone_in_from_another_computer(page, live, visit, serious):
    address = live(page, token=TOKEN)
    ada = visit(address.front)
    ada.wait_for_url(f"{address.base}/")
    ada.fill("#name", "Ada")
    ada.keyboard.press("Enter")
    ada.get_by_text("Hello Ada.").wait_for()
    ada.goto(f"{address.base}/me")
    link = ada.input_value("#own-link")
    assert "Save this link to continue on another computer" in ada.inner_text("main")
    assert serious(ada) == []
    ada.click("#copy-link")
    elsewhere = visit(link)
    elsewhere.get_by_text("Hello Ada.").wait_for()
    eve = visit(address.front, expected=("403",))
    eve.wait_for_url(f"{address.base}/")
    eve.fill("#name", "Ada")
    eve.keyboard.press("Enter")
    eve.get_by_text("Someone called Ada works here already").wait_for()
    assert serious(eve) == []


def test_someone_elses_link_offers_two_plain_choices(page, live, visit, serious):
    address = live(page, token=TOKEN)
    tabs = {}
    for name in ("Ada", "Bea"):
        tabs[name] = tab = visit(address.front)
        tab.wait_for_url(f"{address.base}/")
        tab.fill("#name", name)
        tab.keyboard.press("Enter")
        tab.get_by_text(f"Hello {name}.").wait_for()
    tabs["Ada"].goto(f"{address.base}/me")
    link, bea = tabs["Ada"].input_value("#own-link"), tabs["Bea"]
    bea.goto(link)
    bea.click("text=Stay signed in as Bea")
    bea.get_by_text("Hello Bea.").wait_for()
    bea.goto(link)
    assert serious(bea) == []
    assert bea.inner_text("#switch") == "Switch to Ada"
    bea.click("#switch")
    bea.get_by_text("Hello Ada.").wait_for()
    assert bea.url == f"{address.base}/"


def test_a_link_on_another_site_leads_in_by_its_token(page, live, visit):
    elsewhere = live(Page("Other", []))  # another port is another origin, but a site of its own name is needed:
    address = live(page, token=TOKEN)
    tab = visit(elsewhere.base.replace("127.0.0.1", "localhost") + "/nowhere", expected=("404", address.base))
    tab.evaluate("(to) => { location.href = to; }", address.front)
    tab.wait_for_selector("#name")
    assert TOKEN not in tab.url


def test_without_the_token_a_sentence_says_what_is_missing(page, live, visit):
    tab = visit(live(page, token=TOKEN).base, expected=("403",))
    assert "asks for its token" in tab.inner_text("main")


def test_the_theme_can_be_chosen_and_stays(page, live, visit):
    tab = visit(live(page).front, color_scheme="light")
    ground = "() => getComputedStyle(document.body).backgroundColor"
    assert tab.evaluate(ground) == "rgb(255, 255, 255)"
    tab.click("#theme")
    tab.click("#theme")
    assert tab.inner_text("#theme") == "Theme: dark"
    assert tab.evaluate(ground) == "rgb(22, 24, 29)"
    tab.reload()
    tab.wait_for_selector("text=Theme: dark")
    assert tab.evaluate(ground) == "rgb(22, 24, 29)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(page, live, visit, serious, scheme):
    address = live(page)
    tab = visit(address.front, color_scheme=scheme)
    assert serious(tab) == []
    tab = visit(address.base + "/nowhere", color_scheme=scheme, expected=("404",))
    assert "There is no such page" in tab.inner_text("main")
    assert serious(tab) == []
