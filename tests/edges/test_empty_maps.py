"""What an empty or a full map scores (section 3 of the specification; 5×5, truth = the middle column)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hyperacuity.edges import PAPER, evaluate, measure
from hyperacuity.errors import InputError

COLUMN = np.zeros((5, 5), bool)
COLUMN[:, 2] = True
EMPTY, FULL = np.zeros((5, 5), bool), np.ones((5, 5), bool)
DIAGONAL = math.sqrt(32)

NOTHING_DETECTED = {
    **dict.fromkeys(("pm", "phi", "chi2", "f_alpha", "fom", "f_pinho", "sfom", "mfom"), 1),
    "fom_e": 0,
    "d4": 0.866025,
    "dp": 0.5,
    **dict.fromkeys(("yasnoff", "dk(k=2)", "theta(k=2)", "gamma"), 0),
    **dict.fromkeys(("hausdorff", "hausdorff(percent=5)", "f2d6", "sk(k=1)", "sk(k=2)"), DIAGONAL),
    "omega(k=2)": 32,
    "baddeley(k=2)": 4.519242,
    "psi": 2.529822,
}
NOTHING_TRUE = NOTHING_DETECTED | {
    "fom_e": 1,
    "dp": 0.1,
    "yasnoff": 50.596443,
    "dk(k=2)": 2.529822,
    "theta(k=2)": 32,
    "omega(k=2)": 0,
    "gamma": math.nan,
    "psi": math.nan,
}
EVERYTHING_DETECTED = {
    "pm": 0.8,
    "phi": 1,
    "chi2": 1,
    "f_alpha": 2 / 3,
    "fom": 0.163077,
    "fom_e": 0.203846,
    "f_pinho": 0.8,
    "d4": 0.571532,
    "sfom": (0.163077 + 0.8) / 2,
    "mfom": 0.8,
    "dp": 0.101923,
    "yasnoff": 28.284271,
    "hausdorff": 2,
    "hausdorff(percent=5)": 2,
    "dk(k=2)": 0.282843,
    "f2d6": 1.2,
    "theta(k=2)": 2.5,
    "omega(k=2)": 0,
    "baddeley(k=2)": math.sqrt(2),
    "sk(k=1)": 1.2,
    "sk(k=2)": math.sqrt(2),
    "gamma": 5.656854,
    "psi": 5.656854,
}


@pytest.mark.parametrize(
    ("truth", "detected", "expected"),
    [
        pytest.param(COLUMN, EMPTY, NOTHING_DETECTED, id="nothing detected"),
        pytest.param(EMPTY, COLUMN, NOTHING_TRUE, id="nothing true"),
        pytest.param(COLUMN, FULL, EVERYTHING_DETECTED, id="everything detected"),
    ],
)
def test_an_empty_or_full_map_has_the_score_of_the_policy(
    truth: np.ndarray, detected: np.ndarray, expected: dict[str, float]
) -> None:
    assert evaluate(truth, detected) == pytest.approx(expected, abs=1e-6, nan_ok=True)
    assert set(expected) == set(PAPER)


@pytest.mark.parametrize("both", [EMPTY, FULL, COLUMN], ids=["empty", "full", "a column"])
def test_equal_maps_are_perfect_under_every_measure(both: np.ndarray) -> None:
    more = (
        "fom_e(no_fp=one)",
        "dp(no_tp=zero)",
        "chi2(signed=true)",
        "hausdorff(empty_distance=inf)",
        "baddeley(cap=2)",
    )
    assert set(evaluate(both, both, (*PAPER, *more)).values()) == {0.0}


def test_where_everything_is_true_there_is_no_background_to_share_false_pixels_among() -> None:
    scores = evaluate(FULL, COLUMN, "phi, chi2, dp")
    assert scores["phi"] == pytest.approx(1 - 5 / 25)
    assert scores["chi2"] == 1
    to_the_column = np.array([2, 1, 0, 1, 2]) ** 2
    assert scores["dp"] == pytest.approx(0.5 * np.mean(1 - 1 / (1 + to_the_column / 9)))


def test_without_a_hit_missed_pixels_cost_one_or_on_request_nothing() -> None:
    beside = np.roll(COLUMN, 1, axis=1)
    assert measure("dp")(COLUMN, beside) == pytest.approx(0.0125 + 0.5)
    assert measure("dp(no_tp=zero)")(COLUMN, beside) == pytest.approx(0.0125)
    assert measure("f_alpha")(COLUMN, beside) == 1


def test_an_empty_set_may_be_infinitely_far() -> None:
    names = ("hausdorff", "f2d6", "sk", "omega", "baddeley", "psi")
    for name in names:
        assert measure(f"{name}(empty_distance=inf)")(COLUMN, EMPTY) == math.inf
    assert measure("baddeley(empty_distance=inf,cap=3)")(COLUMN, EMPTY) < 3
    for name in ("yasnoff", "dk", "theta"):
        assert measure(f"{name}(empty_distance=inf)")(EMPTY, COLUMN) == math.inf
        assert measure(f"{name}(empty_distance=inf)")(COLUMN, EMPTY) == 0


def test_maps_of_different_size_are_refused() -> None:
    with pytest.raises(InputError, match="detection is 4×5 but truth is 5×5"):
        measure("psi")(COLUMN, COLUMN[:, :4])


def test_anything_above_zero_is_an_edge() -> None:
    assert evaluate(COLUMN * 255, COLUMN * 0.01, "pm") == {"pm": 0}
