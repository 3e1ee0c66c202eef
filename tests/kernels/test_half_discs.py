"""Half discs whose wedges are counted along rays, beside histograms that are counted pixel by pixel."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperacuity.kernels import half_discs
from hyperacuity.kernels.half_discs import half_disc_gradients


def counted_by_hand(labels, radius, step):
    """χ² of the halves of discs on every ``step``-th pixel, from angles and sets of pixels."""
    reach = math.ceil(radius)
    padded = np.pad(labels, reach, mode="symmetric")
    dy, dx = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    inside = (dy**2 + dx**2 <= radius**2) & ((dy != 0) | (dx != 0))
    angles = np.arctan2(dy, dx)
    shape = -(-labels.shape[0] // step), -(-labels.shape[1] // step)
    result = np.zeros((8, *shape))
    for y, x in np.ndindex(shape):
        window = padded[y * step :, x * step :][: 2 * reach + 1, : 2 * reach + 1]
        for direction in range(8):
            below = (angles - direction * np.pi / 8 + 1e-9) % (2 * np.pi) < np.pi
            g, h = (np.bincount(window[inside & half], minlength=256) / (inside.sum() / 2) for half in (below, ~below))
            known = g + h > 0
            result[direction, y, x] = 0.5 * ((g - h)[known] ** 2 / (g + h)[known]).sum()
    return result


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 12),
    st.integers(1, 40),
    st.sampled_from([1.0, 1.5, 2.0, 3.3, 4.9, 7.2]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([(0, 1), (0, 3, 64), (0, 255), tuple(range(40))]),
    st.integers(0, 9),
)
def test_wedges_hold_what_is_counted_pixel_by_pixel(height, width, radius, step, kinds, seed):
    labels = np.random.default_rng(seed).choice(np.uint8(kinds), (height, width))
    found = half_disc_gradients(labels, 256, radius, step=step)
    np.testing.assert_allclose(found, counted_by_hand(labels, radius, step), atol=2e-5)


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(9)), st.sampled_from([1, 2]))
def test_names_of_labels_without_an_order_are_of_no_matter(names, step):
    labels = np.random.default_rng(1).integers(0, 9, (14, 37)).astype(np.uint8)
    found = half_disc_gradients(labels, 9, 4.5, step=step)
    renamed = half_disc_gradients(np.uint8(names)[labels], 9, 4.5, step=step)
    np.testing.assert_allclose(renamed, found, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"smooth": 2.0}, {"smooth": 2.0, "hist_distance": "quadratic"}])
def test_a_picture_is_seen_the_same_beside_others(options):
    """What is looked at together, and which labels are near, changes no bit of a disc that does not reach so far."""
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 12, (30, 90)).astype(np.uint8)
    other = labels.copy()
    other[:, 50:] = rng.integers(0, 32, (30, 40))
    one, two = (half_disc_gradients(each, 32, 6.5, **options) for each in (labels, other))
    np.testing.assert_array_equal(one[:, :, :43], two[:, :, :43])
    assert (one[:, :, 43:] != two[:, :, 43:]).any()


def test_a_count_may_pass_what_16_bits_hold(monkeypatch):
    labels = np.random.default_rng(3).integers(0, 5, (23, 31)).astype(np.uint8)
    narrow = half_disc_gradients(labels, 5, 6, smooth=1)
    monkeypatch.setattr(half_discs, "NARROW", 0)
    np.testing.assert_array_equal(half_disc_gradients(labels, 5, 6, smooth=1), narrow)


def test_counts_that_wrap_around_in_high_pictures_do_no_harm():
    labels = np.zeros((70_000, 3), np.uint8)
    labels[::7, 1], labels[66_000:, 2] = 1, 2
    found = half_disc_gradients(labels, 3, 3.0)
    for top in (0, 65_520, 65_990, 69_000):
        part = half_disc_gradients(labels[top : top + 40], 3, 3.0)
        np.testing.assert_array_equal(found[:, top + 4 : top + 36], part[:, 4:36])
