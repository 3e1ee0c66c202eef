"""Names of measures print and parse back, and mistakes are told at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperacuity import edges
from hyperacuity.edges import FAMILIES, PAPER, evaluate, measure, measures
from hyperacuity.errors import UsageError

TRUTH, DETECTED = np.eye(6, dtype=bool), np.eye(6, k=1, dtype=bool)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_a_plain_function_of_its_name(family: str) -> None:
    assert measure(family)(TRUTH, DETECTED) == getattr(edges, family)(TRUTH, DETECTED)
    assert str(measure(str(measure(family)))) == str(measure(family))


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("baddeley", "baddeley(k=2)"),
        ("baddeley( k = 2.0 )", "baddeley(k=2)"),
        ("baddeley(cap=5,k=1)", "baddeley(k=1,cap=5)"),
        ("hausdorff(percent=0)", "hausdorff"),
        ("hausdorff(percent=5)", "hausdorff(percent=5)"),
        ("fom(kappa=1/9)", "fom"),
        ("fom(kappa=0.2)", "fom(kappa=0.2)"),
        ("baddeley(cap=inf)", "baddeley(k=2)"),
        ("theta(clip=TRUE,delta=5)", "theta(k=2,delta=5,clip=true)"),
        ("chi2(reading=printed)", "chi2(reading=printed)"),
        ("psi()", "psi"),
    ],
)
def test_a_name_prints_in_one_way(written: str, canonical: str) -> None:
    assert str(measure(written)) == canonical
    assert measure(written)(TRUTH, DETECTED) == measure(canonical)(TRUTH, DETECTED)


@settings(deadline=None, max_examples=40)
@given(st.floats(1e-3, 1, exclude_min=True))
def test_a_number_in_a_name_is_read_back_to_the_last_digit(kappa: float) -> None:
    name = str(measure(f"fom(kappa={kappa!r})"))
    assert measure(name)(TRUTH, DETECTED) == edges.fom(TRUTH, DETECTED, kappa=kappa)


def test_the_papers_list_is_canonical_and_complete() -> None:
    assert [str(m) for m in measures(PAPER)] == list(PAPER)
    assert {m.family for m in measures(PAPER)} == set(FAMILIES)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("gama", "no measure gama; did you mean gamma"),
        ("xyz", "there are pm, phi"),
        ("psi(k=2)", "psi has no option k=2; it has empty_distance"),
        ("pm(k=2)", "it has none"),
        ("sk(k=two)", "k must be a number"),
        ("sk(k=0)", "above 0"),
        ("sk(k=1/0)", "k must be a number"),
        ("fom(kappa=nan)", "above 0"),
        ("f_alpha(alpha=2)", "alpha must be"),
        ("hausdorff(percent=100)", "below 100"),
        ("chi2(reading=mine)", "yitzhaky or printed or counts"),
        ("theta(clip=2)", "true or false"),
        ("sk(k=2", "no measure"),
    ],
)
def test_a_mistake_in_a_name_is_told_in_one_sentence(wrong: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        measure(wrong)


def test_several_names_may_stand_in_one_text() -> None:
    assert list(evaluate(TRUTH, DETECTED, "psi,sk(k=1),theta(k=1,delta=2),psi")) == [
        "psi",
        "sk(k=1)",
        "theta(k=1,delta=2)",
    ]


def test_the_documentation_lists_every_measure() -> None:
    text = (Path(__file__).parents[2] / "docs" / "tasks" / "edges.md").read_text(encoding="utf-8")
    assert [name for name in FAMILIES if f"| `{name}` |" not in text] == []


def test_symbols_are_those_of_the_paper() -> None:
    assert [measure(n).symbol for n in ("psi", "baddeley", "sk(k=1)", "hausdorff(percent=5)")] == [
        "Ψ",
        "Δ²",
        "S¹",
        "H5%",
    ]
