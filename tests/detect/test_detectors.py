"""The detectors against closed formulas, scipy and OpenCV, and what each is known for."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage, signal
from scipy.special import ndtr

from hyperacuity.detect import agk, canny, detector, detectors, gpb, gpb_ucm, hk, masks, pb, sf1, sf5, sobel
from hyperacuity.detect.net.network import net
from hyperacuity.detect.oriented import sf5_kernel, steering_weights
from hyperacuity.errors import InputError, UsageError

ALL = [masks, sobel, canny, sf1, sf5, agk, hk]
SIZE = 61
MIDDLE = SIZE // 2
Y, X = np.indices((SIZE, SIZE)) - MIDDLE
ANGLES = np.deg2rad(np.arange(0, 180, 7.5))


def across(angle: float) -> np.ndarray:
    """Signed distance to the line through the middle of the image whose normal has that angle."""
    return X * math.cos(angle) + Y * math.sin(angle)


def blurred_step(angle: float, *, offset: float = 0.0, blur: float = 1.0) -> np.ndarray:
    """A step of height 1, convolved with a Gaussian, sampled exactly."""
    return ndtr((across(angle) - offset) / blur)


def turn_between(first: np.ndarray | float, second: np.ndarray | float) -> np.ndarray:
    """The angle between two lines."""
    return np.abs((np.asarray(first) - second + np.pi / 2) % np.pi - np.pi / 2)


@pytest.fixture(scope="module")
def photograph() -> np.ndarray:
    """A colour image with structure at all scales and directions, different in each channel."""
    noise = np.random.default_rng(4).random((3, 70, 83))
    image = sum(ndimage.gaussian_filter(noise, (0, s, s)) * s for s in (0.7, 2, 6))
    image = image - image.min()
    return np.moveaxis((image / image.max() * 255).astype(np.uint8), 0, 2)


class TestStepsOfHeightOne:
    @pytest.mark.parametrize(
        ("find", "sigma"), [(canny, 1.0), (sf1, 1.5), (lambda image: sf1(image, variant="classic9tap"), 1.0554)]
    )
    def test_gaussian_derivatives_answer_as_the_formula_says_at_any_angle(self, find, sigma) -> None:
        """Step ∗ G(blur) ∗ G(σ) has slope 1/(√(2π)·√(σ² + blur²)) at its middle; strength is √(2π)·σ times that."""
        for angle in ANGLES:
            strength = find(blurred_step(angle)).strength[MIDDLE, MIDDLE]
            assert strength == pytest.approx(sigma / math.hypot(sigma, 1), rel=2e-3)

    def test_sf5_answers_as_the_formula_says_at_any_angle(self) -> None:
        """Of h only 1.1215·g_u + 0.018σ²·g_uuu is left after integration along the edge."""
        sigma, wide = 1.5, math.hypot(1.5, 1)
        expected = (1.1215 - 0.018 * sigma**2 / wide**2) / wide * sigma / (1.1215 - 0.018)
        for angle in ANGLES:
            assert sf5(blurred_step(angle)).strength[MIDDLE, MIDDLE] == pytest.approx(expected, rel=2e-3)

    @pytest.mark.parametrize("find", [canny, sf1, sf5])
    def test_isotropic_detectors_answer_alike_at_all_angles(self, find) -> None:
        answers = [find(blurred_step(angle, blur=0.7)).strength[MIDDLE, MIDDLE] for angle in ANGLES]
        assert max(answers) / min(answers) < 1.02

    @pytest.mark.parametrize("find", [agk, hk])
    def test_oriented_banks_answer_as_the_formula_says_between_their_angles_too(self, find) -> None:
        answers = [find(blurred_step(angle)).strength[MIDDLE, MIDDLE] for angle in ANGLES]
        assert max(answers) == pytest.approx(1 / math.sqrt(2), rel=2e-3)
        # Half a step (2.5°) off, the kernel sees an edge blurred along its length as well.
        blur_by_tilt = math.sqrt(2 + (5 * math.tan(math.radians(2.5))) ** 2)
        assert min(answers) == pytest.approx(1 / blur_by_tilt, rel=2e-3)

    @pytest.mark.parametrize("find", ALL)
    def test_the_direction_points_across_the_edge(self, find) -> None:
        allowed = {masks: 3, sobel: 1, agk: 2.6, hk: 2.6}.get(find, 0.1)
        for angle in ANGLES:
            direction = find(blurred_step(angle)).direction[MIDDLE, MIDDLE]
            assert np.rad2deg(turn_between(direction, angle)) < allowed

    @pytest.mark.parametrize("find", ALL)
    @pytest.mark.parametrize("offset", [0.0, 0.3, -0.45])
    def test_a_blurred_step_is_found_within_half_a_pixel(self, find, offset: float) -> None:
        for angle in ANGLES:
            thin = find(blurred_step(angle, offset=offset)).thin
            error = np.abs(across(angle) - offset)
            steep = abs(math.cos(angle)) >= abs(math.sin(angle))
            lines = (thin, error) if steep else (thin.T, error.T)  # rows that cross the edge once each
            for line, distance in list(zip(*lines, strict=True))[15:-15]:
                assert line.max() > 0.5
                assert distance[line.argmax()] < 0.5

    @pytest.mark.parametrize("find", ALL)
    def test_an_ideal_step_along_the_grid_is_one_pixel_wide(self, find) -> None:
        step = np.zeros((40, 40), np.uint8)
        step[:, 20:] = 255
        for image in (step, step.T):
            thin = find(image).thin if image is step else find(image).thin.T
            assert (np.count_nonzero(thin[1:-1] > 0.2, axis=1) == 1).all()
            assert np.isin(thin[1:-1].argmax(axis=1), [19, 20]).all()


class TestAgainstOtherLibraries:
    def test_sobel_is_scipys(self, photograph: np.ndarray) -> None:
        grey = photograph[..., 0] / 255
        expected = np.hypot(ndimage.sobel(grey, axis=1), ndimage.sobel(grey, axis=0)) / 4
        np.testing.assert_allclose(sobel(photograph[..., 0]).strength, expected, atol=2e-6)

    def test_sobel_is_opencvs(self, photograph: np.ndarray) -> None:
        grey = photograph[..., 0].astype(np.float32) / 255
        in_x, in_y = (cv2.Sobel(grey, cv2.CV_32F, dx, 1 - dx, borderType=cv2.BORDER_REFLECT) for dx in (1, 0))
        ours = sobel(photograph[..., 0])
        np.testing.assert_allclose(ours.strength, np.hypot(in_x, in_y) / 4, atol=2e-6)
        sure = ours.strength > 1e-3
        assert turn_between(ours.direction, np.arctan2(in_y, in_x))[sure].max() < 1e-3

    def test_masks_are_differences(self, photograph: np.ndarray) -> None:
        grey = photograph[..., 1] / 255
        in_x, in_y = (ndimage.correlate1d(grey, [-1, 0, 1], axis=axis) for axis in (1, 0))
        np.testing.assert_allclose(masks(photograph[..., 1]).strength, np.hypot(in_x, in_y), atol=2e-6)

    @pytest.mark.parametrize("sigma", [0.8, 1.0, 2.5])
    def test_canny_is_scipys_gaussian_derivative(self, photograph: np.ndarray, sigma: float) -> None:
        grey = photograph[..., 2] / 255
        in_x, in_y = (
            ndimage.gaussian_filter(grey, sigma, order=order, radius=math.ceil(4 * sigma)) for order in ((0, 1), (1, 0))
        )
        expected = np.hypot(in_x, in_y) * math.sqrt(2 * math.pi) * sigma
        np.testing.assert_allclose(canny(photograph[..., 2], sigma=sigma).strength, expected, atol=2e-6)

    @pytest.mark.parametrize("degrees", [0, 17, 45, 90, 133])
    def test_sf5_kernels_are_the_derivatives_they_stand_for(self, degrees: int) -> None:
        """∂u and ∂v written out in ∂x and ∂y, each taken by scipy from an impulse; 5σ of a smooth Gaussian."""
        sigma, radius = 2.0, 10
        impulse = np.zeros((41, 41))
        impulse[20, 20] = 1
        c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        along_u, along_v = np.array([c, s]), np.array([-s, c])  # coefficients of ∂x, ∂y
        total = np.zeros_like(impulse)
        for a, i, j in [(1.1215, 1, 0), (0.018, 3, 0), (0.5576, 1, 2), (0.0038, 3, 2), (0.0415, 1, 4)]:
            product = np.ones(1)
            for factor in [along_u] * i + [along_v] * j:
                product = np.convolve(product, factor)  # entry k belongs to ∂x^(n−k) ∂y^k
            for k, coefficient in enumerate(product):
                derivative = ndimage.gaussian_filter(impulse, sigma, order=(k, i + j - k), radius=radius)
                total += a * sigma ** (i + j - 1) * coefficient * derivative
        expected = total[10:31, 10:31] * math.sqrt(2 * math.pi) * sigma / (1.1215 - 0.018)
        # scipy normalises the Gaussian within 5σ, which changes it by 6e-7.
        np.testing.assert_allclose(
            sf5_kernel(math.radians(degrees), sigma), expected, atol=1e-5 * np.abs(expected).max()
        )

    @pytest.mark.parametrize("degrees", [3, 41, 77, 122, 170])
    def test_sf5_steers_to_what_direct_convolution_gives(self, degrees: int, photograph: np.ndarray) -> None:
        angle = math.radians(degrees)
        basis = [
            signal.fftconvolve(photograph[..., 0] / 255, sf5_kernel(k * math.pi / 6, 1.5), "valid") for k in range(6)
        ]
        steered = np.tensordot(steering_weights(np.array([angle]))[0], basis, axes=1)
        direct = signal.convolve(photograph[..., 0] / 255, sf5_kernel(angle, 1.5), "valid", method="direct")
        np.testing.assert_allclose(steered, direct, atol=1e-12)

    def test_sf5_takes_the_largest_over_all_angles(self, photograph: np.ndarray) -> None:
        grey = photograph[..., 0] / 255
        radius = math.ceil(5 * 1.5)
        padded = np.pad(grey, radius, mode="symmetric")
        dense = np.deg2rad(np.arange(0, 180, 0.5))
        all_answers = np.array([signal.fftconvolve(padded, sf5_kernel(angle, 1.5), "valid") for angle in dense])
        largest = np.abs(all_answers).max(axis=0)
        ours = sf5(photograph[..., 0])
        np.testing.assert_allclose(ours.strength, largest, rtol=5e-3, atol=1e-4)
        at_our_direction = np.abs(np.take_along_axis(
            all_answers, (np.rint(np.rad2deg(ours.direction) * 2).astype(int) % 360)[np.newaxis], axis=0
        )[0])  # fmt: skip
        assert (at_our_direction > 0.98 * largest - 1e-4).all()

    def test_agk_is_a_dense_convolution_with_rotated_kernels(self, photograph: np.ndarray) -> None:
        grey = photograph[..., 0] / 255
        padded = np.pad(grey, 15, mode="symmetric")
        y, x = np.mgrid[-15:16, -15:16]
        answers = []
        for angle in np.deg2rad(np.arange(0, 180, 15)):
            u, v = x * np.cos(angle) + y * np.sin(angle), -x * np.sin(angle) + y * np.cos(angle)
            kernel = -u * np.exp(-(u**2) / 2 - v**2 / 50) / (2 * np.pi * 5) * math.sqrt(2 * math.pi)
            answers.append(np.abs(signal.fftconvolve(padded, kernel, "valid")))
        np.testing.assert_allclose(agk(photograph[..., 0], step=15).strength, np.max(answers, axis=0), atol=1.5e-5)


class TestCorners:
    @staticmethod
    def corner(degrees: float) -> np.ndarray:
        angle = math.radians(degrees)
        return ndtr(across(angle)) * ndtr(across(angle + math.pi / 2))

    @pytest.mark.parametrize("degrees", [0, 20, 45, 70])
    def test_half_kernels_keep_a_right_angle_that_full_ones_round(self, degrees: float) -> None:
        half, full = hk(self.corner(degrees)), agk(self.corner(degrees))
        assert half.strength[MIDDLE, MIDDLE] > 0.9 * half.strength.max()
        assert full.strength[MIDDLE, MIDDLE] < 0.55 * full.strength.max()
        assert half.thin[MIDDLE, MIDDLE] > 0.9
        assert full.thin[MIDDLE, MIDDLE] < 0.55

    @pytest.mark.parametrize("degrees", [0, 20, 45, 70])
    def test_half_kernels_point_along_the_bisector(self, degrees: float) -> None:
        direction = hk(self.corner(degrees)).direction[MIDDLE, MIDDLE]
        assert np.rad2deg(turn_between(direction, math.radians(degrees + 45))) < 5

    def test_on_a_straight_edge_half_kernels_equal_full_ones(self) -> None:
        step = blurred_step(math.radians(35))
        assert hk(step).strength[MIDDLE, MIDDLE] == pytest.approx(agk(step).strength[MIDDLE, MIDDLE], rel=1e-3)


class TestColour:
    @pytest.mark.parametrize("find", ALL)
    def test_equal_channels_give_what_grey_gives(self, find, photograph: np.ndarray) -> None:
        grey = photograph[..., 0]
        plain, colour = find(grey), find(np.dstack([grey] * 3))
        np.testing.assert_allclose(colour.strength, plain.strength, rtol=1e-3, atol=2e-6)
        sure = plain.strength > 1e-2
        assert turn_between(colour.direction, plain.direction)[sure].max() < np.deg2rad(
            5.1 if find in (agk, hk) else 0.5
        )
        both = (colour.thin > 0) & (plain.thin > 0)
        assert both.sum() > 0.98 * (plain.thin > 0).sum()

    def test_di_zenzos_tensor_is_the_largest_change_in_any_direction(self, photograph: np.ndarray) -> None:
        """Checked by trying directions: max over θ of the channels' root mean square of cos θ·I_x + sin θ·I_y."""
        planes = np.moveaxis(photograph / 255, 2, 0)
        in_x, in_y = (np.array([ndimage.sobel(plane, axis=axis) / 4 for plane in planes]) for axis in (1, 0))
        theta = np.deg2rad(np.arange(0, 180, 0.25))
        change = np.array([np.sqrt(np.mean((np.cos(t) * in_x + np.sin(t) * in_y) ** 2, axis=0)) for t in theta])
        ours = sobel(photograph)
        np.testing.assert_allclose(ours.strength, change.max(axis=0), rtol=1e-4, atol=2e-6)
        clear = change.max(axis=0) > 1.2 * change.min(axis=0) + 1e-3
        assert turn_between(ours.direction, theta[change.argmax(axis=0)])[clear].max() < np.deg2rad(0.5)

    @pytest.mark.parametrize("find", ALL)
    def test_an_edge_that_grey_cannot_see_is_found(self, find) -> None:
        image = np.zeros((40, 40, 3), np.uint8)
        image[:, :20] = (200, 0, 0)
        image[:, 20:] = (0, 200, 0)
        assert not find(image.mean(axis=2).astype(np.uint8)).thin.any()
        assert np.isin(find(image).thin[20].argmax(), [19, 20])

    @pytest.mark.parametrize("find", [sf5, agk])
    def test_channels_by_their_largest(self, find, photograph: np.ndarray) -> None:
        single = np.max([find(photograph[..., c]).strength for c in range(3)], axis=0)
        np.testing.assert_allclose(find(photograph, channels="max").strength, single, rtol=5e-3)

    def test_hk_takes_the_strongest_channel(self, photograph: np.ndarray) -> None:
        single = np.max([hk(photograph[..., c]).strength for c in range(3)], axis=0)
        np.testing.assert_allclose(hk(photograph).strength, single, atol=1e-5)


