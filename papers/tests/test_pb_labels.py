"""``hyperacuity study pb`` on a small world laid out as BSDS500 is."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app


def test_pb_is_learned_from_both_kinds_of_labels_and_tested_on_both(bsds, tmp_path):
    done = CliRunner().invoke(app, ["study", "pb", "--data", str(bsds), "--out", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found["models"]) == ["all", "consensus"]
    assert found["models"]["all"]["weights"] != found["models"]["consensus"]["weights"]
    assert set(found["scores"]) == {"pb, all labels", "pb, consensus labels"}
    for name in ("all", "consensus"):
        words = ["boundary", str(tmp_path / "maps" / f"pb-{name}"), str(bsds / "groundTruth" / "test"), "--json"]
        judged = json.loads(CliRunner().invoke(app, words).stdout)["systems"][f"pb-{name}"]
        score = found["scores"][f"pb, {name} labels"]
        assert score["all"] == pytest.approx(judged["ods"]["f"])
        assert score["consensus"] < score["all"], "precision falls when fewer labels count"
        assert score["images"] == 1
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
