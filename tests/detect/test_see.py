"""``hyperacuity see`` and ``ha.see``: what is written reads back, and whatever is given gets a result or one sentence."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner, Result

import hyperacuity as ha
from hyperacuity.cli import app
from hyperacuity.data import DataWarning, read_order, read_soft, read_ucm, write_png
from hyperacuity.data.scenes import make_scene, write_scenes
from hyperacuity.detect.depth.evidence import owned_sides
from hyperacuity.detect.net import network
from hyperacuity.errors import InputError, UsageError
from hyperacuity.ordering.orderings import is_sides
from hyperacuity.regions import ucm_levels
from hyperacuity.systems.seeing import FOLDERS, LARGEST, reduced, resized

pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install '.[see]'")


def call(*words: object) -> Result:
    return CliRunner().invoke(app, ["see", *map(str, words)])


@pytest.fixture(scope="module")
def scene() -> np.ndarray:
    return make_scene(1, size=(120, 80), leaves=6).image


@pytest.fixture(scope="module")
def photograph(scene, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("photos") / "paper.png"
    write_png(path, scene)
    return path


@pytest.fixture(scope="module")
def written(photograph, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("seen")
    done = call(photograph, "--setting", "fast", "--level", 0.1, "--out", out)
    assert done.exit_code == 0, done.output
    return out


class TestFiles:
    def test_there_is_one_of_each_kind(self, written):
        assert sorted(path.relative_to(written).as_posix() for path in written.rglob("[!.]*.*")) == sorted(
            f"{folder}/paper.{suffix}" for folder, suffix in FOLDERS.items()
        )

    def test_they_hold_what_the_function_returns(self, written, scene):
        seen = ha.see(scene, setting="fast")
        np.testing.assert_allclose(read_soft(written / "boundaries/paper.png"), seen.boundaries, atol=0.51 / 65535)
        np.testing.assert_array_equal(read_ucm(written / "ucm2/paper.mat"), seen.ucm2)
        np.testing.assert_array_equal(read_order(written / "order/paper.pfm"), seen.order)
        np.testing.assert_array_equal(np.load(written / "field/paper.npy", allow_pickle=False), seen.field)
        sides = owned_sides(seen.field, seen.regions(0.1))
        np.testing.assert_array_equal(read_order(written / "ownership/paper.pfm"), sides)
        assert is_sides(sides)

    def test_the_hierarchy_is_cut_as_the_function_cuts_it(self, written, scene):
        again = ucm_levels(read_ucm(written / "ucm2/paper.mat"), [0.1]).at(0)
        regions = ha.see(scene, setting="fast").regions(0.1)
        pairs = np.unique(np.stack([again.ravel(), regions.ravel()]), axis=1)
        assert pairs.shape[1] == np.unique(again).size == np.unique(regions).size

    def test_the_sheet_is_a_picture_of_three_columns(self, written):
        with Image.open(written / "sheets/paper.png") as sheet:
            assert sheet.width > 3 * 640
            assert sheet.mode == "RGB"

    def test_the_benchmarks_read_them(self, tmp_path):
        write_scenes(tmp_path / "scenes", [1], size=(96, 64), leaves=5)
        assert call(tmp_path / "scenes/images", "--setting", "fast", "--no-sheets", "--out", tmp_path).exit_code == 0
        assert not (tmp_path / "sheets").exists()
        for words in (
            ["boundary", tmp_path / "boundaries", tmp_path / "scenes/groundTruth", "--nms", "structured-s1-r1-8bit"],
            ["regions", tmp_path / "ucm2", tmp_path / "scenes/groundTruth"],
            ["ordering", tmp_path / "order", tmp_path / "scenes"],
            ["ordering", tmp_path / "ownership", tmp_path / "scenes"],
        ):
            done = CliRunner().invoke(app, [*map(str, words), "--json"])
            assert done.exit_code == 0, f"{words[0]}: {done.output}"
            assert json.loads(done.stdout)["failed"] == []

    def test_a_bad_file_fails_alone_and_by_name(self, photograph, tmp_path):
        (tmp_path / "notes.jpg").write_text("not a picture")
        (tmp_path / "nothing.png").touch()
        words = (photograph, tmp_path / "notes.jpg", tmp_path / "nothing.png")
        done = call(*words, "--setting", "fast", "--no-sheets", "--json", "--out", tmp_path / "out")
        assert done.exit_code == 1
        found = json.loads(done.stdout)
        assert found["seen"].keys() == {"paper"}
        assert found["seen"]["paper"] | {"regions": 0} == {"width": 120, "height": 80, "regions": 0}
        assert [one["reason"] for one in found["failed"]] == ["is damaged or not a picture", "is empty (0 bytes)"]

    def test_two_of_one_name_do_not_overwrite_each_other(self, photograph, tmp_path):
        Image.open(photograph).save(tmp_path / "paper.jpg")
        done = call(photograph, tmp_path / "paper.jpg", "--setting", "fast", "--no-sheets", "--out", tmp_path / "out")
        assert done.exit_code == 1
        assert "which has the same name" in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["{empty}"], "holds no picture (PNG, JPEG, BMP, TIFF, PGM or PPM)"),
        (["{empty}/nowhere.jpg"], "there is no file or folder"),
        (["{photo}", "--level", "1.5"], "--level 1.5: expected a number from 0 to below 1"),
        (["{photo}", "--model", "{empty}/my.onnx"], "my.onnx: there is no such file"),
        (["{photo}", "--model", "{photo}"], "holds no network that can be run"),
    ],
)
def test_a_wrong_call_is_one_sentence(words, sentence, photograph, tmp_path):
    (tmp_path / "empty").mkdir()
    done = call(*(w.format(empty=tmp_path / "empty", photo=photograph) for w in words), "--out", tmp_path / "out")
    assert done.exit_code in (1, 2)
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


class TestOddPhotographs:
    @pytest.mark.parametrize("shape", [(1, 1), (3, 3), (3, 3, 3), (1, 70), (2, 40, 3)])
    @pytest.mark.parametrize("setting", ["fast", "best"])
    def test_tiny_ones_are_seen(self, shape, setting):
        seen = ha.see(np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8), setting=setting)
        assert seen.boundaries.shape == seen.order.shape == seen.regions().shape == shape[:2]
        assert np.isfinite(seen.order).all()
        assert np.isfinite(seen.field).all()

    @pytest.mark.parametrize(
        ("mode", "suffix"), [("L", "png"), ("LA", "png"), ("RGBA", "png"), ("1", "png"), ("P", "png"), ("CMYK", "jpg")]
    )
    def test_files_of_any_mode_are_seen(self, mode, suffix, scene, tmp_path):
        path = tmp_path / f"photo.{suffix}"
        Image.fromarray(scene).convert(mode).save(path)
        done = call(path, "--setting", "fast", "--out", tmp_path / "out")
        assert done.exit_code == 0, done.output
        assert read_soft(tmp_path / "out/boundaries/photo.png").shape == (80, 120)

    def test_a_single_pixel_and_a_plain_colour_have_a_sheet_too(self, tmp_path):
        for name, size in (("pixel", (1, 1)), ("nine", (3, 3)), ("line", (200, 1)), ("plain", (64, 48))):
            Image.new("RGB", size, (90, 120, 150)).save(tmp_path / f"{name}.png")
        assert call(tmp_path, "--setting", "fast", "--out", tmp_path / "out").exit_code == 0
        assert len(list((tmp_path / "out/sheets").iterdir())) == 4

    def test_sixteen_bits_grey_and_floats_are_the_same_photograph(self, scene, tmp_path):
        grey = scene[..., 1]
        wide = grey.astype(np.uint16) * 257
        write_png(tmp_path / "wide.png", wide)
        expected = ha.see(grey, setting="fast").boundaries
        for same in (wide, tmp_path / "wide.png", str(tmp_path / "wide.png"), grey / 255, np.stack([grey] * 3, 2)):
            np.testing.assert_allclose(ha.see(same, setting="fast").boundaries, expected, atol=2e-5)

    def test_alpha_is_dropped(self, scene):
        clear = np.dstack([scene, np.zeros(scene.shape[:2], np.uint8)])
        expected = ha.see(scene, setting="fast").boundaries
        np.testing.assert_array_equal(ha.see(clear, setting="fast").boundaries, expected)

    def test_a_plain_colour_is_one_region(self):
        seen = ha.see(np.full((64, 96, 3), 77, np.uint8), setting="fast")
        assert np.unique(seen.regions()).size == 1

    @pytest.mark.parametrize(
        ("image", "sentence"),
        [
            (np.full((8, 8), np.nan), "image: holds NaN or infinite values, expected finite ones"),
            (np.zeros((8, 8, 2)), r"image: has shape \(8, 8, 2\), expected height × width"),
            (np.zeros((0, 8)), r"image: has no pixels"),
            (np.zeros((8, 8), int), "image: holds int64 values, expected uint8, uint16 or floating point"),
        ],
    )
    def test_what_is_no_photograph_is_refused(self, image, sentence):
        with pytest.raises(InputError, match=sentence):
            ha.see(image)

    def test_there_are_two_settings(self, scene):
        with pytest.raises(UsageError, match="expected one of fast, best"):
            ha.see(scene, setting="slow")


class TestLargePhotographs:
    def test_they_are_reduced_with_one_sentence(self):
        big = np.zeros((5000, 8000), np.uint8)
        sentence = r"big: has 40.0 megapixels, more than 2; it is reduced to 1789×1118, the size of the maps"
        with pytest.warns(DataWarning, match=sentence):
            small = reduced(big, name="big")
        assert small.shape == (1118, 1789)
        assert small.size <= 1.001 * LARGEST

    def test_others_are_left_alone(self, scene, recwarn):
        assert reduced(scene) is scene
        assert not recwarn

    @pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float32])
    def test_each_pixel_is_the_mean_of_those_it_stands_for(self, kind):
        image = np.random.default_rng(1).integers(0, 256, (12, 18, 3)).astype(kind)
        means = image.astype(float).reshape(4, 3, 6, 3, 3).mean(axis=(1, 3))
        found = resized(image, 4, 6)
        assert found.dtype == kind
        # Pillow goes along rows, then along columns, and rounds bytes after both.
        rounding = {np.uint8: 1.0, np.uint16: 0.51, np.float32: 1e-4}[kind]
        np.testing.assert_allclose(found, means, atol=rounding, rtol=0)

    @pytest.mark.repeat
    @pytest.mark.filterwarnings("ignore::hyperacuity.data.DataWarning")
    def test_forty_megapixels_are_seen_in_less_than_four_gigabytes(self, tmp_path):
        resource = pytest.importorskip("resource", reason="memory is measured on Unix only")
        Image.new("RGB", (8000, 5000), (120, 140, 90)).save(tmp_path / "big.jpg")
        words = ["see", str(tmp_path / "big.jpg"), "--setting", "fast", "--out", str(tmp_path)]
        limited = (
            "import resource; from hyperacuity.cli import app\n"
            f"app({words!r}, standalone_mode=False)\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        done = subprocess.run([sys.executable, "-c", limited], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("warning:") == 1
        unit = 1 if sys.platform == "darwin" else 1024
        assert unit * int(done.stdout.split()[-1]) < 4e9
        assert resource


@pytest.fixture
def without_onnxruntime(monkeypatch):
    """As if it were not installed, and no network open yet."""
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setattr(network, "_session", network._session.__wrapped__)


@pytest.mark.usefixtures("without_onnxruntime")
@pytest.mark.parametrize("words", ["see", "detect --with net", "segment --with net"])
def test_without_onnxruntime_one_sentence_says_what_to_install(words, photograph, tmp_path):
    verb, *options = words.split()
    done = CliRunner().invoke(app, [verb, str(photograph), *options, "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert re.fullmatch(
        r"error: seeing with the network needs onnxruntime: pip install '(onnxruntime>=.*|hyperacuity\[see\])'\n",
        done.stderr,
    )


@pytest.mark.usefixtures("without_onnxruntime")
def test_without_onnxruntime_the_function_says_so_too():
    with pytest.raises(ValueError, match="needs onnxruntime: pip install"):
        ha.see(np.zeros((8, 8)))
