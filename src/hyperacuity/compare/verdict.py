"""Is one system really better than another? The one place that decides; tables, pages and words quote it.

Two systems are scored on the same resamples of the images that both have (:func:`hyperacuity.resampling.paired_bootstrap`), and
p-values are corrected for the number of tests shown together (:func:`hyperacuity.resampling.holm`): every system
against the best one, or all pairs. That one system dominates another is another matter (:mod:`hyperacuity.compare.pareto`): it
says that all scores agree, not that more images would give the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

import numpy as np

from hyperacuity.compare.table import Rescore, Table
from hyperacuity.resampling import Bootstrap, holm, paired_bootstrap
from hyperacuity.tally import Criteria, Scores, Tally

LEVEL = 0.05
"""A difference with a corrected p-value from here on may be chance."""


@dataclass(frozen=True)
class Verdict:
    """One test of two systems by one score.

    ``difference`` is how much better the first one is, positive if it is better whatever the score's sense; ``low`` and ``high``
    are its 95 % interval. ``p`` is corrected for the number of ``tests`` shown together (Holm), ``p_single`` is not.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p_single: float
    p: float
    tests: int
    images: int

    @property
    def significant(self) -> bool:
        """Whether the difference is more than chance would often bring."""
        return self.p < LEVEL

    def __str__(self) -> str:
        return qualified(self.p, self.tests)


def qualified(p: float, tests: int) -> str:
    """A corrected p-value in words, which every place uses.

    >>> qualified(0.004, 1), qualified(0.3, 3)
    ('p = 0.004', "may be chance: p = 0.300 with Holm's correction for 3 tests")
    """
    number = f"p = {p:.3f}" + (f" with Holm's correction for {tests} tests" if tests > 1 else "")
    return number if p < LEVEL else f"may be chance: {number}"


def verdicts(
    systems: Sequence[str],
    tallies_of: Callable[[str], Mapping[str, Tally]],
    judged: Criteria,
    names: Sequence[str] = (),
    *,
    all_pairs: bool = False,
) -> dict[str, tuple[Verdict, ...]]:
    """Test systems, the best first, by the criteria named (by default the usual ones): each against the best, or all pairs.

    The result is by criterion. Two systems' tallies are held at a time. Pairs with fewer than two images in common have no
    verdict: one image says nothing about another.
    """

    first_tallies = lru_cache(maxsize=1)(tallies_of)

    @lru_cache(maxsize=1)
    def first_rescored(system: str, images: tuple[str, ...]) -> Rescore:
        return of(first_tallies(system), images)

    def of(tallies: Mapping[str, Tally], images: Sequence[str]) -> Rescore:
        column = [tallies[image] for image in images]
        return lambda weights: judged.rescore(column, weights)

    def both(first: str, second: str) -> tuple[Rescore, Rescore, int]:
        theirs = tallies_of(second)
        shared = tuple(sorted(first_tallies(first).keys() & theirs.keys()))  # whatever the order of files
        return first_rescored(first, shared), of(theirs, shared), len(shared)

    return verdicts_of(pairs_of(systems, all_pairs), both, judged.names, judged.senses, names or judged.usual)


def table_verdicts(table: Table, criterion: str, *, all_pairs: bool = False) -> tuple[Verdict, ...]:
    """The same of the systems of a table by one of its criteria, on the images that all share."""
    shared = table.select(images=sorted(table.images), criteria=[criterion])
    whole = shared.overall()[:, 0] * (-1 if shared.senses[0] == "max" else 1)
    order = [table.systems[n] for n in np.argsort(whole, kind="stable")]
    rescore = lru_cache(maxsize=1)(shared.rescore_of)

    def both(first: str, second: str) -> tuple[Rescore, Rescore, int]:
        return rescore(first), shared.rescore_of(second), len(shared.images)

    return verdicts_of(pairs_of(order, all_pairs), both, [criterion], shared.senses, [criterion])[criterion]


def pairs_of(systems: Sequence[str], all_pairs: bool) -> list[tuple[str, str]]:
    """The pairs to test: the first of the systems with each other one, or each with all that follow.

    >>> pairs_of("abc", False), pairs_of("abc", True)
    ([('a', 'b'), ('a', 'c')], [('a', 'b'), ('a', 'c'), ('b', 'c')])
    """
    pairs = list(combinations(systems, 2))
    return pairs if all_pairs else [pair for pair in pairs if pair[0] == systems[0]]


def verdicts_of(
    pairs: Sequence[tuple[str, str]],
    both: Callable[[str, str], tuple[Rescore, Rescore, int]],
    criteria: Sequence[str],
    senses: Sequence[str],
    names: Iterable[str],
) -> dict[str, tuple[Verdict, ...]]:
    """The same from what rescores two systems on the images they share, and how many these are."""
    chosen = {name: list(criteria).index(name) for name in names}
    found: dict[str, list[Verdict]] = {name: [] for name in chosen}
    latest: tuple[Rescore | None, Scores] = (None, np.empty(0))

    def resampled(rescore: Rescore, images: int) -> Scores:
        return np.concatenate([rescore(block) for block in Bootstrap(images, resamples_for(len(pairs))).blocks()])

    for first, second in pairs:
        mine, theirs, images = both(first, second)
        if images < 2:
            continue
        whole = np.ones((1, images), np.int64)
        observed = (mine(whole) - theirs(whole))[0]
        if latest[0] is not mine:
            latest = (mine, resampled(mine, images))
        samples = [latest[1], resampled(theirs, images)]
        for name, c in chosen.items():
            up = 1 if senses[c] == "max" else -1
            test = paired_bootstrap(up * samples[0][:, c], up * samples[1][:, c], observed=up * float(observed[c]))
            ends = (test.difference, test.low, test.high, test.p_value)
            found[name].append(Verdict(first, second, *ends, test.p_value, 0, images))
    return {name: _corrected(tests) for name, tests in found.items()}


def resamples_for(tests: int) -> int:
    """How many resamples it takes for any of so many tests to be significant after the correction.

    R resamples give no p-value below 2 / (R + 1), and Holm's correction multiplies the least by the number of tests.

    >>> resamples_for(1), resamples_for(435)
    (1000, 20010)
    """
    return max(1000, 46 * tests)


def _corrected(tests: Sequence[Verdict]) -> tuple[Verdict, ...]:
    p = holm([test.p_single for test in tests]).tolist()
    return tuple(replace(test, p=own, tests=len(tests)) for test, own in zip(tests, p, strict=True))
