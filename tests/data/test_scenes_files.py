"""Scenes as files: the readers take them as they are, and the command behaves."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data.formats.images import read_image
from hyperacuity.data.readers import (
    read_boundary_truths,
    read_disparity,
    read_edges,
    read_labels,
    read_mask,
    read_order,
    read_segmentations,
)
from hyperacuity.data.scenes import VERSION, make_scene, write_scenes
from hyperacuity.errors import UsageError
from hyperacuity.outputs import LIST

SIZE = (96, 64)


def contents(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / LIST)
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_readers_give_back_every_array(tmp_path: Path) -> None:
    write_scenes(tmp_path, [5], size=SIZE)
    scene = make_scene(5, size=SIZE)
    name = "scene-0005"
    assert np.array_equal(read_image(tmp_path / "images" / f"{name}.png"), scene.image)
    assert np.array_equal(read_image(tmp_path / "right" / f"{name}.png"), scene.right)
    assert np.array_equal(read_labels(tmp_path / "labels" / f"{name}.png"), scene.labels)
    assert np.array_equal(read_edges(tmp_path / "boundaries" / f"{name}.png"), scene.boundaries)
    assert np.array_equal(read_order(tmp_path / "order" / f"{name}.npy"), scene.order)
    assert np.array_equal(np.nan_to_num(read_order(tmp_path / "ownership" / f"{name}.npy")), scene.ownership)
    assert np.array_equal(read_disparity(tmp_path / "disparity" / f"{name}.pfm"), scene.disparity)
    assert np.array_equal(read_disparity(tmp_path / "disparity_right" / f"{name}.pfm"), scene.disparity_right)
    for region, mask in scene.masks.items():
        assert np.array_equal(read_mask(tmp_path / "masks" / region / f"{name}.png"), mask)
    truths = [tmp_path / "groundTruth" / f"{name}.mat"]
    for annotation, labels, edges in zip(
        scene.annotators, read_segmentations(truths), read_boundary_truths(truths), strict=True
    ):
        assert np.array_equal(labels, annotation.labels + 1)
        assert np.array_equal(edges, annotation.boundaries)


def test_files_are_the_same_however_many_are_made_at_once(tmp_path: Path) -> None:
    write_scenes(tmp_path / "one", range(3), size=SIZE, jobs=1)
    write_scenes(tmp_path / "many", range(3), size=SIZE, jobs=3)
    assert contents(tmp_path / "one") == contents(tmp_path / "many")


def test_a_scene_depends_on_its_seed_and_not_on_its_place_in_the_row(tmp_path: Path) -> None:
    write_scenes(tmp_path / "row", [1, 2], size=SIZE)
    write_scenes(tmp_path / "alone", [2], size=SIZE)
    row = contents(tmp_path / "row")
    for path, data in contents(tmp_path / "alone").items():
        assert path == "scenes.json" or row[path] == data


def test_the_list_says_what_was_asked_for(tmp_path: Path) -> None:
    write_scenes(tmp_path, [1], size=SIZE, noise=0.0)
    summary = json.loads((tmp_path / "scenes.json").read_text())
    assert summary["version"] == VERSION
    assert summary["options"] == {"size": [96, 64], "noise": 0.0}
    (facts,) = summary["scenes"]
    scene = make_scene(1, size=SIZE, noise=0.0)
    assert facts["name"] == "scene-0001"
    assert facts["regions"] == scene.labels.max() + 1
    assert facts["occluded"] == pytest.approx(1 - scene.nonocc.mean())


def test_pictures_of_another_call_are_not_mixed_in(tmp_path: Path) -> None:
    write_scenes(tmp_path, [1], size=SIZE)
    write_scenes(tmp_path, [1], size=SIZE)
    with pytest.raises(UsageError, match="already holds scene-0001"):
        write_scenes(tmp_path, [2], size=SIZE)


class TestCommand:
    def test_json_is_one_object_and_nothing_else(self, tmp_path: Path) -> None:
        call = ["scenes", str(tmp_path / "out"), "--count", "2", "--size", "96x64", "--seed", "7", "--json"]
        result = CliRunner().invoke(app, call)
        assert result.exit_code == 0
        summary = json.loads(result.stdout)
        assert [facts["name"] for facts in summary["scenes"]] == ["scene-0007", "scene-0008"]
        assert len(list((tmp_path / "out" / "groundTruth").iterdir())) == 2

    def test_it_prints_a_table_by_default(self, tmp_path: Path) -> None:
        result = CliRunner().invoke(app, ["scenes", str(tmp_path), "--count", "1", "--size", "96x64"])
        assert result.exit_code == 0
        (row,) = [line for line in result.stdout.splitlines() if "scene-0001" in line]
        scene = make_scene(1, size=(96, 64))
        shown = re.findall(r"[\d.]+", row.partition("scene-0001")[2])
        assert int(shown[0]) == len(np.unique(scene.objects))
        assert int(shown[1]) == scene.labels.max() + 1

    @pytest.mark.parametrize("size", ["480", "wide", "480x", "0x0", "-1x5"])
    def test_a_size_that_is_none_is_refused(self, tmp_path: Path, size: str) -> None:
        result = CliRunner().invoke(app, ["scenes", str(tmp_path / "out"), f"--size={size}"])
        assert result.exit_code == 2
        assert size in result.stderr
        assert result.stdout == ""
