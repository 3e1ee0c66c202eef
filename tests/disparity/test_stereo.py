"""Stereo systems: the least window by brute force, made scenes with known disparity, and what options do."""

from __future__ import annotations

import numpy as np
import pytest

from hyperacuity.data.scenes import make_scene
from hyperacuity.detect.stereo import BUILT_IN, census, grid, matcher, matcher_named, sad, sgm_opencv, ssd
from hyperacuity.disparity import bad, density
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels.stereo import census_words

RANDOM = np.random.default_rng(7)


def textured(height=24, width=60, channels=None, shift=4):
    """A noise pair whose every pixel has the same disparity."""
    shape = (height, width + shift) if channels is None else (height, width + shift, channels)
    noise = RANDOM.integers(0, 256, shape).astype(np.uint8)
    return noise[:, :width], noise[:, shift:]


def slow_blocks(left, right, disparities, window, cost=abs):
    radius = window // 2
    left, right = (np.pad(v.astype(int), radius, mode="edge") for v in (left, right))
    height, width = left.shape[0] - 2 * radius, left.shape[1] - 2 * radius
    best = np.zeros((height, width))
    for y in range(height):
        for x in range(width):
            costs = []
            for d in range(min(disparities, x + 1)):
                total = 0
                for v in range(y, y + window):
                    for u in range(x, x + window):
                        # the picture's border is repeated before differences are taken, in the left picture's frame
                        a = min(max(u, radius), width + radius - 1)
                        total += cost(left[v, a] - right[v, max(a - d, radius)])
                costs.append(total)
            best[y, x] = int(np.argmin(costs))
    return best


class TestBlockMatching:
    @pytest.mark.parametrize("window", [1, 3, 5])
    def test_the_least_sum_wins_and_ties_go_to_the_smaller_disparity(self, window):
        left, right = RANDOM.integers(0, 6, (2, 9, 14)).astype(np.uint8)
        found = sad(left, right, 6, window=window, subpixel=False)
        assert np.array_equal(found, slow_blocks(left, right, 6, window))

    @pytest.mark.parametrize("window", [1, 3, 5])
    def test_squares_instead_of_absolute_differences(self, window):
        left, right = RANDOM.integers(0, 6, (2, 9, 14)).astype(np.uint8)
        found = ssd(left, right, 6, window=window, subpixel=False)
        assert np.array_equal(found, slow_blocks(left, right, 6, window, cost=lambda e: e * e))

    def test_a_window_whose_squares_would_not_fit_is_refused(self):
        left, right = textured(channels=3)
        ssd(np.zeros_like(left), np.full_like(right, 255), 1, window=73)
        with pytest.raises(UsageError, match="75 pixels is too large for squared differences: expected at most 74"):
            ssd(left, right, 4, window=75)

    @pytest.mark.parametrize("system", [sad, ssd, census])
    @pytest.mark.parametrize("channels", [None, 3])
    def test_a_shifted_texture_is_found(self, system, channels):
        left, right = textured(channels=channels)
        assert np.abs(system(left, right, 10)[:, 10:] - 4).max() < 0.3

    def test_census_forgives_brightness_and_contrast(self):
        left, right = textured()
        washed_out = (right * 0.3 + 170).astype(np.uint8)
        assert (np.rint(census(left, washed_out, 10, window=3))[:, 10:] == 4).mean() > 0.99
        assert (np.rint(sad(left, washed_out, 10, window=3))[:, 10:] == 4).mean() < 0.9

    def test_16_bits_are_matched_like_8(self):
        left, right = textured()
        assert np.array_equal(sad(left, right, 10), sad(left * np.uint16(257), right * np.uint16(257), 10))

    def test_census_words_say_which_neighbours_are_darker(self):
        grey = RANDOM.random((8, 9)).astype(np.float32)
        words = census_words(grey)[:, :, 0]
        padded = np.pad(grey, 3, mode="edge")
        window = padded[4:11, 2:9].ravel()  # around pixel (4, 2)
        bits = [int(value < grey[4, 2]) for i, value in enumerate(window) if i != 24]
        assert int(words[4, 2]) == int("".join(map(str, bits)), 2)

    def test_subpixel_stays_within_half_a_pixel(self):
        left, right = RANDOM.integers(0, 256, (2, 20, 30)).astype(np.uint8)
        whole, fine = sad(left, right, 8, subpixel=False), sad(left, right, 8)
        assert (np.abs(fine - whole) <= 0.5).all()
        assert (fine != whole).any()


@pytest.fixture(scope="module")
def scene():
    return make_scene(2, size=(240, 160), max_disparity=24)


