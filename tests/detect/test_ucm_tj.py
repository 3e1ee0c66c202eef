"""T-junctions and convexity as cues with a confidence, the graph of relations, and the orders that come of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperacuity.detect import orderer
from hyperacuity.detect.depth.junctions import convexity_relations, junction_candidates
from hyperacuity.detect.depth.relations import cut_circles, join_relations, layers_of, relations
from hyperacuity.detect.depth.ucm_tj import ucm_tj
from hyperacuity.errors import InputError, UsageError
from hyperacuity.ordering import neighbours

networkx = pytest.importorskip("networkx")

GROUND, LEFT, CARD, RIGHT = range(4)


def card_on_a_bar():
    """A card over the middle of a bar that lies on the ground; the bar's ends are two regions."""
    labels = np.full((80, 120), GROUND)
    labels[34:48, 10:50], labels[34:48, 70:110] = LEFT, RIGHT
    labels[14:66, 50:70] = CARD
    return labels, np.choose(labels, [0.1, 0.5, 0.9, 0.5])


def sectors(*ends, size=60):
    """Regions 0, 1, … around the middle, each up to an angle (degrees, clockwise from the right)."""
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    return np.searchsorted(np.array(ends), np.degrees(np.arctan2(y, x)) % 360) % len(ends)


def found_in(labels, image=None):
    return junction_candidates(labels / max(labels.max(), 1) if image is None else image, labels)


class TestJunctions:
    def test_a_card_hides_the_bar_and_the_ground_where_the_bar_ends_at_it(self):
        labels, image = card_on_a_bar()
        found = found_in(labels, image)
        assert found.corners.tolist() == [[34, 50], [34, 70], [48, 50], [48, 70]]
        told = found.relations()
        assert set(zip(told.front.tolist(), told.behind.tolist(), strict=True)) == {
            (CARD, LEFT), (CARD, RIGHT), (CARD, GROUND),
        }  # fmt: skip
        assert told.confidence.min() > 0.8

    @pytest.mark.parametrize("turned", range(0, 180, 20))
    def test_the_bar_of_a_t_is_in_front_however_it_is_turned(self, turned):
        ends = np.array([0, 180, 270]) + turned  # region 1 from 0 to 180, the stem at 270
        labels = sectors(*np.sort(ends % 360))
        found = found_in(labels)
        assert len(found.corners) == 1
        assert np.degrees(found.angles.max()) == pytest.approx(180, abs=12)
        told = found.relations()
        areas = np.bincount(labels.ravel())
        assert told.front.tolist() == [int(areas.argmax())] * 2
        assert told.confidence.min() > 0.5

    @pytest.mark.parametrize("turned", [0, 17, 45, 90])
    def test_a_y_gives_next_to_nothing(self, turned):
        found = found_in(sectors(*np.sort((np.array([0, 120, 240]) + turned) % 360)))
        assert len(found.corners) == 1
        assert found.confidence.max() < 0.12, "an upright T has 0.5 and more"
        exact = np.abs(np.degrees(found.angles.max()) - 120)
        assert found.angle[0] == pytest.approx(exact / 60, abs=1e-9)

    def test_an_l_and_an_x_are_no_junctions_of_three(self):
        corner = np.zeros((40, 40), int)
        corner[20:, 20:] = 1
        assert len(found_in(corner).corners) == 0
        crossing = np.zeros((40, 40), int)
        crossing[:20, 20:], crossing[20:, :20], crossing[20:, 20:] = 1, 2, 3
        assert len(found_in(crossing).corners) == 0

    def test_regions_that_look_the_same_make_no_junction(self):
        labels, _ = card_on_a_bar()
        assert found_in(labels, np.full(labels.shape, 0.5)).relations().count == 0
        bar_like_ground = np.where(labels == CARD, 0.9, 0.1)
        assert found_in(labels, bar_like_ground).relations().count == 0

    def test_the_colour_that_differs_least_decides(self):
        labels = sectors(0, 180, 270)
        strong, weak = (found_in(labels, np.choose(labels, tones)).colour[0] for tones in ([0, 0.5, 1], [0, 0.45, 0.5]))
        assert weak < strong

    def test_bent_borders_are_doubted(self):
        y, x = np.mgrid[-30:31, -30:31]
        straight = np.where(y >= 0, 2, (x >= 0).astype(int))
        bent = np.where(y >= 0, 2, (np.hypot(y, x - 6) < 6.01).astype(int))  # the stem is a circle that touches the bar
        assert found_in(straight).curvature[0] == 1
        assert found_in(bent).curvature.max() < 0.95

    def test_void_pixels_and_short_borders_are_no_candidates(self):
        labels = sectors(0, 180, 270)
        labels[29:31, 29:31] = -1
        assert len(junction_candidates(np.zeros(labels.shape), labels).corners) == 0
        speck = np.zeros((40, 40), int)
        speck[:, 20:], speck[18:20, 19:21] = 1, 2
        assert len(found_in(speck).corners) == 0


class TestConvexity:
    def test_a_disc_is_in_front_of_the_ground_and_of_a_hole_the_ground(self):
        y, x = np.mgrid[-40:41, -40:41]
        disc = (np.hypot(y, x) < 15).astype(int)
        told = convexity_relations(disc.astype(float), neighbours(disc))
        assert (told.front.tolist(), told.behind.tolist()) == ([1], [0])

    def test_the_confidence_grows_with_curvature(self):
        y, x = np.mgrid[-60:61, -60:61]
        sure = [
            convexity_relations((np.hypot(y, x) < r).astype(float), neighbours(np.hypot(y, x) < r)).confidence[0]
            for r in (40, 25, 14)
        ]
        assert sure == sorted(sure)

    def test_a_straight_border_says_nothing(self):
        labels = np.repeat([[0] * 30 + [1] * 30], 60, axis=0)
        assert convexity_relations(labels.astype(float), neighbours(labels)).count == 0

    def test_beside_a_junction_nothing_bulges(self):
        labels = sectors(0, 180, 270)
        assert convexity_relations(labels / 2, neighbours(labels), least=1e-3).count == 0


