"""What frames an experiment: consent, questions about the participant, a completion code; and the data in long form."""

from __future__ import annotations

import csv
import hashlib
import hmac
import io
import re

import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.errors import UsageError
from hyperacuity.studio.choose.page import ChoosePage
from hyperacuity.studio.choose.plan import SCHEMA, Design
from hyperacuity.studio.choose.session import FACTS, Session, read_question
from hyperacuity.studio.choose.trials import load_study
from hyperacuity.studio.server import last_address
from hyperacuity.studio.state import Schema, State

FRAMED = Session(
    "We keep your answers.\n\nYou may stop at any time.",
    (read_question("Age"), read_question("Vision: normal | corrected")),
    completion="own",
    hasty=0.3,
    enlarge=True,
)
TOKEN = "the-experimenters-own-token"  # noqa: S105 (of a test)


@pytest.fixture
def framed(make_trials):
    """``framed(session)``: a page of six trials, and the tokens of two participants."""
    folder = make_trials(6)
    state = State(folder / "trials" / "studio.sqlite", [SCHEMA])
    study = load_study(folder / "trials", folder / "photos", keep=1 << 20)

    def make(session=FRAMED, practice=1):
        page = ChoosePage(study, state, Design(practice=practice, check_every=3), fixation=0.01, session=session)
        return page, page.ensure_invitations(2), folder

    yield make
    state.close()


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_nothing_is_asked_before_someone_agrees(framed, client_of):
    page, (token, _), _ = framed()
    client = client_of(page.page, token=TOKEN)
    base = f"/take/{token}"
    text = client.get(base).text
    assert "<p>We keep your answers.</p>" in text
    assert "<p>You may stop at any time.</p>" in text
    assert client.get(f"{base}/next").status_code == 403
    assert client.get(f"{base}/picture/0").status_code == 403
    answer = {"position": 0, "side": "left", "seconds": 1, "away": False}
    assert client.post(f"{base}/answer", json=answer).status_code == 403
    assert client.post(f"{base}/consent", json={"agreed": False}).status_code == 400
    assert client.post(f"{base}/consent", json={"agreed": True}).status_code == 200
    assert client.get(f"{base}/next").status_code == 200
    changed, _, _ = framed(Session("Another text."))
    assert client_of(changed.page, token=TOKEN).get(f"{base}/next").status_code == 403, "another text is agreed to anew"


@pytest.mark.parametrize("answers", [["30"], ["30", "none"], [30, "normal"], ["x" * 201, ""], ["a\nb", ""]])
def test_answers_about_oneself_are_checked(framed, client_of, answers):
    page, (token, _), _ = framed()
    client = client_of(page.page, token=TOKEN)
    assert client.post(f"/take/{token}/about", json={"answers": answers}).status_code == 400


def take(client, base, *, seconds=1.0, side="left"):
    """Answer everything; the last answer of the server."""
    now = client.get(f"{base}/next").json()
    while now["question"]:
        body = {"position": now["question"]["position"], "side": side, "seconds": seconds, "away": False}
        now = client.post(f"{base}/answer", json=body).json()
    return now


def test_the_data_have_a_row_per_trial_and_a_codebook_for_every_column(framed, client_of):
    page, (first, second), folder = framed()
    client, experimenter = client_of(page.page, token=TOKEN), client_of(page.page, token=TOKEN)
    codes = []
    for token, about, seconds in ((first, ["31", "corrected"], 1.2346), (second, ["", ""], 0.2)):
        base = f"/take/{token}"
        client.post(f"{base}/consent", json={"agreed": True})
        assert client.post(f"{base}/about", json={"answers": about}).status_code == 200
        done = take(client, base, seconds=seconds)
        codes.append(done["code"])
        assert len(done["code"]) == 8
        known = (hmac.new(token.encode(), about, hashlib.sha256) for about in (b"completion", b"", token.encode()))
        assert done["code"] not in {one.hexdigest()[:8].upper() for one in known}, "nobody knows it by their token"
    assert len(set(codes)) == 2
    experimenter.get(f"/?token={TOKEN}")
    rows, book = rows_of(experimenter.get("/data.csv").text), rows_of(experimenter.get("/codebook.csv").text)
    assert list(rows[0]) == [row["column"] for row in book]
    assert len(rows) == 2 * (1 + 6 + 2), "practice, trials, checks"
    assert {row["rt_ms"] for row in rows if row["participant"] == "P01"} == {"1235"}
    assert all("hasty" in row["flags"].split() for row in rows if row["participant"] == "P02")
    assert not any("hasty" in row["flags"] for row in rows if row["participant"] == "P01")
    assert "faster than 300 ms" in next(row["meaning"] for row in book if row["column"] == "flags")
    assert {(row["about_age"], row["about_vision"]) for row in rows} == {("31", "corrected"), ("", "")}
    key = {row["trial"]: row["false_alarm"] for row in rows_of((folder / "trials/key.csv").read_text())}
    answers = {(row["subject"], row["trial"]): row["choice"] for row in rows_of(experimenter.get("/answers.csv").text)}
    for row in rows:
        if row["kind"] == "trial":
            chosen = answers[row["participant"], row["item"]]
            assert row["response"] == ("false alarm" if chosen == key[row["item"]] else "label")
            assert (row["condition"] in ("hard", "easy"), row["system"] in ("canny", "sobel")) == (True, True)
        else:
            assert row["response"] == ("wrong" if "failed" in row["flags"] else row["response"])
    people = experimenter.get("/results").json()["people"]
    assert [(one["hasty"], one["code"]) for one in people] == [(0, codes[0]), (6, codes[1])]
    again, _, _ = framed()
    assert take(client_of(again.page), f"/take/{first}")["code"] == codes[0], "a study keeps its codes"


