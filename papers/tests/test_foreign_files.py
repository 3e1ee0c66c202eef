"""Studies leave other people's maps as they are, even under the names that studies use."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data.scenes import write_scenes
from hyperacuity.detect import orderer
from hyperacuity.outputs import LIST
from hyperacuity_papers.maire2016 import study as maire2016

MINE = b"three years of work"
NOTES = (
    Path("notes.txt"),
    Path("maps", "mydetector", "a.png"),
    Path("maps", "sad", "mine.pfm"),
    Path("maps", "ae", "notes"),
)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project folder with maps in it, where commands run with ``--out .``; no data set is at hand."""
    folder = tmp_path / "project"
    for path in NOTES:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(MINE)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HYPERACUITY_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr("hyperacuity.data.datasets.layouts.user_cache_path", lambda name: tmp_path / "no cache")
    return folder


def study(*words):
    return CliRunner().invoke(app, ["study", *map(str, words)])


def assert_untouched(folder, *more):
    assert [(folder / path).read_bytes() for path in (*NOTES, *more)] == [MINE] * (len(NOTES) + len(more))


@pytest.fixture
def small(monkeypatch):
    systems = {name: orderer(name) for name in ("ucm-tj", "ae")}
    monkeypatch.setattr(maire2016, "SCENES", range(1, 3))
    monkeypatch.setattr(maire2016, "SIZE", (96, 64))
    monkeypatch.setattr(maire2016, "available_systems", lambda: systems)


def test_the_figure_ground_study_leaves_maps_of_others_alone(small, project):
    for _ in range(2):
        done = study("maire2016", "--out", ".", "--no-figures")
        assert done.exit_code == 0, done.output
        assert_untouched(project)


@pytest.mark.parametrize(
    "path", ["maps/ae/image-only/scene-0001.pfm", "maps/ucm-tj/regions/scene-0002.npy", "table1.csv"]
)
def test_the_figure_ground_study_says_whose_map_is_in_its_way(small, project, path):
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    (project / path).write_bytes(MINE)
    done = study("maire2016", "--out", ".", "--no-figures")
    assert done.exit_code == 2, done.output
    assert f"{path}: was not written by hyperacuity" in done.stderr
    assert_untouched(project, Path(path))


def test_the_stereo_study_leaves_maps_of_others_alone(project, tmp_path, monkeypatch):
    """As ``stereo --out maps`` writes to the same folder, its map of a scene of the user's stays too."""
    write_scenes(tmp_path / "pair", [7], size=(64, 64))
    mine = CliRunner().invoke(
        app, ["stereo", str(tmp_path / "pair"), "--with", "sad", "--disparities", "4", "--out", "maps"]
    )
    assert mine.exit_code == 0, mine.output
    earlier = (project / "maps" / "sad" / "scene-0007.pfm").read_bytes()
    monkeypatch.setattr("hyperacuity_papers.cabezas2011.study.SCENE_COUNT", 1)
    monkeypatch.setattr("hyperacuity_papers.cabezas2011.study.SCENE_SIZE", (64, 64))
    done = study("cabezas2011", "--out", ".", "--no-figures")
    assert done.exit_code == 0, done.output
    assert_untouched(project)
    assert (project / "maps" / "sad" / "scene-0007.pfm").read_bytes() == earlier
    (project / "maps" / "census" / "scene-0001.pfm").write_bytes(MINE)
    done = study("cabezas2011", "--out", ".", "--no-figures")
    assert done.exit_code == 2, done.output
    assert "maps/census/scene-0001.pfm: was changed since hyperacuity wrote it" in done.stderr
    assert_untouched(project, Path("maps", "census", "scene-0001.pfm"))


@pytest.mark.parametrize("words", ["shift", "noise shapes --levels 0,4", "blur shapes"])
def test_the_edge_studies_leave_files_of_others_alone(words, project):
    done = study(*words.split(), "--out", ".")
    assert done.exit_code == 0, done.output
    assert_untouched(project)
    written = sorted(path.relative_to(project) for path in project.glob("*.*") if path.name not in (LIST, "notes.txt"))
    assert written
    for path in written:
        (project / path).write_bytes(MINE)
    done = study(*words.split(), "--out", ".")
    assert done.exit_code == 2, done.output
    assert "so it is not overwritten" in done.stderr
    assert_untouched(project, *written)
