"""Scenes are true by construction, and the same everywhere."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage
from skimage.morphology import thin as thin_oracle

from hyperacuity.data.formats.berkeley import boundaries_of
from hyperacuity.data.readers import read_boundary_truths, read_segmentations
from hyperacuity.data.scenes import Scene, make_scene
from hyperacuity.data.scenes.dice import Dice
from hyperacuity.data.scenes.truth import owners, ownership
from hyperacuity.data.scenes.world import make_world
from hyperacuity.errors import UsageError


def digest(scene: Scene) -> str:
    """One hash over every array of a scene, in the order of its fields."""
    total = hashlib.sha256()
    for field in dataclasses.fields(scene):
        value = getattr(scene, field.name)
        if field.name == "annotators":
            arrays = [array for annotation in value for array in (annotation.labels, annotation.boundaries)]
        else:
            arrays = [value] if isinstance(value, np.ndarray) else []
        for array in arrays:
            total.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
    return total.hexdigest()


@pytest.fixture(scope="module", params=[1, 2, 3])
def scene(request: pytest.FixtureRequest) -> Scene:
    return make_scene(request.param, size=(192, 128))


@pytest.fixture(scope="module")
def clear_scene() -> Scene:
    """Without lens and sensor, so that equal paint is equal in both views."""
    return make_scene(4, size=(320, 240), blur=0, noise=0)


class TestSameBytesEverywhere:
    @pytest.mark.parametrize(
        ("seed", "options", "expected"),
        [
            (1, {"size": (64, 64), "leaves": 6}, "1081ea85cb62185b5f283b3204a37d28048f17573c694adea387830b9e3f4195"),
            (2, {"size": (96, 64)}, "a3b3fbefcdb3b8e4695cbc35a1b55a52bab07b7ed12ee102d4afac08a2346d0c"),
            (3, {}, "df4ab04f11fbdf8d2cfea3030deeea09bfdf6dc5215754d5eff39e88ada67b5c"),
            (5, {"blur": 1.7, "noise": 3.0}, "d370b0e1cd1374bbdf92352801c2bc182699892476987d5eb5923dc8b80b198b"),
        ],
    )
    def test_a_seed_has_the_hash_it_always_had(self, seed: int, options: dict[str, object], expected: str) -> None:
        assert digest(make_scene(seed, **options)) == expected

    def test_plain_python_arithmetic_gives_what_compiled_kernels_give(self) -> None:
        program = "from hyperacuity.data.scenes import make_scene; import sys; " + (
            "s = make_scene(1, size=(64, 64), leaves=6); sys.stdout.buffer.write(s.image.tobytes() + s.right.tobytes())"
        )
        found = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
            capture_output=True,
            check=True,
        ).stdout
        compiled = make_scene(1, size=(64, 64), leaves=6)
        assert found == compiled.image.tobytes() + compiled.right.tobytes()

    def test_threads_and_order_do_not_matter(self) -> None:
        seeds = [11, 12, 13, 14]
        with ThreadPoolExecutor(4) as workers:
            together = list(workers.map(lambda seed: digest(make_scene(seed, size=(96, 64))), seeds))
        alone = [digest(make_scene(seed, size=(96, 64))) for seed in reversed(seeds)]
        assert together == alone[::-1]

    def test_different_seeds_give_different_pictures(self) -> None:
        assert len({digest(make_scene(seed, size=(96, 64))) for seed in range(6)}) == 6


class TestRegions:
    def test_a_region_is_one_connected_piece_of_one_sheet(self, scene: Scene) -> None:
        pieces = 0
        for sheet in np.unique(scene.objects):
            expected, count = ndimage.label(scene.objects == sheet)
            pieces += count
            for piece in range(1, count + 1):
                assert len(np.unique(scene.labels[expected == piece])) == 1
        assert np.array_equal(np.unique(scene.labels), np.arange(pieces))

    def test_regions_are_numbered_in_reading_order(self, scene: Scene) -> None:
        _, first = np.unique(scene.labels, return_index=True)
        assert (np.diff(first) > 0).all()

    def test_parts_refine_regions(self, scene: Scene) -> None:
        pairs = np.unique(np.stack([scene.parts.ravel(), scene.labels.ravel()]), axis=1)
        assert len(np.unique(pairs[0])) == pairs.shape[1]


class TestBoundaries:
    def test_they_are_thinned_changes_in_squares_of_two_by_two(self, scene: Scene) -> None:
        padded = np.pad(scene.labels, ((0, 1), (0, 1)), mode="edge")
        squares = np.lib.stride_tricks.sliding_window_view(padded, (2, 2)).reshape(*scene.labels.shape, 4)
        expected = thin_oracle(squares.min(axis=2) != squares.max(axis=2))
        assert np.array_equal(scene.boundaries, expected)

    def test_every_border_has_a_boundary_within_two_pixels(self, scene: Scene) -> None:
        beside = ndimage.binary_dilation(scene.boundaries, np.ones((5, 5)))
        across = scene.labels[:, :-1] != scene.labels[:, 1:]
        down = scene.labels[:-1] != scene.labels[1:]
        assert beside[:, :-1][across].all()
        assert beside[:-1][down].all()

    def test_one_region_has_none(self) -> None:
        assert not boundaries_of(np.zeros((9, 7), np.int32)).any()

    def test_the_rule_makes_berkeleys_boundaries_out_of_berkeleys_segmentations(self, shared_data: Path) -> None:
        files = sorted((shared_data / "bsds500" / "groundTruth").glob("*/*.mat"))[::100]
        if not files:
            pytest.skip("needs bsds500/groundTruth")
        for path in files:
            drawn = zip(read_segmentations([path]), read_boundary_truths([path]), strict=True)
            assert all(np.array_equal(boundaries_of(labels), edges) for labels, edges in drawn)


class TestOwnership:
    def test_a_small_map_by_hand(self) -> None:
        order = np.array([[1, 1, 1, 1], [1, 4, 4, 1], [2, 4, 4, 1]], np.float32)
        # (2, 0) of order 2 stands before (1, 0) of order 1 and behind (2, 1) of order 4: neither.
        assert ownership(order).tolist() == [[0, -1, -1, 0], [-1, 1, 1, -1], [0, 1, 1, -1]]

    def test_it_points_to_the_nearer_side(self, scene: Scene) -> None:
        order = np.pad(scene.order, 1, mode="edge")
        around = np.stack([order[:-2, 1:-1], order[2:, 1:-1], order[1:-1, :-2], order[1:-1, 2:]])
        assert (around.min(axis=0) < scene.order)[scene.ownership > 0].all()
        assert (around.max(axis=0) > scene.order)[scene.ownership < 0].all()
        alone = (around == scene.order).all(axis=0)
        assert not scene.ownership[alone].any()

    def test_owners_lists_every_border_once_with_its_length(self, scene: Scene) -> None:
        expected: dict[tuple[int, int], int] = {}
        labels, order = scene.labels, scene.order
        for row in range(labels.shape[0]):
            for column in range(labels.shape[1]):
                for other in ((row + 1, column), (row, column + 1)):
                    if (
                        other[0] == labels.shape[0]
                        or other[1] == labels.shape[1]
                        or labels[other] == labels[row, column]
                    ):
                        continue
                    pair = sorted([(row, column), other], key=lambda place: -order[place])
                    key = (int(labels[pair[0]]), int(labels[pair[1]]))
                    expected[key] = expected.get(key, 0) + 1
        assert {(a, b): length for a, b, length in scene.owners.tolist()} == expected

    def test_regions_of_equal_order_have_no_owner(self) -> None:
        assert owners(np.array([[0, 1]], np.int32), np.zeros((1, 2), np.float32)).shape == (0, 3)


class TestStereo:
    def test_nearer_means_larger_disparity(self, scene: Scene) -> None:
        pairs = np.unique(np.stack([scene.order.ravel(), scene.disparity.ravel()]), axis=1)
        assert (np.diff(pairs[0]) > 0).all()
        assert (np.diff(pairs[1]) > 0).all()

    def test_disparities_are_fifths_of_a_pixel(self, scene: Scene) -> None:
        fifths = scene.disparity.astype(np.float64) * 5
        assert np.abs(fifths - np.rint(fifths)).max() < 1e-5

    def test_a_pixel_is_visible_where_the_right_view_shows_the_same_sheet(self, clear_scene: Scene) -> None:
        rows, columns, there = _whole_steps(clear_scene)
        inside = there >= 0
        here = clear_scene.disparity[rows, columns]
        other = clear_scene.disparity_right[rows, np.maximum(there, 0)]
        assert np.array_equal(clear_scene.nonocc[rows, columns], inside & (here == other))
        assert (other >= here)[inside].all()  # what hides a point lies nearer
        assert (~clear_scene.nonocc[rows, columns]).sum() > 50

    def test_visible_pixels_have_the_same_colour_in_both_views(self, clear_scene: Scene) -> None:
        rows, columns, there = _whole_steps(clear_scene)
        calm = _calm(clear_scene.disparity), _calm(clear_scene.disparity_right)
        matched = clear_scene.nonocc[rows, columns]
        rows, columns, there = rows[matched], columns[matched], there[matched]
        matched = calm[0][rows, columns] & calm[1][rows, there]
        rows, columns, there = rows[matched], columns[matched], there[matched]
        assert len(rows) > 2000
        differs = (clear_scene.image[rows, columns] != clear_scene.right[rows, there]).any(axis=1)
        assert differs.mean() < 0.001  # slivers too thin to reach a pixel's centre still tint it

    def test_the_disc_region_is_a_box_of_nine_about_jumps_of_two(self, scene: Scene) -> None:
        jump = np.zeros(scene.disparity.shape, bool)
        for axis in (0, 1):
            far = np.abs(np.diff(scene.disparity, axis=axis)) >= 2
            pad = [(0, 0), (0, 0)]
            for pad[axis] in ((0, 1), (1, 0)):
                jump |= np.pad(far, pad)
        expected = ndimage.binary_dilation(jump, np.ones((9, 9))) & scene.nonocc
        assert np.array_equal(scene.disc, expected)
        assert scene.masks["all"].all()

    def test_a_larger_disparity_on_request_leaves_the_left_view_alone(self) -> None:
        plain, wide = make_scene(6, size=(96, 64)), make_scene(6, size=(96, 64), max_disparity=20)
        assert np.array_equal(plain.objects, wide.objects)
        assert wide.disparity.max() > plain.disparity.max()
        assert wide.disparity.max() <= 20


def _whole_steps(scene: Scene) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pixels whose disparity is a whole number: rows, columns, and columns in the right view."""
    step = np.rint(scene.disparity).astype(int)
    rows, columns = np.nonzero(scene.disparity == step)
    return rows, columns, columns - step[rows, columns]


