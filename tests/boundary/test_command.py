"""``hyperacuity boundary`` on folders as people have them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import write_edges, write_soft
from hyperacuity.data.scenes import make_scene, write_scene
from hyperacuity.detect import detector

NAMES = ("scene-0001", "scene-0002")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Two small scenes, and two systems on them."""
    folder = tmp_path_factory.mktemp("welt mit ümlaut und leerzeichen")
    for seed, name in enumerate(NAMES, 1):
        scene = make_scene(seed, size=(120, 80), leaves=8)
        write_scene(folder, scene)
        for system in ("canny", "sobel"):
            place = folder / "maps" / system
            place.mkdir(parents=True, exist_ok=True)
            write_soft(place / f"{name}.png", detector(system)(scene.image).thin, bits=16)
    return folder


def call(*words):
    return CliRunner().invoke(app, ["boundary", *(str(word) for word in words)])


def test_json_has_the_promised_shape(world):
    done = call(world / "maps/canny", world / "groundTruth", "--system", f"sobel={world / 'maps/sobel'}", "--json")
    assert done.exit_code == 0
    summary = json.loads(done.stdout)
    assert summary["signature"].startswith("boundary|tol:0.0075diag|")
    assert summary["images"] == 2
    assert list(summary["systems"]) == ["canny", "sobel"]
    canny = summary["systems"]["canny"]
    assert set(canny["ods"]) == {"threshold", "recall", "precision", "f", "ci"}
    assert set(canny["ois"]) == {"recall", "precision", "f", "ci"}
    assert set(canny["curve"]) == {"threshold", "recall", "precision", "f"}
    assert len(canny["curve"]["f"]) == 99
    assert 0.3 < canny["ods"]["f"] <= canny["ois"]["f"] < 1
    assert summary["failed"] == []
    best, other = sorted(summary["systems"], key=lambda name: -summary["systems"][name]["ods"]["f"])
    assert {pair: set(tests) for pair, tests in summary["paired"].items()} == {
        f"{best} − {other}": {"ods", "ois", "ap"}
    }


def test_systems_are_tested_against_the_best_or_all_against_all(world):
    third = ["--system", f"again={world / 'maps/sobel'}", "--system", f"sobel={world / 'maps/sobel'}"]
    words = (world / "maps/canny", world / "groundTruth", *third, "--json")
    summary = json.loads(call(*words).stdout)
    best = max(summary["systems"], key=lambda name: summary["systems"][name]["ods"]["f"])
    others = [name for name in summary["systems"] if name != best]
    assert set(summary["paired"]) == {f"{best} − {other}" for other in others}
    every = json.loads(call(*words, "--all-pairs").stdout)["paired"]
    assert set(every) == {*summary["paired"], "sobel − canny" if best == "again" else "again − canny", "again − sobel"}
    same = every["again − sobel"]["ods"]
    assert (same["difference"], same["p_value"]) == (0, 1)


def test_the_table_shows_the_tolerance_both_ways_and_the_signature(world):
    done = call(world / "maps/canny", world / "groundTruth", "--human")
    assert done.exit_code == 0
    assert "tolerance 0.0075 of the diagonal = 1.08 px at 120×80" in done.stdout
    assert "|thin:guo-hall|thr:99|" in done.stdout
    assert "people" in done.stdout


def test_a_run_is_resumed_where_it_stopped(world, tmp_path):
    first = call(world / "maps/canny", world / "groundTruth", "--run", tmp_path, "--json")
    second = call(world / "maps/canny", world / "groundTruth", "--run", tmp_path, "--json")
    assert first.stdout == second.stdout
    assert "2 reused" in second.stderr


def test_the_number_of_workers_and_the_order_of_systems_change_no_score(world):
    one = json.loads(call(world / "maps/canny", world / "groundTruth", "--json", "--workers", "1").stdout)
    with_sobel = ["--system", f"canny={world / 'maps/canny'}"]
    two = json.loads(call(world / "maps/sobel", world / "groundTruth", *with_sobel, "--json", "--workers", "8").stdout)
    assert one["systems"]["canny"] == two["systems"]["canny"]


def test_a_bad_file_fails_its_own_image_and_the_rest_is_scored(world, tmp_path):
    good = (world / f"maps/canny/{NAMES[0]}.png").read_bytes()
    (tmp_path / f"{NAMES[0]}.png").write_bytes(good)
    write_soft(tmp_path / f"{NAMES[1]}.png", np.zeros((10, 10), np.float32))
    done = call(tmp_path, world / "groundTruth", "--json")
    assert done.exit_code == 1
    summary = json.loads(done.stdout)
    assert summary["images"] == 1
    assert "10×10" in summary["failed"][0]["reason"]
    assert "120×80" in summary["failed"][0]["reason"]
    assert NAMES[1] in done.stderr


def test_files_without_a_partner_are_named(world, tmp_path):
    (tmp_path / f"{NAMES[0]}.png").write_bytes((world / f"maps/canny/{NAMES[0]}.png").read_bytes())
    write_edges(tmp_path / "stranger.png", np.eye(8, dtype=bool))
    done = call(tmp_path, world / "groundTruth", "--json")
    assert "warning: 1 prediction has no truth: stranger.png; --list-unpaired\n" in done.stderr
    assert f"warning: 1 truth has no prediction: {NAMES[1]}; --list-unpaired\n" in done.stderr
    assert any("stranger" in path for path in json.loads(done.stdout)["unpaired"])


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--nms", "structured"], "nms:structured-s1-r1|"),
        (["--nms", "structured-s0-r2"], "nms:structured-s0-r2|"),
        (["--nms", "structured-s1-r1-8bit"], "nms:structured-s1-r1-8bit|"),
        (["--protocol", "nyud"], "tol:0.011diag|"),
        (["--protocol", "crisp"], "thin:none|"),
        (["--protocol", "multicue-edge"], "nms:structured-s0-r2|"),
        (["--tolerance", "0.02", "--thresholds", "7"], "tol:0.02diag|nms:none|thin:guo-hall|thr:7|"),
        (["--precision", "mean"], "precision:mean|"),
        (["--thresholds", "0.2,0.5"], "thr:0.2,0.5|"),
    ],
)
def test_options_stand_in_the_signature(world, options, part):
    done = call(world / "maps/sobel", world / "groundTruth", "--json", *options)
    assert done.exit_code == 0
    assert part in json.loads(done.stdout)["signature"]


@pytest.mark.parametrize(
    "words",
    [
        ["nowhere", "{world}/groundTruth"],
        ["{world}/maps/canny", "nowhere"],
        ["{world}/maps/canny", "{world}/groundTruth", "--nms", "magic"],
        ["{world}/maps/canny", "{world}/groundTruth", "--protocol", "magic"],
        ["{world}/maps/canny", "{world}/groundTruth", "--tolerance", "7"],
        ["{world}/maps/canny", "{world}/groundTruth", "--thresholds", "some"],
        ["{world}/maps/canny", "{world}/groundTruth", "--system", "canny={world}/maps/sobel"],
        ["{world}/maps/canny", "{empty}"],
        ["{empty}", "{world}/groundTruth"],
    ],
)
def test_a_wrong_call_is_told_in_one_line_with_status_two(world, tmp_path, words):
    done = call(*(word.format(world=world, empty=tmp_path) for word in words))
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
