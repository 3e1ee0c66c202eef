"""Paired tests and the groups made of them, with scipy's tests and enumeration as oracles."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hyperacuity.compare.ranking import average_rank
from hyperacuity.compare.significance import clusters, critical_difference, holm, paired_t, pairwise, signed_rank
from hyperacuity.errors import UsageError

RANDOM = np.random.default_rng(0)


class TestSignedRank:
    @pytest.mark.parametrize("n", [5, 12, 50])
    def test_is_scipys_exact_test_without_ties(self, n):
        differences = RANDOM.normal(0.3, 1, n)
        assert signed_rank(differences) == pytest.approx(stats.wilcoxon(differences, method="exact").pvalue, rel=1e-12)

    def test_is_scipys_normal_approximation_for_many(self):
        differences = RANDOM.normal(0.1, 1, 200)
        expected = stats.wilcoxon(differences, method="approx").pvalue
        assert signed_rank(differences) == pytest.approx(expected, rel=1e-9)

    @settings(deadline=None, max_examples=40)
    @given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
    def test_with_ties_it_counts_all_signs(self, differences):
        rest = [d for d in differences if d]
        sizes = stats.rankdata(np.abs(rest)) if rest else []
        seen = sum(size for size, d in zip(sizes, rest, strict=True) if d > 0)
        sums = [sum(itertools.compress(sizes, signs)) for signs in itertools.product((0, 1), repeat=len(rest))]
        tail = min(np.mean([s <= seen for s in sums]), np.mean([s >= seen for s in sums]))
        assert signed_rank(differences) == pytest.approx(min(1, 2 * tail))

    def test_four_images_cannot_be_significant(self):
        assert signed_rank([1, 2, 3, 4]) == 0.125

    def test_nothing_to_compare(self):
        assert signed_rank([]) == signed_rank([0, 0, np.nan]) == 1


def test_paired_t_is_scipys():
    first, second = RANDOM.normal(size=(2, 15))
    assert paired_t(first - second) == pytest.approx(stats.ttest_rel(first, second).pvalue)
    assert paired_t([2, 2, 2]) == 0
    assert paired_t([0, 0]) == paired_t([1]) == 1


def test_holm_on_a_published_example():
    # Holm (1979) worked by hand: 4·0.005, 3·0.011, 2·0.02, 1·0.04
    assert holm([0.04, 0.005, 0.02, 0.011]).tolist() == pytest.approx([0.04, 0.02, 0.04, 0.033])
    assert holm([0.9, 0.8]).tolist() == [1, 1]
    assert holm([]).tolist() == []


class TestPairwise:
    def scores(self):
        """The second is now better, now worse than the first, by the same amounts; the third is worse throughout."""
        base = np.linspace(0, 1, 20)
        wave = 0.01 * np.repeat(np.arange(1, 11), 2) * np.tile([1, -1], 10)
        return np.array([base, base + wave, base + 0.2 + wave / 2])

    @pytest.mark.parametrize("test", ["wilcoxon", "t", "bootstrap"])
    def test_clear_differences_are_found_and_noise_is_not(self, test):
        result = pairwise(self.scores(), test=test, resamples=2000)
        assert result.better().astype(int).tolist() == [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
        assert np.array_equal(result.p, result.p.T)
        assert (result.corrected >= result.p).all()

    def test_what_is_maximised_is_better_when_larger(self):
        up = pairwise(self.scores(), sense="max")
        assert up.better().astype(int).tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 0]]

    def test_images_without_a_score_are_left_out(self):
        scores = self.scores()
        with_hole = np.hstack([scores, [[np.nan], [1.0], [5.0]]])
        assert pairwise(with_hole).p[0, 2] == pairwise(scores).p[0, 2]

    def test_an_unknown_test_is_refused(self):
        with pytest.raises(UsageError, match="expected wilcoxon, t or bootstrap"):
            pairwise(self.scores(), test="sign")


class TestClusters:
    def test_a_system_joins_unless_a_member_is_better(self):
        # a ~ b ~ c ~ d as neighbours, but a beats c and b beats d
        beats = np.zeros((4, 4), dtype=bool)
        beats[0, 2] = beats[1, 3] = beats[0, 3] = True
        assert clusters([1, 2, 3, 4], beats).tolist() == [1, 1, 2, 2]
        beats[0] = False
        assert clusters([1, 2, 3, 4], beats).tolist() == [1, 1, 1, 2]
        assert clusters([1, 2, 3, 4], beats, against="best").tolist() == [1, 1, 1, 1]

    def test_the_order_of_systems_does_not_matter(self):
        beats = np.zeros((4, 4), dtype=bool)
        beats[0, 2] = beats[1, 3] = beats[0, 3] = True
        shuffled = [3, 0, 2, 1]
        assert clusters([4, 1, 3, 2], beats[np.ix_(shuffled, shuffled)]).tolist() == [2, 1, 2, 1]

    def test_no_difference_is_one_cluster_and_all_differences_are_as_many_as_systems(self):
        upper = np.triu(np.ones((5, 5), dtype=bool), 1)
        assert clusters(range(5), ~(upper | True)).tolist() == [1] * 5
        assert clusters(range(5), upper).tolist() == [1, 2, 3, 4, 5]


class TestCriticalDifference:
    def test_friedman_is_scipys_ties_included(self):
        scores = RANDOM.integers(0, 5, (4, 30)).astype(float)
        result = critical_difference(scores)
        assert result.p == pytest.approx(stats.friedmanchisquare(*scores).pvalue)
        assert result.average_rank == pytest.approx(average_rank(scores, ties="average"))

    def test_demsars_worked_example(self):
        # Demšar (2006), section 3.2.3: k = 4, N = 14, average ranks 3.143, 2.000, 2.893, 1.964; q = 2.569, CD = 1.25
        assert critical_difference(RANDOM.random((4, 14))).difference == pytest.approx(1.25, abs=0.005)

    def test_bars_join_what_lies_within_the_difference(self):
        scores = np.array([[1, 2, 1, 2, 1, 2] * 5, [2, 1, 2, 1, 2, 1] * 5, [3] * 30, [4] * 30], dtype=float)
        result = critical_difference(scores)
        assert result.average_rank.tolist() == [1.5, 1.5, 3, 4]
        assert 0.5 < result.difference < 1
        assert result.bars == ((0, 1),)

    def test_a_single_system_has_no_differences(self):
        result = critical_difference([[1.0, 2.0]])
        assert (result.difference, result.p, result.bars) == (0, 1, ())

    def test_images_that_a_system_lacks_are_left_out(self):
        with pytest.raises(UsageError, match="no image on which every system has a score"):
            critical_difference([[np.nan, 1], [1, np.nan]])
