"""``hyperacuity study pb`` on a small world laid out as BSDS500 is."""

from __future__ import annotations

import json
import shutil

import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data.scenes import make_scene, write_scene


@pytest.fixture(scope="module")
def bsds(tmp_path_factory):
    made, folder = tmp_path_factory.mktemp("made"), tmp_path_factory.mktemp("data") / "BSDS500"
    for seed, part in enumerate(("train", "val", "test"), 1):
        write_scene(made, make_scene(seed, size=(120, 80), leaves=6))
        for kind in ("images", "groundTruth"):
            (folder / kind / part).mkdir(parents=True)
            for file in (made / kind).glob(f"scene-{seed:04d}.*"):
                shutil.copy(file, folder / kind / part)
    return folder


def test_pb_is_learned_from_both_kinds_of_labels_and_tested_on_both(bsds, tmp_path):
    done = CliRunner().invoke(app, ["study", "pb", "--data", str(bsds), "--out", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found["models"]) == ["all", "consensus"]
    assert found["models"]["all"]["weights"] != found["models"]["consensus"]["weights"]
    assert set(found["scores"]) == {"pb, all labels", "pb, consensus labels"}
    assert all(0 < score["all"] <= 1 for score in found["scores"].values())
    photo = bsds / "images" / "test" / "scene-0003.png"
    named = f"pb(model='{tmp_path / 'pb-all.json'}')"
    again = CliRunner().invoke(app, ["detect", str(photo), "--with", named, "--out", str(tmp_path / "again")])
    assert again.exit_code == 0, again.stderr
    written = tmp_path / "again" / "pb(model='pb-all.json')" / "scene-0003.png"
    assert written.read_bytes() == (tmp_path / "maps" / "pb-all" / "scene-0003.png").read_bytes()
    words = ["detect", "train", "pb", "--truth", "consensus", "--data", str(bsds), "--out", str(tmp_path / "same.json")]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert (tmp_path / "same.json").read_bytes() == (tmp_path / "pb-consensus.json").read_bytes()


def test_other_labels_are_a_wrong_call(tmp_path):
    done = CliRunner().invoke(app, ["study", "pb", "--truth", "some", "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert "expected all or consensus" in done.stderr
