"""The report of a run: what it says, and a viewer that shows one class at a time."""

from __future__ import annotations

import pytest

import hyperacuity as ha
from hyperacuity.report.pages import make_sheets

from .conftest import write_folders


@pytest.fixture(scope="module")
def sheet(small, tmp_path_factory):
    """The sheet of a run over two images."""
    folder = write_folders(small, tmp_path_factory.mktemp("semantic"))
    how = {"classes": ("goat", "bear", "chair"), "tolerance": 0.03, "progress": False, "workers": 1}
    ha.evaluate("semantic", folder / "maps", folder / "truth", run=folder / "run", **how)
    (made,) = make_sheets([folder / "run"], progress=False)
    return made


def test_the_sheet_says_which_class_is_found_best_and_which_occurs_nowhere(sheet):
    assert sheet.lines[0].values["classes"] == 2
    assert any("finds" in sentence and "worst" in sentence for sentence in sheet.findings)
    assert "1 class occurs in no image, left out of the means: chair." in sheet.notes
    assert [figure.name for figure in sheet.figures] == ["classes", "class-scores"]
    specification = sheet.figures[0].draw(False).to_dict()
    assert [panel["title"]["text"] for panel in specification["concat"]] == ["goat", "bear"]


def test_the_viewer_has_the_numbers_of_the_tally_for_each_class(sheet):
    made = sheet.viewer.pictures("bear", sheet.grid.cells_of("bear"))
    assert list(made["shared"]["kinds"]) == ["goat", "bear"]
    own = made["systems"][0]["kinds"]["bear"]
    tally = sheet.grid.tally("maps", "bear")
    at = round(own["steps"][own["start"]] * 100) - 1
    assert own["numbers"]["recall"][own["start"]] == pytest.approx(tally.matched[1, at] / tally.truth[1], abs=1e-3)
