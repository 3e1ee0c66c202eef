"""Thinning equals scikit-image's ``thin``, which equals MATLAB's ``bwmorph(…, 'thin', Inf)``."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.ndimage import gaussian_filter, label
from skimage.morphology import thin as thin_by_skimage

from hyperacuity.kernels.thinning import thin

masks = hnp.arrays(np.bool_, hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=150))


@given(masks)
@settings(max_examples=60, deadline=None)
def test_equals_scikit_image_on_anything(mask):
    np.testing.assert_array_equal(thin(mask), thin_by_skimage(mask))


@pytest.mark.parametrize("width", [1, 2, 63, 64, 65, 127, 128, 129, 200])
def test_equals_scikit_image_on_blobs_across_word_borders(width):
    blobs = gaussian_filter(np.random.default_rng(width).random((90, width)), 3) > 0.5
    np.testing.assert_array_equal(thin(blobs), thin_by_skimage(blobs))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_keeps_the_number_of_connected_pieces(seed):
    blobs = gaussian_filter(np.random.default_rng(seed).random((60, 70)), 2) > 0.52
    everywhere = np.ones((3, 3))
    assert label(thin(blobs), everywhere)[1] == label(blobs, everywhere)[1]


def test_is_idempotent_and_only_takes_away():
    blobs = gaussian_filter(np.random.default_rng(5).random((120, 130)), 2) > 0.5
    once = thin(blobs)
    np.testing.assert_array_equal(thin(once), once)
    assert not (once & ~blobs).any()


def test_leaves_its_input_alone():
    mask = np.ones((9, 9), dtype=bool)
    thin(mask)
    assert mask.all()
