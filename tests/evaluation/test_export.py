"""Tables to paste: text that LaTeX, Markdown and programs read as it was meant, for every task, with the result's numbers."""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import hyperacuity as ha
from hyperacuity import tasks
from hyperacuity.cli import app
from hyperacuity.compare.verdict import Verdict
from hyperacuity.data import write_png
from hyperacuity.evaluation.comparison import compare_runs
from hyperacuity.evaluation.export import Column, ScoreRow, ScoreTable, csv_table, latex_table, markdown_table
from hyperacuity.evaluation.score_tables import of_comparison, score_table

from .conftest import inputs

NASTY = "a_b & 50% $x$ #1 {z} ~ ^ \\ | <i>"
ODS, ERROR = Column("ods", "ODS"), Column("error", "error", better="min", digits=1, unit="%")
TABLE = ScoreTable(
    (ODS, ERROR),
    (
        ScoreRow("plain", {"ods": 0.71234, "error": 3}, {"ods": (0.7, 0.72)}),
        ScoreRow(NASTY, {"ods": 0.6, "error": math.nan}, p=0.01),
    ),
    "Title.",
    "boundary|tol:1|v:1",
    tests=1,
    more=(Column("images", "images"),),
)


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


class TestText:
    def test_csv_reads_back_with_full_precision(self):
        first, second = read(csv_table(TABLE))
        assert (first["system"], float(first["ods"]), float(first["ods_low"])) == ("plain", 0.71234, 0.7)
        assert (second["system"], second["error"], second["signature"]) == (NASTY, "", "boundary|tol:1|v:1")
        assert (first["p"], second["p"], second["ods_high"], first["images"]) == ("", "0.01", "", "")

    def test_latex_has_booktabs_and_escapes_what_is_special(self):
        text = latex_table(TABLE)
        caption = r"\caption{Title. \texttt{boundary\textbar\allowbreak{}tol:1\textbar\allowbreak{}v:1}}"
        assert text.startswith(f"\\begin{{table}}\n\\centering\n{caption}\n\\label{{tab:boundary}}\n")
        assert "\\begin{tabular}{lrrrr}\n\\toprule\n" in text
        assert r"plain & \textbf{0.712} & 3.0 & 0.700 -- 0.720 & -- \\" in text
        row = next(line for line in text.splitlines() if line.startswith("a"))
        assert r"a\_b \& 50\% \$x\$ \#1 \{z\} \textasciitilde{} \textasciicircum{} \textbackslash{} \textbar{}" in row
        assert len(re.findall(r"(?<!\\)&", row)) == 4
        assert r"error, \% $\downarrow$" in text

    def test_markdown_has_one_cell_per_column(self):
        head, rule, first, second, *rest = markdown_table(TABLE).splitlines()
        assert head == "| system | ODS ↑ | error, % ↓ | 95 % interval | p |"
        assert first == "| plain | **0.712** | 3.0 | 0.700 – 0.720 | – |"
        assert {len(re.findall(r"(?<!\\)\|", line)) for line in (head, rule, first, second)} == {6}
        assert "<i>" not in second
        assert rest == ["", "Title.", "", "`boundary|tol:1|v:1`"]

    @given(st.text(max_size=20))
    def test_no_name_breaks_out_of_its_cell(self, name):
        table = replace(TABLE, rows=(ScoreRow(name, {"ods": 0.5, "error": 1}),), caption=name)
        assert [row["system"] for row in read(csv_table(table))] == [name] or "\r" in name or "\0" in name
        lines = latex_table(table).splitlines()
        assert len(lines) == 12
        assert len(re.findall(r"(?<!\\)&", lines[8])) == 3
        opened = re.sub(r"\\[{}]", "", "".join(lines))
        assert opened.count("{") == opened.count("}")
        row = markdown_table(table).splitlines()[2]
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 5
        assert "<" not in row

    def test_a_table_with_many_scores_has_a_line_for_each(self):
        columns = tuple(Column(f"m{n}", f"m{n}", "min") for n in range(9))
        rows = tuple(ScoreRow(name, {f"m{n}": n + add for n in range(9)}) for name, add in (("a", 0.0), ("b", 0.5)))
        lines = markdown_table(ScoreTable(columns, rows)).splitlines()
        assert lines[0] == "|  | a | b |"
        assert lines[2:4] == ["| m0 ↓ | **0.000** | 0.500 |", "| m1 ↓ | **1.000** | 1.500 |"]
        assert len(lines) == 11

    def test_people_are_never_the_best(self):
        table = replace(TABLE, rows=(*TABLE.rows, ScoreRow("people", {"ods": 0.8, "error": 2.0}, people=True)))
        assert "| people | 0.800 | 2.0 | – | – |" in markdown_table(table)
        assert "**0.712**" in markdown_table(table)

    def test_what_is_printed_alike_is_bold_alike(self):
        rows = (ScoreRow("a", {"ods": 0.50001}), ScoreRow("b", {"ods": 0.5}), ScoreRow("c", {"ods": 0.4}))
        assert markdown_table(ScoreTable((ODS,), rows)).count("**0.500**") == 2
        assert "**" not in markdown_table(ScoreTable((ODS,), rows, unsure=frozenset(["ods"])))


