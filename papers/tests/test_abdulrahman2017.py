"""``hyperacuity study`` as a user calls it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from hyperacuity.cli import app
from hyperacuity.data import read_edges, write_edges
from hyperacuity.detect import canny, sobel
from hyperacuity.edges import PAPER, add_noise, shapes, sweep
from hyperacuity_papers.abdulrahman2017.displacement import shift

pytest.importorskip("altair")
pytest.importorskip("vl_convert")


def call(*words: object) -> Result:
    return CliRunner().invoke(app, ["study", *map(str, words)], env={"COLUMNS": "200"})


def rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two small pictures of shapes and their truths."""
    made = shapes(96)
    for name in ("images", "truth"):
        (tmp_path / name).mkdir()
    for name, image, truth in (("a", made.image, made.truth), ("b", made.image.T, made.truth.T)):
        Image.fromarray((image * 255).astype(np.uint8)).save(tmp_path / "images" / f"{name}.png")
        write_edges(tmp_path / "truth" / f"{name}.png", np.ascontiguousarray(truth))
    return tmp_path


def test_shift_writes_the_curves_and_draws_them(tmp_path: Path) -> None:
    done = call("shift", "--out", tmp_path, "--json")
    assert done.exit_code == 0, done.output
    assert [Path(f).name for f in json.loads(done.stdout)["files"]] == ["shift.csv", "shift.svg", "shift.png"]
    written = rows(tmp_path / "shift.csv")
    assert len(written) == len(PAPER) * 17 * 2
    expected = shift("psi").missed[0, 16]
    found = [r for r in written if (r["measure"], r["errors"], r["distance"]) == ("psi", "missed", "16")]
    assert float(found[0]["score"]) == pytest.approx(expected)
    drawn = (tmp_path / "shift.svg").read_text(encoding="utf-8")
    assert drawn.count(">distance, px</text>") >= 6, "an axis below every column"
    assert json.loads(done.stdout)["signature"] in drawn
    with Image.open(tmp_path / "shift.png") as picture:
        colours = {colour for _, colour in picture.convert("RGB").getcolors(1 << 24)}
    assert {(0xD5, 0x5E, 0x00), (0x00, 0x72, 0xB2)} <= colours, "false in vermilion, missed in blue"


def test_sheet_shows_each_picture(folder: Path) -> None:
    words = ("--truth", folder / "truth", "--with", "sobel,canny", "--measures", "psi,dp", "--out", folder / "out")
    done = call("sheet", folder / "images", *words, "--count", 1, "--snr", 20)
    assert done.exit_code == 0, done.output
    assert sorted(p.name for p in (folder / "out").glob("*.png")) == ["a-curves.png", "a.png"]
    written = rows(folder / "out" / "sheet.csv")
    assert [(r["detector"], r["measure"], r["condition"]) for r in written] == [
        (detector, name, "20 dB") for detector in ("sobel", "canny") for name in ("psi", "dp")
    ]
    image = add_noise(np.asarray(Image.open(folder / "images" / "a.png")) / 255, 20)
    truth = read_edges(folder / "truth" / "a.png")
    best = {name: sweep(truth, find(image).thin, "psi, dp") for name, find in (("sobel", sobel), ("canny", canny))}
    for row in written:
        expected = best[row["detector"]].best(row["measure"])
        assert (float(row["score"]), float(row["threshold"])) == (expected.score, expected.threshold)
    assert "mean best score of 1 picture;" in done.stdout


def test_a_decibel_is_of_what_the_definition_says(folder: Path) -> None:
    words = ("--truth", folder / "truth", "--with", "sobel", "--measures", "psi", "--count", 1, "--snr", 10, "--json")
    done = call("sheet", folder / "images", *words, "--out", folder / "out", "--definition", "psnr")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert "|signal:psnr|" in found["signature"]
    image = add_noise(np.asarray(Image.open(folder / "images" / "a.png")) / 255, 10, definition="psnr")
    swept = sweep(read_edges(folder / "truth" / "a.png"), sobel(image).thin, "psi")
    assert found["mean"]["10 dB"]["sobel"]["psi"] == swept.best("psi").score


@pytest.mark.parametrize(("kind", "levels"), [("noise", "0,60"), ("blur", "0,3")])
def test_disturbed_pictures_score_worse(kind: str, levels: str, folder: Path) -> None:
    words = ("--truth", folder / "truth", "--with", "sobel", "--measures", "psi", "--levels", levels, "--count", 1)
    done = call(kind, folder / "images", *words, "--out", folder / "out", "--json")
    assert done.exit_code == 0, done.output
    mean = json.loads(done.stdout)["mean"]
    first, last = (mean[level]["sobel"]["psi"] for level in levels.split(","))
    assert first < last
    drawn = (folder / "out" / f"{kind}.svg").read_text(encoding="utf-8")
    assert {"noise": "noise σ, grey levels", "blur": "blur σ, px"}[kind] in drawn
    assert ">sobel</text>" in drawn


def test_a_truth_can_be_redrawn_or_given(folder: Path) -> None:
    words = ("--truth", folder / "truth", "--with", "canny", "--measures", "pm", "--count", 1, "--json")
    made = call("truth", folder / "images", *words, "--out", folder / "out")
    assert made.exit_code == 0, made.output
    redrawn = folder / "out" / "semi-automatic"
    assert read_edges(redrawn / "a.png").any()
    given = call("truth", folder / "images", *words, "--out", folder / "given", "--semi", redrawn)
    assert given.exit_code == 0, given.output
    assert json.loads(given.stdout)["mean"] == json.loads(made.stdout)["mean"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("noise", "images"), "--truth must name the folder"),
        (("noise", "nonsense"), "there is no data set nonsense"),
        (("noise", "shapes", "--levels", "3"), "two or more, ascending"),
        (("noise", "shapes", "--levels", "a,b"), "expected numbers with commas"),
        (("noise", "shapes", "--levels", "-1,2"), "expected 0 or more"),
        (("blur", "shapes", "--with", "prewitt"), "there is no detector prewitt"),
        (("sheet", "shapes", "--measures", "sigma"), "there is no measure sigma"),
        (("sheet", "shapes", "--snr", "4", "--definition", "loud"), "expected one of variance, power, psnr"),
        (("truth", "images", "--truth", "truth", "--semi", "images/none"), "no folder"),
    ],
)
def test_a_call_that_cannot_be_carried_out_says_why(
    words: tuple[str, ...], message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    done = call(*words, "--out", "out")
    assert done.exit_code == 2, done.output
    assert message in done.stderr


def test_a_bad_picture_is_named_and_the_others_go_on(folder: Path) -> None:
    (folder / "images" / "a.png").write_bytes(b"no picture")
    words = ("--truth", folder / "truth", "--with", "sobel", "--measures", "psi", "--out", folder / "out", "--json")
    done = call("blur", folder / "images", *words)
    assert done.exit_code == 1
    assert [failed["picture"] for failed in json.loads(done.stdout)["failed"]] == ["a"]
    (folder / "images" / "b.png").write_bytes(b"no picture either")
    assert call("blur", folder / "images", *words).exit_code == 2


@pytest.mark.parametrize("study", ["shift", "sheet", "noise", "blur", "truth", "abdulrahman2017", "half-kernels"])
def test_help_has_an_example(study: str) -> None:
    done = call(study, "--help")
    assert f"hyperacuity study {study} " in done.stdout
