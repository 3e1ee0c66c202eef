"""What the front page concludes, of sheets made up for the purpose; the sentences are written out by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from hyperacuity.columns import Column
from hyperacuity.compare.verdict import Verdict
from hyperacuity.evaluation.export import ScoreRow
from hyperacuity.report.front import conclusion, evidence, levels, title_of
from hyperacuity.report.parts import linked, reproduction
from hyperacuity.report.sheets.sheet import Sheet, file_names

SCORE = Column("f", "F")
ERROR = Column("e", "error", better="min", digits=2, unit="px")


def sheet(title: str, *values: float, p: float = 0.5, column: Column = SCORE, **more) -> Sheet:
    """Systems a, b, … with these scores; ``p`` is of the best against the second."""
    verdict = Verdict("a", "b", 0.1, 0.0, 0.2, p, p, 1, 9)
    lines = [
        ScoreRow("abcdefghijkl"[n], {column.key: value}, verdict=verdict if n == 1 else None)
        for n, value in enumerate(values)
    ]
    grid = SimpleNamespace(
        sources={line.system: None for line in lines}, origins=(), signature=SimpleNamespace(task="t")
    )
    return Sheet(title, grid, (column,), tuple(lines), **more)


def test_who_leads_clearly_and_where_it_may_be_chance():
    sheets = [
        sheet("Edges", 0.9, 0.5, p=0.01),
        sheet("Masks", 0.9, 0.5, p=0.04),
        sheet("Views", 0.9, 0.8, p=0.2),
        sheet("Labels", 0.3, column=Column("s", "share", better="")),
        sheet("Alone", 0.3),
    ]
    assert conclusion(sheets) == "a clearly leads in edges and masks. The lead may be chance in views."
    assert conclusion(sheets[3:]) == ""


def test_people_and_chance_stand_beside_the_best():
    assert levels(sheet("T", 0.7, people=0.8)) == "People reach 0.800, 0.100 above the best system."
    assert (
        levels(sheet("T", 0.7, people=0.6, chance=0.5))
        == "People reach 0.600, 0.100 below the best system. Chance is 0.500."
    )
    assert levels(sheet("T", 0.3, chance=0.5)) == "Chance is 0.500: guessing would do better."
    assert levels(sheet("T", 3.0, column=ERROR, chance=5.0)) == "Chance is 5.00 px."
    assert levels(sheet("T", 0.7)) == levels(sheet("T")) == ""


def test_the_evidence_shows_the_best_systems_with_people_and_chance_on_one_axis():
    found = evidence(sheet("T", *(0.9 - n / 10 for n in range(8)), people=0.95, chance=0.1))
    assert [row.name for row in found.rows] == [*"abcdef", "people"]
    assert found.more == 2
    assert found.span == (0.1, 0.95)
    assert found.at(0.1, 100) == 0
    assert found.at(0.95, 100) == 100
    assert found.caption == "F, higher is better"
    assert evidence(sheet("T", 3.0, column=ERROR)).caption == "error (px), lower is better"
    assert evidence(sheet("T")) is None
    assert evidence(sheet("T", math.nan)).rows[0].text == "–"


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (["Edges"], "Edges"),
        (["Edges", "Depth order"], "Edges and depth order"),
        (["Edges · thr 9", "Edges · thr 19"], "Edges"),
        (["A", "B", "C", "D"], "a and b in 4 tasks"),
    ],
)
def test_a_report_is_called_after_its_tasks_or_its_systems(titles, expected):
    assert title_of([sheet(title, 0.9, 0.5) for title in titles]) == expected


def test_many_systems_are_counted():
    assert title_of([sheet(title, *[0.5] * 5) for title in "ABCD"]) == "5 systems in 4 tasks"


def test_files_of_a_second_protocol_have_a_number():
    assert file_names([sheet("T"), sheet("T")]) == ["t", "t-2"]


def test_names_are_links_and_everything_else_is_text():
    targets = {"<b>": "#1", "hk": "#2", "hk-2": "#3", "12": "#4", "a": "#5"}
    assert str(linked("<b> beats hk-2 by a hk'r on 12 images", targets, "t.html")) == (
        '<a href="t.html#1">&lt;b&gt;</a> beats <a href="t.html#3">hk-2</a> by a <a href="t.html#2">hk</a>&#39;r on 12 images'
    )


def test_what_runs_have_in_common_is_said_once():
    def origin(run: str, machine: str) -> SimpleNamespace:
        about = {"command": f"do {run}", "folder": "/x y", "machine": machine, "versions": {"numpy": "2"}}
        return SimpleNamespace(folder=run, about=about, fingerprint=f"print {run}")

    made = []
    for origins in ([origin("r1", "M"), origin("r2", "N")], [origin("r1", "M")]):
        one = sheet("T", 0.5)
        one.grid.origins = origins
        made.append(one)
    found = reproduction(made)
    assert found["commands"] == "cd '/x y'\ndo r1\ndo r2"
    assert found["shared"] == {"Folder": "/x y", "Versions": "numpy 2"}
    assert [run["own"] for run in found["runs"]] == [{"Machine": "M"}, {"Machine": "N"}]
    assert [len(run["parts"]) for run in found["runs"]] == [2, 1]
