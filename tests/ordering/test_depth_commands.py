"""Occlusion boundaries, pairs of points and depth boundaries from files, by commands and by ``evaluate``."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from scipy.io import savemat
from typer.testing import CliRunner

import hyperacuity as ha
from hyperacuity.cli import app
from hyperacuity.data import write_edges, write_soft
from hyperacuity.ordering import contours, depth_edges, ordering


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Two scenes, the true boundaries of which are given in three forms, and depth maps."""
    folder = tmp_path_factory.mktemp("depth")
    CliRunner().invoke(app, f"scenes {folder}/scenes --count 2 --size 96x64 --leaves 6".split())
    for name in ("one", "two/angles", "tangent", "angles", "order", "depth"):
        (folder / name).mkdir(parents=True)
    for path in sorted((folder / "scenes" / "order").iterdir()):
        order = np.load(path)
        found = contours(ordering(order))
        angle = np.nan_to_num(found.angle)
        np.save(folder / "one" / path.name, np.stack([found.pixels, angle]))
        write_soft(folder / "two" / f"{path.stem}.png", found.pixels.astype(np.float32))
        np.save(folder / "two" / "angles" / path.name, angle)
        edge_ori = {"edge": found.pixels.astype(float), "ori": np.radians(angle - 90)}
        savemat(folder / "tangent" / f"{path.stem}.mat", {"edge_ori": edge_ori})
        np.save(folder / "angles" / path.name, found.angle)
        np.save(folder / "order" / path.name, order)
        np.save(folder / "depth" / path.name, 1 / (1 + order))
    return folder


