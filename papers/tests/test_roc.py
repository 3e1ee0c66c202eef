"""Error rate against sparsity, and the feasibility boundary, on curves small enough to draw by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperacuity.errors import InputError
from hyperacuity_papers.cabezas2011.roc import curve, feasibility

SHARES = st.integers(0, 10).map(lambda tenths: tenths / 10)
POINTS = st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=8)


def test_a_curve_is_a_staircase_of_the_settings_nothing_beats():
    one = curve([(0.1, 0.4), (0.3, 0.5), (0.5, 0.1)])
    assert one.height([0, 0.1, 0.3, 0.5, 1]).tolist() == [1, 0.4, 0.4, 0.1, 0.1]
    assert one.area() == pytest.approx(0.1 * 1 + 0.4 * 0.4 + 0.5 * 0.1)


def test_two_systems_that_share_the_boundary():
    boundary, standing = feasibility({"dense": [(0, 0.3)], "sparse": [(0.4, 0.1)], "poor": [(0.5, 0.35)]})
    assert boundary.sparsity.tolist() == [0, 0.4]
    assert boundary.error.tolist() == [0.3, 0.1]
    assert standing["dense"].share == pytest.approx(0.4)
    assert standing["sparse"].share == pytest.approx(0.6)
    assert standing["dense"].gap == pytest.approx(0.6 * 0.2)
    assert standing["sparse"].improvement == pytest.approx(0.6 * 0.2)
    assert standing["dense"].improvement == pytest.approx(0.4 * 0.7)
    assert standing["poor"].share == standing["poor"].improvement == 0
    assert standing["dense"].below == standing["sparse"].below == ("poor",)
    assert standing["poor"].below == ()


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.sampled_from("abcd"), POINTS, min_size=1))
def test_the_boundary_is_the_lowest_curve_everywhere(systems):
    boundary, standing = feasibility(systems)
    at = np.linspace(0, 1, 41)
    assert np.array_equal(
        boundary.height(at), np.min([curve(points).height(at) for points in systems.values()], axis=0)
    )
    for name, one in standing.items():
        assert one.gap == pytest.approx(curve(systems[name]).area() - boundary.area())
        assert 0 <= one.share <= 1
    without = {name: points for name, points in systems.items() if name != "a"}
    if "a" in systems and without:
        assert standing["a"].improvement == pytest.approx(feasibility(without)[0].area() - boundary.area())


@pytest.mark.parametrize("points", [[], [(1, 2, 3)], [(0.5, 40)]])
def test_what_is_no_list_of_shares_is_refused(points):
    with pytest.raises(InputError):
        curve(points)


def test_roc_curves_and_their_boundary():
    pytest.importorskip("altair", reason="charts need the extra report")
    from hyperacuity_papers.cabezas2011.figures import roc_chart

    systems = {"A": [(0.0, 0.2)], "B": [(0.1, 0.1)]}
    boundary, _ = feasibility(systems)
    found = [
        row
        for values in roc_chart({name: curve(points) for name, points in systems.items()}, boundary)
        .to_dict()["datasets"]
        .values()
        for row in values
    ]
    assert {row["system"] for row in found if "system" in row} == {"A", "B"}
    assert {(row["sparsity"], row["error"]) for row in found if "system" not in row} >= {(0, 0.2), (0.1, 0.1)}