def test_a_file_of_the_first_version_opens(tmp_path):
    first = Schema("choose", 1, tuple(line for line in SCHEMA.steps if line != FACTS))
    with State(tmp_path / "studio.sqlite", [first]) as state:
        state.write_now(lambda file: file.execute("INSERT INTO choose_people VALUES (1, 'token', '0 1', 'now')"))
        settings = [("port", "8123"), ("token", "that-of-the-experimenter")]
        state.write_now(lambda file: file.executemany("INSERT INTO choose_settings VALUES (?, ?)", settings))
    with State(tmp_path / "studio.sqlite", [SCHEMA]) as state:
        assert state.read_now(lambda file: file.execute("SELECT count(*) FROM choose_facts").fetchone()) == (0,)
        assert state.read_now(lambda file: file.execute("SELECT token FROM choose_people").fetchone()) == ("token",)
        address = last_address(state, "choose")
        assert (address.port, address.token) == (8123, "that-of-the-experimenter")


@pytest.mark.parametrize("text", ["", " : a | b", "Vision: normal"])
def test_a_question_that_cannot_be_asked_is_refused(text):
    with pytest.raises(UsageError, match="ask="):
        read_question(text)


def test_the_command_writes_data_and_codebook(make_trials, tmp_path):
    folder = make_trials(4)
    empty = tmp_path / "empty.txt"
    empty.write_text(" \n")
    call = ["studio", "choose", str(folder / "trials"), "--images", str(folder / "photos")]
    refused = CliRunner().invoke(app, [*call, "--consent", str(empty)])
    assert refused.exit_code == 2
    assert "is empty, expected the text" in refused.stderr
    done = CliRunner().invoke(app, [*call, "--ask", "Age", "--export-data", str(tmp_path / "data")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "data/data.csv").read_text().startswith("participant,trial,kind,condition,")
    assert "about_age,text" in (tmp_path / "data/codebook.csv").read_text()


@pytest.mark.browser
def test_someone_agrees_answers_and_gets_a_code_by_keys_alone(framed, live, visit, serious, looks_well):
    page, (token, _), _ = framed()
    tab = visit(f"{live(page.page, token=TOKEN).base}/take/{token}", width=1400, height=900)
    tab.wait_for_selector("#consent:visible")
    looks_well(tab)
    for key in ("Tab", "Space"):
        tab.keyboard.press(key)
    assert tab.is_checked("#agree")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#about:visible")
    assert serious(tab) == []
    tab.keyboard.press("Tab")
    tab.keyboard.type("31")
    tab.keyboard.press("Tab")
    tab.keyboard.press("c")  # chooses the answer that begins with it
    assert (tab.input_value("#about-1"), tab.input_value("#about-2")) == ("31", "corrected")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#begin:visible")
    tab.keyboard.press("Enter")
    shot = None
    for _ in range(9):
        position = tab.wait_for_selector("#trial[data-position]").get_attribute("data-position")
        if shot is None:
            shot = tab.locator("#enlarged-left").screenshot()
            assert shot != tab.locator("#enlarged-right").screenshot()
            looks_well(tab)
        tab.keyboard.press("ArrowRight")
        tab.wait_for_selector(f"#trial:not([data-position='{position}'])", state="attached")
        if tab.locator("#start").count() and position == "0":
            tab.wait_for_selector("#start:visible")
            tab.keyboard.press("Enter")
    tab.wait_for_selector("#code-line:visible")
    assert re.fullmatch("[0-9A-F]{8}", tab.inner_text("#code"))
    assert serious(tab) == []
    tab.reload()
    tab.wait_for_selector("#code-line:visible")


def test_consent_text_is_read_as_it_is():
    assert Session("One\nline.\r\n\r\n<b>Two</b>").paragraphs == ["One line.", "<b>Two</b>"]
