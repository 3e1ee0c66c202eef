"""``hyperacuity board`` and ``board check`` as a repository's CI calls them."""

from __future__ import annotations

import json
import shutil

import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app


def called(*words):
    return CliRunner().invoke(app, ["board", *map(str, words)])


def test_a_board_is_made_and_checked(toys, tmp_path):
    made = called(*toys[:2], "--out", tmp_path / "site", "--title", "Toys <of> ours")
    assert made.exit_code == 0, made.output
    assert "good reaches ODS 0.810" in made.stdout
    assert f"open {tmp_path / 'site' / 'index.html'}" in made.stderr
    assert "<h1>Toys &lt;of&gt; ours</h1>" in (tmp_path / "site" / "index.html").read_text()
    checked = called("check", *toys[:2], "--site", tmp_path / "site")
    assert checked.exit_code == 0, checked.output
    assert "2 of 2 sound" in checked.stdout
    assert "ODS 0.810" in checked.stdout
    assert "every number is what its cards give" in checked.stdout


def test_tables_for_papers_have_a_row_per_system_and_the_signature(toys, tmp_path):
    made = called(*toys[:2], "--out", tmp_path / "site", "--csv", "-", "--latex", tmp_path / "table.tex")
    assert made.exit_code == 0, made.output
    head, best, *_ = made.stdout.splitlines()
    assert head.startswith("system,ods,ods_low,ods_high,")
    assert best.startswith("good,0.81")
    assert best.count("boundary|") == 1
    (page,) = (tmp_path / "site" / "boards").glob("*.tex")
    assert page.read_text() == (tmp_path / "table.tex").read_text()
    assert r"\begin{tabular}" in page.read_text()


def test_everything_wrong_is_named_and_the_rest_is_checked(toys, keep, make_card, tmp_path):
    for number, path in enumerate(toys[:2]):
        shutil.copy(path, tmp_path / f"{number}.card")
    shutil.copy(toys[0], tmp_path / "twice.card")
    (clash,) = keep(make_card("good", [50] * 8))
    shutil.copy(clash, tmp_path / "clash.card")
    data = bytearray(toys[2].read_bytes())
    data[300] ^= 1
    (tmp_path / "flipped.card").write_bytes(data)
    (tmp_path / "no.card").write_bytes(b"\x89PNG")
    result = called("check", tmp_path)
    assert result.exit_code == 1
    assert "twice.card: is the same card as" in result.stderr
    assert "has the name 'good'" in result.stderr
    assert "flipped.card: line 2 is damaged" in result.stderr
    assert "no.card: is no card" in result.stderr
    assert "2 of 6 sound" in result.stdout
    said = json.loads(called("check", tmp_path, "--json").stdout)
    assert said["sound"] is False
    assert [len(one["problems"]) for one in said["cards"]].count(0) == 2


def test_bad_cards_of_a_board_end_in_status_1(toys, tmp_path):
    (tmp_path / "no.card").write_bytes(b"")
    result = called(toys[0], tmp_path / "no.card", "--out", tmp_path / "site", "--json")
    assert result.exit_code == 1
    assert "failed:" in result.stderr
    said = json.loads(result.stdout)
    assert [problem["fatal"] for problem in said["problems"]] == [True]
    assert said["boards"][0]["systems"][0]["name"] == "good"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(["check"], "nothing to check"), (["{folder}", "--out", "{folder}/site"], "there is no file *.card")],
)
def test_calls_that_cannot_be_carried_out(words, sentence, tmp_path):
    result = called(*(word.format(folder=tmp_path) for word in words))
    assert result.exit_code == 2
    assert sentence in result.stderr


def test_without_charts_a_sentence_says_what_to_install(toys, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "altair", None)
    result = called(toys[0], "--out", tmp_path / "site")
    assert result.exit_code == 2
    assert "charts need the package altair: pip install" in result.stderr
