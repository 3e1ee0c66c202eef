"""Depth cues: against geometry and plain numpy, their symmetry, what is learned from them, and depth from pairs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.spatial import ConvexHull, Delaunay

from hyperacuity.detect.depth.cue_model import CueLesson, antisymmetric_fit, learn_cues, load_cue_model
from hyperacuity.detect.depth.cues import GROUPS, _hulls, crack_pairs, group_of, pair_cues
from hyperacuity.detect.depth.soft_depth import depth_of_regions
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels import cues as kernels
from hyperacuity.ordering import neighbours

LABELS = array_shapes(min_dims=2, max_dims=2, min_side=3, max_side=9).flatmap(
    lambda shape: arrays(np.int32, shape, elements=st.integers(0, 3))
)


def cue(found, name):
    return found.values[:, found.names.index(name)]


def kernel_inputs(beside):
    return beside.first.astype(np.int32), beside.second.astype(np.int32), *crack_pairs(beside)


class TestGeometry:
    def test_a_disc_bulges_into_its_ground_at_every_radius(self):
        disc = (np.hypot(*np.mgrid[-30:31, -40:41]) < 17).astype(np.int32)  # the ground is region 0, the disc region 1
        found = pair_cues(np.full(disc.shape, 0.5), disc, groups=("convexity",))
        assert len(found.names) == 5
        assert (found.values < 0).all()

    @pytest.mark.parametrize("radius", [4, 5, 20, 33, 64])
    def test_a_straight_border_bulges_to_neither_side(self, radius):
        halves = np.zeros((160, 160), np.int32)
        halves[:, 80:] = 1
        beside = neighbours(halves)
        first, second, right, below = kernel_inputs(beside)
        assert kernels.convexity(beside.labels, first, second, right, below, radius).tolist() == [0]

    @pytest.mark.parametrize("turn", range(4))
    def test_the_bar_of_a_t_has_half_the_disc_and_its_arms_a_quarter(self, turn):
        t = np.zeros((60, 60), np.int32)
        t[30:, :30], t[30:, 30:] = 1, 2
        beside = neighbours(np.rot90(t, turn))
        first, _, right, below = kernel_inputs(beside)
        count, wider, half = kernels.junctions(beside.labels, first, right, below, 12).T
        assert beside.first.tolist() == [0, 0, 1]
        assert count.tolist() == [1, 1, 1]
        assert wider == pytest.approx([0.25, 0.25, 0], abs=1e-9)
        assert half == pytest.approx([0.25, 0.25, 0], abs=1e-9)

    def test_a_border_without_a_third_region_has_no_junction(self):
        beside = neighbours(np.eye(9, dtype=int)[::-1].cumsum(axis=0))
        first, _, right, below = kernel_inputs(beside)
        assert kernels.junctions(beside.labels, first, right, below, 6).sum() == 0

    @given(LABELS)
    @settings(max_examples=60, deadline=None)
    def test_hulls_are_those_of_scipy_with_pixels_as_points(self, labels):
        beside = neighbours(labels)
        numbered = beside.labels
        area = np.bincount(numbered.ravel()).astype(float)
        hull, inside = _hulls(beside, area)
        for region in range(len(area)):
            expected = filled(numbered == region)
            assert hull[region] == expected.sum()
            for p in range(beside.count):
                pair = (beside.first[p], beside.second[p])
                if region in pair:
                    other = pair[1 - pair.index(region)]
                    share = expected[numbered == other].mean()
                    assert inside[p, pair.index(region)] == pytest.approx(share)

    @given(LABELS, st.integers(0, 2), st.integers(1, 4))
    @settings(max_examples=40, deadline=None)
    def test_strips_beside_borders_are_means_straight_away_from_them(self, labels, skip, band):
        beside = neighbours(labels)
        if beside.count == 0:
            return
        plane = np.random.default_rng(labels.size).random(labels.shape).astype(np.float32)
        first, _, right, below = kernel_inputs(beside)
        found = kernels.beside_borders(beside.labels, first, right, below, plane[np.newaxis], skip, band)[:, 0]
        expected = np.zeros(beside.count)
        for pair, here, there in zip(beside.pair, beside.here, beside.there, strict=True):
            a, b = (np.array(np.unravel_index(place, labels.shape)) for place in (here, there))
            difference = strip(plane, beside.labels, a, a - b, skip, band) - strip(
                plane, beside.labels, b, b - a, skip, band
            )
            expected[pair] += difference if beside.labels[tuple(a)] == beside.first[pair] else -difference
        assert found == pytest.approx(expected, abs=1e-5)


def filled(mask):
    """The pixels whose centres lie in the convex hull of a mask's pixel centres."""
    points = np.argwhere(mask)
    if len(points) < 3 or np.linalg.matrix_rank(points - points[0]) < 2:  # a point or a line
        low, high = points.min(axis=0), points.max(axis=0)
        result = np.zeros(mask.shape, bool)
        for y, x in np.argwhere(np.ones(mask.shape, bool)):
            on_line = (y - low[0]) * (points[-1, 1] - points[0, 1]) == (x - points[0, 1]) * (
                points[-1, 0] - points[0, 0]
            )
            result[y, x] = on_line and low[0] <= y <= high[0] and low[1] <= x <= high[1]
        return result
    corners = points[ConvexHull(points).vertices]
    inside = Delaunay(corners).find_simplex(np.argwhere(np.ones(mask.shape, bool)), tol=1e-9) >= 0
    return inside.reshape(mask.shape)


