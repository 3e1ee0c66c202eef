"""Watershed, boundary directions, merging, contour maps: against scikit-image, higra, plain loops, and by hand."""

from __future__ import annotations

import heapq
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from skimage.measure import label
from skimage.morphology import local_minima
from skimage.segmentation import watershed

from hyperacuity.data import read_soft, read_ucm, write_mat
from hyperacuity.data.scenes import make_scene
from hyperacuity.detect import canny
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels.arcs import arc_directions
from hyperacuity.kernels.hierarchy import boundary_edges
from hyperacuity.kernels.watershed import basins
from hyperacuity.regions import hierarchy, merge_boundaries, ucm_hierarchy, ucm_levels

SHAPES = array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=8)
SOFT = SHAPES.flatmap(lambda shape: arrays(np.int8, shape, elements=st.integers(0, 10))).map(lambda a: a / 10)

OF_EQUAL_BOUNDARIES = [
    [1, 1, 1, 2, 1, 1, 1],
    [1, 1, 1, 1, 1, 1, 1],
    [1, 0, 1, 1, 1, 1, 1],
    [0, 1, 1, 1, 0, 1, 1],
    [1, 1, 0, 1, 1, 1, 1],
    [1, 1, 1, 1, 1, 1, 1],
    [0, 0, 1, 1, 1, 1, 1],
]
"""Which of several boundaries of 0.1 goes first decides whether the last one has 0.1077 or 0.1067."""


def partition(labels):
    """Regions as a set of sets of pixels."""
    return {frozenset(np.flatnonzero(labels == n).tolist()) for n in np.unique(labels)}


class TestWatershed:
    @given(st.integers(0, 2**32 - 1), SHAPES)
    @settings(max_examples=50, deadline=None)
    def test_basins_are_scikit_images_where_no_two_values_are_equal(self, seed, shape):
        surface = np.random.default_rng(seed).permutation(math.prod(shape)).reshape(shape).astype(np.float32)
        minima = local_minima(np.pad(surface, 1, constant_values=1e9), connectivity=1)[1:-1, 1:-1]
        markers = np.zeros(shape, int)
        markers[minima] = np.arange(1, minima.sum() + 1)
        assert partition(basins(surface)) == partition(watershed(surface, markers, connectivity=1))

    @given(SOFT)
    @settings(max_examples=100, deadline=None)
    def test_of_equals_the_first_to_arrive_goes_first(self, soft):
        surface = soft.astype(np.float32)
        labels = np.full(surface.shape, -1)
        minima = label(local_minima(np.pad(surface, 1, constant_values=1e9), connectivity=1), connectivity=1)[
            1:-1, 1:-1
        ]
        waiting = [(surface[at], age, at) for age, at in enumerate(zip(*np.nonzero(minima), strict=True))]
        heapq.heapify(waiting)
        labels[minima > 0] = minima[minima > 0]
        age = len(waiting)
        while waiting:
            level, _, (y, x) = heapq.heappop(waiting)
            for v, u in ((y - 1, x), (y, x - 1), (y, x + 1), (y + 1, x)):
                if 0 <= v < surface.shape[0] and 0 <= u < surface.shape[1] and labels[v, u] < 0:
                    labels[v, u] = labels[y, x]
                    heapq.heappush(waiting, (max(surface[v, u], level), age, (v, u)))
                    age += 1
        assert partition(basins(surface)) == partition(labels)

    def test_a_plateau_is_shared_by_distance(self):
        assert basins(np.float32([[0, 1, 1, 1, 1, 0]])).tolist() == [[0, 0, 0, 1, 1, 1]]

    def test_a_flat_map_is_one_basin(self):
        assert basins(np.full((3, 4), 0.5, np.float32)).max() == 0

    def test_a_closed_line_separates_whichever_side_it_falls_to(self):
        ring = np.zeros((7, 7), np.float32)
        ring[1:6, 1:6] = 0.4
        ring[2:5, 2:5] = 0
        labels = basins(ring)
        assert labels[0, 0] != labels[3, 3]
        assert labels.max() == 1


