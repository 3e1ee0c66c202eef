"""Pictures of errors: the colour of a pixel says what happened there."""

from __future__ import annotations

import numpy as np
from PIL import ImageColor

from hyperacuity.report import theme
from hyperacuity.report.pictures.colours import UNKNOWN
from hyperacuity.report.pictures.disparity import ERRORS, HIDDEN, depth_picture, error_picture, error_sheet

TRUTH = np.array([[5, 5, 5, np.nan, 5]], np.float32)
ESTIMATE = np.array([[5, 9, np.nan, 5, 9]], np.float32)
REGIONS = {"nonocc": np.array([[True, True, True, False, False]]), "all": ~np.isnan(TRUTH)}


def test_right_wrong_missing_unknown_and_occluded_look_different():
    colours = [tuple(pixel) for pixel in error_picture(TRUTH, ESTIMATE, REGIONS, cap=4)[0]]
    expected = (ERRORS[0], ERRORS[-1], theme.FALSE, UNKNOWN, HIDDEN[-1])
    assert colours == [ImageColor.getrgb(colour) for colour in expected]


def test_near_is_warm_and_far_is_cool():
    far, middle, near, unknown = depth_picture([[1, 5, 9, np.nan]])[0].astype(int)
    assert far[2] - far[0] > 50
    assert near[0] - near[2] > 50
    assert far[0] < middle[0] <= near[0] + 50
    assert np.ptp(unknown) < 10, "grey has no hue"


def test_colours_of_depth_can_be_held_fixed_for_maps_side_by_side():
    one, two = depth_picture([[2, 4]], low=0, high=8), depth_picture([[4, 8]], low=0, high=8)
    assert (one[0, 1] == two[0, 0]).all()
    assert (two[0, 1] == depth_picture([[1, 9]])[0, 1]).all()


def test_a_map_of_nothing_can_be_drawn():
    nothing = np.full((1, 5), np.nan, np.float32)
    assert (depth_picture(nothing) == ImageColor.getrgb(UNKNOWN)).all()
    sheet = error_sheet(TRUTH, nothing, REGIONS)
    true, estimate, errors = (
        sheet[22 + 30, 8 + n * 308 + 30 : 308 + n * 308 : 60] for n in range(3)
    )  # 60 times larger
    grey, missing = ImageColor.getrgb(UNKNOWN), ImageColor.getrgb(theme.FALSE)
    assert [(pixel == grey).all() for pixel in true] == [False, False, False, True, False]
    assert (estimate == grey).all()
    assert [tuple(pixel) for pixel in errors] == [missing, missing, missing, grey, missing]


def test_the_outline_of_the_discontinuities_is_drawn():
    truth = np.full((9, 9), 5, np.float32)
    disc = np.zeros((9, 9), bool)
    disc[2:7, 2:7] = True
    picture = error_picture(truth, truth, {"disc": disc})
    faint = (picture == ImageColor.getrgb(theme.FAINT)).all(axis=2)
    assert faint.sum() == 16
    assert not faint[4, 4]
