"""Covering, Rand index and variation of information: by hand, by counting pairs, and by other libraries."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import ndimage
from skimage.metrics import variation_of_information as skimage_variation

from hyperacuity.errors import InputError, UsageError
from hyperacuity.regions import (
    Protocol,
    collect,
    compare,
    covering,
    level_thresholds,
    rand_index,
    tally,
    ucm_levels,
    variation_of_information,
)

SHAPES = array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6)


@st.composite
def two_segmentations(draw):
    shape = draw(SHAPES)
    return draw(arrays(np.int32, shape, elements=st.integers(0, 3))), draw(
        arrays(np.int32, shape, elements=st.integers(0, 3))
    )


@st.composite
def contour_maps(draw):
    """Maps of double size with few strengths, so that ties abound. They need not be ultrametric."""
    height, width = draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    cells = draw(arrays(np.int8, (2 * height + 1, 2 * width + 1), elements=st.integers(0, 5))).astype(float) / 10
    cells[1::2, 1::2] = 0
    return cells


class TestByHand:
    def test_covering_of_one_split_region(self):
        # G1 = 4 pixels, cut 3 + 1: best overlap 3/4. G2 = 2 pixels, whole: 1. (4 · ¾ + 2 · 1) / 6
        assert covering([[0, 0, 0, 1, 2, 2]], [[0, 0, 0, 0, 1, 1]]) == pytest.approx(5 / 6)

    def test_rand_index(self):
        # 15 pairs; those of the cut pixel with the other three of its region disagree.
        assert rand_index([[0, 0, 0, 1, 2, 2]], [[0, 0, 0, 0, 1, 1]]) == pytest.approx(12 / 15)

    def test_variation_of_information(self):
        # Only H(S|G) is not zero: in the region of 4 pixels, (3/4, 1/4) has 0.811278 bits; 4/6 of the pixels are there.
        assert variation_of_information([[0, 0, 0, 1, 2, 2]], [[0, 0, 0, 0, 1, 1]]) == pytest.approx(0.5408521)

    def test_two_annotators_count_by_area_in_covering_and_alike_in_the_others(self):
        found = compare([[[0, 0, 0, 0]]], [[[0, 0, 1, 1]], [[0, 0, 0, 0]]])
        assert (found.covered[0], found.truth_area) == (2 + 4, 8)
        assert found.rand[0] == pytest.approx((1 / 3 + 1) / 2)
        assert found.variation[0] == pytest.approx(1 / 2)

    def test_the_best_level_is_chosen_per_region(self):
        # Level 1 has the left region whole, level 2 the right one.
        fine, other = [[0, 0, 1, 2]], [[0, 1, 2, 2]]
        found = compare([fine, other], [[[0, 0, 1, 1]]])
        assert found.covered.tolist() == [3, 3]
        assert found.best_covered == 4

    def test_void_pixels_of_the_truth_do_not_count(self):
        assert covering([[0, 0, 1, 1]], [[0, 0, -1, 1]]) == 1
        assert rand_index([[0, 0, 1, 1]], [[0, 0, -1, 1]]) == 1
        assert variation_of_information([[0, 0, 1, 1]], [[0, 0, -1, 1]]) == 0

    def test_void_pixels_of_the_prediction_are_not_covered(self):
        assert covering([[0, 0, -1, 1]], [[0, 0, 1, 1]]) == pytest.approx((2 + 2 * 0.5) / 4)

    def test_nothing_to_compare(self):
        assert np.isnan(covering([[0]], [[-1]]))
        assert rand_index([[0]], [[3]]) == 1
        assert variation_of_information([[0]], [[3]]) == 0


class TestOracles:
    @given(two_segmentations())
    @settings(max_examples=60, deadline=None)
    def test_rand_index_counts_pairs_of_pixels(self, pair):
        a, b = (labels.ravel() for labels in pair)
        pairs = list(itertools.combinations(range(a.size), 2))
        agree = sum((a[i] == a[j]) == (b[i] == b[j]) for i, j in pairs)
        assert rand_index(*pair) == pytest.approx(agree / len(pairs) if pairs else 1)

    @given(two_segmentations())
    @settings(max_examples=60, deadline=None)
    def test_variation_of_information_is_scikit_images(self, pair):
        assert variation_of_information(*pair) == pytest.approx(sum(skimage_variation(*pair)), abs=1e-9)

    @given(two_segmentations())
    @settings(max_examples=60, deadline=None)
    def test_covering_by_sets(self, pair):
        segments, truths = ([set(np.flatnonzero(labels == n)) for n in np.unique(labels)] for labels in pair)
        expected = sum(len(g) * max(len(g & s) / len(g | s) for s in segments) for g in truths)
        assert covering(*pair) == pytest.approx(expected / pair[0].size)

    @given(two_segmentations())
    @settings(max_examples=30, deadline=None)
    def test_names_of_regions_do_not_matter(self, pair):
        a, b = pair
        found, other = compare([a], [b]), compare([a * 5000 + 7], [9000 - b])
        assert found.covered == pytest.approx(other.covered)
        assert found.rand == pytest.approx(other.rand)
        assert found.variation == pytest.approx(other.variation)


class TestLevels:
    @given(contour_maps(), st.lists(st.integers(0, 6), min_size=1, max_size=4, unique=True))
    @settings(max_examples=80, deadline=None)
    def test_a_level_is_the_connected_components_of_what_does_not_exceed_it(self, cells, steps):
        thresholds = np.sort(np.array(steps)) / 10
        levels = ucm_levels(cells, thresholds)
        for k, threshold in enumerate(thresholds):
            expected, _ = ndimage.label(cells <= threshold, structure=np.ones((3, 3)))
            assert same_partition(levels.at(k), expected[1::2, 1::2])

    @given(contour_maps())
    @settings(max_examples=40, deadline=None)
    def test_merged_tables_score_as_counted_ones(self, cells):
        levels = ucm_levels(cells, [0.05, 0.15, 0.35])
        truths = [levels.labels % 3, levels.at(1) % 2]
        nested, counted = compare(levels, truths), compare([levels.at(k) for k in range(3)], truths)
        assert nested.covered == pytest.approx(counted.covered, rel=1e-12)
        assert nested.covering == pytest.approx(counted.covering, rel=1e-12)
        assert nested.best_covered == pytest.approx(counted.best_covered, rel=1e-12)
        assert nested.rand == pytest.approx(counted.rand, rel=1e-12)
        assert nested.variation == pytest.approx(counted.variation, abs=1e-12)

    def test_thresholds_are_those_of_the_benchmark(self):
        assert level_thresholds(99) == pytest.approx(np.arange(1, 100) / 100)

    @pytest.mark.parametrize("shape", [(4, 5), (5, 4), (1, 3), (3,)])
    def test_a_map_that_is_not_of_double_size_is_refused(self, shape):
        with pytest.raises(InputError, match=r"expected double size, 2H\+1 × 2W\+1"):
            ucm_levels(np.zeros(shape))

    def test_levels_that_do_not_rise_are_refused(self):
        with pytest.raises(UsageError, match="rising"):
            ucm_levels(np.zeros((3, 3)), [0.5, 0.5])


class TestCollect:
    def test_covering_divides_sums_and_the_others_are_means(self):
        protocol = Protocol()
        small = tally([[[0, 1]], [[0, 0]]], [[[0, 0]]], protocol)
        large = tally([[[0, 0, 1, 1]], [[0, 0, 0, 0]]], [[[0, 0, 1, 1]]], protocol)
        score = collect({"small": small, "large": large})
        # Level 1: (1 + 4) / 6, level 2: (2 + 2) / 6; each image at its best: (2 + 4) / 6.
        assert (score.covering.level, score.covering.ods, score.covering.ois) == (1, pytest.approx(5 / 6), 1)
        # Rand: level 1 (0, 1), level 2 (1, 1/3).
        assert (score.pri.level, score.pri.ods, score.pri.ois) == (2, pytest.approx(2 / 3), 1)
        # Variation: level 1 (1, 0), level 2 (0, 1); the first of equals is reported.
        assert (score.vi.level, score.vi.ods, score.vi.ois) == (1, pytest.approx(0.5), 0)
        assert score.covering.interval[0] <= score.covering.ods <= score.covering.interval[1]

    def test_tallies_survive_packing_and_add(self):
        one = tally([[[0, 1]]], [[[0, 0]]])
        assert type(one).unpack(one.pack(), one.protocol) == one
        assert (one + one).covered == pytest.approx(2 * one.covered)

    def test_images_with_different_levels_are_refused_by_name(self):
        tallies = {"a": tally([[[0]]], [[[0]]]), "b": tally([[[0]], [[0]]], [[[0]]])}
        with pytest.raises(InputError, match="b has 2 segmentations but a has 1 segmentations"):
            collect(tallies)

    def test_no_tally_is_refused(self):
        with pytest.raises(UsageError, match="no image was evaluated"):
            collect({})

    def test_a_hierarchy_cut_elsewhere_is_refused(self):
        with pytest.raises(InputError, match="cut at other levels"):
            tally(ucm_levels(np.zeros((3, 3)), [0.5]), [[[0]]])

    def test_sizes_must_agree(self):
        with pytest.raises(InputError, match="segmentation is 2×1 but truth is 3×1"):
            tally([[[0, 1]]], [[[0, 0, 1]]])

    @pytest.mark.parametrize(("stack", "truths"), [([], [[[0]]]), ([[[0]]], [])])
    def test_nothing_to_score_is_refused(self, stack, truths):
        with pytest.raises(InputError, match="expected at least one"):
            tally(stack, truths)


def same_partition(a, b):
    """Whether two label maps name the same regions."""
    pairs = set(zip(np.ravel(a).tolist(), np.ravel(b).tolist(), strict=True))
    return len(pairs) == len({p for p, _ in pairs}) == len({q for _, q in pairs})