def run(words):
    done = CliRunner().invoke(app, [*words.split(), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize("system", ["one", "two", "tangent"])
def test_one_file_or_two_and_whatever_angles_are_the_truth_is_right(world, system):
    found = run(f"ordering occlusion {world}/{system} {world}/scenes --nms none --thresholds 9")["systems"][system]
    assert (found["opr"]["ods"]["f"], found["opr"]["ois"]["f"], found["aor"]["at_ods"]) == (1, 1, 1)
    assert found["boundary"]["ods"]["f"] == 1


def test_maps_of_angles_are_truths_too_and_runs_are_resumed(world, tmp_path):
    words = f"ordering occlusion {world}/one {world}/angles --nms none --thresholds 9 --run {tmp_path}/run"
    first, again = run(words), run(words)
    assert first == again
    assert first["systems"]["one"]["opr"]["ods"]["f"] == 1
    assert "2 of 2 cells" in CliRunner().invoke(app, words.split()).output


def test_what_published_numbers_count_is_a_protocol(world):
    found = run(f"ordering occlusion {world}/one {world}/scenes --protocol doobnet --angle 45 --thresholds 0.5")
    assert found["signature"] == (
        "occlusion|tol:0.0075diag|angle:45deg|recall:found|nms:structured-s1-r1|thin:none|thr:0.5|truth:orders|v:1"
    )


def test_a_soft_map_without_angles_says_where_they_belong(world, tmp_path):
    shutil.copytree(world / "two", tmp_path / "maps")
    (tmp_path / "maps" / "angles" / "scene-0002.npy").unlink()
    done = CliRunner().invoke(app, f"ordering occlusion {tmp_path}/maps {world}/scenes".split())
    assert done.exit_code == 2
    assert "holds no angles of scene-0002" in done.output
    np.save(tmp_path / "maps" / "scene-0001.npy", np.zeros((64, 96)))
    shutil.rmtree(tmp_path / "maps" / "angles")
    done = CliRunner().invoke(app, f"ordering occlusion {tmp_path}/maps {world}/scenes --glob *.npy".split())
    assert done.exit_code == 1
    assert "holds one channel, expected a soft map and its angles, or the angles in" in done.output


def test_labelled_contours_are_owned_boundaries(world, figure_ground_folder):
    result = ha.evaluate(
        "occlusion", figure_ground_folder / "maps", figure_ground_folder, nms="none", progress=False, human=True
    )
    assert result.score().opr.ods.f == 1
    assert (result.people.point.f, result.people.aor) == (1, 1)


@pytest.fixture
def figure_ground_folder(tmp_path):
    """An image that two subjects labelled alike: a square in front of the rest."""
    order = np.zeros((20, 30))
    order[5:15, 8:22] = 1
    labels = order.astype(int)
    sides = np.zeros_like(order)
    for axis in (0, 1):
        steps = np.diff(order, axis=axis) != 0
        for here, there in ((steps, 0), (steps, 1)):
            pad = [(0, 0), (0, 0)]
            pad[axis] = (there, 1 - there)
            sides[np.pad(here, pad)] = 1
    sides *= np.where(order > 0, 1, -1)
    segmenter = tmp_path / "seg" / "1"
    segmenter.mkdir(parents=True)
    rows = [f"{labels[y, x]} {y} {x} {x}" for y in range(20) for x in range(30)]
    head = ["format ascii cr", "width 30", "height 20", "segments 2", "data"]
    (segmenter / "7.seg").write_text("\n".join([*head, *rows]))
    (tmp_path / "fg" / "1").mkdir(parents=True)
    for subject in ("a", "b"):
        matrix = np.array(sides.shape, "<i4").tobytes() + sides.astype("<f8").tobytes(order="F")
        contour = np.array([1, 2], "<i4").tobytes() + np.array([1.0, -1.0]).tobytes()
        (tmp_path / "fg" / "1" / f"7-{subject}.fg").write_bytes(b"MATRIX ARRAY 2\n" + matrix + contour)
    found = contours(ordering(order))
    (tmp_path / "maps").mkdir()
    np.save(tmp_path / "maps" / "7.npy", np.stack([found.pixels, np.nan_to_num(found.angle)]))
    return tmp_path


@pytest.fixture(scope="module")
def pairs(world):
    """Twenty true pairs of each scene, in DA-2K's form."""
    rng = np.random.default_rng(0)
    found = {}
    for path in sorted((world / "order").iterdir()):
        order = np.load(path)
        points = rng.integers(0, (64, 96, 64, 96), (20, 4)).tolist()
        found[f"images/{path.stem}.jpg"] = [
            {"point1": [a, b], "point2": [c, d], "closer_point": answer(order[a, b], order[c, d])}
            for a, b, c, d in points
        ]
    (world / "pairs.json").write_text(json.dumps(found))
    return found


def answer(one, other):
    return "equal" if one == other else "point1" if one > other else "point2"


def test_maps_of_either_sense_and_answers_in_a_file_agree_with_the_truth(world, pairs):
    for words in (f"{world}/order", f"{world}/depth --farther", f"{world}/pairs.json"):
        found = run(f"ordering whdr {words} {world}/pairs.json")
        (system,) = found["systems"].values()
        assert (system["images"], system["whdr"], system["whdr_equal"], system["whdr_unequal"]) == (2, 0, 0, 0)
    turned = run(f"ordering whdr {world}/depth {world}/pairs.json --delta 0 --mean")
    assert turned["systems"]["depth"]["whdr_unequal"] == 1
    assert turned["signature"] == "whdr|equal:ratio,0|sum:mean|v:1"


def test_one_map_and_images_without_an_answer(world, pairs, tmp_path):
    one = f"{world}/order/scene-0001.npy"
    assert run(f"ordering whdr {one} {world}/pairs.json")["systems"]["scene-0001"]["images"] == 1
    (tmp_path / "some.json").write_text(json.dumps(dict([next(iter(pairs.items()))])))
    done = CliRunner().invoke(app, f"ordering whdr {tmp_path}/some.json {world}/pairs.json".split())
    assert "1 truth has no prediction: scene-0002" in done.output
    missing = CliRunner().invoke(app, f"ordering whdr {world}/order {world}/nothing.csv".split())
    assert missing.exit_code == 2
    assert "expected pairs of points as CSV or JSON" in missing.output


def test_depth_boundaries_of_scenes_edge_maps_and_ibims(world, tmp_path):
    found = run(f"ordering dbe {world}/order {world}/scenes")["systems"]["order"]
    assert 0 < found["accuracy"] < 1  # the contour runs along the upper or left pixels of a step
    for name in ("edges", "ibims"):
        (tmp_path / name).mkdir()
    for path in sorted((world / "order").iterdir()):
        edges = depth_edges(np.load(path))
        write_edges(tmp_path / "edges" / f"{path.stem}.png", edges)
        savemat(tmp_path / "ibims" / f"{path.stem}.mat", {"data": {"edges": edges, "depth": np.ones((2, 2))}})
    for name in ("edges", "ibims"):
        system = run(f"ordering dbe {world}/order {tmp_path}/{name}")["systems"]["order"]
        assert (system["accuracy"], system["completeness"]) == (0, 0)