def _calm(values: np.ndarray) -> np.ndarray:
    """Where the 5×5 neighbourhood has one value."""
    return ndimage.maximum_filter(values, 5) == ndimage.minimum_filter(values, 5)


class TestAnnotators:
    def test_less_detail_means_fewer_regions_and_boundaries(self, scene: Scene) -> None:
        details = [annotation.detail for annotation in scene.annotators]
        regions = [int(annotation.labels.max()) + 1 for annotation in scene.annotators]
        drawn = [int(annotation.boundaries.sum()) for annotation in scene.annotators]
        assert details == sorted(details, reverse=True)
        assert regions[0] > 2 * regions[-1]
        assert regions == sorted(regions, reverse=True)
        assert drawn == sorted(drawn, reverse=True)

    def test_with_a_steady_hand_coarser_annotators_only_merge(self) -> None:
        steady = make_scene(7, size=(192, 128), jitter=0).annotators
        for fine, coarse in pairwise(steady):
            pairs = np.unique(np.stack([fine.labels.ravel(), coarse.labels.ravel()]), axis=1)
            assert len(np.unique(pairs[0])) == pairs.shape[1]

    def test_an_unsteady_hand_strays_by_a_pixel_or_two(self) -> None:
        steady, shaky = (make_scene(7, size=(192, 128), jitter=jitter).annotators[0] for jitter in (0, 1))
        distance = ndimage.distance_transform_edt(~steady.boundaries)[shaky.boundaries]
        assert 0.05 < (distance == 0).mean() < 0.6
        assert 0.5 < distance.mean() < 2
        assert (distance <= 4).mean() > 0.97

    def test_nobody_outlines_specks(self, scene: Scene) -> None:
        for annotation in scene.annotators:
            assert np.bincount(annotation.labels.ravel()).min() >= 24

    def test_boundaries_are_those_of_the_segmentation(self, scene: Scene) -> None:
        for annotation in scene.annotators:
            assert np.array_equal(annotation.boundaries, boundaries_of(annotation.labels))

    def test_a_lone_annotator_sees_everything(self) -> None:
        (alone,) = make_scene(1, size=(96, 64), annotators=1).annotators
        most_patient = make_scene(1, size=(96, 64), annotators=5).annotators[0]
        assert alone.detail == most_patient.detail == 1
        assert np.array_equal(alone.labels, most_patient.labels)


