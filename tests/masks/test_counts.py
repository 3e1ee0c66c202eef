"""Two masks, counted as other programs count them: contours by loops, dilations and erosions by scipy, pairs by its matching."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from hyperacuity.masks import Protocol, contour, count_masks, inner_band, tally
from hyperacuity.masks.objects import Frame, ObjectPair
from hyperacuity.masks.outcomes import outcomes

ELL = ((0, 1), (1, 0), (1, 1))
"""Right, lower, lower right."""

masks = st.tuples(st.integers(1, 14), st.integers(1, 14)).flatmap(
    lambda shape: st.tuples(arrays(bool, shape), arrays(bool, shape))
)


def contour_by_loops(mask):
    """The rule of the DAVIS program, spelled out: in the last row only the right neighbour, in the last column the lower."""
    height, width = mask.shape
    found = np.zeros_like(mask)
    for y in range(height):
        for x in range(width):
            inside = y < height - 1 and x < width - 1
            steps = ELL if inside else [(0, 1)] * (x < width - 1) + [(1, 0)] * (y < height - 1)
            found[y, x] = any(mask[y, x] != mask[y + down, x + right] for down, right in steps)
    return found


def disc(radius):
    down, right = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    return down**2 + right**2 <= radius**2


def davis_f(prediction, truth, radius):
    found, true = contour_by_loops(prediction), contour_by_loops(truth)
    if not found.any() or not true.any():
        return float(not found.any() and not true.any())
    precision = (found & ndimage.binary_dilation(true, disc(radius))).sum() / found.sum()
    recall = (true & ndimage.binary_dilation(found, disc(radius))).sum() / true.sum()
    return 0.0 if precision + recall == 0 else 2 * precision * recall / (precision + recall)


def band_by_erosions(mask, width):
    padded = np.pad(mask, 1)
    return mask & ~ndimage.binary_erosion(padded, np.ones((3, 3)), iterations=width, border_value=0)[1:-1, 1:-1]


def most_pairs(first, second, radius):
    one, two = np.argwhere(first), np.argwhere(second)
    close = ((one[:, None] - two[None]) ** 2).sum(axis=2) <= radius**2
    return int((maximum_bipartite_matching(csr_matrix(close)) >= 0).sum())


@settings(max_examples=60, deadline=None)
@given(masks, st.integers(1, 4), st.integers(1, 4))
def test_two_masks_score_what_the_formulas_say(both, radius, width):
    prediction, truth = both
    found = count_masks(prediction, truth, radius, width, checked=True)
    assert found.f == pytest.approx(davis_f(prediction, truth, radius), abs=1e-12)
    bands = band_by_erosions(prediction, width), band_by_erosions(truth, width)
    union = (bands[0] | bands[1]).sum()
    assert found.boundary_iou == ((bands[0] & bands[1]).sum() / union if union else 1.0)
    area = (prediction | truth).sum()
    assert found.j == ((prediction & truth).sum() / area if area else 1.0)
    assert found.matched == most_pairs(contour_by_loops(prediction), contour_by_loops(truth), radius)


@settings(max_examples=60, deadline=None)
@given(masks, st.integers(1, 4))
def test_one_to_one_is_bounded_by_the_dilation_rule(both, radius):
    prediction, truth = both
    found, back = count_masks(prediction, truth, radius, 1), count_masks(truth, prediction, radius, 1)
    assert found.matched <= min(found.detected_near, found.truth_near)
    assert found.one_to_one <= found.f
    assert (found.f, found.one_to_one, found.j) == pytest.approx((back.f, back.one_to_one, back.j))
    assert count_masks(truth, truth, radius, 1).one_to_one == 1.0


@given(masks)
@settings(max_examples=30, deadline=None)
def test_what_is_cut_out_of_a_picture_scores_as_the_picture(both):
    whole = np.zeros((40, 50), bool), np.zeros((40, 50), bool)
    for one, small in zip(whole, both, strict=True):
        one[7 : 7 + small.shape[0], 40 : 40 + small.shape[1]] = small[:, :10]  # some touch the right side of the frame
    protocol = Protocol(tolerance=0.03)
    alone = tally(whole[0], [whole[1]], protocol)
    radius, width = protocol.radius((40, 50)), protocol.band_width((40, 50))
    expected = count_masks(*whole, radius, width)
    assert {name: int(alone.arrays[name][0]) for name in vars(expected)} == vars(expected)


SQUARE = np.zeros((20, 30), bool)
SQUARE[5:15, 5:15] = True
EMPTY, FULL = np.zeros((20, 30), bool), np.ones((20, 30), bool)


@pytest.mark.parametrize(
    ("prediction", "truth", "f", "boundary_iou", "j"),
    [
        (EMPTY, EMPTY, 1, 1, 1),
        (SQUARE, EMPTY, 0, 0, 0),
        (EMPTY, SQUARE, 0, 0, 0),
        (FULL, FULL, 1, 1, 1),
        (FULL, EMPTY, 1, 0, 0),  # neither has a contour: the frame is none, and DAVIS' F cannot tell them apart
        (~SQUARE, SQUARE, 1, 0, 0),  # nor a mask from its complement
    ],
)
def test_empty_full_and_turned_masks(prediction, truth, f, boundary_iou, j):
    found = count_masks(prediction, truth, 2, 2)
    assert (found.f, found.one_to_one, found.boundary_iou, found.j) == (f, f, boundary_iou, j)


def test_the_frame_is_no_contour_but_outside_the_band():
    half = np.zeros((6, 8), bool)
    half[:, :4] = True
    assert contour(half).sum() == 6  # the third column alone, to the last row
    assert contour(half)[:, 3].all()
    assert inner_band(half, 1).sum() == 6 * 4 - 4 * 2
    assert inner_band(half, 2).all(where=half)


def test_borders_of_a_label_map_are_where_labels_differ():
    labels = np.repeat([[1, 2, 2, 3]], 3, axis=0)
    assert contour(labels).astype(int).tolist() == [[1, 0, 1, 0]] * 3


@pytest.mark.parametrize(
    ("shape", "radius", "width"),
    [((480, 854), 8, 20), ((480, 640), 7, 16), ((3, 4), 1, 1), ((300, 400), 4, 10), ((90, 120), 2, 3)],
)
def test_the_tolerance_is_rounded_up_and_the_band_to_the_nearest(shape, radius, width):
    """⌈0.008 · diagonal⌉ and round(0.02 · diagonal), at least 1; diagonals 979.7, 800, 5, 500, 150."""
    length = math.hypot(*shape)
    assert radius - 1 < 0.008 * length <= radius
    assert (Protocol().radius(shape), Protocol().band_width(shape)) == (radius, width)


def test_a_fringe_passes_the_dilation_rule_and_not_the_matching():
    """Every other row of the outline sticks out by two pixels: all of it near the truth, but there is twice as much of it."""
    truth = np.zeros((60, 80), bool)
    truth[10:50, 10:70] = True
    fringed = truth.copy()
    fringed[10:50:2, 8:72] = True
    found = count_masks(fringed, truth, 3, 2)
    assert found.f == 1.0
    assert found.matched == found.truth
    assert found.one_to_one == pytest.approx(2 * found.truth / (found.truth + found.detected))
    assert found.one_to_one < 0.8


def test_pictures_of_the_outcome_hold_what_was_counted():
    rng = np.random.default_rng(1)
    prediction, truth = rng.random((2, 30, 40)) > 0.7
    protocol = Protocol(tolerance=0.03)
    counted = tally(prediction, [truth], protocol)
    exact, dilated = outcomes(Frame(prediction, truth, protocol), [ObjectPair(1, 1)])
    assert np.bincount(exact.flat)[1:3].tolist() == [counted.matched[0], counted.detected[0] - counted.matched[0]]
    assert np.bincount(dilated.flat)[1] == counted.detected_near[0]
