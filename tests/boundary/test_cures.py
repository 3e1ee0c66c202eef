"""The options that messages about files name: each gives the score that the files would have had."""

import json

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import write_edges, write_soft

NAMES = ("bear", "goat")


@pytest.fixture
def world(tmp_path):
    dice = np.random.default_rng(3)
    for folder in ("truth", "maps", "broken"):
        (tmp_path / folder).mkdir()
    for name in NAMES:
        truth = np.zeros((40, 60), bool)
        truth[int(dice.integers(8, 32)), 4:50] = True
        soft = (
            np.round(np.where(truth, 0.8, dice.random(truth.shape) * 0.5) * (dice.random(truth.shape) < 0.7) * 255)
            / 255
        )
        write_edges(tmp_path / "truth" / f"{name}.png", truth)
        write_soft(tmp_path / "maps" / f"{name}.png", soft.astype(np.float32))
        np.save(tmp_path / f"{name}.npy", soft)
    return tmp_path


def scored(command: str, *words: object) -> dict:
    done = CliRunner().invoke(app, [command, *map(str, words), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def soft(world, name):
    return np.load(world / f"{name}.npy")


def inverted(world, name):
    write_soft(world / "broken" / f"{name}.png", (1 - soft(world, name)).astype(np.float32))


def of_255(world, name):
    np.save(world / "broken" / f"{name}.npy", soft(world, name) * 255)


def twice(world, name):
    write_soft(world / "broken" / f"{name}.png", soft(world, name).astype(np.float32))
    np.save(world / "broken" / f"{name}.npy", np.zeros((40, 60)))


@pytest.mark.parametrize(
    ("broken", "cure", "part"),
    [
        (inverted, ["--invert-prediction"], "prediction:inverted"),
        (of_255, ["--value-range", "255"], "range:0,255"),
        (twice, ["--glob", "*.png"], ""),
    ],
)
@pytest.mark.parametrize("command", ["boundary", "edges"])
def test_predictions_that_are_read_as_they_are_meant_score_as_the_others(world, command, broken, cure, part):
    options = ["--measures", "psi,fom"] if command == "edges" else []
    good = scored(command, world / "maps", world / "truth", *options)
    for name in NAMES:
        broken(world, name)
    mended = scored(command, world / "broken", world / "truth", *cure, *options)
    first, second = good["systems"]["maps"], mended["systems"]["broken"]
    if command == "boundary":
        assert second["ods"]["f"] == pytest.approx(first["ods"]["f"], abs=1e-9)
    else:
        found, expected = ({m: v["minimum"] for m, v in one["measures"].items()} for one in (second, first))
        assert found == pytest.approx(expected, abs=1e-6)
    assert part in mended["signature"]
    assert (mended["signature"] == good["signature"]) == (not part)


@pytest.mark.parametrize("command", ["boundary", "edges"])
def test_truths_the_other_way_round_score_as_the_others(world, command):
    options = ["--measures", "psi"] if command == "edges" else []
    good = scored(command, world / "maps", world / "truth", *options)
    for name in NAMES:
        path = world / "truth" / f"{name}.png"
        write_edges(path, np.asarray(Image.open(path)) == 0)
    mended = scored(command, world / "maps", world / "truth", "--invert-truth", *options)
    assert mended["systems"] == good["systems"]
    assert "|truth:inverted|" in mended["signature"]


def test_force_takes_what_is_almost_surely_a_mistake_and_says_so(world):
    for name in NAMES:
        path = world / "truth" / f"{name}.png"
        Image.open(path).convert("L").save(path.with_suffix(".jpg"))
        path.unlink()
    done = CliRunner().invoke(app, ["boundary", str(world / "maps"), str(world / "truth")])
    assert done.exit_code == 1
    assert "ODS" not in done.stdout
    assert "|checks:off|" in scored("boundary", world / "maps", world / "truth", "--force")["signature"]


def test_a_range_that_is_none_is_refused(world):
    for text in ("x", "5,2", "1,2,3", "nan"):
        done = CliRunner().invoke(app, ["boundary", str(world / "maps"), str(world / "truth"), "--value-range", text])
        assert done.exit_code == 2
        assert f"--value-range {text}: expected the largest value" in done.output
