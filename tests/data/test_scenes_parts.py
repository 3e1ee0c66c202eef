"""What scenes are built from: sines, dice, outlines, spans, pieces."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import ndimage

from hyperacuity.data.scenes import shapes
from hyperacuity.data.scenes.dice import Dice, bell, cosine, sine
from hyperacuity.kernels.pieces import label_pieces
from hyperacuity.kernels.raster import spans

FINE = 64


def filled(outline: shapes.Outline, size: int) -> np.ndarray:
    """The samples that :func:`spans` puts inside an outline of radius 1, drawn on a square."""
    corners = np.floor((np.concatenate(outline) * 0.4 + 0.5) * size * FINE + 0.5).astype(np.int64)
    ends = np.cumsum([len(contour) for contour in outline]).astype(np.int64)
    mask = np.zeros((size, size), bool)
    for row, start, stop in spans(corners, ends, FINE, size):
        mask[row, max(start, 0) : max(stop, 0)] = True
    return mask


class TestDice:
    def test_sines_are_sines(self) -> None:
        turns = np.linspace(-3, 3, 4001)
        assert np.abs(sine(turns) - np.sin(2 * np.pi * turns)).max() < 1e-10
        assert np.abs(cosine(turns) - np.cos(2 * np.pi * turns)).max() < 1e-10

    def test_draws_cover_their_range_evenly(self) -> None:
        dice = Dice(1)
        counts = np.bincount([dice.integer(6) for _ in range(6000)], minlength=6)
        assert len(counts) == 6
        assert np.abs(counts - 1000).max() < 150

    def test_normals_are_nearly_normal(self) -> None:
        values = Dice(2).normals((200, 300))
        assert values.mean() == pytest.approx(0, abs=0.02)
        assert values.std() == pytest.approx(1, abs=0.01)
        assert (np.abs(values) < 1).mean() == pytest.approx(0.683, abs=0.01)

    @pytest.mark.parametrize("sigma", [0.4, 1.0, 3.0])
    def test_a_bell_is_a_gaussian(self, sigma: float) -> None:
        weights = bell(sigma)
        expected = np.exp(-(np.arange(len(weights)) ** 2) / (2 * sigma**2))
        expected /= expected[0] + 2 * expected[1:].sum()
        assert np.abs(weights - expected).max() < 1e-3
        assert weights[0] + 2 * weights[1:].sum() == pytest.approx(1)


class TestSpans:
    @pytest.mark.parametrize(
        "make", [shapes.ellipse, shapes.polygon, shapes.blob, shapes.star, shapes.leaf, shapes.heart]
    )
    def test_they_hold_the_points_inside_the_polygon(self, make: shapes.Maker) -> None:
        outline = make(Dice(5)).outline
        size = 60
        corners = np.floor((outline[0] * 0.4 + 0.5) * size * FINE + 0.5) / FINE
        polygon = corners.astype(np.float32).reshape(-1, 1, 2)
        mask = filled(outline, size)
        for row in range(size):
            for column in range(size):
                distance = cv2.pointPolygonTest(polygon, (column + 0.5, row + 0.5), True)
                if abs(distance) > 0.05:
                    assert mask[row, column] == (distance > 0)

    def test_contours_of_one_sense_unite_and_others_are_holes(self) -> None:
        square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
        assert filled((square, square * 0.5), 50).sum() == 40 * 40
        assert filled((square, square[::-1] * 0.5), 50).sum() == 40 * 40 - 20 * 20

    def test_touching_polygons_share_no_sample_and_leave_no_gap(self) -> None:
        triangle = np.array([[-1.0, -1.0], [1.0, -0.3], [0.2, 1.0]])
        other = np.array([[1.0, -0.3], [1.2, 1.1], [0.2, 1.0]])
        both = filled((np.array([[-1.0, -1.0], [1.0, -0.3], [1.2, 1.1], [0.2, 1.0]]),), 64)
        one, two = filled((triangle,), 64), filled((other,), 64)
        assert not (one & two).any()
        assert np.array_equal(one | two, both)

    @pytest.mark.parametrize("make", [*shapes.LEAVES, shapes.hills])
    def test_every_shape_has_an_inside_and_a_motif_lies_on_it(self, make: shapes.Maker) -> None:
        for seed in range(6):
            shape = make(Dice(seed))
            body = filled(shape.outline, 80)
            assert body.mean() > 0.02
            assert ndimage.label(body, np.ones((3, 3)))[1] == 1
            if shape.motif:
                assert (filled(shape.motif, 80) & body).any()


@settings(max_examples=40, deadline=None)
@given(arrays.arrays(np.int32, st.tuples(st.integers(1, 12), st.integers(1, 12)), elements=st.integers(0, 2)))
def test_pieces_are_the_connected_components_of_every_value(values: np.ndarray) -> None:
    labels = label_pieces(values)
    count = 0
    for value in np.unique(values):
        expected, found = ndimage.label(values == value)
        count += found
        for piece in range(1, found + 1):
            assert len(np.unique(labels[expected == piece])) == 1
    assert np.array_equal(np.unique(labels), np.arange(count))