class TestContract:
    @pytest.mark.parametrize("find", ALL)
    @pytest.mark.parametrize("level", [0, 97, 255])
    def test_a_flat_image_has_no_edges(self, find, level: int) -> None:
        seen = find(np.full((30, 41, 3), level, np.uint8))
        for values in (seen.strength, seen.direction, seen.thin, seen.soft):
            assert values.dtype == np.float32
            assert values.shape == (30, 41)
            assert not values.any()

    @pytest.mark.parametrize("find", ALL)
    def test_flat_areas_beside_an_edge_have_none_either(self, find) -> None:
        image = np.zeros((80, 80))
        image[:, 40:] = 1
        assert not find(image).thin[:, :20].any()

    @pytest.mark.parametrize("find", ALL)
    def test_the_thin_map_is_a_soft_map_and_part_of_the_strength(self, find, photograph: np.ndarray) -> None:
        seen = find(photograph)
        assert seen.thin.max() == 1
        assert seen.soft.max() == 1
        raw = find(photograph, thin_norm="none").thin
        kept = raw > 0
        np.testing.assert_array_equal(raw[kept], seen.strength[kept])
        np.testing.assert_allclose(seen.thin, raw / raw.max(), rtol=1e-6)
        assert 0.02 < kept.mean() < 0.6
        half_turn = np.float32(np.pi / 2)
        assert (seen.direction > -half_turn).all()
        assert (seen.direction <= half_turn).all()

    @pytest.mark.parametrize("find", ALL)
    def test_bit_depth_does_not_matter(self, find, photograph: np.ndarray) -> None:
        deep = photograph.astype(np.uint16) * 257
        np.testing.assert_allclose(find(deep).strength, find(photograph).strength, atol=2e-5)
        np.testing.assert_allclose(find(photograph / 255).strength, find(photograph).strength, atol=2e-5)

    @settings(max_examples=15, deadline=None)
    @given(st.sampled_from(ALL), st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**32 - 1))
    def test_mirror_images_give_mirrored_strength(self, find, height: int, width: int, seed: int) -> None:
        image = np.random.default_rng(seed).random((height, width), dtype=np.float32)
        strength = find(image).strength
        np.testing.assert_allclose(find(image[:, ::-1]).strength[:, ::-1], strength, rtol=1e-3, atol=2e-5)
        np.testing.assert_allclose(find(image[::-1]).strength[::-1], strength, rtol=1e-3, atol=2e-5)
        np.testing.assert_allclose(find(image.T).strength.T, strength, rtol=1e-3, atol=2e-5)

    def test_a_long_kernel_averages_noise_away(self) -> None:
        """What elongated filters are for: an edge in noise stands out more from the background than with an isotropic one."""
        noise = np.random.default_rng(8).normal(0, 0.25, (SIZE, SIZE))
        image = blurred_step(0.0) + noise

        def contrast(find) -> float:
            strength = find(image).strength
            return float(strength[10:-10, MIDDLE].mean() / strength[10:-10, 5:20].mean())

        assert contrast(agk) > 1.3 * contrast(canny)
        assert contrast(sf5) > contrast(sf1)

    def test_refuses_what_is_no_image(self) -> None:
        with pytest.raises(InputError, match=r"\(4, 4, 4\)"):
            canny(np.zeros((4, 4, 4), np.uint8))
        with pytest.raises(InputError, match="no pixels"):
            canny(np.zeros((0, 4)))
        with pytest.raises(InputError, match="NaN"):
            canny(np.full((4, 4), np.nan))
        with pytest.raises(InputError, match="int64"):
            canny(np.zeros((4, 4), np.int64))

    @pytest.mark.parametrize(
        ("name", "complaint"),
        [
            ("canny(sigma=0)", "sigma is 0"),
            ("agk(along=-1)", "along is -1"),
            ("hk(step=7)", "step is 7"),
            ("sf5(channels='min')", "'min'"),
            ("sf1(variant='x')", "'x'"),
            ("sobel(thin_norm='sum')", "'sum'"),
        ],
    )
    def test_refuses_senseless_options(self, name: str, complaint: str) -> None:
        with pytest.raises(UsageError, match=complaint):
            detector(name)(np.eye(9))


