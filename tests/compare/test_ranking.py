"""Tables in, rankings out: ranks with ties, vectors per image or averaged, stability under resampled images."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import rankdata

from hyperacuity.compare import Table, average_rank, compare, ranks, stability
from hyperacuity.errors import UsageError

VECTORS = [(1, 5, 3), (2, 4, 3), (2, 5, 4), (1, 5, 3), (3, 3, 9), (9, 9, 9)]


class TestRanks:
    def test_worked_average_ranks(self):
        assert average_rank(VECTORS).tolist() == pytest.approx([5 / 3, 2, 10 / 3, 5 / 3, 11 / 3, 17 / 3])

    @pytest.mark.parametrize(("ties", "theirs"), [("competition", "min"), ("average", "average")])
    def test_ties_as_scipy_counts_them(self, ties, theirs):
        table = np.random.default_rng(3).integers(0, 4, (12, 5)).astype(float)
        assert np.array_equal(ranks(table, ties=ties), rankdata(table, method=theirs, axis=0))
        assert np.array_equal(ranks(-table, ties=ties, senses=["max"] * 5), ranks(table, ties=ties))

    def test_a_missing_value_is_last(self):
        assert ranks([[np.nan], [1], [2]])[:, 0].tolist() == [3, 1, 2]


def two_images():
    """p(1, 10), q(6, 6), r(5, 7): errors on two images."""
    return Table(
        ("p", "q", "r"), ("left", "right"), ("bad",), ("min",), np.array([[[1.0], [10]], [[6], [6]], [[5], [7]]])
    )


class TestCompare:
    def test_images_side_by_side_or_averaged(self):
        assert compare(two_images()).optimal.tolist() == [True, True, True]
        assert compare(two_images(), vector="mean").optimal.tolist() == [True, False, False]
        assert compare(two_images()).components == ("left bad", "right bad")

    def test_json_has_what_programs_look_for(self):
        table = Table.flat("abcdef", ["x", "y", "z"], VECTORS)
        said = json.loads(json.dumps(compare(table).as_json()))
        assert said["criteria"] == ["x", "y", "z"]
        assert said["senses"] == ["min", "min", "min"]
        assert said["optimal"] == ["a", "b", "d", "e"]
        assert said["groups"] == [["a", "d", "b", "e"], ["c"], ["f"]]
        assert said["ranks"]["f"] == pytest.approx(17 / 3)
        assert said["dominates"] == {"a": ["c", "f"], "b": ["c", "f"], "c": ["f"], "d": ["c", "f"], "e": ["f"], "f": []}
        assert said["interpretation"].startswith("By dominance, a, b, d and e are comparable")

    def test_a_tolerance_per_criterion_holds_on_every_image(self):
        values = np.array([[[1.0, 5], [1, 5]], [[1.5, 7], [1.5, 7]]])
        table = Table(("a", "b"), ("1", "2"), ("x", "y"), ("min", "min"), values)
        assert compare(table).optimal.tolist() == [True, False]
        assert compare(table, epsilon=[1, 1]).optimal.tolist() == [True, False]
        assert compare(table, epsilon=[1, 2]).optimal.tolist() == [True, True]

    def test_places_by_average_rank_have_ties_too(self):
        assert compare(Table.flat("abcdef", "xyz", VECTORS)).place.tolist() == [1, 3, 4, 1, 5, 6]

    def test_rounding_makes_ties(self):
        table = Table.flat(["a", "b"], ["x"], [[1.001], [1.002]])
        assert compare(table).optimal.tolist() == [True, False]
        assert compare(table.rounded(2)).optimal.tolist() == [True, True]

    def test_selecting_criteria_and_systems(self):
        table = Table.flat("abcdef", "xyz", VECTORS).select(systems="cf", criteria="zx")
        assert table.overall().tolist() == [[4, 2], [9, 9]]
        with pytest.raises(UsageError, match="there is no criterion w, expected one of z, x"):
            table.select(criteria=["w"])

    def test_a_score_that_is_no_mean_of_images(self):
        counts = np.array([[1, 9], [4, 6]])  # two systems, hits of 10 on two images of which the second counts thrice
        sizes = np.array([10, 30])

        def rescore(system, images):
            chosen = [int(image) - 1 for image in images]
            own = counts["ab".index(system)]
            return lambda weights: (weights @ own[chosen] / (weights @ sizes[chosen]))[:, None]

        table = Table(("a", "b"), ("1", "2"), ("r",), ("max",), np.zeros((2, 2, 1)), rescore=rescore)
        assert table.overall().tolist() == [[10 / 40], [10 / 40]]
        assert table.select(systems=["b"]).resampled(np.array([[2, 0]])).tolist() == [[[8 / 20]]]
        assert table.select(systems=["b"], images=["2"]).overall().tolist() == [[6 / 30]]

    def test_an_image_without_a_score_is_left_out_of_the_mean(self):
        table = Table(("a",), ("1", "2"), ("x",), ("min",), np.array([[[np.nan], [3.0]]]))
        assert table.overall().tolist() == [[3]]

    @pytest.mark.parametrize(
        ("make", "sentence"),
        [
            (lambda: Table.flat(["a", "a"], ["x"], [[1], [2]]), "the system a is in the table twice"),
            (lambda: Table.flat(["a"], ["x"], [[1]], senses=["up"]), "expected min or max"),
            (
                lambda: Table(("a",), ("1",), ("x",), ("min",), np.zeros((2, 1, 1))),
                "expected systems × images × criteria",
            ),
            (lambda: Table.flat(["a"], [], [[]]), "at least one"),
            (lambda: two_images().vectors("sum"), "expected concat or mean"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, make, sentence):
        with pytest.raises(UsageError, match=sentence):
            make()


class TestStability:
    def test_what_is_best_on_every_image_is_always_in(self):
        values = np.array([[[1.0], [1], [1], [1]], [[2], [2], [2], [0.5]]])
        table = Table(("a", "b"), tuple("1234"), ("x",), ("min",), values)
        often = stability(table, resamples=4000)
        # a is out when only the fourth image is drawn, 4⁻⁴; b is in when it is drawn at all, 1 − (3/4)⁴
        assert often == pytest.approx([1 - 4**-4, 1 - 0.75**4], abs=0.02)

    def test_averaged_vectors(self):
        # one criterion, so one winner or a tie per resample: p's mean is the smaller unless "right" is drawn twice (1/4)
        often = stability(two_images(), vector="mean", resamples=4000)
        assert often == pytest.approx([0.75, 0.25, 0], abs=0.02)

    def test_the_same_seed_gives_the_same_answer(self):
        assert np.array_equal(stability(two_images(), seed=5), stability(two_images(), seed=5))
