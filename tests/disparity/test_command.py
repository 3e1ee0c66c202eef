"""``hyperacuity disparity`` and ``stereo``: layouts, scales, regions, failures, what is kept, and the JSON programs read."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.cli.stereo import SYSTEMS
from hyperacuity.data import read_disparity, write_disparity, write_png
from hyperacuity.detect.stereo import BUILT_IN


def call(*words, status=0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == status, result.stderr + str(result.exception)
    return result


def scores(*words, status=0):
    return json.loads(call("disparity", *words, "--json", status=status).stdout)


TRUTH = np.tile(np.linspace(8, 16, 40, dtype=np.float32).round(), (30, 1))


@pytest.fixture
def middlebury(tmp_path):
    """Two scenes in the layout of Middlebury v2, one at scale 4, one at scale 8; a mask excludes the left half."""
    folder = tmp_path / "middlebury"
    for name, scale in (("art", 4), ("books", 8)):
        scene = folder / name
        scene.mkdir(parents=True)
        write_png(scene / "groundtruth.png", (TRUTH * scale).astype(np.uint8))
        (scene / "info.txt").write_text(f"{scale}\n20")
        for mask in ("nonocc", "all", "disc"):
            values = np.full(TRUTH.shape, 255, np.uint8)
            values[:, :20] = 0 if mask == "nonocc" else 128 if mask == "disc" else 255
            write_png(scene / f"{mask}.png", values)
        for picture in ("imL", "imR"):
            write_png(scene / f"{picture}.png", np.random.default_rng(0).integers(0, 256, TRUTH.shape).astype(np.uint8))
    return folder


class TestLayouts:
    def test_pictures_take_the_data_sets_scale(self, middlebury, tmp_path):
        maps = tmp_path / "mine"
        maps.mkdir()
        shifted = TRUTH + np.where(np.arange(40) % 4 == 0, 2, 0).astype(np.float32)  # every fourth column is 2 px off
        write_png(maps / "art.png", (shifted * 4).astype(np.uint8))
        write_png(maps / "books.png", (shifted * 8).astype(np.uint8))
        found = scores(maps, middlebury, "--delta", "0.5,1,2")
        assert found["signature"] == "disparity|delta:0.5,1,2|regions:nonocc,all,disc|masks:given|invalid:bad|v:1"
        assert list(found["systems"]) == ["mine"]
        mean = found["systems"]["mine"]["mean"]
        assert set(found["systems"]["mine"]["images"]) == {"art", "books"}
        assert mean["all"]["bad(1)"] == 25
        assert mean["all"]["bad(2)"] == 0
        assert mean["nonocc"]["epe"] == pytest.approx(0.5)
        assert mean["disc"]["rms"] == pytest.approx(1)
        assert found["units"]["bad(1)"] == "%"

    def test_other_formats_hold_pixels_and_scenes_may_have_folders(self, middlebury, tmp_path):
        maps = tmp_path / "folders"
        for name in ("art", "books"):
            (maps / name).mkdir(parents=True)
        write_disparity(maps / "art" / "disp0.pfm", TRUTH)
        np.save(maps / "books" / "map.npy", TRUTH)
        assert scores(maps, middlebury)["systems"]["folders"]["mean"]["all"]["rms"] == 0

    def test_an_explicit_scale_wins_and_is_part_of_the_signature(self, middlebury, tmp_path):
        maps = tmp_path / "tens"
        maps.mkdir()
        for name in ("art", "books"):
            write_png(maps / f"{name}.png", (TRUTH * 10).astype(np.uint8))
        found = scores(maps, middlebury, "--scale", "10")
        assert found["systems"]["tens"]["mean"]["all"]["epe"] == 0
        assert "scale:10" in found["signature"]

    def test_a_wrong_scale_is_doubted(self, middlebury, tmp_path):
        maps = tmp_path / "wrong"
        maps.mkdir()
        for name in ("art", "books"):
            write_png(maps / f"{name}.png", (TRUTH * 16).astype(np.uint8))
        assert "is the scale right?" in call("disparity", maps, middlebury, "--scale", "1").stderr

    def test_a_plain_folder_and_single_files(self, tmp_path):
        for folder in ("maps", "truths"):
            (tmp_path / folder).mkdir()
            write_disparity(tmp_path / folder / "one.pfm", TRUTH)
        found = scores(tmp_path / "maps", tmp_path / "truths")
        assert found["systems"]["maps"]["images"]["one"]["all"]["bad(1)"] == 0
        assert "masks:derived" in found["signature"]
        found = scores(tmp_path / "maps" / "one.pfm", tmp_path / "truths" / "one.pfm", "--region", "all")
        assert found["systems"]["one"]["mean"]["all"]["density"] == 100

    def test_one_scene_of_a_data_set(self, middlebury, tmp_path):
        write_disparity(tmp_path / "books.pfm", TRUTH + 1)
        for truth in (middlebury, middlebury / "books"):
            found = scores(tmp_path / "books.pfm", truth, "--delta", "1")
            assert list(found["systems"]["books"]["images"]) == ["books"]
            assert found["systems"]["books"]["mean"]["nonocc"]["epe"] == 1
            assert "masks:given" in found["signature"]
        write_disparity(tmp_path / "other.pfm", TRUTH)
        assert "has its name" in call("disparity", tmp_path / "other.pfm", middlebury, status=2).stderr

    def test_kittis_example(self, shared_data):
        found = scores(shared_data / "kitti" / "disp_est.png", shared_data / "kitti", "--delta", "3", "--region", "all")
        assert round(found["systems"]["disp_est"]["mean"]["all"]["bad(3)"], 3) == 7.894

    def test_the_truth_itself_is_perfect_on_middlebury(self, shared_data, tmp_path):
        for scene in ("tsukuba", "venus", "teddy", "cones"):
            truth = Image.open(shared_data / "middlebury-v2" / scene / "groundtruth.png").convert("L")
            truth.save(tmp_path / f"{scene}.png")
        found = scores(tmp_path, shared_data / "middlebury-v2", "--delta", "0")
        (system,) = found["systems"].values()
        assert len(system["images"]) == 4
        assert all(system["mean"][region]["bad(0)"] == 0 for region in ("nonocc", "all", "disc"))


class TestOptions:
    def test_missing_estimates_are_bad_or_skipped(self, middlebury, tmp_path):
        holes = TRUTH.copy()
        holes[:, ::2] = np.nan
        maps = tmp_path / "half"
        maps.mkdir()
        for name in ("art", "books"):
            write_disparity(maps / f"{name}.pfm", holes)
        assert scores(maps, middlebury)["systems"]["half"]["mean"]["all"]["bad(1)"] == 50
        skipped = scores(maps, middlebury, "--invalid", "skip")
        assert (
            skipped["systems"]["half"]["mean"]["all"] | {"bad(1)": 0, "density": 50}
            == skipped["systems"]["half"]["mean"]["all"]
        )
        assert "invalid:skip" in skipped["signature"]

    def test_a_region_of_ones_own(self, middlebury, tmp_path):
        maps, sky = tmp_path / "maps", tmp_path / "sky"
        for folder in (maps, sky):
            folder.mkdir()
        wrong = TRUTH.copy()
        wrong[:5] += 9
        mask = np.zeros(TRUTH.shape, np.uint8)
        mask[:5] = 255
        for name in ("art", "books"):
            write_disparity(maps / f"{name}.pfm", wrong)
            write_png(sky / f"{name}.png", mask)
        found = scores(maps, middlebury, "--mask", f"sky={sky}", "--region", "all,sky")
        assert found["systems"]["maps"]["mean"]["sky"]["bad(1)"] == 100
        assert found["systems"]["maps"]["mean"]["all"]["bad(1)"] == pytest.approx(100 * 5 / 30)

    def test_views_need_no_truth_but_the_pictures(self, middlebury, tmp_path):
        maps = tmp_path / "maps"
        maps.mkdir()
        for name in ("art", "books"):
            write_disparity(maps / f"{name}.pfm", np.zeros_like(TRUTH))
        found = scores(maps, middlebury, "--views")
        assert found["views"]["maps"]["mean"]["inverse"] == {"mse": 0, "rmse": 0, "psnr": None, "visible": 100}

    def test_pictures_are_written(self, middlebury, tmp_path):
        maps = tmp_path / "maps"
        maps.mkdir()
        write_disparity(maps / "art.pfm", TRUTH)
        call("disparity", maps, middlebury, "--pictures", tmp_path / "pictures")
        assert Image.open(tmp_path / "pictures" / "maps" / "art.png").size[0] > 3 * TRUTH.shape[1]

    def test_a_run_is_kept_and_resumed(self, middlebury, tmp_path):
        maps = tmp_path / "maps"
        maps.mkdir()
        for name in ("art", "books"):
            write_disparity(maps / f"{name}.pfm", TRUTH)
        words = ("disparity", maps, middlebury, "--run", tmp_path / "run")
        assert "2 computed" in call(*words).stderr
        assert "2 reused" in call(*words).stderr


class TestFailures:
    def test_a_broken_map_fails_its_own_cell(self, middlebury, tmp_path):
        maps = tmp_path / "maps"
        maps.mkdir()
        write_disparity(maps / "art.pfm", TRUTH)
        (maps / "books.pfm").write_bytes(b"Pf\nnonsense")
        result = call("disparity", maps, middlebury, "--json", status=1)
        assert [failure["image"] for failure in json.loads(result.stdout)["failed"]] == ["books"]
        assert "failed: maps: books" in result.stderr

    def test_a_map_of_another_size_fails_with_both_sizes(self, middlebury, tmp_path):
        maps = tmp_path / "maps"
        maps.mkdir()
        write_disparity(maps / "art.pfm", TRUTH[:, :-1])
        assert "prediction is 39×30 but truth is 40×30" in call("disparity", maps, middlebury, status=1).stderr

    def test_a_scene_without_a_map_is_told(self, middlebury, tmp_path):
        maps = tmp_path / "maps"
        maps.mkdir()
        write_disparity(maps / "art.pfm", TRUTH)
        result = call("disparity", maps, middlebury, "--json")
        assert [path.endswith("books/groundtruth.png") for path in json.loads(result.stdout)["unpaired"]] == [True]
        assert "warning: 1 truth has no prediction: books; --list-unpaired\n" in result.stderr
        assert json.loads(result.stdout)["expected"] == {"maps": 2}
        assert "mean over scenes: 1 of 2\n" in call("disparity", maps, middlebury).stdout
        assert (
            "1 truth has no prediction: books (--strict)"
            in call("disparity", maps, middlebury, "--strict", status=2).stderr
        )

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (["--delta", "x"], "expected numbers with commas"),
            (["--delta", "-1"], "none of them negative"),
            (["--region", "sky"], "give its masks by --mask sky=DIR"),
            (["--invalid", "ignore"], "expected bad or skip"),
            (["--mask", "sky"], "expected NAME=DIR"),
        ],
    )
    def test_a_wrong_call_says_what_was_expected(self, middlebury, tmp_path, words, sentence):
        (tmp_path / "maps").mkdir()
        write_disparity(tmp_path / "maps" / "art.pfm", TRUTH)
        assert sentence in call("disparity", tmp_path / "maps", middlebury, *words, status=2).stderr

    def test_nothing_there(self, tmp_path):
        assert "no file or folder" in call("disparity", tmp_path / "none", tmp_path, status=2).stderr
        (tmp_path / "maps").mkdir()
        assert "nor a stereo data set" in call("disparity", tmp_path / "maps", "middlebury-v9", status=2).stderr


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    call("scenes", folder, "--count", "2", "--size", "120x80", "--leaves", "6")
    return folder


class TestStereo:
    def test_systems_are_matched_scored_and_compared(self, world, tmp_path):
        call("stereo", world, "--with", "sad(window=5),census", "--disparities", "12", "--out", tmp_path / "maps")
        assert sorted(path.name for path in (tmp_path / "maps").iterdir() if path.is_dir()) == [
            "census",
            "sad(window=5)",
        ]
        first, second = tmp_path / "maps" / "census", tmp_path / "maps" / "sad(window=5)"
        found = scores(first, world, "--system", second, "--run", tmp_path / "run")
        assert all(0 < system["mean"]["nonocc"]["bad(1)"] < 90 for system in found["systems"].values())
        compared = json.loads(call("compare", tmp_path / "run", "--json").stdout)
        assert set(compared["optimal"]) <= {"census", "sad(window=5)"}
        assert len(compared["criteria"]) == 2 * 3

    def test_what_a_system_needs_is_checked_before_any_map_is_written(self, world, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "cv2", None)  # importing it fails
        done = call("stereo", world, "--with", "census,sgm-opencv", "--out", tmp_path / "maps", status=2)
        assert "sgm-opencv needs OpenCV: pip install" in done.stderr
        assert not [path for path in (tmp_path / "maps").rglob("*") if path.is_file()]

    def test_help_names_every_system(self):
        assert tuple(SYSTEMS) == (*BUILT_IN, "sgm-opencv")

    def test_seconds_per_pair_are_told(self, world, tmp_path):
        words = ("stereo", world, "--with", "sad,dp", "--out", tmp_path / "maps")
        found = json.loads(call(*words, "--json").stdout)["systems"]
        assert all(0 < one["seconds"] < 60 for one in found.values())
        assert call(*words).stdout.count(" s each") == 2

    def test_an_unknown_system_is_a_wrong_call(self, world, tmp_path):
        result = call("stereo", world, "--with", "graphcuts", "--out", tmp_path, status=2)
        assert "there are sad, ssd, census" in result.stderr
        result = call("stereo", world, "--with", "sad(colour=3)", "--out", tmp_path, status=2)
        assert "sad has no option colour" in result.stderr

    def test_data_without_pictures_fails_by_name(self, tmp_path):
        (tmp_path / "truths").mkdir()
        write_disparity(tmp_path / "truths" / "one.pfm", TRUTH)
        result = call("stereo", tmp_path / "truths", "--out", tmp_path / "maps", status=1)
        assert "failed: one: the pictures of the pair are not with the data" in result.stderr

    def test_written_maps_read_back(self, world, tmp_path):
        call("stereo", world, "--with", "sad", "--disparities", "8", "--out", tmp_path)
        (first, *_) = sorted((tmp_path / "sad").iterdir())
        assert read_disparity(first).shape == (80, 120)
