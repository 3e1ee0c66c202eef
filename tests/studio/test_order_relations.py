"""What follows from what people say about depth; networkx is the second opinion."""

from __future__ import annotations

import itertools

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperacuity.studio.order.relations import (
    Statements,
    arrange,
    as_sentence,
    find_contradiction,
    place,
    relate,
    remove,
)

COUNT = 7


@st.composite
def saids(draw):
    """Anything that can be said about seven regions, contradictions included."""
    places = {}
    for region in draw(st.lists(st.integers(0, COUNT - 1), unique=True, max_size=COUNT)):
        places = place(places, region, draw(st.integers(1, COUNT)), tie=draw(st.booleans()))
    pairs = draw(
        st.dictionaries(st.sampled_from(list(itertools.combinations(range(COUNT), 2))), st.sampled_from((-1, 0, 1)))
    )
    return Statements(places, pairs)


@st.composite
def truths(draw):
    """What someone says who has a picture in mind: never a contradiction."""
    depth = draw(st.lists(st.integers(0, 4), min_size=COUNT, max_size=COUNT))
    placed = draw(st.sets(st.integers(0, COUNT - 1)))
    steps = {d: n for n, d in enumerate(sorted({depth[region] for region in placed}), start=1)}
    asked = draw(st.sets(st.sampled_from(list(itertools.combinations(range(COUNT), 2)))))
    pairs = {(a, b): (depth[b] > depth[a]) - (depth[b] < depth[a]) for a, b in asked}
    return Statements({region: steps[depth[region]] for region in placed}, pairs)


def graphs(said: Statements) -> tuple[nx.Graph, set[tuple[int, int]]]:
    """Who is as far as whom, and who is in front of whom, each pair written out."""
    equal = nx.Graph()
    equal.add_nodes_from(range(COUNT))
    front = set()
    for (a, b), relation in said.pairs.items():
        if relation == 0:
            equal.add_edge(a, b)
        else:
            front.add((a, b) if relation > 0 else (b, a))
    for a, b in itertools.permutations(said.positions, 2):
        if said.positions[a] == said.positions[b]:
            equal.add_edge(a, b)
        elif said.positions[a] < said.positions[b]:
            front.add((a, b))
    return equal, front


def contracted(said: Statements) -> tuple[nx.DiGraph, dict[int, int]]:
    """The strict relations between classes of equals."""
    equal, front = graphs(said)
    number = {region: n for n, regions in enumerate(nx.connected_components(equal)) for region in regions}
    strict = nx.DiGraph()
    strict.add_nodes_from(number.values())
    strict.add_edges_from((number[a], number[b]) for a, b in front)
    return strict, number


@settings(max_examples=120, deadline=None)
@given(saids())
def test_a_contradiction_is_found_exactly_when_equals_and_fronts_have_a_circle(said):
    strict, _ = contracted(said)
    found = arrange(said, COUNT)
    assert bool(found.tangled) == (not nx.is_directed_acyclic_graph(strict))
    assert bool(find_contradiction(said, found.tangled)) == bool(found.tangled)


@settings(max_examples=120, deadline=None)
@given(saids())
def test_the_circle_that_is_named_was_said_and_none_is_shorter(said):
    circle = find_contradiction(said, arrange(said, COUNT).tangled)
    if not circle:
        return
    equal, front = graphs(said)
    for step, following in zip(circle, (*circle[1:], circle[0]), strict=True):
        assert step.far == following.near
        assert equal.has_edge(step.near, step.far) if step.same else (step.near, step.far) in front
        if step.placed:
            assert {step.near, step.far} <= said.positions.keys()
        else:
            assert (min(step.near, step.far), max(step.near, step.far)) in said.pairs
    assert not all(step.same for step in circle)
    every = nx.DiGraph([*front, *equal.edges, *((b, a) for a, b in equal.edges)])
    assert len(circle) == min(
        1 + nx.shortest_path_length(every, b, a) for a, b in front if every.has_node(b) and nx.has_path(every, b, a)
    )
    assert as_sentence(circle, said.positions).count("region") == 2 * len(circle)


