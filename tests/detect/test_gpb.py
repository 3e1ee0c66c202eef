"""gPb: its parts against brute force and dense solvers, what it finds, and that it is the same whatever the threads."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import linalg
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data.scenes import make_scene
from hyperacuity.detect import detector, gpb, gpb_hierarchy, gpb_ucm
from hyperacuity.detect.global_pb.cues import LOCAL_CUES, enlarged, local_cues
from hyperacuity.detect.global_pb.detector import crowding, gpb_textons
from hyperacuity.detect.global_pb.model import GpbModel, load_gpb
from hyperacuity.detect.global_pb.spectral import RADIUS, SIGMA, eigenvectors, halved, spectral_gradients
from hyperacuity.detect.global_pb.training import learn_gpb
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels.affinity import contour_affinity, neighbour_offsets
from hyperacuity.kernels.half_discs import half_disc_gradients
from hyperacuity.regions import ucm_levels


@pytest.fixture(scope="module")
def photograph():
    return make_scene(3, size=(96, 64), leaves=6).image[:48, :72]


@pytest.fixture(scope="module")
def seen(photograph):
    """What gpb sees in it."""
    return gpb(photograph)


@pytest.fixture(scope="module")
def tree(photograph):
    """The hierarchy of regions in it."""
    return gpb_hierarchy(photograph)


def bresenham(first, last):
    """The pixels between two, by the integer error of Bresenham (1965), from the first to the last."""
    (y, x), (v, u) = first, last
    dy, dx = abs(v - y), abs(u - x)
    steep = dy > dx
    long, short = (dy, dx) if steep else (dx, dy)
    sy, sx = (1 if v > y else -1), (1 if u > x else -1)
    error, points = 2 * short - long, []
    for _ in range(long + 1):
        points.append((y, x))
        # Exactly between two pixels the line takes the later one: the next below or to the right.
        forward = (sx if steep else sy) > 0
        if error > 0 or (error == 0 and forward):
            y, x = (y, x + sx) if steep else (y + sy, x)
            error -= 2 * long
        y, x = (y + sy, x) if steep else (y, x + sx)
        error += 2 * short
    return points


def dense_affinity(strength, radius, sigma):
    """The whole matrix, pair by pair."""
    height, width = strength.shape
    pixels = [(y, x) for y in range(height) for x in range(width)]
    matrix = np.zeros((len(pixels), len(pixels)))
    for i, first in enumerate(pixels):
        for j in range(i + 1, len(pixels)):
            last = pixels[j]
            if (first[0] - last[0]) ** 2 + (first[1] - last[1]) ** 2 <= radius**2:
                most = max(strength[point] for point in bresenham(first, last))
                matrix[i, j] = matrix[j, i] = np.exp(-most / sigma)
    return matrix


def unpacked(weights, offsets):
    """The matrix that H × W × K weights stand for."""
    height, width, _ = weights.shape
    matrix = np.zeros((height * width, height * width))
    for y in range(height):
        for k, (dy, dx) in enumerate(offsets):
            for x in range(width):
                if weights[y, x, k]:
                    matrix[y * width + x, (y + dy) * width + x + dx] = weights[y, x, k]
    return matrix


def contours(seed, shape):
    rng = np.random.default_rng(seed)
    return (rng.random(shape) ** 4 * (rng.random(shape) < 0.4)).astype(np.float32)


class TestAffinity:
    @pytest.mark.parametrize("shape", [(7, 9), (1, 8), (6, 1), (12, 5)])
    def test_it_is_that_of_the_strongest_contour_on_the_line(self, shape):
        strength = contours(1, shape)
        found = unpacked(contour_affinity(strength, RADIUS, SIGMA), neighbour_offsets(RADIUS))
        np.testing.assert_allclose(found, dense_affinity(strength, RADIUS, SIGMA), rtol=1e-5)

    def test_pixels_that_no_contour_parts_are_fully_alike(self):
        weights = contour_affinity(np.zeros((4, 4), np.float32), 1, SIGMA)
        assert weights.sum() == 2 * 24  # each of 24 pairs of neighbours, seen from both sides


class TestEigenvectors:
    @pytest.mark.parametrize("dense", [0, 10_000])
    def test_they_are_those_of_a_dense_solver(self, dense):
        strength = np.zeros((22, 26), np.float32)
        strength[:, 9] = 0.4
        strength[12, 9:] = 0.3
        strength += 0.2 * contours(2, strength.shape)
        affinity = dense_affinity(strength, RADIUS, SIGMA)
        degree = np.diag(affinity.sum(axis=1))
        values, vectors = linalg.eigh(degree - affinity, degree, subset_by_index=[1, 16])
        found = eigenvectors(strength, dense=dense, tolerance=1e-5)
        np.testing.assert_allclose(found.values, values, rtol=1e-3)
        ours = found.vectors.reshape(16, -1).astype(np.float64)
        likeness = np.abs(ours @ degree @ vectors)
        gaps = np.minimum(np.diff(values, prepend=0), np.diff(values, append=1))
        alone = gaps > 0.02 * values  # vectors of nearly equal eigenvalues may be any pair that spans the same plane
        assert alone.sum() > 8
        np.testing.assert_allclose(np.diag(likeness)[alone], 1, atol=1e-3)
        assert (np.linalg.svd(likeness)[1] <= 1.01).all()

    def test_a_tolerance_that_is_used_gives_the_same_gradients_as_a_strict_one(self, seen):
        strength = seen.thin
        loose, strict = (eigenvectors(halved(strength), dense=0, tolerance=t) for t in (1e-3, 1e-6))
        np.testing.assert_allclose(loose.values, strict.values, rtol=0.01)

    def test_few_pixels_have_few(self):
        assert eigenvectors(np.zeros((1, 1), np.float32)).vectors.shape == (0, 1, 1)
        assert eigenvectors(np.zeros((2, 3), np.float32)).vectors.shape == (5, 2, 3)

    def test_a_contour_that_cuts_the_image_in_two_is_strong_one_that_ends_is_not(self):
        whole, part = np.zeros((2, 48, 64), np.float32)
        whole[:, 32], part[20:28, 32] = 0.5, 0.5
        cut, stub = (spectral_gradients(one)[:, 24, 30:35] for one in (whole, part))
        assert cut.max() > 2 * stub.max()
        assert cut.max(axis=1).argmax() == 4  # the direction of a vertical line


class TestLocalCues:
    @pytest.mark.parametrize("step", [1, 2, 3])
    def test_discs_on_some_pixels_are_those_on_all(self, step):
        labels = np.random.default_rng(0).integers(0, 5, (17, 14)).astype(np.uint8)
        every = half_disc_gradients(labels, 5, 4, smooth=1)
        np.testing.assert_array_equal(half_disc_gradients(labels, 5, 4, smooth=1, step=step), every[:, ::step, ::step])

    def test_half_discs_are_compared_by_chi2_of_histograms(self):
        labels = np.random.default_rng(1).integers(0, 6, (13, 15)).astype(np.uint8)
        found = half_disc_gradients(labels, 6, 4.5, step=2)[:, 3, 3]
        for direction, value in enumerate(found):
            angle = direction * np.pi / 8
            halves = np.zeros((2, 6))
            for y in range(13):
                for x in range(15):
                    dy, dx = y - 6, x - 6
                    side = dy * np.cos(angle) - dx * np.sin(angle)
                    ahead = dx * np.cos(angle) + dy * np.sin(angle)
                    if 0 < dy * dy + dx * dx <= 4.5**2:
                        # On the line itself, pixels ahead belong to the near half, those behind to the far one.
                        halves[int(side > 1e-9 or (abs(side) <= 1e-9 and ahead > 0)), labels[y, x]] += 1
            g, h = halves / halves.sum(axis=1, keepdims=True)
            known = g + h > 0
            assert value == pytest.approx(0.5 * ((g - h)[known] ** 2 / (g + h)[known]).sum(), abs=1e-5)

    def test_enlarging_is_linear_between_samples(self):
        coarse = np.arange(12, dtype=np.float32).reshape(1, 3, 4)
        fine = enlarged(coarse, (5, 7))
        np.testing.assert_array_equal(fine[0, ::2, ::2], coarse[0])
        np.testing.assert_allclose(fine[0, 1, 1], coarse[0, :2, :2].mean())

    def test_a_grey_image_has_no_gradients_of_colour(self, photograph):
        cues = local_cues(photograph.mean(axis=2) / 255, gpb_textons())
        for cue, values in zip(LOCAL_CUES, cues, strict=True):
            assert values.any() == (cue.channel not in "ab")


class TestGpb:
    @pytest.mark.parametrize("shape", [(1, 1), (3, 5), (2, 40), (33, 31, 3)])
    def test_a_flat_image_of_any_size_has_no_boundary(self, shape):
        for find in (gpb, gpb_ucm):
            seen = find(np.full(shape, 0.4))
            assert seen.thin.shape == shape[:2]
            assert not seen.strength.any()
            assert not seen.thin.any()

    @pytest.mark.parametrize("shape", [(1, 1), (3, 5), (1, 30), (5, 5, 3)])
    def test_tiny_images_are_seen(self, shape):
        image = np.random.default_rng(0).random(shape)
        for find in (gpb, gpb_ucm):
            assert np.isfinite(find(image).strength).all()

    def test_a_closed_contour_stands_out_from_texture(self):
        rng = np.random.default_rng(0)
        image = rng.normal(0.4, 0.05, (80, 96))
        image[20:60, 30:70] += 0.25
        thin = gpb(image.clip(0, 1)).thin
        near = np.zeros(image.shape, bool)
        near[18:62, 28:72], near[23:57, 33:67] = True, False
        strongest = thin >= np.sort(thin.ravel())[-100]
        assert near[strongest].mean() > 0.95

    def test_a_crowd_of_lines_is_one_by_the_mean_around(self):
        # 100 × 75 pixels have a diagonal of 125: the surroundings go 13 pixels far, a window of 27 × 27.
        thin = np.zeros((75, 100), np.float32)
        thin[:, :50:2] = 0.8
        found = crowding(thin)
        window = np.pad(thin, 13, mode="symmetric").astype(float)
        for y, x in ((0, 0), (37, 10), (40, 50), (74, 99)):
            mean = window[y : y + 27, x : x + 27].mean()
            assert found[y, x] == pytest.approx(np.log((mean + 0.01) / 0.04), abs=1e-5)

    def test_it_does_not_depend_on_threads(self, photograph, seen):
        with ThreadPoolExecutor(3) as pool:
            for beside in pool.map(gpb, [photograph] * 3):
                np.testing.assert_array_equal(beside.strength, seen.strength)
                np.testing.assert_array_equal(beside.thin, seen.thin)


class TestUcm:
    def test_it_is_an_ultrametric(self, tree):
        assert (np.diff(tree.heights) >= 0).all()
        cells = tree.ucm2()
        for level in (0.02, 0.1, 0.3, 0.6):
            ours, drawn = tree.at(level), ucm_levels(cells, [level]).at(0)
            pairs = np.unique(np.stack([ours.ravel(), drawn.ravel()]), axis=1)
            assert pairs.shape[1] == len(np.unique(ours)) == len(np.unique(drawn)), "the same regions by other names"

    def test_coarser_levels_hold_finer_ones(self, tree):
        fine, coarse = tree.at(0.1), tree.at(0.4)
        assert len(np.unique(np.stack([fine.ravel(), coarse.ravel()]), axis=1).T) == len(np.unique(fine))

    def test_the_detector_draws_its_hierarchy(self, photograph, tree):
        np.testing.assert_array_equal(detector("gpb-ucm").hierarchy(photograph).ucm(), tree.ucm())
        np.testing.assert_array_equal(detector("gpb-ucm")(photograph).thin, tree.ucm())
        np.testing.assert_array_equal(detector("gpb").hierarchy(photograph).ucm(), tree.ucm())
        assert gpb_ucm(photograph, thin_norm="max").thin.max() == 1


class TestModel:
    def test_it_is_read_as_it_was_written(self, tmp_path):
        model = GpbModel(np.arange(17) / 7, np.arange(18) / 3, "of nothing").as_written()
        again = load_gpb(model.save(tmp_path / "my.json"))
        np.testing.assert_array_equal(again.local, model.local)
        np.testing.assert_array_equal(again.combined, model.combined)
        assert again.about == "of nothing"

    def test_the_shipped_one_says_how_it_was_obtained(self):
        assert "hyperacuity train gpb --seed 0" in load_gpb().about
        assert "reserved for measuring: 100" in load_gpb().about

    @pytest.mark.parametrize("text", ["", "[]", '{"about": ""}', '{"local": {}, "combined": {}, "about": ""}'])
    def test_other_files_are_refused_by_name(self, tmp_path, text):
        path = tmp_path / "my.json"
        path.write_text(text)
        with pytest.raises(InputError, match=r"my\.json: holds no model of gpb"):
            load_gpb(path)

    def test_learning_needs_images(self):
        with pytest.raises(UsageError, match="no image"):
            learn_gpb([], [])

    def test_learning_finds_what_was_drawn_and_can_be_repeated(self):
        image = np.tile(np.repeat(np.uint8([40, 200, 90]), 24), (48, 1))
        noisy = (image + np.random.default_rng(0).normal(0, 12, image.shape)).clip(0, 255).astype(np.uint8)
        labels = np.zeros(image.shape, bool)
        labels[:, [23, 47]] = True
        one, taught = learn_gpb([noisy], [labels], samples=400)
        other, _ = learn_gpb([noisy], [labels], samples=400)
        np.testing.assert_array_equal(one.combined, other.combined)
        assert 0 < taught.boundary.mean() < 1
        scores = taught.cues @ one.combined[1:]
        assert scores[taught.boundary == 1].mean() > scores[taught.boundary == 0].mean()


def test_training_and_the_command_work_together(tmp_path):
    from PIL import Image

    scene = make_scene(5, size=(96, 64), leaves=5)
    for folder in ("images", "labels"):
        (tmp_path / folder).mkdir()
    Image.fromarray(scene.image).save(tmp_path / "images" / "a.png")
    edges = np.zeros(scene.labels.shape, bool)
    edges[:, 1:] |= scene.labels[:, 1:] != scene.labels[:, :-1]
    Image.fromarray((255 * edges).astype(np.uint8)).save(tmp_path / "labels" / "a.png")
    words = ["train", "gpb", "--images", tmp_path / "images", "--labels", tmp_path / "labels", "--json"]
    done = CliRunner().invoke(app, [*map(str, words), "--out", str(tmp_path / "my.json")])
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["images"] == 1
    assert list(told["combined"])[-1] == "spectral"
    named = f"gpb(model='{tmp_path / 'my.json'}')"
    words = ["detect", tmp_path / "images", "--with", named, "--out", tmp_path / "maps"]
    assert CliRunner().invoke(app, [*map(str, words)]).exit_code == 0
    assert (tmp_path / "maps" / "gpb(model='my.json')" / "a.png").is_file()
