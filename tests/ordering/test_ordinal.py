"""Pairs of points: rates by hand, what is about equal, answers in files, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyperacuity as ha
from hyperacuity.errors import InputError, UsageError
from hyperacuity.ordering import PairProtocol, answers, collect_pairs, point_pairs, tally_pairs
from hyperacuity.ordering.whdr.benchmark import UNANSWERED

ROW = [[1.0, 2.0, 2.03, 4.0, np.nan]]
"""Larger = nearer; the second and third differ by 1.5 %."""


def rates(order, rows, **options):
    score = collect_pairs({"a": tally_pairs(order, [rows], PairProtocol(**options))}, resamples=0)
    return score.rates


def test_rates_by_hand():
    """Weights 2, 1 and 1 of unequal pairs, of which the second is wrong; 3 and 1 of equal ones, of which the second is."""
    rows = [
        [0, 3, 0, 0, 1, 2],  # 4 against 1: the first is nearer, and so it was judged
        [0, 0, 0, 3, 1, 1],  # the other way round
        [0, 0, 0, 1, -1, 1],
        [0, 1, 0, 2, 0, 3],  # 2 and 2.03: equal at 2 %
        [0, 0, 0, 3, 0, 1],  # 1 and 4 are not
    ]
    found = rates(ROW, rows)
    assert found == {"whdr": 2 / 8, "whdr_equal": 1 / 4, "whdr_unequal": 1 / 4}
    assert rates(ROW, rows, delta=0.01)["whdr_equal"] == 1


def test_depths_that_were_flipped_have_the_same_ratios():
    depth = 1 / np.array(ROW)[:, :4]
    rows = [[0, 1, 0, 2, 0], [0, 3, 0, 0, 1], [0, 0, 0, 1, -1]]
    assert rates(-depth, rows) == {"whdr": 0, "whdr_equal": 0, "whdr_unequal": 0}


@pytest.mark.parametrize(
    ("one", "other", "options", "said"),
    [
        (100, 102, {}, -1),  # the ratio must be less than 1 + δ
        (100, 101.9, {}, 0),
        (102, 100, {"delta": 0}, 1),
        (100, 100, {"delta": 0}, 0),
        (-1, 1, {"delta": 5}, -1),  # values of two signs are never about equal
        (0, 0, {}, 0),
        (0, 1e-9, {}, -1),
        (3, 3.5, {"equality": "difference", "delta": 0.5}, 0),
        (3, 3.6, {"equality": "difference", "delta": 0.5}, -1),
        (3, np.nan, {}, UNANSWERED),
    ],
)
def test_what_is_about_equal(one, other, options, said):
    pairs = point_pairs([[0, 0, 0, 1, 0]])
    order = np.array([[one, other, 1]], np.float32)
    assert answers(order, pairs, PairProtocol(**options)).tolist() == [said]


points = st.tuples(st.integers(0, 3), st.integers(0, 3))
pairs_of_points = st.lists(
    st.tuples(points, points, st.sampled_from([-1, 0, 1])).filter(lambda pair: pair[0] != pair[1]),
    min_size=1,
    max_size=9,
    unique_by=lambda pair: frozenset(pair[:2]),
)


@given(pairs_of_points)
def test_a_judge_never_disagrees_with_themselves_and_always_with_another_answer(pairs):
    truth, turned, others = (
        point_pairs([[*one, *other, relation] for one, other, relation in said])
        for said in (
            pairs,
            [(other, one, -relation) for one, other, relation in pairs],
            [(one, other, relation + 1 if relation < 1 else -1) for one, other, relation in pairs],
        )
    )
    assert not tally_pairs(truth, [truth]).wrong.any()
    assert not tally_pairs(turned, [truth]).wrong.any()
    found = tally_pairs(others, [truth])
    assert found.wrong.tolist() == found.weight.tolist()


def test_pairs_without_an_answer_are_wrong_and_told():
    rows = [[0, 4, 0, 0, 1], [0, 3, 0, 0, 1]]
    found = collect_pairs({"a": tally_pairs(ROW, [rows])}, resamples=0)
    assert (found.rates["whdr"], found.pairs) == (0.5, (0, 2, 1))
    assert np.isnan(found.rates["whdr_equal"])
    silent = tally_pairs(point_pairs([[0, 1, 0, 2, 0]]), [rows])
    assert silent.pairs.tolist() == [0, 2, 2]


def test_images_are_pooled_or_averaged():
    """One wrong of one pair in the first image, none of three in the second."""
    images = {"a": [[0, 0, 0, 3, 1]], "b": [[0, 3, 0, 0, 1]] * 3}
    for options, expected in (({}, 1 / 4), ({"aggregate": "mean"}, 1 / 2)):
        result = ha.evaluate("whdr", dict.fromkeys(images, np.array(ROW)), images, progress=False, **options)
        score = result.score()
        assert score.rates["whdr"] == expected
        assert score.intervals["whdr"] == (0, 1)
        assert score.per_image[:, 0].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: point_pairs([[0, 0, 0, 1]]), InputError, "expected rows of y1"),
        (lambda: point_pairs([[0, 0.5, 0, 1, 1]]), InputError, "expected pixels"),
        (lambda: point_pairs([[0, 3, 0, 3, 1]]), InputError, "both points of a pair are at x 3, y 0"),
        (lambda: point_pairs([[0, 0, 0, 1, 2]]), InputError, "relations other than"),
        (lambda: point_pairs([[0, 0, 0, 1, 1, -2]]), InputError, "negative"),
        (lambda: tally_pairs(ROW, []), InputError, "no truth"),
        (lambda: tally_pairs(ROW, [[[0, 0, 1, 0, 1]]]), InputError, "x 0, y 1, outside the map of 5×1"),
        (
            lambda: tally_pairs(ROW, [point_pairs([[0, 0, 0, 1, 1]], size=(50, 10))]),
            InputError,
            "the judged picture is 50×10",
        ),
        (lambda: PairProtocol(delta=-1), UsageError, "expected a non-negative number"),
        (lambda: PairProtocol(equality="log"), UsageError, "'ratio' or 'difference'"),
        (lambda: PairProtocol(aggregate="sum"), UsageError, "'pooled' or 'mean'"),
    ],
)
def test_what_cannot_be_right_is_said(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