class TestScenes:
    def disparities(self, scene):
        return int(np.ceil(scene.disparity.max())) + 2

    @pytest.mark.parametrize("system", [sad, census])
    def test_most_visible_pixels_are_right(self, scene, system):
        found = system(scene.image, scene.right, self.disparities(scene))
        guess = np.full_like(found, np.median(scene.disparity))
        assert bad(scene.disparity, found, mask=scene.nonocc) < 0.7 * bad(scene.disparity, guess, mask=scene.nonocc)

    def test_checks_trade_density_for_fewer_errors(self, scene):
        count = self.disparities(scene)
        dense = census(scene.image, scene.right, count)
        checked = census(scene.image, scene.right, count, check=1)
        sure = census(scene.image, scene.right, count, check=1, margin=0.1)
        densities = [density(scene.disparity, found) for found in (dense, checked, sure)]
        errors = [bad(scene.disparity, found, invalid="skip") for found in (dense, checked, sure)]
        assert densities[0] == 1 > densities[1] > densities[2] > 0
        assert errors[0] > errors[1] >= errors[2]

    def test_semi_global_matching(self, scene):
        pytest.importorskip("cv2", reason="sgm-opencv needs the extra detect")
        count = self.disparities(scene)
        pair = scene.image, scene.right, count
        dense, checked = sgm_opencv(*pair), sgm_opencv(*pair, check=1)
        assert bad(scene.disparity, dense, mask=scene.nonocc) < 0.3
        assert density(scene.disparity, checked) < density(scene.disparity, dense)

    def test_opencv_leaves_pixels_empty_where_16_bits_do_not_hold_the_sum_of_eight_paths(self, scene):
        pytest.importorskip("cv2", reason="sgm-opencv needs the extra detect")
        count = self.disparities(scene)
        # The same problem on smaller numbers, an eighth of the contrast and of the penalties, has no such pixels.
        large = sgm_opencv(scene.image, scene.right, count, window=7, smooth=4)
        small = sgm_opencv(scene.image // 8, scene.right // 8, count, window=7, smooth=0.5)
        assert density(scene.disparity, large) < 0.9
        assert density(scene.disparity, small) > 0.99

    @pytest.mark.parametrize("name", BUILT_IN)
    def test_filled_maps_are_dense_and_better_where_one_view_sees_nothing(self, scene, name):
        pair = scene.image[:80], scene.right[:80], self.disparities(scene)
        truth, occluded = scene.disparity[:80], ~scene.nonocc[:80]
        small = "window=9, " if name == "adaptive-weights" else ""
        plain, filled = matcher_named(f"{name}({small}fill=0)")(*pair), matcher_named(f"{name}({small}fill=1)")(*pair)
        assert not np.isnan(plain).any()
        assert not np.isnan(filled).any()
        assert bad(truth, filled, mask=occluded) < bad(truth, plain, mask=occluded)
        dropped = np.isnan(matcher_named(f"{name}({small}check=1)")(*pair))
        assert np.array_equal(plain[~dropped], filled[~dropped])


def test_pictures_narrower_than_the_window_are_refused_before_opencv_sees_them():
    pytest.importorskip("cv2", reason="sgm-opencv needs the extra detect")
    picture = np.zeros((5, 1), np.uint8)
    with pytest.raises(InputError, match="1 pixels wide, too narrow for a window of 3"):
        sgm_opencv(picture, picture, 3)


class TestNames:
    def test_a_grid_names_every_combination(self):
        names = [str(system) for system in grid("sad", window=(5, 9), check=(1,))]
        assert names == ["sad(window=5, check=1)", "sad(window=9, check=1)"]

    def test_a_matcher_is_its_function_with_options(self):
        left, right = textured()
        assert np.array_equal(matcher("sad", window=5)(left, right, 8), sad(left, right, 8, window=5))

    @pytest.mark.parametrize(
        ("call", "sentence"),
        [
            (
                lambda: matcher("graph-cuts"),
                "there are sad, ssd, census, adaptive-weights, cost-filter, dp, sgm, bp, sgm-opencv",
            ),
            (lambda: sad(*textured(), 8, window=4), "expected an odd number"),
            (lambda: sad(*textured(), 0), "expected at least one"),
            (lambda: sad(np.zeros((4, 4), np.uint8), np.zeros((4, 5), np.uint8), 2), "right picture is 5×4"),
            (lambda: sad(np.zeros((4, 4)), np.zeros((4, 4)), 2), "8 or 16 bits"),
            (lambda: sad(np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3), np.uint8), 2), "1 and 3 channels"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, call, sentence):
        with pytest.raises((InputError, UsageError), match=sentence):
            call()
