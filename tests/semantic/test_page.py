"""The report of a run: what it says, and a viewer that shows one class at a time."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.report.pages import make_sheets, write_pages


@pytest.fixture
def sheet(folders):
    (folders / "names.txt").write_text("goat\nbear\nchair\n", encoding="utf-8")
    words = [
        "semantic",
        "maps",
        "truth",
        "--classes",
        "names.txt",
        "--tolerance",
        "0.03",
        "--run",
        "run",
        "--workers",
        "1",
    ]
    done = CliRunner().invoke(
        app, [str(folders / word) if (folders / word).exists() or word == "run" else word for word in words]
    )
    assert done.exit_code == 0, done.output
    (made,) = make_sheets([folders / "run"], progress=False)
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


def test_a_class_can_be_chosen_on_the_page(sheet, chromium, tmp_path):
    page = chromium.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(f"{write_pages([sheet], tmp_path / 'page', progress=False).as_uri()}#s0-0")  # bear
    page.wait_for_selector(".pane[data-hits]:not([data-hits=''])")
    hits = page.get_attribute(".pane", "data-hits")
    page.select_option("#kind", "bear")
    page.wait_for_function("(before) => document.querySelector('.pane').dataset.hits !== before", arg=hits)
    assert "bear" in page.get_attribute(".pane .window", "aria-label")
    page.close()
    assert not wrong
