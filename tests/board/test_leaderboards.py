"""Leaderboards: the numbers are those of the runs, the tests those of the package, and nothing is ranked across protocols."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from hyperacuity.board import make_leaderboards, read_submissions
from hyperacuity.board.leaderboards import columns_of, reasons, scoring_of
from hyperacuity.board.pages import hardest_first, most_apart_first, system
from hyperacuity.boundary import BoundaryTally
from hyperacuity.cards import Card
from hyperacuity.compare import verdicts
from hyperacuity.errors import InputError
from hyperacuity.tasks import task


@pytest.fixture(scope="module")
def boards(toys):
    submissions, problems = read_submissions(toys)
    found, unscored = make_leaderboards(submissions)
    assert problems == unscored == []
    return found


@pytest.fixture(scope="module")
def ranked(keep):
    """The one leaderboard of these cards."""

    def of(*cards: Card):
        (board,), problems = make_leaderboards(read_submissions(keep(*cards))[0])
        assert problems == []
        return board

    return of


def test_each_protocol_and_each_set_of_truths_has_its_own_leaderboard(boards):
    first, *others = [[one.card.system for one in board.contenders] for board in boards]
    assert set(first[:2]) == {"good", "fair"}
    assert first[2:] == ["poor", "poorer"]
    assert sorted(others) == [["fewer"], ["good"], ["other"]]
    assert len({board.id for board in boards}) == len({board.title for board in boards}) == 4


def test_what_keeps_leaderboards_apart_is_told_part_by_part(boards):
    first = boards[0]
    told = {board.contenders[0].card.system: reasons(board, first) for board in boards[1:]}
    assert told == {
        "good": ["thr is 5 in one and 3 in the other"],
        "other": ["8 images have other truths (image-0, image-1, image-2 and 5 more)"],
        "fewer": ["1 image is in the other only (image-0)"],
    }


def test_scores_are_those_worked_out_by_hand(boards):
    # 100 true and 100 detected pixels on each of 8 images: recall, precision and F are all the mean share found.
    values = {one.card.system: one.line.values["ods"] for one in boards[0].contenders}
    assert values["good"] == pytest.approx(0.81)
    assert values["fair"] == pytest.approx(0.80875)
    assert values["poor"] == pytest.approx(0.51)
    assert values["poorer"] == pytest.approx(0.4725)
    assert [one.line.rank for one in boards[0].contenders] == [1, 2, 3, 4]


def test_intervals_are_those_that_the_run_printed(boards, make_card):
    for one in boards[0].contenders:
        assert one.scoring.intervals["ods"] == one.card.score.ods.interval
        assert one.scoring.intervals["ois"] == one.card.score.ois.interval
    # Draws go by the names of the images, whatever their order in the card.
    names = ["c", "a", "d", "b"]
    card = make_card("late", [10, 90, 60, 50], images=names)
    assert scoring_of(card).intervals["ods"] == card.score.ods.interval
    assert scoring_of(card).alone.tolist() == pytest.approx([0.9, 0.5, 0.1, 0.6])


def test_p_values_are_those_of_every_other_table(boards):
    board = boards[0]
    tallies = {one.label: one.card.tallies for one in board.contenders}
    judged = board.task.criteria(board.contenders[0].card.protocol)
    expected = {one.second: one for one in verdicts(list(tallies), tallies.__getitem__, judged, ["ods"])["ods"]}
    assert {one.label: one.line.verdict for one in board.contenders[1:]} == expected
    assert "may be chance" in board.sentence


def test_groups_join_what_cannot_be_told_apart(boards, ranked, make_card):
    assert [one.group for one in boards[0].contenders] == [1, 1, 2, 3]
    assert not boards[0].contenders[0].line.alone
    # The same system twice, and a third that is worse on every image.
    level = [70, 60, 50, 40, 60, 50, 70, 80]
    board = ranked(make_card("a", level), make_card("b", level), make_card("c", [n - 20 for n in level]))
    assert [(one.label, one.group, one.line.rank) for one in board.contenders] == [
        ("a", 1, 1),
        ("b", 1, 1),
        ("c", 2, 3),
    ]


def test_scores_are_called_as_in_reports_where_they_are_the_same_numbers(boards):
    assert [column.title for column in boards[0].columns] == ["ODS", "OIS", "AP"]
    strength = task("strength")  # shares here, per cent in reports
    card = SimpleNamespace(task=strength, protocol=strength.protocol(), signature=strength.protocol().signature)
    assert [(column.title, column.unit) for column in columns_of(card)] == [("orphan", ""), ("consensus", "")]


def test_the_pareto_set_has_whom_no_other_beats_everywhere(boards):
    optimal = {one.label for one in boards[0].contenders if one.line.optimal}
    assert "poor" not in optimal
    assert "poorer" not in optimal
    assert boards[0].contenders[0].label in optimal


def test_images_are_ordered_by_the_median_and_by_disagreement(ranked, make_card):
    board = ranked(
        make_card("a", [50, 90, 70], images=["x", "y", "z"]),
        make_card("b", [40, 20, 70], images=["x", "y", "z"]),
        make_card("c", [30, 80, 60], images=["x", "y", "z"]),
    )
    assert [board.images[n] for n in hardest_first(board)] == ["x", "z", "y"]  # medians 0.4, 0.7, 0.8
    assert [board.images[n] for n in most_apart_first(board)] == ["y", "x", "z"]  # 0.7, 0.2, 0.1
    one = next(one for one in board.contenders if one.label == "b")
    found = system(board, one, [board])["images"]
    assert found["compared"]
    assert [row["name"] for row in found["worst"]] == ["y"]  # 0.2, the median of the others being 0.85
    assert found["worst"][0]["gain"] == pytest.approx(-0.65)


def test_one_image_and_one_system_are_no_contest(ranked, make_card):
    board = ranked(make_card("a", [50], images=["x"]), make_card("b", [60], images=["x"]))
    assert [one.group for one in board.contenders] == [0, 0]
    assert board.tests == 0
    alone = ranked(make_card("a", [50, 60], images=["x", "y"]))
    assert alone.contenders[0].group == 1
    assert alone.sentence.startswith("a reaches ODS 0.550")


def test_two_of_one_name_are_told_apart(keep, make_card):
    same = [make_card("twin", [50, 60], images=["x", "y"]), make_card("twin", [55, 60], images=["x", "y"])]
    submissions, problems = read_submissions(keep(*same))
    assert [problem.fatal for problem in problems] == [False]
    assert "has the name 'twin'" in problems[0].sentence
    (board,), _ = make_leaderboards(submissions)
    labels = [one.label for one in board.contenders]
    assert len(set(labels)) == 2
    assert all(label.startswith("twin · ") for label in labels)


@pytest.mark.parametrize("name", ["cafe\u0301", "caf\u00e9 ", " caf\u00e9"])
def test_names_that_look_the_same_are_the_same(keep, make_card, name):
    look_alike = [make_card("caf\u00e9", [50], images=["x"]), make_card(name, [55], images=["x"])]
    submissions, problems = read_submissions(keep(*look_alike))
    assert ["on the same leaderboard" in problem.sentence for problem in problems] == [True]
    (board,), _ = make_leaderboards(submissions)
    assert all(one.label.startswith("caf\u00e9 · ") for one in board.contenders)


def test_the_order_of_the_files_does_not_matter(toys, boards):
    again, _ = make_leaderboards(read_submissions(toys[::-1])[0])
    assert [[(one.id, one.label) for one in board.contenders] for board in again] == [
        [(one.id, one.label) for one in board.contenders] for board in boards
    ]


def test_a_system_without_a_score_is_last(keep, make_card):
    nothing = make_card("a", [0, 0], images=["x", "y"])
    empty = {
        image: replace(one, truth=one.truth * 0, detected=one.detected * 0) for image, one in nothing.tallies.items()
    }
    cards = (replace(nothing, tallies=empty), make_card("b", [10, 10], images=["x", "y"]))
    apart = [
        read_submissions(keep(card))[0][0] for card in cards
    ]  # together, their counts of the truth would be refused
    (board,), _ = make_leaderboards(apart)
    assert [one.label for one in board.contenders] == ["b", "a"]


def forged(card: Card, **arrays: np.ndarray) -> Card:
    """The card with other arrays in its first tally."""
    image, first = next(iter(card.tallies.items()))
    return replace(
        card, tallies={**card.tallies, image: BoundaryTally(**{**first.arrays, **arrays}, protocol=first.protocol)}
    )


def test_forged_tallies_are_refused_with_a_sentence(make_card):
    card = make_card("x", [50, 60], images=["x", "y"])
    for arrays in ({"truth": np.ones(7, np.int64)}, {"detected": np.ones((3, 3), np.int64)}, {"truth": np.ones(0)}):
        with pytest.raises(InputError, match="cannot be scored"):
            scoring_of(forged(card, **arrays))


def test_people_are_no_row_among_systems(keep, make_card):
    system, people = make_card("a", [50, 60], images=["x", "y"]), make_card("people", [80, 90], images=["x", "y"])
    (board,), problems = make_leaderboards(read_submissions(keep(system, replace(people, people=True)))[0])
    assert [one.label for one in board.contenders] == ["a"]
    assert [problem.fatal for problem in problems] == [False]
    assert "people" in problems[0].sentence
