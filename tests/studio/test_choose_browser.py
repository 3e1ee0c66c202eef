"""The forced choice in a browser, as people take it and as the experimenter looks on."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperacuity.studio.choose.page import ChoosePage
from hyperacuity.studio.choose.plan import SCHEMA, Design
from hyperacuity.studio.choose.results import all_answers
from hyperacuity.studio.choose.trials import load_study
from hyperacuity.studio.state import State

pytestmark = pytest.mark.browser

TOKEN = "the-experimenters-own-token"  # noqa: S105 (of a test)


@pytest.fixture
def served(make_trials, live):
    """``served(count)``: (address of the experimenter's page, links of the participants, the state)."""
    states = []

    def start(count=20, *, people=1, break_every=50, fixation=0.05, keep=1 << 20, **design):
        folder = make_trials(count)
        state = State(folder / "trials" / "studio.sqlite", [SCHEMA])
        states.append(state)
        study = load_study(folder / "trials", folder / "photos", keep=keep)
        choose = ChoosePage(study, state, Design(**design), break_every=break_every, fixation=fixation)
        tokens = choose.ensure_invitations(people)
        address = live(choose.page, token=TOKEN)
        return address.front, [f"{address.base}/take/{token}" for token in tokens], state

    yield start
    for state in states:
        state.close()


def ready(tab):
    """Wait for the next question, and go past what stands before it; returns its position, or None at the end."""
    seen = tab.locator("#trial[data-position], #begin:visible, #start:visible, #go-on:visible, #end:visible").first
    while True:
        seen.wait_for(state="attached")
        for button in ("begin", "start", "go-on"):
            if tab.is_visible(f"#{button}"):
                tab.click(f"#{button}")
                tab.wait_for_selector(f"#{button}", state="hidden")
                break
        else:
            if tab.is_visible("#end"):
                return None
            position = tab.get_attribute("#trial", "data-position")
            if position is not None:
                return int(position)


def answer(tab, key="ArrowLeft"):
    """Answer the question that is shown; returns its position, or None at the end."""
    position = ready(tab)
    if position is not None:
        tab.keyboard.press(key)
        tab.wait_for_selector(f"#trial:not([data-position='{position}'])", state="attached")
    return position


def test_twenty_trials_are_run_and_the_risk_appears(served, visit):
    front, (link,), state = served(20)
    results = visit(front)
    assert "Waiting for the first answer" in results.inner_text("#headline")
    tab = visit(link)
    positions = []
    while (position := answer(tab, ("ArrowRight", "ArrowLeft")[len(positions) % 2])) is not None:
        positions.append(position)
    assert positions == list(range(3 + 20 + 1))  # practice, trials, a check
    assert "Thank you" in tab.inner_text("#end")
    results.get_by_text("20 answers by 1 person").wait_for()
    cells = results.locator("#risks tbody tr").first.locator("td, th").all_inner_texts()
    assert cells[0] == "hard"
    assert cells[1] == "canny"
    assert 0 <= float(cells[2]) <= 1
    assert "–" in cells[4]
    assert results.locator("#people tbody tr td").nth(1).inner_text() == "21 of 21"
    assert results.locator("#people tbody tr td").nth(2).inner_text() == "0 of 1", "the check was failed"
    results.select_option("#attentive", "1")
    results.get_by_text("No answers yet from those who count.").wait_for()
    assert results.inner_text("#risks tbody") == "No answers yet."
    rows = state.read_now(all_answers)
    assert len(rows) == 24
    assert all(0 < row.seconds < 60 and not row.away for row in rows)


def test_reloading_in_the_middle_goes_on_where_one_was(served, visit):
    _, (link,), state = served(6)
    tab = visit(link)
    assert [answer(tab) for _ in range(5)] == [0, 1, 2, 3, 4]
    assert ready(tab) == 5
    tab.reload()
    assert tab.inner_text("#begin") == "Continue where I was"
    assert ready(tab) == 5
    tab.close()
    again = visit(link)  # another browser altogether
    assert [answer(again) for _ in range(5)] == [5, 6, 7, 8, None]
    assert [row.position for row in state.read_now(all_answers)] == list(range(9))
    again.reload()
    again.wait_for_selector("#end")


def test_two_people_at_once_do_not_get_in_each_others_way(served, visit):
    front, links, state = served(5, people=2, practice=0)
    tabs = [visit(link) for link in links]
    for _ in range(5):
        for tab, key in zip(tabs, ("ArrowLeft", "ArrowRight"), strict=True):
            answer(tab, key)
    for tab in tabs:
        tab.wait_for_selector("#end")
    rows = state.read_now(all_answers)
    assert [(row.person, row.side) for row in rows] == [(1, "left")] * 5 + [(2, "right")] * 5
    visit(front).get_by_text("10 answers by 2 people").wait_for()


def test_two_tabs_of_one_person_give_one_answer_per_trial(served, visit):
    _, (link,), state = served(4, practice=0)
    first, second = visit(link), visit(link)
    assert ready(first) == ready(second) == 0
    assert answer(first, "ArrowLeft") == 0
    assert answer(second, "ArrowRight") == 0
    assert ready(second) == 1
    assert [(row.position, row.side) for row in state.read_now(all_answers)] == [(0, "left")]


def test_squares_and_buttons_can_be_clicked_and_other_places_do_nothing(served, visit):
    _, (link,), state = served(4, practice=0)
    tab = visit(link)
    for side in ("left", "right"):
        position = ready(tab)
        question = tab.request.get(f"{link}/next").json()["question"]
        assert question["position"] == position
        box = tab.locator("#marked").bounding_box()
        scale = box["width"] / question["width"]
        tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + 2)  # no square is near
        assert tab.get_attribute("#trial", "data-position") == str(position)
        top, left = question[side]["square"]
        middle = question["size"] / 2
        tab.mouse.click(box["x"] + (left + middle) * scale, box["y"] + (top + middle) * scale)
        tab.wait_for_selector(f"#trial:not([data-position='{position}'])", state="attached")
    for side in ("right", "left"):
        position = ready(tab)
        tab.click("#right" if side == "right" else "#left")
        tab.wait_for_selector(f"#trial:not([data-position='{position}'])", state="attached")
    tab.wait_for_selector("#end")
    assert [row.side for row in state.read_now(all_answers)] == ["left", "right", "right", "left"]


