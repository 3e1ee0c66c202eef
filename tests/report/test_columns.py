"""Columns that a benchmark of another package declares stand in every table: terminal, LaTeX, Markdown, CSV, report and board."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import hyperacuity as ha
from hyperacuity import tasks
from hyperacuity.board import write_board
from hyperacuity.cards import About, write_card
from hyperacuity.columns import Column, Columns, Scored
from hyperacuity.data import write_png
from hyperacuity.evaluation.score_tables import columns_of
from hyperacuity.report.pages import make_sheets
from hyperacuity.tally import BaseProtocol, Counts, Tally
from hyperacuity.tasks import Criteria, Task


@dataclass(frozen=True)
class GreyProtocol(BaseProtocol):
    task: ClassVar[str] = "grey"

    def parts(self):
        return {"levels": 2}


@dataclass(frozen=True, eq=False)
class GreyTally(Tally):
    right: Counts
    pixels: Counts


@dataclass(frozen=True)
class GreyScore:
    right: float
    pixels: int


GREY = GreyProtocol()


def tally(prediction, truths: Sequence, protocol: GreyProtocol = GREY) -> GreyTally:
    right = np.count_nonzero((np.asarray(prediction) > 0.5) == np.asarray(truths[0]))
    return GreyTally(np.array(right), np.array(np.size(truths[0])), protocol=protocol)


def rescore(tallies, weights):
    right, pixels = (np.array([int(getattr(one, name)) for one in tallies]) for name in ("right", "pixels"))
    return ((weights @ right) / (weights @ pixels))[:, np.newaxis]


def collect(tallies: Mapping[str, GreyTally], *, resamples: int = 1000, seed: int = 0) -> GreyScore:
    every = list(tallies.values())
    return GreyScore(float(rescore(every, np.ones((1, len(every))))[0, 0]), sum(int(one.pixels) for one in every))


def facts(scored: Scored) -> Iterator[str]:
    yield f"{len(scored.scores)} shades"


TASK = Task(
    "grey",
    "Shades of grey",
    GreyProtocol,
    GreyTally,
    tally,
    collect,
    lambda protocol: Criteria(("right",), ("max",), rescore, ("right",)),
    columns=Columns(
        (
            Column("right", "right pixels", interval=True, note="Share of pixels on the right side of one half"),
            Column("wrong", "wrong", "min", 1, "The others", "%", value=lambda score: 100 * (1 - score.right)),
            Column("size", "size", "", value=lambda score: "large" if score.pixels > 500 else "small"),
        ),
        facts=facts,
    ),
)


@pytest.fixture
def shades(tmp_path, monkeypatch):
    """A run of two systems on three images of 20 pixels: all are right by ``good``, 15 by ``poor``, so a quarter are wrong."""
    monkeypatch.setattr(tasks, "_joined", {"grey": TASK})
    truth = np.zeros((4, 5), np.uint8)
    truth[:2] = 255
    poor = truth.copy()
    poor[0] = 0
    for folder, drawn in {"good": truth, "poor": poor, "truth": truth}.items():
        (tmp_path / folder).mkdir()
        for n in range(3):
            write_png(tmp_path / folder / f"{n}.png", drawn)
    systems = {"good": tmp_path / "good", "poor": tmp_path / "poor"}
    result = ha.evaluate("grey", systems, tmp_path / "truth", run=tmp_path / "run", progress=False)
    return tmp_path, result


def test_in_text_for_people_papers_and_programs(shades):
    _, result = shades
    head, good, poor, _, said, *_ = str(result).splitlines()
    assert head.split() == ["system", "images", "right", "pixels", "95", "%", "interval", "wrong", "%", "size"]
    assert good.split() == ["good", "3", "1.0000", "1.000", "–", "1.000", "0.00", "small"]
    assert poor.split() == ["poor", "3", "0.7500", "0.750", "–", "0.750", "25.00", "small"]
    assert said == "2 shades"
    assert "| system | right pixels ↑ | wrong, % ↓ | size | 95 % interval | p |" in result.markdown()
    assert "| poor | 0.750 | 25.0 | small | 0.750 – 0.750 | 0.002 |" in result.markdown()
    assert r"poor & 0.750 & 25.0 & small & 0.750 -- 0.750 & 0.002 \\" in result.latex()
    first, second = csv.DictReader(io.StringIO(result.csv()))
    assert (first["wrong"], second["right"], second["wrong"], second["size"]) == ("0.0", "0.75", "25.0", "small")
    assert result.json()["systems"]["poor"] == {"images": 3, "right": 0.75, "interval": [0.75, 0.75]}


def test_in_a_report(shades):
    folder, result = shades
    page = result.report(folder / "page", progress=False).read_text(encoding="utf-8")
    cells = re.findall(r'data-label="(?:right pixels|wrong, %|size)" data-value="([^"]*)">(?:<strong>)?([^<]*)', page)
    assert cells == [
        *[("1.0", "1.000"), ("0.0", "0.0"), ("small", "small")],
        *[("0.75", "0.750"), ("25.0", "25.0"), ("small", "small")],
    ]
    assert "Share of pixels on the right side of one half" in page


def test_on_a_board(shades):
    folder, result = shades
    (folder / "cards").mkdir()
    for name in ("good", "poor"):
        write_card(result.card(name, about=About(name)), folder / "cards" / f"{name}.card")
    board = write_board([*(folder / "cards").iterdir()], folder / "site", progress=False)
    page = (folder / "site" / f"boards/{board.boards[0].id}.html").read_text(encoding="utf-8")
    assert "right pixels" in page
    assert "Share of pixels on the right side of one half" in page
    table = (folder / "site" / f"boards/{board.boards[0].id}.md").read_text(encoding="utf-8")
    assert "| system | right pixels ↑ | wrong, % ↓ | size | 95 % interval | p |" in table
    assert "| poor | 0.750 | 25.0 | small | 0.750 – 0.750 | 0.002 |" in table
    assert re.findall(r'<td data-value="(?:25.0|small)">([^<]*)', page) == ["small", "25.0", "small"]
    facts = json.loads((folder / "site" / "board.json").read_text(encoding="utf-8"))
    assert [one["scores"] for one in facts["boards"][0]["systems"]] == [{"right": 1.0}, {"right": 0.75}]


@pytest.mark.parametrize("task", ["edges", "regions", "masks", "ordering", "occlusion", "dbe", "disparity", "semantic"])
def test_a_report_shows_the_columns_that_its_task_declares(world, task):
    for sheet in make_sheets([world / task], progress=False):
        declared = columns_of(sheet.grid.task, sheet.grid.protocol).scores[:8]
        assert sheet.columns == declared
        assert all(set(line.values) >= {column.key for column in declared} for line in sheet.lines)


def test_how_each_system_was_suppressed_is_lost_in_no_table(tmp_path):
    """Where it differs between systems, it is a column of every table."""
    line = np.zeros((24, 32), np.uint8)
    line[12] = 255
    for folder, drawn in {"thin": line, "thick": np.maximum(line, np.roll(line, 1, 0)), "truth": line}.items():
        (tmp_path / folder).mkdir()
        for n in range(2):
            write_png(tmp_path / folder / f"{n}.png", drawn)
    systems = {"thin": tmp_path / "thin", "thick": tmp_path / "thick"}
    nms = {"nms_of": {"thick": "structured"}}
    result = ha.evaluate("boundary", systems, tmp_path / "truth", protocol=nms, run=tmp_path / "run", progress=False)
    assert result.json()["systems"]["thick"]["nms"] == "structured-s1-r1"
    page = result.report(tmp_path / "page", progress=False).read_text(encoding="utf-8")
    for text in (str(result), result.markdown(), result.latex(), result.csv()):
        assert re.search(r"\bnms\b", text), text
        rows = [row for row in text.splitlines() if re.match(r"(\| )?thi(n|ck)\b", row)]
        assert sorted("structured-s1-r1" in row.split("boundary|")[0] for row in rows) == [False, True]
    assert 'data-label="nms" data-value="structured-s1-r1">structured-s1-r1<' in page
    assert json.loads(json.dumps(result.json()))["notes"] is not None


def test_json_of_labels_has_shares_and_tables_have_per_cents():
    """A part of the line is one person's only."""
    line = np.zeros((9, 40), bool)
    line[4, :20] = True
    other = line.copy()
    other[4, 15:20] = False
    result = ha.evaluate("strength", None, [[line, other]] * 3)
    (shares,) = result.json()["systems"].values()
    (row,) = csv.DictReader(io.StringIO(result.csv()))
    assert 0 < shares["orphan"] < 1
    assert float(row["orphan"]) == pytest.approx(100 * shares["orphan"])
    assert shares["interval"] == pytest.approx([shares["orphan"]] * 2)
