"""``hyperacuity edges`` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from hyperacuity.cli import app
from hyperacuity.data import read_edges, read_soft, write_edges, write_soft
from hyperacuity.edges import sweep


def call(*words: object) -> Result:
    return CliRunner().invoke(app, ["edges", *map(str, words)], env={"COLUMNS": "200"})


def answer(*words: object) -> dict[str, Any]:
    done = call(*words, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def maps(tmp_path: Path) -> Path:
    """Truths of two images, a good and a poor soft system, and a binary one."""
    dice = np.random.default_rng(0)
    for folder in ("truth", "good", "poor", "binary"):
        (tmp_path / folder).mkdir()
    for name in ("a", "b"):
        truth = np.zeros((30, 40), bool)
        truth[:, int(dice.integers(10, 30))] = True
        noise = np.where(dice.random(truth.shape) < 0.1, dice.random(truth.shape), 0)
        write_edges(tmp_path / "truth" / f"{name}_gt.png", truth)
        write_soft(tmp_path / "good" / f"{name}.png", np.maximum(truth * 0.9, noise * 0.6).astype(np.float32))
        write_soft(tmp_path / "poor" / f"{name}.png", np.maximum(truth * 0.5, noise).astype(np.float32))
        write_edges(tmp_path / "binary" / f"{name}.png", truth | (noise > 0.8))
    return tmp_path


def test_a_folder_is_swept_and_its_mean_minimum_given(maps: Path) -> None:
    found = answer(maps / "poor", maps / "truth", "--measures", "psi,sk(k=1)")
    assert list(found["systems"]) == ["poor"]
    score = found["systems"]["poor"]["measures"]["psi"]
    best = []
    for name in ("a", "b"):
        soft = read_soft(maps / "poor" / f"{name}.png")
        best.append(sweep(read_edges(maps / "truth" / f"{name}_gt.png"), soft / soft.max(), "psi").best("psi"))
    assert score["minimum"] == pytest.approx(np.mean([b.score for b in best]), abs=1e-12)
    assert score["threshold"] == pytest.approx(np.mean([b.threshold for b in best]), abs=1e-12)
    assert score["interval"] == pytest.approx(sorted(b.score for b in best))
    assert "wins" not in score


def test_systems_are_compared_image_by_image(maps: Path) -> None:
    found = answer(maps / "good", maps / "truth", "--system", f"noisy={maps / 'poor'}", "--system", maps / "binary")
    assert list(found["systems"]) == ["good", "noisy", "binary"]
    psi = {name: system["measures"]["psi"] for name, system in found["systems"].items()}
    assert psi["good"]["wins"] == 2
    assert psi["binary"]["threshold"] is None
    assert psi["good"]["minimum"] == 0 < psi["noisy"]["minimum"]
    assert len(psi) == 3
    assert found["signature"].startswith("edges|measures:paper|thr:101|")


def test_the_table_names_every_measure_and_its_best_system(maps: Path) -> None:
    done = call(maps / "good", maps / "truth", "--system", maps / "poor", "--measures", "psi,baddeley")
    assert done.exit_code == 0
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[1][:8] == ["psi", "Ψ", "good", "0.0000", "*", "0.0000", "–", "0.0000"]
    assert any(line[:2] == ["baddeley(k=2)", "Δ²"] for line in lines)
    assert "edges|measures:psi+baddeley(k=2)|" in done.stdout


def test_one_file_against_one_file(maps: Path) -> None:
    found = answer(maps / "good" / "a.png", maps / "truth" / "a_gt.png", "--measures", "pm")
    assert found["systems"]["a"]["measures"]["pm"]["minimum"] == 0


def test_inverted_truths_are_turned_round_and_told_apart(maps: Path) -> None:
    (maps / "inverted").mkdir()
    for path in (maps / "truth").iterdir():
        write_edges(maps / "inverted" / path.name, ~read_edges(path))
    plain = answer(maps / "good", maps / "truth", "--measures", "pm")
    turned = answer(maps / "good", maps / "inverted", "--measures", "pm", "--invert-truth")
    assert turned["systems"] == plain["systems"]
    assert turned["signature"] != plain["signature"]


def test_a_run_folder_keeps_what_is_done(maps: Path) -> None:
    words = (maps / "good", maps / "truth", "--run", maps / "run", "--measures", "pm,psi")
    assert answer(*words) == answer(*words)
    assert (maps / "run" / "run.sqlite").exists()


def test_thick_soft_maps_can_be_thinned_first(maps: Path) -> None:
    thick = np.zeros((30, 40), np.float32)
    thick[:, 17:24] = [0.1, 0.4, 0.8, 1.0, 0.8, 0.4, 0.1]
    truth = np.zeros((30, 40), bool)
    truth[:, 20] = True
    write_soft(maps / "thick.png", thick)
    write_edges(maps / "line.png", truth)
    scores = [
        answer(maps / "thick.png", maps / "line.png", "--measures", "f_pinho", "--thresholds", 3, *more)["systems"][
            "thick"
        ]
        for more in ((), ("--thin",))
    ]
    assert scores[1]["measures"]["f_pinho"]["threshold"] <= scores[0]["measures"]["f_pinho"]["threshold"]
    assert scores[0]["measures"]["f_pinho"]["minimum"] == 0  # at threshold 1 only the ridge is left


def test_a_bad_file_fails_its_image_and_the_rest_goes_on(maps: Path) -> None:
    write_soft(maps / "poor" / "a.png", np.zeros((3, 3), np.float32))
    done = call(maps / "poor", maps / "truth", "--measures", "pm", "--json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert found["systems"]["poor"]["images"] == 1
    assert [(f["image"], "same size" in f["reason"]) for f in found["failed"]] == [("a", True)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere", "truth"), "there is no file or folder"),
        (("good", "nowhere"), "nor a data set of that name"),
        (("good", "truth", "--measures", "sigma"), "there is no measure sigma"),
        (("good", "truth/a_gt.png"), "must be one too"),
        (("good/a.png", "truth"), "must be one file too"),
        (("good", "truth", "--system", "good=poor"), "the name is taken"),
    ],
)
def test_a_call_that_cannot_be_carried_out_says_why(
    words: tuple[str, ...], message: str, maps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(maps)
    done = call(*words)
    assert done.exit_code == 2
    assert message in done.stderr