class TestDirections:
    def test_straight_boundaries(self):
        left_right = np.repeat([[0, 0, 1, 1]], 5, axis=0).astype(np.int32)
        right, down = arc_directions(left_right, 2.0)
        assert right[:, 1] == pytest.approx(np.pi / 2)
        assert np.isnan(right[:, [0, 2, 3]]).all()
        assert np.isnan(down).all()
        right, down = arc_directions(np.ascontiguousarray(left_right.T), 2.0)
        assert down[1] == pytest.approx(0)

    @pytest.mark.parametrize(("slope", "angle"), [(1, 45), (2, math.degrees(math.atan(2))), (-1, 135)])
    def test_stairs_have_the_direction_of_their_slope(self, slope, angle):
        y, x = np.mgrid[:40, :40]
        centre = 20 if slope < 0 else 0
        labels = ((y - centre) > slope * (x - centre)).astype(np.int32)
        found = np.concatenate([values[~np.isnan(values)] for values in arc_directions(labels, 2.0)])
        assert np.degrees(found) == pytest.approx(angle, abs=3)

    def test_a_closed_loop_is_followed_around(self):
        y, x = np.mgrid[-30:31, -30:31]
        labels = (y * y + x * x <= 25 * 25).astype(np.int32)
        right, down = arc_directions(labels, 1.0)
        for angles, oy, ox in ((right, 0, 0.5), (down, 0.5, 0)):
            ys, xs = np.nonzero(~np.isnan(angles))
            tangent = np.arctan2(xs - 30 + ox, -(ys - 30 + oy))  # across the radius, x first
            off = np.abs(np.sin(angles[ys, xs] - tangent))
            assert off.max() < math.sin(math.radians(20))

    def test_pieces_end_at_junctions(self):
        # A vertical boundary that a third region cuts short: the parts beyond the junction turn.
        labels = np.zeros((20, 20), np.int32)
        labels[:, 10:] = 1
        labels[10:, :] = 2
        right, down = arc_directions(labels, 2.0)
        assert right[:10, 9] == pytest.approx(np.pi / 2)
        assert down[9] == pytest.approx(0)


class TestMerging:
    @given(SOFT)
    @example(np.array(OF_EQUAL_BOUNDARIES) / 10)
    @settings(max_examples=60, deadline=None)
    def test_merges_are_those_of_plain_average_linkage(self, soft):
        tree = hierarchy(soft)
        expected = plain_average_linkage(tree.labels, np.asarray(soft, np.float32))
        assert tree.heights == pytest.approx(np.array(expected), abs=1e-6)

    def test_heights_are_those_of_higra(self):
        higra = pytest.importorskip("higra")
        soft = canny(make_scene(3, size=(96, 64)).image).soft
        tree = hierarchy(soft)
        right, down = crack_maxima(soft)
        pairs, sums, _, lengths = boundary_edges(tree.labels, right, down)
        graph = higra.UndirectedGraph(tree.leaves)
        graph.add_edges(pairs[:, 0], pairs[:, 1])
        _, altitudes = higra.binary_partition_tree_average_linkage(graph, sums / lengths, lengths.astype(float))
        assert np.sort(altitudes[tree.leaves :]) == pytest.approx(np.sort(tree.heights), abs=1e-6)

    @given(SOFT)
    @settings(max_examples=40, deadline=None)
    def test_the_tree_is_binary_and_ends_in_the_whole_image(self, soft):
        tree = hierarchy(soft)
        assert tree.leaves == tree.labels.max() + 1
        assert sorted(tree.children.ravel().tolist()) == list(range(2 * tree.leaves - 2))
        assert (np.diff(tree.heights) >= 0).all()
        assert (tree.parents[:-1] > np.arange(2 * tree.leaves - 2)).all()
        assert len(partition(tree.at(1.0))) == 1

    def test_lengths_are_those_of_the_boundary_that_goes(self):
        labels = np.array([[0, 0, 1], [0, 0, 1], [2, 2, 2]])
        tree = merge_boundaries(labels, np.full((3, 3), 0.1), np.full((3, 3), 0.3))
        # 0 and 1 are divided by 2 cracks, both together from 2 by 3.
        assert tree.children.tolist() == [[0, 1], [2, 3]]
        assert tree.lengths.tolist() == [2, 3]
        assert tree.heights == pytest.approx([0.1, 0.3])

    def test_of_equal_boundaries_the_shorter_goes_first(self):
        labels = np.array([[0, 1, 2], [0, 1, 3]])
        tree = merge_boundaries(labels, np.full((2, 3), 0.5), np.full((2, 3), 0.5))
        assert tree.children[0].tolist() == [1, 2]  # length 1 like {1, 3} and {2, 3}, and first in order

    def test_void_regions_are_refused(self):
        with pytest.raises(InputError, match="void"):
            merge_boundaries([[0, -1]], [[0, 0]], [[0, 0]])


