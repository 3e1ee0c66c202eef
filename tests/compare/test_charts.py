"""Charts of comparisons: what they are made of. (That they look right, eyes must judge.)"""

from __future__ import annotations

import numpy as np
import pytest

from hyperacuity.compare import Table, compare, critical_difference

pytest.importorskip("altair", reason="charts need the extra report")

from hyperacuity.report.charts import compare as draw

VECTORS = np.array([(1, 5, 3), (2, 4, 3), (2, 5, 4), (1, 5, 3), (3, 3, 9), (9, 9, 9)], dtype=float)


def rows(chart):
    """All data of a chart, whatever layer or panel they are in."""
    return [row for values in chart.to_dict()["datasets"].values() for row in values]


def ranking(criteria="xyz", **options):
    return compare(Table.flat("abcdef", "xyz", VECTORS).select(criteria=list(criteria)), **options)


def test_the_front_shows_every_system_and_joins_the_optimal_ones():
    found = rows(draw.front_chart(ranking("xy")))
    assert {row["system"] for row in found if "system" in row} == set("abcdef")
    staircase = sorted((row["x"], row["y"]) for row in found if "system" not in row)
    assert staircase == [(1, 5), (1, 5), (2, 4), (3, 3)]


def test_parallel_coordinates_put_the_best_at_zero_whatever_the_sense():
    table = Table.flat("ab", ["error", "psnr"], [[1, 30], [2, 40]], senses=["min", "max"])
    found = {(row["system"], row["criterion"]): row["share"] for row in rows(draw.parallel_chart(compare(table)))}
    assert found == {("a", "error"): 0, ("b", "error"): 1, ("a", "psnr"): 1, ("b", "psnr"): 0}


def test_rank_against_group_lists_systems_by_rank():
    found = rows(draw.rank_group_chart(ranking(), stability=np.linspace(0, 1, 6)))
    by_system = {row["system"]: row for row in found}
    assert by_system["f"]["number"] == 3
    assert list(by_system)[-1] == "f"
    assert [row["rank"] for row in found] == sorted(row["rank"] for row in found)
    assert by_system["f"]["often"] == "100 %"


def test_the_graph_draws_direct_dominance_only():
    found = rows(draw.dominance_chart(ranking()))
    edges = [row for row in found if "row2" in row]
    assert len(edges) == 5  # a, b and d over c; c and e over f
    assert all(row["row2"] > row["row"] for row in edges)


def test_the_critical_difference_diagram_joins_what_cannot_be_told_apart():
    scores = np.array([[1, 2] * 8, [2, 1] * 8, [3, 3] * 8], dtype=float)
    found = rows(draw.critical_difference_chart("abc", critical_difference(scores)))
    assert any(row.get("label", "").startswith("critical difference") for row in found)
    bar = next(row for row in found if "a" in row and row["depth"] == 0.5)
    assert bar["a"] < 1.5 < bar["b"] < 3
