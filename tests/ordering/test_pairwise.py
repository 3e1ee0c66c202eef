"""Global depth consistency: the spec's worked example, exact fractions, and the definition spelled out over all pairs."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hyperacuity.errors import InputError
from hyperacuity.ordering import compare_regions, match_regions, ordering, partition
from hyperacuity.ordering.orderings import Partition

TRUTH = np.array([[1, 1, 2, 2, 4, 4]] * 2 + [[1, 1, 3, 3, 4, 4]] * 2)
SYSTEM = np.array([[1, 1, 3, 3, 4, 4]] * 2 + [[2, 2, 3, 3, 4, 4]] * 2)


def painted(labels, depth):
    return partition(np.vectorize(depth.get)(labels).astype(np.float32), labels)


@pytest.fixture
def truth():
    return painted(TRUTH, {1: 1, 2: 2, 3: 3, 4: 4})


@pytest.fixture
def system():
    return painted(SYSTEM, {1: 1, 2: 3, 3: 2, 4: 4})


class TestWorkedExample:
    def test_regions_stand_for_those_they_overlap_best(self, system, truth):
        assert match_regions(system, truth).tolist() == [0, 0, 1, 3]

    def test_counts(self, system, truth):
        found = compare_regions(system, truth)
        assert (found.consistent, found.inconsistent) == (Fraction(5, 2), Fraction(1, 2))
        assert (found.false, found.missed, found.dropped) == (1, 3, 0)

    def test_scores(self, system, truth):
        found = compare_regions(system, truth).outcomes()
        assert [found.precision(0), found.recall(0), found.f(0)] == pytest.approx([5 / 8, 5 / 12, 1 / 2])
        assert [found.precision(1), found.recall(1), found.f(1)] == pytest.approx([3 / 4, 1 / 2, 3 / 5])

    def test_missed_pairs_read_literally(self, system, truth):
        assert compare_regions(system, truth, missed_pairs="literal").missed == 6

    def test_truth_against_itself(self, truth):
        found = compare_regions(truth, truth)
        assert (found.consistent, found.inconsistent, found.false, found.missed) == (6, 0, 0, 0)

    def test_one_region_misses_every_pair(self, truth):
        found = compare_regions(painted(np.ones_like(TRUTH), {1: 1}), truth)
        assert (found.consistent, found.inconsistent, found.false, found.missed) == (0, 0, 0, 6)


def by_definition(system, truth, same=1e-9):
    """Equations 9 to 13, word by word, in fractions."""

    def sign(a, b):
        return 0 if abs(a - b) <= same else (1 if a > b else -1)

    standing = []
    for s in range(system.regions):
        mine = system.labels == s
        best = None
        for g in range(truth.regions):
            other = truth.labels == g
            shared, union = int((mine & other).sum()), int(((mine & (truth.labels >= 0)) | other).sum())
            if shared and (best is None or (Fraction(shared, union), shared) > best[:2]):
                best = (Fraction(shared, union), shared, g)
        standing.append(None if best is None else best[2])
    consistent = inconsistent = Fraction(0)
    matched = sorted({g for g in standing if g is not None})
    for i, j in itertools.combinations(matched, 2):
        pairs = [(k, m) for k, gk in enumerate(standing) for m, gm in enumerate(standing) if gk == i and gm == j]
        alpha = sum(sign(system.depth[k], system.depth[m]) == sign(truth.depth[i], truth.depth[j]) for k, m in pairs)
        consistent += Fraction(alpha, len(pairs))
        inconsistent += Fraction(len(pairs) - alpha, len(pairs))
    false = sum(
        standing[k] is not None and standing[k] == standing[m] and sign(system.depth[k], system.depth[m]) != 0
        for k, m in itertools.combinations(range(system.regions), 2)
    )
    missed = truth.regions * (truth.regions - 1) // 2 - len(matched) * (len(matched) - 1) // 2
    return consistent, inconsistent, false, missed


small = arrays(np.int32, (5, 6), elements=st.integers(-1, 5)).filter(lambda a: (a >= 0).any())
depths = st.lists(st.integers(0, 4), min_size=7, max_size=7)


def drawn(labels, depth):
    order = np.where(labels < 0, np.nan, np.array(depth, np.float32)[labels]).astype(np.float32)
    return partition(order, labels)


@settings(max_examples=60, deadline=None)
@given(small, depths, small, depths)
def test_counts_are_those_of_the_definition(labels, depth, true_labels, true_depth):
    system, truth = drawn(labels, depth), drawn(true_labels, true_depth)
    found = compare_regions(system, truth)
    assert (found.consistent, found.inconsistent, found.false, found.missed) == by_definition(system, truth)


@settings(max_examples=40, deadline=None)
@given(small, depths, small, depths)
def test_every_true_pair_is_consistent_inconsistent_or_missed(labels, depth, true_labels, true_depth):
    truth = drawn(true_labels, true_depth)
    found = compare_regions(drawn(labels, depth), truth)
    assert found.consistent + found.inconsistent + found.missed == truth.regions * (truth.regions - 1) // 2


@settings(max_examples=40, deadline=None)
@given(small, depths)
def test_truth_against_itself_is_perfect_and_negated_all_wrong(labels, depth):
    truth = drawn(labels, depth)
    found = compare_regions(truth, truth)
    assert (found.inconsistent, found.false, found.missed) == (0, 0, 0)
    other = compare_regions(drawn(labels, [-d for d in depth]), truth)
    ties = sum(a == b for a, b in itertools.combinations(truth.depth, 2))
    assert other.consistent == ties
    assert compare_regions(drawn(labels, [-d for d in depth]), truth, equal_pairs="exclude").consistent == 0


@settings(max_examples=40, deadline=None)
@given(small, depths, small, depths, st.permutations(range(7)))
def test_labels_and_monotone_changes_of_depth_do_not_matter(labels, depth, true_labels, true_depth, names):
    truth = drawn(true_labels, true_depth)
    before = compare_regions(drawn(labels, depth), truth)
    renamed = np.where(labels < 0, -1, np.array(names, np.int32)[labels]).astype(np.int32)
    moved = [0] * 7
    for old, new in enumerate(names):
        moved[new] = np.exp(depth[old]) + 100
    assert compare_regions(drawn(renamed, moved), truth) == before


class TestEdges:
    def test_a_region_on_unknown_ground_is_dropped(self):
        truth = partition([[1, 2, 3]], [[0, 1, -1]])
        found = compare_regions(partition([[1, 2, 3]], [[0, 1, 2]]), truth)
        assert (found.consistent, found.dropped) == (1, 1)

    def test_regions_of_unknown_depth_are_left_out(self):
        unknown = Partition(np.array([[0, 1, 2]], np.int32), np.array([1, np.nan, 3]), np.zeros((1, 3), np.float32))
        truth = partition([[1, 2, 3]], [[0, 1, 2]])
        found = compare_regions(unknown, truth)
        assert (found.consistent, found.missed) == (1, 2)
        assert compare_regions(truth, unknown).missed == 0

    def test_ties_in_the_truth_are_a_class_or_left_out(self):
        truth, system = partition([[1, 1, 2]], [[0, 1, 2]]), partition([[1, 3, 2]], [[0, 1, 2]])
        assert compare_regions(system, truth).consistent == 1
        assert compare_regions(system, truth).inconsistent == 2
        excluded = compare_regions(system, truth, equal_pairs="exclude")
        assert (excluded.consistent, excluded.inconsistent, excluded.missed) == (1, 1, 0)

    def test_nearly_equal_depths_are_equal(self):
        labels = np.array([[0, 1]], np.int32)
        near = Partition(labels, np.array([1.0, 1.0 + 1e-12]), np.zeros((1, 2), np.float32))
        same = Partition(labels, np.array([5.0, 5.0]), np.zeros((1, 2), np.float32))
        assert compare_regions(near, same).consistent == 1
        assert compare_regions(near, same, same_depth=0).consistent == 0

    def test_thousands_of_regions_add_up_exactly(self):
        rng = np.random.default_rng(3)
        truth = ordering(np.repeat(np.repeat(rng.integers(0, 9, (6, 10)), 20, 0), 20, 1).astype(np.float32))
        system = ordering(rng.random((120, 200), np.float32))
        found = compare_regions(system, truth)
        assert system.regions == 24_000
        assert (found.consistent + found.inconsistent).denominator == 1
        assert float(found.consistent) == pytest.approx(0.5 * float(found.consistent + found.inconsistent), rel=0.2)

    def test_different_sizes_are_refused(self, truth):
        with pytest.raises(InputError, match="must have the same size"):
            compare_regions(partition([[1, 2]], [[0, 1]]), truth)

    @pytest.mark.parametrize("option", ["equal_pairs", "missed_pairs"])
    def test_an_unknown_choice_is_refused(self, truth, option):
        with pytest.raises(InputError, match=option):
            compare_regions(truth, truth, **{option: "no"})
