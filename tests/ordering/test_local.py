"""Local depth consistency: the spec's worked example, directions of contours, ties, several annotators."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hyperacuity.data.formats.berkeley import boundaries_of
from hyperacuity.errors import InputError, UsageError
from hyperacuity.ordering import (
    Contours,
    combine,
    contours,
    match_contours,
    ordering,
    partition,
    split_inconsistent,
    summary,
)
from hyperacuity.ordering.directed_contours import angle_between
from hyperacuity.ordering.orderings import Sides

nan = math.nan


def drawn(places, shape=(4, 12)):
    """Contours from {(row, column): angle}."""
    angle = np.full(shape, np.nan)
    pixels = np.zeros(shape, bool)
    for place, degrees in places.items():
        pixels[place], angle[place] = True, degrees
    return Contours(pixels, angle)


def four(outcomes):
    return [float(n) for n in (outcomes.consistent, outcomes.inconsistent, outcomes.false, outcomes.missed)]


TRUTH = drawn({(row, 3): 0 for row in range(4)})
DETECTED = drawn({(0, 4): 0, (1, 4): 10, (2, 4): 20, (3, 4): 180, (0, 9): 0})


class TestWorkedExample:
    def test_counts(self):
        assert four(match_contours(DETECTED, TRUTH).outcomes()) == [2, 2, 1, 0]

    def test_scores(self):
        found = match_contours(DETECTED, TRUTH).outcomes()
        assert [found.precision(0), found.recall(0), found.f(0)] == pytest.approx([2 / 5, 1 / 2, 4 / 9])
        assert [found.precision(1), found.recall(1), found.f(1)] == pytest.approx([4 / 5, 1, 8 / 9])
        assert summary(found).ori == 0
        assert summary(found).fg == 0.5

    def test_pixels_beyond_the_radius_do_not_match(self):
        assert four(match_contours(DETECTED, TRUTH, radius=0.5).outcomes()) == [0, 0, 5, 4]

    def test_the_angle_counts_inclusively(self):
        assert four(match_contours(DETECTED, TRUTH, angle=20).outcomes()) == [3, 1, 1, 0]
        assert four(match_contours(DETECTED, TRUTH, angle=180).outcomes()) == [4, 0, 1, 0]


class TestDirections:
    @pytest.mark.parametrize(("degrees"), range(0, 360, 15))
    def test_a_straight_contour_has_the_direction_of_its_normal(self, degrees):
        y, x = np.mgrid[-30:31, -30:31]
        way = x * np.cos(np.radians(degrees)) + y * np.sin(np.radians(degrees))
        found = contours(ordering(np.where(way < 0.37, 2.0, 1.0)))
        inner = found.angle[10:-10, 10:-10]
        inner = inner[~np.isnan(inner)]
        assert inner.size > 30
        assert angle_between(inner, np.full_like(inner, degrees)).max() < 9
        mean = np.degrees(np.angle(np.exp(1j * np.radians(inner)).mean())) % 360
        assert angle_between(mean, degrees) < 3

    @settings(max_examples=40, deadline=None)
    @given(arrays(np.float32, (9, 11), elements=st.integers(0, 3)))
    def test_pixels_are_those_of_berkeleys_boundaries(self, order):
        given = ordering(order)
        assert np.array_equal(contours(given).pixels, boundaries_of(given.labels))

    @settings(max_examples=40, deadline=None)
    @given(arrays(np.float32, (9, 11), elements=st.integers(0, 3)), st.sampled_from([1, 3, 7]))
    def test_every_contour_of_an_order_map_has_a_direction_and_negation_turns_it_around(self, order, window):
        found, turned = contours(ordering(order), window=window), contours(ordering(-order), window=window)
        assert np.array_equal(np.isnan(found.angle), ~found.pixels)
        assert angle_between(found.angle[found.pixels], turned.angle[found.pixels]) == pytest.approx(180)

    @settings(max_examples=25, deadline=None)
    @given(arrays(np.float32, (9, 11), elements=st.integers(0, 2)))
    def test_the_window_sum_is_the_sum_over_the_pixels_own_contours(self, order):
        """Two regions suffice here: all of one order, so every crack is between the same two."""
        labels = order > 0
        given = partition(labels, labels.astype(int))
        found = contours(given, window=3)
        step = given.painted()
        for y, x in zip(*np.nonzero(found.pixels), strict=True):
            # The window of three pixels around the pixel's lower right corner; a crack across its rim counts half.
            vx = sum(
                (step[r, c] - step[r, c + 1]) * (0.5 if r in (y - 1, y + 2) else 1)
                for r, c in itertools.product(range(y - 1, y + 3), range(x - 1, x + 2))
                if 0 <= r < 9 and 0 <= c < 10
            )
            vy = sum(
                (step[r, c] - step[r + 1, c]) * (0.5 if c in (x - 1, x + 2) else 1)
                for r, c in itertools.product(range(y - 1, y + 2), range(x - 1, x + 3))
                if 0 <= r < 8 and 0 <= c < 11
            )
            if vx or vy:
                assert found.angle[y, x] == pytest.approx(math.degrees(math.atan2(vy, vx)) % 360)

    def test_at_a_junction_contours_keep_their_own_direction(self):
        order = np.full((12, 12), 3.0)
        order[6:, :6], order[6:, 6:] = 1.0, 2.0
        found = contours(ordering(order))
        assert found.angle[5, 2] == found.angle[5, 9] == 90
        assert found.angle[7, 5] == 180
        assert found.angle[5, 4] == 90

    def test_regions_of_equal_depth_have_a_contour_without_direction(self):
        tied = partition([[1, 1, 1, 1]] * 2, [[0, 0, 1, 1]] * 2)
        found = contours(tied)
        assert found.count == 2
        assert np.isnan(found.angle).all()
        assert contours(tied, undirected=False).count == 0

    @pytest.mark.parametrize("turned", [False, True])
    def test_without_those_of_no_direction_the_others_stay(self, turned):
        """Three bands, the last two equally near: only the first boundary has a direction, upright or lying."""
        near, bands = np.array([[2, 2, 1, 1, 1, 1]] * 4), np.array([[0, 0, 1, 1, 2, 2]] * 4)
        given = ordering(near.T, bands.T) if turned else ordering(near, bands)
        all_of_them, directed = (contours(given, undirected=undirected).pixels for undirected in (True, False))
        for pixels, columns in ((all_of_them, [1, 3]), (directed, [1])):
            assert np.flatnonzero((pixels.T if turned else pixels).all(axis=0)).tolist() == columns
            assert pixels.sum() == 4 * len(columns)

    def test_void_pixels_bound_nothing(self):
        assert contours(partition([[1, 1, 2]], [[0, -1, 1]])).count == 0

    def test_labelled_contours_have_directions_where_labelled(self):
        sides = np.full((4, 6), nan, np.float32)
        sides[:2, 2], sides[:2, 3] = 1, -1
        found = contours(Sides(sides, np.array([[0, 0, 0, 1, 1, 1]] * 4, np.int32)), window=1)
        assert found.angle[:, 2] == pytest.approx([0, 0, nan, nan], nan_ok=True)
        assert found.pixels[:, 2].all()
        alone = contours(Sides(sides), window=1)
        assert alone.pixels[0, 2]
        assert not alone.pixels[3].any()

    def test_one_region_has_no_contour(self):
        assert contours(ordering(np.ones((5, 5)))).count == 0

    @pytest.mark.parametrize("window", [0, 4, -1])
    def test_a_window_that_is_not_odd_is_refused(self, window):
        with pytest.raises(UsageError, match="expected an odd number"):
            contours(ordering(np.ones((2, 2))), window=window)


class TestTies:
    def test_a_detection_without_direction_is_inconsistent(self):
        assert four(match_contours(drawn({(0, 3): nan}), drawn({(0, 3): 0})).outcomes()) == [0, 1, 0, 0]

    def test_a_truth_without_direction_is_consistent_or_left_out(self):
        tied = drawn({(0, 3): nan, (3, 9): nan})
        assert four(match_contours(drawn({(0, 3): 77}), tied).outcomes()) == [1, 0, 0, 1]
        assert four(match_contours(drawn({(0, 3): 77}), tied, truth_tie="exclude").outcomes()) == [0, 0, 0, 0]

    def test_the_angle_may_choose_between_partners(self):
        # Two true contours of opposite direction on either side of the detection, one slightly nearer.
        truth = drawn({(1, 2): 180, (1, 6): 0})
        detected = drawn({(1, 4): 0})
        assert four(match_contours(detected, truth, cost="distance+angle").outcomes()) == [1, 0, 0, 1]
        near = drawn({(1, 3): 180, (1, 6): 0})
        assert four(match_contours(detected, near).outcomes()) == [0, 1, 0, 1]
        assert four(match_contours(detected, near, cost="distance+angle").outcomes()) == [1, 0, 0, 1]


class TestAnnotators:
    FIRST, SECOND = drawn({(0, 3): 0, (1, 3): 0}), drawn({(0, 3): 180, (2, 8): 0})
    FOUND = drawn({(0, 3): 180, (1, 3): 90, (3, 11): 0})

    def matches(self, **options):
        return [match_contours(self.FOUND, truth, **options) for truth in (self.FIRST, self.SECOND)]

    def test_any_annotator_may_confirm_a_detection(self):
        found = combine(self.matches(radius=1))
        assert four(found) == [1, 1, 1, 1]
        assert (found.recalled_consistent, found.recalled_inconsistent) == (1, 2)

    def test_everything_may_be_summed(self):
        assert four(combine(self.matches(radius=1), "sum")) == [1, 2, 3, 1]

    def test_the_best_annotator_may_speak_for_all(self):
        assert four(combine(self.matches(radius=1), "best")) == [0, 2, 1, 0]

    def test_a_detection_where_the_truth_is_unknown_is_not_false(self):
        veil = np.zeros((4, 12), bool)
        veil[3] = True
        assert four(combine(self.matches(radius=1)[:1], unknown=[veil])) == [0, 2, 0, 0]

    def test_nobody_says_nothing(self):
        assert four(combine([])) == [0, 0, 0, 0]

    @settings(max_examples=20, deadline=None)
    @given(
        arrays(np.float32, (8, 9), elements=st.integers(0, 3)), arrays(np.float32, (8, 9), elements=st.integers(0, 3))
    )
    def test_one_annotator_is_counted_alike_by_all_rules(self, said, truth):
        one = [match_contours(contours(ordering(said)), contours(ordering(truth)))]
        expected = four(one[0].outcomes())
        assert all(four(combine(one, rule)) == expected for rule in ("bsds", "sum", "best"))


orders = arrays(np.float32, (10, 12), elements=st.integers(0, 3))


@settings(max_examples=30, deadline=None)
@given(orders, orders)
def test_every_pixel_is_counted_once(said, truth):
    detected, true = contours(ordering(said)), contours(ordering(truth))
    right, wrong, false, missed = four(match_contours(detected, true).outcomes())
    assert right + wrong + false == detected.count
    assert right + wrong + missed == true.count


@settings(max_examples=30, deadline=None)
@given(orders)
def test_truth_is_perfect_and_its_negative_all_inconsistent(truth):
    true = contours(ordering(truth))
    assert four(match_contours(true, true).outcomes()) == [true.count, 0, 0, 0]
    assert four(match_contours(contours(ordering(-truth)), true).outcomes()) == [0, true.count, 0, 0]


@settings(max_examples=30, deadline=None)
@given(orders, orders)
def test_monotone_changes_of_depth_change_nothing(said, truth):
    true = contours(ordering(truth))
    before = four(match_contours(contours(ordering(said)), true).outcomes())
    assert four(match_contours(contours(ordering(said**3 + 11)), true).outcomes()) == before


@settings(max_examples=30, deadline=None)
@given(arrays(np.int32, (10, 12), elements=st.integers(0, 4)), orders, orders, st.permutations(range(5)))
def test_the_names_of_regions_do_not_matter(labels, said, truth, names):
    true = contours(ordering(truth))
    before, after = (
        match_contours(contours(partition(said, regions)), true).outcomes()
        for regions in (labels, 7 * np.array(names)[labels])
    )
    assert four(before) == four(after)


@settings(max_examples=20, deadline=None)
@given(orders, orders)
def test_detection_does_not_depend_on_the_cost(said, truth):
    detected, true = contours(ordering(said)), contours(ordering(truth))
    plain = match_contours(detected, true).outcomes()
    other = match_contours(detected, true, cost="distance+angle").outcomes()
    assert plain.f(1) == pytest.approx(float(other.f(1)), nan_ok=True)


@pytest.mark.parametrize("option", ["cost", "truth_tie"])
def test_an_unknown_choice_is_refused(option):
    with pytest.raises(InputError, match=f"{option} 'no'"):
        match_contours(DETECTED, TRUTH, **{option: "no"})


def test_different_sizes_are_refused():
    with pytest.raises(InputError, match="same size"):
        match_contours(DETECTED, drawn({}, (3, 3)))


def straight(degrees, *, length=61):
    """A contour through the middle of a square whose near side lies against a direction: 0 is near on the left."""
    y, x = np.mgrid[:length, :length] - length // 2
    across = x * math.cos(math.radians(degrees)) + y * math.sin(math.radians(degrees))
    return ordering((across < 0).astype(float))


class TestWhyInconsistent:
    """A true contour whose step runs to the right, found with another direction at the same pixels."""

    TRUTH = drawn({(row, 3): 0 for row in range(4)})

    def why(self, *angles, **options):
        found = drawn({(row, 3): angle for row, angle in enumerate(angles)})
        return match_contours(found, self.TRUTH, **options).inconsistencies().tolist()

    def test_45_degrees_off_is_rough_and_180_the_wrong_side(self):
        assert self.why(45, 45, 45, 45) == [4, 0, 0]
        assert self.why(180, 180, 180, 180) == [0, 4, 0]

    def test_up_to_the_angle_nothing_is_wrong(self):
        assert self.why(0, 15, 345, 180) == [0, 1, 0]

    def test_a_right_angle_still_has_the_right_side_in_front(self):
        assert self.why(90, 270, 91, 269) == [2, 2, 0]

    def test_a_tie_has_no_direction(self):
        assert self.why(nan, 30, 0, 200) == [1, 1, 1]

    def test_with_a_wide_angle_nothing_is_rough(self):
        assert self.why(45, 90, 100, 180, angle=90) == [0, 2, 0]

    def test_a_contour_that_runs_across_is_rough_and_one_turned_round_wrong(self):
        truth, turned, round_ = (contours(straight(degrees)) for degrees in (0, 45, 180))
        rough, wrong, tied = match_contours(turned, truth, radius=61).inconsistencies()
        assert rough > 30
        assert wrong == tied == 0
        assert match_contours(round_, truth).inconsistencies().tolist() == [0, 61, 0]

    @settings(max_examples=30, deadline=None)
    @given(
        arrays(np.float32, (9, 10), elements=st.integers(0, 3)),
        st.lists(arrays(np.float32, (9, 10), elements=st.integers(0, 3)), min_size=1, max_size=3),
        st.sampled_from(["bsds", "sum", "best"]),
    )
    def test_the_reasons_add_up_and_tell_the_accuracy_at_90_degrees(self, said, truths, annotators):
        found = contours(ordering(said), undirected=True)
        strict, wide = (
            [match_contours(found, contours(ordering(truth)), angle=angle) for truth in truths] for angle in (15, 90)
        )
        reasons = split_inconsistent(strict, annotators)
        counts = combine(strict, annotators)
        assert reasons.sum() == counts.recalled_inconsistent
        assert counts.recalled_consistent + reasons[0] == combine(wide, annotators).recalled_consistent

    def test_nobody_found_nothing(self):
        assert split_inconsistent([]).tolist() == [0, 0, 0]
