"""``hyperacuity detect train pb`` as a user calls it, on a small world laid out as BSDS500 is."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data.scenes import make_scene, write_scene
from hyperacuity.detect.pb_detector import PbModel, load_model


@pytest.fixture(scope="module")
def bsds(tmp_path_factory):
    made, folder = tmp_path_factory.mktemp("made"), tmp_path_factory.mktemp("data") / "BSDS500"
    for part in ("train", "val", "test"):
        for kind in ("images", "groundTruth"):
            (folder / kind / part).mkdir(parents=True)
    for seed in (1, 2):
        write_scene(made, make_scene(seed, size=(160, 120), leaves=8))
        for kind in ("images", "groundTruth"):
            for file in (made / kind).glob(f"scene-{seed:04d}.*"):
                shutil.copy(file, folder / kind / "train")
    return folder


def call(*words):
    return CliRunner().invoke(app, [*map(str, words)])


def learn(*words):
    return call("detect", "train", "pb", *words)


def test_the_labels_that_everyone_drew_teach_something_else_than_all(bsds, tmp_path):
    told = {}
    for truth in ("all", "consensus"):
        done = learn("--data", bsds, "--truth", truth, "--out", tmp_path / f"{truth}.json", "--json")
        assert done.exit_code == 0, done.stderr
        told[truth] = json.loads(done.stdout)
    assert told["all"]["images"] == 2
    assert told["all"]["boundaries"] > told["consensus"]["boundaries"] > 0
    assert told["all"]["pixels"] > told["consensus"]["pixels"], "pixels near weak labels are left out"
    assert told["all"]["weights"] != told["consensus"]["weights"]
    for name, one in told.items():
        model = load_model(tmp_path / f"{name}.json")
        assert model.about == one["about"]
        assert f"hyperacuity detect train pb with `truth='{name}'`" in model.about
        np.testing.assert_allclose(model.weights, list(one["weights"].values()), atol=1e-4)


def test_weak_labels_may_count_as_no_boundary(bsds, tmp_path):
    done = learn("--data", bsds, "--truth", "consensus", "--weak", "negative", "--out", tmp_path / "my.json", "--json")
    assert done.exit_code == 0, done.stderr
    ignored = json.loads(learn("--data", bsds, "--truth", "consensus", "--out", tmp_path / "i.json", "--json").stdout)
    negative = json.loads(done.stdout)
    assert negative["pixels"] > ignored["pixels"]
    assert negative["pixels"] * negative["boundaries"] == pytest.approx(ignored["pixels"] * ignored["boundaries"])
    assert "`weak='negative'`" in negative["about"]


def test_folders_of_pictures_and_labels_teach_what_the_data_set_does(bsds, tmp_path):
    labels = bsds / "groundTruth" / "train"
    mine = learn("--images", bsds / "images" / "train", "--labels", labels, "--out", tmp_path / "new" / "mine.json")
    assert mine.exit_code == 0, mine.stderr
    assert "Learned from 2 images and all labels" in mine.stdout
    assert "brightness" in mine.stdout
    assert learn("--data", bsds, "--workers", 1, "--out", tmp_path / "set.json").exit_code == 0
    one, other = load_model(tmp_path / "new" / "mine.json"), load_model(tmp_path / "set.json")
    assert np.array_equal(one.weights, other.weights)
    assert np.array_equal(one.textons, other.textons)


def test_a_learned_model_detects_in_one_folder_whatever_its_path(bsds, tmp_path):
    assert learn("--data", bsds, "--hist-distance", "quadratic", "--out", tmp_path / "my.json").exit_code == 0
    photo = bsds / "images" / "train" / "scene-0001.png"
    named = f"pb(model='{tmp_path / 'my.json'}')"
    done = call("detect", photo, "--with", f"sobel,{named}", "--out", tmp_path / "maps")
    assert done.exit_code == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "maps").glob("[!.]*")) == ["pb(model='my.json')", "sobel"]
    assert (tmp_path / "maps" / "pb(model='my.json')" / "scene-0001.png").exists()


def test_two_models_of_one_name_would_share_a_folder(bsds, tmp_path):
    photo = bsds / "images" / "train" / "scene-0001.png"
    models = []
    for name in "ab":
        (tmp_path / name).mkdir()
        PbModel(np.zeros((4, 26)), np.zeros(5), "").save(tmp_path / name / "my.json")
        models.append(f"pb(model='{tmp_path / name / 'my.json'}')")
    done = call("detect", photo, "--with", ",".join(models), "--out", tmp_path / "maps")
    assert done.exit_code == 2
    assert "is taken already" in done.stderr


def test_a_model_that_is_not_there_is_told_once(bsds, tmp_path):
    done = call("detect", bsds / "images" / "train", "--with", "pb(model='my.json')", "--out", tmp_path)
    assert done.exit_code == 2
    assert "there is no file my.json" in done.stderr
    bare = call("detect", bsds / "images" / "train", "--with", "pb(model=my.json)", "--out", tmp_path)
    assert bare.exit_code == 2
    assert "words in quotes" in bare.stderr


def test_a_folder_called_train_is_still_a_folder_of_pictures(bsds, tmp_path, monkeypatch):
    monkeypatch.chdir(bsds / "images")
    done = call("detect", "train", "--with", "sobel", "--out", tmp_path)
    assert done.exit_code == 0, done.stderr
    assert len(list((tmp_path / "sobel").iterdir())) == 2


def test_pictures_without_a_boundary_teach_nothing(bsds, tmp_path):
    labels = tmp_path / "labels"
    labels.mkdir()
    for path in (bsds / "images" / "train").glob("*.png"):
        np.save(labels / f"{path.stem}.npy", np.zeros((120, 160), bool))
    done = learn("--images", bsds / "images" / "train", "--labels", labels, "--out", tmp_path / "my.json")
    assert done.exit_code == 1
    assert "nothing to learn" in done.stderr
    assert not (tmp_path / "my.json").exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--truth", "some"], "expected all or consensus"),
        (["--weak", "positive"], "expected ignore or negative"),
        (["--hist-distance", "emd"], "expected chi2 or quadratic"),
        (["--images", "{bsds}"], "--images needs --labels"),
        (["--data", "{bsds}/images"], "bsds500 is not in"),
    ],
)
def test_wrong_calls_exit_with_2(words, complaint, bsds, tmp_path):
    done = learn(*(word.format(bsds=bsds) for word in words), "--out", tmp_path / "my.json")
    assert done.exit_code == 2
    assert complaint in done.stderr


def test_a_folder_cannot_be_the_model(tmp_path):
    done = learn("--out", tmp_path)
    assert done.exit_code == 2
    assert "is a folder" in done.stderr


def test_train_without_the_name_of_a_detector_says_how_it_is_called(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call("detect", "train", "--out", "maps")
    assert done.exit_code == 2
    assert "hyperacuity detect train pb" in done.stderr
    assert "hyperacuity detect train pb" in call("detect", "--help").stdout


RESERVED = "100098"


@pytest.fixture
def with_reserved(bsds, tmp_path):
    """The small world with one more image, under a reserved name."""
    folder = tmp_path / "more" / "BSDS500"
    shutil.copytree(bsds, folder)
    for kind, suffix in (("images", "png"), ("groundTruth", "mat")):
        shutil.copy(folder / kind / "train" / f"scene-0001.{suffix}", folder / kind / "train" / f"{RESERVED}.{suffix}")
    shutil.copytree(folder / "images" / "train", folder / "images" / "val", dirs_exist_ok=True)
    shutil.copytree(folder / "groundTruth" / "train", folder / "groundTruth" / "val", dirs_exist_ok=True)
    return folder


def test_reserved_images_are_left_out_and_counted(bsds, with_reserved, tmp_path):
    told = json.loads(learn("--data", with_reserved, "--out", tmp_path / "a.json", "--json").stdout)
    assert (told["images"], told["left_out"]) == (2, 1)
    assert "2 of the 3 training images of BSDS500 (left out, as reserved for measuring: 1)" in told["about"]
    assert learn("--data", bsds, "--out", tmp_path / "b.json").exit_code == 0
    assert np.array_equal(load_model(tmp_path / "a.json").weights, load_model(tmp_path / "b.json").weights)


def test_reserved_images_can_be_allowed_and_the_model_says_so(with_reserved, tmp_path):
    done = learn("--data", with_reserved, "--allow-reserved", "--out", tmp_path / "a.json", "--json")
    told = json.loads(done.stdout)
    assert (told["images"], told["left_out"]) == (3, 0)
    assert "`allow_reserved=True`" in told["about"]


def test_validation_images_may_teach_too(with_reserved, tmp_path):
    done = learn("--data", with_reserved, "--split", "train,val", "--out", tmp_path / "a.json", "--json")
    told = json.loads(done.stdout)
    assert (told["images"], told["left_out"]) == (4, 2)
    assert "4 of the 6 training and validation images of BSDS500" in told["about"]
    assert "`split='train,val'`" in told["about"]
    wrong = learn("--data", with_reserved, "--split", "test", "--out", tmp_path / "a.json")
    assert wrong.exit_code == 2
    assert "expected train or train,val" in wrong.stderr


def test_a_folder_of_ones_own_with_reserved_names_is_refused_unless_allowed(with_reserved, tmp_path):
    folders = ["--images", with_reserved / "images" / "train", "--labels", with_reserved / "groundTruth" / "train"]
    refused = learn(*folders, "--out", tmp_path / "a.json")
    assert refused.exit_code == 2
    assert RESERVED in refused.stderr
    assert "--allow-reserved" in refused.stderr
    assert not (tmp_path / "a.json").exists()
    allowed = learn(*folders, "--allow-reserved", "--out", tmp_path / "a.json", "--json")
    assert allowed.exit_code == 0, allowed.stderr
    assert json.loads(allowed.stdout)["images"] == 3


def test_depth_cues_refuse_reserved_names_too(tmp_path):
    for seed in (1, 2):
        write_scene(tmp_path, make_scene(seed, size=(160, 120), leaves=8))
    for path in sorted(tmp_path.glob("*/scene-0002.*")):
        path.rename(path.with_name(f"{RESERVED}{path.suffix}"))
    folders = ["--images", tmp_path / "images", "--order", tmp_path / "order", "--segmentation", tmp_path / "labels"]
    words = ["detect", "train", "depth-cues", *folders, "--out", tmp_path / "my.json"]
    refused = call(*words)
    assert refused.exit_code == 2
    assert RESERVED in refused.stderr
    allowed = call(*words, "--allow-reserved", "--json")
    assert allowed.exit_code == 0, allowed.stderr
    assert json.loads(allowed.stdout)["images"] == 2


def test_the_held_out_third_cannot_be_allowed(tmp_path):
    done = call("detect", "train", "depth-cues", "--allow-reserved", "--out", tmp_path / "my.json")
    assert done.exit_code == 2
    assert "is always held out" in done.stderr
