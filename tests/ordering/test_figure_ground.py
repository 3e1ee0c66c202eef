"""The figure/ground benchmark: the spec's worked example, votes along boundaries, and what must not change a score."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from skimage.graph import RAG

from hyperacuity.errors import InputError
from hyperacuity.ordering import (
    compare_neighbours,
    neighbours,
    order_of_pairs,
    ordering,
    partition,
    transfer,
    whole_order,
)
from hyperacuity.ordering.figure_ground import UNKNOWN, boundary_length, foremost_regions
from hyperacuity.ordering.orderings import Sides

LABELS = np.array([[1, 1, 1, 2], [1, 1, 1, 2], [3, 3, 3, 3]])
TRUTH = ordering(LABELS)
SAID = np.array([[0.1, 0.1, 9, 0.9], [0.1, 0.1, 0.1, 0.9], [0.5, 0.5, 0.5, 0.5]], np.float32)


def scores(prediction, truth=TRUTH, labels=LABELS, tie="wrong", **options):
    return list(compare_neighbours(prediction, truth, labels, **options).accuracy(tie).values())


class TestWorkedExample:
    def test_lengths_in_cracks(self):
        found = neighbours(LABELS)
        assert np.stack([found.first, found.second, found.cracks]).T.tolist() == [[0, 1, 2], [0, 2, 3], [1, 2, 1]]

    def test_medians_shrug_off_an_outlier(self):
        assert partition(SAID, LABELS).depth == pytest.approx([0.1, 0.9, 0.5])

    def test_accuracies(self):
        assert scores(ordering(SAID)) == pytest.approx([2 / 3, 5 / 6, 5 / 6, 3 / 4])

    def test_foremost_half_rounded_down(self):
        assert scores(ordering(SAID), cut="floor")[2] == pytest.approx(3 / 4)

    def test_a_mean_would_have_every_pair_wrong(self):
        means = np.array([19 / 12, 0.9, 0.5])
        values = np.array([0, *means])[LABELS].astype(np.float32)
        assert scores(ordering(values)) == [0, 0, 0, 0]

    @pytest.mark.parametrize(("tie", "expected"), [("wrong", 0.0), ("half", 0.5), ("skip", math.nan)])
    def test_a_constant_prediction(self, tie, expected):
        found = scores(ordering(np.ones((3, 4))), tie=tie)
        assert found == pytest.approx([expected] * 4, nan_ok=True)

    def test_truth_and_its_negative(self):
        assert scores(TRUTH) == [1, 1, 1, 1]
        assert scores(ordering(-LABELS)) == [0, 0, 0, 0]


class TestLengths:
    def test_pixels_of_the_front_region_and_of_both(self):
        # Fronts are the regions of larger label. (1,2): two pixels of 2; (1,3): three of 3; (2,3): one of 3.
        found = neighbours(LABELS)
        front = found.second
        assert boundary_length(found, front, "front-pixels").tolist() == [2, 3, 1]
        assert boundary_length(found, front, "both-pixels").tolist() == [4, 6, 2]

    def test_a_corner_counts_its_pixel_once(self):
        found = neighbours([[0, 0, 0], [0, 1, 0], [0, 0, 0]])
        assert found.cracks.tolist() == [4]
        assert boundary_length(found, np.array([1]), "front-pixels").tolist() == [1]
        assert boundary_length(found, np.array([0]), "front-pixels").tolist() == [4]

    def test_regions_that_touch_at_a_corner(self):
        checks = [[0, 1], [2, 3]]
        assert neighbours(checks).count == 4
        found = neighbours(checks, adjacency=8)
        assert found.count == 6
        assert sorted(found.cracks.tolist()) == [0, 0, 1, 1, 1, 1]


@settings(max_examples=30, deadline=None)
@given(arrays(np.int32, (6, 7), elements=st.integers(0, 4)), st.sampled_from([4, 8]))
def test_neighbours_are_those_of_scikit_image(labels, adjacency):
    found = neighbours(labels, adjacency=adjacency)
    numbered = found.labels
    oracle = RAG(numbered, connectivity=1 if adjacency == 4 else 2)
    edges = {tuple(sorted(edge)) for edge in nx.Graph(oracle).edges if edge[0] != edge[1]}
    assert set(zip(found.first.tolist(), found.second.tolist(), strict=True)) == edges


class TestUnknown:
    def test_void_pixels_have_no_neighbours(self):
        assert neighbours([[0, -1, 1]]).count == 0
        assert scores(ordering([[1, 1, 2]]), ordering([[1, 1, 2]]), [[0, -1, 1]]) == pytest.approx(
            [math.nan] * 4, nan_ok=True
        )

    def test_a_region_the_truth_does_not_know_asks_nothing(self):
        truth = ordering(np.array([[1, 2, np.nan]], np.float32))
        found = compare_neighbours(ordering([[1, 2, 3]]), truth, [[0, 1, 2]])
        assert found.first.tolist() == [0]

    def test_a_region_the_prediction_does_not_know_is_wrong_even_when_ties_are_half(self):
        said = ordering(np.array([[1, 2, np.nan]], np.float32))
        found = compare_neighbours(said, ordering([[1, 2, 3]]), [[0, 1, 2]])
        assert found.predicted.tolist() == [-1, UNKNOWN]
        assert found.accuracy("half")["racc"] == 0.5

    def test_one_region_has_no_accuracy(self):
        assert all(math.isnan(value) for value in scores(TRUTH, labels=np.zeros((3, 4), int)))


class TestForemost:
    def test_all_regions_that_tie_at_the_cut_are_in(self):
        assert foremost_regions(np.array([1.0, 2.0, 2.0, 2.0, 3.0]), 0.25).tolist() == [False, True, True, True, True]

    @pytest.mark.parametrize(("cut", "count"), [("ceil", 2), ("floor", 1), ("round", 1)])
    def test_rounding(self, cut, count):
        assert foremost_regions(np.arange(5.0), 0.25, cut=cut).sum() == count

    def test_regions_of_unknown_depth_are_not_counted(self):
        assert foremost_regions(np.array([np.nan, 1.0, 2.0]), 0.5).tolist() == [False, False, True]

    def test_nothing_of_nothing(self):
        assert foremost_regions(np.array([np.nan]), 0.5).tolist() == [False]


nan = math.nan


class TestVotes:
    LABELS = np.array([[0, 0, 0, 1, 1, 1]] * 4, np.int32)

    def side(self, rows):
        return Sides(np.array(rows, np.float32))

    def test_the_side_with_more_votes_owns_the_boundary(self):
        rows = [[nan, nan, 1, -1, nan, nan]] * 3 + [[nan, nan, -1, 1, nan, nan]]
        assert order_of_pairs(self.side(rows), neighbours(self.LABELS)).tolist() == [1]
        assert order_of_pairs(self.side(rows[::-1][:1] * 3 + rows[:1]), neighbours(self.LABELS)).tolist() == [-1]

    def test_no_vote_and_a_draw_are_ties(self):
        for rows in (
            [[nan] * 6] * 4,
            [[nan, nan, 1, -1, nan, nan]] * 2 + [[nan, nan, -1, 1, nan, nan]] * 2,
            [[nan, nan, 1, nan, nan, nan]] * 4,
        ):
            assert order_of_pairs(self.side(rows), neighbours(self.LABELS)).tolist() == [0]

    def test_a_displaced_step_votes_within_reach(self):
        rows = [[nan, nan, nan, nan, 1, -1]] * 4
        assert order_of_pairs(self.side(rows), neighbours(self.LABELS), reach=1).tolist() == [0]
        assert order_of_pairs(self.side(rows), neighbours(self.LABELS), reach=2).tolist() == [1]

    def test_the_nearest_step_decides(self):
        rows = [[nan, -1, 1, nan, 1, -1]] * 4
        assert order_of_pairs(self.side(rows), neighbours(self.LABELS), reach=3).tolist() == [-1]

    def test_boundaries_along_rows_vote_like_those_along_columns(self):
        rows = np.array([[nan, nan, 1, -1, nan, nan]] * 4).T
        assert order_of_pairs(self.side(rows), neighbours(self.LABELS.T)).tolist() == [1]

    def test_labelled_contours_know_no_foremost_regions(self):
        side = self.side([[nan, nan, 1, -1, nan, nan]] * 4)
        found = compare_neighbours(side, side, self.LABELS).accuracy()
        assert (found["racc"], found["bacc"]) == (1, 1)
        assert math.isnan(found["bacc50"])

    def test_an_order_answers_questions_of_labelled_contours(self):
        side = self.side([[nan, nan, 1, -1, nan, nan]] * 4)
        assert compare_neighbours(ordering(-self.LABELS), side, self.LABELS).accuracy()["racc"] == 1
        assert compare_neighbours(ordering(self.LABELS), side, self.LABELS).accuracy()["racc"] == 0


maps = arrays(np.int32, (6, 7), elements=st.integers(0, 4))
orders = arrays(np.float32, (6, 7), elements=st.integers(-3, 3))


@settings(max_examples=40, deadline=None)
@given(maps, orders, orders)
def test_monotone_changes_of_order_and_new_labels_change_nothing(labels, truth, said):
    """Of any kind with the lower median; with the mean of the two middle values those along a line only."""
    before = scores(ordering(said), ordering(truth), labels)
    assert scores(ordering(4 * said + 7), ordering(5 * truth - 2), 9 - labels) == pytest.approx(before, nan_ok=True)
    low = scores(ordering(said), ordering(truth), labels, middle="low")
    bent = ordering(np.exp(said) + 7), ordering(truth**3), labels
    assert scores(*bent, middle="low") == pytest.approx(low, nan_ok=True)


@settings(max_examples=40, deadline=None)
@given(maps, orders)
def test_truth_is_perfect_and_its_negative_is_all_wrong(labels, truth):
    right, wrong = scores(ordering(truth), ordering(truth), labels), scores(ordering(-truth), ordering(truth), labels)
    assert all(value == 1 or math.isnan(value) for value in right)
    assert all(value == 0 or math.isnan(value) for value in wrong)


@settings(max_examples=30, deadline=None)
@given(maps, arrays(np.float32, (6, 7), elements=st.floats(-8, 8, width=32)))
def test_medians_are_those_of_numpy(labels, order):
    found = partition(order, labels)
    expected = [np.median(order[labels == label].astype(np.float64)) for label in np.unique(labels)]
    assert found.depth == pytest.approx(expected)
    low = partition(order, labels, middle="low").depth
    assert low == pytest.approx([np.quantile(order[labels == n], 0.5, method="lower") for n in np.unique(labels)])
    assert transfer(order, labels) == pytest.approx(
        np.array(expected, np.float32)[np.searchsorted(np.unique(labels), labels)]
    )


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: compare_neighbours(TRUTH, TRUTH, LABELS, cut="no"), "cut 'no'"),
        (lambda: compare_neighbours(TRUTH, TRUTH, LABELS, length="no"), "length 'no'"),
        (lambda: compare_neighbours(TRUTH, TRUTH, LABELS, adjacency=6), "adjacency 6"),
        (lambda: compare_neighbours(TRUTH, TRUTH, LABELS).accuracy("no"), "tie 'no'"),
        (lambda: partition(SAID, LABELS, middle="no"), "middle 'no'"),
        (lambda: compare_neighbours(TRUTH, TRUTH, LABELS[:2]), "prediction is 4×3 but segmentation is 4×2"),
    ],
)
def test_what_makes_no_sense_is_refused(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()


class TestWholeOrder:
    """One order of all regions from labelled contours."""

    STRIPES = np.repeat(np.arange(4), 3)[np.newaxis].repeat(5, axis=0).astype(np.int32)

    def labelled(self, *fronts):
        """Four stripes; of each border +1 if the left one is in front, −1 the right one, 0 unlabelled."""
        marks = np.full(self.STRIPES.shape, np.nan, np.float32)
        for border, front in enumerate(fronts):
            if front:
                marks[:, 3 * border + 2], marks[:, 3 * border + 3] = front, -front
        return Sides(marks, self.STRIPES)

    def test_a_staircase_has_a_layer_each(self):
        found = whole_order(self.labelled(1, 1, 1))
        assert found.partition.depth.tolist() == [3, 2, 1, 0]
        assert (found.pairs, found.violated_pairs, found.length, found.violated_length, found.bound) == (3, 0, 15, 0, 0)

    def test_regions_that_no_chain_links_share_a_layer(self):
        assert whole_order(self.labelled(-1, 1, -1)).partition.depth.tolist() == [0, 1, 0, 1]

    def test_a_region_without_a_labelled_border_stays_unknown(self):
        found = whole_order(self.labelled(1, 0, 0)).partition
        assert np.array_equal(found.depth, [1, 0, np.nan, np.nan], equal_nan=True)
        assert np.isnan(found.order[:, 6:]).all()

    def test_a_circle_gives_up_its_shortest_border(self):
        # 0 is in front of 1, 1 in front of 2 and 2 in front of 0, where they meet along 4, 5 and 3 cracks.
        labels = np.array([[0] * 3 + [1] * 5] * 4 + [[2] * 8], np.int32)
        marks = np.full(labels.shape, np.nan, np.float32)
        marks[:4, 2], marks[:4, 3] = 1, -1  # 0 before 1
        marks[3, 3:], marks[4, 3:] = 1, -1  # 1 before 2
        marks[4, :3], marks[3, :2] = 1, -1  # 2 before 0
        marks[3, 2] = np.nan
        given = Sides(marks, labels)
        owner = order_of_pairs(given, neighbours(labels))
        assert owner.tolist() == [1, -1, 1]
        found = whole_order(given)
        assert found.partition.depth.tolist() == [2, 1, 0]
        assert (found.violated_pairs, found.violated_length, found.bound) == (1, 3, 3)

    def test_what_is_violated_is_what_the_whole_order_gets_wrong(self):
        rng = np.random.default_rng(5)
        for _ in range(5):
            labels = rng.integers(0, 6, (6, 7)).repeat(4, axis=0).repeat(4, axis=1).astype(np.int32)
            marks = rng.choice(np.array([-1, 1, np.nan], np.float32), labels.shape)
            given = Sides(marks, labels)
            found = whole_order(given)
            answers = compare_neighbours(found.partition, given, labels)
            assert answers.sums()[1, :2].tolist() == [found.pairs, found.length]
            right, length = answers.sums()[0, :2]
            assert (found.pairs - right, found.length - length) == (found.violated_pairs, found.violated_length)

    def test_the_foremost_regions_are_those_of_the_whole_order(self):
        given = self.labelled(1, 1, 1)
        said = ordering(np.choose(self.STRIPES, [9, 5, 7, 1]).astype(np.float32))  # the middle border is wrong
        found = compare_neighbours(said, given, self.STRIPES).accuracy()
        # Stripes 0 and 1 are the foremost half and own two borders; stripe 0 is the foremost quarter and owns one.
        assert found == pytest.approx({"racc": 2 / 3, "bacc": 2 / 3, "bacc50": 1 / 2, "bacc25": 1})

    def test_without_regions_there_is_none(self):
        with pytest.raises(InputError, match="expected the regions"):
            whole_order(Sides(self.labelled(1, 1, 1).sides))
