"""Non-maximum suppression against plain numpy and scipy written from the formulas, and against cases done by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels.suppression import suppress, suppress_structured

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(1, 24)


def random_map(seed: int, height: int, width: int) -> np.ndarray:
    """A smooth random map in [0, 1] with some exact zeros, as detectors give."""
    noise = np.random.default_rng(seed).random((height, width))
    return np.maximum(ndimage.gaussian_filter(noise, 1.0) - 0.3, 0).astype(np.float32)


def suppress_by_scipy(strength: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """The gradient kind: sample the ring of neighbours along the direction with scipy's bilinear interpolation."""
    strength, direction = strength.astype(float), direction.astype(float)
    c, s = np.cos(direction), np.sin(direction)
    reach = np.maximum(np.abs(c), np.abs(s))  # the ring is the square max(|x|, |y|) = 1
    y, x = np.indices(strength.shape)
    one = ndimage.map_coordinates(strength, [y + s / reach, x + c / reach], order=1)
    other = ndimage.map_coordinates(strength, [y - s / reach, x - c / reach], order=1)
    thin = np.where((strength >= one) & (strength >= other) & (strength > np.minimum(one, other)), strength, 0)
    inner = np.zeros(strength.shape, bool)
    inner[1:-1, 1:-1] = True
    return np.where(inner, thin, 0).astype(np.float32)