def test_the_keys_can_be_read_in_a_trial_and_answer_nothing_meanwhile(served, visit, serious):
    _, (link,), state = served(4, practice=0)
    tab = visit(link)
    ready(tab)
    tab.keyboard.press("?")
    tab.wait_for_selector("#help[open]")
    assert serious(tab) == []
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.press("Escape")
    assert answer(tab, "ArrowRight") == 0
    ready(tab)
    assert [(row.side, row.away) for row in state.read_now(all_answers)] == [("right", True)], "the time is marked"


def test_keys_during_the_fixation_pause_and_held_keys_do_not_count(served, visit):
    _, (link,), state = served(4, practice=0, fixation=1.5)
    tab = visit(link)
    tab.click("#begin")
    tab.wait_for_selector("#trial.waiting")
    tab.keyboard.press("ArrowRight")
    assert ready(tab) == 0
    assert state.read_now(all_answers) == []
    tab.keyboard.press("Control+ArrowRight")
    tab.keyboard.down("ArrowLeft")
    for _ in range(20):
        tab.keyboard.down("ArrowLeft")  # held: repeats
    assert ready(tab) == 1
    tab.keyboard.down("ArrowLeft")
    tab.keyboard.up("ArrowLeft")
    assert ready(tab) == 1
    assert [(row.position, row.side) for row in state.read_now(all_answers)] == [(0, "left")]


def test_the_time_is_from_when_the_marks_can_be_seen(served, visit):
    _, (link,), state = served(2, practice=0)
    tab = visit(link)
    ready(tab)
    tab.wait_for_timeout(700)
    tab.keyboard.press("ArrowLeft")
    tab.wait_for_selector("#trial:not([data-position='0'])", state="attached")
    ready(tab)
    (row,) = state.read_now(all_answers)
    assert 0.6 < row.seconds < 30


def test_a_server_that_is_away_for_a_moment_loses_nothing(served, visit):
    _, (link,), state = served(3, practice=0)
    tab = visit(link, expected=("Failed to load resource",))
    ready(tab)
    tab.context.set_offline(True)
    tab.keyboard.press("ArrowRight")
    tab.get_by_text("Not saved yet").wait_for()
    tab.context.set_offline(False)
    assert ready(tab) == 1
    assert not tab.is_visible("#problem")
    assert [(row.position, row.side) for row in state.read_now(all_answers)] == [(0, "right")]