@pytest.fixture(scope="module")
def tables() -> dict[str, tuple[ScoreTable, Any]]:
    """For each task, the table of one system on two small images, and its score."""
    found = {}
    for name in tasks.BUILT_IN:
        judge = ha.Evaluator(name)
        for seed in range(2):
            prediction, truths, extras = inputs(name, seed)
            judge.update(prediction, truths, **extras)
        score = judge.score()
        found[name] = (score_table(judge.task, judge.protocol, {"mine": judge.tallies}, {"mine": score}, {}), score)
    return found


class TestEveryTask:
    @pytest.mark.parametrize("name", tasks.BUILT_IN)
    def test_a_table_has_the_scores_by_every_criterion_and_its_signature(self, name, tables):
        table, _ = tables[name]
        task = tasks.task(name)
        criteria = task.criteria(task.protocol())
        (row,) = read(csv_table(table))
        assert set(criteria.names) <= set(row)
        assert row["signature"] == str(task.protocol().signature)
        assert row["images"] == "2"
        assert table.main.key == criteria.usual[0]
        senses = dict(zip(criteria.names, criteria.senses, strict=True))
        assert all(column.better in ("", senses[column.key]) for column in table.columns if column.key in senses)
        assert "|v:" in markdown_table(table)
        assert r"\bottomrule" in latex_table(table)

    def test_numbers_and_intervals_are_those_of_the_scores(self, tables):
        def cell(name: str, key: str) -> tuple[float, float, float]:
            row = read(csv_table(tables[name][0]))[0]
            return tuple(float(row[part]) for part in (key, f"{key}_low", f"{key}_high"))

        boundary, edges, whdr = (tables[name][1] for name in ("boundary", "edges", "whdr"))
        assert cell("boundary", "ods") == pytest.approx((boundary.ods.f, *boundary.ods.interval))
        assert cell("boundary", "ois") == pytest.approx((boundary.ois.f, *boundary.ois.interval))
        assert cell("edges", "psi") == pytest.approx((edges.minimum[-1], *edges.interval[-1]))
        assert cell("whdr", "whdr") == pytest.approx((whdr.rates["whdr"], *whdr.intervals["whdr"]))
        regions, masks = tables["regions"][1], tables["masks"][1]
        assert cell("regions", "vi") == pytest.approx((regions.vi.ods, *regions.vi.interval))
        assert cell("masks", "jf") == pytest.approx((masks.mean["jf"], *masks.interval["jf"]))

    def test_the_measures_of_edges_have_the_papers_symbols(self, tables):
        lines = latex_table(tables["edges"][0]).splitlines()
        assert any(line.startswith(r"$\Psi$ $\downarrow$ & ") for line in lines)
        assert any(line.startswith(r"$\chi$$^{2}$* $\downarrow$ & ") for line in lines)

    def test_a_benchmark_of_another_package_has_its_criteria(self, watched):
        maps = {"more": [np.ones((4, 4))], "less": [np.eye(4)]}
        first, second = read(ha.evaluate("watched", maps, [np.ones((4, 4), bool)]).csv())
        assert (first["system"], first["pixels"], second["pixels"]) == ("more", "16.0", "4.0")
        assert (first["rank"], second["rank"], first["pareto"], second["pareto"]) == ("1", "2", "1", "0")