class TestOptions:
    def test_lens_and_sensor_leave_the_truth_alone(self) -> None:
        plain, worn = make_scene(8, size=(96, 64)), make_scene(8, size=(96, 64), blur=2, noise=9)
        for name in ("labels", "parts", "boundaries", "order", "disparity", "nonocc", "disc"):
            assert np.array_equal(getattr(plain, name), getattr(worn, name))
        assert not np.array_equal(plain.image, worn.image)

    def test_noise_has_the_deviation_asked_for(self) -> None:
        clean, noisy = (make_scene(8, size=(192, 128), noise=noise).image.astype(int) for noise in (0, 6))
        midtones = (clean > 40) & (clean < 215)
        assert (noisy - clean)[midtones].std() == pytest.approx(6, rel=0.03)

    def test_blur_smooths_as_a_gaussian_does(self) -> None:
        sharp, soft = (make_scene(8, size=(192, 128), noise=0, blur=blur).image / 255 for blur in (0, 1.5))
        expected = np.sqrt(ndimage.gaussian_filter(sharp**2, (1.5, 1.5, 0), mode="nearest"))
        assert np.abs(soft - expected).max() < 0.02

    def test_shadows_only_darken(self) -> None:
        lit, shaded = (make_scene(8, size=(96, 64), noise=0, blur=0, shadow=shadow).image for shadow in (0, 1))
        assert (shaded <= lit).all()
        assert (shaded < lit).mean() > 0.3

    def test_texture_is_what_ripples_on_plain_paper(self) -> None:
        flat, rough = (make_scene(8, size=(96, 64), noise=0, texture=texture) for texture in (0, 2))
        calm = _calm(flat.parts)[:, 1:]
        ripples = [(np.abs(np.diff(s.image[..., 1].astype(int), axis=1))[calm] > 2).mean() for s in (flat, rough)]
        assert ripples[1] > 1.5 * ripples[0]

    def test_leaves_follow_the_inverse_cube_law(self) -> None:
        options = {"size": (480, 320), "radii": (0.05, 0.4), "disparities": (3.0, 400.0)}
        radii = np.array([sheet.radius for sheet in make_world(Dice(1), leaves=1500, **options).sheets[-1500:]])
        radii = radii / 320
        for limit in (0.07, 0.1, 0.2):
            expected = (limit**-2 - 0.4**-2) / (0.05**-2 - 0.4**-2)
            assert (radii > limit).mean() == pytest.approx(expected, abs=0.03)

    @pytest.mark.parametrize(
        ("options", "complaint"),
        [
            ({"size": (12, 320)}, "size 12x320: the width must lie between 64 and 2048"),
            ({"size": (480, 5000)}, "the height must lie"),
            ({"leaves": 0}, "leaves=0"),
            ({"annotators": 0}, "annotators=0"),
            ({"noise": -1.0}, "noise=-1"),
            ({"max_disparity": 2.0}, "32 leaves need a largest disparity of 10.4 px or more, not 2 px"),
        ],
    )
    def test_a_call_that_cannot_be_carried_out_is_refused(self, options: dict[str, object], complaint: str) -> None:
        with pytest.raises(UsageError, match=complaint):
            make_scene(1, **options)

    def test_a_negative_seed_is_refused(self) -> None:
        with pytest.raises(UsageError, match="seed -1: expected a whole number from 0"):
            make_scene(-1)
