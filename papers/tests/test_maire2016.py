"""``hyperacuity study maire2016`` on scenes that people labelled: the table, the figures, the ledger, and what is kept."""

from __future__ import annotations

import csv
import json
import shutil

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.detect import orderer
from hyperacuity.errors import InputError
from hyperacuity.ordering import ordering
from hyperacuity.report.pictures.colours import rgb
from hyperacuity.report.theme import FALSE, HIT
from hyperacuity.run.many import PictureSource
from hyperacuity_papers.common.claims import entries, read_claims
from hyperacuity_papers.maire2016 import study as paper
from hyperacuity_papers.maire2016.figures import PANEL, draw_maire2016, owners_picture

SMALL = (96, 64)
SYSTEMS = {name: orderer(name) for name in ("ucm-tj", "ae")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("maire2016")


@pytest.fixture(scope="module")
def study(folder):
    patch = pytest.MonkeyPatch()
    patch.setattr(paper, "SCENES", range(1, 4))
    patch.setattr(paper, "SIZE", SMALL)
    found = paper.maire2016(folder, count=0, systems=SYSTEMS)
    yield draw_maire2016(found, folder)
    patch.undo()


def test_without_photographs_scenes_are_asked_about(study):
    assert study.name == "scenes"
    assert study.table.images == ("scene-0001", "scene-0002", "scene-0003")
    assert study.leading == "ucm-tj"
    for block in paper.BLOCKS:
        told = study.rows(block)
        assert [row[0] for row in told[:2]] == list(SYSTEMS)
    published = [row[1:5] for row in study.rows(paper.ONTO)[2:]]
    assert published == [("0.62", "0.69", "0.72", "0.73"), ("0.56", "0.58", "0.56", "0.56")]
    assert [row[1:5] for row in study.rows(paper.COMMON)[2:]] == [
        ("0.66", "0.70", "0.69", "0.67"),
        ("0.59", "0.62", "0.61", "0.58"),
    ]


def test_on_its_own_regions_the_leading_system_answers_the_same_in_both_blocks(study):
    own, common = (study.score(block, study.leading).accuracy for block in (paper.OWN, paper.COMMON))
    assert own == pytest.approx(common, nan_ok=True)


def test_owners_that_stay_are_counted_per_image(study):
    assert set(study.owners["ae"]) == set(study.table.images)
    sums = np.array(list(study.owners["ae"].values()))
    assert study.same_owner("ae") == pytest.approx(sums[:, 0].sum() / sums[:, 1].sum())
    assert study.less_same("ae", "ae") == 0


def test_the_pictures_shown_run_from_the_worst_to_the_best(study):
    def bacc(name):
        right, asked = study.tallies(paper.ONTO, study.leading)[name].questions[:, 1]
        return right / asked

    shown = [bacc(one.name) for one in study.shown()]
    assert shown == sorted(shown)
    assert len(shown) == 3


def test_the_figures_have_two_rows_per_picture_and_a_column_per_system(study, folder):
    assert study.figures == ("figure1.png", "figure2.png")
    for name in study.figures:
        with Image.open(folder / name) as sheet:
            assert sheet.width == 12 + (2 + len(SYSTEMS)) * (PANEL[0] + 12)
            assert sheet.height > 6 * PANEL[1]


def test_every_claim_is_worked_or_says_what_it_needs(study):
    rows = entries(read_claims("maire2016").claims, study)
    assert {row.verdict for row in rows} <= {"holds", "not comparable", "not run"}
    assert {row.because for row in rows if row.verdict == "not run"} == {"needs BSDS500 and bsds-fg"}
    assert sum(row.where == "Table 1" and row.theirs.startswith("0.") for row in rows) == 16
    assert all(row.verdict == "holds" for row in rows[:10])


def test_a_torn_picture_is_named_and_does_not_stop_the_others(study, folder, monkeypatch):
    def load():
        raise InputError("torn.jpg: is cut short")

    pictures = [PictureSource("torn", load), *study.pictures]
    monkeypatch.setattr(paper, "scene_pictures", lambda *_: pictures)
    found = paper.maire2016(folder, count=0, systems=SYSTEMS)
    assert found.failures == [("torn", "torn.jpg: is cut short")]
    assert found.rows(paper.COMMON) == study.rows(paper.COMMON)
    monkeypatch.setattr(paper, "scene_pictures", lambda *_: pictures[:1])
    with pytest.raises(InputError, match="no picture could be studied; torn"):
        paper.maire2016(folder, count=0, systems=SYSTEMS)


def test_maps_are_used_again_until_system_or_code_change(study, folder, tmp_path, monkeypatch):
    calls = []

    class Counting:
        takes_regions = False

        def __init__(self, name):
            self.name = name

        def __str__(self):
            return self.name

        def __call__(self, image, labels=None):
            calls.append(1)
            return np.zeros(image.shape[:2], np.float32)

        def regions(self, image, order=None):
            calls.append(1)
            return np.zeros(image.shape[:2], np.int32)

    monkeypatch.setattr(paper, "map_folders", lambda systems, maps: {name: maps / name for name in systems})
    again = {name: Counting(str(system)) for name, system in SYSTEMS.items()}
    found = paper.maire2016(folder, count=0, systems=again)
    assert len(calls) == 0
    assert found.score(paper.ONTO, "ae").accuracy == study.score(paper.ONTO, "ae").accuracy
    others = tmp_path / "others"
    shutil.copytree(folder, others)
    paper.maire2016(others, count=0, systems={name: Counting(f"another {name}") for name in SYSTEMS})
    assert len(calls) > 0
    del calls[:]
    monkeypatch.setattr("hyperacuity_papers.maire2016.figure_ground_table.code_key", lambda *_: "another")
    paper.maire2016(others, count=0, systems=again)
    assert len(calls) > 0


def test_other_pictures_under_the_same_names_are_looked_at_anew(study, folder, tmp_path, monkeypatch):
    shutil.copytree(folder, tmp_path / "used")
    turned = [
        PictureSource(one.name, other.load) for one, other in zip(study.pictures, study.pictures[::-1], strict=True)
    ]
    monkeypatch.setattr(paper, "scene_pictures", lambda *_: turned)
    used, fresh = (paper.maire2016(tmp_path / name, count=0, systems=SYSTEMS) for name in ("used", "fresh"))
    assert used.tallies(paper.ONTO, "ae") == fresh.tallies(paper.ONTO, "ae")
    assert used.tallies(paper.ONTO, "ae")["scene-0001"] != study.tallies(paper.ONTO, "ae")["scene-0001"]


class TestSides:
    """A tall column of two regions on a ground: who owns the lower boundary, and who is small."""

    LABELS = np.array([[0, 1, 1, 0], [0, 1, 1, 0], [0, 2, 2, 0], [0, 0, 0, 0], [0, 0, 0, 0]], np.int32)
    ORDER = np.array([0.0, 2.0, 1.0])

    def sides(self, *depths):
        truth = ordering(self.ORDER[self.LABELS], self.LABELS)
        return paper.sides_of(ordering(np.array(depths)[self.LABELS], self.LABELS), [truth], self.LABELS)

    def test_the_truth_is_right_everywhere(self):
        # Lower boundaries: 1 above 2 (2 cracks), 2 above 0 (2 cracks). Of the areas 14, 4 and 2 the median is 4: 1 and 2 are
        # small, and own 4 + 2 and 2 + 2 cracks.
        assert self.sides(0, 2, 1) == (4, 4, 10, 10)

    def test_one_wrong_pair_costs_its_length(self):
        assert self.sides(0, 1, 2) == (2, 4, 8, 10)
        assert self.sides(3, 2, 1) == (2, 4, 2, 10)

    def test_owners_on_other_regions(self):
        # The boundaries of 0 with 1 and 2 have 4 cracks each, that of 1 with 2 has 2. Where 1 and 2 are joined, or moved down
        # by a row, the step nearest to these two is the column's lower end: who is above is in front if the column is before 0.
        truth = ordering(self.ORDER[self.LABELS], self.LABELS)
        turned = ordering(np.array([3.0, 2.0, 1.0])[self.LABELS], self.LABELS)
        joined, moved = np.minimum(self.LABELS, 1), np.vstack([self.LABELS[:1], self.LABELS[:-1]])
        for said, same in ((truth, 10), (turned, 8)):
            assert paper.owners_on(said, [truth], self.LABELS, self.LABELS) == (10, 10)
            assert paper.owners_on(said, [truth], self.LABELS, joined) == (same, 10)
            assert paper.owners_on(said, [truth], self.LABELS, moved) == (same, 10)

    def test_without_boundaries_there_is_nothing(self):
        flat = ordering(np.zeros((3, 3)))
        found = paper.sides_of(flat, [flat], np.zeros((3, 3), np.int32))
        assert found == (0, 0, 0, 0)
        assert np.isnan(found.below)


def test_owners_are_green_where_right_and_vermilion_where_wrong():
    from hyperacuity.ordering import compare_neighbours

    labels = np.repeat([[0] * 8 + [1] * 8], 8, axis=0).astype(np.int32)
    near, far = ordering(1.0 - labels, labels), ordering(labels.astype(float), labels)
    for said, colour, other in ((near, HIT, FALSE), (far, FALSE, HIT)):
        drawn = owners_picture(compare_neighbours(said, near, labels), labels)
        assert (drawn == rgb(colour)).all(axis=2).any()
        assert not (drawn == rgb(other)).all(axis=2).any()


def test_the_command_writes_the_table_and_the_ledger(tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "SCENES", range(1, 3))
    monkeypatch.setattr(paper, "SIZE", SMALL)
    monkeypatch.setattr(paper, "available_systems", lambda: dict(SYSTEMS))
    words = ["study", "maire2016", "--out", str(tmp_path), "--count", "0", "--no-figures"]
    told = CliRunner().invoke(app, words)
    assert told.exit_code == 0, told.stderr
    assert "Affinity CNN" in told.stdout
    assert "photographs were left out" in told.stdout
    found = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert [row["says"] for row in found["ledger"]] == [claim.says for claim in read_claims("maire2016").claims]
    assert {path.name for path in tmp_path.glob("[!.]*")} == {"maps", "table1.csv", "ledger.csv"}
    with (tmp_path / "table1.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["measure"] for row in rows} == {"racc", "bacc", "bacc50", "bacc25"}
    assert {row["paper"] for row in rows if row["system"] == "ae"} >= {"0.56", "0.58", "0.62"}


def test_all_systems_are_tried():
    found = paper.available_systems()
    assert {"ownership", "depth-order", "depth-cues", "ae", "ucm-tj"} <= set(found)