class TestContourMap:
    @given(SOFT, st.floats(0, 1))
    @settings(max_examples=60, deadline=None)
    def test_thresholding_at_any_level_gives_the_trees_partition(self, soft, threshold):
        tree = hierarchy(soft)
        contours = tree.ucm2()
        for level in {threshold, *np.unique(contours).tolist()}:
            assert partition(ucm_levels(contours, [level]).at(0)) == partition(tree.at(level))

    @given(SOFT)
    @settings(max_examples=30, deadline=None)
    def test_levels_are_nested(self, soft):
        tree = hierarchy(soft)
        levels = tree.levels(np.linspace(0, 1, 6))
        for fine, coarse in zip(range(5), range(1, 6), strict=True):
            assert all(
                any(part <= whole for whole in partition(levels.at(coarse))) for part in partition(levels.at(fine))
            )

    def test_a_scene_survives_the_file_and_gives_the_same_tree(self, tmp_path):
        tree = hierarchy(canny(make_scene(5, size=(120, 80)).image, sigma=2.0).soft)
        write_mat(tmp_path / "a.mat", ucm2=tree.ucm2())
        again = ucm_hierarchy(read_ucm(tmp_path / "a.mat"))
        assert np.array_equal(again.labels, tree.labels)
        assert np.array_equal(again.heights, tree.heights)
        assert np.array_equal(again.ucm2(), tree.ucm2())
        assert np.array_equal(read_soft(tmp_path / "a.mat"), tree.ucm())

    @given(
        st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
            lambda size: arrays(np.int8, (2 * size[0] + 1, 2 * size[1] + 1), elements=st.integers(0, 5))
        )
    )
    @settings(max_examples=80, deadline=None)
    def test_the_tree_of_any_map_has_the_maps_levels(self, cells):
        cells = cells / np.float32(8)
        tree = ucm_hierarchy(cells)
        for level in (0, 1 / 8, 2 / 8, 3 / 8, 4 / 8, 5 / 8):
            assert partition(tree.at(level)) == partition(ucm_levels(cells, [level]).at(0))

    def test_gpb_ucm_keeps_its_regions(self, shared_data):
        cells = read_ucm(shared_data / "bsds500" / "ucm2" / "test" / "100007.mat")
        tree = ucm_hierarchy(cells)
        for level in (0.05, 0.2, 0.5):
            assert partition(tree.at(level)) == partition(ucm_levels(cells, [level]).at(0))


class TestDirectionOfStrength:
    def test_strength_counts_in_the_direction_of_the_boundary(self):
        # A vertical ridge whose strength belongs to vertical (bin 4 of 8) or to horizontal boundaries (bin 0).
        ridge = np.zeros((9, 9))
        ridge[:, 4] = 0.8
        for k, expected in ((4, 0.8), (0, 0.0)):
            planes = np.zeros((8, 9, 9))
            planes[k] = ridge
            assert hierarchy(planes).heights.tolist() == pytest.approx([expected])

    def test_a_direction_across_the_boundary_counts_in_full_and_one_along_it_not_at_all(self):
        ridge = np.zeros((9, 9))
        ridge[:, 4] = 0.8
        assert hierarchy(ridge, direction=np.zeros((9, 9))).heights == pytest.approx([0.8])
        assert hierarchy(ridge, direction=np.full((9, 9), np.pi / 2)).heights == pytest.approx([0], abs=1e-6)
        assert hierarchy(ridge).heights == pytest.approx([0.8])

    @pytest.mark.parametrize(
        ("strength", "options", "error", "sentence"),
        [
            (np.zeros((2, 3, 3)), {"direction": np.zeros((3, 3))}, UsageError, "one or the other"),
            (np.zeros((3, 3)), {"direction": np.zeros((3, 4))}, InputError, "direction is 4×3 but strength is 3×3"),
            (np.zeros((3, 3)), {"tolerance": -1.0}, UsageError, "tolerance is -1.0"),
            (np.zeros((0, 3, 3)), {}, InputError, "at least one plane"),
            (np.full((3, 3), 2.0), {}, InputError, r"expected \[0, 1\]"),
        ],
    )
    def test_what_cannot_be_is_refused(self, strength, options, error, sentence):
        with pytest.raises(error, match=sentence):
            hierarchy(strength, **options)


def crack_maxima(soft):
    """The larger value of the two pixels beside each crack."""
    right, down = np.zeros_like(soft), np.zeros_like(soft)
    right[:, :-1] = np.maximum(soft[:, :-1], soft[:, 1:])
    down[:-1] = np.maximum(soft[:-1], soft[1:])
    return right, down


def plain_average_linkage(labels, soft):
    """Heights of all merges, by looking at every boundary before each merge.

    A boundary between two regions is the list of its cracks, and has the name it arose with: the lowest labels in its regions.
    """
    cracks, named = {}, {}
    for (y, x), here in np.ndenumerate(labels):
        for v, u in ((y, x + 1), (y + 1, x)):
            if v < labels.shape[0] and u < labels.shape[1] and labels[v, u] != here:
                pair = frozenset((int(here), int(labels[v, u])))
                cracks.setdefault(pair, []).append(max(float(soft[y, x]), float(soft[v, u])))
                named[pair] = sorted(pair)
    heights = []
    while cracks:
        means = {pair: sum(values) / len(values) for pair, values in cracks.items()}
        lowest = min(means.values())
        # Equal means are equal to the last bit: sums of a few numbers of single precision are exact in double.
        ties = [pair for pair, mean in means.items() if mean == lowest]
        merged = min(ties, key=lambda pair: (len(cracks[pair]), named[pair]))
        stays, goes = sorted(merged)
        heights.append(lowest)
        del cracks[merged]
        for pair in [pair for pair in cracks if goes in pair]:
            (other,) = pair - {goes}
            now, values = frozenset((stays, other)), cracks.pop(pair)
            if now in cracks:
                cracks[now] += values
                named[now] = sorted(now)
            else:
                cracks[now], named[now] = values, named[pair]
    return heights
