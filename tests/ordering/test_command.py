"""``hyperacuity ordering`` from files to JSON: sweeps, several systems, labelled contours, hierarchies as regions."""

from __future__ import annotations

import copy
import json
import math
import tarfile
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import write_mat
from hyperacuity.data.scenes import write_scenes
from hyperacuity.errors import InputError
from hyperacuity.kinds.orders import OrderKind
from hyperacuity.run.jobs import Cell


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    write_scenes(folder, (1, 2), size=(96, 64), leaves=6)
    return folder


@pytest.fixture(scope="module")
def systems(world, tmp_path_factory):
    """A sweep of three values, a flat map, and a depth map."""
    folder = tmp_path_factory.mktemp("systems")
    for path in (world / "order").glob("*.npy"):
        order = np.load(path)
        for name, values in {
            "sweep/2": np.roll(order, 9, axis=1),
            "sweep/10": np.roll(order, 1, axis=1),
            "sweep/100": np.roll(order, 25, axis=1),
            "flat": np.ones_like(order),
            "depth": -order,
        }.items():
            (folder / name).mkdir(parents=True, exist_ok=True)
            np.save(folder / name / path.name, values)
    return folder


def call(*arguments, code=0):
    result = CliRunner().invoke(app, ["ordering", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


def scores(*arguments, code=0):
    return json.loads(call(*arguments, "--json", code=code).stdout)


def test_the_true_order_scores_one_everywhere(world):
    found = scores(world / "order", world)
    assert set(found) >= {"signature", "images", "systems"}
    assert found["images"] == 2
    assert found["signature"].startswith("ordering|ldc:3px,15deg,")
    system = found["systems"]["order"]
    for part in ("ldc", "gdc"):
        assert [system[part][name] for name in ("fmax", "fmin", "ori", "fg")] == [1, 1, 1, 1]
    assert [system[name] for name in ("racc", "bacc", "bacc50", "bacc25")] == [1, 1, 1, 1]
    assert system["reasons"] == {}


def test_a_folder_of_folders_is_a_sweep_in_the_order_of_its_numbers(world, systems):
    system = scores(systems / "sweep", world)["systems"]["sweep"]
    assert system["ldc"]["curve"]["parameter"] == ["2", "10", "100"]
    assert system["ldc"]["parameter"] == system["parameter"] == "10"
    assert system["ldc"]["fmax"] > 0.9


def test_several_systems_and_ties(world, systems):
    options = (systems / "flat", world, "--system", f"true={world / 'order'}")
    wrong, half = scores(*options)["systems"], scores(*options, "--tie", "half")["systems"]
    assert (wrong["flat"]["racc"], half["flat"]["racc"]) == (0, 0.5)
    assert wrong["true"]["racc"] == half["true"]["racc"] == 1
    assert wrong["flat"]["ldc"]["fmax"] == 0


def test_depth_maps_count_the_other_way(world, systems):
    assert scores(systems / "depth", world)["systems"]["depth"]["bacc"] == 0
    flipped = scores(systems / "depth", world, "--farther", "pred")
    assert flipped["systems"]["depth"]["bacc"] == 1
    assert "farther:pred" in flipped["signature"]


def test_labelled_contours_have_no_global_consistency_and_say_why(world):
    system = scores(world / "order", world / "ownership", "--regions", world / "labels")["systems"]["order"]
    assert system["gdc"] is None
    assert "order neighbours only" in system["reasons"]["gdc"]
    assert system["bacc50"] is None
    assert system["bacc"] == pytest.approx(1, abs=0.02)


def ucm2(labels, strong, weak):
    """A hierarchy: the regions' contours strong, a grid of weak ones."""
    height, width = labels.shape
    double = np.zeros((2 * height + 1, 2 * width + 1))
    double[::16, :] = double[:, ::16] = weak
    across, down = labels[:, :-1] != labels[:, 1:], labels[:-1] != labels[1:]
    double[1::2, 2:-1:2][across] = strong
    double[2:-1:2, 1::2][down] = strong
    corners = double[2:-1:2, 2:-1:2]
    around = [double[1:-3:2, 2:-1:2], double[3::2, 2:-1:2], double[2:-1:2, 1:-3:2], double[2:-1:2, 3::2]]
    np.maximum.reduce([corners, *around], out=corners)
    return double


def test_hierarchies_are_cut_where_their_contours_are_best(world, tmp_path):
    from PIL import Image

    for path in (world / "labels").glob("*.png"):
        labels = np.asarray(Image.open(path)).astype(int)
        write_mat(tmp_path / f"{path.stem}.mat", ucm2=ucm2(labels, 0.6, 0.1))
    found = scores(world / "order", world, "--regions", tmp_path)
    level = float(found["signature"].split("level")[1].split("|")[0])
    assert 0.1 <= level <= 0.6
    fine = scores(world / "order", world, "--regions", tmp_path, "--level", "0.05")
    assert "level0.05" in fine["signature"]
    for one in (found, fine):
        assert one["systems"]["order"]["racc"] == 1
    call(world / "order", world, "--regions", tmp_path, "--level", "high", code=2)


def test_people_are_scored_where_there_are_two(world, tmp_path):
    for turn in ("first", "second"):
        (tmp_path / turn).mkdir()
        for path in (world / "order").glob("*.npy"):
            np.save(tmp_path / turn / path.name, np.load(path))
    found = scores(world / "order", tmp_path, "--human")
    assert found["human"]["ldc"]["fmin"] == found["human"]["bacc"] == 1
    assert scores(world / "order", world, "--human")["human"] is None


def fg_bytes(sides):
    head = b"MATRIX ARRAY 2\n"
    parts = [head]
    for matrix in (sides, np.array([[1.0, -1.0]])):
        parts += [np.array(matrix.shape, "<i4").tobytes(), np.asarray(matrix, "<f8").tobytes(order="F")]
    return b"".join(parts)


def seg_bytes(labels):
    height, width = labels.shape
    lines = [f"format ascii cr\nwidth {width}\nheight {height}\nsegments {labels.max() + 1}\ndata"]
    for y in range(height):
        starts = np.flatnonzero(np.diff(labels[y], prepend=-1))
        for start, end in zip(starts, [*starts[1:], width], strict=True):
            lines.append(f"{labels[y, start]} {y} {start} {end - 1}")
    return ("\n".join(lines) + "\n").encode()


def test_berkeleys_labels_are_read_from_their_folders(tmp_path):
    labels = np.array([[0] * 8 + [1] * 8] * 12)
    sides = np.zeros((12, 16))
    sides[:, 7], sides[:, 8] = 1, -1
    for part, name, data in (
        ("fg/1105", "42-201.fg", fg_bytes(sides)),
        ("fg/1105", "42-202.fg", fg_bytes(-sides)),
        ("seg/1105", "42.seg", seg_bytes(labels)),
    ):
        (tmp_path / "truth" / part).mkdir(parents=True, exist_ok=True)
        (tmp_path / "truth" / part / name).write_bytes(data)
    (tmp_path / "maps").mkdir()
    np.save(tmp_path / "maps" / "42.npy", 1.0 - labels)
    found = scores(tmp_path / "maps", tmp_path / "truth", "--human")
    labelled = OrderKind(labels=str(tmp_path / "truth"), images=("42",))
    files = [*sorted((tmp_path / "truth").glob("fg/*/*.fg")), tmp_path / "truth" / "seg" / "1105" / "42.seg"]
    cell = Cell("maps", "42", tmp_path / "maps" / "42.npy", tuple(files))
    assert len(labelled.truths(cell)) == len(copy.deepcopy(labelled).truths(cell)) == 2
    for other in (replace(cell, image="43"), replace(cell, image="43", truths=())):
        with pytest.raises(InputError, match="no figure/ground labels of 43"):
            labelled.truths(other)
    archive = tmp_path / "labels.tar.xz"
    for second in (-sides, sides):  # replaced while a program runs: its next look is at the new labels
        (tmp_path / "truth/fg/1105/42-202.fg").write_bytes(fg_bytes(second))
        with tarfile.open(archive.with_suffix(".part"), "w:xz", preset=0) as file:
            file.add(tmp_path / "truth", "BSDS_FG")
        archive.with_suffix(".part").replace(archive)
        told = OrderKind(labels=str(archive), images=("42",)).truths(replace(cell, truths=(archive,)))
        assert [one.sides[0, 7] for one in told] == [1, second[0, 7]]
    assert found["systems"]["maps"]["racc"] == 0.5  # one subject says so, the other the opposite
    assert found["systems"]["maps"]["ldc"]["fmax"] == 1
    assert found["human"]["ldc"]["fmax"] == 1
    assert found["human"]["racc"] == found["human"]["ldc"]["fmin"] == 0


def test_berkeleys_labels_make_a_whole_order(tmp_path):
    """Four stripes, each in front of the next: the map takes the middle two for one another."""
    labels = np.repeat(np.arange(4), 8)[np.newaxis].repeat(12, axis=0)
    sides = np.zeros(labels.shape)
    sides[:, 7:24:8], sides[:, 8:25:8] = 1, -1
    for part, name, data in (("fg/1", "42-7.fg", fg_bytes(sides)), ("seg/1", "42.seg", seg_bytes(labels))):
        (tmp_path / "truth" / part).mkdir(parents=True)
        (tmp_path / "truth" / part / name).write_bytes(data)
    (tmp_path / "maps").mkdir()
    np.save(tmp_path / "maps" / "42.npy", np.choose(labels, [9.0, 5.0, 7.0, 1.0]))
    system = scores(tmp_path / "maps", tmp_path / "truth")["systems"]["maps"]
    assert (system["gdc"]["fmax"], system["gdc"]["fg"]) == (1, pytest.approx(5 / 6)), "one of six pairs is wrong"
    # Stripes 0 and 1 are the foremost half and own two borders, one of them right; stripe 0 owns one.
    assert [system[name] for name in ("racc", "bacc", "bacc50", "bacc25")] == pytest.approx([2 / 3, 2 / 3, 1 / 2, 1])
    assert not system["reasons"]


def test_a_run_is_resumed_and_a_table_printed(world, systems, tmp_path):
    for _ in range(2):
        result = call(systems / "sweep", world, "--run", tmp_path / "run")
        assert "LDC F max" in result.stdout
        assert "ordering|ldc:" in result.stdout


def test_a_bad_file_fails_alone(world, systems, tmp_path):
    for path in (systems / "flat").glob("*.npy"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "scene-0001.npy").write_bytes(b"no array at all")
    found = scores(tmp_path, world, code=1)
    assert [failure["image"] for failure in found["failed"]] == ["scene-0001"]
    assert found["images"] == 1


def test_charts_and_pictures_are_written(world, systems, tmp_path):
    call(systems / "sweep", world, "--charts", tmp_path / "charts", "--pictures", tmp_path / "pictures")
    assert {path.name for path in (tmp_path / "charts").glob("[!.]*")} == {
        "ldc.svg",
        "gdc.svg",
        "figure-ground.svg",
        "accuracy.svg",
    }
    assert (tmp_path / "pictures" / "sweep" / "10" / "scene-0001.png").stat().st_size > 2000


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("{world}/order", "nowhere"), "there is no file or folder nowhere"),
        (("{world}/order/scene-0001.npy", "{world}/order"), "is one file, so TRUTH must be one file too"),
        (("{world}/order", "{world}/order/scene-0001.npy"), "is a folder, so TRUTH must be one too"),
        (("{world}/order", "{world}", "--transfer"), "--regions DIR"),
        (("{world}/order", "{world}", "--regions", "{world}/nowhere"), "there is no such folder"),
        (("{world}/order", "{world}", "--regions", "{world}"), "holds no segmentation"),
        (("{world}/order", "{world}", "--cost", "time"), "expected one of distance"),
    ],
)
def test_a_wrong_call_is_told_in_a_sentence(world, arguments, sentence):
    result = call(*(word.format(world=world) for word in arguments), code=2)
    assert sentence in result.stderr


