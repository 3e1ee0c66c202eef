"""Pareto dominance between systems judged by several criteria at once (Cabezas & Trujillo 2011).

A system dominates another when it is nowhere worse and somewhere better. The **optimal set** A* is what nothing dominates:
its members are comparable, and every other system is dominated. Taking A* away and looking again gives the **groups**.

Values are one row per system and one column per criterion. ``senses`` says of each criterion whether ``"min"`` or ``"max"``
is better; by default all are errors, and minimised. A NaN, a value that could not be measured, counts as the worst
there is (``nan="worst"``), takes its criterion out for all systems (``"drop-component"``) or is refused (``"error"``).

With a tolerance ε per criterion, u dominates v when it is nowhere worse by more than ε and somewhere better by more than ε.
This is not transitive: a system may be dominated by one that is itself dominated, and all may be dominated by some other.
Peeling then stops, and what is left is one last group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels import pareto as kernels

NanRule = Literal["worst", "drop-component", "error"]
Senses = Sequence[str] | None

SMALL = 500
"""Systems up to which all pairs are compared: quick enough, and it spares the first call the compilation of kernels."""

PAIRS_AT_A_TIME = 1 << 22
"""Numbers compared at a time, a byte each."""

MOST_PAIRS = 20_000
"""Systems above which the relation of all pairs, n² bytes, is refused."""


def optimal(
    values: ArrayLike, *, senses: Senses = None, epsilon: ArrayLike = 0.0, strict: bool = False, nan: NanRule = "worst"
) -> NDArray[np.bool_]:
    r"""Find the systems in the Pareto-optimal set.

    .. math:: A^* = \{a ∈ A \mid ∄\, b ∈ A: v_b ≺ v_a\}

    Equal systems do not dominate each other: both are in, or both are out. No systems give an empty answer; a single one is
    trivially optimal. With a tolerance the set can be empty.

    Parameters
    ----------
    values
        Systems × criteria.
    senses
        ``"min"`` or ``"max"`` per criterion; by default all are minimised.
    epsilon
        Tolerance, for all criteria or one each, in the unit of the criterion.
    strict
        Ask a dominating system to be better in every criterion, not just somewhere.
    nan
        What a NaN counts as.

    References
    ----------
    Cabezas & Trujillo (2011), equations 9 and 10 (where print has lost the slash of ∄).

    Examples
    --------
    >>> optimal([[1, 5, 3], [2, 4, 3], [2, 5, 4], [1, 5, 3], [3, 3, 9], [9, 9, 9]])
    array([ True,  True, False,  True,  True, False])
    """
    table = _minimised(values, senses)
    if len(table) <= SMALL or not _transitive(epsilon, strict):
        dominated: NDArray[np.bool_] = np.any(_relation(_without_nan(table, nan), epsilon, strict), axis=0)
        return ~dominated
    survivors = kernels.sift(table, _weights(table))
    if len(survivors) == 0:  # there are no systems, or sums are NaN
        survivors, table = np.arange(len(table), dtype=np.int32), _without_nan(table, nan)
    result = np.zeros(len(table), dtype=bool)
    result[survivors] = _levels(table[survivors], limit=1) == 0
    return result


def groups(
    values: ArrayLike, *, senses: Senses = None, epsilon: ArrayLike = 0.0, strict: bool = False, nan: NanRule = "worst"
) -> NDArray[np.int32]:
    """The group of each system, counted from 0, by repeated peeling: A* is group 0, A* of the others group 1, and so on.

    Options are those of :func:`optimal`. No systems give an empty answer. When a tolerance leaves no system undominated, all
    that remain form the last group.

    >>> groups([[1, 5, 3], [2, 4, 3], [2, 5, 4], [1, 5, 3], [3, 3, 9], [9, 9, 9]])
    array([0, 0, 1, 0, 0, 2], dtype=int32)
    """
    least = costs(values, senses=senses, nan=nan)
    if len(least) > SMALL and _transitive(epsilon, strict):
        return _levels(least, limit=0)
    relation = _relation(least, epsilon, strict)
    result = np.zeros(len(least), dtype=np.int32)
    left = np.ones(len(least), dtype=bool)
    group = 0
    while left.any():
        best = left & ~relation[left].any(axis=0)
        result[left] = group
        left &= ~best if best.any() else False
        group += 1
    return result


def dominance(
    values: ArrayLike, *, senses: Senses = None, epsilon: ArrayLike = 0.0, strict: bool = False, nan: NanRule = "worst"
) -> NDArray[np.bool_]:
    """The dominance graph as a matrix: ``result[i, j]`` says whether system i dominates system j.

    Options are those of :func:`optimal`.

    >>> dominance([[1, 5], [2, 4], [2, 5]]).astype(int)
    array([[0, 0, 1],
           [0, 0, 1],
           [0, 0, 0]])
    """
    return _relation(costs(values, senses=senses, nan=nan), epsilon, strict)


def direct(relation: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The dominance graph less what follows from the rest: i over j only when nothing stands between. For drawing.

    >>> direct(dominance([[1], [2], [3]])).astype(int)
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 0, 0]])
    """
    # Counts of at most n, so exact; a product of floats is much faster than one of flags.
    steps = relation.astype(np.float32)
    between: NDArray[np.bool_] = relation & (steps @ steps == 0)
    return between


