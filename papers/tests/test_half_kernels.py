"""Half kernels under noise: who wins is counted right, and the command does what it says."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.detect import canny, hk
from hyperacuity.edges import add_noise, shapes, sweep
from hyperacuity.run.keeping import Kept
from hyperacuity_papers.abdulrahman2017.half_kernels import HalfKernelGrid, HalfKernelStudy, half_kernels

GRID = HalfKernelGrid(("psi", "pm"), (3,), (1,), (15, 30), (4,), ("variance",), (0,), seeds=3, size=96)


def study(halves: list, wholes: list, rivals: list) -> HalfKernelStudy:
    """Scores [condition, detector, measure], the same for each seed but for a little."""
    wobble = np.array([0.99, 1.0, 1.01])[None, :, None, None]
    return HalfKernelStudy(GRID, *(np.array(part)[:, None] * wobble for part in (halves, wholes, rivals)))


def test_wins_are_counted_against_the_best_of_the_others():
    found = study(
        [[[2.0, 1.0], [1.0, 3.0]], [[0.5, 0.5], [0.5, 2.0]]],
        [[[1.0, 1.0], [2.0, 1.0]], [[0.4, 0.6], [1.0, 1.0]]],
        [[[1.0, 2.0], [4.0, 2.0]], [[1.0, 1.0], [3.0, 4.0]]],
    )
    np.testing.assert_allclose(found.margin[0, 1], [[1.0, -0.5], [0.0, 0.5]])
    np.testing.assert_array_equal(found.won[0], [[0, 3], [0, 0]])
    np.testing.assert_array_equal(found.won[1], [[3, 3], [3, 0]])
    np.testing.assert_array_equal(found.first(("psi", "pm")), [[1, 0], [2, 1]])
    assert found.surely_won()[0, 0].tolist() == [False, True]
    assert found.surely_lost()[0, 0].tolist() == [True, False]
    where, count = found.best_setting(("psi", "pm"), slice(1, None))
    assert (where, count) == ("hk(across=1, along=3, step=15) at 0 dB, psnr", 2)
    assert found.whole_better(("psi", "pm"), slice(1, None)) == 1
    assert found.share(GRID.named)[0] == pytest.approx(3 / 12)
    assert found.beats_whole() == 3 / 8
    first, stronger, whole = found.sentences()
    assert "wins 25.0 % of 6 trials" in first
    assert "wins 75 %" in stronger
    assert "62 %" in whole


def test_a_rival_without_error_is_never_beaten():
    found = study([[[0.0, 1.0]] * 2] * 2, [[[1.0, 1.0]] * 2] * 2, [[[0.0, 0.0]]] * 2)
    np.testing.assert_array_equal(found.margin[0, 0], [[0.0, np.inf]] * 2)
    assert not found.won.any()


def test_scores_are_the_lowest_over_thresholds_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    kept = Kept(tmp_path, ("hyperacuity_papers.abdulrahman2017.edge_sweeps",))
    found = half_kernels(GRID, kept, 1)
    made = shapes(96)
    noisy = add_noise(made.image, 4, seed=2)
    for thin, score in (
        (hk(noisy, along=3, step=30).thin, found.halves[0, 2, 1]),
        (canny(noisy).thin, found.rivals[0, 2, 1]),
    ):
        swept = sweep(made.truth, thin, "psi, pm")
        np.testing.assert_array_equal(score, [swept.best("psi").score, swept.best("pm").score])
    monkeypatch.setattr(
        "hyperacuity_papers.abdulrahman2017.half_kernels.lowest", lambda *_: pytest.fail("computed again")
    )
    np.testing.assert_array_equal(half_kernels(GRID, kept, 1).halves, found.halves)


def test_the_command_writes_a_row_per_cell_and_says_what_was_found(tmp_path: Path):
    pytest.importorskip("vl_convert")
    grid = {
        "definition": "psnr",
        "levels": 4,
        "beyond": "",
        "lengths": 3,
        "widths": 1,
        "steps": 30,
        "seeds": 2,
        "size": 96,
    }
    words = [f"--{name}={value}" for name, value in grid.items()]
    done = CliRunner().invoke(app, ["study", "half-kernels", "--out", str(tmp_path), *words], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    with (tmp_path / "half-kernels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 16
    assert {row["noise"] for row in rows} == {"psnr"}
    assert all(
        float(row["low"]) <= float(row["margin"]) <= float(row["high"]) for row in rows if row["margin"] != "inf"
    )
    assert (tmp_path / "half-kernels.png").exists()
    assert "At 4 dB H-K wins" in done.stdout.replace("\n", " ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--definition", "amplitude"), "expected some of variance, power, psnr"),
        (("--lengths", "long"), "numbers with commas"),
    ],
)
def test_a_grid_that_cannot_be_is_refused(words: tuple[str, ...], message: str, tmp_path: Path):
    done = CliRunner().invoke(app, ["study", "half-kernels", "--out", str(tmp_path), *words])
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
