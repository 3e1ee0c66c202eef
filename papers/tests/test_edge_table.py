"""What the printed numbers of Table 4 say about the formulas: bounds that hold for any two maps, and their verdicts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hyperacuity.edges import chi2, confusion, d4, dp, f_alpha, fom, pm, sfom
from hyperacuity_papers.abdulrahman2017.edge_readings import READINGS, dp_columns_refused, sk_below_f2d6, worked_score
from hyperacuity_papers.abdulrahman2017.edge_table import (
    COLUMNS,
    PRINTED,
    SEMI,
    TABLE,
    TRUTHS,
    chi2_fit,
    chi2_of,
    d4_bound,
    d4_least,
    dp_most,
    f_from_pm,
    score,
)

MAPS = arrays(np.bool_, (7, 8))


@given(MAPS, MAPS)
def test_f_and_pm_are_one_number_told_twice(truth, found):
    assert f_from_pm(pm(truth, found)) == pytest.approx(f_alpha(truth, found))


@given(MAPS, MAPS)
def test_d4_is_never_below_what_f_and_fom_allow(truth, found):
    f, merit = 1 - f_alpha(truth, found), fom(truth, found)
    assert d4(truth, found) >= d4_least(f, merit, printed=False) - 1e-6
    assert d4(truth, found, fom_term="linear") >= d4_least(f, merit, printed=True) - 1e-6


@given(MAPS, MAPS)
def test_dp_as_printed_is_never_above_what_sfom_and_fom_allow(truth, found):
    both, merit = sfom(truth, found), fom(truth, found)
    if not truth.any() or truth.all() or 2 * both - merit >= 1:
        return
    assert dp(truth, found, target="detection") <= dp_most(both, merit, truth.mean()) + 1e-9


@given(st.integers(2, 30), st.integers(1, 30), st.integers(1, 200))
def test_chi2_follows_from_f_where_precision_is_recall(hits, false, rest):
    """A row of pixels with as many false as missed ones."""
    truth = np.repeat([True, True, False, False], [hits, false, false, rest])[None]
    found = np.repeat([True, False, True, False], [hits, false, false, rest])[None]
    assert confusion(truth, found) == (hits, false, false, rest)
    f, density = hits / (hits + false), truth.mean()
    for printed, reading in ((False, "yitzhaky"), (True, "printed")):
        assert chi2_of(f, density, printed=printed) == pytest.approx(chi2(truth, found, reading=reading))


def test_table_4_decides_chi2_d4_and_dp():
    # Errors and bounds as worked out beforehand, with a finer grid of densities
    assert chi2_fit(SEMI, printed=False) == pytest.approx((0.085, 0.0035), abs=0.0015)
    assert chi2_fit(SEMI, printed=True)[1] == pytest.approx(0.13, abs=0.002)
    assert chi2_fit(TRUTHS[0], printed=False) == pytest.approx((0.032, 0.0024), abs=0.0005)
    assert chi2_fit(TRUTHS[0], printed=True)[1] == pytest.approx(0.042, abs=0.001)
    assert d4_bound(SEMI, "sobel", printed=True) == pytest.approx(0.372, abs=0.0015)
    assert d4_bound(SEMI, "sobel", printed=False) == pytest.approx(0.322, abs=0.0015)
    for truth in TRUTHS:
        for name in COLUMNS:
            assert d4_bound(truth, name, printed=True) > score(truth, "d4", name)
            assert d4_bound(truth, name, printed=False) < score(truth, "d4", name) + 0.001
    assert dp_columns_refused() == 8
    assert sk_below_f2d6() == (10, 0)


def test_the_table_is_as_printed_and_two_cells_are_repaired():
    assert PRINTED[SEMI]["chi2"]["hk"] == 0.502
    assert score(SEMI, "chi2", "hk") == 0.778
    assert PRINTED[SEMI]["hausdorff"]["canny"] == 15.175
    assert {len(rows[name]) for rows in PRINTED.values() for name in TABLE} == {5}
    assert all(abs(f_from_pm(score(t, "pm", d)) - score(t, "f_alpha", d)) < 0.0015 for t in TRUTHS for d in COLUMNS)


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.symbol)
def test_both_readings_differ_on_a_worked_example(reading):
    default, other = ([worked_score(name, vector) for vector in ("E1", "E2", "E3", "E4")] for name in reading.worked)
    assert default != other
    assert reading.evidence()