def test_practice_says_what_was_right_and_ends_with_a_word(served, visit):
    _, (link,), _ = served(3, practice=1)
    tab = visit(link)
    assert ready(tab) == 0
    assert tab.inner_text("#count") == "Practice"
    tab.keyboard.press("ArrowLeft")
    tab.wait_for_selector("#feedback:not(:empty)")
    assert tab.inner_text("#feedback") in ("✓ Yes, that one", "It was the other one")
    tab.wait_for_selector("#practised")
    assert ready(tab) == 1
    assert tab.inner_text("#count") == "1 of 3"
    assert tab.inner_text("#feedback") == ""


def test_a_break_comes_when_it_should(served, visit):
    _, (link,), _ = served(4, practice=0, break_every=2)
    tab = visit(link)
    assert [answer(tab), answer(tab)] == [0, 1]
    tab.wait_for_selector("#pause")
    assert "2 of 4 are done" in tab.inner_text("#pause-count")
    tab.keyboard.press("Enter")  # the button has the focus
    assert ready(tab) == 2


def test_links_are_made_and_shown(served, visit):
    front, _, _ = served(2, people=0)
    tab = visit(front)
    tab.fill("#how-many", "3")
    tab.click("text=Create links")
    tab.wait_for_selector("#people tbody tr:nth-child(3)")
    links = tab.locator("#people code").all_inner_texts()
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for button, copied in (("#people tbody tr:nth-child(2) button", links[1]), ("#copy-all", "\n".join(links))):
        tab.click(button)
        tab.wait_for_selector(f"{button}:has-text('Copied')")
        assert tab.evaluate("() => navigator.clipboard.readText()") == copied
    tab.context.clear_permissions()
    for name, head in (
        ("Answers", "subject,trial,choice,"),
        ("Raw log", "subject,trial,choice,seconds,side,mirrored,position,away,answered,kind,passed"),
        ("Data, a row per trial", "participant,trial,"),
        ("Codebook", "column,"),
    ):
        with tab.expect_download() as coming:
            tab.click(f"text={name} (CSV)")
        assert Path(coming.value.path()).read_text().startswith(head)
    other = visit(links[2])
    assert ready(other) == 0


def test_a_photograph_that_cannot_be_had_is_said_so(served, visit, tmp_path):
    _, (link,), _ = served(2, practice=0, keep=0)
    for file in (tmp_path / "study" / "photos").iterdir():
        file.write_bytes(b"broken")
    tab = visit(link, expected=("Failed to load resource",))
    tab.evaluate("() => { const wait = setTimeout; window.setTimeout = (then, time) => wait(then, time / 20); }")
    tab.click("#begin")
    tab.get_by_text("Please reload this page; your answers so far are saved.").wait_for()


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.repeat)])
def test_axe_finds_nothing_serious(served, visit, serious, scheme):
    front, (link,), _ = served(4, practice=1, break_every=2)
    tab = visit(link, color_scheme=scheme)
    tab.wait_for_selector("#begin")
    assert serious(tab) == []
    ready(tab)
    assert serious(tab) == []
    answer(tab)
    tab.wait_for_selector("#practised")
    assert serious(tab) == []
    answer(tab)
    answer(tab)
    tab.wait_for_selector("#pause")
    assert serious(tab) == []
    answer(tab)
    answer(tab)
    tab.wait_for_selector("#end")
    assert serious(tab) == []
    results = visit(front, color_scheme=scheme)
    results.wait_for_selector("#people code")
    assert serious(results) == []


@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_sticks_out_sideways(served, visit, width):
    front, (link,), _ = served(4, practice=0)
    tab = visit(link, width=width, height=844)
    results = visit(front, width=width, height=844)
    for page in (tab, results):
        page.wait_for_selector("#begin, #people code")
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    ready(tab)
    assert tab.evaluate("() => document.documentElement.scrollWidth") <= width
    buttons = tab.locator("#right").bounding_box()
    assert buttons["y"] + buttons["height"] <= 844  # everything is in view at once
