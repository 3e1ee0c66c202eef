"""Ranks and groups by hand, and the curves in charts: every point of them, and what its colours and marks mean."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hyperacuity.boundary import BoundaryTally, Point, Protocol, collect
from hyperacuity.columns import Column
from hyperacuity.compare.verdict import Verdict
from hyperacuity.evaluation.export import ScoreRow
from hyperacuity.evaluation.score_tables import ranked
from hyperacuity.report import theme
from hyperacuity.report.charts import boundary as charts_boundary

ODS, ERROR = Column("ods", "ODS"), Column("error", "error", better="min", digits=1, unit="%")
LINES = [
    ScoreRow("a", {"ods": 0.5, "error": 9}),
    ScoreRow("b", {"ods": 0.7, "error": 12}),
    ScoreRow("c", {"ods": 0.5, "error": 10}),
]


def outcomes(*worse: str):
    """Tests of the best system against each other one, of which these are significantly worse."""

    def test(systems: list[str]) -> list[Verdict]:
        best, *others = systems
        p = {system: 0.001 if system in worse else 0.6 for system in others}
        return [Verdict(best, one, 1.0, 0.0, 2.0, p[one] / 2, p[one], len(others), 9) for one in others]

    return test


class TestRanks:
    def test_best_first_equal_scores_share_a_rank(self):
        found = ranked([ODS], LINES)
        assert [(line.system, line.rank) for line in found] == [("b", 1), ("a", 2), ("c", 2)]

    def test_errors_are_better_when_small(self):
        assert [line.system for line in ranked([ERROR, ODS], LINES)] == ["a", "c", "b"]

    def test_the_optimal_set_looks_at_every_criterion(self):
        assert {line.system for line in ranked([ODS, ERROR], LINES) if line.optimal} == {"a", "b"}

    def test_a_system_is_alone_only_when_better_than_every_other(self):
        (first, *_) = ranked([ODS], LINES, outcomes("a", "c"))
        assert (first.system, first.alone) == ("b", True)
        assert not any(line.alone for line in ranked([ODS], LINES, outcomes("a")))
        assert not any(line.alone for line in ranked([ODS], LINES))

    def test_every_line_but_the_first_says_what_the_test_against_it_said(self):
        found = ranked([ODS], LINES, outcomes("c"))
        assert {line.system: line.p for line in found} == {"b": None, "a": 0.6, "c": 0.001}

    def test_without_tests_there_are_no_p_values(self):
        assert {line.p for line in ranked([ODS], LINES)} == {None}

    def test_what_has_no_score_is_last(self):
        found = ranked([ODS], [ScoreRow("nan", {"ods": math.nan}), *LINES])
        assert found[-1].system == "nan"
        assert found[-1].rank == 4

    def test_nothing_gives_nothing(self):
        assert ranked([ODS], []) == ()


class TestCharts:
    @pytest.fixture
    def scores(self):
        levels = Protocol().levels
        found = {}
        for name, worth in (("a", 1.0), ("b", 0.7)):
            n = np.full(levels.size, 1000, np.int64)
            right = np.round(1000 * worth * (1 - levels)).astype(np.int64)
            shown = np.round(1200 * (1.05 - levels)).astype(np.int64)
            tally = BoundaryTally(right, n, np.minimum(right, shown), shown, shown, shown, protocol=Protocol())
            found[name] = collect({"x": tally, "y": tally}, resamples=0)
        return found

    @staticmethod
    def rows(spec):
        return [row for values in spec["datasets"].values() for row in values]

    def test_every_point_of_the_curve_is_in_the_chart(self, scores):
        rows = self.rows(charts_boundary.precision_recall(scores).to_dict())
        of_a = [row for row in rows if row.get("system", "").endswith("  a") and "F" in row]
        assert len(of_a) == np.count_nonzero(scores["a"].curve.f) + 1
        for row in of_a:
            p, r = row["precision"], row["recall"]
            assert row["F"] == pytest.approx(2 * p * r / (p + r), abs=2e-4)

    def test_iso_lines_have_the_f_they_are_labelled_with(self, scores):
        rows = self.rows(charts_boundary.precision_recall(scores).to_dict())
        lines = [row for row in rows if isinstance(row.get("F"), str)]
        assert {float(row["F"]) for row in lines} == set(charts_boundary.ISO_F)
        for row in lines:
            p, r = row["precision"], row["recall"]
            assert 2 * p * r / (p + r) == pytest.approx(float(row["F"]))

    def test_people_are_the_black_diamond(self, scores):
        spec = charts_boundary.precision_recall(scores, human=Point(math.nan, 0.7, 0.9, 0.7875)).to_dict()
        (mark,) = [layer["mark"] for layer in spec["layer"] if layer["mark"].get("shape") == "diamond"]
        assert mark["color"] == theme.HUMAN.colour == "#000000"
        without = charts_boundary.precision_recall(scores).to_dict()
        assert not [layer for layer in without["layer"] if layer["mark"].get("shape") == "diamond"]

    def test_thresholds_are_told_on_screen_not_on_paper(self, scores):
        for draw in (charts_boundary.precision_recall, charts_boundary.f_over_threshold):
            assert len(draw(scores, hover=True).to_dict()["layer"]) == len(draw(scores).to_dict()["layer"]) + 1
