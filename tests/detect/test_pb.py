"""``pb``: half-disc gradients against plain histograms, learning against an independent optimiser, and what it finds."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.ndimage import convolve1d, gaussian_filter
from scipy.optimize import minimize
from skimage.color import rgb2lab

from hyperacuity.detect import detector
from hyperacuity.detect.pb import (
    CUES,
    PbModel,
    detect_with,
    gradients,
    load_model,
    localised,
    nearest_texton,
    texture_kernels,
    to_lab,
)
from hyperacuity.detect.pb_training import fit, learn_textons, logistic_fit, observe, train
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels.half_discs import half_disc_gradients


def half_discs_by_hand(labels, bins, radius, direction, smooth):
    """Two histograms at every pixel, counted pixel by pixel."""
    reach = math.ceil(radius)
    padded = np.pad(labels, reach, mode="symmetric")
    result = np.zeros(labels.shape)
    line = direction * math.pi / 8
    for y in range(labels.shape[0]):
        for x in range(labels.shape[1]):
            halves = np.zeros((2, bins))
            for dy in range(-reach, reach + 1):
                for dx in range(-reach, reach + 1):
                    if 0 < dy * dy + dx * dx <= radius * radius:
                        beyond = (math.atan2(dy, dx) - line + 1e-9) % (2 * math.pi) < math.pi
                        halves[int(beyond), padded[y + reach + dy, x + reach + dx]] += 1
            halves /= halves.sum(axis=1, keepdims=True)
            if smooth:
                at = np.arange(-math.ceil(2.5 * smooth), math.ceil(2.5 * smooth) + 1)
                taps = np.exp(-0.5 * (at / smooth) ** 2)
                halves = convolve1d(halves, taps / taps.sum(), axis=1, mode="constant")
            g, h = halves
            known = g + h > 1e-9
            result[y, x] = 0.5 * ((g - h)[known] ** 2 / (g + h)[known]).sum()
    return result


class TestHalfDiscs:
    @pytest.mark.parametrize(("radius", "smooth"), [(1.0, 0.0), (2.3, 0.0), (3.0, 1.2)])
    def test_they_are_histograms_counted_pixel_by_pixel(self, radius, smooth):
        labels = np.random.default_rng(3).integers(0, 6, (9, 11)).astype(np.uint8)
        found = half_disc_gradients(labels, 6, radius, smooth=smooth)
        for direction in range(8):
            expected = half_discs_by_hand(labels, 6, radius, direction, smooth)
            np.testing.assert_allclose(found[direction], expected, atol=1e-5)

    def test_a_flat_picture_has_none(self):
        assert not half_disc_gradients(np.full((8, 8), 3, np.uint8), 5, 3).any()

    def test_a_quarter_turn_of_the_picture_turns_the_directions(self):
        labels = np.random.default_rng(5).integers(0, 4, (10, 10)).astype(np.uint8)
        found, turned = half_disc_gradients(labels, 4, 3), half_disc_gradients(np.rot90(labels).copy(), 4, 3)
        # Pixels that lie on the line itself fall to the other side when it is turned, but for the axes.
        np.testing.assert_allclose(turned[0], np.rot90(found[4]), atol=1e-5)


class TestCues:
    def test_lab_is_that_of_scikit_image_but_for_gamma_and_range(self):
        linear = np.random.default_rng(1).random((4, 5, 3))
        srgb = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
        expected = rgb2lab(srgb)
        ours = to_lab(np.moveaxis(linear ** (1 / 2.5), 2, 0).astype(np.float32))
        np.testing.assert_allclose(ours[0], expected[..., 0] / 100, atol=2e-3)
        np.testing.assert_allclose(
            ours[1:], np.clip((np.moveaxis(expected[..., 1:], 2, 0) + 73) / 168, 0, 1), atol=2e-3
        )

    def test_filters_do_not_see_the_level_of_an_image(self):
        kernels, radius = texture_kernels()
        assert len(kernels) == 26
        for kernel in kernels:
            assert kernel.shape == (2 * radius + 1, 2 * radius + 1)
            assert abs(kernel.sum()) < 1e-12
            assert np.abs(kernel).sum() == pytest.approx(1)

    def test_the_nearest_texton_is_the_nearest(self):
        generator = np.random.default_rng(2)
        textons, answers = generator.normal(size=(7, 26)), generator.normal(size=(26, 3, 4)).astype(np.float32)
        distance = ((answers.reshape(26, -1).T[:, None] - textons) ** 2).sum(axis=2)
        assert np.array_equal(nearest_texton(answers, textons).ravel(), distance.argmin(axis=1))

    def test_localising_keeps_a_parabola_and_takes_off_noise(self):
        across = np.tile(1 - 0.01 * (np.arange(41) - 20.0) ** 2 / 4, (41, 1)).astype(np.float32)
        raw = np.zeros((8, 41, 41), np.float32)
        raw[4] = across  # the line runs down
        assert localised(raw, 6.0)[4, 20, 20] == pytest.approx(1, abs=1e-4)
        noise = np.random.default_rng(1).random((8, 41, 41)).astype(np.float32)
        assert localised(noise, 6.0)[:, 8:-8, 8:-8].std() < noise.std() / 2


class TestDetection:
    """The shipped parameters."""

    @staticmethod
    def strongest_column(image):
        seen = detector("pb")(image)
        return int(seen.strength[20:-20].mean(axis=0).argmax()), seen

    def test_a_step_of_brightness_is_found_in_place(self):
        image = np.full((80, 120), 60, np.uint8)
        image[:, 60:] = 180
        column, seen = self.strongest_column(image)
        assert column in (59, 60)
        assert abs(abs(seen.direction[40, column]) - 0) < 1e-6  # across the edge: along x
        assert seen.strength[40, column] > 0.6

    def test_colours_of_equal_brightness_are_told_apart(self):
        image = np.zeros((80, 120, 3))
        image[:, :60], image[:, 60:] = (0.8, 0.3, 0.3), (0.3, 0.55, 0.3)
        column, seen = self.strongest_column((image * 255).astype(np.uint8))
        assert column in (59, 60)
        assert seen.strength[40, 60] > 5 * seen.strength[40, 20]

    def test_textures_of_equal_brightness_are_told_apart(self):
        generator = np.random.default_rng(4)
        fine, coarse = generator.normal(size=(2, 90, 160))
        coarse = gaussian_filter(coarse, (1, 6))
        image = 0.5 + 0.12 * np.where(np.arange(160) < 80, fine, coarse / coarse.std())
        textured = gradients(np.clip(image, 0, 1), load_model().textons)[CUES.index("texture"), 4]
        assert abs(int(textured[15:-15].mean(axis=0).argmax()) - 80) <= 4

    def test_probabilities_lie_within_zero_and_one_and_survive_suppression_as_they_are(self):
        image = np.random.default_rng(1).integers(0, 255, (40, 50, 3)).astype(np.uint8)
        seen = detector("pb")(image)
        assert 0 <= seen.thin.min() <= seen.thin.max() <= 1
        kept = seen.thin > 0
        assert np.array_equal(seen.thin[kept], seen.strength[kept])

    def test_a_flat_image_has_no_boundary(self):
        assert not detector("pb")(np.full((30, 40, 3), 90, np.uint8)).thin.any()

    @pytest.mark.parametrize("shape", [(1, 1), (2, 50), (7, 3, 3)])
    def test_tiny_images_are_no_trouble(self, shape):
        assert detector("pb")(np.random.default_rng(1).random(shape)).thin.shape == shape[:2]


class TestLearning:
    def test_weights_are_those_of_an_independent_optimiser(self):
        generator = np.random.default_rng(7)
        features = generator.normal(size=(400, 3)) * (1, 5, 0.2)
        truth = (generator.random(400) < 1 / (1 + np.exp(-(features @ (1.0, -0.3, 4.0) - 0.5)))).astype(float)

        def loss(weights):
            score = weights[0] + features @ weights[1:]
            return np.logaddexp(0, score).sum() - truth @ score

        expected = minimize(loss, np.zeros(4), method="BFGS").x
        np.testing.assert_allclose(logistic_fit(features, truth), expected, rtol=1e-2, atol=1e-3)

    def test_what_never_varies_and_what_tells_all_leave_weights_finite(self):
        features = np.column_stack([np.zeros(20), np.arange(20.0)])
        weights = logistic_fit(features, (np.arange(20) > 9).astype(float))
        assert np.isfinite(weights).all()
        assert weights[1] == 0
        assert weights[2] > 0

    def test_textons_are_the_means_of_what_is_nearest_to_them(self):
        seen = np.random.default_rng(1).normal(size=(300, 4))
        found = learn_textons(seen, count=5, rounds=200, seed=2)
        nearest = ((seen[:, None] - found) ** 2).sum(axis=2).argmin(axis=1)
        means = [seen[nearest == n].mean(axis=0) for n in range(5)]
        np.testing.assert_allclose(found, means, atol=1e-9)
        with pytest.raises(UsageError, match="too few"):
            learn_textons(seen[:2], count=3)

    @staticmethod
    def world():
        generator = np.random.default_rng(9)
        image = np.clip(np.where(np.arange(90) < 45, 90, 150) + generator.normal(scale=25, size=(70, 90)), 0, 255)
        labels = np.zeros((70, 90), bool)
        labels[:, 45] = True
        return image.astype(np.uint8), labels

    def test_what_is_learned_finds_what_was_drawn_and_equal_seeds_learn_the_same(self):
        image, labels = self.world()
        one, two = (train([image], [labels], samples=800, seed=3) for _ in range(2))
        assert np.array_equal(one.weights, two.weights)
        seen = detect_with(one, image).strength
        assert seen[10:-10, 44:47].max(axis=1).mean() > 4 * np.delete(seen, slice(38, 52), axis=1).mean()

    def test_pixels_near_weak_labels_only_say_nothing(self):
        image, labels = self.world()
        model = train([image], [labels], samples=800)
        seen = observe(image, model.textons, samples=800)
        everywhere = np.ones_like(labels)
        assert np.array_equal(fit([seen], [labels]), fit([seen], [labels], weak=[labels]))
        constant, *weights = fit([seen], [labels], weak=[everywhere])  # only boundaries are left
        near = np.abs(seen.places % 90 - 45) <= 2
        assert (constant + seen.cues[near] @ weights).min() > 2
        with pytest.raises(UsageError, match="nothing to learn"):
            fit([], [])

    def test_a_model_is_written_and_read_back(self, tmp_path):
        image, labels = self.world()
        model = train([image], [labels], samples=300, about="made for a test")
        back = load_model(model.save(tmp_path / "pb.json"))
        assert back.about == "made for a test"
        np.testing.assert_allclose(back.textons, model.textons, rtol=1e-3)
        np.testing.assert_allclose(back.weights, model.weights, atol=1e-4)
        named = detector(f"pb(model='{tmp_path / 'pb.json'}')")
        assert np.array_equal(named(image).thin, detect_with(back, image).thin)

    @pytest.mark.parametrize("text", ["{}", "no json", json.dumps({"about": "", "weights": {}, "textons": []})])
    def test_a_file_that_holds_no_model_is_refused(self, tmp_path, text):
        (tmp_path / "pb.json").write_text(text)
        with pytest.raises(InputError, match="holds no model"):
            load_model(tmp_path / "pb.json")
        with pytest.raises(InputError, match="holds no model"):
            load_model(tmp_path / "nowhere.json")

    def test_textons_of_other_filters_are_refused(self, tmp_path):
        PbModel(np.zeros((4, 3)), np.zeros(5), "").save(tmp_path / "pb.json")
        with pytest.raises(InputError, match=r"shape \(4, 3\)"):
            load_model(tmp_path / "pb.json")


def test_the_shipped_model_says_how_it_was_obtained():
    assert "BSDS500" in load_model().about
