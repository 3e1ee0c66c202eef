"""``hyperacuity card``, and ``--against`` on the commands: from a run folder to a row of another one's table."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cards import read_card
from hyperacuity.cli import app
from hyperacuity.data import write_edges, write_soft
from hyperacuity.evaluation.comparison import compare_runs
from hyperacuity.run import open_run

ABOUT = """
title = "Mine"
authors = ["Ann Ample", "Bo Box"]
year = 2026
link = "https://example.org/mine"
licence = "CC0"
description = '''Sees
lines.'''
"""
HOW = ("--thresholds", "5", "--workers", "1")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Four images by two annotators; two systems; a run of both, and the card of one."""
    folder = tmp_path_factory.mktemp("cards")
    random = np.random.default_rng(0)
    for n in range(4):
        truth = np.zeros((24, 32), bool)
        truth[6 + n], truth[:, 9] = True, True
        for person, drawn in enumerate((truth, np.roll(truth, 1, axis=0))):
            (folder / "truth" / str(person)).mkdir(parents=True, exist_ok=True)
            write_edges(folder / "truth" / str(person) / f"{n}.png", drawn)
        for system, noise in (("mine", 0.1), ("other", 0.9)):
            (folder / system).mkdir(exist_ok=True)
            soft = np.where(truth, 0.8, 0) + noise * random.random(truth.shape)
            write_soft(folder / system / f"{n}.png", np.clip(soft, 0, 1).astype(np.float32))
    old = 1_600_000_000
    for path in folder.rglob("*.png"):
        os.utime(path, (old, old))
    (folder / "about.toml").write_text(ABOUT)
    here = os.getcwd()
    os.chdir(folder)
    try:
        done = [
            CliRunner().invoke(app, words)
            for words in (
                ["boundary", "mine", "truth", "--system", "other", "--run", "run", *HOW],
                ["card", "run", "--system", "mine", "--about", "about.toml", "--out", "out/mine.card"],
                ["card", "run", "--people", "--out", "people.card"],
            )
        ]
    finally:
        os.chdir(here)
    assert [one.exit_code for one in done] == [0, 0, 0], [one.output for one in done]
    return folder


@pytest.fixture
def command(place, monkeypatch):
    monkeypatch.chdir(place)
    return lambda *words: CliRunner().invoke(app, words)


def test_a_card_has_all_that_is_known_of_a_run(place):
    card = read_card(place / "out/mine.card")
    with open_run(place / "run") as run:
        started = run.history()[0]["started"]
    assert card.about.authors == ("Ann Ample", "Bo Box")
    assert card.made.data == "truth"
    assert card.made.date == started[:10]
    assert card.made.version
    assert (card.images, card.expected) == (["0", "1", "2", "3"], 4)
    assert [len(digests) for digests in card.truths.values()] == [2] * 4


def test_show_prints_the_card_and_its_scores_as_the_command_does(command):
    shown = command("card", "show", "out/mine.card")
    assert shown.exit_code == 0, shown.output
    for words in (
        "mine, Mine",
        "Ann Ample, Bo Box (2026)",
        "https://example.org/mine",
        "Sees",
        "truth, 4 images",
        "thr:5",
    ):
        assert words in shown.stdout, words
    alone = command("boundary", "mine", "truth", *HOW).stdout.splitlines()[1]
    assert alone in shown.stdout
    assert "F " in command("card", "show", "people.card").stdout


def test_show_prints_the_tally_of_an_image_and_everything_as_json(command, place):
    card = read_card(place / "out/mine.card")
    shown = command("card", "show", "out/mine.card", "--image", "2")
    assert f"  truth int64 5: {card.tallies['2'].truth.tolist()}" in shown.stdout
    (found,) = json.loads(command("card", "show", "out/mine.card", "--json").stdout)["cards"]
    assert found["images"]["2"]["tally"]["truth"] == card.tallies["2"].truth.tolist()
    assert found["digest"] == card.digest
    assert found["numbers"]["ods"] == card.score.ods.f
    assert command("card", "show", "out/mine.card", "--image", "9").exit_code == 2