class TestRelations:
    def test_a_circle_of_three_is_cut_at_its_least_confident(self):
        for weakest in range(3):
            sure = np.full(3, 0.9)
            sure[weakest] = 0.4
            assert np.flatnonzero(~cut_circles(relations([0, 1, 2], [1, 2, 0], sure), 3)).tolist() == [weakest]

    def test_of_two_that_contradict_each_other_the_surer_stays(self):
        told = relations([0, 1], [1, 0], [0.3, 0.4])
        assert layers_of(told, 2).tolist() == [0, 1]

    def test_what_says_the_same_is_joined_as_if_independent(self):
        both = join_relations([relations([3, 3], [1, 1], [0.5, 0.5]), relations([3], [1], [0.2])])
        assert both.confidence == pytest.approx([1 - 0.5 * 0.5 * 0.8])
        assert join_relations([relations([0, 0], [1, 1], [1.0, 0.5])]).confidence.tolist() == [1]

    @settings(max_examples=60, deadline=None)
    @given(
        st.lists(
            st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 9)).filter(lambda arc: arc[0] != arc[1]),
            max_size=20,
            unique_by=lambda arc: arc[:2],
        )
    )
    def test_no_circle_is_left_and_none_is_cut_but_at_its_least_confident(self, arcs):
        told = relations([a for a, _, _ in arcs], [b for _, b, _ in arcs], [c / 10 for _, _, c in arcs])
        kept = cut_circles(told, 7)
        graph = networkx.DiGraph([(a, b) for (a, b, _), keep in zip(arcs, kept, strict=True) if keep])
        assert networkx.is_directed_acyclic_graph(graph)
        for (a, b, c), keep in zip(arcs, kept, strict=True):
            if not keep:
                surer = networkx.DiGraph([(f, t) for f, t, d in arcs if d >= c])
                assert networkx.has_path(surer, b, a), "there is a circle in which nothing is less confident"
        layer = layers_of(told, 7)
        assert all(layer[a] > layer[b] for (a, b, _), keep in zip(arcs, kept, strict=True) if keep)

    @settings(max_examples=30, deadline=None)
    @given(st.permutations(range(12)), st.integers(0, 1000))
    def test_the_order_in_which_relations_come_does_not_matter(self, order, seed):
        pairs = list(itertools.permutations(range(5), 2))
        chosen = np.random.default_rng(seed).choice(len(pairs), 12, replace=False)
        front, behind = np.array([pairs[n] for n in chosen]).T
        sure = (1 + np.arange(12) % 5) / 10
        told, shuffled = relations(front, behind, sure), relations(front[order], behind[order], sure[order])
        assert cut_circles(told, 5)[order].tolist() == cut_circles(shuffled, 5).tolist()

    def test_a_region_in_no_relation_is_in_the_last_layer(self):
        assert layers_of(relations([1], [0], [0.5]), 3).tolist() == [0, 1, 0]
        assert layers_of(relations([], [], []), 2).tolist() == [0, 0]

    def test_relations_that_cannot_be_are_rejected(self):
        with pytest.raises(InputError, match="two different"):
            relations([1], [1], [0.5])
        with pytest.raises(InputError, match="confidences"):
            relations([1], [0], [0.0])


class TestOrders:
    def test_the_card_is_in_front_of_the_bar(self):
        labels, image = card_on_a_bar()
        for cues in ("both", "junctions"):
            order = ucm_tj(image, labels, cues=cues)
            assert order[40, 60] > max(order[40, 20], order[40, 100], order[0, 0])

    def test_from_the_picture_alone_the_card_is_in_front(self):
        labels, _ = card_on_a_bar()
        wide = np.kron(labels, np.ones((2, 2), int))
        order = ucm_tj(np.choose(wide, [0.1, 0.45, 0.9, 0.45]))
        card = np.median(order[wide == CARD])
        assert all(card > np.median(order[wide == other]) for other in (GROUND, LEFT, RIGHT))

    def test_it_can_be_named_and_given_regions_or_a_hierarchy(self):
        named = orderer("ucm-tj(cues='junctions')")
        assert str(named) == "ucm-tj(cues='junctions')"
        assert named.takes_regions
        assert named.takes_tree
        labels, image = card_on_a_bar()
        assert np.array_equal(named(image, labels), ucm_tj(image, labels, cues="junctions"))

    def test_the_same_picture_has_the_same_order_however_its_regions_are_numbered(self):
        labels, image = card_on_a_bar()
        order = ucm_tj(image, labels)
        assert np.array_equal(order, ucm_tj(image, labels))
        assert np.array_equal(order, ucm_tj(image, np.array([7, 2, 40, 11])[labels]))

    def test_void_is_unknown_and_one_region_is_level(self):
        labels, image = card_on_a_bar()
        labels[:5] = -1
        assert np.isnan(ucm_tj(image, labels)[:5]).all()
        assert (ucm_tj(np.zeros((20, 20)), np.zeros((20, 20), int)) == 0).all()

    def test_options_that_cannot_be_are_rejected(self):
        with pytest.raises(UsageError, match="cues"):
            ucm_tj(np.zeros((8, 8)), cues="y")
