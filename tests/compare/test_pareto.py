"""Pareto dominance: the spec's worked vectors, brute force and two other packages as oracles, and properties."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperacuity.compare import pareto
from hyperacuity.compare.pareto import costs, direct, dominance, groups, interpretation, optimal
from hyperacuity.errors import InputError, UsageError

SYSTEMS = "abcdef"
VECTORS = [(1, 5, 3), (2, 4, 3), (2, 5, 4), (1, 5, 3), (3, 3, 9), (9, 9, 9)]

TABLES = st.tuples(st.integers(0, 40), st.integers(1, 4)).flatmap(
    lambda shape: st.binary(min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]).map(
        lambda levels: (np.frombuffer(levels, np.uint8) % 7.0).reshape(shape)
    )
)
"""Small whole numbers, so that there are ties, duplicates and chains; made of bytes, which are quickly drawn."""


def named(mask):
    return "".join(itertools.compress(SYSTEMS, mask))


def dominates(u, v):
    return all(a <= b for a, b in zip(u, v, strict=True)) and any(a < b for a, b in zip(u, v, strict=True))


def peeled(table):
    """Groups from their definition, in a few lines of Python."""
    left, result, group = set(range(len(table))), [0] * len(table), 0
    while left:
        best = {i for i in left if not any(dominates(table[j], table[i]) for j in left)}
        left -= best
        for i in best:
            result[i] = group
        group += 1
    return result


class TestWorkedVectors:
    def test_optimal_set_and_groups(self):
        assert named(optimal(VECTORS)) == "abde"
        assert groups(VECTORS).tolist() == [0, 0, 1, 0, 0, 2]

    def test_how_many_dominate_each(self):
        assert dominance(VECTORS).sum(axis=0).tolist() == [0, 0, 3, 0, 0, 5]

    def test_strict_dominance_keeps_what_ties_somewhere(self):
        assert named(optimal(VECTORS, strict=True)) == "abcde"

    @pytest.mark.parametrize(("epsilon", "expected"), [(0, "abde"), (1, "abcd"), (2, "abcd")])
    def test_tolerance(self, epsilon, expected):
        assert named(optimal(VECTORS, epsilon=epsilon)) == expected
        assert named(optimal(VECTORS, epsilon=[epsilon] * 3)) == expected

    def test_errors_of_two_images_side_by_side_or_averaged(self):
        p, q, r = (1, 10), (6, 6), (5, 7)
        assert optimal([p, q, r]).tolist() == [True, True, True]
        assert optimal([[np.mean(v)] for v in (p, q, r)]).tolist() == [True, False, False]


@pytest.fixture(params=["pairs", "divided"])
def way(request, monkeypatch):
    """Small tables are compared pair by pair; the way of large tables must give the same."""
    if request.param == "divided":
        monkeypatch.setattr(pareto, "SMALL", 0)


@pytest.mark.usefixtures("way")
class TestAgainstDefinition:
    @settings(deadline=None, max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(TABLES)
    def test_groups_are_those_of_repeated_peeling(self, table):
        assert groups(table).tolist() == peeled(table)

    @settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(TABLES)
    def test_optimal_is_the_first_group(self, table):
        assert optimal(table).tolist() == (groups(table) == 0).tolist()

    @settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(TABLES)
    def test_the_graph_lists_every_pair(self, table):
        assert dominance(table).tolist() == [[dominates(u, v) for v in table] for u in table]


@pytest.mark.parametrize("kind", ["random", "anti-correlated", "ties", "chain"])
@pytest.mark.parametrize(("systems", "criteria"), [(3000, 2), (3000, 3), (2000, 4), (1500, 6)])
def test_large_tables_take_the_divided_way_to_the_same_groups(kind, systems, criteria):
    table = many(kind, systems, criteria)
    relation = dominance(table)
    left, group = np.ones(systems, dtype=bool), groups(table)
    for level in range(min(12, group.max() + 1)):
        best = left & ~relation[left].any(axis=0)
        assert np.array_equal(best, group == level)
        left &= ~best
    assert np.array_equal(optimal(table), group == 0)


def many(kind, systems, criteria, seed=0):
    random = np.random.default_rng(seed)
    if kind == "anti-correlated":
        return random.dirichlet(np.ones(criteria), systems) * random.normal(1, 0.05, (systems, 1))
    if kind == "ties":
        return random.integers(0, 5, (systems, criteria)).astype(float)
    if kind == "chain":
        return np.repeat(random.permutation(systems)[:, None], criteria, axis=1).astype(float)
    return random.random((systems, criteria))


class TestAgainstOtherPackages:
    @pytest.mark.parametrize("kind", ["random", "anti-correlated", "ties"])
    @pytest.mark.parametrize(("systems", "criteria"), [(20_000, 2), (20_000, 3), (5_000, 5)])
    def test_same_members_as_moocore(self, kind, systems, criteria):
        moocore = pytest.importorskip("moocore", reason="a peer of the bench extra")
        table = many(kind, systems, criteria, seed=1)
        assert np.array_equal(optimal(table), moocore.is_nondominated(table, keep_weakly=True))
        assert np.array_equal(groups(table), moocore.pareto_rank(table))

    @pytest.mark.parametrize("kind", ["random", "ties"])
    def test_same_members_as_paretoset(self, kind):
        paretoset = pytest.importorskip("paretoset", reason="a peer of the bench extra").paretoset
        table = many(kind, 3000, 3, seed=2)
        senses = ["min", "max", "min"]
        expected = paretoset(table, sense=senses, distinct=False, use_numba=False)
        assert np.array_equal(optimal(table, senses=senses), expected)


class TestProperties:
    @settings(deadline=None, max_examples=60)
    @given(TABLES, st.randoms(use_true_random=False))
    def test_the_order_of_systems_and_criteria_does_not_matter(self, table, random):
        rows, columns = (random.sample(range(n), n) for n in table.shape)
        assert groups(table[rows][:, columns]).tolist() == groups(table)[rows].tolist()

    @settings(deadline=None, max_examples=60)
    @given(TABLES)
    def test_a_system_entered_twice_changes_nothing(self, table):
        assert groups(np.vstack([table, table])).tolist() == np.tile(groups(table), 2).tolist()

    @settings(deadline=None, max_examples=60)
    @given(TABLES)
    def test_a_monotone_scale_changes_nothing(self, table):
        scaled = table.copy()
        scaled[:, 0] = np.exp(scaled[:, 0]) - 100
        assert groups(scaled).tolist() == groups(table).tolist()

    @settings(deadline=None, max_examples=60)
    @given(TABLES)
    def test_what_is_maximised_is_negated(self, table):
        assert groups(-table, senses=["max"] * table.shape[1]).tolist() == groups(table).tolist()

    @settings(deadline=None, max_examples=60)
    @given(TABLES)
    def test_groups_are_numbered_without_gaps_and_each_is_led_by_the_one_before(self, table):
        group, relation = groups(table), dominance(table)
        assert set(group.tolist()) == set(range(group.max(initial=-1) + 1))
        for j in np.flatnonzero(group > 0):
            assert any(relation[i, j] for i in np.flatnonzero(group == group[j] - 1))

    @settings(deadline=None, max_examples=60)
    @given(st.integers(2, 30).flatmap(lambda n: st.tuples(*[st.permutations(range(n))] * 3)))
    def test_optimal_on_fewer_criteria_is_optimal_on_more_where_there_are_no_ties(self, columns):
        dense = np.array(columns, dtype=float).T
        assert not (optimal(dense[:, :2]) & ~optimal(dense)).any()

    @settings(deadline=None, max_examples=60)
    @given(TABLES, st.integers(0, 3))
    def test_peeling_with_a_tolerance_ends_and_leaves_no_one_out(self, table, epsilon):
        group = groups(table, epsilon=epsilon)
        assert set(group.tolist()) == set(range(group.max(initial=-1) + 1))

    def test_what_a_tolerance_cannot_part_is_one_last_group(self):
        circle = [
            [0, 1.5, 3],
            [1.5, 3, 0],
            [3, 0, 1.5],
        ]  # each wins once by 3 over the one before, and loses twice by 1.5
        assert dominance(circle, epsilon=2.9).sum(axis=0).tolist() == [1, 1, 1]
        assert not optimal(circle, epsilon=2.9).any()
        assert groups([[-9, -9, -9], *circle], epsilon=2.9).tolist() == [0, 1, 1, 1]

    def test_the_direct_graph_leads_everywhere_the_whole_one_does(self):
        relation = dominance(many("ties", 60, 3))
        reach = direct(relation)
        assert (reach & ~relation).sum() == 0
        assert reach.sum() < relation.sum()
        for _ in range(8):
            reach = reach | ((reach.astype(int) @ reach.astype(int)) > 0)
        assert np.array_equal(reach, relation)


@pytest.mark.usefixtures("way")
class TestEdgeCases:
    def test_no_systems(self):
        assert optimal(np.empty((0, 3))).tolist() == []
        assert groups(np.empty((0, 3))).tolist() == []

    def test_one_system(self):
        assert optimal([[5.0]]).tolist() == [True]

    def test_missing_values_count_as_worst(self):
        table = [[1, np.nan], [2, 3], [3, 4]]
        assert optimal(table).tolist() == [True, True, False]
        assert optimal(table, senses=["min", "max"]).tolist() == [True, True, True]
        assert optimal(table, nan="drop-component").tolist() == [True, False, False]
        with pytest.raises(InputError, match="system 0 in criterion 1"):
            optimal(table, nan="error")

    def test_infinite_values_are_values(self):
        assert optimal([[np.inf, -np.inf], [0, 0], [np.inf, 0]]).tolist() == [True, True, False]
        assert groups([[np.inf, np.inf], [np.inf, np.inf]]).tolist() == [0, 0]

    def test_minus_zero_is_zero(self):
        assert groups([[-0.0, 1], [0.0, 1]]).tolist() == [0, 0]

    def test_costs_never_are_the_callers_array(self):
        table = np.ones((2, 2))
        costs(table)[:] = 7
        assert (table == 1).all()

    @pytest.mark.parametrize(
        ("call", "sentence"),
        [
            (lambda: optimal([1, 2, 3]), "expected systems × criteria"),
            (lambda: optimal([[1, 2]], senses=["min"]), "expected min or max for each of 2 criteria"),
            (lambda: optimal([[1, 2]], senses=["min", "up"]), "expected min or max"),
            (lambda: optimal([[1, 2]], epsilon=-1), "expected a number ≥ 0"),
            (lambda: optimal([[1, 2]], epsilon=[1, 2, 3]), "one for each of 2 criteria"),
            (lambda: optimal([[1, np.nan]], nan="ignore"), "expected worst, drop-component or error"),
            (lambda: optimal([[np.nan]], nan="drop-component"), "none is left"),
            (lambda: dominance(np.zeros((20_001, 1))), "too many pairs"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, call, sentence):
        with pytest.raises((InputError, UsageError), match=sentence):
            call()


class TestInWords:
    def test_one_system_ahead_of_all(self):
        said = interpretation(["A", "B", "C"], [False, True, False])
        assert said.startswith("By dominance, B is ahead")
        assert "A and C are dominated" in said

    def test_comparable_systems(self):
        said = interpretation(["A", "B", "C"], [True, True, False], criteria=["x", "y"], images=["1", "2"])
        assert said.startswith("By dominance, A and B are comparable")
        assert "C is dominated" in said
        assert "these 2 images, these 3 systems and these 2 criteria (x, y)" in said

    def test_all_comparable(self):
        assert "dominated" not in interpretation(["A", "B"], [True, True])

    def test_a_single_system_is_optimal_trivially(self):
        assert "trivially" in interpretation(["A"], [True], criteria=["x"])

    def test_a_tolerance_may_leave_none(self):
        assert interpretation(["A", "B"], [False, False]).startswith("No system is optimal")
