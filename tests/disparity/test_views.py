"""Rendered views and self-consistency: worked numbers, made scenes seen from both sides, and plain numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import ndimage

from hyperacuity.data.scenes import make_scene
from hyperacuity.disparity import (
    View,
    consistency_curve,
    distances,
    forward,
    interval_error,
    inverse,
    prediction_error,
    stereo_views,
    view_error,
)
from hyperacuity.errors import InputError, UsageError


class TestErrors:
    def test_worked_example(self):
        found = view_error([[10, 20], [30, 40]], [[10, 22], [29, 44]])
        assert found.mse == 5.25
        assert found.rmse == pytest.approx(2.2912878475)
        assert found.psnr == pytest.approx(40.9292105746)
        assert found.visible == 1

    def test_bit_depth_moves_the_peak(self):
        more = view_error([[10, 20]], [[10, 22]], bits=16).psnr - view_error([[10, 20]], [[10, 22]]).psnr
        assert more == pytest.approx(20 * math.log10(65535 / 255))

    def test_equal_pictures(self):
        assert view_error([[1, 2]], [[1, 2]]).psnr == math.inf

    def test_nothing_to_compare(self):
        found = view_error([[1, 2]], [[3, 4]], mask=[[0, 0]])
        assert math.isnan(found.mse)
        assert math.isnan(found.psnr)
        assert found.visible == 0

    def test_intervals_are_those_of_scipys_filters(self):
        random = np.random.default_rng(1)
        first, second = random.integers(0, 256, (2, 9, 11)).astype(np.uint8)
        gaps = [
            ndimage.minimum_filter(a, 3, mode="nearest").astype(float) - ndimage.maximum_filter(b, 3, mode="nearest")
            for a, b in ((first, second), (second, first))
        ]
        expected = np.maximum(0, np.maximum(*gaps)) ** 2
        assert interval_error(first, second).mse == pytest.approx(expected.mean())

    def test_intervals_forgive_half_a_pixel_and_leave_unset_pixels_out(self):
        ramp = np.tile(np.arange(0, 100, 10, dtype=float), (3, 1))
        assert interval_error(ramp, ramp + 5).mse == 0
        assert interval_error(ramp, ramp + 25).mse > 0
        spoilt = ramp.copy()
        spoilt[:, 4] = 255
        mask = np.ones(ramp.shape, bool)
        mask[:, 4] = False
        assert interval_error(ramp, spoilt, mask=mask).mse == 0

    def test_what_does_not_fit_is_refused(self):
        with pytest.raises(InputError, match="rendered view is 1×1 but picture is 2×1"):
            view_error([[1, 2]], [[1]])
        with pytest.raises(InputError, match="1 channels, the picture 3"):
            view_error(np.zeros((2, 2, 3)), np.zeros((2, 2)))
        with pytest.raises(UsageError, match="expected forward or inverse"):
            prediction_error([[1]], [[1]], [[0]], way="up")
        with pytest.raises(UsageError, match="bits per channel"):
            view_error([[1]], [[1]], bits=0)


class TestWays:
    def test_forward_moves_pixels_to_the_left_by_their_disparity(self):
        view, drawn = forward([[10, 20, 30, 40]], [[2, 2, 2, 2]])
        assert drawn.ravel().tolist() == [True, True, False, False]
        assert view[drawn].ravel().tolist() == [30, 40]

    def test_the_nearer_surface_is_in_front_whatever_the_order(self):
        row = [[10, 11, 12, 13, 99, 98, 16, 17]]
        view, drawn = forward(row, [[0, 0, 0, 0, 3, 3, 0, 0]])
        assert view[0, :, 0][drawn[0]].tolist() == [10, 99, 98, 13, 16, 17]
        assert np.flatnonzero(~drawn).tolist() == [4, 5]

    def test_a_surface_that_is_stretched_has_no_holes(self):
        view, drawn = forward([[0, 10, 20, 30, 40]], [[4, 3, 2, 1, 0]])  # x − d = −4, −2, 0, 2, 4
        assert drawn.all()
        assert view.ravel().tolist() == [20, 25, 30, 35, 40]

    def test_positions_scale_disparities(self):
        half, _ = forward([[10, 20, 30, 40]], [[2, 2, 2, 2]], position=0.5)
        assert half.ravel().tolist()[:3] == [20, 30, 40]
        back, _ = forward([[10, 20, 30, 40]], [[1, 1, 1, 1]], position=-1)
        assert back.ravel().tolist()[1:] == [10, 20, 30]

    def test_inverse_fetches_between_pixels(self):
        picture, inside = inverse([[10, 20, 30, 40]], [[0, 0.5, 1.25, 9]])
        assert inside.ravel().tolist() == [True, True, True, False]
        assert picture[inside].ravel().tolist() == pytest.approx([10, 15, 17.5])

    def test_a_cubic_reproduces_parabolas_inside(self):
        x = np.arange(10.0)
        picture, _ = inverse([x**2], [np.full(10, 0.25)], cubic=True)
        assert picture[0, 3:8, 0] == pytest.approx((x[3:8] - 0.25) ** 2)

    def test_unknown_disparities_predict_nothing(self):
        unknown = np.full((1, 4), np.nan)
        assert not forward([[1, 2, 3, 4]], unknown)[1].any()
        assert not inverse([[1, 2, 3, 4]], unknown)[1].any()


class TestScenes:
    def test_true_disparities_predict_the_other_view_and_others_do_not(self):
        scene = make_scene(5, size=(160, 120))
        for way in ("forward", "inverse"):
            mask = scene.nonocc if way == "inverse" else None
            right = prediction_error(scene.image, scene.right, scene.disparity, way=way, mask=mask)
            wrong = prediction_error(scene.image, scene.right, scene.disparity + 3, way=way, mask=mask)
            assert right.psnr > wrong.psnr + 3
            assert 0.5 < right.visible <= 1
            tolerant = prediction_error(scene.image, scene.right, scene.disparity, way=way, mask=mask, tolerant=True)
            assert tolerant.mse < right.mse

    def test_true_maps_of_both_views_agree_where_both_see(self):
        scene = make_scene(5, size=(160, 120))
        spread = distances(stereo_views(scene.disparity, scene.disparity_right))
        noisy = scene.disparity + np.random.default_rng(0).normal(0, 2, scene.disparity.shape).astype(np.float32)
        worse = distances(stereo_views(noisy, scene.disparity_right))
        at = [0.5, 1, 2]
        assert consistency_curve(spread, at)[0] > 0.8
        assert (consistency_curve(spread, at) > consistency_curve(worse, at)).all()


class TestConsistency:
    def test_a_third_view_is_compared_per_unit_of_baseline(self):
        near, far = View(np.full((2, 20), 2, np.float32), 0, 1), View(np.full((2, 20), 4.4, np.float32), 0, 2)
        apart = distances([near, far], sigma=0.5)
        assert apart == pytest.approx(0.2 / (0.5 * math.hypot(1, 0.5)))
        assert len(apart) == 2 * 40

    def test_a_curve_is_the_cumulative_share(self):
        assert consistency_curve([3, 1, 2, 2], [0, 1, 2, 2.5, 3]).tolist() == [0, 0.25, 0.75, 0.75, 1]
        assert np.isnan(consistency_curve([], [1])).all()

    def test_what_makes_no_sense_is_refused(self):
        view = View(np.ones((2, 2), np.float32), 1, 1)
        with pytest.raises(UsageError, match="two cameras at different positions"):
            distances([view, view])
        with pytest.raises(UsageError, match="expected a positive number"):
            distances([view], sigma=0)
        assert len(distances([])) == 0