def test_check_names_the_bad_ones_and_finishes_the_rest(command, place, tmp_path):
    data = bytearray((place / "out/mine.card").read_bytes())
    data[len(data) // 2] ^= 4
    (tmp_path / "bad.card").write_bytes(data)
    (tmp_path / "none.card").write_text("nothing")
    (tmp_path / "folder.card").mkdir()
    bad = [str(tmp_path / name) for name in ("bad.card", "none.card", "folder.card")]
    if hasattr(os, "mkfifo"):  # would keep a reader waiting
        os.mkfifo(tmp_path / "pipe.card")
        bad.append(str(tmp_path / "pipe.card"))
    checked = command("card", "check", "out/mine.card", *bad, "people.card")
    assert checked.exit_code == 1
    assert checked.stdout.splitlines()[0].startswith("out/mine.card: sound: mine, 4 images, ods ")
    assert "people.card: sound: people" in checked.stdout
    assert "bad.card: line " in checked.stderr
    assert "none.card: is no card of this version" in checked.stderr
    assert checked.stderr.count("is not a plain file, expected a card") == len(bad) - 2


def test_check_counts_a_sample_of_images_again(command, place, tmp_path):
    words = ("card", "check", "out/mine.card", "--truth", "truth", "--sample", "2", "--seed", "3", "--workers", "1")
    checked = command(*words, "--maps", "mine", "--json")
    assert checked.exit_code == 0, checked.output
    (one,) = json.loads(checked.stdout)["cards"]
    assert list(one["counted"].values()) == [True, True]
    wrong = command(*words, "--maps", "other")
    assert wrong.exit_code == 1
    assert wrong.stderr.count("the tally differs in ") == 2
    shutil.copytree(place / "truth", tmp_path / "truth")
    write_edges(tmp_path / "truth/1" / f"{next(iter(one['counted']))}.png", np.eye(24, 32, dtype=bool))
    other = command(*words[:3], "--truth", str(tmp_path / "truth"), *words[5:], "--maps", "mine")
    assert "differs: annotator 2 of 2" in other.stderr
    assert command("card", "check", "out/mine.card", "--maps", "mine").exit_code == 2


def test_a_card_is_a_row_of_the_commands_table(command):
    both = command("boundary", "other", "truth", "--system", "mine", *HOW, "--json")
    row = command("boundary", "other", "truth", "--against", "out/mine.card", *HOW, "--json")
    assert row.exit_code == 0, row.output
    one, two = json.loads(both.stdout), json.loads(row.stdout)
    assert two.pop("against")["mine"]["images"] == 4
    assert one == two
    refused = command("boundary", "other", "truth", "--against", "out/mine.card", "--thresholds", "9")
    assert refused.exit_code == 2
    assert "thr is 5 on the card and 9 here" in refused.stderr
    assert refused.stdout == ""
    people = command("boundary", "other", "truth", "--against", "people.card", *HOW)
    assert people.stdout == command("boundary", "other", "truth", "--human", *HOW).stdout
    assert command("boundary", "other", "truth", "--against", "all", *HOW).exit_code == 0


def test_runs_are_compared_with_cards(place, command):
    assert command("boundary", "other", "truth", "--run", "alone", *HOW).exit_code == 0
    whole = compare_runs([place / "run"], resamples=10)
    found = compare_runs([place / "alone"], against=place / "out/mine.card", resamples=10)
    assert sorted(found.table.systems) == sorted(whole.table.systems)
    assert found.verdicts == whole.verdicts
    shown = command("compare", "alone", "--against", "out/mine.card", "--resamples", "10")
    assert "mine" in shown.stdout
    assert "is a card of people" in command("compare", "alone", "--against", "people.card").stderr


def test_a_truth_that_has_changed_since_is_refused_and_maps_may_be_gone(place, tmp_path, monkeypatch):
    monkeypatch.setattr("hyperacuity.run.fingerprint.SETTLED_NS", -(10**12))  # files are recorded however new they are
    shutil.copytree(place / "truth", tmp_path / "truth")
    shutil.copytree(place / "mine", tmp_path / "mine")
    words = ["boundary", str(tmp_path / "mine"), str(tmp_path / "truth"), "--run", str(tmp_path / "run"), *HOW]
    assert CliRunner().invoke(app, words).exit_code == 0
    make = ["card", str(tmp_path / "run"), "--out", str(tmp_path / "a.card")]
    shutil.rmtree(tmp_path / "mine")
    recorded = CliRunner().invoke(app, make)
    assert recorded.exit_code == 0, recorded.stderr
    write_edges(tmp_path / "truth/0/1.png", np.eye(24, 32, dtype=bool))
    refused = CliRunner().invoke(app, make)
    assert refused.exit_code == 2
    assert "the truth of 1, has changed since it was evaluated" in refused.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run",), "a card is of one system: choose with --system; there are mine, other"),
        (("run", "--system", "x"), "--system x: there is no such system; there are mine, other"),
        (("run", "--system", "mine", "--signature", "edges"), "has no protocol of that name, but boundary|"),
        (("run", "--system", "mine", "--people"), "leave one of the two out"),
        (("none",), "there is no run in none"),
    ],
)
def test_a_choice_that_is_not_clear_is_refused_with_what_there_is(command, words, said):
    refused = command("card", *words)
    assert refused.exit_code == 2
    assert said in refused.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "titel = 'Mine'",
            "has the key 'titel', expected only title, authors, year, link, licence, description, bibtex",
        ),
        ("year = '2011'", "year is '2011', expected a year such as 2011"),
        ("authors = 'Ann'", "authors is no list, expected a list of names in quotes"),
        ("authors = [1]", "authors is not a list of names"),
        ("title = 5", "title is not a text"),
        ("link = 'ftp://x'", "link is 'ftp://x', expected one that starts with https:// or http://"),
        ("title = ", "is no TOML"),
    ],
)
def test_what_is_told_of_a_system_is_checked_with_file_and_key(command, tmp_path, text, said):
    (tmp_path / "about.toml").write_text(text)
    refused = command("card", "run", "--system", "mine", "--about", str(tmp_path / "about.toml"))
    assert refused.exit_code == 1
    assert f"{tmp_path / 'about.toml'}: {said}" in refused.stderr
