"""Precision–recall–classification: the paper's algebra, its random baseline and its index, against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperacuity.errors import InputError
from hyperacuity.ordering.prc import Outcomes, f_measure, from_confusion, over_random_index, summary

counts = st.integers(0, 10_000)


@pytest.mark.parametrize(
    ("beta", "precision", "recall", "f"),
    [
        (0, Fraction(3, 5), Fraction(1, 2), Fraction(6, 11)),
        (0.5, Fraction(7, 10), Fraction(7, 12), Fraction(7, 11)),
        (1, Fraction(4, 5), Fraction(2, 3), Fraction(8, 11)),
    ],
)
def test_worked_example_of_the_spec(beta, precision, recall, f):
    one = Outcomes(consistent=6, inconsistent=2, false=2, missed=4)
    assert one.precision(beta) == pytest.approx(float(precision), abs=1e-15)
    assert one.recall(beta) == pytest.approx(float(recall), abs=1e-15)
    assert one.f(beta) == pytest.approx(float(f), abs=1e-15)


def test_worked_example_in_summary():
    found = summary(Outcomes(6, 2, 2, 4))
    assert (found.fg, found.ori) == (0.75, pytest.approx(0.5, abs=1e-15))
    assert (found.fmax, found.fmin) == (pytest.approx(8 / 11), pytest.approx(6 / 11))


def test_the_index_is_never_negative():
    assert over_random_index(0.8, 0.3) == 0


def test_the_index_without_any_detection_is_zero():
    assert over_random_index(0, 0) == 0


def test_with_more_classes_chance_is_lower():
    # Three classes: of F = 0.9, chance keeps 0.3; 0.6 is half way from there to 0.9.
    assert over_random_index(0.9, 0.6, classes=3) == pytest.approx(0.5)


@given(counts, counts, counts, counts)
def test_over_random_index_is_twice_the_accuracy_less_one(right, wrong, false, missed):
    found = summary(Outcomes(right, wrong, false, missed))
    if right + wrong:
        accuracy = Fraction(right, right + wrong)
        assert found.fg == pytest.approx(float(accuracy))
        assert found.ori == pytest.approx(max(0.0, float(2 * accuracy - 1)), abs=1e-9)


@given(counts, counts, counts, counts, st.floats(0, 1))
def test_true_and_false_positives_make_up_the_detections(right, wrong, false, missed, beta):
    one = Outcomes(right, wrong, false, missed)
    hits = right + beta * wrong
    if hits > 0:
        false_positives, false_negatives = false + (1 - beta) * wrong, missed + (1 - beta) * wrong
        assert one.precision(beta) == pytest.approx(hits / (hits + false_positives))
        assert one.recall(beta) == pytest.approx(hits / (hits + false_negatives))
        assert one.f(beta) == pytest.approx(2 * hits / (2 * hits + false_positives + false_negatives))


@given(st.integers(1, 10_000), counts, counts, st.floats(0, 1))
def test_a_coin_as_classifier_has_the_random_baseline(half, false, missed, beta):
    coin = Outcomes(half, half, false, missed)
    assert coin.f(beta) == pytest.approx(float(coin.random_f(beta)))
    assert coin.precision(beta) == pytest.approx(float((1 + beta) / 2 * coin.precision(1)))


@given(counts, counts, counts, counts, st.floats(0, 1), st.floats(0, 1))
def test_precision_recall_and_f_grow_with_beta(right, wrong, false, missed, one, other):
    low, high = sorted((one, other))
    found = Outcomes(right, wrong, false, missed)
    for measure in (found.precision, found.recall, found.f):
        assert not measure(low) > measure(high) + 1e-12


class TestEmpty:
    def test_no_detection_has_no_precision_and_no_recall(self):
        one = Outcomes(0, 0, 0, 5)
        assert math.isnan(one.precision())
        assert (one.recall(), one.f()) == (0, 0)

    def test_no_truth_has_no_recall(self):
        one = Outcomes(0, 0, 3, 0)
        assert math.isnan(one.recall())
        assert (one.precision(), one.f()) == (0, 0)

    def test_neither_has_nothing(self):
        one = Outcomes(0, 0, 0, 0)
        assert all(math.isnan(value) for value in (one.precision(), one.recall(), one.f(), one.accuracy))
        assert summary(one).index == -1

    def test_f_of_two_zeros_is_zero(self):
        assert f_measure(0, 0) == 0


class TestSweeps:
    def test_the_point_of_best_detection_is_taken_whatever_its_classes(self):
        sweep = Outcomes(consistent=[9, 1], inconsistent=[0, 9], false=[9, 0], missed=[9, 0])
        found = summary(sweep)
        assert found.index == 1
        assert (found.fmax, found.fmin) == (1, pytest.approx(0.1))
        assert found.ori == 0

    def test_the_first_of_equal_points_is_taken(self):
        assert summary(Outcomes([1, 1], [0, 0], [0, 0], [0, 0])).index == 0

    def test_points_without_anything_are_passed_over(self):
        assert summary(Outcomes([0, 1], [0, 0], [0, 0], [0, 1])).index == 1


class TestConfusion:
    def test_object_detection_with_three_classes(self):
        #        nothing  cat dog cow   (truth)
        table = [[0, 2, 1, 1], [1, 5, 1, 0], [2, 1, 4, 0], [0, 0, 1, 3]]
        found = from_confusion(table)
        assert [found.consistent, found.inconsistent, found.false, found.missed] == [12, 3, 3, 4]

    def test_two_classes_are_the_table_of_the_paper(self):
        found = from_confusion([[7, 1, 2], [3, 4, 5], [6, 8, 9]])
        assert [found.consistent, found.inconsistent, found.false, found.missed] == [13, 13, 9, 3]

    @pytest.mark.parametrize("table", [[[1]], [[1, 2, 3], [4, 5, 6]], [1, 2]])
    def test_what_is_no_table_is_refused(self, table):
        with pytest.raises(InputError, match="expected a square"):
            from_confusion(table)


def test_two_sides_may_count_differently():
    one = Outcomes(4, 1, 5, 10, recalled_consistent=8, recalled_inconsistent=2)
    assert (one.precision(0), one.recall(0), one.recall(1)) == (0.4, 0.4, 0.5)
    assert one.accuracy == 0.8


@pytest.mark.parametrize("bad", [-1, float("nan")])
def test_impossible_counts_are_refused(bad):
    with pytest.raises(InputError, match="missed: counts must not be negative"):
        Outcomes(np.ones(2), np.ones(2), np.ones(2), [1, bad])
