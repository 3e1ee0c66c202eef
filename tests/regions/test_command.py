"""``hyperacuity regions`` as a user calls it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import write_labels, write_mat, write_segs, write_soft, write_truths
from hyperacuity.maps import boundary_marks, label_map
from hyperacuity.regions import hierarchy

LEFT_RIGHT = np.repeat([[1, 1, 1, 2, 2, 2]], 4, axis=0).astype(np.int32)
RIDGE = np.where(np.arange(6) == 2, np.float32(0.6), np.float32(0)) * np.ones((4, 1), np.float32)


def regions(*arguments):
    return CliRunner().invoke(app, ["regions", *map(str, arguments)], env={"COLUMNS": "120"})


@pytest.fixture
def folders(tmp_path):
    """A truth of two halves; a hierarchy that has them below 0.6, segmentations that have them at the second level."""
    for name in ("truth", "ucm", "segs", "soft"):
        (tmp_path / name).mkdir()
    for image in ("a", "b"):
        write_truths(tmp_path / "truth" / f"{image}.mat", [LEFT_RIGHT])
        write_mat(tmp_path / "ucm" / f"{image}.mat", ucm2=hierarchy(RIDGE).ucm2())
        write_segs(tmp_path / "segs" / f"{image}.mat", [np.ones_like(LEFT_RIGHT), LEFT_RIGHT])
        write_soft(tmp_path / "soft" / f"{image}.png", RIDGE, bits=16)
    return tmp_path


def test_hierarchies_and_segmentations_side_by_side(folders):
    done = regions(folders / "ucm", folders / "truth", "--system", f"stack={folders / 'segs'}", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["signature"] == "regions|levels:99|gt:all|v:1"
    assert found["images"] == 2
    for system, level in (("ucm", 0.01), ("stack", 2)):
        scores = found["systems"][system]
        assert (scores["covering"]["ods"], scores["covering"]["ois"], scores["covering"]["best"]) == (1, 1, 1)
        assert (scores["pri"]["ods"], scores["vi"]["ods"]) == (1, 0)
        assert scores["covering"]["level"] == pytest.approx(level)


def test_soft_maps_are_made_into_hierarchies_and_say_so(folders):
    done = regions(folders / "soft", folders / "truth", "--as", "soft", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["signature"] == "regions|levels:99|gt:all|from:soft|v:1"
    assert found["systems"]["soft"]["covering"]["ods"] == 1


def test_berkeleys_files_are_written_in_a_folder_per_system(folders):
    out = folders / "eval"
    assert regions(folders / "ucm", folders / "truth", "--berkeley", out).exit_code == 0
    assert (out / "eval_cover.txt").read_text().split() == ["0.01", "1", "1", "1"]
    several = regions(folders / "ucm", folders / "truth", "--system", f"stack={folders / 'segs'}", "--berkeley", out)
    assert several.exit_code == 0
    assert (out / "stack" / "eval_cover_th.txt").read_text() == "         1        0.5\n         2          1\n"


def test_a_run_folder_is_resumed(folders):
    run = folders / "run"
    first, second = (regions(folders / "ucm", folders / "truth", "--run", run, "--json") for _ in range(2))
    assert json.loads(first.stdout) == json.loads(second.stdout)
    assert "2 reused" in second.stderr


def test_the_table_names_every_measure(folders):
    done = regions(folders / "segs", folders / "truth")
    assert done.exit_code == 0
    assert all(word in done.stdout for word in ("covering", "PRI", "VI", "ODS", "OIS", "regions|levels:99"))


def test_an_image_of_another_size_fails_alone(folders):
    write_segs(folders / "segs" / "b.mat", [np.ones((3, 3), np.int32)])
    done = regions(folders / "segs", folders / "truth", "--json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert [failure["image"] for failure in found["failed"]] == ["b"]
    assert found["systems"]["segs"]["images"] == 1


def test_a_missing_folder_is_a_wrong_call(folders):
    assert regions(folders / "nowhere", folders / "truth").exit_code == 2
    assert regions(folders / "ucm", folders / "nowhere").exit_code == 2


def test_soft_maps_the_other_way_round_give_the_same_regions(tmp_path):
    dice = np.random.default_rng(2)
    labels = np.repeat(np.repeat(dice.integers(0, 4, (3, 4)), 12, axis=0), 12, axis=1)
    soft = boundary_marks(label_map(labels)).astype(np.float32)
    for folder in ("truth", "maps", "turned"):
        (tmp_path / folder).mkdir()
    write_labels(tmp_path / "truth" / "a.png", label_map(labels))
    write_soft(tmp_path / "maps" / "a.png", soft)
    write_soft(tmp_path / "turned" / "a.png", 1 - soft)
    words = [str(tmp_path / "truth"), "--as", "soft", "--json"]
    good = json.loads(CliRunner().invoke(app, ["regions", str(tmp_path / "maps"), *words]).stdout)
    mended = CliRunner().invoke(app, ["regions", str(tmp_path / "turned"), *words, "--invert-prediction"])
    found = json.loads(mended.stdout)
    assert found["systems"]["turned"] == good["systems"]["maps"]
    assert "|from:soft|prediction:inverted|" in found["signature"]