def suppress_structured_by_scipy(soft: np.ndarray, smooth: int, radius: int, round8: bool) -> np.ndarray:
    """The structured kind, line by line from its description."""

    def triangle(image: np.ndarray, r: int) -> np.ndarray:
        weights = np.concatenate([np.arange(1, r + 2), np.arange(r, 0, -1)]) / (r + 1) ** 2
        return ndimage.convolve1d(ndimage.convolve1d(image, weights, axis=0, mode="reflect"), weights, axis=1)

    E = triangle(soft.astype(float), smooth) if smooth else soft.astype(float)
    Ey, Ex = np.gradient(triangle(E, 4))
    Exx = np.gradient(Ex, axis=1)
    Eyy, Exy = np.gradient(Ey)
    O = np.mod(np.arctan(Eyy * np.sign(-Exy) / (Exx + 1e-5)), np.pi)  # noqa: E741
    y, x = np.indices(E.shape)
    keep = np.ones(E.shape, bool)
    for d in range(-radius, radius + 1):
        if d:
            there = ndimage.map_coordinates(E, [y + d * np.sin(O), x + d * np.cos(O)], order=1, mode="nearest")
            keep &= there <= E * 1.01
    E = np.where(keep, E, 0)
    height, width = E.shape
    band = min(5, height // 2, width // 2)
    for image in (E, E.T):
        for i in range(band):
            image[i] *= i / band
            image[-1 - i] *= i / band
    return (np.rint(E * 255) / 255 if round8 else E).astype(np.float32)


class TestAlongTheGradient:
    @settings(max_examples=60, deadline=None)
    @given(SEEDS, st.integers(3, 24), st.integers(3, 24))
    def test_agrees_with_scipy(self, seed: int, height: int, width: int) -> None:
        strength = random_map(seed, height, width)
        direction = np.random.default_rng(seed).uniform(-4, 4, strength.shape).astype(np.float32)
        np.testing.assert_array_equal(suppress(strength, direction), suppress_by_scipy(strength, direction))

    @pytest.mark.parametrize("angle", np.deg2rad([0, 45, 90, 135, 180, -45, -90]))
    def test_sectors_and_interpolation_agree_on_axes_and_diagonals(self, angle: float) -> None:
        strength = random_map(1, 40, 40)
        direction = np.full(strength.shape, angle)
        np.testing.assert_array_equal(
            suppress(strength, direction), suppress(strength, direction, interpolation="sectors")
        )

    @pytest.mark.parametrize(
        ("degrees", "neighbour"),
        [(22, (0, 1)), (23, (1, 1)), (67, (1, 1)), (68, (1, 0)), (112, (1, 0)), (113, (1, -1)), (157, (1, -1)), (158, (0, -1))],
    )  # fmt: skip
    def test_sectors_change_at_odd_multiples_of_22_5_degrees(self, degrees: int, neighbour: tuple[int, int]) -> None:
        dy, dx = neighbour
        direction = np.full((3, 3), np.deg2rad(degrees))
        for side in (1, -1):
            strength = np.ones((3, 3), np.float32)
            strength[1, 1] = 2
            strength[1 + side * dy, 1 + side * dx] = 3
            assert not suppress(strength, direction, interpolation="sectors").any()
            strength[1 + side * dy, 1 + side * dx] = 1
            assert suppress(strength, direction, interpolation="sectors")[1, 1] == 2

    @pytest.mark.parametrize("degrees", [0, 90, 180, 270])
    @pytest.mark.parametrize("jitter", [-1e-6, 0, 1e-6])
    def test_the_first_line_of_a_plateau_two_wide_stays(self, degrees: int, jitter: float) -> None:
        strength = np.zeros((7, 7), np.float32)
        strength[:, 3:5] = 1
        flip = np.transpose if degrees % 180 else np.asarray
        thin = flip(suppress(flip(strength), np.full((7, 7), np.deg2rad(degrees) + jitter)))
        assert (thin[1:-1] == [0, 0, 0, 1, 0, 0, 0]).all()

    @pytest.mark.parametrize("degrees", [45, 225])
    def test_the_first_pixel_of_a_diagonal_plateau_stays(self, degrees: int) -> None:
        strength = np.zeros((6, 6), np.float32)
        strength[2, 2] = strength[3, 3] = 1
        thin = suppress(strength, np.full((6, 6), np.deg2rad(degrees)), interpolation="sectors")
        assert np.argwhere(thin).tolist() == [[2, 2]]
        thin = suppress(strength[:, ::-1], np.full((6, 6), np.deg2rad(degrees + 90)), interpolation="sectors")
        assert np.argwhere(thin).tolist() == [[2, 3]]

    def test_the_sign_of_the_direction_is_of_no_matter(self) -> None:
        strength = random_map(2, 50, 60)
        direction = np.random.default_rng(2).uniform(0, np.pi, strength.shape)
        np.testing.assert_array_equal(suppress(strength, direction), suppress(strength, direction + np.pi))

    def test_border_and_tiny_images_are_zero(self) -> None:
        thin = suppress(np.random.default_rng(0).random((9, 9)) + 0.1, np.zeros((9, 9)))
        assert not thin[[0, -1]].any()
        assert not thin[:, [0, -1]].any()
        assert thin.any()
        for shape in [(1, 1), (2, 7), (7, 2), (1, 5)]:
            assert not suppress(np.ones(shape), np.zeros(shape)).any()

    def test_survivors_keep_their_strength(self) -> None:
        strength = random_map(3, 30, 30)
        thin = suppress(strength, np.full(strength.shape, 0.3))
        assert (thin > 0).any()
        np.testing.assert_array_equal(thin[thin > 0], strength[thin > 0])

    def test_refuses_what_cannot_be_right(self) -> None:
        with pytest.raises(InputError, match=r"\(3, 4\) but direction \(4, 3\)"):
            suppress(np.ones((3, 4)), np.ones((4, 3)))
        with pytest.raises(InputError, match="two dimensions"):
            suppress(np.ones(3), np.ones(3))
        with pytest.raises(UsageError, match="nearest"):
            suppress(np.ones((3, 3)), np.ones((3, 3)), interpolation="nearest")  # type: ignore[arg-type]


class TestStructured:
    @settings(max_examples=80, deadline=None)
    @given(
        SEEDS,
        SIZES.filter(lambda n: n > 1),
        SIZES.filter(lambda n: n > 1),
        st.integers(0, 2),
        st.integers(1, 3),
        st.booleans(),
    )
    def test_agrees_with_the_description(
        self, seed: int, height: int, width: int, smooth: int, radius: int, round8: bool
    ) -> None:
        soft = random_map(seed, height, width)
        ours = suppress_structured(soft, smooth=smooth, radius=radius, round8=round8)
        expected = suppress_structured_by_scipy(soft, smooth, radius, round8)
        np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-7)

    def test_agrees_on_a_large_map(self) -> None:
        soft = random_map(7, 161, 241)
        for smooth, radius in [(1, 1), (0, 2)]:
            ours = suppress_structured(soft, smooth=smooth, radius=radius)
            np.testing.assert_allclose(ours, suppress_structured_by_scipy(soft, smooth, radius, False), rtol=1e-6)

    @pytest.mark.parametrize("degrees", range(5, 180, 10))
    def test_a_blurred_line_becomes_thin_at_any_angle(self, degrees: int) -> None:
        y, x = np.indices((81, 81)) - 40
        across = x * np.cos(np.deg2rad(degrees)) + y * np.sin(np.deg2rad(degrees))
        thin = suppress_structured(np.exp(-(across**2) / 8))
        kept = (thin > 0) & (np.hypot(x, y) < 30)
        assert np.abs(across[kept]).max() <= 1
        # The ridge is not broken: along its longer axis every line holds at least one kept pixel.
        along = kept.any(axis=1 if abs(np.cos(np.deg2rad(degrees))) > 0.71 else 0)
        assert along[25:56].all()

    def test_smoothing_is_1_2_1_by_1_2_1(self) -> None:
        soft = np.zeros((21, 21), np.float32)
        soft[10, 10] = 0.8
        assert suppress_structured(soft)[10, 10] == pytest.approx(0.8 * 4 / 16)
        assert suppress_structured(soft, smooth=0)[10, 10] == pytest.approx(0.8)

    def test_the_outer_five_pixels_fade(self) -> None:
        flat = suppress_structured(np.full((20, 30), 0.5, np.float32))
        np.testing.assert_allclose(flat[10, :7], [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.5], rtol=1e-6)
        np.testing.assert_allclose(flat[10], flat[10, ::-1])
        np.testing.assert_allclose(flat[:7, 15], flat[10, :7])
        assert flat[1, 1] == pytest.approx(0.5 / 25)

    def test_rounding_gives_what_an_8_bit_picture_would(self) -> None:
        soft = random_map(4, 40, 40)
        plain, rounded = suppress_structured(soft), suppress_structured(soft, round8=True)
        stored = np.rint(plain.astype(np.float64) * 255)
        np.testing.assert_array_equal(rounded, (stored / 255).astype(np.float32))

    def test_tiny_and_empty_maps(self) -> None:
        assert not suppress_structured(np.zeros((30, 30))).any()
        for shape in [(1, 1), (1, 9), (9, 1), (2, 2)]:
            thin = suppress_structured(np.ones(shape))
            assert thin.shape == shape
            assert np.isfinite(thin).all()

    def test_results_are_float32_and_the_input_is_left_alone(self) -> None:
        soft = random_map(5, 20, 20)
        before = soft.copy()
        assert suppress_structured(soft, smooth=0).dtype == np.float32
        np.testing.assert_array_equal(soft, before)

    def test_refuses_senseless_options(self) -> None:
        with pytest.raises(UsageError, match="radius 0"):
            suppress_structured(np.ones((3, 3)), radius=0)


def test_of_equal_diagonal_neighbours_one_stays():
    """Found by fuzzing: 1/3 + (1 − 1/3) is not 1 in single precision, so a neighbour's strength came out a hair too small."""
    third = np.float32(1 / 3)
    strength = np.full((5, 5), third)
    strength[1, 1] = strength[2, 2] = 1
    direction = np.full((5, 5), np.pi / 4)
    for interpolation in ("linear", "sectors"):
        thin = suppress(strength, direction, interpolation=interpolation)
        assert (thin[1, 1], thin[2, 2]) == (1, 0)