@settings(max_examples=120, deadline=None)
@given(truths())
def test_layers_are_longest_ways_from_the_far_end_of_each_group(said):
    strict, number = contracted(said)
    found = arrange(said, COUNT)
    known = set(said.positions) | {region for pair in said.pairs for region in pair}
    for region in range(COUNT):
        below = strict.subgraph({number[region], *nx.descendants(strict, number[region])})
        expected = len(nx.dag_longest_path(below)) if region in known else None
        assert found.layer[region] == expected
    equal, front = graphs(said)
    linked = nx.Graph([*equal.edges, *front])
    for a, b in itertools.combinations(sorted(known), 2):
        together = linked.has_node(a) and linked.has_node(b) and nx.has_path(linked, a, b)
        assert (found.group[a] == found.group[b]) == together


@settings(max_examples=120, deadline=None)
@given(truths())
def test_known_pairs_are_the_transitive_closure(said):
    strict, number = contracted(said)
    closure = nx.transitive_closure(strict)
    found = arrange(said, COUNT)
    known = 0
    for a, b in itertools.permutations(range(COUNT), 2):
        if number[a] == number[b]:
            expected = 0
        elif closure.has_edge(number[a], number[b]):
            expected = 1
        else:
            expected = -1 if closure.has_edge(number[b], number[a]) else None
        assert found.relation(a, b) == expected
        known += expected is not None
        if expected == 1:
            assert found.layer[a] > found.layer[b]
    assert found.known_pairs == known // 2


@settings(max_examples=120, deadline=None)
@given(saids(), st.integers(0, COUNT - 1), st.integers(1, COUNT), st.booleans())
def test_placing_moves_one_region_and_leaves_the_others_in_order(said, region, at, tie):
    before = said.positions
    after = place(before, region, at, tie=tie)
    assert sorted(set(after.values())) == list(range(1, len(set(after.values())) + 1))
    others = [other for other in before if other != region]
    assert set(after) == {*others, region}
    for a, b in itertools.combinations(others, 2):
        assert (before[a] > before[b]) - (before[a] < before[b]) == (after[a] > after[b]) - (after[a] < after[b])
    neighbours = {other for other in others if after[other] == after[region]}
    if tie:
        assert neighbours == {other for other in others if before[other] == at}
    else:
        assert not neighbours
        assert {o for o in others if after[o] < after[region]} == {o for o in others if before[o] < at}


def test_two_in_front_of_each_other_through_equals_is_a_contradiction():
    pairs = relate(relate(relate({}, 2, 0, 0), 0, 1, 1), 1, 2, 1)
    said = Statements(pairs=pairs)
    found = arrange(said, 4)
    assert found.tangled == {0, 1, 2}
    assert found.relation(0, 1) is None
    assert found.relation(0, 3) is None
    words = as_sentence(find_contradiction(said, found.tangled), {})
    assert words == (
        "region 1 was drawn in front of region 2, region 2 was drawn in front of region 3, "
        "but region 3 is at the same depth as region 1"
    )


def test_saying_the_opposite_of_a_pair_replaces_what_was_said():
    assert relate(relate({}, 1, 2, 1), 2, 1, 1) == {(1, 2): -1}


def test_the_last_at_a_place_leaves_no_gap():
    assert remove({0: 1, 1: 2, 2: 2, 3: 3}, 0) == {1: 1, 2: 1, 3: 2}
    assert remove({0: 1, 1: 2, 2: 2, 3: 3}, 1) == {0: 1, 2: 2, 3: 3}
    assert remove({0: 1}, 5) == {0: 1}


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_nothing_said_is_nothing_known(count):
    found = arrange(Statements(), count)
    assert found.layer == (None,) * count
    assert (found.layers, found.groups, found.known_pairs, found.tangled) == (0, 0, 0, frozenset())


def test_a_long_list_is_one_chain_and_one_drag_against_it_is_a_circle_of_two():
    places = {region: region + 1 for region in range(1000)}
    found = arrange(Statements(places), 1000)
    assert found.layer == tuple(range(1000, 0, -1))
    assert found.known_pairs == 1000 * 999 // 2
    said = Statements(places, {(3, 900): -1})
    circle = find_contradiction(said, arrange(said, 1000).tangled)
    assert [(step.near, step.far) for step in circle] == [(900, 3), (3, 900)]
