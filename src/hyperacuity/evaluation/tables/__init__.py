"""What a command prints of a task's result, for people and as JSON. A task without a module of its own has the plain one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from hyperacuity.compare.verdict import Verdict
from hyperacuity.kinds.cells import some
from hyperacuity.tally import Task

if TYPE_CHECKING:
    from hyperacuity.evaluation.result import Result


def presenter(task: Task[Any, Any, Any]) -> Any:
    """The module with ``summary(result)``, a mapping for JSON, and ``show(result, console)``, which prints scores."""
    own = f"{__name__}.{task.name}"
    known = task.name.isidentifier() and find_spec(own) is not None
    return import_module(own if known else f"{__name__}.plain")


def new_table(*left: str, right: Iterable[str]) -> Table:
    """A table without lines; its columns are aligned left, then right."""
    table = Table(*left, box=None, pad_edge=False)
    for heading in right:
        table.add_column(heading, justify="right")
    return table


def number(value: float, digits: int = 4) -> str:
    """Fixed decimals, so that columns align; a dash for what does not exist.

    >>> number(0.5), number(float("nan"))
    ('0.5000', '–')
    """
    return "–" if value != value else f"{value:.{digits}f}"  # only NaN is unlike itself


def interval(ends: Any, digits: int = 3) -> str:
    """The two ends of an interval.

    >>> interval((0.25, 0.5))
    '0.250 – 0.500'
    """
    low, high = ends
    return f"{number(low, digits)} – {number(high, digits)}"


def count(result: Result, system: str, images: int) -> str:
    """How many images a system has a score on, and of how many, where that is not all: ``20 of 200``."""
    expected = result.expected(system)
    return str(images) if expected in (None, images) else f"{images} of {expected}"


def counts(result: Result, images: Mapping[str, int], word: str = "images") -> str:
    """The same of all systems in a line."""
    said = {system: count(result, system, number) for system, number in images.items()}
    same = len(set(said.values())) == 1
    return (
        f"{word}: {next(iter(said.values())) if same else ', '.join(f'{name} {text}' for name, text in said.items())}"
    )


def closing(result: Result, console: Console, *notes: str) -> None:
    """What stands below a table: notes, which systems cannot be told apart, and the signature."""
    lines = [line for line in (*notes, standing(result), str(result.signature)) if line]
    console.print("\n" + "\n".join(lines), markup=False)


def paired(result: Result) -> dict[str, Any]:
    """The tests between systems, for JSON: by pair and criterion."""
    found: dict[str, Any] = {}
    for criterion, tests in result.verdicts.items():
        for one in tests:
            values = {"difference": one.difference, "low": one.low, "high": one.high}
            values |= {"p_value": one.p, "p_single": one.p_single, "tests": one.tests, "images": one.images}
            found.setdefault(f"{one.first} − {one.second}", {})[criterion] = values
    return {"paired": found} if found else {}


def standing(result: Result) -> str:
    """Of which systems the best one is ahead by the score that counts most, and where that may be chance; empty for one system.

    What it says is what the report and ``compare`` say (:mod:`hyperacuity.compare.verdict`).
    """
    criterion, tests = next(iter(result.verdicts.items()))
    return lead(criterion, tests)


def lead(criterion: str, tests: Sequence[Verdict]) -> str:
    """The same of the tests by one criterion; of all pairs, those of the first system.

    >>> lead("ods", [Verdict("a", "b", 0.1, 0.0, 0.2, 0.04, 0.04, 1, 9)])
    'by ods, a is ahead of b (p = 0.040; paired bootstrap)'
    """
    sure = [test for test in tests if test.first == tests[0].first and test.significant]
    unsure = [test for test in tests if test.first == tests[0].first and not test.significant]
    if not sure and not unsure:
        return ""
    parts = []
    if sure:
        sign = "=" if len(sure) == 1 else "≤"
        parts.append(f"{some([test.second for test in sure])} (p {sign} {max(test.p for test in sure):.3f}")
    if unsure:
        sign = "=" if len(unsure) == 1 else "≥"
        names = some([test.second for test in unsure])
        parts.append(f"{names}, which may be chance (p {sign} {min(test.p for test in unsure):.3f}")
    method = "paired bootstrap" + (f", Holm's correction for {tests[0].tests} tests" if tests[0].tests > 1 else "")
    return f"by {criterion}, {tests[0].first} is ahead of {'), and of '.join(parts)}; {method})"
