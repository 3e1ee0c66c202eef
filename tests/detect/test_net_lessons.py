"""What the network learns from, as numbers: boundaries people drew, and sides they saw in front. Needs no PyTorch."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hyperacuity.detect.net.lessons import RIDGE, boundary_target, figures_of, lesson, ownership_target
from hyperacuity.detect.net.settings import Settings
from hyperacuity.errors import UsageError

SOME = hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9))


class TestBoundaries:
    def test_a_line_that_all_drew_is_one_and_falls_off_as_a_gaussian(self):
        line = np.zeros((3, 9), bool)
        line[:, 4] = True
        profile = boundary_target([line, line])[1]
        assert profile == pytest.approx([math.exp(-((x - 4) ** 2) / (2 * RIDGE**2)) for x in range(9)], abs=1e-6)

    def test_two_lines_a_pixel_apart_make_one_ridge(self):
        left, right = np.zeros((2, 5, 10), bool)
        left[:, 4], right[:, 5] = True, True
        profile = boundary_target([left, right])[2]
        assert profile[4] == profile[5] == pytest.approx((1 + math.exp(-1 / (2 * 1.25**2))) / 2)
        assert np.all(np.diff(profile[:5]) > 0)

    def test_where_nobody_drew_there_is_nothing(self):
        assert not boundary_target([np.zeros((4, 5))] * 3).any()

    def test_who_drew_nothing_counts(self):
        line = np.eye(6, dtype=bool)
        assert boundary_target([line, np.zeros((6, 6))]) == pytest.approx(boundary_target([line]) / 2)

    @given(SOME)
    def test_it_is_a_function_of_the_distance_to_the_nearest_drawn_pixel(self, drawn):
        rows, columns = np.nonzero(drawn)
        expected = np.zeros(drawn.shape)
        for y, x in np.ndindex(drawn.shape):
            if len(rows):
                expected[y, x] = math.exp(-np.min((rows - y) ** 2 + (columns - x) ** 2) / (2 * RIDGE**2))
        np.testing.assert_allclose(boundary_target([drawn]), expected, atol=1e-6)

    @given(SOME)
    def test_a_mirrored_drawing_has_a_mirrored_target(self, drawn):
        assert np.array_equal(boundary_target([drawn[:, ::-1]]), boundary_target([drawn])[:, ::-1])


def square_labels(top=10, left=12, size=14, shape=(40, 44)):
    """A figure's outline: +1 along the inside, −1 along the outside."""
    inside = np.zeros(shape, bool)
    inside[top : top + size, left : left + size] = True
    core, around = np.zeros((2, *shape), bool)
    core[top + 1 : top + size - 1, left + 1 : left + size - 1] = True
    around[top - 1 : top + size + 1, left - 1 : left + size + 1] = True
    return np.where(core, 0, np.where(inside, 1, np.where(around, -1, 0))).astype(np.float32)


class TestOwnership:
    def test_vectors_point_into_the_figure(self):
        towards, sure = ownership_target([square_labels()], (40, 44))
        middle_left, middle_top = (17, 12), (10, 19)
        assert towards[middle_left] == pytest.approx([1, 0], abs=0.02)
        assert towards[middle_top] == pytest.approx([0, 1], abs=0.02)
        assert sure[middle_left] == 0.5, "one person alone counts half"
        assert sure[0, 0] == 0

    def test_people_who_agree_count_fully_and_people_who_do_not_count_nothing(self):
        labels = square_labels()
        at = (17, 12)
        assert ownership_target([labels, labels], labels.shape)[1][at] == 1
        assert ownership_target([labels, -labels], labels.shape)[1][at] == 0

    def test_agreement_is_within_sixty_degrees(self):
        across = np.zeros((41, 41), np.float32)
        across[:, 20], across[:, 21] = -1, 1
        down = across.T
        assert ownership_target([across, down], across.shape)[1][20, 20] == 0, "90° apart"
        rows, columns = np.mgrid[:41, :41] - 20.5
        tilted = columns * math.cos(math.radians(40)) + rows * math.sin(math.radians(40))
        near = np.where(abs(tilted) < 1, np.sign(tilted), 0)
        assert ownership_target([across, near], across.shape)[1][20, 20] == 1, "40° apart"

    def test_without_labels_nothing_is_known(self):
        for labels in ([], [np.zeros((6, 7))], [np.full((6, 7), np.nan)]):
            towards, sure = ownership_target(labels, (6, 7))
            assert not towards.any()
            assert not sure.any()

    @given(st.integers(2, 16), st.integers(2, 16), st.integers(4, 20))
    def test_a_mirrored_figure_has_mirrored_owners(self, top, left, size):
        labels = square_labels(top, left, size)
        towards, sure = ownership_target([labels], labels.shape)
        mirrored, sure_of_it = ownership_target([labels[:, ::-1]], labels.shape)
        assert np.array_equal(sure_of_it, sure[:, ::-1])
        np.testing.assert_allclose(mirrored, towards[:, ::-1] * [-1, 1], atol=1e-5)


