"""Boundaries of label maps, against the definition written out and against distance transforms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.ndimage import distance_transform_edt

from hyperacuity.errors import InputError
from hyperacuity.semantic import masks2edges

labels_2d = arrays(np.int32, st.tuples(st.integers(1, 7), st.integers(1, 8)), elements=st.integers(0, 3))


def by_definition(labels, c, regions, ignored, radius):
    """Pixel by pixel, pair by pair."""
    edges = np.zeros(labels.shape, bool)
    pixels = list(np.ndindex(labels.shape))
    for p in pixels:
        for q in pixels:
            near = (p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 <= radius**2
            of_c = c in (labels[p], labels[q])
            if near and of_c and regions[p] != regions[q] and not ignored[p] and not ignored[q]:
                edges[p] = True
    return edges


@given(labels_2d, st.sampled_from([1.0, 1.5, 2.0]), st.integers(0, 99))
@settings(deadline=None, max_examples=25)
def test_edges_are_as_defined(labels, radius, seed):
    objects = np.random.default_rng(seed).integers(0, 2, labels.shape).astype(np.int32)
    found = masks2edges(labels, [1, 2], instances=objects, ignore=[3], radius=radius)
    regions = np.where((labels == 1) | (labels == 2), labels * 10 + objects, 0)
    for n, c in enumerate((1, 2)):
        assert np.array_equal(found[n], by_definition(labels, c, regions, labels == 3, radius))


@given(labels_2d, st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=25)
def test_a_pixel_is_an_edge_when_its_distances_to_the_class_and_to_the_rest_add_up_to_the_radius(labels, radius):
    found = masks2edges(labels, [1], radius=radius)[0]
    mask = labels == 1
    if mask.any() and not mask.all():
        assert np.array_equal(found, distance_transform_edt(mask) + distance_transform_edt(~mask) <= radius)
    else:
        assert not found.any()


def test_thinned_edges_are_a_part_of_the_wide_ones_and_one_pixel_wide():
    labels = np.zeros((12, 12), np.int32)
    labels[3:9, 3:9] = 5
    wide = masks2edges(labels, [5], radius=2)[0]
    thin = masks2edges(labels, [5], radius=2, thin=True)[0]
    assert not (thin & ~wide).any()
    assert not (thin[1:, 1:] & thin[:-1, 1:] & thin[1:, :-1] & thin[:-1, :-1]).any()
    assert wide.sum() > thin.sum() > 15


def test_what_cannot_be_meant_is_refused():
    with pytest.raises(InputError, match="a radius of 0 reaches no other pixel"):
        masks2edges([[1, 2]], [1], radius=0)
    with pytest.raises(InputError, match="the map of instances is 1×1 but the label map is 2×1"):
        masks2edges([[1, 2]], [1], instances=[[1]])
