"""Depth boundary errors: against brute force over all pixels, by hand, and edges against another library."""

from __future__ import annotations

from math import hypot, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import ndimage

import hyperacuity as ha
from hyperacuity.errors import InputError, UsageError
from hyperacuity.ordering import DepthEdgeProtocol, compare_depth_edges, depth_edges, tally_depth_edges
from hyperacuity.ordering.dbe.benchmark import accuracy_completeness

maps = arrays.arrays(np.bool_, (5, 14), elements=st.booleans().map(lambda one: one), fill=st.just(False))


def brute_force(predicted, true, reach):
    """The formulas, pixel by pixel."""
    points, others = np.argwhere(predicted).tolist(), np.argwhere(true).tolist()
    if not others:
        return [np.nan, np.nan]
    to_true = [min(hypot(y - v, x - u) for v, u in others) for y, x in points]
    near = [distance for distance in to_true if distance < reach]
    if not near:
        return [reach, reach]
    back = [min(hypot(y - v, x - u) for v, u in points) for y, x in others]
    cut = [min(distance, reach) for distance in to_true + back]
    return [sum(near) / len(near), sum(cut) / len(cut)]


@settings(deadline=None, max_examples=40)
@given(predicted=maps, true=maps, reach=st.sampled_from([2.0, 10.0]))
def test_errors_are_those_of_brute_force(predicted, true, reach):
    found = accuracy_completeness(compare_depth_edges(predicted, true, DepthEdgeProtocol(reach=reach)))
    assert found == pytest.approx(brute_force(predicted, true, reach), nan_ok=True)


def test_errors_by_hand():
    """True edges in column 3; predicted ones in column 5, of which two of four rows, and one far away, in column 19."""
    true, predicted = np.zeros((2, 4, 20), bool)
    true[:, 3], predicted[:2, 5], predicted[0, 19] = True, True, True
    accuracy, completeness = accuracy_completeness(compare_depth_edges(predicted, true))
    assert accuracy == 2  # the one that is 16 pixels off does not count
    assert completeness == pytest.approx((2 + 2 + 10 + 2 + 2 + sqrt(5) + sqrt(8)) / 7)


def test_edges_are_those_of_scikit_image():
    feature = pytest.importorskip("skimage.feature")
    rng = np.random.default_rng(0)
    for _ in range(3):
        depth = 8 * ndimage.gaussian_filter(rng.random((40, 50)), 3)
        depth[10:25, 20:35] += 0.7
        depth = depth.astype(np.float32)
        scaled = (depth.astype(float) - depth.min()) / (depth.max() - depth.min())
        expected = feature.canny(scaled, sigma=sqrt(2), low_threshold=0.15, high_threshold=0.3)
        assert expected.any()
        assert (depth_edges(depth) == expected).all()
        assert (depth_edges(-depth) == expected).all()


def test_unknown_depth_makes_no_edge_and_hides_none():
    depth = np.where(np.arange(30) < 15, 1.0, 2.0) * np.ones((20, 1))
    whole = depth_edges(depth)
    depth[5:8, 3:6] = np.nan
    assert (depth_edges(depth) == whole).all()
    depth[:, 12:18] = np.nan
    assert not depth_edges(depth).any()
    assert not depth_edges(np.ones((9, 9))).any()


def test_a_data_set_is_the_mean_over_images_that_have_true_edges():
    step = np.where(np.arange(24) < 12, 1.0, 3.0) * np.ones((9, 1))
    edges = depth_edges(step)
    truths = {"a": edges, "b": np.roll(edges, 2, axis=1), "c": np.zeros_like(edges)}
    result = ha.evaluate("dbe", dict.fromkeys(truths, step), truths, progress=False)
    score = result.score()
    assert score.values[0].tolist() == [0, 0]
    assert score.values[1] == pytest.approx([1.5, 1.5])  # two columns, 11 and 12 against 13 and 14
    assert np.isnan(score.values[2]).all()
    assert score.mean == pytest.approx([0.75, 0.75])


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: tally_depth_edges(np.ones((3, 3)), []), InputError, "no truth"),
        (lambda: tally_depth_edges(np.ones((3, 3)), [np.zeros((4, 3))]), InputError, "3×4"),
        (lambda: DepthEdgeProtocol(sigma=0), UsageError, "more than 0"),
        (lambda: DepthEdgeProtocol(low=0.5), UsageError, "two rising, non-negative numbers"),
        (lambda: DepthEdgeProtocol(reach=0), UsageError, "more than 0"),
    ],
)
def test_what_cannot_be_right_is_said(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
