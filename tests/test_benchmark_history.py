"""The history of benchmarks: a slower commit is seen, noise is not."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

pytestmark = pytest.mark.skipif(not BENCHMARKS.exists(), reason="needs the benchmarks' source")


@pytest.fixture
def everything(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return import_module("all")


def entry(machine="a", **units):
    rows = {name: {"units": value, "spread": spread} for name, (value, spread) in units.items()}
    return {"machine": {"fingerprint": machine}, "rows": rows}


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ((2.0, 0.01), (2.1, 0.01), False),  # less than a tenth
        ((2.0, 0.01), (2.3, 0.01), True),
        ((2.0, 0.10), (2.3, 0.08), False),  # the spreads explain 18 %
        ((2.0, 0.01), (1.0, 0.01), False),
    ],
)
def test_a_row_is_slower_by_more_than_a_tenth_and_more_than_both_spreads(everything, before, after, found):
    told = everything.slower(entry(edges=after, new=(9.0, 0)), entry(edges=before))
    assert [name for name, *_ in told] == (["edges"] if found else [])


def test_the_last_entry_of_the_same_machine_counts(everything, tmp_path):
    path = tmp_path / "history.jsonl"
    assert everything.last_of("a", path) is None
    lines = [entry("a", edges=(1, 0)), entry("a", edges=(2, 0)), entry("b", edges=(3, 0))]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert everything.last_of("a", path) == lines[1]
    assert everything.last_of("c", path) is None


def test_every_task_is_measured(everything):
    from hyperacuity.tasks import BUILT_IN

    assert set(BUILT_IN) <= set(everything.CASES)
