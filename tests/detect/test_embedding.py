"""Angular embedding against a full eigensolver, and orders that are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperacuity.detect.depth.embedding import SMALL, angular_embedding, embed_regions
from hyperacuity.errors import InputError, UsageError


def chain(steps):
    """The pairs of a chain, and its exact order about the mean."""
    order = -np.concatenate([[0], np.cumsum(steps)])
    pairs = np.stack([np.arange(len(steps)), np.arange(1, len(steps) + 1)], axis=1)
    return pairs, order - order.mean()


def web(seed, count, degree=4):
    """A connected graph with contradictory angles."""
    dice = np.random.default_rng(seed)
    pairs = np.concatenate([chain(np.zeros(count - 1))[0], dice.integers(0, count, (degree * count, 2))])
    return pairs, dice.uniform(0.05, 1, len(pairs)), dice.uniform(-np.pi / 4, np.pi / 4, len(pairs))


def full_solution(pairs, confidence, theta, count):
    """The same by numpy, from the definition: eigenvalues, falling, and the first vector after D^(−1/2)."""
    w, c = np.zeros((count, count), complex), np.zeros((count, count))
    for (p, q), sure, angle in zip(pairs, confidence, theta, strict=True):
        if p != q:
            w[p, q] += sure * np.exp(1j * angle)
            w[q, p] += sure * np.exp(-1j * angle)
            c[p, q] += sure
            c[q, p] += sure
    scale = np.diag(c.sum(axis=1) ** -0.5)
    values, vectors = np.linalg.eigh(scale @ w @ scale)
    return values[::-1], scale @ vectors[:, -1]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-np.pi / 4, np.pi / 4), min_size=1, max_size=3 * SMALL), st.integers(0, 1000))
def test_a_consistent_chain_gets_its_exact_angles_however_long(steps, seed):
    pairs, order = chain(steps)
    confidence = np.random.default_rng(seed).uniform(0.1, 2, len(steps))
    found = angular_embedding(pairs, confidence, steps, len(steps) + 1)
    np.testing.assert_allclose(found.order, order, atol=1e-6)
    np.testing.assert_allclose(found.values, 1, atol=1e-9)


@pytest.mark.parametrize("count", [5, SMALL, SMALL + 1, 300])
def test_it_agrees_with_a_full_eigensolver(count):
    pairs, confidence, theta = web(count, count)
    values, vector = full_solution(pairs, confidence, theta, count)
    found = angular_embedding(pairs, confidence, theta, count, vectors=3)
    np.testing.assert_allclose(found.values, values[:3], atol=1e-8)
    turned = found.vectors[:, 0] * np.exp(1j * np.angle(np.vdot(found.vectors[:, 0], vector)))
    np.testing.assert_allclose(turned, vector, atol=1e-6)
    turn = np.exp(1j * (found.order - np.angle(vector)))
    np.testing.assert_allclose(turn, turn[0], atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 2 * SMALL))
def test_turning_each_node_turns_the_order_with_it(seed, count):
    """Adding φ(p) − φ(q) to every angle adds φ to the order."""
    pairs, confidence, _ = web(seed, count)
    dice = np.random.default_rng(seed + 1)
    order, turn = dice.uniform(-0.3, 0.3, (2, count))
    theta = order[pairs[:, 0]] - order[pairs[:, 1]]
    more = theta + turn[pairs[:, 0]] - turn[pairs[:, 1]]
    one, two = (angular_embedding(pairs, confidence, angles, count).order for angles in (theta, more))
    np.testing.assert_allclose(two - one, turn - turn.mean(), atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(3, 2 * SMALL))
def test_the_other_way_round_is_the_opposite_order_and_scale_does_not_matter(seed, count):
    pairs, confidence, theta = web(seed, count)
    theta = theta / 4
    found = angular_embedding(pairs, confidence, theta, count).order
    np.testing.assert_allclose(angular_embedding(pairs[:, ::-1], confidence, theta, count).order, -found, atol=1e-6)
    np.testing.assert_allclose(angular_embedding(pairs, 7 * confidence, theta, count).order, found, atol=1e-6)


def test_sure_pairs_outvote_unsure_ones():
    """A triangle whose third side contradicts the two others: the surer they are, the less it matters."""
    pairs = [[0, 1], [1, 2], [2, 0]]
    loose, tight = (angular_embedding(pairs, [sure, sure, 1], [0.5, 0.5, 0.5], 3).order for sure in (1, 100))
    np.testing.assert_allclose(loose, 0, atol=1e-9)  # round and round
    np.testing.assert_allclose(tight, [0.5, 0, -0.5], atol=0.02)


def test_parts_that_nothing_links_have_an_order_each():
    found = angular_embedding([[0, 1], [3, 4]], [1, 2], [0.4, -0.2], 6, vectors=2)
    np.testing.assert_allclose(found.order, [0.2, -0.2, 0, -0.1, 0.1, 0], atol=1e-9)
    assert found.vectors.shape == (6, 2)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_without_pairs_everything_is_level(count):
    found = angular_embedding(np.zeros((0, 2)), [], [], count)
    np.testing.assert_array_equal(found.order, np.zeros(count))
    np.testing.assert_array_equal(angular_embedding([[0, 0]], [1], [0.3], 1).order, [0])


def test_the_same_call_gives_the_same_numbers():
    given_ = web(7, 200)
    one, two = (angular_embedding(*given_, 200).order for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_what_cannot_be_meant_is_refused():
    with pytest.raises(InputError, match="expected 1 each"):
        angular_embedding([[0, 1]], [1, 2], [0.1], 2)
    with pytest.raises(InputError, match="no confidence below 0"):
        angular_embedding([[0, 1]], [-1], [0.1], 2)
    with pytest.raises(InputError, match="expected 0 to 1"):
        angular_embedding([[0, 2]], [1], [0.1], 2)
    with pytest.raises(UsageError, match="vectors is 0"):
        angular_embedding([[0, 1]], [1], [0.1], 2, vectors=0)


class TestSuperpixels:
    def stripes(self):
        labels = np.repeat(np.arange(6)[np.newaxis], 40, axis=0).repeat(10, axis=1)
        strong = np.zeros(labels.shape)
        strong[:, [19, 20, 39, 40]] = 0.9  # three things of two superpixels each
        return labels, strong

    def test_a_weak_boundary_keeps_level_and_a_strong_one_parts(self):
        labels, strong = self.stripes()
        right = np.zeros((*labels.shape, 2))
        right[..., 0] = 4
        depth = embed_regions(strong, right, labels).depth
        assert (np.diff(depth) > 0).all()
        within, between = np.diff(depth)[[0, 2, 4]], np.diff(depth)[[1, 3]]
        assert between.min() > 5 * within.max()

    def test_turning_the_field_turns_the_order(self):
        labels, strong = self.stripes()
        field = np.random.default_rng(0).normal(size=(*labels.shape, 2))
        one, two = (embed_regions(strong, sign * field, labels).depth for sign in (1, -1))
        np.testing.assert_allclose(one, -two, atol=1e-6)

    def test_one_superpixel_is_level_and_void_has_no_depth(self):
        whole = embed_regions(np.zeros((5, 6)), np.zeros((5, 6, 2)), np.zeros((5, 6), int))
        np.testing.assert_array_equal(whole.order, np.zeros((5, 6)))
        labels = np.full((8, 8), -1)
        labels[:, :3] = 4
        found = embed_regions(np.zeros((8, 8)), np.zeros((8, 8, 2)), labels)
        assert np.isnan(found.order[:, 3:]).all()
        assert (found.order[:, :3] == 0).all()

    def test_wrong_calls(self):
        flat = np.zeros((5, 6))
        with pytest.raises(UsageError, match="radii"):
            embed_regions(flat, np.zeros((5, 6, 2)), flat.astype(int), radii=())
        with pytest.raises(UsageError, match="width is 0"):
            embed_regions(flat, np.zeros((5, 6, 2)), flat.astype(int), width=0)