class TestRegistry:
    def test_every_detector_is_found_by_its_name(self) -> None:
        every = [*ALL, pb, gpb, gpb_ucm, net]
        assert detectors() == [find.__name__.replace("_", "-") for find in every]
        for name, find in zip(detectors(), every, strict=True):
            image = np.random.default_rng(0).random((20, 20))
            np.testing.assert_array_equal(detector(name)(image).thin, find(image).thin)

    @pytest.mark.parametrize(
        "name", ["canny", "canny(sigma=2.5)", "hk(along=10.0, step=2.0)", "sf1(variant='classic9tap')"]
    )
    def test_canonical_names_parse_back(self, name: str) -> None:
        assert str(detector(name)) == name
        assert detector(str(detector(name))) == detector(name)

    def test_options_reach_the_detector(self) -> None:
        image = np.random.default_rng(1).random((20, 20))
        np.testing.assert_array_equal(detector("canny(sigma=2)")(image).strength, canny(image, sigma=2).strength)

    @pytest.mark.parametrize(
        ("name", "complaint"),
        [
            ("log", "there are masks, sobel"),
            ("canny(width=2)", "no option width; it has sigma"),
            ("canny(sigma='wide')", "such as 1.0"),
            ("canny(2)", "written as in"),
            ("canny(sigma=open('x'))", "written as in"),
            ("canny(sigma=)", "written as in"),
            ("sf1(variant=3)", "such as 'gaussian'"),
        ],
    )
    def test_other_names_are_refused(self, name: str, complaint: str) -> None:
        with pytest.raises(UsageError, match=complaint):
            detector(name)
