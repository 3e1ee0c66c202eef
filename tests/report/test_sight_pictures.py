"""Contours as lines, and the sheet of what is seen: who owns a boundary must be told on the right side of it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image

from hyperacuity.detect.depth.evidence import owned_sides
from hyperacuity.detect.net.sight import Sight
from hyperacuity.kernels.arcs import arc_paths
from hyperacuity.regions import hierarchy
from hyperacuity.report.pictures.colours import rgb
from hyperacuity.report.pictures.sight import FAR, NEAR, Canvas, sight_sheet
from hyperacuity.report.pictures.strokes import hatch, strokes

LABELS = array_shapes(min_dims=2, max_dims=2, max_side=7).flatmap(
    lambda shape: arrays(np.int32, shape, elements=st.integers(0, 3))
)


def cracks(labels):
    """Pairs of corners between which labels differ, by plain loops."""
    found = set()
    for y, x in np.ndindex(labels.shape):
        if x + 1 < labels.shape[1] and labels[y, x] != labels[y, x + 1]:
            found.add(((y, x + 1), (y + 1, x + 1)))
        if y + 1 < labels.shape[0] and labels[y, x] != labels[y + 1, x]:
            found.add(((y + 1, x), (y + 1, x + 1)))
    return found


class TestStrokes:
    @given(LABELS)
    @settings(max_examples=80, deadline=None)
    def test_arcs_pass_every_crack_once(self, labels):
        corners, starts = arc_paths(labels)
        steps = [
            tuple(sorted([tuple(one), tuple(two)]))
            for a, b in pairwise(starts.tolist())
            for one, two in zip(corners[a : b - 1].tolist(), corners[a + 1 : b].tolist(), strict=True)
        ]
        assert len(steps) == len(set(steps))
        assert set(steps) == cracks(labels)

    @given(LABELS)
    @settings(max_examples=50, deadline=None)
    def test_left_and_right_are_the_regions_on_both_sides(self, labels):
        for line in strokes(labels, rounding=0):
            middle = line.points[:2].mean(axis=0)
            (dx, dy) = line.points[1] - line.points[0]
            for region, (ax, ay) in ((line.left, (dy, -dx)), (line.right, (-dy, dx))):
                assert labels[int(middle[1] + ay / 2), int(middle[0] + ax / 2)] == region

    def test_a_normal_points_to_the_left(self):
        (line,) = strokes(np.int32([[5, 5], [8, 8]]))
        toward = line.beside(0.4)[1] - line.points[1]
        y, x = (0, 1) if line.left == 5 else (1, 1)
        assert np.sign(toward[1]) == (-1 if (y, x) == (0, 1) else 1)

    def test_ends_stay_and_loops_stay_closed(self):
        labels = np.zeros((20, 30), np.int32)
        labels[5:15, 8:20] = 1
        labels[:, 25:] = 2
        for line in strokes(labels):
            first, last = line.points[0], line.points[-1]
            assert np.allclose(first, last) or {first[1], last[1]} == {0.0, 20.0}

    def test_rounding_stays_within_a_pixel_of_the_staircase(self):
        y, x = np.mgrid[:40, :40]
        labels = ((x - 20) ** 2 + (y - 20) ** 2 < 150).astype(np.int32)
        (rough,), (smooth,) = strokes(labels, rounding=0), strokes(labels)
        assert np.abs(rough.points - smooth.points).max() < 1
        radius = np.hypot(*(smooth.points - 20.5).T)
        assert radius.std() < np.hypot(*(rough.points - 20.5).T).std()

    def test_ticks_fall_to_one_side_at_equal_distances(self):
        (line,) = strokes(np.int32([[0] * 40] * 10 + [[1] * 40] * 10))
        ticks = np.array(hatch(line, spacing=10, length=3))
        assert len(ticks) == 4
        np.testing.assert_allclose(np.abs(np.diff(ticks[:, 0])), 10)
        assert np.ptp(ticks[:, 3] - ticks[:, 1]) == 0
        assert abs(ticks[0, 3] - ticks[0, 1]) == 3

    def test_one_region_has_none(self):
        assert strokes(np.zeros((4, 5), np.int32)) == []


def seen_square(sign):
    """A square whose boundary it owns (1) or the surroundings (−1)."""
    soft = np.zeros((60, 90), np.float32)
    soft[15:45, [30, 60]] = soft[[15, 44], 30:61] = 1
    y, x = np.mgrid[:60, :90]
    toward = np.stack([45 - x, 30 - y], axis=2) * np.float32(0.2 * sign)
    return Sight(soft, toward.astype(np.float32), hierarchy(soft), sign * soft)


class TestOwners:
    def test_the_owner_has_plus_one_along_its_border(self):
        seen = seen_square(1)
        labels = seen.regions(0.5)
        inside = labels == labels[30, 45]
        for sign in (1, -1):
            sides = owned_sides(sign * seen.field, labels)
            known = ~np.isnan(sides)
            assert known.any()
            assert np.array_equal((sides == sign)[known], inside[known])

    def test_a_field_of_nothing_owns_nothing(self):
        labels = np.int32([[0, 0, 1, 1]] * 3)
        assert np.isnan(owned_sides(np.zeros((3, 4, 2)), labels)).all()

    def test_of_two_borders_the_surest_decides(self):
        field = np.zeros((1, 3, 2))
        field[0, :, 0] = [1, 1, 5]  # the figure is to the right, most surely at the right end
        assert owned_sides(field, [[0, 1, 2]]).tolist() == [[-1, -1, 1]]

    @pytest.mark.parametrize("sign", [1, -1])
    def test_orange_is_drawn_on_the_owners_side(self, sign):
        seen = seen_square(sign)
        labels = seen.regions(0.5)
        canvas = Canvas(labels)
        picture = np.asarray(canvas.owners(_grey(), seen), float)
        near, far = (np.abs(picture - rgb(colour)).sum(axis=2) < 90 for colour in (NEAR, FAR))
        width, height = canvas.size
        inside = (canvas.fine_labels == labels[30, 45]).reshape(height, 2, width, 2).mean(axis=(1, 3))
        whole = inside % 1 == 0  # a pixel of the panel that the boundary cuts is on both sides
        owner, other = (inside == 1, inside == 0) if sign > 0 else (inside == 0, inside == 1)
        assert np.count_nonzero(near & whole) > 500
        assert np.count_nonzero(far & whole) > 100
        assert np.mean(owner[near & whole]) > 0.95
        assert np.mean(other[far & whole]) > 0.95

    def test_smooth_regions_are_the_regions(self):
        labels = seen_square(1).regions(0.5)
        canvas = Canvas(labels)
        rough = np.asarray(labels).repeat(15, axis=0).repeat(15, axis=1)
        rows = np.linspace(0, rough.shape[0] - 1, canvas.fine_labels.shape[0]).astype(int)
        columns = np.linspace(0, rough.shape[1] - 1, canvas.fine_labels.shape[1]).astype(int)
        assert np.mean(rough[np.ix_(rows, columns)] == canvas.fine_labels) > 0.99


def _grey():
    return Image.new("RGB", (90, 60), (120, 120, 120))


def test_a_sheet_of_a_portrait_is_as_wide_as_three_of_it():
    soft = np.zeros((90, 45), np.float32)
    seen = Sight(soft, np.zeros((90, 45, 2), np.float32), hierarchy(soft), soft)
    sheet = sight_sheet(np.zeros((90, 45, 3), np.uint8), seen, "tall")
    assert sheet.dtype == np.uint8
    assert sheet.shape[1] < sheet.shape[0]