class TestResults:
    @pytest.fixture(scope="class")
    @classmethod
    def result(cls):
        line = np.zeros((20, 30), bool)
        line[10] = True
        right = [line * np.float32(0.9)] * 6
        maps = {"right": right, "wrong": [np.roll(one, 6, axis=0) for one in right]}
        return ha.evaluate("boundary", maps, [[line, line]] * 6, human=True, progress=False)

    def test_a_result_writes_its_own_table_with_people(self, result):
        head, _, first, second, people, *rest = result.markdown().splitlines()
        # Every pixel of the one is right and none of the other's, on each of six images: no resample differs.
        assert head.startswith("| system | ODS ↑ | OIS ↑ | AP ↑ |")
        assert first.startswith("| right | **1.000** | **1.000** |")
        assert second.startswith("| wrong | 0.000 | 0.000 |")
        assert people.startswith("| people | 1.000 | – | – |")
        assert str(result.signature) in rest[-1]
        assert [row["system"] for row in read(result.csv())] == ["right", "wrong", "people"]
        assert r"\textbf{1.000}" in result.latex()

    def test_bold_is_what_is_better_than_every_other_beyond_chance(self, result):
        task, tallies = result.task, {name: result.tallies(name) for name in result.systems}

        def bold(p: float) -> bool:
            tests = {"ods": [Verdict("right", "wrong", 1.0, 0.0, 1.0, p, p, 1, 6)]}
            return "**1.000**" in markdown_table(score_table(task, result.protocol, tallies, result.scores, tests))

        assert bold(0.04)
        assert not bold(0.06)

    def test_images_are_a_column_where_systems_have_not_the_same(self, result):
        some = {name: dict(list(result.tallies(name).items())[:count]) for name, count in (("right", 6), ("wrong", 2))}
        text = markdown_table(score_table(result.task, result.protocol, some, result.scores, {}))
        assert "| images |" in text.splitlines()[0]
        assert "| 2 |" in text.splitlines()[3]
        assert "images" not in result.markdown().splitlines()[0]


@pytest.fixture(scope="module")
def maps(tmp_path_factory):
    """Two folders of maps and one of truths, three images each."""
    folder = tmp_path_factory.mktemp("maps")
    for name, values in {"truth": (255, 255, 255), "good": (200, 210, 220), "poor": (0, 0, 200)}.items():
        (folder / name).mkdir()
        for n, value in enumerate(values):
            drawn = np.zeros((16, 24), np.uint8)
            drawn[8], drawn[0, 0] = value, 40 if name != "truth" else 0
            write_png(folder / name / f"{n}.png", drawn)
    words = [
        "boundary",
        str(folder / "good"),
        str(folder / "truth"),
        "--system",
        f"p_r={folder / 'poor'}",
        "--workers",
        "1",
    ]
    assert CliRunner().invoke(app, [*words, "--run", str(folder / "run")]).exit_code == 0
    return folder, words


class TestCommands:
    def call(self, *words, status=0):
        done = CliRunner().invoke(app, [str(word) for word in words])
        assert done.exit_code == status, done.output
        return done

    def test_files_are_written_beside_the_table_and_a_dash_replaces_it(self, maps, tmp_path):
        _, words = maps
        files = ["--latex", tmp_path / "new" / "t.tex", "--markdown", tmp_path / "t.md"]
        usual = self.call(*words, *files).stdout
        assert "95 % interval" in usual
        assert r"p\_r &" in (tmp_path / "new" / "t.tex").read_text(encoding="utf-8")
        assert "| p\\_r |" in (tmp_path / "t.md").read_text(encoding="utf-8")
        printed = self.call(*words, "--csv", "-").stdout
        assert [row["system"] for row in read(printed)] == ["good", "p_r"]
        assert read(printed)[0]["signature"].startswith("boundary|")

    def test_only_one_thing_goes_to_standard_output(self, maps, capfd):
        _, words = maps
        for more in (["--csv", "-", "--json"], ["--csv", "-", "--latex", "-"]):
            with pytest.raises(SystemExit) as end:
                app([*words, *more])
            assert end.value.code == 2
            assert "standard output: choose one" in capfd.readouterr().err

    def test_a_run_has_its_table_later_without_the_library_that_plots(self, maps, monkeypatch):
        folder, words = maps
        from hyperacuity.report import theme

        monkeypatch.setattr(theme, "require", lambda: pytest.fail("needs no charts"))
        later = self.call("report", folder / "run", "--table", "csv").stdout
        assert later == self.call(*words, "--csv", "-").stdout
        assert "people" not in self.call("report", folder / "run", "--table", "markdown", "--human").stdout

    def test_a_comparison_has_groups_and_ranks(self, maps, tmp_path):
        folder, _ = maps
        self.call("compare", folder / "run", "--csv", tmp_path / "c.csv", "--resamples", "0")
        first, second = read((tmp_path / "c.csv").read_text(encoding="utf-8"))
        assert (first["system"], first["group"], first["place"], second["group"]) == ("good", "1", "1", "2")
        assert first["ods"] == read(self.call("report", folder / "run", "--table", "csv").stdout)[0]["ods"]
        table = of_comparison(compare_runs([folder / "run"], resamples=0))
        assert markdown_table(table).startswith("| system | group | average rank | place | ods ↑ | ois ↑ | ap ↑ |")
