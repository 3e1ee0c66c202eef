"""One order from many comparisons: against every permutation, against networkx, and against what must hold of any order."""

from __future__ import annotations

from itertools import permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperacuity.errors import InputError
from hyperacuity.ordering import layers as module
from hyperacuity.ordering.layers import layers


@st.composite
def comparisons(draw, members=6):
    count = draw(st.integers(2, members))
    pairs = [(a, b) for a in range(count) for b in range(a)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, min_size=1))
    turned = draw(st.lists(st.booleans(), min_size=len(chosen), max_size=len(chosen)))
    weights = draw(st.lists(st.integers(1, 9), min_size=len(chosen), max_size=len(chosen)))
    arcs = [(b, a) if turn else (a, b) for (a, b), turn in zip(chosen, turned, strict=True)]
    return count, arcs, weights


def solve(count, arcs, weights):
    return layers([a for a, _ in arcs], [b for _, b in arcs], weights, count)


def least_contradicted(count, arcs, weights):
    """The least (weight, number) of contradicted comparisons over all permutations."""
    found = []
    for order in permutations(range(count)):
        wrong = [w for (a, b), w in zip(arcs, weights, strict=True) if order.index(a) > order.index(b)]
        found.append((sum(wrong), len(wrong)))
    return min(found)


def kept_graph(count, arcs, violated):
    graph = nx.DiGraph([arc for arc, gone in zip(arcs, violated, strict=True) if not gone])
    graph.add_nodes_from(range(count))
    return graph


@settings(max_examples=60, deadline=None)
@given(comparisons())
def test_no_permutation_contradicts_less(case):
    count, arcs, weights = case
    found = solve(*case)
    wrong = np.array(weights)[found.violated]
    assert (wrong.sum(), wrong.size) == least_contradicted(count, arcs, weights)
    assert found.bound == wrong.sum()


@settings(max_examples=60, deadline=None)
@given(comparisons(members=9))
def test_layers_are_the_longest_chains_of_an_acyclic_graph(case):
    count, arcs, _ = case
    found = solve(*case)
    graph = kept_graph(count, arcs, found.violated)
    assert nx.is_directed_acyclic_graph(graph)
    compared = {end for arc in arcs for end in arc}
    for member in range(count):
        if member not in compared:
            assert np.isnan(found.layer[member])
            continue
        behind = graph.subgraph({member} | nx.descendants(graph, member))
        assert found.layer[member] == nx.dag_longest_path_length(behind)
    for (front, behind), gone in zip(arcs, found.violated, strict=True):
        assert (found.layer[front] < found.layer[behind]) == gone, "what is given up is contradicted, never tied"


@settings(max_examples=60, deadline=None)
@given(comparisons())
def test_beyond_the_exact_size_the_bound_holds_and_nothing_is_given_up_in_vain(case):
    count, arcs, weights = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "EXACT", 0)
        found = solve(*case)
    best, _ = least_contradicted(count, arcs, weights)
    assert found.bound <= best <= np.array(weights)[found.violated].sum()
    graph = kept_graph(count, arcs, found.violated)
    assert nx.is_directed_acyclic_graph(graph)
    for arc in (arc for arc, gone in zip(arcs, found.violated, strict=True) if gone):
        assert not nx.is_directed_acyclic_graph(nx.DiGraph([*graph.edges, arc]))


def test_a_large_circle_gives_up_its_lightest_comparison():
    count = 3 * module.EXACT
    weights = np.full(count, 5.0)
    weights[7] = 2
    found = layers(np.arange(count), (np.arange(count) + 1) % count, weights, count)
    assert np.flatnonzero(found.violated).tolist() == [7]
    assert found.bound == 2
    assert sorted(found.layer) == list(range(count))


def test_of_two_orders_that_contradict_the_same_weight_the_one_that_contradicts_fewer_is_taken():
    # 0 → 1 weighs 2; giving it up costs as much as both 1 → 2 and 1 → 3, which lead back.
    found = layers([0, 1, 1, 2, 3], [1, 2, 3, 0, 0], [2, 1, 1, 9, 9], 4)
    assert found.violated.tolist() == [True, False, False, False, False]


def test_without_comparisons_nothing_is_known():
    assert np.isnan(layers([], [], [], 3).layer).all()
    assert layers([], [], [], 0).layer.size == 0


@pytest.mark.parametrize("wrong", [([0], [0], [1]), ([0], [1], [-1]), ([0, 1], [1], [1])])
def test_what_cannot_be_compared_is_an_error(wrong):
    with pytest.raises(InputError, match="comparisons"):
        layers(*wrong, 2)
