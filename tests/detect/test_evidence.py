"""Evidence of a field of ownership along the borders of regions."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hyperacuity.data.scenes import make_scene
from hyperacuity.detect.depth.evidence import (
    border_heights,
    border_normals,
    crack_lengths,
    evidence_field,
    ownership_vectors,
    pair_evidence,
    pixel_heights,
)
from hyperacuity.errors import InputError
from hyperacuity.ordering import neighbours, order_of_pairs, partition
from hyperacuity.regions import hierarchy, merge_boundaries


def disc(radius=40, size=61):
    y, x = np.mgrid[-size : size + 1, -size : size + 1]
    return np.hypot(y, x) < radius, -np.stack([x, y], axis=2) / np.maximum(np.hypot(y, x), 1)[..., np.newaxis]


def test_a_disc_whose_field_points_inwards_is_in_front_by_its_log_odds():
    inside, inwards = disc()
    beside = neighbours(inside.astype(int))  # the ground is the first region
    assert pair_evidence(3 * inwards, beside) == pytest.approx([-3], rel=0.01)


@pytest.mark.parametrize("slope", [0.0, 0.25, 0.5, 1.0, 3.0, np.inf])
def test_staircases_do_not_bias_the_normal(slope):
    """A straight border at any angle, with the field along its exact normal."""
    y, x = np.mgrid[-40:41, -40:41]
    normal = np.array([-1.0, 0.0]) if np.isinf(slope) else np.array([slope, -1.0]) / np.hypot(slope, 1)
    labels = (x * normal[0] + y * normal[1] < 0.1).astype(int)  # region 0 is where the normal points to
    field = np.broadcast_to(2 * normal, (*labels.shape, 2))
    beside = neighbours(labels)
    assert pair_evidence(field, beside) == pytest.approx([2], rel=0.02)


def test_the_cracks_of_a_circle_add_up_to_its_length():
    inside, _ = disc()
    beside = neighbours(inside.astype(int))
    found = crack_lengths(beside, border_normals(beside)).sum()
    assert found == pytest.approx(2 * np.pi * np.sqrt(inside.sum() / np.pi), rel=0.02)
    assert beside.cracks.sum() > 1.2 * found


def by_hand(labels, here, there, first, sigma=2.0, reach=4):
    """The normal at one crack, from the definition: the gradient of membership smoothed by a Gaussian."""
    height, width = labels.shape
    (y, x), (v, u) = divmod(here, width), divmod(there, width)
    other = labels[v, u] if labels[y, x] == first else labels[y, x]
    total = np.zeros(2)
    for row in range(height):
        for column in range(width):
            dx, dy = column - (x + u) / 2, row - (y + v) / 2
            if max(abs(dx), abs(dy)) <= reach:
                member = float(labels[row, column] == first) - float(labels[row, column] == other)
                total += member * np.exp(-(dx * dx + dy * dy) / (2 * sigma**2)) * np.array([dx, dy])
    return total / np.hypot(*total) if np.hypot(*total) > 1e-9 else None


@settings(max_examples=25, deadline=None)
@given(arrays.arrays(np.int32, st.tuples(st.integers(2, 7), st.integers(2, 7)), elements=st.integers(0, 3)))
def test_normals_are_those_of_the_definition(labels):
    beside = neighbours(labels)
    found = border_normals(beside)
    for n in range(len(beside.here)):
        expected = by_hand(beside.labels, beside.here[n], beside.there[n], beside.first[beside.pair[n]])
        if expected is not None:
            np.testing.assert_allclose(found[n], expected, atol=1e-9)
    np.testing.assert_allclose(np.hypot(*found.T), 1)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_evidence_is_linear_and_turns_with_the_field(seed):
    dice = np.random.default_rng(seed)
    beside = neighbours(dice.integers(0, 4, (9, 12)).repeat(2, axis=0).repeat(2, axis=1))
    field, other = dice.normal(size=(2, 18, 24, 2))
    np.testing.assert_allclose(pair_evidence(-field, beside), -pair_evidence(field, beside), atol=1e-6)
    together = pair_evidence(field, beside) + pair_evidence(other, beside)
    np.testing.assert_allclose(pair_evidence(field + other, beside), together, atol=1e-5)


def test_swapping_the_names_of_regions_changes_the_sign():
    inside, inwards = disc(12, 20)
    one, two = (pair_evidence(inwards, neighbours(labels.astype(int))) for labels in (inside, ~inside))
    np.testing.assert_allclose(one, -two)


def test_the_field_of_a_scene_tells_its_order():
    scene = make_scene(3, size=(240, 160), leaves=10)
    beside = neighbours(scene.labels)
    true = order_of_pairs(partition(scene.order, scene.labels), beside)
    field = evidence_field(beside, true * 2.0)
    said = pair_evidence(field, beside)
    long = beside.cracks >= 10
    assert (np.sign(said) == true)[long].mean() > 0.95


def test_one_region_and_corners_have_no_evidence():
    assert pair_evidence(np.zeros((4, 5, 2)), neighbours(np.zeros((4, 5), int))).shape == (0,)
    touching = neighbours([[0, -1], [-1, 1]], adjacency=8)
    np.testing.assert_array_equal(pair_evidence(np.ones((2, 2, 2)), touching), [0])


def test_what_is_no_field_is_refused():
    with pytest.raises(InputError, match="expected height × width × 2"):
        ownership_vectors(np.zeros((4, 5, 3)))
    with pytest.raises(InputError, match="NaN or infinite"):
        ownership_vectors(np.full((4, 5, 2), np.nan))
    with pytest.raises(InputError, match="segmentation"):
        pair_evidence(np.zeros((4, 5, 2)), neighbours(np.zeros((5, 5), int)))
    with pytest.raises(InputError, match="one per pair"):
        evidence_field(neighbours([[0, 1]]), [1.0, 2.0])


def test_heights_along_borders_are_those_of_the_merges():
    tree = merge_boundaries([[0, 0, 1, 2]] * 2, [[0, 0.25, 0.75, 0]] * 2, np.zeros((2, 4)))
    np.testing.assert_allclose(border_heights(tree.ucm2(), neighbours(tree.labels)), [0.25, 0.75])
    np.testing.assert_allclose(pixel_heights(tree.ucm2()), [[0, 0.25, 0.75, 0.75]] * 2)
    with pytest.raises(InputError, match="double size"):
        border_heights(tree.ucm2()[:-1], neighbours(tree.labels))
    with pytest.raises(InputError, match="double size"):
        pixel_heights(np.zeros((4, 4)))


def test_a_photograph_of_a_thousand_regions_takes_a_tenth_of_a_second():
    dice = np.random.default_rng(0)
    beside = neighbours(hierarchy(dice.random((321, 481)) * 0.5).labels)
    assert beside.labels.max() > 1000
    field = dice.normal(size=(321, 481, 2)).astype(np.float32)
    pair_evidence(field, beside)  # compiles
    times = []
    for _ in range(3):
        start = time.process_time()
        pair_evidence(field, beside)
        times.append(time.process_time() - start)
    assert min(times) < 0.1 * max(1, len(beside.here) / 50_000)
