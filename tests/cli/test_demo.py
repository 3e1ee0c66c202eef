"""The step of the demo that sees a picture. The whole tour runs in test_manners.py."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app, demo

SHORT = """
scenes {out}/scenes --count {count} --size {size} --seed {seed}
see {seen} --setting fast --out {out}/seen
"""


@pytest.fixture
def short(monkeypatch, tmp_path):
    """The demo with scenes and seeing alone, where no photographs are found."""
    monkeypatch.setattr("hyperacuity.cli.demo.TOUR", SHORT)
    monkeypatch.setenv("HYPERACUITY_DATA", str(tmp_path))
    return ["demo", str(tmp_path / "out"), "--count", "1", "--size", "96x64"]


def test_a_scene_is_seen(short, tmp_path):
    pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install '.[see]'")
    done = CliRunner().invoke(app, short)
    assert done.exit_code == 0, done.stderr
    assert [path.name for path in (tmp_path / "out" / "seen" / "sheets").iterdir()] == ["scene-0001.png"]
    assert "What is seen in a picture" in done.stdout


def test_without_onnxruntime_it_goes_on_with_one_sentence(short, monkeypatch):
    monkeypatch.setattr("hyperacuity.cli.demo.find_spec", lambda name: None)
    done = CliRunner().invoke(app, [*short, "--json"])
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["sheets"] is None
    assert len(found["steps"]) == 1, "the scenes were made"
    assert done.stderr.count("hyperacuity see is left out, for it needs onnxruntime: pip install") == 1


def test_the_tour_sees_what_is_at_hand(monkeypatch, tmp_path):
    for folder in ("images", "groundTruth"):
        (tmp_path / "bsds500" / folder / "val").mkdir(parents=True)
    for name in (*demo.PHOTOGRAPHS[:1], "1"):
        (tmp_path / "bsds500" / "images" / "val" / f"{name}.jpg").touch()
    monkeypatch.setenv("HYPERACUITY_DATA", str(tmp_path))
    assert [path.rsplit("/", 1)[1] for path in demo._photographs()] == [f"{demo.PHOTOGRAPHS[0]}.jpg"]
