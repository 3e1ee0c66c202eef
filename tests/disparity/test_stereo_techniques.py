"""The stereo techniques against what they mean: loops, regressions and enumerations written out on tiny pairs."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperacuity.detect.stereo import BUILT_IN, matcher, matcher_named
from hyperacuity.detect.stereo import costs as stereo_costs
from hyperacuity.detect.stereo.costs import absolute_differences, census_differences, colour_and_gradient
from hyperacuity.detect.stereo.pictures import lab
from hyperacuity.detect.stereo.refinement import filled
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels import belief, scanlines, support
from hyperacuity.kernels.cost_volume import winner

RANDOM = np.random.default_rng(11)
QUICK = {"adaptive-weights": "adaptive-weights(window=9)"}


def pictures(height, width, channels=3):
    return RANDOM.integers(0, 256, (2, height, width, channels)).astype(np.float32)


def costs(*shape):
    return RANDOM.integers(0, 40, shape).astype(np.float32)


class TestCosts:
    def test_absolute_differences_by_loops(self):
        left, right = pictures(3, 6)
        found = absolute_differences(left, right, 4, limit=200)
        for y, x, d in np.ndindex(found.shape):
            total = sum(abs(left[y, x, c] - right[y, max(x - d, 0), c]) for c in range(3))
            assert found[y, x, d] == min(total, 200)

    def test_census_by_loops(self):
        left, right = (np.repeat(view, 3, axis=2) for view in pictures(8, 9, 1))
        found = census_differences(left, right, 5)

        def darker(view, y, x):
            padded = np.pad(view[:, :, 0], 3, mode="edge")
            return padded[y : y + 7, x : x + 7] < view[y, x, 0]

        for y, x, d in np.ndindex(found.shape):
            assert found[y, x, d] == (darker(left, y, x) != darker(right, y, max(x - d, 0))).sum()

    def test_colour_and_gradient_by_loops(self):
        left, right = pictures(2, 7) / 20
        found = colour_and_gradient(left, right, 3, share=0.75, colour=3, gradient=1.5)

        def slope(view, y, x):
            grey = view[y].mean(axis=1)
            return (grey[min(x + 1, 6)] - grey[max(x - 1, 0)]) / 2

        for y, x, d in np.ndindex(found.shape):
            u = max(x - d, 0)
            colour = np.abs(left[y, x] - right[y, u]).mean()
            gradient = abs(slope(left, y, x) - slope(right, y, u))
            assert found[y, x, d] == pytest.approx(0.25 * min(colour, 3) + 0.75 * min(gradient, 1.5), rel=1e-5)

    def test_more_disparities_than_columns_are_not_tried(self):
        left, right = pictures(2, 5)
        assert census_differences(left, right, 100).shape == (2, 5, 5)

    def test_lab_of_the_primary_colours(self):
        # CIELAB of sRGB's red, green and blue under D65, from tables
        primaries = 255 * np.eye(3, dtype=np.float32)[None]
        expected = [[53.24, 80.09, 67.20], [87.73, -86.18, 83.18], [32.30, 79.19, -107.86]]
        assert np.allclose(lab(primaries)[0], expected, atol=0.05)


class TestWinner:
    def test_the_least_cost_wins_among_matches_inside_the_right_picture(self):
        volume = costs(5, 7, 6)
        found, margin = winner(volume, False)
        for y, x in np.ndindex(found.shape):
            inside = volume[y, x, : x + 1]
            best = int(inside.argmin())
            assert found[y, x] == best
            rest = [value for d, value in enumerate(inside) if abs(d - best) > 1]
            expected = (min(rest) - inside[best]) / max(inside[best], 1e-6) if rest else np.inf
            assert margin[y, x] == pytest.approx(expected, rel=1e-5)

    def test_a_parabola_has_its_minimum_between_the_disparities(self):
        volume = np.array([[[(d - 2.3) ** 2 for d in range(6)]] * 8], np.float32)
        assert np.allclose(winner(volume, True)[0][0, 5:], 2.3)


class TestSurfaces:
    def test_adaptive_weights_by_loops(self):
        left, right = pictures(4, 7) / 10
        volume = costs(4, 7, 4)
        found = support.weighted_costs(volume, left, right, 2, 6.0, 3.0)

        def weight(view, p, q):
            colour = np.linalg.norm(view[p].astype(float) - view[q])
            return np.exp(-colour / 6 - np.hypot(p[0] - q[0], p[1] - q[1]) / 3)

        for y, x, d in np.ndindex(found.shape):
            if d > x:
                assert np.isinf(found[y, x, d])
                continue
            above = below = 0.0
            for v, u in itertools.product(range(max(y - 2, 0), min(y + 3, 4)), range(max(x - 2, 0), min(x + 3, 7))):
                if u >= d:
                    both = weight(left, (y, x), (v, u)) * weight(right, (y, x - d), (v, u - d))
                    above, below = above + both * volume[v, u, d], below + both
            assert found[y, x, d] == pytest.approx(above / below, rel=1e-4)

    @pytest.mark.parametrize("radius", [1, 2, 9])
    def test_the_guided_filter_is_the_mean_of_the_windows_regressions(self, radius):
        height, width, epsilon = 6, 7, 0.01
        guide = RANDOM.random((height, width, 3)).astype(np.float32)
        volume = RANDOM.random((height, width, 2)).astype(np.float32)
        found = support.guided_filter(volume, guide, radius, epsilon)

        def window(y, x):
            return slice(max(y - radius, 0), y + radius + 1), slice(max(x - radius, 0), x + radius + 1)

        total, count = np.zeros((height, width, 2)), np.zeros((height, width, 1))
        for y, x in np.ndindex(height, width):
            part = guide[window(y, x)].reshape(-1, 3).astype(float)
            design = np.column_stack([part, np.ones(len(part))])
            # ridge regression: least squares with a penalty ε on the slopes, not on the constant
            penalty = len(part) * epsilon * np.diag([1, 1, 1, 0])
            fit = np.linalg.solve(design.T @ design + penalty, design.T @ volume[window(y, x)].reshape(-1, 2))
            total[window(y, x)] += guide[window(y, x)] @ fit[:3] + fit[3]
            count[window(y, x)] += 1
        assert np.allclose(found, total / count, atol=1e-5)


def penalty(one, other, small, large):
    return 0 if one == other else small if abs(one - other) == 1 else large


class TestSmoothness:
    def least_energies(self, volume, jumps):
        """By enumeration of all labellings of one row: for each pixel and disparity the least energy."""
        width, disparities = volume.shape
        least = np.full(volume.shape, np.inf)
        for labels in itertools.product(range(disparities), repeat=width):
            energy = sum(volume[x, d] for x, d in enumerate(labels))
            energy += sum(jumps(x, labels[x - 1], labels[x]) for x in range(1, width))
            for x, d in enumerate(labels):
                least[x, d] = min(least[x, d], energy)
        return least

    def test_dynamic_programming_against_all_labellings_of_a_row(self):
        volume = costs(3, 5, 4)
        grey = np.array([0, 1, 9, 9, 2], np.float32) * np.ones((3, 1), np.float32)
        found = scanlines.row_marginals(volume, grey, 3.0, 20.0, 4.0)

        def jumps(x, before, here):
            step = abs(float(grey[0, x] - grey[0, x - 1]))
            return penalty(before, here, 3, max(20 / (1 + step / 4), 3))

        for y in range(3):
            least = self.least_energies(volume[y], jumps)
            here = found[y] - found[y].min(axis=1, keepdims=True)  # known up to a constant per pixel
            assert np.allclose(here, least - least.min(axis=1, keepdims=True), atol=1e-4)

    def test_one_path_of_semi_global_matching_is_dynamic_programming_up_to_its_pixel(self):
        volume, grey = costs(1, 5, 4), np.zeros((1, 5), np.float32)
        path = scanlines.path_costs(volume, grey, 0, 1, 2.0, 9.0, 1.0)
        for x in range(5):
            part = np.ascontiguousarray(volume[:, : x + 1])
            least = scanlines.row_marginals(part, grey[:, : x + 1].copy(), 2.0, 9.0, 1.0)[0, x]
            assert np.allclose(path[0, x] - path[0, x].min(), least - least.min(), atol=1e-4)

    @pytest.mark.parametrize(("down", "right"), scanlines.DIRECTIONS.tolist())
    def test_the_eight_paths_are_one_path_of_a_turned_picture(self, down, right):
        volume, grey = costs(5, 5, 3), RANDOM.random((5, 5)).astype(np.float32)
        found = scanlines.path_costs(volume, grey, down, right, 2.0, 9.0, 1.0)
        for y, x in np.ndindex(5, 5):
            line = []
            v, u = y, x
            while 0 <= v < 5 and 0 <= u < 5:
                line.append((v, u))
                v, u = v - down, u - right
            along = tuple(np.array(line[::-1]).T)
            row = scanlines.path_costs(volume[along][None].copy(), grey[along][None].copy(), 0, 1, 2.0, 9.0, 1.0)
            assert np.allclose(found[y, x], row[0, -1], atol=1e-4)

    @pytest.mark.parametrize("upright", [False, True])
    @pytest.mark.parametrize("levels", [1, 3])
    def test_beliefs_on_a_chain_are_exact(self, upright, levels):
        chain = costs(5, 4)
        volume = chain[:, None] if upright else chain[None]
        found = belief.beliefs(np.ascontiguousarray(volume), 3.0, 7.0, levels, 12).reshape(5, 4)
        least = self.least_energies(chain, lambda _, before, here: min(3 * abs(before - here), 7))
        shifted = found - found.min(axis=1, keepdims=True)
        assert np.allclose(shifted, least - least.min(axis=1, keepdims=True), atol=1e-4)

    def test_beliefs_of_a_small_grid_lead_to_nearly_the_least_energy(self):
        volume = costs(3, 3, 3)

        def energy(labels):
            jumps = np.abs(np.diff(labels, axis=0)).ravel().tolist() + np.abs(np.diff(labels, axis=1)).ravel().tolist()
            return np.take_along_axis(volume, labels[:, :, None], 2).sum() + sum(min(4 * jump, 8) for jump in jumps)

        every = (np.array(labels).reshape(3, 3) for labels in itertools.product(range(3), repeat=9))
        least = min(energy(labels) for labels in every)
        found = energy(belief.beliefs(volume, 4.0, 8.0, 1, 30).argmin(axis=2))
        assert least <= found <= 1.05 * least
        assert found < energy(volume.argmin(axis=2))


class TestFilling:
    def test_holes_take_the_farther_side(self):
        found = np.array([[7, 7, 1, 1, 3, 3, 8]], np.float32)
        keep = np.array([[False, True, False, False, True, True, False]])
        # one row of one colour: the median changes nothing but what the holes were filled with
        assert filled(found, keep, np.zeros((1, 7, 1), np.float32))[0, [1, 4, 5]].tolist() == [7, 3, 3]
        assert set(filled(found, keep, np.zeros((1, 7, 1), np.float32))[0].tolist()) == {7, 3}

    def test_a_row_of_which_nothing_is_kept_stays(self):
        found = np.full((3, 4), 2, np.float32)
        assert np.array_equal(filled(found, np.zeros((3, 4), bool), np.zeros((3, 4, 3), np.float32)), found)

    def test_the_weighted_median_by_sorting(self):
        disparity = RANDOM.integers(0, 9, (6, 7)).astype(np.float32)
        picture = RANDOM.integers(0, 60, (6, 7, 3)).astype(np.float32)
        found = support.weighted_median(disparity, picture, np.ones((6, 7), bool), 2, 30.0, 2.0)
        for y, x in np.ndindex(6, 7):
            near = [
                (
                    disparity[v, u],
                    np.exp(-((picture[v, u] - picture[y, x]) ** 2).sum() / 900 - ((v - y) ** 2 + (u - x) ** 2) / 4),
                )
                for v in range(max(y - 2, 0), min(y + 3, 6))
                for u in range(max(x - 2, 0), min(x + 3, 7))
            ]
            values, weights = np.array(sorted(near)).T
            assert found[y, x] == values[np.searchsorted(weights.cumsum(), weights.sum() / 2)]


def shifted(seed, shift, height=12, width=40):
    noise = np.random.default_rng(seed).integers(0, 256, (height, width + shift)).astype(np.uint8)
    return noise[:, :width], noise[:, shift:]


class TestAllTechniques:
    @pytest.mark.parametrize("name", BUILT_IN)
    @settings(max_examples=6, deadline=None)
    @given(seed=st.integers(0, 2**32 - 1), shift=st.integers(0, 6))
    def test_random_dots_shifted_by_d_have_disparity_d(self, name, seed, shift):
        left, right = shifted(seed, shift)
        found = matcher_named(QUICK.get(name, name))(left, right, 8)
        # the window at a pixel must lie in both pictures
        assert (np.rint(found[:, 16:-6]) == shift).mean() > 0.97

    @pytest.mark.parametrize("name", BUILT_IN)
    def test_threads_change_nothing(self, name):
        system = matcher_named(f"{QUICK.get(name, name).rstrip(')')}{', ' if name in QUICK else '('}fill=1)")
        pairs = [shifted(seed, 3) for seed in range(4)]
        alone = [system(*pair, 6) for pair in pairs]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda pair: system(*pair, 6), pairs))
        assert all(np.array_equal(one, other) for one, other in zip(alone, together, strict=True))

    @pytest.mark.parametrize("name", BUILT_IN)
    @pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (2, 3)])
    def test_tiny_pictures_and_more_disparities_than_columns(self, name, shape):
        left, right = RANDOM.integers(0, 256, (2, *shape)).astype(np.uint8)
        for options in ({}, {"fill": 1}):
            found = matcher(name, **options)(left, right, 64)
            assert found.shape == shape
            assert ((found >= 0) & (found <= shape[1])).all()

    @pytest.mark.parametrize("name", BUILT_IN)
    def test_pictures_of_one_colour_are_matched_somewhere(self, name):
        flat = np.full((6, 12, 3), 90, np.uint8)
        assert np.isfinite(matcher_named(QUICK.get(name, name))(flat, flat, 5)).all()

    @pytest.mark.parametrize("name", BUILT_IN)
    def test_more_costs_than_memory_holds_are_refused_but_by_those_that_need_no_volume(self, name, monkeypatch):
        monkeypatch.setattr(stereo_costs, "MOST_BYTES", 4 * 12 * 40 * 8 - 1)
        system, pair = matcher_named(QUICK.get(name, name)), shifted(0, 2)
        if name in ("sad", "ssd", "census"):
            system(*pair, 8)
        else:
            with pytest.raises(InputError, match="8 costs at each of 40×12 pixels take"):
                system(*pair, 8)

    @pytest.mark.parametrize("name", BUILT_IN)
    def test_bad_pairs_are_refused_in_a_sentence(self, name):
        system, picture = matcher(name), np.zeros((4, 4), np.uint8)
        for right, disparities, sentence in [
            (np.zeros((4, 5), np.uint8), 2, "right picture is 5×4"),
            (np.zeros((4, 4, 3), np.uint8), 2, "1 and 3 channels"),
            (np.zeros((0, 4), np.uint8), 2, "shape"),
            (picture.astype(float), 2, "8 or 16 bits"),
            (picture, 0, "expected at least one"),
        ]:
            with pytest.raises((InputError, UsageError), match=sentence):
                system(picture, right, disparities)

    @pytest.mark.parametrize(
        ("name", "sentence"),
        [
            ("sgm(paths=3)", "3 paths: expected 2, 4 or 8"),
            ("dp(small=9, large=3)", "a larger jump must not cost less"),
            ("bp(smooth=0)", "smooth is 0, expected a number above 0"),
            ("bp(rounds=0)", "rounds is 0"),
            ("cost-filter(epsilon=-1)", "epsilon is -1"),
            ("adaptive-weights(window=4)", "expected an odd number"),
            ("sad(check=-1)", "check is -1 pixels, expected at least 0"),
            ("sgm(colour=3)", "sgm has no option colour"),
        ],
    )
    def test_options_that_make_no_sense_are_refused(self, name, sentence):
        with pytest.raises(UsageError, match=sentence):
            matcher_named(name)(*shifted(0, 2), 4)