def costs(values: ArrayLike, *, senses: Senses = None, nan: NanRule = "worst") -> NDArray[np.float64]:
    """The values as costs, smaller = better in every column, and without NaN.

    >>> costs([[30, 1], [20, np.nan]], senses=["max", "min"])
    array([[-30.,   1.],
           [-20.,  inf]])
    """
    table = _without_nan(_minimised(values, senses), nan)
    return table.copy() if table is values else table


def _minimised(values: ArrayLike, senses: Senses) -> NDArray[np.float64]:
    """The values with what is maximised negated; the given array itself when there is nothing to do."""
    table: NDArray[np.float64] = np.ascontiguousarray(values, dtype=np.float64)
    if table.ndim != 2 or (len(table) and not table.shape[1]):
        raise InputError(f"values have shape {table.shape}, expected systems × criteria")
    if senses is None:
        return table
    if len(senses) != table.shape[1] or not set(senses) <= {"min", "max"}:
        raise UsageError(f"senses are {', '.join(senses)}: expected min or max for each of {table.shape[1]} criteria")
    return table * np.where([sense == "max" for sense in senses], -1.0, 1.0)


def _without_nan(table: NDArray[np.float64], nan: NanRule) -> NDArray[np.float64]:
    missing = np.isnan(table)
    if not missing.any():
        return table
    if nan == "worst":
        return np.where(missing, np.inf, table)
    if nan == "drop-component":
        if missing.any(axis=0).all():
            raise InputError("every criterion lacks the value of some system: none is left to compare by")
        return np.ascontiguousarray(table[:, ~missing.any(axis=0)])
    if nan == "error":
        row, column = np.argwhere(missing)[0]
        raise InputError(f"the value of system {row} in criterion {column} (from 0) is missing, expected a number")
    raise UsageError(f"nan={nan!r}: expected worst, drop-component or error")


