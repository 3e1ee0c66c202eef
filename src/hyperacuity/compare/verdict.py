"""Verdicts on whether one system is really better than another, quoted by all tables, pages and texts.

Two systems are scored on the same resamples of the images that both have (:func:`hyperacuity.resampling.paired_bootstrap`), and
p-values are corrected for the number of tests shown together (:func:`hyperacuity.resampling.holm`): every system
against the best one, or all pairs. Dominance (:mod:`hyperacuity.compare.pareto`) is different: it says
that all scores agree, not that more images would give the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain, combinations

import numpy as np

from hyperacuity.compare.table import Rescore, Table
from hyperacuity.resampling import Bootstrap, blocks_of, holm, paired_bootstrap
from hyperacuity.tally import Scores, Tally
from hyperacuity.tasks import Criteria

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
        """True if the difference is significant."""
        return self.p < LEVEL

    def __str__(self) -> str:
        return qualified(self.p, self.tests)


def qualified(p: float, tests: int) -> str:
    """Describe a corrected p-value in words.

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

    The result is by criterion. One system's tallies are held at a time. Pairs with fewer than two images in common have no
    verdict: one image says nothing about another.
    """
    pairs = pairs_of(systems, all_pairs)

    def scored(tallies: Mapping[str, Tally], images: Sequence[str]) -> Scores:
        column = [tallies[image] for image in images]
        return _resampled(lambda weights: judged.rescore(column, weights), len(images), len(pairs))

    @lru_cache(maxsize=1)
    def first_scored(system: str, images: tuple[str, ...]) -> Scores:
        return scored(tallies_of(system), images)

    @cache
    def images_of(system: str) -> frozenset[str]:
        return frozenset(tallies_of(system))

    def both(first: str, second: str) -> tuple[Scores, Scores, int]:
        of_first, tallies = images_of(first), tallies_of(second)
        shared = tuple(sorted(of_first & tallies.keys()))  # whatever the order of files
        theirs = scored(tallies, shared) if len(shared) > 1 else np.empty((0, 0))
        del tallies  # before the other's are read
        return first_scored(first, shared) if len(shared) > 1 else theirs, theirs, len(shared)

    return verdicts_of(pairs, both, judged.names, judged.senses, names or judged.usual)


def table_verdicts(table: Table, criterion: str, *, all_pairs: bool = False) -> tuple[Verdict, ...]:
    """Verdicts on the systems of a table by one of its criteria, on the images that all share."""
    shared = table.select(images=sorted(table.images), criteria=[criterion])
    whole = shared.overall()[:, 0] * (-1 if shared.senses[0] == "max" else 1)
    pairs = pairs_of([table.systems[n] for n in np.argsort(whole, kind="stable")], all_pairs)
    images = len(shared.images)

    def scored(system: str) -> Scores:
        return _resampled(shared.rescore_of(system), images, len(pairs))

    first_scored = lru_cache(maxsize=1)(scored)

    def both(first: str, second: str) -> tuple[Scores, Scores, int]:
        return first_scored(first), scored(second), images

    return verdicts_of(pairs, both, [criterion], shared.senses, [criterion])[criterion]


def _resampled(rescore: Rescore, images: int, tests: int) -> Scores:
    """The scores on the whole data set, then on every resample."""
    whole = np.ones((1, images), np.int64)
    blocks = blocks_of(Bootstrap(images, resamples_for(tests)))
    return np.concatenate([rescore(weights) for weights in chain([whole], blocks)])


def pairs_of(systems: Sequence[str], all_pairs: bool) -> list[tuple[str, str]]:
    """The pairs to test: the first of the systems with each other one, or each with all that follow.

    >>> pairs_of("abc", False), pairs_of("abc", True)
    ([('a', 'b'), ('a', 'c')], [('a', 'b'), ('a', 'c'), ('b', 'c')])
    """
    pairs = list(combinations(systems, 2))
    return pairs if all_pairs else [pair for pair in pairs if pair[0] == systems[0]]


def verdicts_of(
    pairs: Sequence[tuple[str, str]],
    both: Callable[[str, str], tuple[Scores, Scores, int]],
    criteria: Sequence[str],
    senses: Sequence[str],
    names: Iterable[str],
) -> dict[str, tuple[Verdict, ...]]:
    """Verdicts from a function that scores two systems on the images they share and on resamples of these, and their number."""
    chosen = {name: list(criteria).index(name) for name in names}
    verdicts: dict[str, list[Verdict]] = {name: [] for name in chosen}
    for first, second in pairs:
        mine, theirs, images = both(first, second)
        for name, c in chosen.items() if images > 1 else ():
            up = 1 if senses[c] == "max" else -1
            better, worse = up * mine[:, c], up * theirs[:, c]
            test = paired_bootstrap(better[1:], worse[1:], observed=float(better[0] - worse[0]))
            ends = (test.difference, test.low, test.high, test.p_value)
            verdicts[name].append(Verdict(first, second, *ends, test.p_value, 0, images))
    return {name: _corrected(tests) for name, tests in verdicts.items()}


def resamples_for(tests: int) -> int:
    """Number of resamples needed for one of this many tests to be significant after the correction.

    R resamples give no p-value below 2 / (R + 1), and Holm's correction multiplies the least by the number of tests.

    >>> resamples_for(1), resamples_for(435)
    (1000, 20010)
    """
    return max(1000, 46 * tests)


def _corrected(tests: Sequence[Verdict]) -> tuple[Verdict, ...]:
    p = holm([test.p_single for test in tests]).tolist()
    return tuple(replace(test, p=corrected, tests=len(tests)) for test, corrected in zip(tests, p, strict=True))