def strip(plane, labels, start, away, skip, band):
    values, place = [], start
    for step in range(skip + band):
        if (
            not all(0 <= p < n for p, n in zip(place, labels.shape, strict=True))
            or labels[tuple(place)] != labels[tuple(start)]
        ):
            break
        if step >= skip:
            values.append(plane[tuple(place)])
        place = place + away
    return np.mean(values) if values else plane[tuple(start)]


class TestCues:
    @given(st.integers(0, 10_000), st.permutations(range(4)))
    @settings(max_examples=25, deadline=None)
    def test_what_regions_are_called_only_changes_signs(self, seed, names):
        dice = np.random.default_rng(seed)
        image = dice.integers(0, 256, (24, 30, 3), dtype=np.uint8)
        labels = np.kron(dice.integers(0, 4, (4, 5)), np.ones((6, 6), int))
        order = 1 + dice.random(labels.shape)
        one = pair_cues(image, labels, ownership=order)
        other = pair_cues(image, np.array(names)[labels], ownership=order)
        number = {old: new for new, old in enumerate(np.unique(labels)[np.argsort(np.array(names)[np.unique(labels)])])}
        called = [number[old] for old in np.unique(labels)]
        place = {pair: n for n, pair in enumerate(zip(other.borders.first, other.borders.second, strict=True))}
        for n, (a, b) in enumerate(zip(one.borders.first, one.borders.second, strict=True)):
            x, y = called[a], called[b]
            expected = other.values[place[min(x, y), max(x, y)]] * (1 if x < y else -1)
            assert one.values[n] == pytest.approx(expected, abs=1e-9)

    def test_every_group_has_cues_and_only_those_asked_for_come(self):
        image, labels = (
            np.random.default_rng(0).random((20, 30)),
            np.repeat([[0, 1, 2]], 10, axis=1) * np.ones((20, 1), int),
        )
        assert {group_of(name) for name in pair_cues(image, labels).names} == set(GROUPS)
        assert {group_of(name) for name in pair_cues(image, labels, groups=("size",)).names} == {"size"}
        with pytest.raises(UsageError, match="there are no cues 'taste'; there are convexity, "):
            pair_cues(image, labels, groups=("taste",))

    def test_one_region_has_no_pair(self):
        assert pair_cues(np.zeros((5, 6)), np.zeros((5, 6), int)).values.shape == (0, 0)

    def test_void_pixels_belong_to_no_region(self):
        image = np.random.default_rng(1).random((20, 30))
        labels = np.full((20, 30), -1)
        labels[5:15, 5:15], labels[5:15, 15:25] = 0, 1
        found = pair_cues(image, labels)
        assert found.borders.count == 1
        assert np.isfinite(found.values).all()
        assert cue(found, "size: area").tolist() == [0]