def interpretation(
    systems: Sequence[str], is_optimal: ArrayLike, *, criteria: Sequence[str] = (), images: Sequence[str] = ()
) -> str:
    """Interpret the optimal set in words, after the paper's section 3.2. Significance is another matter (:mod:`.verdict`).

    >>> print(interpretation(["GC", "DP", "SAD"], [True, True, False], criteria=["nonocc", "disc"]))
    By dominance, GC and DP are comparable: neither is better in one respect without being worse in another. SAD is
    dominated: another system is as good in every respect and better in one. This holds for these 3 systems and these 2
    criteria (nonocc, disc): change either, and the set may change.
    """
    chosen = np.asarray(is_optimal, dtype=bool)
    best = [name for name, is_in in zip(systems, chosen, strict=True) if is_in]
    rest = [name for name, is_in in zip(systems, chosen, strict=True) if not is_in]
    if not best:
        none_left = "No system is optimal: with this tolerance each is dominated by another."
        text = none_left if rest else "No systems to judge."
    elif len(systems) == 1:
        text = f"{best[0]} is optimal trivially: it is the only system."
    elif len(best) == 1:
        text = f"By dominance, {best[0]} is ahead: no other system dominates it."
    else:
        each = "neither" if len(best) == 2 else "none"
        text = f"By dominance, {_listed(best)} are comparable: {each} is better in one respect without being worse in another."
    if best and rest:
        text += f" {_listed(rest)} {'is' if len(rest) == 1 else 'are'} dominated: another system is as good in every respect "
        text += "and better in one."
    scope = [f"these {len(images)} images"] if len(images) > 1 else []
    scope += [f"these {len(systems)} systems"] if len(systems) > 1 else []
    if len(criteria) > 1:
        scope += [f"these {len(criteria)} criteria ({', '.join(criteria)})"]
    elif criteria:
        scope += [f"this criterion ({criteria[0]})"]
    if scope:
        change = "change it" if len(scope) == 1 else "change either" if len(scope) == 2 else "change any of them"
        text += f" This holds for {_listed(scope)}: {change}, and the set may change."
    return text


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _transitive(epsilon: ArrayLike, strict: bool) -> bool:
    return not strict and not np.any(epsilon)


def _relation(least: NDArray[np.float64], epsilon: ArrayLike, strict: bool) -> NDArray[np.bool_]:
    if len(least) > MOST_PAIRS:
        raise UsageError(f"{len(least)} systems have too many pairs to list; expected at most {MOST_PAIRS}")
    tolerance = np.asarray(epsilon, dtype=np.float64)
    if tolerance.shape not in {(), (least.shape[1],)} or not (tolerance >= 0).all() or not np.isfinite(tolerance).all():
        raise UsageError(f"epsilon is {tolerance}: expected a number ≥ 0, or one for each of {least.shape[1]} criteria")
    result = np.empty((len(least), len(least)), np.bool_)
    rows = max(1, PAIRS_AT_A_TIME // max(1, least.size))
    for start in range(0, len(least), rows):
        mine = least[start : start + rows, :, None]
        nowhere_worse = (mine <= (least + tolerance).T).all(axis=1)
        better = mine < (least - tolerance).T
        result[start : start + rows] = nowhere_worse & (better.all(axis=1) if strict else better.any(axis=1))
    return result


def _weights(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bring the criteria to a common scale, roughly. They choose what is looked at first and have no part in the result."""
    sample = values[:: max(1, len(values) // 256)]
    spread = np.ptp(sample, axis=0) if len(sample) else np.ones(values.shape[1])
    usable = np.isfinite(spread) & (spread > 0)
    return np.where(usable, 1 / np.where(usable, spread, 1), 1.0)


def _levels(least: NDArray[np.float64], *, limit: int) -> NDArray[np.int32]:
    """Level of each row: how often the optimal set is removed before the row is in it; counted up to ``limit``, if not 0."""
    if len(least) == 0:
        return np.empty(0, dtype=np.int32)
    order, is_new = _lexicographic(least)
    columns = np.ascontiguousarray(least[order if is_new is None else order[is_new]].T)
    if len(columns) < 3:  # repeating a criterion changes nothing, and the kernel takes at least three
        columns = np.vstack([columns, *[columns[-1:]] * (3 - len(columns))])
    rank, members = kernels.ranks(columns)
    level = np.zeros(columns.shape[1], dtype=np.int32)
    kernels.settle(rank, level, members, limit)
    result = np.empty(len(least), dtype=np.int32)
    result[order] = level if is_new is None else level[np.cumsum(is_new) - 1]
    return result


def _lexicographic(least: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.bool_] | None]:
    """Order of the rows by the first column, then the second, and so on, and which of them differ from the one before.

    Without ties in the first column (None) the others need not be looked at.
    """
    order: NDArray[np.int32] = kernels.stable_order(least[:, 0].copy())
    first = least[order, 0]
    if (first[1:] != first[:-1]).all():
        return order, None
    order = np.arange(len(least), dtype=np.int32)
    for column in reversed(range(least.shape[1])):
        order = order[kernels.stable_order(least[order, column])]
    ordered = least[order]
    is_new = np.ones(len(ordered), dtype=bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return order, is_new
