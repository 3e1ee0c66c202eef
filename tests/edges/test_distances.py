"""Exact distances: against scipy and OpenCV for a fixed set, against the fixed set for a growing one."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage

from hyperacuity.edges.pair import Pair, checked_shape
from hyperacuity.errors import InputError
from hyperacuity.kernels.distances import FAR, distances_as_set_grows, squared_distances

NONE = np.empty(0)


@pytest.mark.parametrize("density", [0.0002, 0.01, 0.3, 1.0])
def test_distances_are_those_of_scipy_and_opencv(density: float) -> None:
    edges = np.random.default_rng(7).random((143, 211)) < density
    edges[5, 190] = True
    found = squared_distances(edges)
    np.testing.assert_array_equal(found, np.rint(ndimage.distance_transform_edt(~edges) ** 2))
    precise = cv2.distanceTransform((~edges).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    np.testing.assert_allclose(np.sqrt(found), precise, rtol=1e-6)


@settings(deadline=None, max_examples=80)
@given(st.tuples(st.integers(1, 14), st.integers(1, 14)).flatmap(lambda shape: arrays(bool, shape)))
def test_distances_are_those_of_trying_every_pixel(edges: np.ndarray) -> None:
    found = squared_distances(edges)
    if not edges.any():
        assert (found == FAR).all()
        return
    y, x = np.indices(edges.shape)
    every = [(y - j) ** 2 + (x - i) ** 2 for j, i in zip(*np.nonzero(edges), strict=True)]
    np.testing.assert_array_equal(found, np.min(every, axis=0))


@settings(deadline=None, max_examples=60)
@given(
    shape=st.tuples(st.integers(1, 60), st.integers(1, 60)),
    seed=st.integers(0, 10**6),
    batches=st.integers(1, 12),
    share=st.sampled_from([0.002, 0.05, 1.0]),
)
def test_a_growing_set_has_at_every_step_the_distances_of_the_set_so_far(
    shape: tuple[int, int], seed: int, batches: int, share: float
) -> None:
    random = np.random.default_rng(seed)
    joining = random.permutation(shape[0] * shape[1])[: max(1, int(share * shape[0] * shape[1]))]
    ys, xs = np.unravel_index(joining, shape)
    stops = np.sort(random.integers(0, len(joining) + 1, batches))  # batches of every size, some of them empty
    asked = random.random(shape) < 0.2
    fixed = np.sqrt(squared_distances(asked)) if asked.any() else np.full(shape, 9.0)
    powers, caps = np.array([2.0, 1.0, 0.5]), np.array([np.inf, 3.0, np.inf])
    there, sums = distances_as_set_grows(ys, xs, stops, *np.nonzero(asked), fixed, powers, caps)
    alone, _ = distances_as_set_grows(ys, xs, stops, *np.nonzero(asked), fixed, NONE, NONE)
    np.testing.assert_array_equal(there, alone)
    for t, stop in enumerate(stops):
        edges = np.zeros(shape, bool)
        edges[ys[:stop], xs[:stop]] = True
        squared = squared_distances(edges)
        np.testing.assert_array_equal(there[t], squared[asked])
        if stop:
            gaps = [
                np.abs(np.minimum(fixed, c) - np.minimum(np.sqrt(squared), c)) ** k
                for k, c in zip(powers, caps, strict=True)
            ]
            np.testing.assert_allclose(sums[t], [gap.sum() for gap in gaps], rtol=1e-12, atol=1e-12)


def test_a_pixel_serves_pixels_that_do_not_touch_each_other() -> None:
    """Between two pixels of the set, what a third one serves is so narrow that it breaks up: spreading would lose a part."""
    shape = (41, 41)
    ys, xs = np.array([18, 21, 20]), np.array([23, 18, 20])
    asked = np.ones(shape, bool)
    stops = np.array([1, 2, 3])
    there, _ = distances_as_set_grows(ys, xs, stops, *np.nonzero(asked), np.zeros(shape), NONE, NONE)
    served = (there[2] < there[1]).reshape(shape)
    assert ndimage.label(served, np.ones((3, 3)))[1] > 1
    edges = np.zeros(shape, bool)
    edges[ys, xs] = True
    np.testing.assert_array_equal(there[2].reshape(shape), squared_distances(edges))


def test_a_map_too_large_for_exact_distances_is_refused() -> None:
    with pytest.raises(InputError, match="diagonal below 46340"):
        checked_shape(np.broadcast_to(np.array(True), (40000, 40000)))


def test_a_single_pixel_is_an_image() -> None:
    pair = Pair([[1]], [[0]])
    assert pair.cost("truth", 2) == 0  # the diagonal of one pixel