class TestLearning:
    def test_one_cue_is_worth_the_log_of_its_odds(self):
        facing = np.array([[1.0]] * 9 + [[-1.0]] * 3)
        assert antisymmetric_fit(facing, np.ones(12), 1e9) == pytest.approx([np.log(3)], rel=1e-6)

    def test_shuffled_labels_teach_nothing(self):
        lessons = [disc_lesson(seed, shuffled=True) for seed in range(60)]
        model = learn_cues(lessons[:40])
        right = [np.sign(model.choose("all").scores(one.cues)) == one.front for one in lessons[40:]]
        assert 0.15 < np.mean(right) < 0.85

    def test_discs_in_front_are_learned_from_their_outline(self):
        lessons = [disc_lesson(seed) for seed in range(12)]
        weights = learn_cues(lessons[:8]).choose("tjc")
        for one in lessons[8:]:
            assert np.sign(weights.advantages(one.cues)).tolist() == one.front.tolist()

    def test_a_model_that_was_written_is_read_again(self, tmp_path):
        lessons = [disc_lesson(seed) for seed in range(4)]
        model = learn_cues(lessons, about="four discs")
        read = load_cue_model(model.save(tmp_path / "m.json"))
        assert read.about == "four discs"
        assert read.choose("tjc").scores(lessons[0].cues) == pytest.approx(
            model.choose("tjc").scores(lessons[0].cues), rel=0.01, abs=0.01
        )
        with pytest.raises(UsageError, match="there are no cues 'size'; there are all, tjc"):
            read.choose("size")

    @pytest.mark.parametrize(
        "told",
        [
            "[]",
            "{}",
            '{"about": "", "sets": {"all": {"penalty": 1, "cues": {"taste: sweet": {"weight": 1, "spread": 1}}}}}',
            '{"about": "", "sets": {"all": {"penalty": 1, "cues": {"size: area": {"weight": 1, "spread": 0}}}}}',
        ],
    )
    def test_a_file_that_holds_no_model_is_refused(self, told, tmp_path):
        path = tmp_path / "m.json"
        path.write_text(told)
        with pytest.raises(InputError, match=r"m\.json: (holds no model|has a cue)"):
            load_cue_model(path)

    def test_nothing_teaches_nothing(self):
        with pytest.raises(UsageError, match="there is nothing to learn from"):
            learn_cues([])


def disc_lesson(seed, *, shuffled=False):
    dice = np.random.default_rng(seed)
    y, x = np.mgrid[:40, :50]
    disc = np.hypot(y - dice.uniform(15, 25), x - dice.uniform(15, 35)) < dice.uniform(7, 12)
    first = bool(dice.integers(2))  # whether the disc is the first region
    labels = np.where(disc, 0, 1) if first else np.where(disc, 1, 0)
    front = (1 if dice.integers(2) else -1) if shuffled else (1 if first else -1)
    return CueLesson(pair_cues(dice.random((40, 50)), labels), np.array([front]))


class TestDepth:
    @given(LABELS, st.integers(0, 1000))
    @settings(max_examples=50, deadline=None)
    def test_pairs_that_agree_with_depths_give_these_depths(self, labels, seed):
        beside = neighbours(labels)
        depth = np.random.default_rng(seed).normal(size=beside.labels.max() + 1)
        found = depth_of_regions(beside, depth[beside.first] - depth[beside.second])
        assert found.depth == pytest.approx(depth - depth.mean(), abs=1e-5)  # all regions of a rectangle are linked

    @given(LABELS, st.integers(0, 1000))
    @settings(max_examples=50, deadline=None)
    def test_it_is_the_least_squares_of_numpy(self, labels, seed):
        beside = neighbours(labels)
        if beside.count == 0:
            return
        wanted = np.random.default_rng(seed).uniform(-1, 1, beside.count)
        rows = np.zeros((beside.count, beside.labels.max() + 1))
        rows[np.arange(beside.count), beside.first], rows[np.arange(beside.count), beside.second] = 1, -1
        root = beside.cracks**0.25
        expected = np.linalg.lstsq(rows * root[:, None], wanted * root, rcond=None)[0]
        assert depth_of_regions(beside, wanted).depth == pytest.approx(expected, abs=1e-5)

    def test_void_pixels_have_no_depth_and_one_region_is_level(self):
        assert np.isnan(depth_of_regions(neighbours([[-1, 0, 1]]), [0.5]).order[0, 0])
        assert depth_of_regions(neighbours([[3, 3]]), []).order.tolist() == [[0, 0]]

    def test_advantages_must_be_one_per_pair(self):
        with pytest.raises(InputError, match="expected 1 finite numbers, one per pair"):
            depth_of_regions(neighbours([[0, 1]]), [1.0, 2.0])


def test_the_shipped_parameters_are_small_and_say_where_they_come_from():
    from hyperacuity.detect.depth.orderers import SHIPPED, shipped_cues

    assert SHIPPED.stat().st_size < 10_000
    assert "hyperacuity detect train depth-cues" in shipped_cues().about
    assert set(json.loads(SHIPPED.read_text(encoding="utf-8"))["sets"]) == {"all", "tjc"}
