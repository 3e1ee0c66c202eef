"""Optimal pruning: the paper's criterion worked by hand, exhaustive search, and the path over λ against single solves."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hyperacuity.data.scenes import make_scene
from hyperacuity.detect import canny
from hyperacuity.errors import InputError, UsageError
from hyperacuity.regions import (
    Energy,
    hierarchy,
    least_energy,
    merge_boundaries,
    node_means,
    piecewise_constant,
    prune,
    pruning_path,
)

LAMBDAS = st.integers(0, 64).map(lambda n: n / 8)


def regions_of(labels):
    return {frozenset(np.flatnonzero(labels == n).tolist()) for n in np.unique(labels)}


@st.composite
def trees(draw, most=7):
    """A strip of pixels, each a leaf, merged in random order; and whole numbers as the image."""
    width = draw(st.integers(1, most))
    strengths = draw(arrays(np.int8, (1, width), elements=st.integers(0, 9))) / 16
    tree = merge_boundaries(np.arange(width)[np.newaxis], strengths, np.zeros((1, width)))
    return tree, draw(arrays(np.int8, (1, width), elements=st.integers(0, 9))).astype(float)


def all_cuts(tree, node):
    """Every set of nodes below a node that holds each of its leaves once."""
    yield (node,)
    if node >= tree.leaves:
        left, right = tree.children[node - tree.leaves]
        for a in all_cuts(tree, left):
            for b in all_cuts(tree, right):
                yield a + b


def leaves_below(tree, node):
    if node < tree.leaves:
        return [int(node)]
    return [leaf for child in tree.children[node - tree.leaves] for leaf in leaves_below(tree, child)]


class TestWorkedExample:
    """A 1×4 image 0, 1, 4, 5 and the tree ((0, 1), (2, 3))."""

    tree = merge_boundaries([[0, 1, 2, 3]], [[0.1, 0.9, 0.1, 0]], np.zeros((1, 4)))
    energy = piecewise_constant(tree, [[0, 1, 4, 5]])

    @pytest.mark.parametrize(
        ("lam", "labels", "cost"),
        [
            (0.1, [0, 1, 2, 3], 3 / 5),
            (0.25, [0, 0, 2, 2], 3 / 2),
            (0.3, [0, 0, 2, 2], 8 / 5),
            (1, [0, 0, 2, 2], 3),
            (8, [0, 0, 0, 0], 17),
            (9, [0, 0, 0, 0], 17),
        ],
    )
    def test_partition_and_cost_for_one_lambda(self, lam, labels, cost):
        assert prune(self.tree, self.energy, lam).tolist() == [labels]
        assert least_energy(self.tree, self.energy, lam) == pytest.approx(cost)
        assert pruning_path(self.tree, self.energy).at(lam).tolist() == [labels]

    def test_the_path_switches_at_a_quarter_and_at_eight(self):
        assert pruning_path(self.tree, self.energy).breakpoints.tolist() == [0.25, 8]

    @pytest.mark.parametrize(("lam", "cost"), [(0.1, 8 / 5), (0.3, 23 / 5), (1, 13), (9, 107)])
    def test_the_frame_adds_the_same_to_every_partition(self, lam, cost):
        # Each pixel of the strip has two cracks on the frame, the outer two one more.
        frame = np.array([3, 2, 2, 3, 5, 5, 10])
        framed = Energy(self.energy.data, self.energy.complexity + frame)
        assert least_energy(self.tree, framed, lam) == pytest.approx(cost)
        assert np.array_equal(prune(self.tree, framed, lam), prune(self.tree, self.energy, lam))

    def test_means_of_nodes(self):
        assert node_means(self.tree, [[0, 1, 4, 5]]) == pytest.approx([0, 1, 4, 5, 0.5, 4.5, 2.5])


class TestAgainstExhaustiveSearch:
    @given(trees(), LAMBDAS)
    @settings(max_examples=80, deadline=None)
    def test_the_energy_is_the_least_of_all_cuts(self, tree_and_image, lam):
        tree, image = tree_and_image

        def cost(node):
            leaves = leaves_below(tree, node)
            values = [Fraction(int(image[0, leaf])) for leaf in leaves]
            mean = sum(values) / len(values)
            border = sum(1 for leaf in leaves for other in (leaf - 1, leaf + 1)
                         if 0 <= other < image.size and other not in leaves)  # fmt: skip
            return sum((value - mean) ** 2 for value in values) + Fraction(lam) * border

        cuts = list(all_cuts(tree, 2 * tree.leaves - 2))
        costs = [sum(map(cost, cut)) for cut in cuts]
        energy = piecewise_constant(tree, image)
        assert least_energy(tree, energy, lam) == pytest.approx(float(min(costs)), abs=1e-9)
        found = regions_of(prune(tree, energy, lam))
        best = [cut for cut, value in zip(cuts, costs, strict=True) if value <= min(costs) + Fraction(1, 10**9)]
        assert found in [{frozenset(leaves_below(tree, node)) for node in cut} for cut in best]

    @given(trees(), st.data(), LAMBDAS)
    @settings(max_examples=80, deadline=None)
    def test_any_energy_of_nodes_will_do_and_of_equals_the_coarsest_is_chosen(self, tree_and_image, data, lam):
        tree, _ = tree_and_image
        size = 2 * tree.leaves - 1
        numbers = arrays(np.int8, size, elements=st.integers(-9, 9))
        energy = Energy(data.draw(numbers).astype(float), data.draw(numbers).astype(float))
        own = energy.data + lam * energy.complexity  # exact: eighths of whole numbers
        cuts = list(all_cuts(tree, size - 1))
        least = min(sum(own[list(cut)]) for cut in cuts)
        best = [cut for cut in cuts if sum(own[list(cut)]) == least]
        coarsest = min(best, key=len)
        assert least_energy(tree, energy, lam) == least
        assert len(regions_of(prune(tree, energy, lam))) == len(coarsest)


class TestPath:
    @given(trees(most=12), st.data())
    @settings(max_examples=100, deadline=None)
    def test_the_path_holds_the_single_solves(self, tree_and_image, data):
        tree, _ = tree_and_image
        size = 2 * tree.leaves - 1
        worth = data.draw(arrays(np.int8, size, elements=st.integers(0, 40))).astype(float)
        length = data.draw(arrays(np.int8, size, elements=st.integers(0, 9))).astype(float)
        for merge, (a, b) in enumerate(tree.children):  # never more complex than the children together
            length[tree.leaves + merge] = min(length[tree.leaves + merge], length[a] + length[b])
        energy = Energy(worth, length)
        path = pruning_path(tree, energy)
        # Powers of two keep the energies exact; halfway between breakpoints no two partitions can tie.
        middles = (path.breakpoints[1:] + path.breakpoints[:-1]) / 2
        for lam in [0, 0.25, 0.5, 1, 2, 4, 8, 16, 1024, *middles]:
            assert regions_of(path.at(lam)) == regions_of(prune(tree, energy, lam))

    def test_the_path_on_a_picture(self):
        scene = make_scene(2, size=(160, 120))
        tree = hierarchy(canny(scene.image, sigma=2.0).soft)
        energy = piecewise_constant(tree, scene.image.mean(axis=2))
        path = pruning_path(tree, energy)
        steps = path.breakpoints
        assert len(steps) > 50
        counts = []
        for lam in np.concatenate([[0.0], np.sqrt(steps[:-1] * steps[1:])[::7], [steps[-1] * 2]]):
            labels = path.at(lam)
            assert np.array_equal(labels, prune(tree, energy, lam))
            counts.append(len(np.unique(labels)))
        assert counts == sorted(counts, reverse=True)
        assert counts[-1] == 1

    def test_regions_without_nesting_have_no_path(self):
        tree = merge_boundaries([[0, 1]], [[0.5, 0]], [[0, 0]])
        with pytest.raises(UsageError, match="more complex than its children"):
            pruning_path(tree, Energy(np.zeros(3), np.array([1.0, 1.0, 3.0])))


class TestBadInput:
    tree = merge_boundaries([[0, 1]], [[0.5, 0]], [[0, 0]])

    def test_an_energy_of_other_nodes_is_refused(self):
        with pytest.raises(InputError, match="must be 3 finite numbers"):
            prune(self.tree, Energy(np.zeros(2), np.zeros(2)), 1.0)

    @pytest.mark.parametrize("lam", [-1.0, float("nan")])
    def test_lambda_is_not_negative(self, lam):
        with pytest.raises(UsageError, match="expected 0 or more"):
            prune(self.tree, Energy(np.zeros(3), np.zeros(3)), lam)

    def test_an_image_of_another_size_is_refused(self):
        with pytest.raises(InputError, match="values is 3×1 but hierarchy is 2×1"):
            piecewise_constant(self.tree, [[1, 2, 3]])

    def test_unknown_values_are_refused(self):
        with pytest.raises(InputError, match="finite"):
            piecewise_constant(self.tree, [[1, np.nan]])
