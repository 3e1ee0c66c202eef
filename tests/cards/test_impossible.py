"""Cards that are whole, and yet impossible: more matches than pixels, or another count of the same truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hyperacuity as ha
from hyperacuity.board import make_leaderboards, read_submissions
from hyperacuity.boundary import BoundaryTally
from hyperacuity.cards import Card, parsed, write_card, written
from hyperacuity.errors import InputError

TRUTH = np.eye(32, dtype=bool)


def evaluated(system: str, share: float = 0.9) -> Card:
    """A system that finds some of a diagonal at nine thresholds."""
    soft = np.where(TRUTH & (np.arange(32) < 32 * share), np.float32(0.7), np.float32(0))
    return ha.evaluate("boundary", {system: [soft]}, [TRUTH], thresholds=9, progress=False).card(system)


def forged(card: Card, **changes: float) -> Card:
    """The card with counts multiplied, signed again."""
    tallies = {
        image: replace(tally, **{name: getattr(tally, name) * by for name, by in changes.items()})
        for image, tally in card.tallies.items()
    }
    return replace(card, tallies=tallies)


def test_matches_cannot_be_more_than_pixels(monkeypatch):
    doubled = forged(evaluated("mine"), truth_matched=2, detected_matched=2)
    with pytest.raises(InputError, match="truth"):
        written(doubled)
    monkeypatch.setattr(BoundaryTally, "validate", lambda self: None)
    signed = written(doubled)
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"mine\.card: .*truth"):
        parsed(signed, "mine.card")


def board_of(tmp_path, *cards):
    for card in cards:
        write_card(card, tmp_path / f"{card.system}.card")
    return read_submissions(sorted(tmp_path.glob("*.card")))


def test_a_board_refuses_the_card_whose_truth_is_another_number(tmp_path):
    half = forged(evaluated("forged"), truth=1.5)
    half = replace(half, tallies={i: replace(t, truth=t.truth.astype(np.int64)) for i, t in half.tallies.items()})
    submissions, problems = board_of(tmp_path, evaluated("one"), evaluated("two", 0.5), half)
    assert [one.card.system for one in submissions] == ["one", "two"]
    (problem,) = problems
    assert problem.fatal
    assert problem.path.name == "forged.card"
    assert problem.sentence.endswith("its count (truth) is [48], expected [32] as on the card of one")
    (board,), _ = make_leaderboards(submissions)
    assert [one.label for one in board.contenders] == ["one", "two"]


def test_of_two_cards_that_contradict_each_other_neither_is_taken(tmp_path):
    submissions, problems = board_of(tmp_path, evaluated("one"), forged(evaluated("other"), truth=2))
    assert submissions == []
    assert sorted(problem.path.name for problem in problems) == ["one.card", "other.card"]


def test_an_evaluation_leaves_out_a_card_that_contradicts_it():
    soft = TRUTH * np.float32(0.9)
    result = ha.evaluate(
        "boundary",
        {"mine": [soft]},
        [TRUTH],
        thresholds=9,
        against=[forged(evaluated("forged"), truth=2), evaluated("sound")],
        progress=False,
    )
    assert list(result.scores) == ["mine", "sound"]
    (failure,) = result.failures
    assert failure.system == "forged"
    assert "its count (truth) is [64], expected [32]" in failure.reason


def test_the_row_of_a_card_says_how_many_images_it_lacks():
    soft = {name: TRUTH * np.float32(0.9) for name in "abcdef"}
    truths = dict.fromkeys(soft, TRUTH)
    some = {name: soft[name] for name in "abc"}
    few = ha.evaluate("boundary", {"few": some}, dict.fromkeys("abc", TRUTH), thresholds=9, progress=False).card()
    result = ha.evaluate("boundary", {"all": soft}, truths, thresholds=9, against=few, progress=False)
    assert result.expected("few") == 6
    assert "3 of 6" in str(result)
