"""Picture sheets of chosen images: what is on them, and where."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.columns import Column
from hyperacuity.report.chosen import GAP, LINE, WIDTH, _caption, write_picture_sheets
from hyperacuity.report.pages import make_sheets

HEIGHT = WIDTH * 48 // 64
"""Of one picture; the images of these runs are 64 pixels wide and 48 high."""


@pytest.fixture(scope="module")
def run(make_run):
    return make_run(["good", "fair"], 3)


def report(*words: object):
    return CliRunner().invoke(app, ["report", *map(str, words)])


def test_a_row_has_the_photograph_the_truth_and_every_system(run, tmp_path):
    written = write_picture_sheets(make_sheets([run], progress=False), ["image-2", "image-0"], tmp_path)
    assert [path.name for path in written] == ["boundary-sheet.png", "boundary-sheet.pdf"]
    assert (tmp_path / "boundary-sheet.pdf").read_bytes().startswith(b"%PDF")
    with Image.open(tmp_path / "boundary-sheet.png") as picture:
        sheet = np.asarray(picture.convert("RGB"))
    assert sheet.shape == (LINE + 2 * (HEIGHT + LINE), 4 * WIDTH + 3 * GAP, 3)
    # The outline of image 2 has its top left corner in row 8, column 10: a hit of the first system, dark in the truth.
    scale = WIDTH / 64

    def at(column: int, x: int, y: int) -> list[int]:
        corner = column * (WIDTH + GAP)
        return sheet[LINE + round((y + 0.5) * scale), corner + round((x + 0.5) * scale)].astype(int).tolist()

    assert at(1, 20, 8)[0] < 60  # drawn by all
    assert at(1, 1, 1) == [255, 255, 255]
    hit = np.array([0x00, 0x9E, 0x73])
    assert np.abs(np.array(at(2, 20, 8)) - hit).max() < 40


def test_an_image_that_no_run_has_is_named(run, tmp_path):
    result = report(run, "--figures", tmp_path, "--sheet", "image-9")
    assert result.exit_code == 2
    assert "no image is called image-9: the runs have 3 images, such as image-0, image-1, image-2" in result.output


def test_a_sheet_needs_a_folder(run):
    result = report(run, "--table", "csv", "--sheet", "image-1")
    assert result.exit_code == 2
    assert "--figures DIR" in result.output


def test_what_is_said_below_a_picture_is_of_the_threshold_that_is_drawn():
    own = {"steps": [0.1, 0.2], "start": 1, "numbers": {"recall": [0.9, 0.8], "F": [0.5, 0.6]}}
    assert _caption(own, Column("f", "best F"), 0.7) == "F 0.600 at 0.2"
    assert _caption({"numbers": {"bad": "12 %"}}, Column("b", "bad", unit="%"), 12.0) == "bad 12.000 %"
    assert _caption({"missing": "was not run"}, Column("b", "bad"), None) == "was not run"