def test_one_file_against_one_truth(world):
    found = scores(world / "order" / "scene-0001.npy", world / "order" / "scene-0001.npy")
    assert found["systems"]["scene-0001"]["gdc"]["fmin"] == 1
    assert not math.isnan(found["systems"]["scene-0001"]["bacc"])


def test_a_dense_order_is_warned_about_and_can_be_brought_onto_regions(world, tmp_path):
    for path in (world / "order").glob("*.npy"):
        order = np.load(path)
        np.save(tmp_path / path.name, order + np.random.default_rng(1).random(order.shape).astype(np.float32) / 2)
    result = call(tmp_path, world, "--json")
    assert result.stderr.count("nearly as many regions as pixels") == 1
    dense = json.loads(result.stdout)["systems"][tmp_path.name]
    assert dense["bacc"] == 1
    assert dense["gdc"]["fmax"] < 0.5
    moved = scores(tmp_path, world, "--regions", world / "labels", "--transfer")["systems"][tmp_path.name]
    assert moved["ldc"]["fmin"] == moved["gdc"]["fmax"] == 1


def test_detail_tells_a_rough_direction_from_the_wrong_side(world, systems):
    why = scores(systems / "depth", world)["systems"]["depth"]["ldc"]["inconsistent"]
    assert why["rough"] == why["undirected"] == 0
    assert why["wrong_side"] > 0
    assert why["right_side"] == 0
    told = call(systems / "depth", world, "--detail").stdout
    assert "wrong side" in told
    assert "rough direction" in told
