"""Claims as data: each row of each paper names a check that takes its arguments, and a mistake in a row is an error at once."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from hyperacuity_papers.common import claims
from hyperacuity_papers.common.claims import NotRunError, number, read_claims
from hyperacuity_papers.every import PAPERS

ROW = """
title = "Somebody (2001)"
[commands]
study = "hyperacuity study made"
measure = "hyperacuity ordering PRED TRUTH"
[[claim]]
where = "Section 1"
says = "F of a half and a half"
"""


@pytest.fixture
def made(monkeypatch, tmp_path):
    """``made(lines)``: the claim of a paper with these further lines, checked by the functions of palou2014."""
    monkeypatch.setattr(claims, "__file__", str(tmp_path / "common" / "claims.py"))

    def read(lines):
        (tmp_path / "palou2014").mkdir(exist_ok=True)
        (tmp_path / "palou2014" / "claims.toml").write_text(ROW + lines, encoding="utf-8")
        (claim,) = read_claims("palou2014").claims
        return claim

    return read


def test_a_row_says_what_is_checked_and_with_what(made):
    claim = made(
        'check = "examples.worked"\nof = "F"\nat = [1]\nby_hand = "8/11"\ntheirs = "8/11"\ncommand = "measure"'
    )
    assert (claim.where, claim.theirs, claim.command) == ("Section 1", "8/11", "hyperacuity ordering PRED TRUTH")
    assert claim.check(None).verdict == "holds"
    other = made('check = "examples.worked"\nof = "F"\nat = [1]\nby_hand = "7/11"\ncommand = "hyperacuity see"')
    assert other.check(None).because == "worked out from the paper it is 0.636364"
    assert (other.theirs, other.command) == ("", "hyperacuity see")


def test_what_a_figure_shows_is_not_known_before_it_is_drawn(made):
    claim = made('check = "examples.worked"\nof = "F"\nat = [1]\nby_hand = "8/11"\nfigure = "fig.png"')
    assert claim.check(SimpleNamespace(figures=("fig.png",))).ours == "fig.png: 0.727273"
    for figures, why in (((), "figures were not drawn"), (("other.png",), "needs BSDS500 and bsds-fg")):
        with pytest.raises(NotRunError, match=why):
            claim.check(SimpleNamespace(figures=figures))


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        ('check = "examples.no_such"', AttributeError),
        ('check = "no_such.worked"', ModuleNotFoundError),
        ('check = "examples.worked"\nof = "F"', TypeError),
        ('check = "examples.worked"\nof = "F"\nby_hand = 1\nbyhand = 1', TypeError),
        ("", KeyError),
    ],
)
def test_a_mistake_in_a_row_is_an_error_when_it_is_read(made, lines, error):
    with pytest.raises(error):
        made(lines)


@pytest.mark.parametrize("paper", PAPERS)
def test_no_two_rows_of_a_paper_say_the_same(paper):
    said = [(claim.where, claim.says) for claim in read_claims(paper).claims]
    assert len(set(said)) == len(said) > 30


@pytest.mark.parametrize(
    ("text", "value"),
    [(3, 3), ("3", 3), ("4/7", 4 / 7), ("1 - 3/5*18/20", 0.46), ("sqrt(8)/5**2", math.sqrt(8) / 25), ("(2+3)*4", 20)],
)
def test_numbers_are_written_as_they_were_worked_out(text, value):
    assert number(text) == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize("text", ["open('x')", "__import__('os')", "a", "1 if 1 else 2", "'1'", "sqrt(x=1)", "1 // 2"])
def test_and_nothing_else_is_computed(text):
    with pytest.raises(ValueError, match="expected numbers"):
        number(text)
