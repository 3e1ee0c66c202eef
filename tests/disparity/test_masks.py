"""Regions derived from disparity: the spec's one-row example, made scenes, and the masks that Middlebury ships."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage

from hyperacuity.data import load_dataset, read_disparity, read_image, read_mask
from hyperacuity.data.scenes import make_scene
from hyperacuity.disparity import disc, nonocc, regions, untextured
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels.disparity import grow, jumps

LEFT = [[1, 1, 1, 1, 1, 3, 3, 3, 1, 1, 1, 1]]
RIGHT = [[1, 1, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1]]
ALL = np.ones((1, 12), dtype=bool)


def at(mask):
    return np.flatnonzero(mask).tolist()


class TestWorkedExample:
    def test_occlusion_by_checking_both_maps_and_by_mapping_one(self):
        assert at(~nonocc(LEFT, right=RIGHT)) == [0, 3, 4]
        assert at(~nonocc(LEFT)) == [0, 3, 4]

    def test_jumps_and_what_is_near_them(self):
        assert at(jumps(np.array(LEFT, np.float32), 2.0, True)) == [4, 5, 7, 8]
        assert at(disc(LEFT, within=ALL, width=3)) == [3, 4, 5, 6, 7, 8, 9]
        assert at(disc(LEFT, width=3)) == [5, 6, 7, 8, 9]

    def test_all_regions(self):
        found = regions(LEFT, image=np.zeros((1, 12), np.uint8))
        assert list(found) == ["nonocc", "all", "disc", "untextured"]
        assert found["all"].all()
        assert np.array_equal(found["untextured"], found["nonocc"])


class TestRules:
    def test_unknown_pixels_are_in_no_region(self):
        left = np.array(LEFT, dtype=float)
        left[0, 10] = np.nan
        for mask in regions(left).values():
            assert not mask[0, 10]

    def test_a_hole_in_the_truth_is_a_jump_but_a_margin_is_none(self):
        truth = np.full((40, 40), 5.0)
        truth[:, :12] = np.nan
        truth[20, 30] = np.nan
        near = disc(truth, within=np.ones((40, 40)))
        box = np.zeros((40, 40), dtype=bool)
        box[15:26, 26:35] = box[16:25, 25:36] = True
        assert np.array_equal(near, box)

    def test_the_gaps_of_a_sparse_truth_are_no_jumps(self):
        truth = np.full((30, 30), np.nan)
        truth[::3, ::3] = 5
        assert not disc(truth, within=np.ones((30, 30))).any()

    def test_given_masks_are_kept_and_the_rest_is_derived_within_them(self):
        mine = np.zeros((1, 12), dtype=bool)
        mine[0, 6:9] = True
        found = regions(LEFT, given={"nonocc": mine, "sky": mine})
        assert at(found["disc"]) == [6, 7, 8]
        assert list(found) == ["nonocc", "all", "disc", "sky"]

    def test_texture_is_a_squared_difference_over_a_box(self):
        image = np.full((5, 20), 100, np.uint8)
        image[:, 10:] = 110  # squared step 100 at columns 9 and 10: mean over 3 columns 33.3 or 66.7, above 16
        assert at(untextured(image, within=np.ones((5, 20)))[2]) == [*range(8), *range(12, 20)]
        image[:, 10:] = 104  # 16 at two columns of three: 10.7, below
        assert untextured(image, within=np.ones((5, 20))).all()

    def test_16_bit_pictures_are_judged_like_8_bit_ones(self):
        image = np.random.default_rng(0).integers(95, 106, (20, 30, 3)).astype(np.uint8)
        within = np.ones((20, 30))
        assert np.array_equal(untextured(image, within=within), untextured(image * np.uint16(257), within=within))

    @settings(deadline=None, max_examples=60)
    @given(arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 12))), st.integers(0, 4))
    def test_growing_is_scipys_dilation_by_a_box(self, mask, radius):
        size = 2 * radius + 1
        expected = ndimage.binary_dilation(mask, np.ones((size, size)))
        assert np.array_equal(grow(mask, radius), expected)

    def test_what_makes_no_sense_is_refused(self):
        with pytest.raises(UsageError, match="expected an odd number"):
            disc(LEFT, width=4)
        with pytest.raises(InputError, match="right truth is 2×1 but truth is 12×1"):
            nonocc(LEFT, right=[[1, 1]])


class TestScenes:
    def test_visibility_is_that_of_the_made_world(self):
        scene = make_scene(3, size=(200, 150))
        for right in (None, scene.disparity_right):
            agree = nonocc(scene.disparity, right=right) == scene.nonocc
            assert agree.mean() > 0.98


class TestShippedMasks:
    @pytest.mark.parametrize("name", ["teddy", "cones"])
    def test_the_left_truth_alone_gives_nearly_the_same_regions(self, shared_data, name):
        sample = next(s for s in load_dataset("middlebury-v2", shared_data).samples if s.name == name)
        truth = read_disparity(sample.truths[0], scale=sample.scale)
        found = regions(truth, image=read_image(sample.image))
        agree = {
            region: (found[region] == read_mask(sample.extras[region])).mean() for region in ("nonocc", "disc", "all")
        }
        assert agree["nonocc"] >= 0.985
        assert agree["disc"] >= 0.95
        assert agree["all"] == 1