class TestFigures:
    @staticmethod
    def found(top, left, size, labels_of=lambda labels: labels):
        segments = np.zeros((60, 60), np.int16)
        segments[top : top + size, left : left + size] = 1
        labels = np.zeros((60, 60), np.float32)
        labels[segments == 1] = 1
        return figures_of(segments, [labels_of(labels)])

    def test_a_region_in_front_can_be_cut_out(self):
        assert self.found(20, 20, 20) == (1,)

    def test_the_ground_cannot(self):
        assert self.found(20, 20, 20, lambda labels: -labels) == ()

    def test_unlabelled_regions_cannot(self):
        assert self.found(20, 20, 20, np.zeros_like) == ()

    @pytest.mark.parametrize(("size", "fits"), [(5, False), (7, True), (37, True), (39, False)])
    def test_it_covers_one_to_forty_per_cent(self, size, fits):
        """Of 3600 pixels: 25 and 1521 are too few and too many, 49 and 1369 are not."""
        assert (self.found(10, 10, size) == (1,)) == fits

    def test_it_hardly_touches_the_frame(self):
        assert self.found(0, 20, 20) == ()

    def test_most_of_its_outline_is_in_front(self):
        def partly(share):
            def labels_of(labels):
                rows = np.nonzero(labels.any(axis=1))[0]
                labels[rows[: round(share * len(rows))]] *= -1
                return labels

            return labels_of

        assert self.found(20, 20, 20, partly(0.1)) == (1,)
        assert self.found(20, 20, 20, partly(0.2)) == ()


class TestLesson:
    def test_a_grey_photograph_has_three_equal_channels_and_alpha_is_dropped(self):
        grey = np.arange(20, dtype=np.uint8).reshape(4, 5)
        drawn = [np.eye(4, 5, dtype=bool)]
        assert np.array_equal(lesson("a", grey, drawn).image, np.stack([grey] * 3, -1))
        assert lesson("a", np.stack([grey] * 4, -1), drawn).image.shape == (4, 5, 3)

    def test_without_figure_ground_labels_it_has_no_owners(self):
        made = lesson("a", np.zeros((4, 5, 3), np.uint8), [np.eye(4, 5)])
        assert not made.has_owners
        assert np.all(made.segments == -1)
        assert made.boundary[0, 0] == 255

    def test_regions_are_numbered_anew(self):
        labels = square_labels()
        segments = np.where(np.cumsum(labels > 0, axis=1) > 0, 7000, 12)
        made = lesson("a", np.zeros((40, 44, 3), np.uint8), [labels > 0], [labels], segments)
        assert made.has_owners
        assert set(np.unique(made.segments)) == {0, 1}


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"encoder": "b0"}, "encoder b0: expected lite0 or lite2"),
        ({"crop": 100}, "multiple of 32"),
        ({"crop": 32}, "from 64 on"),
        ({"steps": 0}, "steps 0: expected at least 1"),
        ({"batch": 1}, "batch 1: expected at least 2"),
        ({"smallest": 3.0}, "smallest ≤ largest"),
        ({"paste": 1.5}, "share from 0 to 1"),
        ({"rate": math.nan}, "rate nan"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(wrong, complaint):
    with pytest.raises(UsageError, match=complaint):
        Settings(**wrong)
